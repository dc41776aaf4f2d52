//! A folder with the PTX of this test, and launch files written into it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;
use tile33::launch_file::{LaunchFile, LaunchFileError, Prepared};

/// The launch of the right kernel, as DESIGN has it.
pub(crate) const REVERSE: &str = r#"ptx = "reverse.ptx"
entry = "reverse"
grid = [1, 1, 1]
block = [64, 1, 1]
shared_bytes = 256
[[arg]]
buffer = { type = "f32", len = 64, init = "iota" }
[[arg]]
value = { type = "u32", value = 64 }
[dump]
0 = "out.npy"
"#;

pub(crate) struct Folder(TempDir);

impl Folder {
    /// With the PTX and its source.
    pub(crate) fn new() -> Self {
        let folder = Self(TempDir::new().expect("a temporary folder"));
        for name in ["reverse.ptx", "reverse.cu"] {
            let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/check").join(name);
            fs::copy(from, folder.path(name)).expect("it is copied");
        }
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, contents).expect("it is written");
        path
    }

    /// Reads and prepares a launch.
    pub(crate) fn prepare(&self, text: &str) -> Result<(LaunchFile, Prepared), LaunchFileError> {
        let file = LaunchFile::read(&self.write("launch.toml", text))?;
        let prepared = file.prepare()?;
        Ok((file, prepared))
    }

    /// `tile33 check launch.toml ARGUMENTS`, with this text as the launch file, in this folder.
    pub(crate) fn check(&self, text: &str, arguments: &[&str]) -> Output {
        self.write("launch.toml", text);
        self.tile33(&[&["check", "launch.toml"], arguments].concat())
    }

    /// `tile33 ARGUMENTS` in this folder.
    pub(crate) fn tile33(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tile33"));
        command.args(arguments).current_dir(self.0.path()).env("NO_COLOR", "1");
        command.output().expect("the command starts")
    }
}
