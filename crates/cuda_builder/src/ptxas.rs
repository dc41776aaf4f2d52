//! NVIDIA's assembler, where there is one: it tells whether a driver would take the PTX.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::BuildError;

/// The environment variable that names the assembler.
pub const PTXAS_VARIABLE: &str = "PTXAS";

/// NVIDIA's assembler `ptxas`, of the CUDA toolkit or the PyPI package `nvidia-cuda-nvcc`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ptxas {
    path: PathBuf,
}

impl Ptxas {
    /// The assembler that the variable `PTXAS` names, else the one on the path.
    #[must_use]
    pub fn find() -> Option<Ptxas> {
        if let Some(path) = env::var_os(PTXAS_VARIABLE).filter(|path| !path.is_empty()) {
            return Some(Ptxas { path: path.into() });
        }
        let folders = env::var_os("PATH")?;
        let path = env::split_paths(&folders)
            .map(|folder| folder.join("ptxas"))
            .find(|path| path.is_file())?;
        Some(Ptxas { path })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Assembles the PTX in `file` for an architecture, and gives what the assembler says of each kernel (registers,
    /// shared memory, spills). The machine code is thrown away.
    ///
    /// # Errors
    /// [`BuildError::Tool`] with the assembler's messages if it refuses, [`BuildError::Io`] if it cannot be run.
    pub fn assemble(&self, file: &Path, arch: &str) -> Result<String, BuildError> {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let cubin = env::temp_dir().join(format!("{}-{name}-{arch}.cubin", std::process::id()));
        let mut command = Command::new(&self.path);
        command
            .arg(format!("-arch={arch}"))
            .arg("-v")
            .arg(file)
            .arg("-o")
            .arg(&cubin);
        let output = command.output().map_err(BuildError::io("run", &self.path));
        // It is there only if the assembler came so far.
        let _ = fs::remove_file(&cubin);
        let output = output?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() {
            return Ok(said);
        }
        Err(BuildError::Tool {
            tool: format!("ptxas for {arch}"),
            name,
            output: said,
        })
    }
}
