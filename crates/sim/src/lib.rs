//! Runs PTX on the CPU: 32-lane warps with real divergence, exact counts of bank conflicts, and the checks that a GPU
//! does not make.
pub mod alu;
pub mod check;
mod compose;
mod decode;
pub mod emulator;
mod exec;
pub mod finding;
mod instance;
pub mod launch;
pub mod memory;
pub mod program;
pub mod registers;
pub mod report;
mod validate;

pub use emulator::{Buffer, Emulator};
pub use finding::{Address, Finding, FindingKind, Site};
pub use launch::{Arg, Checks, Launch, LaunchError, Options, SharedArray};
pub use memory::{Memory, MemoryError};
pub use program::{LoadError, Program};
pub use report::{
    Counters, DeclaredRegisters, GlobalCounters, InstructionCounters, Report, Residency, SharedCounters, SourceLine,
    Step,
};
