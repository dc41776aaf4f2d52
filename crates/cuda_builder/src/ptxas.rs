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

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// An assembler that says `words` and ends with `status`.
    fn made_up(folder: &Path, words: &str, status: u8) -> Ptxas {
        let path = folder.join("ptxas");
        fs::write(&path, format!("#!/bin/sh\necho '{words}' >&2\nexit {status}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        Ptxas { path }
    }

    #[test]
    fn what_the_assembler_says_is_passed_on() {
        let folder = tempfile::tempdir().unwrap();
        let said = made_up(folder.path(), "Used 32 registers", 0).assemble(Path::new("k.ptx"), "sm_90");
        assert_eq!(said.unwrap(), "Used 32 registers\n");
    }

    #[test]
    fn a_refusal_names_the_file_and_the_architecture_and_gives_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let refused = made_up(folder.path(), "line 7: syntax error", 255).assemble(Path::new("out/k.ptx"), "sm_100");
        let message = refused.unwrap_err().to_string();
        assert_eq!(
            message,
            "ptxas for sm_100 failed while building `k.ptx`:\nline 7: syntax error"
        );
    }

    #[test]
    fn an_assembler_that_is_not_there_is_an_error_that_names_it() {
        let ptxas = Ptxas {
            path: PathBuf::from("/nowhere/ptxas"),
        };
        let message = ptxas.assemble(Path::new("k.ptx"), "sm_75").unwrap_err().to_string();
        assert!(message.starts_with("cannot run /nowhere/ptxas: "), "{message}");
    }
}
