//! The language, piece by piece: what each form of PTX becomes, and what is said of what is not PTX.
mod common;
mod debug;
mod declarations;
mod errors;
mod expressions;
mod hostile;
mod operands;
mod scopes;
