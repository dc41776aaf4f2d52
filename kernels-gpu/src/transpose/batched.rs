//! Many matrices of one shape.

use cuda_std::prelude::*;

use super::{Vectors, grid, through};
use crate::tile;

/// Blocks of the grid for `batch` matrices of `rows` x `cols` in square tiles of `side` elements (none 0).
///
/// ```
/// use kernels_gpu::transpose::{TILE, batched_grid};
/// assert_eq!(batched_grid(10, 64, 32, TILE), [1, 2, 10]);
/// // More matrices than a grid has blocks along z: blocks take several.
/// assert_eq!(batched_grid(100_000, 4, 4, TILE), [1, 1, 65_535]);
/// ```
#[must_use]
pub const fn batched_grid(batch: u32, rows: u32, cols: u32, side: u32) -> [u32; 3] {
    let [x, y, _] = grid(rows, cols, side);
    [x, y, tile::limited(batch)]
}

/// Transposes each of `batch` matrices, as [`padded`](super::padded) and at its cost.
///
/// # Safety
/// `x` and `y` each hold `batch * rows * cols` elements and do not overlap; the block is [`BLOCK`](super::BLOCK).
#[kernel(prefix = "transpose", max_threads = 256, types = [f32, f64, u16, u8, u128])]
pub unsafe fn batched<T: Copy + Default>(x: *const T, y: *mut T, batch: u32, rows: u32, cols: u32) {
    let tile = shared_tile!(T, tile::Padded);
    for_each_matrix(batch, rows, cols, |offset| {
        // SAFETY: the caller's promise; the tile is this kernel's own.
        unsafe { through(tile, x.add(offset), y.add(offset), rows, cols) }
    });
}

/// Transposes each of `batch` matrices, as [`vectorized`](super::vectorized()) and at its cost.
///
/// # Safety
/// As [`batched`]; the block is [`Vectors::WIDTH`] x [`Vectors::HEIGHT`].
#[kernel(prefix = "transpose", max_threads = 256, types = [f32, f64, u16, u8, u128])]
pub unsafe fn batched_vectorized<T: Vectors>(x: *const T, y: *mut T, batch: u32, rows: u32, cols: u32) {
    let tile = shared_tile!(T, <T as Vectors>::Tile);
    for_each_matrix(batch, rows, cols, |offset| {
        // SAFETY: the caller's promise; the tile is this kernel's own.
        unsafe { T::transpose(tile, x.add(offset), y.add(offset), rows, cols) }
    });
}

/// Calls `body` with the offset, in elements, of each matrix of this block, with a barrier between matrices.
#[inline(always)]
fn for_each_matrix(batch: u32, rows: u32, cols: u32, body: impl Fn(usize)) {
    let elements = rows as usize * cols as usize;
    let mut matrix = block_idx_z();
    loop {
        body(matrix as usize * elements);
        // Not `matrix + grid_dim_z()`, which may be more than 32 bits hold.
        if batch - matrix <= grid_dim_z() {
            break;
        }
        matrix += grid_dim_z();
        sync_threads();
    }
}
