//! The device side's standard library: what a kernel in Rust needs that `core` does not have.
//!
//! ```
//! use cuda_std::prelude::*;
//! # use tile33_cuda_std as cuda_std;
//!
//! /// y[i] = a * x[i] + y[i]
//! #[kernel(max_threads = 256)]
//! pub unsafe fn saxpy(a: f32, x: *const f32, y: *mut f32, len: u32) {
//!     let i = global_index_x();
//!     if i < len.into() {
//!         // SAFETY: the launch promises `len` elements at `x` and `y`, and no other thread has this index.
//!         unsafe { *y.add(i as usize) += a * *x.add(i as usize) }
//!     }
//! }
//! ```
//!
//! | module | what |
//! |---|---|
//! | [`thread`] | where a thread is: indices and dimensions of thread, block and grid |
//! | [`sync`] | barriers for a block, part of a block or a warp, and fences |
//! | [`warp`] | shuffles, votes and matches between the lanes of a warp |
//! | [`shared`] | shared memory, static and dynamic, without references that alias |
//! | [`global`] | matrices in global memory, by row and column |
//! | [`atomic`] | atomic operations on shared and global memory |
//! | [`vector`] | 2 to 16 elements that one instruction loads or stores |
//! | [`math`] | fused multiply-add and the functions that the hardware has |
//! | [`unrolled`] | loops whose arrays stay in registers |
//! | [`arch`] | instructions of newer architectures: tensor cores, asynchronous copies |
//!
//! Kernels are compiled by `cuda_builder`. On the host everything type-checks on stable Rust, so that editors, tests
//! and documentation work, and the functions that need a GPU panic and say so. What is unstable in Rust is used only
//! when compiling for the GPU.
#![no_std]
#![cfg_attr(
    target_os = "cuda",
    feature(asm_experimental_arch, core_intrinsics, repr_simd, stdarch_nvptx),
    allow(internal_features)
)]

// The paths that `#[kernel]` writes also work inside this crate.
extern crate self as cuda_std;

pub mod arch;
pub mod atomic;
pub mod global;
mod host;
pub mod math;
#[doc(hidden)]
pub mod parameter;
pub mod shared;
pub mod sync;
pub mod thread;
mod unrolled;
pub mod vector;
mod vector16;
pub mod warp;

/// Makes a function a kernel: an entry point that a launch can name.
///
/// The function must be `unsafe`, return nothing, and take parameters that are `Copy`; anything else does not compile.
/// Its name is the entry point's, so names are unique among all the kernels of a module.
///
/// | option | meaning |
/// |---|---|
/// | `max_threads = 256` | no launch has more threads in a block: lets the compiler use more registers for each |
/// | `min_blocks = 2` | the compiler keeps registers few enough for this many blocks on a multiprocessor |
/// | `types = [f32, f64]` | the function has one generic type; an entry point `name_f32`, `name_f64`, .. for each |
/// | `prefix = "transpose"` | the entry point's name starts with `transpose_` |
///
/// A launch with a block larger than `max_threads` fails.
pub use tile33_cuda_std_macros::kernel;

pub use tile33_layout as layout;
pub use unrolled::unrolled;

/// Everything that most kernels use.
pub mod prelude {
    pub use crate::global::{GlobalMatrix, GlobalMatrixMut};
    pub use crate::shared::{SharedArray, SharedTile, dynamic_shared};
    pub use crate::sync::{sync_threads, sync_warp};
    pub use crate::thread::*;
    pub use crate::{kernel, shared_array, shared_tile};
}

#[cfg(target_os = "cuda")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: ends the launch with an error; no state is left behind that anyone could see.
    unsafe { core::arch::nvptx::trap() }
}
