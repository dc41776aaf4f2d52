//! PTX that is kept beside its sources, for machines without a device compiler.
//!
//! A folder holds one PTX file a module and `manifest.json`, which records what each was made from. PTX is used only if
//! that is what the sources are now; stale PTX is an error, never a silent fallback.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::BuildError;
use crate::sources::digest;

/// Name of the file that describes the others.
pub const MANIFEST: &str = "manifest.json";

/// What a folder of checked-in PTX says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// One entry a PTX file.
    pub modules: Vec<Module>,
}

/// What one PTX file was made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Module {
    /// The file, beside the manifest.
    pub file: String,
    /// The architecture it was built for.
    pub arch: String,
    /// Enabled features of the kernel crate.
    pub features: Vec<String>,
    /// Hash of the sources, the features and the flags.
    pub inputs: String,
    /// The compiler.
    pub compiler: String,
    /// Hash of the PTX itself.
    pub ptx: String,
    /// Names of the kernels.
    pub kernels: Vec<String>,
}

impl Manifest {
    /// Reads the manifest in `folder`; an empty one if there is none yet.
    ///
    /// # Errors
    /// [`BuildError::BadManifest`] if it is no manifest, [`BuildError::Io`] if it cannot be read.
    pub fn read(folder: &Path) -> Result<Manifest, BuildError> {
        let path = folder.join(MANIFEST);
        if !path.is_file() {
            return Ok(Manifest::default());
        }
        let text = fs::read_to_string(&path).map_err(BuildError::io("read", &path))?;
        serde_json::from_str(&text).map_err(|error| BuildError::BadManifest {
            path,
            problem: error.to_string(),
        })
    }

    /// Writes the manifest into `folder`, modules in the order of their files.
    ///
    /// # Errors
    /// [`BuildError::Io`].
    pub fn write(&mut self, folder: &Path) -> Result<(), BuildError> {
        self.modules.sort_by(|a, b| a.file.cmp(&b.file));
        let text = serde_json::to_string_pretty(self).unwrap_or_default() + "\n";
        crate::sources::write(&folder.join(MANIFEST), &text)
    }

    /// The module of that file name.
    #[must_use]
    pub fn module(&self, file: &str) -> Option<&Module> {
        self.modules.iter().find(|module| module.file == file)
    }
}

/// Where the checked-in PTX of one module stands.
#[derive(Debug)]
pub(crate) enum State {
    /// It is made from the present sources. The PTX, and what is known of it.
    Current(String, Module),
    /// It is not there, or made from other sources, or changed by hand; why.
    Stale(&'static str),
}

impl State {
    /// Looks at `file` in `folder`.
    pub(crate) fn of(folder: &Path, file: &str, inputs: &str) -> Result<State, BuildError> {
        let manifest = Manifest::read(folder)?;
        let Some(module) = manifest.module(file) else {
            return Ok(State::Stale("is not in the manifest"));
        };
        if module.inputs != inputs {
            return Ok(State::Stale("was made from other sources"));
        }
        let path: PathBuf = folder.join(file);
        let Ok(text) = fs::read_to_string(&path) else {
            return Ok(State::Stale("is missing"));
        };
        // A checkout may have changed the line ends.
        let text = text.replace("\r\n", "\n");
        if digest(&text) != module.ptx {
            return Ok(State::Stale("was changed by hand"));
        }
        Ok(State::Current(text, module.clone()))
    }
}
