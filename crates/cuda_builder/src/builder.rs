//! The builder: options, the order of the steps, and when there is nothing to do.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::checked_in::{Module, State};
use crate::compile::Compilation;
use crate::emit::Emission;
use crate::ir::Kernel;
use crate::sources::{ModuleRequest, Sources, digest, hex, in_order, write};
use crate::{Arch, BuildError, DeviceCompiler, Ptxas, audit, ir};

/// The code whose text decides the PTX: what rewrites the module, and what holds the flags.
const STEPS: &[&str] = &[
    include_str!("compile.rs"),
    include_str!("emit.rs"),
    include_str!("locations.rs"),
    include_str!("ir/mod.rs"),
    include_str!("ir/kernels.rs"),
    include_str!("ir/names.rs"),
    include_str!("ir/scan.rs"),
    include_str!("ir/shared.rs"),
    include_str!("ir/support.rs"),
];

/// Builds the PTX of one kernel crate for one architecture.
#[derive(Clone, Debug)]
pub struct CudaBuilder {
    folder: PathBuf,
    wanted: ModuleRequest,
    copy_to: Option<PathBuf>,
    target_dir: Option<PathBuf>,
    checked_in: Option<PathBuf>,
}

/// How a build came by its PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Built now.
    Built,
    /// Built before from the same sources by the same compiler.
    UpToDate,
    /// Kept beside the sources: see [`CudaBuilder::checked_in`].
    CheckedIn,
}

/// What a build gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    /// The PTX file: where [`CudaBuilder::copy_to`] says, else in the target folder.
    pub ptx: PathBuf,
    /// Names of the kernels, in the module's order.
    pub kernels: Vec<String>,
    /// How the build came by it.
    pub origin: Origin,
    /// Hash of the sources and flags that the PTX was made from.
    pub inputs: String,
    /// The compiler that made it.
    pub compiler: String,
    /// Hash of the PTX.
    pub digest: String,
}

/// What is remembered beside the PTX.
#[derive(Serialize, Deserialize)]
struct Fingerprint {
    inputs: String,
    compiler: String,
    ptx: String,
    kernels: Vec<String>,
}

impl CudaBuilder {
    /// A builder for the kernel crate in `folder`, relative to the current folder (in a build script: the package's).
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        CudaBuilder {
            folder: folder.into(),
            wanted: ModuleRequest {
                file: String::new(),
                arch: "sm_75".to_owned(),
                features: Vec::new(),
                kernels: String::new(),
            },
            copy_to: None,
            target_dir: None,
            checked_in: None,
        }
    }

    /// The architecture: the oldest that the PTX shall run on. Without this, `sm_75`.
    #[must_use]
    pub fn arch(mut self, arch: impl Into<String>) -> Self {
        self.wanted.arch = arch.into();
        self
    }

    /// Features of the kernel crate to enable.
    #[must_use]
    pub fn features<S: Into<String>>(mut self, features: impl IntoIterator<Item = S>) -> Self {
        self.wanted.features = in_order(features.into_iter().map(Into::into).collect());
        self
    }

    /// Only the kernels whose names begin so, less those that a file of the crate with a longer beginning takes. Without
    /// this, all that no file of the crate takes.
    #[must_use]
    pub fn kernels(mut self, beginning: impl Into<String>) -> Self {
        self.wanted.kernels = beginning.into();
        self
    }

    /// Architecture, features and kernels of a file that the crate asks for.
    #[must_use]
    pub fn module(self, request: &ModuleRequest) -> Self {
        self.arch(&request.arch)
            .features(request.features.clone())
            .kernels(&request.kernels)
    }

    /// The file that the PTX is written to, besides the target folder. Its folder is created.
    #[must_use]
    pub fn copy_to(mut self, file: impl Into<PathBuf>) -> Self {
        self.copy_to = Some(file.into());
        self
    }

    /// The folder for everything between sources and PTX. Without this, `cuda-builder` in the target folder.
    #[must_use]
    pub fn target_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.target_dir = Some(folder.into());
        self
    }

    /// A PTX file that is kept beside its sources, in a folder with a [`Manifest`](crate::Manifest).
    ///
    /// Without a device compiler it is what the build gives, if it was made from the present sources, and
    /// [`BuildError::Stale`] if not. With one it saves a build that would give the same: same sources, same compiler.
    #[must_use]
    pub fn checked_in(mut self, file: impl Into<PathBuf>) -> Self {
        self.checked_in = Some(file.into());
        self
    }

    /// Hash of everything that decides the PTX except for the compiler: sources, features, architecture, flags.
    ///
    /// # Errors
    /// Those of [`Sources::of`], and [`BuildError::UnknownArch`].
    pub fn inputs(&self) -> Result<String, BuildError> {
        Ok(self.inputs_of(&Sources::of(&self.folder)?, self.wanted.arch.parse()?))
    }

    /// Builds, or finds that there is nothing to do.
    ///
    /// In a build script this also tells cargo what to watch.
    ///
    /// # Errors
    /// Every [`BuildError`].
    pub fn build(&self) -> Result<Built, BuildError> {
        self.build_with(DeviceCompiler::find)
    }

    fn build_with(&self, find: impl FnOnce() -> Result<DeviceCompiler, BuildError>) -> Result<Built, BuildError> {
        let arch: Arch = self.wanted.arch.parse()?;
        let sources = Sources::of(&self.folder)?;
        if env::var_os("OUT_DIR").is_some() {
            for path in &sources.watch {
                println!("cargo:rerun-if-changed={}", path.display());
            }
            if let Some(folder) = self.checked_in.as_deref().and_then(Path::parent) {
                println!("cargo:rerun-if-changed={}", folder.display());
            }
            println!("cargo:rerun-if-env-changed={}", crate::RUSTC_VARIABLE);
        }
        let inputs = self.inputs_of(&sources, arch);
        let (mut built, text) = self.obtain(&sources, arch, inputs, find())?;
        if let Some(copy) = &self.copy_to {
            if !fs::read_to_string(copy).is_ok_and(|old| old == text) {
                write(copy, &text)?;
            }
            built.ptx.clone_from(copy);
        }
        Ok(built)
    }

    /// The PTX from the first of: the checked-in copy, the build before, a build.
    fn obtain(
        &self,
        sources: &Sources,
        arch: Arch,
        inputs: String,
        compiler: Result<DeviceCompiler, BuildError>,
    ) -> Result<(Built, String), BuildError> {
        if let Some(file) = &self.checked_in {
            match (self.look_at_checked_in(file, &inputs)?, &compiler) {
                (State::Current(text, module), Err(missing)) if missing.is_missing_compiler() => {
                    return Ok((from_checked_in(file, module), text));
                }
                (State::Current(text, module), Ok(compiler)) if module.compiler == compiler.identity() => {
                    return Ok((from_checked_in(file, module), text));
                }
                (State::Stale(why), Err(missing)) if missing.is_missing_compiler() => {
                    let missing = Box::new(
                        compiler
                            .err()
                            .unwrap_or(BuildError::NoCompiler { tried: String::new() }),
                    );
                    return Err(BuildError::Stale {
                        path: file.clone(),
                        why,
                        missing,
                    });
                }
                _ => {}
            }
        }
        let compiler = compiler?;
        let target_dir = self.target_dir.clone().unwrap_or_else(|| default_target_dir(sources));
        let target_dir = std::path::absolute(&target_dir).map_err(BuildError::io("find", &target_dir))?;
        let ptx = target_dir.join("ptx").join(self.file_name(sources, arch));
        let record = ptx.with_extension("json");
        let (
            Fingerprint {
                inputs,
                compiler,
                kernels,
                ptx: digest,
            },
            text,
            origin,
        ) = match read_back(&record, &ptx) {
            Some((old, text)) if old.inputs == inputs && old.compiler == compiler.identity() => {
                (old, text, Origin::UpToDate)
            }
            _ => {
                let (text, kernels) = self.steps(sources, &compiler, arch, &target_dir, &ptx)?;
                let fingerprint = Fingerprint {
                    inputs,
                    compiler: compiler.identity(),
                    ptx: digest(&text),
                    kernels,
                };
                write(&ptx, &text)?;
                write(&record, &serde_json::to_string_pretty(&fingerprint).unwrap_or_default())?;
                (fingerprint, text, Origin::Built)
            }
        };
        Ok((
            Built {
                ptx,
                kernels,
                origin,
                inputs,
                compiler,
                digest,
            },
            text,
        ))
    }

    fn look_at_checked_in(&self, file: &Path, inputs: &str) -> Result<State, BuildError> {
        let folder = file.parent().unwrap_or(Path::new("."));
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        State::of(folder, &name, inputs)
    }

    fn steps(
        &self,
        sources: &Sources,
        compiler: &DeviceCompiler,
        arch: Arch,
        target_dir: &Path,
        file: &Path,
    ) -> Result<(String, Vec<String>), BuildError> {
        let key = digest(&format!(
            "{} {:?} {}",
            sources.hash,
            self.wanted.features,
            include_str!("compile.rs")
        ));
        let key = &key[..16];
        let compilation = Compilation {
            sources,
            compiler,
            arch,
            features: &self.wanted.features,
            target_dir,
            key,
        };
        let ir = compilation.run()?;
        let ir = fs::read_to_string(&ir).map_err(BuildError::io("read", &ir))?;
        let name = &sources.name;
        let prepared = ir::prepare(&ir).map_err(|problem| BuildError::Ir {
            name: name.clone(),
            line: problem.line,
            problem: problem.message,
        })?;
        let kernels = self.choose(sources, prepared.kernels)?;
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).map_err(BuildError::io("create", folder))?;
        }
        let emission = Emission {
            name,
            compiler,
            arch,
            isa: arch.lowest_isa(),
            folder: &sources.folder_in_paths(),
            stem: file,
        };
        let text = emission.run(&prepared.text, &kernels)?;
        // Kept where anything is wrong with it: the findings name its lines.
        let rejected = file.with_extension("rejected.ptx");
        write(&rejected, &text)?;
        Self::examine(name, &text, &rejected, arch)?;
        let _ = fs::remove_file(rejected);
        Ok((text, kernels.into_iter().map(|kernel| kernel.name).collect()))
    }

    /// Those of the crate's kernels that are wanted.
    ///
    /// A kernel that no file of the crate takes would be lost silently, so that is an error.
    fn choose(&self, sources: &Sources, kernels: Vec<Kernel>) -> Result<Vec<Kernel>, BuildError> {
        let name = || sources.name.clone();
        let alike = |request: &&ModuleRequest| request.features == self.wanted.features;
        let mut requests = sources.modules.iter().filter(alike).peekable();
        if requests.peek().is_some() {
            let requests: Vec<_> = requests.collect();
            let taken = |kernel: &Kernel| requests.iter().any(|request| kernel.name.starts_with(&request.kernels));
            if let Some(lost) = kernels.iter().find(|kernel| !taken(kernel)) {
                return Err(BuildError::NoFileForKernel {
                    name: name(),
                    kernel: lost.name.clone(),
                });
            }
        }
        let chosen: Vec<_> = kernels
            .into_iter()
            .filter(|kernel| self.wanted.takes(&kernel.name, &sources.modules))
            .collect();
        if chosen.is_empty() {
            return Err(BuildError::NoKernels {
                name: name(),
                beginning: self.wanted.kernels.clone(),
            });
        }
        Ok(chosen)
    }

    /// Audits the PTX, which is also in `file`, and assembles it where there is an assembler.
    fn examine(name: &str, text: &str, file: &Path, arch: Arch) -> Result<(), BuildError> {
        let module = tile33_ptx::parse(text).map_err(|error| BuildError::Unreadable {
            name: name.to_owned(),
            file: file.to_owned(),
            problem: error.to_string(),
        })?;
        let findings = audit::findings(&module);
        if !findings.is_empty() {
            return Err(BuildError::Audit {
                name: name.to_owned(),
                file: file.to_owned(),
                findings,
            });
        }
        if let Some(ptxas) = Ptxas::find() {
            ptxas.assemble(file, arch.name())?;
        }
        Ok(())
    }

    fn inputs_of(&self, sources: &Sources, arch: Arch) -> String {
        let mut hash = Sha256::new();
        hash.update(&sources.hash);
        hash.update(format!("{arch} {:?} {:?}\n", arch.lowest_isa(), self.wanted.features));
        // What other files take is not in this one.
        let others = sources
            .modules
            .iter()
            .filter(|other| other.features == self.wanted.features);
        let beginnings: BTreeSet<_> = others.map(|other| &other.kernels).collect();
        hash.update(format!("{:?} of {beginnings:?}\n", self.wanted.kernels));
        for text in STEPS {
            hash.update(text.replace("\r\n", "\n"));
        }
        hex(&hash.finalize())
    }

    fn file_name(&self, sources: &Sources, arch: Arch) -> String {
        let features: String = self
            .wanted
            .features
            .iter()
            .map(|feature| format!("+{feature}"))
            .collect();
        let kernels = match &*self.wanted.kernels {
            "" => String::new(),
            beginning => format!(".{beginning}"),
        };
        format!("{}{features}{kernels}.{arch}.ptx", sources.library)
    }
}

/// The target folder of the build that is running, where there is one: a checkout that is used as a dependency may not
/// be written to.
fn default_target_dir(sources: &Sources) -> PathBuf {
    let running = env::var_os("OUT_DIR").map(PathBuf::from).map(|out| {
        let root = out.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file());
        root.map(Path::to_owned).unwrap_or(out)
    });
    running.unwrap_or_else(|| sources.target.clone()).join("cuda-builder")
}

fn read_back(record: &Path, file: &Path) -> Option<(Fingerprint, String)> {
    let fingerprint: Fingerprint = serde_json::from_str(&fs::read_to_string(record).ok()?).ok()?;
    let text = fs::read_to_string(file).ok()?;
    (digest(&text) == fingerprint.ptx).then_some((fingerprint, text))
}

fn from_checked_in(file: &Path, module: Module) -> Built {
    let Module {
        kernels,
        inputs,
        compiler,
        ptx: digest,
        ..
    } = module;
    Built {
        ptx: file.to_owned(),
        kernels,
        origin: Origin::CheckedIn,
        inputs,
        compiler,
        digest,
    }
}

#[cfg(test)]
#[path = "builder_tests.rs"]
mod tests;
