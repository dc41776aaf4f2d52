//! Small modules around the piece that a test is about.

use tile33_ptx::{Body, Instruction, Module, ParseError, parse};

/// What stands before everything else.
pub(crate) const HEADER: &str = ".version 8.0\n.target sm_90\n.address_size 64\n";

/// A module with these lines at its top level.
pub(crate) fn module(lines: &str) -> Module {
    parse(&format!("{HEADER}{lines}")).unwrap_or_else(|error| panic!("{error}\n{lines}"))
}

/// The body of a kernel with these statements.
pub(crate) fn body(statements: &str) -> Body {
    let mut module = module(&format!(".visible .entry k() {{\n{statements}\n}}"));
    module
        .functions
        .pop()
        .and_then(|f| f.body)
        .expect("the kernel has a body")
}

/// Registers of every type, as most tests want them.
pub(crate) const REGISTERS: &str =
    ".reg .pred %p<8>; .reg .b16 %rs<8>; .reg .b32 %r<16>; .reg .b64 %rd<16>; .reg .f32 %f<8>; .reg .f64 %fd<8>;";

/// The only instruction among these statements, after [`REGISTERS`].
pub(crate) fn instruction(statements: &str) -> Instruction {
    let mut body = body(&format!("{REGISTERS}{statements}"));
    assert_eq!(body.instructions.len(), 1, "{statements}");
    body.instructions.remove(0)
}

/// The error of a module with these lines at its top level; the first of them is line 4.
pub(crate) fn error(lines: &str) -> ParseError {
    match parse(&format!("{HEADER}{lines}")) {
        Ok(_) => panic!("this parses:\n{lines}"),
        Err(error) => error,
    }
}

/// The error of a kernel with these statements after [`REGISTERS`]; the first of them is line 6.
pub(crate) fn body_error(statements: &str) -> ParseError {
    error(&format!(".visible .entry k() {{\n{REGISTERS}\n{statements}\n}}"))
}
