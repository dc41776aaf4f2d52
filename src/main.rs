//! The `tile33` command.
fn main() {}
