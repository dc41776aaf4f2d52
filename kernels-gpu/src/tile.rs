//! Square tiles, and how a grid goes over a matrix in tiles.

use cuda_std::layout::occupancy::MAX_GRID_YZ;
use cuda_std::layout::{LANES, RowMajor, XorColumns};
use cuda_std::sync::sync_threads;
use cuda_std::thread::{block_idx_y, grid_dim_y};

/// Rows and columns of the square tiles: a warp takes a row or a column at once.
pub const TILE: u32 = LANES as u32;

/// `[32][32]`, rows one after the other.
pub type Plain = RowMajor<LANES, LANES>;

/// `[32][33]`, with an unused column at the end of each row.
pub type Padded = RowMajor<LANES, LANES, { LANES + 1 }>;

/// `[32][32]`, with the columns of each row permuted by the row's number.
pub type Permuted = XorColumns<LANES, LANES>;

/// Blocks of the grid that goes over `rows` x `cols` in tiles of `height` x `width` (not 0): of a matrix higher than a grid
/// may be, blocks take several tiles.
///
/// ```
/// use kernels_gpu::tile::{TILE, grid};
/// assert_eq!(grid(1000, 777, TILE, TILE), [25, 32, 1]);
/// assert_eq!(grid(2_097_153, 4, TILE, TILE), [1, 65_535, 1]);
/// ```
#[must_use]
pub const fn grid(rows: u32, cols: u32, height: u32, width: u32) -> [u32; 3] {
    [cols.div_ceil(width), limited(rows.div_ceil(height)), 1]
}

/// As many blocks along y or z, or as many as a grid may have.
#[must_use]
pub const fn limited(blocks: u32) -> u32 {
    if blocks < MAX_GRID_YZ { blocks } else { MAX_GRID_YZ }
}

/// Calls `body` with the first row of each tile of this height that falls to the block.
///
/// Whether there is a further one is the same for the whole block. What the body leaves in shared memory is no longer in
/// use when the next starts: a barrier is between them.
#[inline(always)]
pub(crate) fn for_each_tile(rows: u32, height: u32, body: impl Fn(u32)) {
    let tiles = rows.div_ceil(height);
    let mut tile = block_idx_y();
    loop {
        body(tile * height);
        tile += grid_dim_y();
        if tile >= tiles {
            break;
        }
        sync_threads();
    }
}
