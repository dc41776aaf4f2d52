//! Shapes of blocks and of tiles: what the kernels are written for, and hosts launch them with.

use cuda_std::layout::RowMajor;

/// Rows and columns of the tiles of [`tiled`](super::tiled) and [`tiled_padded`](super::tiled_padded).
pub const TILE: u32 = 32;

/// Threads of a block of [`naive`](super::naive): the columns and rows of C that it makes.
pub const SIMPLE_BLOCK: [u32; 3] = [TILE, 8, 1];

/// Threads of a block of [`tiled`](super::tiled) and [`tiled_padded`](super::tiled_padded): one for each element.
pub const TILE_BLOCK: [u32; 3] = [TILE, TILE, 1];

/// Threads of a block of the kernels with tiles in registers.
pub const THREADS: u32 = 256;

/// Rows and columns of C that a block of the kernels with tiles in registers makes.
pub const SIDE: u32 = 128;

/// Rows and columns of C that a thread of these makes.
pub const MICRO: usize = 8;

/// Columns of A and rows of B that are in shared memory at a time.
pub const DEPTH: u32 = 8;

/// Where the elements of an operand's tile lie in shared memory: a row for each of [`DEPTH`] steps along k.
///
/// A pitch of 132 words starts each row 4 banks after the one before. Vectors of 16 bytes stay aligned, and a warp that
/// writes 16 places of 2 rows, 4 rows apart, writes to 32 banks: 4·132 is 16 more than a multiple of 32.
pub type Panel = RowMajor<8, 128, 132>;

/// Two [`Panel`]s, one after the other.
pub type TwoPanels = RowMajor<16, 128, 132>;

/// Blocks that make C of `m` x `n`, each `rows` x `cols` of it (neither 0).
///
/// ```
/// use kernels_gpu::matmul::{SIDE, blocks};
/// assert_eq!(blocks(1000, 129, SIDE, SIDE), 16);
/// assert_eq!(blocks(0, 129, SIDE, SIDE), 0);
/// ```
#[must_use]
pub const fn blocks(m: u32, n: u32, rows: u32, cols: u32) -> u64 {
    m.div_ceil(rows) as u64 * n.div_ceil(cols) as u64
}
