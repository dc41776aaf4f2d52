//! Step 2: the kernel crate to one unoptimised LLVM module, by cargo and the device compiler.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cargo_metadata::Message;
use cargo_metadata::diagnostic::DiagnosticLevel;

use crate::compiler::DeviceCompiler;
use crate::sources::Sources;
use crate::{Arch, BuildError};

/// rustc's target for the GPU.
const TARGET: &str = "nvptx64-nvidia-cuda";

/// Flags for every crate, `core` included.
const ALL_CRATES: &[&str] = &[
    // This pass copies barriers into both branches of a condition, where not every thread arrives.
    "-Zmir-enable-passes=-JumpThreading",
    // No optimisation may run before shared statics are in their address space.
    "-Cno-prepopulate-passes",
    "-Csymbol-mangling-version=v0",
    "-Cdebuginfo=line-directives-only",
    "-Cstrip=none",
];

/// Flags for the kernel crate alone.
const KERNEL_CRATE: &[&str] = &["-Clinker=true", "-Zcrate-attr=feature(abi_ptx)"];

/// Profile settings that a workspace's own must not change.
const PROFILE: &[&str] = &[
    "profile.release.opt-level=3",
    "profile.release.lto=\"fat\"",
    "profile.release.codegen-units=1",
    "profile.release.panic=\"abort\"",
    "profile.release.debug=false",
    "profile.release.debug-assertions=false",
    "profile.release.overflow-checks=false",
    "profile.release.incremental=false",
    "profile.release.strip=false",
];

/// Variables that would change the nested build without being part of it.
const FOREIGN: &[&str] = &[
    "RUSTFLAGS",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_BUILD_RUSTFLAGS",
    "CARGO_BUILD_TARGET",
    "CARGO_TARGET_DIR",
    "CARGO_MAKEFLAGS",
    "MAKEFLAGS",
    "MFLAGS",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTDOC",
    "RUSTDOCFLAGS",
    "RUSTUP_TOOLCHAIN",
    "RUSTC_LINKER",
    "TARGET",
    "HOST",
    "OUT_DIR",
];

/// What to compile.
pub(crate) struct Compilation<'a> {
    pub(crate) sources: &'a Sources,
    pub(crate) compiler: &'a DeviceCompiler,
    pub(crate) arch: Arch,
    pub(crate) features: &'a [String],
    pub(crate) target_dir: &'a Path,
    /// Part of the output's name that changes with sources and features, so that no earlier output is taken for it.
    pub(crate) key: &'a str,
}

impl Compilation<'_> {
    /// Runs cargo and gives the path of the LLVM IR.
    pub(crate) fn run(&self) -> Result<PathBuf, BuildError> {
        let folder = self.target_dir.join("ir");
        fs::create_dir_all(&folder).map_err(BuildError::io("create", &folder))?;
        let ir = folder.join(format!("{}-{}.ll", self.sources.library, self.key));
        self.cargo(&ir)?;
        if !ir.is_file() {
            // cargo holds the crate for fresh, but its output is gone: make it forget the crate.
            self.forget_crate();
            self.cargo(&ir)?;
        }
        if ir.is_file() {
            return Ok(ir);
        }
        Err(self.failed("cargo", format!("no {} although cargo reported success", ir.display())))
    }

    fn cargo(&self, ir: &Path) -> Result<(), BuildError> {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(&cargo);
        for name in FOREIGN {
            command.env_remove(name);
        }
        for (name, _) in env::vars_os() {
            let name = name.to_string_lossy();
            let of_build_script = [
                "CARGO_PKG_",
                "CARGO_FEATURE_",
                "CARGO_CFG_",
                "CARGO_PROFILE_",
                "CARGO_MANIFEST_",
                "DEP_",
            ];
            if of_build_script.iter().any(|prefix| name.starts_with(prefix)) {
                command.env_remove(&*name);
            }
        }
        command
            .current_dir(&self.sources.workspace)
            .env("RUSTC", &self.compiler.rustc)
            // `-Zbuild-std` and the PTX ABI are unstable; the compiler is chosen, and pinned by its version in the manifest.
            .env("RUSTC_BOOTSTRAP", "1")
            .env("CARGO_ENCODED_RUSTFLAGS", self.all_crates().join("\u{1f}"))
            .args([
                "rustc",
                "--release",
                "--lib",
                "--crate-type=cdylib",
                "--message-format=json",
            ])
            .args(["-Zbuild-std=core", "--target", TARGET])
            .arg("--manifest-path")
            .arg(&self.sources.manifest)
            .arg("--target-dir")
            .arg(self.target_dir);
        for setting in PROFILE {
            command.args(["--config", setting]);
        }
        if !self.features.is_empty() {
            command.arg("--features").arg(self.features.join(","));
        }
        command
            .arg("--")
            .args(KERNEL_CRATE)
            .arg(format!("--emit=llvm-ir={}", ir.display()));

        let output = command.output().map_err(BuildError::io("run", PathBuf::from(cargo)))?;
        if output.status.success() {
            return Ok(());
        }
        let errors: Vec<String> = Message::parse_stream(&output.stdout[..])
            .filter_map(|message| match message {
                Ok(Message::CompilerMessage(message)) if message.message.level == DiagnosticLevel::Error => {
                    message.message.rendered
                }
                _ => None,
            })
            .collect();
        if errors.is_empty() {
            return Err(self.failed("cargo", String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        let (name, arch) = (self.sources.name.clone(), self.arch.name());
        Err(BuildError::Compile {
            name,
            arch,
            errors: errors.join("\n"),
        })
    }

    /// The flags of every crate, with the machine's folders taken out of all paths.
    fn all_crates(&self) -> Vec<String> {
        let mut flags: Vec<String> = ALL_CRATES.iter().map(|flag| (*flag).to_owned()).collect();
        let library = self.compiler.sysroot.join("lib/rustlib/src/rust");
        let registry = env::var_os("CARGO_HOME")
            .map(PathBuf::from)
            .or_else(|| Some(env::home_dir()?.join(".cargo")));
        let mut folders = vec![(self.sources.workspace.clone(), ""), (library.clone(), "rust")];
        folders.extend(
            self.sources
                .elsewhere
                .iter()
                .map(|(folder, name)| (folder.clone(), name.as_str())),
        );
        folders.extend(
            library
                .canonicalize()
                .ok()
                .filter(|real| *real != library)
                .map(|real| (real, "rust")),
        );
        folders.extend(registry.map(|home| (home.join("registry/src"), "registry")));
        flags.extend(
            folders
                .iter()
                .map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display())),
        );
        flags
    }

    fn forget_crate(&self) {
        let folder = self.target_dir.join(TARGET).join("release/.fingerprint");
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry
                .file_name()
                .to_string_lossy()
                .starts_with(&format!("{}-", self.sources.name))
            {
                // Left behind, it only costs the error message of the caller.
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }

    fn failed(&self, tool: &str, output: String) -> BuildError {
        BuildError::Tool {
            tool: tool.to_owned(),
            name: self.sources.name.clone(),
            output,
        }
    }
}
