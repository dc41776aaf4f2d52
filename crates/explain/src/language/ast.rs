//! The tree of an access.

use std::fmt;

use super::{Builtin, parser};
use crate::TextError;

/// Bytes `start..end` of the text.
///
/// ```
/// use tile33_explain::language::{Access, Span};
/// assert_eq!(Access::parse("tile[tx]")?.indices[0].span, Span { start: 5, end: 7 });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// From the start of `self` to the end of `other`.
    pub(super) fn to(self, other: Self) -> Self {
        Self {
            start: self.start,
            end: other.end,
        }
    }
}

/// An array indexed by every lane, perhaps guarded.
///
/// ```
/// use tile33_explain::language::Access;
/// let access = Access::parse("tile[tx][ty + 1] if tx < 16")?;
/// assert_eq!((access.array.as_str(), access.indices.len()), ("tile", 2));
/// assert!(access.guard.is_some());
/// let error = Access::parse("tile[tx][5").unwrap_err();
/// assert_eq!(error.column(), 11);
/// # Ok::<(), tile33_explain::TextError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    /// The array's name.
    pub array: String,
    /// One expression per dimension.
    pub indices: Vec<Expr>,
    /// Lanes for which it is 0 do nothing.
    pub guard: Option<Expr>,
    /// What was parsed.
    pub source: String,
}

impl Access {
    /// Parses an access.
    ///
    /// # Errors
    ///
    /// Anything that is not one, with the column at which it stops being one.
    ///
    /// ```
    /// use tile33_explain::language::Access;
    /// assert_eq!(Access::parse("if tx < 4 { data[tx] }")?.array, "data");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn parse(source: &str) -> Result<Self, TextError> {
        parser::parse(source)
    }

    /// Whether a parameter occurs in an index or in the guard.
    ///
    /// ```
    /// use tile33_explain::language::Access;
    /// let access = Access::parse("data[tx * stride] if tx < n")?;
    /// assert!(access.uses_parameter("stride") && access.uses_parameter("n") && !access.uses_parameter("data"));
    /// # Ok::<(), tile33_explain::TextError>(())
    /// ```
    pub fn uses_parameter(&self, name: &str) -> bool {
        self.indices
            .iter()
            .chain(&self.guard)
            .any(|expr| expr.uses_parameter(name))
    }

    /// Where the indices stand.
    pub(crate) fn span(&self) -> Span {
        match self.indices.as_slice() {
            [] => Span {
                start: 0,
                end: self.source.len(),
            },
            [first, .., last] => first.span.to(last.span),
            [only] => only.span,
        }
    }
}

/// An expression, and where it stands.
///
/// ```
/// use tile33_explain::language::Access;
/// assert_eq!(Access::parse("data[((tx*2))+1]")?.indices[0].to_string(), "tx * 2 + 1");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands.
    pub span: Span,
}

impl Expr {
    /// Whether the name occurs in it.
    ///
    /// ```
    /// use tile33_explain::language::{Access, Builtin};
    /// let access = Access::parse("tile[2 * tx]")?;
    /// assert!(access.indices[0].uses(Builtin::ThreadX) && !access.indices[0].uses(Builtin::ThreadY));
    /// # Ok::<(), tile33_explain::TextError>(())
    /// ```
    pub fn uses(&self, name: Builtin) -> bool {
        match &self.kind {
            ExprKind::Integer(_) | ExprKind::Parameter(_) => false,
            ExprKind::Builtin(builtin) => *builtin == name,
            ExprKind::Unary(_, operand) => operand.uses(name),
            ExprKind::Binary(_, _, left, right) => left.uses(name) || right.uses(name),
        }
    }
}

impl Expr {
    fn uses_parameter(&self, name: &str) -> bool {
        match &self.kind {
            ExprKind::Integer(_) | ExprKind::Builtin(_) => false,
            ExprKind::Parameter(parameter) => parameter == name,
            ExprKind::Unary(_, operand) => operand.uses_parameter(name),
            ExprKind::Binary(_, _, left, right) => left.uses_parameter(name) || right.uses_parameter(name),
        }
    }
}

/// An expression.
///
/// ```
/// use tile33_explain::language::{Access, ExprKind};
/// assert_eq!(Access::parse("data[0x10]")?.indices[0].kind, ExprKind::Integer(16));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A literal.
    Integer(i64),
    /// A name that every thread has.
    Builtin(Builtin),
    /// A name that the caller gives a value.
    Parameter(String),
    /// An operator before its operand.
    Unary(UnaryOp, Box<Expr>),
    /// An operator between its operands, and where it stands.
    Binary(BinaryOp, Span, Box<Expr>, Box<Expr>),
}

/// An operator before its operand.
///
/// ```
/// use tile33_explain::language::{Access, ExprKind, UnaryOp};
/// assert!(matches!(Access::parse("data[-tx]")?.indices[0].kind, ExprKind::Unary(UnaryOp::Negate, _)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `-`.
    Negate,
    /// `!`: 1 for 0, else 0.
    Not,
}

/// An operator between two operands.
///
/// ```
/// use tile33_explain::language::{Access, BinaryOp, ExprKind};
/// let access = Access::parse("data[tx ^ ty]")?;
/// assert!(matches!(access.indices[0].kind, ExprKind::Binary(BinaryOp::Xor, ..)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    /// `||`.
    OrElse,
    /// `&&`.
    AndThen,
    /// `==`.
    Equal,
    /// `!=`.
    NotEqual,
    /// `<`.
    Less,
    /// `<=`.
    LessEqual,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterEqual,
    /// `|`.
    Or,
    /// `^`.
    Xor,
    /// `&`.
    And,
    /// `<<`.
    ShiftLeft,
    /// `>>`.
    ShiftRight,
    /// `+`.
    Add,
    /// `-`.
    Subtract,
    /// `*`.
    Multiply,
    /// `/`.
    Divide,
    /// `%`.
    Remainder,
}

impl BinaryOp {
    /// The operators of each precedence, loosest first.
    pub(super) const LEVELS: [&[Self]; 9] = [
        &[Self::OrElse],
        &[Self::AndThen],
        &[
            Self::Equal,
            Self::NotEqual,
            Self::Less,
            Self::LessEqual,
            Self::Greater,
            Self::GreaterEqual,
        ],
        &[Self::Or],
        &[Self::Xor],
        &[Self::And],
        &[Self::ShiftLeft, Self::ShiftRight],
        &[Self::Add, Self::Subtract],
        &[Self::Multiply, Self::Divide, Self::Remainder],
    ];

    /// How it is written.
    ///
    /// ```
    /// assert_eq!(tile33_explain::language::BinaryOp::ShiftLeft.symbol(), "<<");
    /// ```
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::OrElse => "||",
            Self::AndThen => "&&",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
            Self::Or => "|",
            Self::Xor => "^",
            Self::And => "&",
            Self::ShiftLeft => "<<",
            Self::ShiftRight => ">>",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
        }
    }

    pub(super) fn level(self) -> usize {
        Self::LEVELS
            .iter()
            .position(|level| level.contains(&self))
            .unwrap_or(Self::LEVELS.len())
    }

    pub(super) fn is_comparison(self) -> bool {
        Self::LEVELS[2].contains(&self)
    }
}

impl fmt::Display for Expr {
    /// As a reader would write it: only the parentheses that are needed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_expr(self, 0, f)
    }
}

fn write_expr(expr: &Expr, least: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match &expr.kind {
        ExprKind::Integer(value) => write!(f, "{value}"),
        ExprKind::Builtin(builtin) => f.write_str(builtin.name()),
        ExprKind::Parameter(name) => f.write_str(name),
        ExprKind::Unary(op, operand) => {
            f.write_str(if *op == UnaryOp::Negate { "-" } else { "!" })?;
            write_expr(operand, BinaryOp::LEVELS.len(), f)
        }
        ExprKind::Binary(op, _, left, right) => {
            let level = op.level();
            let wrapped = level < least;
            if wrapped {
                f.write_str("(")?;
            }
            write_expr(left, if op.is_comparison() { level + 1 } else { level }, f)?;
            write!(f, " {} ", op.symbol())?;
            write_expr(right, level + 1, f)?;
            if wrapped {
                f.write_str(")")?;
            }
            Ok(())
        }
    }
}
