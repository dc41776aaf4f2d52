//! The index language: what a warp's lanes access, written the way kernels write it.
//!
//! ```text
//! access  = name index+ [ "if" expr ]  |  "if" expr "{" name index+ "}"
//! index   = "[" expr "]"
//! expr    = integers, names, + - * / % ^ & | << >>, < <= > >= == !=, && || !, unary -, parentheses; `as usize` does nothing
//! ```
//!
//! Precedence is Rust's: `|| && (comparisons) | ^ & << >> + - * / %`, tightest last. Names are those of
//! [`Builtin`] and the parameters that the caller gives. Arithmetic is on 64-bit signed integers; `/` truncates and `%`
//! takes the sign of the dividend, as in Rust and C. A guard (after `if`) masks the lanes for which it is 0.

mod ast;
mod eval;
mod lexer;
mod parser;

pub use ast::{Access, BinaryOp, Expr, ExprKind, Span, UnaryOp};
pub use eval::{Builtin, Scope};
