//! Text to tokens, on demand and without allocating: a token is a kind, a range of bytes and a position.

use crate::Pos;
use crate::error::{ParseError, Result};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `add`, `%r1`, `$L__BB0_2`, `_`
    Word,
    /// `.f32`, `.shared::cta`, `.2d`: a dot and what belongs to it
    Dotted,
    /// `12`, `0x1F`, `0b101`, `017`, `3U`
    Integer,
    /// `0f3F800000`, `0d3FF0000000000000`, `1.5e3`
    Float,
    /// `"text"`
    Text,
    LBrace,
    RBrace,
    LBracket,
    RBracket,
    LParen,
    RParen,
    Comma,
    Semicolon,
    Colon,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    Amp,
    Pipe,
    Caret,
    Tilde,
    Bang,
    Less,
    Greater,
    LessEqual,
    GreaterEqual,
    EqualEqual,
    NotEqual,
    ShiftLeft,
    ShiftRight,
    AndAnd,
    OrOr,
    Question,
    At,
    Equal,
    /// The end of the text
    End,
}

/// A piece of the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) pos: Pos,
}

const WORD: u8 = 1;
const DIGIT: u8 = 2;
const SPACE: u8 = 4;
const HEX: u8 = 8;

/// What each byte may be part of.
const CLASS: [u8; 256] = {
    let mut table = [0u8; 256];
    let mut b = 0;
    while b < 256 {
        let c = b as u8;
        if c.is_ascii_alphanumeric() || c == b'_' || c == b'$' {
            table[b] |= WORD;
        }
        if c.is_ascii_digit() {
            table[b] |= DIGIT;
        }
        if c.is_ascii_hexdigit() {
            table[b] |= HEX;
        }
        if matches!(c, b' ' | b'\t' | b'\r' | 0x0b | 0x0c) {
            table[b] |= SPACE;
        }
        b += 1;
    }
    table
};

fn is(byte: u8, class: u8) -> bool {
    CLASS[byte as usize] & class != 0
}

/// Longest comment that is looked at for its content, in bytes.
const LONGEST_COMMENT: usize = 4096;

/// Walks over the text.
pub(crate) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    line: u32,
    /// Where column 1 would be, in bytes, if every character of the line so far had one byte.
    line_base: usize,
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            line: 1,
            line_base: 0,
        }
    }

    pub(crate) fn text(&self, token: Token) -> &'a str {
        &self.text[token.start as usize..token.end as usize]
    }

    /// From the end of `token` to the end of its line, at most [`LONGEST_COMMENT`] bytes.
    pub(crate) fn rest_of_line(&self, token: Token) -> &'a str {
        let rest = &self.text[token.end as usize..];
        let near = &rest[..rest.floor_char_boundary(LONGEST_COMMENT)];
        near.find('\n').map_or(near, |end| &near[..end])
    }

    /// From the start of `token` as far as words, dots and colons go.
    pub(crate) fn tail(&self, token: Token) -> &'a str {
        let rest = &self.text.as_bytes()[token.start as usize..];
        let length = rest.iter().position(|&b| !is(b, WORD) && b != b'.' && b != b':');
        &self.text[token.start as usize..token.start as usize + length.unwrap_or(rest.len())]
    }

    /// The token that follows `length` bytes from the start of `token`, none of which ends a line.
    pub(crate) fn next_behind(&mut self, token: Token, length: usize) -> Result<Token> {
        self.at = token.start as usize + length;
        self.next()
    }

    /// The first byte after `token` that is not blank; 0 at the end.
    pub(crate) fn byte_after(&self, token: Token) -> u8 {
        let rest = &self.text.as_bytes()[token.end as usize..];
        rest.iter().copied().find(|b| !b.is_ascii_whitespace()).unwrap_or(0)
    }

    fn byte(&self, offset: usize) -> u8 {
        self.text.as_bytes().get(self.at + offset).copied().unwrap_or(0)
    }

    fn pos(&self) -> Pos {
        Pos {
            line: self.line,
            column: u32::try_from(self.at - self.line_base + 1).unwrap_or(u32::MAX),
        }
    }

    fn new_line(&mut self) {
        self.line += 1;
        self.line_base = self.at;
    }

    /// Steps over one byte that may be inside a comment or a string.
    fn step_text(&mut self, byte: u8) {
        self.at += 1;
        if byte == b'\n' {
            self.new_line();
        } else if byte & 0xc0 == 0x80 {
            self.line_base += 1;
        }
    }

    fn skip_blanks(&mut self) -> Result<()> {
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            if is(byte, SPACE) {
                self.at += 1;
            } else if byte == b'\n' {
                self.at += 1;
                self.new_line();
            } else if byte == b'/' && self.byte(1) == b'/' {
                while let Some(&b) = bytes.get(self.at).filter(|&&b| b != b'\n') {
                    self.step_text(b);
                }
            } else if byte == b'/' && self.byte(1) == b'*' {
                let (start, pos) = (self.at, self.pos());
                self.at += 2;
                loop {
                    match bytes.get(self.at) {
                        Some(b'*') if self.byte(1) == b'/' => break self.at += 2,
                        Some(&b) => self.step_text(b),
                        None => return Err(ParseError::new(pos, "a comment is not closed", &self.text[start..])),
                    }
                }
            } else {
                break;
            }
        }
        Ok(())
    }

    /// The next token.
    pub(crate) fn next(&mut self) -> Result<Token> {
        self.skip_blanks()?;
        let (start, pos) = (self.at, self.pos());
        let Some(&byte) = self.text.as_bytes().get(start) else {
            return Ok(Token {
                kind: Kind::End,
                start: start as u32,
                end: start as u32,
                pos,
            });
        };
        let kind = match byte {
            b'0'..=b'9' => self.number(pos)?,
            b'.' => self.dotted(pos)?,
            b'"' => self.string(pos)?,
            b'%' if !is(self.byte(1), WORD) || is(self.byte(1), DIGIT) => self.punctuation(Kind::Percent, 1),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | b'%' => {
                self.at += 1;
                self.skip_word();
                Kind::Word
            }
            b'#' => {
                let message = "preprocessor lines are not supported (preprocess the file first)";
                return Err(ParseError::new(pos, message, &self.text[start..]));
            }
            _ => match (byte, self.byte(1)) {
                (b'<', b'<') => self.punctuation(Kind::ShiftLeft, 2),
                (b'>', b'>') => self.punctuation(Kind::ShiftRight, 2),
                (b'<', b'=') => self.punctuation(Kind::LessEqual, 2),
                (b'>', b'=') => self.punctuation(Kind::GreaterEqual, 2),
                (b'=', b'=') => self.punctuation(Kind::EqualEqual, 2),
                (b'!', b'=') => self.punctuation(Kind::NotEqual, 2),
                (b'&', b'&') => self.punctuation(Kind::AndAnd, 2),
                (b'|', b'|') => self.punctuation(Kind::OrOr, 2),
                (b'{', _) => self.punctuation(Kind::LBrace, 1),
                (b'}', _) => self.punctuation(Kind::RBrace, 1),
                (b'[', _) => self.punctuation(Kind::LBracket, 1),
                (b']', _) => self.punctuation(Kind::RBracket, 1),
                (b'(', _) => self.punctuation(Kind::LParen, 1),
                (b')', _) => self.punctuation(Kind::RParen, 1),
                (b',', _) => self.punctuation(Kind::Comma, 1),
                (b';', _) => self.punctuation(Kind::Semicolon, 1),
                (b':', _) => self.punctuation(Kind::Colon, 1),
                (b'+', _) => self.punctuation(Kind::Plus, 1),
                (b'-', _) => self.punctuation(Kind::Minus, 1),
                (b'*', _) => self.punctuation(Kind::Star, 1),
                (b'/', _) => self.punctuation(Kind::Slash, 1),
                (b'&', _) => self.punctuation(Kind::Amp, 1),
                (b'|', _) => self.punctuation(Kind::Pipe, 1),
                (b'^', _) => self.punctuation(Kind::Caret, 1),
                (b'~', _) => self.punctuation(Kind::Tilde, 1),
                (b'!', _) => self.punctuation(Kind::Bang, 1),
                (b'<', _) => self.punctuation(Kind::Less, 1),
                (b'>', _) => self.punctuation(Kind::Greater, 1),
                (b'?', _) => self.punctuation(Kind::Question, 1),
                (b'@', _) => self.punctuation(Kind::At, 1),
                (b'=', _) => self.punctuation(Kind::Equal, 1),
                _ => {
                    let length = self.text[start..].chars().next().map_or(1, char::len_utf8);
                    let found = &self.text[start..start + length];
                    return Err(ParseError::new(pos, "this character means nothing in PTX", found));
                }
            },
        };
        Ok(Token {
            kind,
            start: start as u32,
            end: self.at as u32,
            pos,
        })
    }

    fn punctuation(&mut self, kind: Kind, length: usize) -> Kind {
        self.at += length;
        kind
    }

    fn skip_word(&mut self) {
        while is(self.byte(0), WORD) {
            self.at += 1;
        }
    }

    fn skip(&mut self, class: u8) -> usize {
        let start = self.at;
        while is(self.byte(0), class) {
            self.at += 1;
        }
        self.at - start
    }

    fn dotted(&mut self, pos: Pos) -> Result<Kind> {
        let start = self.at;
        self.at += 1;
        if !is(self.byte(0), WORD) {
            return Err(ParseError::new(
                pos,
                "expected a word after the dot",
                &self.text[start..start + 1],
            ));
        }
        self.skip_word();
        while self.byte(0) == b':' && self.byte(1) == b':' && is(self.byte(2), WORD) {
            self.at += 2;
            self.skip_word();
        }
        Ok(Kind::Dotted)
    }

    fn string(&mut self, pos: Pos) -> Result<Kind> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.text.as_bytes().get(self.at) {
                Some(b'"') => break self.at += 1,
                Some(b'\\') if !matches!(self.byte(1), 0 | b'\n') => {
                    self.at += 1;
                    self.step_text(self.byte(0));
                }
                Some(b'\n') | None => return Err(ParseError::new(pos, "a string is not closed", &self.text[start..])),
                Some(&b) => self.step_text(b),
            }
        }
        Ok(Kind::Text)
    }

    fn number(&mut self, pos: Pos) -> Result<Kind> {
        let start = self.at;
        let bad = |lexer: &mut Self, message: &str| {
            lexer.skip_word();
            Err(ParseError::new(pos, message, &lexer.text[start..lexer.at]))
        };
        let kind = match (self.byte(0), self.byte(1)) {
            (b'0', b'f' | b'F' | b'd' | b'D') => {
                let digits = if matches!(self.byte(1), b'f' | b'F') { 8 } else { 16 };
                self.at += 2;
                if self.skip(HEX) != digits {
                    return bad(
                        self,
                        &format!("expected {digits} hexadecimal digits in this floating-point constant"),
                    );
                }
                Kind::Float
            }
            (b'0', b'x' | b'X' | b'b' | b'B') => {
                let binary = matches!(self.byte(1), b'b' | b'B');
                self.at += 2;
                let digits = self.skip(HEX);
                if digits == 0 || binary && self.text[start + 2..self.at].bytes().any(|b| !matches!(b, b'0' | b'1')) {
                    return bad(self, "expected digits of the constant's base");
                }
                Kind::Integer
            }
            _ => {
                self.skip(DIGIT);
                let mut kind = Kind::Integer;
                if self.byte(0) == b'.' && (is(self.byte(1), DIGIT) || !is(self.byte(1), WORD)) {
                    self.at += 1;
                    self.skip(DIGIT);
                    kind = Kind::Float;
                }
                let sign = usize::from(matches!(self.byte(1), b'+' | b'-'));
                if matches!(self.byte(0), b'e' | b'E') && is(self.byte(1 + sign), DIGIT) {
                    self.at += 1 + sign;
                    self.skip(DIGIT);
                    kind = Kind::Float;
                }
                let octal = &self.text[start..self.at];
                if kind == Kind::Integer && octal.starts_with('0') && octal.bytes().any(|b| b > b'7') {
                    return bad(self, "expected octal digits after a leading zero");
                }
                kind
            }
        };
        if kind == Kind::Integer && matches!(self.byte(0), b'U' | b'u') {
            self.at += 1;
        }
        if is(self.byte(0), WORD) {
            return bad(self, "this is not a number");
        }
        Ok(kind)
    }

    /// Reads the dotted token again as a decimal fraction (`.5`), which only whoever expects a number can tell.
    pub(crate) fn fraction(&mut self, token: Token) -> Result<Token> {
        self.at = token.start as usize;
        self.line = token.pos.line;
        self.line_base = (self.at + 1).saturating_sub(token.pos.column as usize);
        self.at += 1;
        self.skip(DIGIT);
        let sign = usize::from(matches!(self.byte(1), b'+' | b'-'));
        if matches!(self.byte(0), b'e' | b'E') && is(self.byte(1 + sign), DIGIT) {
            self.at += 1 + sign;
            self.skip(DIGIT);
        }
        if is(self.byte(0), WORD) {
            return Err(ParseError::new(token.pos, "this is not a number", self.text(token)));
        }
        Ok(Token {
            kind: Kind::Float,
            end: self.at as u32,
            ..token
        })
    }
}
