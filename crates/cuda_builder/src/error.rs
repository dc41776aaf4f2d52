//! What can go wrong between a kernel crate and its PTX, each with what to do about it.

use std::path::PathBuf;

use crate::compiler::RUSTC_VARIABLE;

/// Why there is no PTX.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The architecture is not one that PTX names.
    #[error("unknown GPU architecture `{asked}`: use one of {known}")]
    UnknownArch {
        /// What was asked for.
        asked: String,
        /// What is possible.
        known: String,
    },

    /// The folder holds no crate.
    #[error("no kernel crate at {}: CudaBuilder::new takes the folder that holds its Cargo.toml", path.display())]
    NoCrate {
        /// The folder that was looked at.
        path: PathBuf,
    },

    /// No compiler comes with the sources of `core`, which has to be compiled for the GPU.
    #[error(
        "no device compiler: a rustc that comes with the sources of `core` is needed (tried {tried}).\n\
         Run `cargo xtask toolchain`, or set {RUSTC_VARIABLE} to such a rustc"
    )]
    NoCompiler {
        /// The candidates, with what each lacks.
        tried: String,
    },

    /// The compiler named by the environment variable cannot be used.
    #[error("{RUSTC_VARIABLE} names {}, which {problem}.\nPoint it at a rustc that comes with the sources of `core`, or unset it", path.display())]
    BadCompiler {
        /// The value of the variable.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },

    /// There is a compiler, but no `opt` and `llc` of its LLVM.
    #[error(
        "{} is built on LLVM {major}, but opt and llc of LLVM {major} were not found ({found}).\n\
         Install them (Debian: `apt-get install llvm-{major}`; rustup: `rustup component add llvm-tools`)", rustc.display()
    )]
    LlvmMismatch {
        /// The device compiler.
        rustc: PathBuf,
        /// The major version of its LLVM.
        major: u32,
        /// What was found instead.
        found: String,
    },

    /// The compiler's LLVM does not know the attributes that launch bounds need.
    #[error("{} is built on LLVM {major}; kernels need LLVM {least} or later. Install a newer one: `cargo xtask toolchain`", rustc.display())]
    LlvmTooOld {
        /// The device compiler.
        rustc: PathBuf,
        /// The major version of its LLVM.
        major: u32,
        /// The least version that works.
        least: u32,
    },

    /// rustc refused the kernels.
    #[error("the kernel crate `{name}` does not compile for {arch}; correct this and build again:\n\n{}", errors.trim_end())]
    Compile {
        /// Name of the package.
        name: String,
        /// Architecture.
        arch: &'static str,
        /// rustc's errors as it prints them.
        errors: String,
    },

    /// The crate compiles but contains no kernel.
    #[error(
        "the kernel crate `{name}` has no kernel{}: mark a public function of it with #[kernel]",
        so_called(beginning)
    )]
    NoKernels {
        /// Name of the package.
        name: String,
        /// What the names of the kernels that were asked for begin with.
        beginning: String,
    },

    /// The crate says which kernels each PTX file takes, and none takes this one.
    #[error(
        "no PTX file takes the kernel `{kernel}`: add one to package.metadata.ptx in the Cargo.toml of `{name}`, with \
         `kernels` a beginning of that name"
    )]
    NoFileForKernel {
        /// Name of the package.
        name: String,
        /// The kernel.
        kernel: String,
    },

    /// The compiler's output is not what the address-space step understands.
    #[error("the LLVM IR of `{name}` cannot be prepared for the GPU, at line {line}: {problem}")]
    Ir {
        /// Name of the package.
        name: String,
        /// Line of the IR, from 1.
        line: usize,
        /// What is wrong and what to do.
        problem: String,
    },

    /// `opt`, `llc`, `ptxas` or `cargo` ran and failed.
    #[error("{tool} failed while building `{name}`:\n{}", output.trim_end())]
    Tool {
        /// The tool.
        tool: String,
        /// Name of the package.
        name: String,
        /// What it printed.
        output: String,
    },

    /// The PTX that LLVM wrote cannot be read.
    #[error("the PTX of `{name}` ({}) cannot be read, so it cannot be audited: {problem}", file.display())]
    Unreadable {
        /// Name of the package.
        name: String,
        /// The PTX.
        file: PathBuf,
        /// The parser's answer.
        problem: String,
    },

    /// The PTX would not do what the kernels say.
    #[error("the PTX of `{name}` ({}) failed the audit:\n{}", file.display(), findings.join("\n"))]
    Audit {
        /// Name of the package.
        name: String,
        /// The PTX.
        file: PathBuf,
        /// One line a finding, each naming the kernel.
        findings: Vec<String>,
    },

    /// There is no device compiler, and the checked-in PTX is not what the sources are now.
    #[error(
        "{} {why}, and it cannot be rebuilt here: {missing}\n\
         Or undo the changes to the kernels and what they depend on", path.display()
    )]
    Stale {
        /// The checked-in file.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
        /// Why there is no compiler, and how to get one.
        missing: Box<BuildError>,
    },

    /// The description of the checked-in PTX cannot be read.
    #[error("{} is no manifest of checked-in PTX ({problem}): make it anew with `cargo xtask ptx`", path.display())]
    BadManifest {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },

    /// A file or a program could not be used.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// What was tried, as a verb: `read`, `write`, `run`.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// The operating system's answer.
        source: std::io::Error,
    },

    /// cargo could not describe the crate.
    #[error("cargo cannot describe the kernel crate at {}: {problem}", path.display())]
    Metadata {
        /// The crate's folder.
        path: PathBuf,
        /// cargo's answer.
        problem: String,
    },
}

fn so_called(beginning: &str) -> String {
    match beginning {
        "" => String::new(),
        beginning => format!(" whose name begins with `{beginning}`"),
    }
}

impl BuildError {
    /// Whether the machine lacks a usable device compiler, so that PTX made elsewhere is the way out.
    pub fn is_missing_compiler(&self) -> bool {
        matches!(
            self,
            BuildError::NoCompiler { .. } | BuildError::LlvmMismatch { .. } | BuildError::LlvmTooOld { .. }
        )
    }

    pub(crate) fn io(doing: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> BuildError {
        let path = path.into();
        move |source| BuildError::Io { doing, path, source }
    }
}
