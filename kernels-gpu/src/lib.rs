//! Shared-memory kernels in Rust, one module a problem.
//!
//! The kernels compile to PTX with `cuda_builder`. On the host the crate gives what launches need: names of entry
//! points, shapes of blocks and grids, and the layouts that the kernels index with.
//!
//! The feature `broken` adds kernels with mistakes for tests. On the device it is a module of its own: the PTX has either
//! the mistakes or the catalogue.
#![no_std]
#![cfg_attr(target_os = "cuda", feature(asm_experimental_arch))]

#[cfg(feature = "broken")]
pub mod broken;
#[cfg(not(all(target_os = "cuda", feature = "broken")))]
pub mod carve_out;
#[cfg(not(all(target_os = "cuda", feature = "broken")))]
pub mod convolve;
#[cfg(not(all(target_os = "cuda", feature = "broken")))]
pub mod histogram;
#[cfg(not(all(target_os = "cuda", feature = "broken")))]
pub mod matmul;
#[cfg(not(all(target_os = "cuda", feature = "broken")))]
pub mod reduce;
#[cfg(not(all(target_os = "cuda", feature = "broken")))]
pub mod scan;
#[cfg(not(all(target_os = "cuda", feature = "broken")))]
pub mod stride;
#[cfg(not(all(target_os = "cuda", feature = "broken")))]
pub mod tile;
#[cfg(not(all(target_os = "cuda", feature = "broken")))]
pub mod transpose;
