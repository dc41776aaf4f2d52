//! What connects PTX with its source: `.loc` and the debug sections.

use crate::SourceLoc;
use crate::error::Result;
use crate::lexer::Kind;
use crate::module::Parser;

impl<'a> Parser<'a> {
    /// `.loc file line column [, function_name label [+ offset], inlined_at file line column]`
    ///
    /// LLVM writes where the line was inlined as a comment: `// tile.rs:12:9 @[ kernels.rs:40:5 ]`. That is taken too, if
    /// a `.file` has that path.
    pub(crate) fn loc(&mut self) -> Result<(SourceLoc, Option<SourceLoc>)> {
        self.cursor.bump()?;
        let file = self.cursor.small("the number of the file")?;
        let line = self.cursor.small("the line")?;
        let after_line = self.cursor.rest_of_line();
        let column = self.cursor.small("the column")?;
        let mut inlined_at = None;
        let mut said = false;
        while self.cursor.accept(Kind::Comma)? {
            match self.cursor.text() {
                "function_name" => {
                    self.cursor.bump()?;
                    self.cursor.word("the label of the function's name")?;
                    if self.cursor.accept(Kind::Plus)? {
                        self.cursor.small("the offset of the function's name")?;
                    }
                }
                "inlined_at" => {
                    self.cursor.bump()?;
                    said = true;
                    inlined_at = Some(SourceLoc {
                        file: self.cursor.small("the number of the file inlined into")?,
                        line: self.cursor.small("the line inlined at")?,
                        column: self.cursor.small("the column inlined at")?,
                    });
                }
                _ => return Err(self.cursor.expected("`function_name` or `inlined_at`")),
            }
        }
        if !said && let Some((_, chain)) = after_line.split_once("@[ ") {
            inlined_at = self.inlined_comment(chain);
        }
        Ok((SourceLoc { file, line, column }, inlined_at))
    }

    /// `path:line:column ]` or `path:line:column @[ .. ] ]`
    fn inlined_comment(&self, chain: &str) -> Option<SourceLoc> {
        let place = chain.split(" @[ ").next()?.split(" ]").next()?;
        let mut parts = place.rsplitn(3, ':');
        let column = parts.next()?.trim().parse().ok()?;
        let line = parts.next()?.parse().ok()?;
        let file = *self.file_numbers.get(parts.next()?)?;
        Some(SourceLoc { file, line, column })
    }

    /// `.section .name { .. }`: labels, and `.b8` .. `.b64` with numbers, labels and differences of labels. Only the form is
    /// checked; nothing that runs depends on it.
    pub(crate) fn section(&mut self) -> Result<()> {
        self.cursor.bump()?;
        if !matches!(self.cursor.kind(), Kind::Dotted | Kind::Word) {
            return Err(self.cursor.expected("the name of the section"));
        }
        self.cursor.bump()?;
        if self.cursor.kind() == Kind::Comma || self.cursor.kind() == Kind::Text {
            return Err(self.cursor.expected("`{` after the name of the section"));
        }
        self.cursor.expect(Kind::LBrace, "`{` after the name of the section")?;
        loop {
            match self.cursor.kind() {
                Kind::RBrace => return self.cursor.bump().map(drop),
                Kind::Word
                | Kind::Dotted
                | Kind::Integer
                | Kind::Text
                | Kind::Comma
                | Kind::Colon
                | Kind::Semicolon
                | Kind::Plus
                | Kind::Minus
                | Kind::LParen
                | Kind::RParen => self.cursor.bump().map(drop)?,
                _ => return Err(self.cursor.expected("data of the section, or `}`")),
            }
        }
    }
}
