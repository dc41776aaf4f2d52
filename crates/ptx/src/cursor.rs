//! One token of look-ahead over the lexer, and the errors that name what was expected.

use crate::Pos;
use crate::error::{ParseError, Result};
use crate::lexer::{Kind, Lexer, Token};

/// Deepest nesting of scopes, brackets and expressions. Compilers stay below ten.
pub(crate) const DEEPEST: u32 = 64;

pub(crate) struct Cursor<'a> {
    lexer: Lexer<'a>,
    /// The token that is looked at.
    pub(crate) token: Token,
    /// Nesting of what is being parsed, see [`DEEPEST`].
    depth: u32,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Result<Self> {
        let mut lexer = Lexer::new(text);
        let token = lexer.next()?;
        Ok(Self { lexer, token, depth: 0 })
    }

    pub(crate) fn kind(&self) -> Kind {
        self.token.kind
    }

    pub(crate) fn pos(&self) -> Pos {
        self.token.pos
    }

    /// The text of the token that is looked at.
    pub(crate) fn text(&self) -> &'a str {
        self.lexer.text(self.token)
    }

    /// What follows the token that is looked at on its line.
    pub(crate) fn rest_of_line(&self) -> &'a str {
        self.lexer.rest_of_line(self.token)
    }

    /// The first byte after the token that is looked at that is not blank; 0 at the end.
    pub(crate) fn byte_after(&self) -> u8 {
        self.lexer.byte_after(self.token)
    }

    /// Steps on and returns the token stepped over.
    pub(crate) fn bump(&mut self) -> Result<Token> {
        let token = self.token;
        self.token = self.lexer.next()?;
        Ok(token)
    }

    /// Reads a dotted word that stands where a number is expected as a number.
    pub(crate) fn as_fraction(&mut self) -> Result<()> {
        self.token = self.lexer.fraction(self.token)?;
        Ok(())
    }

    /// Steps over a token of this kind if there is one.
    pub(crate) fn accept(&mut self, kind: Kind) -> Result<bool> {
        let found = self.token.kind == kind;
        if found {
            self.bump()?;
        }
        Ok(found)
    }

    /// Steps over a token of this kind, or says that `what` was expected.
    pub(crate) fn expect(&mut self, kind: Kind, what: &str) -> Result<Token> {
        if self.token.kind == kind {
            self.bump()
        } else {
            Err(self.expected(what))
        }
    }

    /// Steps over a word and returns it.
    pub(crate) fn word(&mut self, what: &str) -> Result<(&'a str, Pos)> {
        let (text, pos) = (self.text(), self.pos());
        self.expect(Kind::Word, what)?;
        Ok((text, pos))
    }

    /// The word after the dot, if a dotted word is looked at.
    pub(crate) fn dotted(&self) -> Option<&'a str> {
        (self.token.kind == Kind::Dotted).then(|| &self.text()[1..])
    }

    /// The dotted words from the token that is looked at on, as far as nothing stands between them; empty if it is none.
    pub(crate) fn dotted_tail(&self) -> &'a str {
        match self.token.kind {
            Kind::Dotted => self.lexer.tail(self.token),
            _ => "",
        }
    }

    /// Steps over what [`Cursor::dotted_tail`] gave.
    pub(crate) fn skip_tail(&mut self, tail: &str) -> Result<()> {
        if !tail.is_empty() {
            self.token = self.lexer.next_behind(self.token, tail.len())?;
        }
        Ok(())
    }

    /// Steps over `.word` if it is there.
    pub(crate) fn accept_dotted(&mut self, word: &str) -> Result<bool> {
        let found = self.dotted() == Some(word);
        if found {
            self.bump()?;
        }
        Ok(found)
    }

    #[cold]
    pub(crate) fn expected(&self, what: &str) -> Box<ParseError> {
        self.error(format!("expected {what}"))
    }

    /// An error at the token that is looked at.
    #[cold]
    pub(crate) fn error(&self, message: impl Into<String>) -> Box<ParseError> {
        ParseError::new(self.pos(), message, self.text())
    }

    /// Runs `inner` one level deeper, so that no input can use up the stack.
    pub(crate) fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.deepen()?;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    pub(crate) fn deepen(&mut self) -> Result<()> {
        if self.depth >= DEEPEST {
            return Err(self.error(format!("nested deeper than {DEEPEST} levels")));
        }
        self.depth += 1;
        Ok(())
    }

    pub(crate) fn surface(&mut self) {
        self.depth -= 1;
    }
}
