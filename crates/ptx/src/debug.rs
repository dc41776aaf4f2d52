//! What connects PTX with its source: `.loc` and the debug sections.

use crate::SourceLoc;
use crate::error::Result;
use crate::lexer::Kind;
use crate::module::Parser;

impl<'a> Parser<'a> {
    /// `.loc file line column [, function_name label [+ offset], inlined_at file line column]`
    ///
    /// LLVM writes where the line was inlined as a comment. That is taken too.
    pub(crate) fn loc(&mut self) -> Result<()> {
        self.cursor.bump()?;
        let file = self.cursor.small("the number of the file")?;
        let line = self.cursor.small("the line")?;
        let after_line = self.cursor.rest_of_line();
        let column = self.cursor.small("the column")?;
        let mut inlined_at = None;
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
                    inlined_at = Some(SourceLoc {
                        file: self.cursor.small("the number of the file inlined into")?,
                        line: self.cursor.small("the line inlined at")?,
                        column: self.cursor.small("the column inlined at")?,
                    });
                }
                _ => return Err(self.cursor.expected("`function_name` or `inlined_at`")),
            }
        }
        let comment = after_line
            .split_once("// ")
            .and_then(|(_, comment)| comment.split_once(" @[ "));
        let loc = SourceLoc { file, line, column };
        let from = self.function.body.instructions.len() as u32;
        self.function.loc = Some(loc);
        self.function
            .chains
            .push(from, loc, inlined_at, comment.map(|(_, chain)| chain));
        Ok(())
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
