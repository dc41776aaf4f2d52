//! Text to tokens.

use super::{BinaryOp, Span};
use crate::TextError;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Integer(i64),
    /// A name, dots included (`threadIdx.x`).
    Name(String),
    If,
    Operator(BinaryOp),
    Not,
    Open,
    Close,
    OpenIndex,
    CloseIndex,
    OpenBrace,
    CloseBrace,
    End,
}

impl Token {
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Integer(value) => format!("`{value}`"),
            Self::Name(name) => format!("`{name}`"),
            Self::If => "`if`".into(),
            Self::Operator(op) => format!("`{}`", op.symbol()),
            Self::Not => "`!`".into(),
            Self::Open => "`(`".into(),
            Self::Close => "`)`".into(),
            Self::OpenIndex => "`[`".into(),
            Self::CloseIndex => "`]`".into(),
            Self::OpenBrace => "`{`".into(),
            Self::CloseBrace => "`}`".into(),
            Self::End => "the end".into(),
        }
    }
}

const SYMBOLS: [(&str, Token); 25] = [
    // Longer ones first.
    ("||", Token::Operator(BinaryOp::OrElse)),
    ("&&", Token::Operator(BinaryOp::AndThen)),
    ("==", Token::Operator(BinaryOp::Equal)),
    ("!=", Token::Operator(BinaryOp::NotEqual)),
    ("<<", Token::Operator(BinaryOp::ShiftLeft)),
    (">>", Token::Operator(BinaryOp::ShiftRight)),
    ("<=", Token::Operator(BinaryOp::LessEqual)),
    (">=", Token::Operator(BinaryOp::GreaterEqual)),
    ("<", Token::Operator(BinaryOp::Less)),
    (">", Token::Operator(BinaryOp::Greater)),
    ("|", Token::Operator(BinaryOp::Or)),
    ("^", Token::Operator(BinaryOp::Xor)),
    ("&", Token::Operator(BinaryOp::And)),
    ("+", Token::Operator(BinaryOp::Add)),
    ("-", Token::Operator(BinaryOp::Subtract)),
    ("*", Token::Operator(BinaryOp::Multiply)),
    ("/", Token::Operator(BinaryOp::Divide)),
    ("%", Token::Operator(BinaryOp::Remainder)),
    ("!", Token::Not),
    ("(", Token::Open),
    (")", Token::Close),
    ("[", Token::OpenIndex),
    ("]", Token::CloseIndex),
    ("{", Token::OpenBrace),
    ("}", Token::CloseBrace),
];

pub(super) fn lex(source: &str) -> Result<Vec<(Token, Span)>, TextError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(character) = source[at..].chars().next() {
        let rest = &source[at..];
        if character.is_whitespace() {
            at += character.len_utf8();
            continue;
        }
        let (token, length) = if character.is_ascii_digit() {
            integer(source, at)?
        } else if character.is_alphabetic() || character == '_' {
            name(rest)
        } else if let Some((symbol, token)) = SYMBOLS.iter().find(|(symbol, _)| rest.starts_with(symbol)) {
            (token.clone(), symbol.len())
        } else {
            let span = Span {
                start: at,
                end: at + character.len_utf8(),
            };
            let message = format!("`{character}` has no meaning here");
            return Err(TextError::new(source, span, message, "unknown character"));
        };
        tokens.push((
            token,
            Span {
                start: at,
                end: at + length,
            },
        ));
        at += length;
    }
    tokens.push((
        Token::End,
        Span {
            start: source.len(),
            end: source.len(),
        },
    ));
    Ok(tokens)
}

fn name(rest: &str) -> (Token, usize) {
    let mut length = 0;
    let mut characters = rest.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let dot = character == '.' && characters.peek().is_some_and(|(_, next)| next.is_alphabetic());
        if !(character.is_alphanumeric() || character == '_' || dot) {
            break;
        }
        length = at + character.len_utf8();
    }
    let text = &rest[..length];
    // cuda_std's functions: thread_idx_x().
    let called = rest[length..].starts_with("()") && text.contains('_');
    let token = if text == "if" {
        Token::If
    } else {
        Token::Name(text.to_owned())
    };
    (token, length + if called { 2 } else { 0 })
}

fn integer(source: &str, at: usize) -> Result<(Token, usize), TextError> {
    let rest = &source[at..];
    let length = rest
        .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .unwrap_or(rest.len());
    let span = Span {
        start: at,
        end: at + length,
    };
    let text: String = rest[..length].chars().filter(|c| *c != '_').collect();
    let (radix, digits) = match text.get(..2) {
        Some("0x") => (16, &text[2..]),
        Some("0b") => (2, &text[2..]),
        Some("0o") => (8, &text[2..]),
        _ => (10, text.as_str()),
    };
    match i64::from_str_radix(digits, radix) {
        Ok(value) => Ok((Token::Integer(value), length)),
        Err(error) if *error.kind() == std::num::IntErrorKind::PosOverflow => Err(TextError::new(
            source,
            span,
            format!("`{}` is too large: numbers are at most 2^63 - 1", &rest[..length]),
            "too large",
        )),
        Err(_) => Err(TextError::new(
            source,
            span,
            format!("`{}` is no integer", &rest[..length]),
            "expected digits, or 0x, 0b, 0o and digits",
        )),
    }
}
