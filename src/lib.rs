//! Shared-memory kernels for NVIDIA GPUs in pure Rust, and the tools that show what a data layout costs.
//!
//! This crate is what applications depend on. The kernels come compiled: a program needs neither CUDA nor a GPU to build
//! or start. On a machine with an NVIDIA GPU it runs them there, on any other machine on the emulator.
//!
//! ```
//! use tile33::{Device, Kernels};
//!
//! let kernels = Kernels::new(&Device::open());
//! let matrix = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]; // 2 rows, 3 columns
//! assert_eq!(kernels.transpose(&matrix, 2, 3)?, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | part | for |
//! |---|---|
//! | [`prelude`], [`catalogue`] | problems solved on a device: transposes, matrix products, reductions, prefix sums, histograms, convolutions; and every kernel, step by step |
//! | [`Kernels`], [`kernels`], [`transpose`](mod@transpose) | the kernels as PTX, and the transposes one by one |
//! | [`launch_file`] | launches of any PTX described in TOML, as `tile33 check` reads them |
//! | [`host`] | devices, buffers, launches of any PTX, comparisons with the CPU |
//! | [`layout`] | layouts as types, and the exact cost of a warp's access |
//! | [`ptx`], [`sim`] | PTX as data, and running it on the CPU with counters and checks |

pub mod catalogue;
pub mod kernels;
pub mod launch_file;
pub mod transpose;

/// What a program that solves problems on a device needs: `use tile33::prelude::*`.
pub mod prelude {
    pub use crate::catalogue::CatalogueError;
    pub use crate::catalogue::carve_out::Centre;
    pub use crate::catalogue::convolve::{Border, Convolve, Filter};
    pub use crate::catalogue::histogram::Histogram;
    pub use crate::catalogue::matmul::{Gemm, Matmul, Sizes};
    pub use crate::catalogue::reduce::{ArgMax, ArgMin, CompensatedSum, Max, Min, Reduce, Sum};
    pub use crate::catalogue::scan::{Exclusive, Inclusive, Scan};
    pub use crate::catalogue::stride::Laboratory;
    pub use crate::catalogue::transpose::Transpose;
    pub use tile33_host::{Device, DeviceBuffer};
}

pub use kernels::Kernels;
pub use tile33_host as host;
pub use tile33_host::{Device, DeviceBuffer, Error};
pub use tile33_layout as layout;
pub use tile33_ptx as ptx;
pub use tile33_sim as sim;
