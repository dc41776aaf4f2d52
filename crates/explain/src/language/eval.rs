//! What an expression is worth in one thread.

use std::collections::BTreeMap;

use super::{BinaryOp, Expr, ExprKind, Span, UnaryOp};
use crate::TextError;

/// A name that every thread has.
///
/// ```
/// use tile33_explain::language::Builtin;
/// assert_eq!(Builtin::parse("blockDim.y"), Some(Builtin::DimY));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Builtin {
    /// `tx`: the thread in its block.
    ThreadX,
    /// `ty`.
    ThreadY,
    /// `tz`.
    ThreadZ,
    /// `bx`: the block in the grid.
    BlockX,
    /// `by`.
    BlockY,
    /// `bz`.
    BlockZ,
    /// `bdx`: threads of the block.
    DimX,
    /// `bdy`.
    DimY,
    /// `bdz`.
    DimZ,
    /// `lane`: the thread in its warp.
    Lane,
    /// `warp`: the warp in its block.
    Warp,
}

impl Builtin {
    /// All of them.
    ///
    /// ```
    /// use tile33_explain::language::Builtin;
    /// assert!(Builtin::ALL.iter().all(|name| Builtin::parse(name.name()) == Some(*name)));
    /// ```
    pub const ALL: [Self; 11] = [
        Self::ThreadX,
        Self::ThreadY,
        Self::ThreadZ,
        Self::BlockX,
        Self::BlockY,
        Self::BlockZ,
        Self::DimX,
        Self::DimY,
        Self::DimZ,
        Self::Lane,
        Self::Warp,
    ];

    /// Its names: the short one first, then those of CUDA C++ and of `cuda_std`.
    const fn names(self) -> &'static [&'static str] {
        match self {
            Self::ThreadX => &["tx", "threadIdx.x", "thread_idx_x"],
            Self::ThreadY => &["ty", "threadIdx.y", "thread_idx_y"],
            Self::ThreadZ => &["tz", "threadIdx.z", "thread_idx_z"],
            Self::BlockX => &["bx", "blockIdx.x", "block_idx_x"],
            Self::BlockY => &["by", "blockIdx.y", "block_idx_y"],
            Self::BlockZ => &["bz", "blockIdx.z", "block_idx_z"],
            Self::DimX => &["bdx", "blockDim.x", "block_dim_x", "dim_x"],
            Self::DimY => &["bdy", "blockDim.y", "block_dim_y", "dim_y"],
            Self::DimZ => &["bdz", "blockDim.z", "block_dim_z", "dim_z"],
            Self::Lane => &["lane", "lane_id"],
            Self::Warp => &["warp", "warp_id"],
        }
    }

    /// The short name.
    ///
    /// ```
    /// assert_eq!(tile33_explain::language::Builtin::ThreadX.name(), "tx");
    /// ```
    pub const fn name(self) -> &'static str {
        self.names()[0]
    }

    /// The builtin of a name.
    ///
    /// ```
    /// use tile33_explain::language::Builtin;
    /// assert_eq!(Builtin::parse("threadIdx.x"), Some(Builtin::ThreadX));
    /// assert_eq!(Builtin::parse("stride"), None);
    /// ```
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|builtin| builtin.names().contains(&name))
    }
}

/// What the names are worth in one thread.
///
/// ```
/// use std::collections::BTreeMap;
/// use tile33_explain::language::{Access, Builtin, Scope};
/// let parameters = BTreeMap::new();
/// let access = Access::parse("data[tx + 1]")?;
/// let scope = Scope { builtins: [7, 0, 0, 0, 0, 0, 32, 1, 1, 7, 0], parameters: &parameters, source: &access.source };
/// assert_eq!(scope.value(&access.indices[0])?, 8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// The builtins, in the order of [`Builtin::ALL`].
    pub builtins: [i64; 11],
    /// The parameters.
    pub parameters: &'a BTreeMap<String, i64>,
    /// The text, for errors.
    pub source: &'a str,
}

impl Scope<'_> {
    /// A builtin's value.
    ///
    /// ```
    /// use std::collections::BTreeMap;
    /// use tile33_explain::language::{Access, Builtin, Scope};
    /// let parameters = BTreeMap::new();
    /// let access = Access::parse("data[tx + 1]")?;
    /// let scope = Scope { builtins: [7, 0, 0, 0, 0, 0, 32, 1, 1, 7, 0], parameters: &parameters, source: &access.source };
    /// assert_eq!(scope.builtin(Builtin::DimX), 32);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn builtin(&self, builtin: Builtin) -> i64 {
        self.builtins[builtin as usize]
    }

    /// What the expression is worth.
    ///
    /// # Errors
    ///
    /// An unknown name, a division by zero, a shift out of range, an overflow of 64 bits: each with its place.
    ///
    /// ```
    /// use std::collections::BTreeMap;
    /// use tile33_explain::language::{Access, Scope};
    /// let access = Access::parse("data[7 / (4 - k)]")?;
    /// let value = |k| {
    ///     let parameters = BTreeMap::from([("k".to_owned(), k)]);
    ///     Scope { builtins: [0; 11], parameters: &parameters, source: &access.source }.value(&access.indices[0])
    /// };
    /// assert_eq!(value(1), Ok(2));
    /// assert_eq!(value(4).unwrap_err().column(), 8);
    /// # Ok::<(), tile33_explain::TextError>(())
    /// ```
    pub fn value(&self, expr: &Expr) -> Result<i64, TextError> {
        match &expr.kind {
            ExprKind::Integer(value) => Ok(*value),
            ExprKind::Builtin(builtin) => Ok(self.builtin(*builtin)),
            ExprKind::Parameter(name) => self
                .parameters
                .get(name)
                .copied()
                .ok_or_else(|| self.unknown(name, expr.span)),
            ExprKind::Unary(UnaryOp::Not, operand) => Ok(i64::from(self.value(operand)? == 0)),
            ExprKind::Unary(UnaryOp::Negate, operand) => {
                let value = self.value(operand)?;
                value
                    .checked_neg()
                    .ok_or_else(|| self.overflow(expr.span, &format!("-({value})")))
            }
            ExprKind::Binary(op, place, left, right) => self.binary(*op, *place, left, right),
        }
    }

    fn binary(&self, op: BinaryOp, place: Span, left: &Expr, right: &Expr) -> Result<i64, TextError> {
        let a = self.value(left)?;
        match op {
            BinaryOp::OrElse if a != 0 => return Ok(1),
            BinaryOp::AndThen if a == 0 => return Ok(0),
            _ => {}
        }
        let b = self.value(right)?;
        let result = match op {
            BinaryOp::OrElse | BinaryOp::AndThen => Some(i64::from(b != 0)),
            BinaryOp::Equal => Some(i64::from(a == b)),
            BinaryOp::NotEqual => Some(i64::from(a != b)),
            BinaryOp::Less => Some(i64::from(a < b)),
            BinaryOp::LessEqual => Some(i64::from(a <= b)),
            BinaryOp::Greater => Some(i64::from(a > b)),
            BinaryOp::GreaterEqual => Some(i64::from(a >= b)),
            BinaryOp::Or => Some(a | b),
            BinaryOp::Xor => Some(a ^ b),
            BinaryOp::And => Some(a & b),
            BinaryOp::Add => a.checked_add(b),
            BinaryOp::Subtract => a.checked_sub(b),
            BinaryOp::Multiply => a.checked_mul(b),
            BinaryOp::Divide | BinaryOp::Remainder if b == 0 => {
                let message = format!("division by zero: `{right}` is 0 in {}", self.thread());
                return Err(TextError::new(self.source, place, message, "divides by zero"));
            }
            BinaryOp::Divide => a.checked_div(b),
            BinaryOp::Remainder => a.checked_rem(b),
            BinaryOp::ShiftLeft | BinaryOp::ShiftRight if !(0..64).contains(&b) => {
                let message = format!("a shift by {b} in {}: possible are 0 to 63", self.thread());
                return Err(TextError::new(self.source, place, message, "shifts out of range"));
            }
            BinaryOp::ShiftLeft => i64::try_from(i128::from(a) << b).ok(),
            BinaryOp::ShiftRight => Some(a >> b),
        };
        result.ok_or_else(|| self.overflow(place, &format!("{a} {} {b}", op.symbol())))
    }

    fn overflow(&self, span: Span, what: &str) -> TextError {
        let message = format!("{what} does not fit in 64 bits, in {}", self.thread());
        TextError::new(self.source, span, message, "overflows")
    }

    fn unknown(&self, name: &str, span: Span) -> TextError {
        let known: Vec<_> = Builtin::ALL.iter().map(|builtin| builtin.name()).collect();
        let given: Vec<_> = self.parameters.keys().map(String::as_str).collect();
        let given = if given.is_empty() {
            String::new()
        } else {
            format!(", {}", given.join(", "))
        };
        TextError::new(self.source, span, format!("`{name}` has no value"), "unknown name").with_help(format!(
            "known are {}{given}; give others a value with `--let {name}=VALUE`",
            known.join(", ")
        ))
    }

    fn thread(&self) -> String {
        format!(
            "lane {} of warp {}",
            self.builtin(Builtin::Lane),
            self.builtin(Builtin::Warp)
        )
    }
}
