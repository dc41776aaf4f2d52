//! Shapes of blocks and of tiles: what the kernels are written for, and hosts launch them with.

use cuda_std::layout::{RowMajor, Swizzled};

use crate::tile::TILE;

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
pub type Panel = Panels<{ DEPTH as usize }>;

/// Two [`Panel`]s, one after the other.
pub type TwoPanels = Panels<{ 2 * DEPTH as usize }>;

/// Four [`Panel`]s, one after the other.
pub type FourPanels = Panels<{ 4 * DEPTH as usize }>;

/// The layout of [`Panel`], with so many rows.
type Panels<const ROWS: usize> = RowMajor<ROWS, { SIDE as usize }, { SIDE as usize + 4 }>;

/// Threads of a block of the kernels with tensor cores, which makes [`SIDE`] rows and columns of C: four warps with 64 each.
pub const TENSOR_THREADS: u32 = 128;

/// Columns of A and rows of B that are in shared memory at a time for the tensor cores.
pub const TENSOR_DEPTH: u32 = 32;

/// Tiles of an operand that are in shared memory for the tensor cores: one is multiplied while two are on their way.
pub const STAGES: u32 = 3;

/// Where the elements of an operand's tiles of [`STAGES`] stages lie, if k is along its rows in memory: 128 rows of 32 each,
/// with 2 bytes an element.
///
/// Eight rows, from which `ldmatrix` takes 16 bytes each, would lie in a quarter of the banks: rows are 64 bytes. So each
/// row's pieces of 16 bytes are permuted by the number of its pair of rows.
pub type AlongK = Swizzled<RowMajor<{ (STAGES * SIDE) as usize }, { TENSOR_DEPTH as usize }>, 2, 3, 3>;

/// The same, if k is between its rows in memory: 32 rows of 128 each.
///
/// Rows are 256 bytes here, and all of their first pieces would lie in the same banks; they are permuted by the row's
/// number, of eight.
pub type AcrossK = Swizzled<RowMajor<{ (STAGES * TENSOR_DEPTH) as usize }, { SIDE as usize }>, 3, 3, 4>;

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
