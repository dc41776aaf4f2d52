//! Constants and constant expressions, folded as the assembler folds them.
//!
//! Integers are 64 bits, signed unless they carry `U`, do not fit, or were cast. Operators work on the common type:
//! unsigned as soon as one side is. The rules that are not C's (`~` and `%` are unsigned) are those that ptxas applies.

use crate::cursor::Cursor;
use crate::error::{ParseError, Result};
use crate::lexer::Kind;

/// A folded constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Constant {
    /// Bits, and whether they are signed.
    Integer(u64, bool),
    /// `0f..`: bits.
    Single(u32),
    /// `0d..` or a decimal fraction.
    Double(f64),
}

/// The value of `WARP_SZ`.
const WARP_SIZE: u64 = 32;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Binary {
    Multiply,
    Divide,
    Remainder,
    Add,
    Subtract,
    ShiftLeft,
    ShiftRight,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    And,
    ExclusiveOr,
    Or,
    AndAlso,
    OrElse,
}

/// The operator that a token stands for, and how tightly it binds.
fn binary(kind: Kind) -> Option<(Binary, u8)> {
    Some(match kind {
        Kind::Star => (Binary::Multiply, 10),
        Kind::Slash => (Binary::Divide, 10),
        Kind::Percent => (Binary::Remainder, 10),
        Kind::Plus => (Binary::Add, 9),
        Kind::Minus => (Binary::Subtract, 9),
        Kind::ShiftLeft => (Binary::ShiftLeft, 8),
        Kind::ShiftRight => (Binary::ShiftRight, 8),
        Kind::Less => (Binary::Less, 7),
        Kind::LessEqual => (Binary::LessEqual, 7),
        Kind::Greater => (Binary::Greater, 7),
        Kind::GreaterEqual => (Binary::GreaterEqual, 7),
        Kind::EqualEqual => (Binary::Equal, 6),
        Kind::NotEqual => (Binary::NotEqual, 6),
        Kind::Amp => (Binary::And, 5),
        Kind::Caret => (Binary::ExclusiveOr, 4),
        Kind::Pipe => (Binary::Or, 3),
        Kind::AndAnd => (Binary::AndAlso, 2),
        Kind::OrOr => (Binary::OrElse, 1),
        _ => return None,
    })
}

impl Cursor<'_> {
    /// A constant expression.
    pub(crate) fn constant(&mut self) -> Result<Constant> {
        // Nearly every one is a number that stands alone.
        if self.kind() == Kind::Integer && matches!(self.byte_after(), b',' | b';' | b']' | b'}' | b')') {
            return self.primary();
        }
        let condition = self.binary(1)?;
        if self.kind() != Kind::Question {
            return Ok(condition);
        }
        let truth = self.truth(condition)?;
        self.bump()?;
        let yes = self.nested(Self::constant)?;
        self.expect(Kind::Colon, "`:` of the conditional expression")?;
        let no = self.nested(Self::constant)?;
        let (Constant::Integer(y, y_signed), Constant::Integer(n, n_signed)) = (yes, no) else {
            return Err(self.error("both sides of `?:` must be integers"));
        };
        Ok(Constant::Integer(if truth { y } else { n }, y_signed && n_signed))
    }

    /// A constant expression that must be an integer; its 64 bits.
    pub(crate) fn integer(&mut self, what: &str) -> Result<u64> {
        let (pos, text) = (self.pos(), self.text());
        match self.constant()? {
            Constant::Integer(bits, _) => Ok(bits),
            _ => Err(ParseError::new(pos, format!("expected {what}, an integer"), text)),
        }
    }

    /// A constant expression that must be an integer from 0 to 2^32 - 1.
    pub(crate) fn small(&mut self, what: &str) -> Result<u32> {
        let (pos, text) = (self.pos(), self.text());
        let bits = self.integer(what)?;
        u32::try_from(bits)
            .map_err(|_| ParseError::new(pos, format!("expected {what}, an integer from 0 to 4294967295"), text))
    }

    fn truth(&self, value: Constant) -> Result<bool> {
        match value {
            Constant::Integer(bits, _) => Ok(bits != 0),
            _ => Err(self.error("a condition must be an integer")),
        }
    }

    fn binary(&mut self, weakest: u8) -> Result<Constant> {
        let mut left = self.unary()?;
        while let Some((operator, strength)) = binary(self.kind()).filter(|&(_, strength)| strength >= weakest) {
            let (pos, text) = (self.pos(), self.text());
            self.bump()?;
            // One level for each strength: bounded, and only parentheses nest further.
            let right = self.binary(strength + 1)?;
            left = fold(operator, left, right).map_err(|message| ParseError::new(pos, message, text))?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Constant> {
        let kind = self.kind();
        if !matches!(kind, Kind::Plus | Kind::Minus | Kind::Bang | Kind::Tilde) {
            return self.primary();
        }
        self.bump()?;
        let value = self.nested(Self::unary)?;
        match (kind, value) {
            (Kind::Plus, value) => Ok(value),
            (Kind::Minus, Constant::Integer(bits, signed)) => Ok(Constant::Integer(bits.wrapping_neg(), signed)),
            (Kind::Minus, Constant::Single(bits)) => Ok(Constant::Single(bits ^ 0x8000_0000)),
            (Kind::Minus, Constant::Double(value)) => Ok(Constant::Double(-value)),
            (Kind::Bang, Constant::Integer(bits, _)) => Ok(Constant::Integer(u64::from(bits == 0), true)),
            (Kind::Tilde, Constant::Integer(bits, _)) => Ok(Constant::Integer(!bits, false)),
            _ => Err(self.error("`!` and `~` take integers")),
        }
    }

    fn primary(&mut self) -> Result<Constant> {
        if self
            .dotted()
            .is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit()))
        {
            self.as_fraction()?;
        }
        match self.kind() {
            Kind::Integer => {
                let value = integer_literal(self.text())
                    .ok_or_else(|| self.error("an integer constant must fit into 64 bits"))?;
                self.bump()?;
                Ok(value)
            }
            Kind::Float => {
                let value = float_literal(self.text()).ok_or_else(|| self.expected("a floating-point constant"))?;
                self.bump()?;
                Ok(value)
            }
            Kind::Word if self.text() == "WARP_SZ" => {
                self.bump()?;
                Ok(Constant::Integer(WARP_SIZE, true))
            }
            Kind::LParen => {
                self.bump()?;
                if let Some(word @ ("s64" | "u64")) = self.dotted() {
                    self.bump()?;
                    self.expect(Kind::RParen, "`)` after the type of a cast")?;
                    return match self.nested(Self::unary)? {
                        Constant::Integer(bits, _) => Ok(Constant::Integer(bits, word == "s64")),
                        _ => Err(self.error("only integers can be cast")),
                    };
                }
                let value = self.nested(Self::constant)?;
                self.expect(Kind::RParen, "`)`")?;
                Ok(value)
            }
            _ => Err(self.expected("a constant")),
        }
    }
}

fn fold(operator: Binary, left: Constant, right: Constant) -> std::result::Result<Constant, &'static str> {
    match (left, right) {
        (Constant::Integer(a, a_signed), Constant::Integer(b, b_signed)) => {
            integers(operator, a, a_signed, b, a_signed && b_signed)
        }
        (Constant::Double(a), Constant::Double(b)) => doubles(operator, a, b),
        _ => Err("the two sides of this operator have different types"),
    }
}

fn integers(
    operator: Binary,
    a: u64,
    a_signed: bool,
    b: u64,
    signed: bool,
) -> std::result::Result<Constant, &'static str> {
    let same = |bits| Ok(Constant::Integer(bits, signed));
    let truth = |value| Ok(Constant::Integer(u64::from(value), true));
    let order = if signed { (a as i64).cmp(&(b as i64)) } else { a.cmp(&b) };
    match operator {
        Binary::Divide | Binary::Remainder if b == 0 => Err("division by zero"),
        Binary::Multiply => same(a.wrapping_mul(b)),
        Binary::Divide if signed => same((a as i64).wrapping_div(b as i64) as u64),
        Binary::Divide => same(a / b),
        Binary::Remainder => Ok(Constant::Integer(a % b, false)),
        Binary::Add => same(a.wrapping_add(b)),
        Binary::Subtract => same(a.wrapping_sub(b)),
        Binary::ShiftLeft => Ok(Constant::Integer(a.wrapping_shl(b as u32), a_signed)),
        Binary::ShiftRight if a_signed => Ok(Constant::Integer((a as i64).wrapping_shr(b as u32) as u64, true)),
        Binary::ShiftRight => Ok(Constant::Integer(a.wrapping_shr(b as u32), false)),
        Binary::Less => truth(order.is_lt()),
        Binary::LessEqual => truth(order.is_le()),
        Binary::Greater => truth(order.is_gt()),
        Binary::GreaterEqual => truth(order.is_ge()),
        Binary::Equal => truth(a == b),
        Binary::NotEqual => truth(a != b),
        Binary::And => same(a & b),
        Binary::ExclusiveOr => same(a ^ b),
        Binary::Or => same(a | b),
        Binary::AndAlso => truth(a != 0 && b != 0),
        Binary::OrElse => truth(a != 0 || b != 0),
    }
}

fn doubles(operator: Binary, a: f64, b: f64) -> std::result::Result<Constant, &'static str> {
    let truth = |value| Ok(Constant::Integer(u64::from(value), true));
    match operator {
        Binary::Multiply => Ok(Constant::Double(a * b)),
        Binary::Divide => Ok(Constant::Double(a / b)),
        Binary::Add => Ok(Constant::Double(a + b)),
        Binary::Subtract => Ok(Constant::Double(a - b)),
        Binary::Less => truth(a < b),
        Binary::LessEqual => truth(a <= b),
        Binary::Greater => truth(a > b),
        Binary::GreaterEqual => truth(a >= b),
        Binary::Equal => truth(a == b),
        Binary::NotEqual => truth(a != b),
        _ => Err("this operator takes integers"),
    }
}

/// `12`, `0x1F`, `0b101`, `017`, each with or without `U`; `None` if it needs more than 64 bits.
fn integer_literal(text: &str) -> Option<Constant> {
    let digits = text.trim_end_matches(['U', 'u']);
    let (digits, base) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&digits[2..], 16),
        [b'0', b'b' | b'B', ..] => (&digits[2..], 2),
        [b'0', _, ..] => (&digits[1..], 8),
        _ => (digits, 10),
    };
    let bits = u64::from_str_radix(digits, base).ok()?;
    Some(Constant::Integer(
        bits,
        text.len() == text.trim_end_matches(['U', 'u']).len() && bits <= i64::MAX as u64,
    ))
}

fn float_literal(text: &str) -> Option<Constant> {
    match text.as_bytes() {
        [b'0', b'f' | b'F', ..] => Some(Constant::Single(u32::from_str_radix(&text[2..], 16).ok()?)),
        [b'0', b'd' | b'D', ..] => Some(Constant::Double(f64::from_bits(
            u64::from_str_radix(&text[2..], 16).ok()?,
        ))),
        _ => Some(Constant::Double(text.parse().ok()?)),
    }
}
