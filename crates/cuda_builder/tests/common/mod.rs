//! Kernel crates for the tests: one workspace in the target folder, a crate for each file in `tests/kernels`, so that
//! `core` is compiled once for all.

use std::fs;
use std::path::{Path, PathBuf};

use tile33_cuda_builder::{CudaBuilder, DeviceCompiler};

/// A workspace of kernel crates.
pub(crate) struct Kernels {
    root: PathBuf,
}

impl Kernels {
    /// The workspace of that name, or `None`, with a note, on a machine without a device compiler.
    pub(crate) fn new(name: &str) -> Option<Kernels> {
        if let Err(error) = DeviceCompiler::find() {
            eprintln!("skipped, because kernels cannot be compiled here: {error}");
            return None;
        }
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let kernels = Kernels {
            root: Path::new(env!("CARGO_TARGET_TMPDIR")).join(name),
        };
        kernels.write(
            "Cargo.toml",
            "[workspace]\nmembers = [\"crates/*\"]\nresolver = \"3\"\n",
        );
        // The versions of the project itself: what is already fetched.
        if !kernels.root.join("Cargo.lock").is_file() {
            kernels.write("Cargo.lock", &read(&here.join("../../Cargo.lock")));
        }
        for entry in fs::read_dir(here.join("tests/kernels")).unwrap() {
            let file = entry.unwrap().path();
            let name = file.file_stem().unwrap().to_str().unwrap();
            let cuda_std = here.join("../cuda_std");
            let manifest = format!(
                "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[features]\nextra = []\n\n\
                 [dependencies]\ncuda_std = {{ package = \"tile33-cuda-std\", path = {cuda_std:?} }}\n"
            );
            kernels.write(&format!("crates/{name}/Cargo.toml"), &manifest);
            kernels.write(&format!("crates/{name}/src/lib.rs"), &read(&file));
        }
        Some(kernels)
    }

    /// A builder for the crate that `tests/kernels/NAME.rs` is.
    pub(crate) fn builder(&self, name: &str) -> CudaBuilder {
        CudaBuilder::new(self.root.join("crates").join(name))
    }

    /// Writes a file, unless it already is so: its time is what cargo looks at.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let file = self.root.join(path);
        if fs::read_to_string(&file).is_ok_and(|old| old == text) {
            return;
        }
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
}

/// A file's text.
pub(crate) fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}
