//! Histograms: how often each value occurs.
//!
//! Every element is one atomic addition; where the counters lie decides how long the warps wait for each other.
//!
//! | kernel | counters | who adds to one counter | a warp's addition costs |
//! |---|---|---|---|
//! | [`global`] | in global memory | all threads of the grid | sectors of global memory, and the queue before each |
//! | [`per_block`] | one histogram in each block's shared memory | the block's 8 warps | as many wavefronts as lanes that name one bank |
//! | [`per_warp`] | one for each warp, a value's 8 counters side by side | one warp | the same, but values 4 apart share a bank |
//! | [`per_warp_padded`] | the same, one counter left free after every 8 | one warp | as `per_block` |
//! | [`dynamic`] | one for each block, as many values as the launch chooses | the block's warps | as `per_block` |
//!
//! In shared memory an atomic makes the lanes that name one bank take turns, also where they name one counter: 32
//! neighbouring values cost 1 wavefront, 32 equal ones 32. With counters of 8 warps side by side, value v of warp w is in
//! bank (8v + w) mod 32, and neighbouring values use 4 banks of the 32. The unused counter makes it (9v + w) mod 32: all 32.
//!
//! Counts are integers: all of these are deterministic.

mod kernels;

pub use kernels::*;

use cuda_std::layout::{LANES, RowMajor, Strided, VECTOR_BYTES};

/// Threads of a block.
pub const THREADS: usize = 256;

/// Warps of a block.
pub const WARPS: usize = THREADS / LANES;

/// Values of a byte.
pub const BYTE_VALUES: usize = 256;

/// Most blocks of a grid: 8 on each of 128 multiprocessors. A block with its own counters adds all of them up at its end,
/// which is worth it for many elements only.
pub const MAX_BLOCKS: usize = 1024;

/// Vectors of 16 bytes for each thread before there are more blocks: each has counters to clear and to add up.
const VECTORS_PER_THREAD: usize = 4;

/// Blocks of a grid for `len` elements of `bytes` bytes.
///
/// ```
/// use kernels_gpu::histogram::{MAX_BLOCKS, blocks};
/// assert_eq!(blocks(1, 1), 1);
/// assert_eq!(blocks(1 << 20, 1), 64);
/// assert_eq!(blocks(1 << 32, 4), MAX_BLOCKS as u32);
/// ```
#[must_use]
pub const fn blocks(len: u64, bytes: usize) -> u32 {
    let blocks = len.div_ceil((THREADS * VECTORS_PER_THREAD * (VECTOR_BYTES / bytes)) as u64);
    if blocks == 0 {
        1
    } else if blocks < MAX_BLOCKS as u64 {
        blocks as u32
    } else {
        MAX_BLOCKS as u32
    }
}

/// The counters of [`per_block`].
pub type BlockCounters = Strided<BYTE_VALUES>;

/// The counters of [`per_warp`]: a row for each value, a column for each warp.
pub type WarpCounters = RowMajor<BYTE_VALUES, WARPS>;

/// The counters of [`per_warp_padded`].
pub type PaddedWarpCounters = RowMajor<BYTE_VALUES, WARPS, { WARPS + 1 }>;
