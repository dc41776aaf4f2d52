//! Runs PTX on the CPU: 32-lane warps with real divergence, exact counts of bank conflicts, and the checks that a GPU
//! does not make.
pub mod alu;
pub mod registers;
