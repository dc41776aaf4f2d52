//! PTX text to a typed module, with positions for errors.
//!
//! [`parse`] reads the language that compilers emit (rustc, nvcc, Triton; PTX ISA up to 9.x) into a [`Module`].
pub mod ast;

pub use ast::*;
