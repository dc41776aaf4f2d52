//! Finding a device compiler: a rustc with the sources of `core`, and `opt` and `llc` of the same LLVM.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::BuildError;

/// The environment variable that names the device compiler: a path to a rustc, or `none` to do without one.
pub const RUSTC_VARIABLE: &str = "CUDA_BUILDER_RUSTC";

/// The oldest LLVM that knows launch bounds as function attributes.
const LEAST_LLVM: u32 = 21;

/// The distribution's compiler, tried last.
const SYSTEM_RUSTC: &str = "/usr/bin/rustc";

/// A rustc that can compile `core` for the GPU, with the LLVM tools that fit it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceCompiler {
    /// The compiler.
    pub rustc: PathBuf,
    /// First line of `rustc -vV`.
    pub version: String,
    /// Version of its LLVM, `22.1.8`.
    pub llvm: String,
    /// Its sysroot.
    pub sysroot: PathBuf,
    /// LLVM's optimiser.
    pub opt: PathBuf,
    /// LLVM's code generator.
    pub llc: PathBuf,
    /// What the LLVM tools say they are, `22.1.8`.
    pub tools: String,
}

impl DeviceCompiler {
    /// Finds the device compiler. In order: the variable [`RUSTC_VARIABLE`]; the active rustc (`RUSTC` in a build
    /// script, else `rustc` on the path) if its sysroot holds the sources of `core`; `/usr/bin/rustc` if its does.
    ///
    /// `opt` and `llc` must be of the compiler's LLVM major version and are looked for in the sysroot, in
    /// `/usr/lib/llvm-NN/bin`, and as `opt-NN` and `llc-NN` on the path.
    ///
    /// # Errors
    /// [`BuildError::NoCompiler`], [`BuildError::BadCompiler`], [`BuildError::LlvmMismatch`], [`BuildError::LlvmTooOld`].
    pub fn find() -> Result<DeviceCompiler, BuildError> {
        find(
            env::var_os(RUSTC_VARIABLE),
            active_rustc(),
            Path::new(SYSTEM_RUSTC),
            &Surroundings::of_this_machine(),
        )
    }

    /// What decides the PTX besides the sources and the flags: the compiler's and the tools' versions.
    pub fn identity(&self) -> String {
        format!("{}, LLVM {}, tools {}", self.version, self.llvm, self.tools)
    }

    /// Files that a build script should watch: replacing the compiler rebuilds the kernels.
    pub fn files(&self) -> [&Path; 3] {
        [&self.rustc, &self.opt, &self.llc]
    }
}

/// Where LLVM tools can be besides the compiler's own sysroot.
struct Surroundings {
    /// Parent of `llvm-NN/bin`.
    lib: PathBuf,
    /// `PATH`.
    path: Vec<PathBuf>,
}

impl Surroundings {
    fn of_this_machine() -> Self {
        let path = env::var_os("PATH").unwrap_or_default();
        Surroundings {
            lib: PathBuf::from("/usr/lib"),
            path: env::split_paths(&path).collect(),
        }
    }
}

fn active_rustc() -> PathBuf {
    env::var_os("RUSTC").map_or_else(|| PathBuf::from("rustc"), PathBuf::from)
}

fn find(
    variable: Option<OsString>,
    active: PathBuf,
    system: &Path,
    around: &Surroundings,
) -> Result<DeviceCompiler, BuildError> {
    if let Some(value) = variable.filter(|value| !value.is_empty()) {
        if value == "none" {
            return Err(BuildError::NoCompiler {
                tried: format!("none, because {RUSTC_VARIABLE}=none"),
            });
        }
        let path = PathBuf::from(value);
        return match probe(&path) {
            Ok(rustc) => rustc.with_tools(around),
            Err(problem) => Err(BuildError::BadCompiler { path, problem }),
        };
    }
    let mut tried = Vec::new();
    let mut unfit = None;
    for candidate in [active.as_path(), system] {
        match probe(candidate) {
            Ok(rustc) => match rustc.with_tools(around) {
                Ok(found) => return Ok(found),
                Err(error) => unfit = unfit.or(Some(error)),
            },
            Err(problem) => tried.push(format!("{}, which {problem}", candidate.display())),
        }
    }
    Err(unfit.unwrap_or_else(|| BuildError::NoCompiler {
        tried: tried.join("; "),
    }))
}

/// A rustc with the sources of `core`, its LLVM tools not yet looked for.
struct Rustc {
    path: PathBuf,
    version: String,
    host: String,
    llvm: String,
    sysroot: PathBuf,
}

fn probe(rustc: &Path) -> Result<Rustc, String> {
    let verbose = output_of(rustc, &["-vV"])?;
    let sysroot = PathBuf::from(output_of(rustc, &["--print", "sysroot"])?.trim());
    let field = |name: &str| {
        verbose
            .lines()
            .find_map(|line| line.strip_prefix(name))
            .map(|value| value.trim().to_owned())
    };
    let llvm = field("LLVM version:").ok_or("does not say which LLVM it is built on")?;
    let host = field("host:").ok_or("does not say what its host is")?;
    if !sysroot.join("lib/rustlib/src/rust/library/core/Cargo.toml").is_file() {
        return Err(format!("has no sources of `core` in {}", sysroot.display()));
    }
    let version = verbose.lines().next().unwrap_or_default().to_owned();
    Ok(Rustc {
        path: rustc.to_owned(),
        version,
        host,
        llvm,
        sysroot,
    })
}

impl Rustc {
    fn with_tools(self, around: &Surroundings) -> Result<DeviceCompiler, BuildError> {
        let major = major(&self.llvm);
        if major < LEAST_LLVM {
            return Err(BuildError::LlvmTooOld {
                rustc: self.path,
                major,
                least: LEAST_LLVM,
            });
        }
        let mut found = Vec::new();
        for (opt, llc) in self.tool_candidates(major, around) {
            let (Ok(opt_version), Ok(llc_version)) = (llvm_version(&opt), llvm_version(&llc)) else {
                continue;
            };
            if crate::compiler::major(&opt_version) == major && opt_version == llc_version {
                let Rustc {
                    path: rustc,
                    version,
                    llvm,
                    sysroot,
                    ..
                } = self;
                return Ok(DeviceCompiler {
                    rustc,
                    version,
                    llvm,
                    sysroot,
                    opt,
                    llc,
                    tools: llc_version,
                });
            }
            found.push(format!("{} is of LLVM {opt_version}", opt.display()));
        }
        let found = if found.is_empty() {
            "none at all".to_owned()
        } else {
            found.join("; ")
        };
        Err(BuildError::LlvmMismatch {
            rustc: self.path,
            major,
            found,
        })
    }

    fn tool_candidates(&self, major: u32, around: &Surroundings) -> Vec<(PathBuf, PathBuf)> {
        let in_sysroot = self.sysroot.join("lib/rustlib").join(&self.host).join("bin");
        let of_distribution = around.lib.join(format!("llvm-{major}/bin"));
        let mut candidates: Vec<_> = [in_sysroot, of_distribution]
            .iter()
            .map(|bin| (bin.join("opt"), bin.join("llc")))
            .collect();
        // The plain names are never the right ones by themselves, but say what *is* installed when nothing fits.
        for (opt, llc) in [
            (format!("opt-{major}"), format!("llc-{major}")),
            ("opt".into(), "llc".into()),
        ] {
            if let (Some(opt), Some(llc)) = (on_path(&opt, around), on_path(&llc, around)) {
                candidates.push((opt, llc));
            }
        }
        candidates
    }
}

fn on_path(name: &str, around: &Surroundings) -> Option<PathBuf> {
    around
        .path
        .iter()
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

fn llvm_version(tool: &Path) -> Result<String, String> {
    let text = output_of(tool, &["--version"])?;
    let version = text
        .split("LLVM version ")
        .nth(1)
        .and_then(|rest| rest.split_whitespace().next());
    version
        .map(str::to_owned)
        .ok_or_else(|| "does not say its LLVM version".to_owned())
}

fn major(version: &str) -> u32 {
    version
        .split('.')
        .next()
        .and_then(|major| major.parse().ok())
        .unwrap_or(0)
}

fn output_of(program: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .map_err(|error| format!("does not start ({error})"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    Err(format!(
        "fails ({})",
        stderr.lines().next().unwrap_or("without a message")
    ))
}

#[cfg(test)]
#[path = "compiler_tests.rs"]
mod tests;
