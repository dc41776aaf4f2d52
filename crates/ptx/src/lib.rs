//! PTX text to a typed module, with positions for errors.
//!
//! [`parse`] reads the language that compilers emit (rustc, nvcc, Triton; PTX ISA up to 9.x) into a [`Module`].
//!
//! ```
//! let module = tile33_ptx::parse(".version 8.0 .target sm_75 .address_size 64 .visible .entry k() { ret; }")?;
//! assert_eq!(module.kernels().map(|k| k.name.as_str()).collect::<Vec<_>>(), ["k"]);
//! let error = tile33_ptx::parse(".version 8.0 .target sm_75\n.visible .entry k() { jump; }").unwrap_err();
//! assert_eq!((error.line, error.column, error.found.as_str()), (2, 23, "jump"));
//! # Ok::<(), tile33_ptx::ParseError>(())
//! ```
pub mod ast;
mod cursor;
mod debug;
mod declarations;
mod error;
mod expressions;
mod functions;
mod initializers;
mod inlining;
mod lexer;
mod lookup;
mod module;
mod names;
mod operands;
mod statements;

pub use ast::*;
pub use error::ParseError;
pub use lookup::{KernelParameter, ParameterLayout};
pub use module::parse;
