//! Prefix sums: element i of the result is the sum of the elements up to i (*inclusive*), or of those before i
//! (*exclusive*).
//!
//! A block scans a tile of its elements in shared memory. Three ways to do that, and what a warp pays for each:
//!
//! | kernel | additions for n elements | words of neighbouring threads in step s | wavefronts of each load and store |
//! |---|---|---|---|
//! | [`hillis_steele`] | n log n | side by side | 1 |
//! | [`work_efficient`] | 2n | 2^(s+1) apart | 2, 4, 8, 16, 16, 8, 4, 2, 1 up the tree, the same down |
//! | [`work_efficient_skewed`] | 2n | the same, one place left free after every 32 | 1 |
//!
//! For inputs longer than a tile these leave the sum of each tile; the sums are scanned in turn, and [`add_offsets`] adds
//! what lies before each tile: two more passes over memory. [`exclusive`] and [`inclusive`] need none, by *decoupled
//! look-back* (Merrill and Garland, 2016): each block publishes the sum of its tile as soon as it has it, and looks back
//! over those of the blocks before until it meets one that knows everything before itself.
//!
//! The first three are deterministic. Look-back adds the tiles' sums in an order that depends on which block was faster:
//! integers come out the same, floating-point sums may differ in the last bits from run to run.

mod look_back;
mod state;
mod tile;

pub use look_back::*;
pub use state::{Known, State};
pub use tile::*;

use cuda_std::layout::{LANES, RowMajor, Skewed, Strided, VECTOR_BYTES};

/// Threads of a block of the kernels that scan a tile in shared memory, and of [`add_offsets`].
pub const THREADS: usize = 256;

/// Threads of a block of the look-back kernels.
pub const LOOK_BACK_THREADS: usize = 512;

/// Warps of a block of the look-back kernels.
pub const LOOK_BACK_WARPS: usize = LOOK_BACK_THREADS / LANES;

/// Elements of a tile of [`hillis_steele`]: one a thread.
pub const HILLIS_STEELE_TILE: usize = THREADS;

/// Elements of a tile of [`work_efficient`] and [`work_efficient_skewed`]: two a thread.
pub const TREE_TILE: usize = 2 * THREADS;

/// Vectors of 16 bytes that each thread of the look-back kernels scans.
pub const ROUNDS: usize = 8;

/// Elements of `bytes` bytes in a tile of the look-back kernels.
///
/// Large tiles are what makes them fast: each costs a chain of looks at the tiles before. Exclusive scan of 2^27 `f32` on an
/// H200 (driver 580, 2026-11-30) in microseconds, by threads x vectors: 256 x 4 406, 256 x 6 371, 256 x 8 364, 256 x 12 391
/// (too few blocks at once), 512 x 4 394, 512 x 8 355; beside 352 of CUB and 259 of a copy in the same run.
#[must_use]
pub const fn look_back_tile(bytes: usize) -> usize {
    LOOK_BACK_THREADS * ROUNDS * (VECTOR_BYTES / bytes)
}

/// The two buffers of [`hillis_steele`]: each step reads one and the next writes the other.
pub type Buffers = RowMajor<2, HILLIS_STEELE_TILE>;

/// The tree, its elements side by side.
pub type Plain = Strided<TREE_TILE>;

/// The tree, with one place left free after every 32 elements.
pub type Offset = Skewed<TREE_TILE, LANES>;
