//! Every problem that there are kernels for: the plain call that solves it, and the steps from the naive kernel to that.
//!
//! # To use
//!
//! The calls are methods of [`Device`](crate::Device), from one trait a problem; `use tile33::prelude::*` brings them in.
//! They work on buffers of the device, check everything that can be checked before anything runs, and launch without
//! waiting: reading a result waits.
//!
//! ```
//! use tile33::prelude::*;
//!
//! let device = Device::open();
//! let values = device.upload(&[3.0f32, 1.0, 2.0])?;
//! assert_eq!(device.reduce(&values, Sum)?, 6.0);
//! assert_eq!(device.reduce(&values, ArgMin)?, Some((1, 1.0)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | problem | call |
//! |---|---|
//! | [`transpose`] | [`device.transpose(&matrix, &mut transposed, rows, cols)`](transpose::Transpose::transpose) |
//! | | [`device.transpose_in_place(&mut matrix, side)`](transpose::Transpose::transpose_in_place) |
//! | | [`device.transpose_batched(&matrices, &mut transposed, batch, rows, cols)`](transpose::Transpose::transpose_batched) |
//! | [`matmul`](mod@matmul) | [`device.matmul(&a, &b, &mut c, Sizes { m, n, k })`](matmul::Matmul::matmul) |
//! | [`reduce`] | [`device.reduce(&values, Sum)`](reduce::Reduce::reduce) |
//! | [`scan`] | [`device.scan(&values, &mut sums, Inclusive)`](scan::Scan::scan) |
//! | [`histogram`](mod@histogram) | [`device.histogram(&values, &mut counts)`](histogram::Histogram::histogram) |
//! | [`carve_out`] | [`device.centre(&values, &valid, &mut centred, rows, cols)`](carve_out::Centre::centre) |
//! | [`convolve`] | [`device.convolve(&image, &mut filtered, rows, cols, &filter, Border::Mirror)`](convolve::Convolve::convolve) |
//! | [`stride`] | [`device.stride::<f32>(Experiment::Load, 32, 0)`](stride::Laboratory::stride) |
//!
//! Measured on an H200 (driver 580, 2026-11-30), medians of the device's own times, beside NVIDIA's libraries in the same run:
//!
//! | problem | this project | library |
//! |---|---|---|
//! | transpose of 16384 x 16384 `f32` | 3,982 GB/s | 3,954 (cuBLAS `geam`, another run), 4,194 (`memcpy`) |
//! | sum of 2^27 `f32` | 127.3 µs | 127.6 (CUB) |
//! | exclusive scan of 2^27 `f32` | 364.7 and 361.8 µs | 376.0 and 358.7 (CUB) |
//! | product of 8192 x 8192 `f32` | 49.2 TFLOP/s | 51.0 (cuBLAS, pedantic math) |
//! | product of 4096 x 4096 `f64` | 23.1 TFLOP/s | 46.8 (cuBLAS, on tensor cores) |
//! | product of 8192 x 8192 `f16` into `f32` | 394 TFLOP/s | 860 (cuBLAS, with `wgmma`, which needs `sm_90a`) |
//!
//! # To learn
//!
//! [`steps`] lists the kernels, each as a [`Step`]: what it is called, what it teaches, what its accesses cost. Preparing a
//! step gives a [`Trial`], which launches it and compares its result with the CPU's. `tile33 run`, the examples and the
//! tests all are loops over this list.

pub mod carve_out;
mod cost;
pub mod data;
mod error;

pub mod convolve;
pub mod histogram;
pub mod matmul;
pub mod reduce;
pub mod scan;

mod step;

pub mod stride;
pub mod transpose;
mod trial;

pub use error::CatalogueError;
pub use step::{Access, Claim, Kind, Step};
pub(crate) use trial::{Enqueue, Record, Way};
pub use trial::{Launched, Trial};

/// All steps of all problems, problem by problem, in the order in which they are taught.
pub fn steps() -> Vec<Step> {
    let problems = [
        transpose::steps(),
        matmul::steps(),
        reduce::steps(),
        scan::steps(),
        histogram::steps(),
        convolve::steps(),
        stride::steps(),
        carve_out::steps(),
    ];
    problems.into_iter().flatten().collect()
}

/// The step whose kernel has this entry point.
pub fn step(entry: &str) -> Option<Step> {
    steps().into_iter().find(|step| step.entry == entry)
}
