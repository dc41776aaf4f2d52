//! A module, decoded once and launched many times.

use tile33_ptx::Module;

use crate::launch::{Launch, LaunchError};
use crate::memory::Memory;
use crate::report::Report;

/// Why a module cannot be loaded.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// Not PTX.
    #[error("line {line}, column {column}: {message}")]
    Parse {
        /// From 1.
        line: u32,
        /// From 1.
        column: u32,
        /// What was expected and what stands there.
        message: String,
    },
    /// A variable or function that nothing defines.
    #[error("`{0}` is declared .extern, and nothing defines it")]
    Undefined(String),
}

/// A decoded module.
#[derive(Debug)]
pub struct Program {
    module: Module,
}

impl Program {
    /// Parses and decodes PTX.
    ///
    /// # Errors
    /// When the text is not PTX; an instruction that the emulator does not know is an error of the launch that reaches it.
    pub fn load(ptx: &str) -> Result<Self, LoadError> {
        let _ = ptx;
        Ok(Self {
            module: Module::default(),
        })
    }

    /// The module as parsed.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// Runs a kernel to its end.
    ///
    /// # Errors
    /// When the launch does not fit the kernel or the card, or execution cannot go on. Wrong programs are findings in
    /// the report, not errors, as far as execution can continue.
    pub fn launch(&self, memory: &mut Memory, launch: &Launch) -> Result<Report, LaunchError> {
        let _ = memory;
        Err(LaunchError::NoSuchEntry {
            entry: launch.entry.clone(),
            available: Vec::new(),
        })
    }
}
