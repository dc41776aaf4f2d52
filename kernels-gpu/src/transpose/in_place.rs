//! A square matrix transposed where it lies.

use cuda_std::layout::Pitched;
use cuda_std::prelude::*;

use super::{PER_THREAD, STEP, TILE, read};
use crate::tile::{Padded, limited};

/// Blocks of the grid of [`in_place`] for a matrix of `side` rows and columns (not 0).
///
/// ```
/// use kernels_gpu::transpose::pairs_grid;
/// // 3 x 3 tiles: 3 on the diagonal and 3 pairs, in 2 rows of 4 of which the last has 2 unused.
/// assert_eq!(pairs_grid(96), [4, 2, 1]);
/// assert_eq!(pairs_grid(1), [2, 1, 1]);
/// ```
#[must_use]
pub const fn pairs_grid(side: u32) -> [u32; 3] {
    let tiles = side.div_ceil(TILE);
    [tiles + 1, limited(tiles.div_ceil(2)), 1]
}

/// The tile, row at or above its column, that block (`x`, `y`) of a grid takes, if there is one for it.
///
/// Of `tiles` tiles in a row, row y has `tiles - y` on the diagonal and to its right, and row `tiles - 1 - y` the `y + 1`
/// that are missing to `tiles + 1`: the two together fill one row of a rectangular grid.
#[inline(always)]
const fn folded(tiles: u32, x: u32, y: u32) -> Option<(u32, u32)> {
    if x < tiles - y {
        return Some((y, y + x));
    }
    let row = tiles - 1 - y;
    // The row in the middle of an odd number has no other.
    if row == y { None } else { Some((row, x - 1)) }
}

/// Exchanges the tiles on both sides of the diagonal, each turned on the way: two at a time in shared memory.
///
/// Accesses of a warp as in [`padded`](super::padded): rows of the matrix, a row's sectors each; rows and columns of the
/// tiles, 1 wavefront each for 4-byte elements.
///
/// # Safety
/// `m` holds `side * side` elements; the block is [`BLOCK`](super::BLOCK), the grid [`pairs_grid`].
#[kernel(prefix = "transpose", max_threads = 256, types = [f32, f64, u16, u8, u128])]
pub unsafe fn in_place<T: Copy + Default>(m: *mut T, side: u32) {
    let (one, other) = (shared_tile!(T, Padded), shared_tile!(T, Padded));
    // SAFETY: the caller's promise; the tiles are this kernel's own.
    unsafe { exchange(one, other, m, side) }
}

/// # Safety
/// As [`in_place`]; no other thread of the block uses the tiles otherwise.
#[inline(always)]
unsafe fn exchange<T: Copy + Default>(one: SharedTile<T, Padded>, other: SharedTile<T, Padded>, m: *mut T, side: u32) {
    let layout = Pitched::unchecked(side, side, side);
    let (from, to) = (GlobalMatrix::new(m, layout), GlobalMatrixMut::new(m, layout));
    let (tx, ty) = (thread_idx_x(), thread_idx_y());
    let tiles = side.div_ceil(TILE);
    let mut y = block_idx_y();
    while y < tiles.div_ceil(2) {
        if let Some((i, j)) = folded(tiles, block_idx_x(), y) {
            let (row, col) = (i * TILE, j * TILE);
            // SAFETY: the caller's promise; no two blocks have the same pair of tiles, both are read before one is written,
            // and barriers part the shared tiles' writes from their reads and these from the next.
            unsafe {
                let above = read::<T, { PER_THREAD as usize }>(from.column(row + ty, col + tx, STEP));
                let below = if i == j {
                    [T::default(); PER_THREAD as usize]
                } else {
                    read(from.column(col + ty, row + tx, STEP))
                };
                for k in 0..PER_THREAD {
                    one.write(ty + k * STEP, tx, above[k as usize]); // lane = tx: a row of the tile
                    if i != j {
                        other.write(ty + k * STEP, tx, below[k as usize]);
                    }
                }
                sync_threads();
                let (to_below, to_above) = (to.column(col + ty, row + tx, STEP), to.column(row + ty, col + tx, STEP));
                for k in 0..PER_THREAD {
                    to_below.set(k, one.read(tx, ty + k * STEP)); // lane = tx: a column of the tile, a row of m
                    if i != j {
                        to_above.set(k, other.read(tx, ty + k * STEP));
                    }
                }
                sync_threads();
            }
        }
        y += grid_dim_y();
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_folded_grid_has_every_tile_of_the_upper_triangle_once() {
        for tiles in 1..40 {
            let [width, height, _] = pairs_grid(tiles * TILE);
            let all = (0..height).flat_map(|y| (0..width).filter_map(move |x| folded(tiles, x, y)));
            let all: std::vec::Vec<_> = all.collect();
            assert_eq!(all.len() as u32, tiles * (tiles + 1) / 2, "{tiles} tiles");
            assert!(all.iter().all(|(row, col)| row <= col && *col < tiles), "{all:?}");
            assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
        }
    }
}
