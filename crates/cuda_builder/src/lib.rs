//! Compiles a Rust kernel crate to PTX, with rustc's own NVPTX back end.
//!
//! ```no_run
//! # use tile33_cuda_builder as cuda_builder;
//! let built = cuda_builder::CudaBuilder::new("kernels-gpu").arch("sm_75").copy_to("kernels.ptx").build()?;
//! println!("{} kernels in {}", built.kernels.len(), built.ptx.display());
//! # Ok::<(), cuda_builder::BuildError>(())
//! ```
//!
//! Five steps, of which a failure in any is a [`BuildError`] that says what to do:
//!
//! 1. find a device compiler: a rustc with the sources of `core`, `opt` and `llc` of the same LLVM ([`DeviceCompiler`]);
//! 2. compile the crate and `core` to one unoptimised LLVM module;
//! 3. move shared statics to their address space, and launch bounds to where LLVM looks for them;
//! 4. optimise, and emit PTX of the lowest version that the architecture needs;
//! 5. audit the PTX, and assemble it if there is a `ptxas`.
//!
//! Building again with nothing changed starts neither cargo nor LLVM. The PTX is the same on every machine that has the
//! same compiler: paths and hashes of the machine are taken out.

mod arch;
mod audit;
mod builder;
mod checked_in;
mod compile;
mod compiler;
mod emit;
mod error;
mod ir;
mod locations;
mod ptxas;
mod sources;

pub use arch::Arch;
pub use builder::{Built, CudaBuilder, Origin};
pub use checked_in::{MANIFEST, Manifest, Module};
pub use compiler::{DeviceCompiler, RUSTC_VARIABLE};
pub use error::BuildError;
pub use ptxas::{PTXAS_VARIABLE, Ptxas};
pub use sources::{ModuleRequest, Sources, digest};
