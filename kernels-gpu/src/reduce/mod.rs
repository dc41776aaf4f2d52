//! Reductions: one number from many. Sums, and the smallest and largest element with and without its place.
//!
//! A block holds its elements in shared memory and adds them in pairs, half as many in every step, until one is left.
//! Which pairs is the whole subject: it decides which words a warp asks of the banks.
//!
//! | kernel | pairs of step s (distance d = 2^s) | wavefronts per request (4 bytes) | order of additions |
//! |---|---|---|---|
//! | [`interleaved`] | thread t: elements 2dt and 2dt + d | 2, 4, 8, 8, 8, 4, 2, 1 | fixed |
//! | [`sequential`] | thread t: elements t and t + 128 / d | 1 | fixed |
//! | [`warp_shuffle`] | lanes d apart, in registers | 1 (one store and one load for the 8 warps) | fixed |
//! | [`grid_stride_atomic`] | as `warp_shuffle`, each thread adds many elements first | 1 | between blocks, by chance |
//! | [`sum`], [`min`], [`max`], [`argmin`], [`argmax`], [`compensated_sum_f32`] | the same, and the last block adds the blocks' results | 1 | fixed |
//!
//! The first three reduce 256 elements a block to one, and are launched on their own results until one is left. They
//! show the step; the last row is what to use. *Fixed* means deterministic: the same input gives the same bits, on every
//! device, because the grid depends on the number of elements only. `grid_stride_atomic` is not deterministic for
//! floating-point elements.

mod grid_stride;
pub mod operation;
mod tree;
mod warp_shuffle;

pub use grid_stride::*;
pub use operation::{Best, Compensated, Number, Operation};
pub use tree::*;
pub use warp_shuffle::*;

use cuda_std::layout::{Strided, VECTOR_BYTES};

/// Threads of a block.
pub const THREADS: usize = 256;

/// Warps of a block.
pub const WARPS: usize = THREADS / cuda_std::layout::LANES;

/// Most blocks of the grid-stride kernels. A constant, so that the order of additions is the same on every device; enough
/// for 2048 threads on each of 128 multiprocessors.
pub const MAX_BLOCKS: usize = 1024;

/// Vectors of 16 bytes that a thread of the grid-stride kernels asks for before it uses the first.
pub const IN_FLIGHT: usize = 4;

/// Blocks of a grid-stride kernel for `len` elements of `bytes` bytes: as many as have [`IN_FLIGHT`] vectors for each
/// thread, at least one and at most [`MAX_BLOCKS`]. The order of additions follows from it.
///
/// ```
/// use kernels_gpu::reduce::{MAX_BLOCKS, blocks};
/// assert_eq!(blocks(1, 4), 1);
/// assert_eq!(blocks(4097, 4), 2);
/// assert_eq!(blocks(1 << 30, 8), MAX_BLOCKS as u32);
/// ```
#[must_use]
pub const fn blocks(len: u64, bytes: usize) -> u32 {
    let blocks = len.div_ceil((THREADS * IN_FLIGHT * (VECTOR_BYTES / bytes)) as u64);
    if blocks == 0 {
        1
    } else if blocks < MAX_BLOCKS as u64 {
        blocks as u32
    } else {
        MAX_BLOCKS as u32
    }
}

/// How a block's elements lie in shared memory in the kernels that have them there.
pub type Cells = Strided<THREADS>;

/// How the warps' results lie in shared memory.
pub type WarpCells = Strided<WARPS>;
