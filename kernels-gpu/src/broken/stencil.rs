//! Where the tiles of a stencil lie, and its halo.

use cuda_std::layout::RowMajor;
use cuda_std::prelude::*;

/// Edge of a tile, and of a block.
pub const TILE: u32 = 16;
/// Edge of a tile with its halo of one element on each side.
const WITH_HALO: u32 = TILE + 2;

/// Sums of 3x3 elements, those outside the image zero.
///
/// # Safety
/// `x` and `y` hold `rows * cols` elements and do not overlap; blocks of 16x16 threads, one for each tile.
#[kernel(prefix = "broken", max_threads = 256)]
pub unsafe fn stencil(x: *const f32, y: *mut f32, rows: u32, cols: u32) {
    let tile = shared_tile!(f32, RowMajor<18, 18>);
    // SAFETY: the caller's promise; the tile is this kernel's own.
    unsafe { sum(tile, x, y, rows, cols, TILE, WITH_HALO) }
}

/// As [`stencil`]. **Broken**: the next tile starts behind the halo of this one rather than behind the tile, so that
/// elements between them are never written.
///
/// # Safety
/// As [`stencil`].
#[kernel(prefix = "broken", max_threads = 256)]
pub unsafe fn stencil_origin(x: *const f32, y: *mut f32, rows: u32, cols: u32) {
    let tile = shared_tile!(f32, RowMajor<18, 18>);
    // SAFETY: as in `stencil`.
    unsafe { sum(tile, x, y, rows, cols, WITH_HALO, WITH_HALO) }
}

/// As [`stencil`]. **Broken**: the last column of the halo is not loaded.
///
/// # Safety
/// As [`stencil`].
#[kernel(prefix = "broken", max_threads = 256)]
pub unsafe fn stencil_halo(x: *const f32, y: *mut f32, rows: u32, cols: u32) {
    let tile = shared_tile!(f32, RowMajor<18, 18>);
    // SAFETY: as in `stencil`, but that the last column is read unwritten: that is the mistake.
    unsafe { sum(tile, x, y, rows, cols, TILE, WITH_HALO - 1) }
}

/// The stencil with tiles `step` apart, of which the first `loaded` columns are loaded.
///
/// # Safety
/// As [`stencil`]; no other thread of the block uses the tile otherwise.
#[inline(always)]
unsafe fn sum(
    tile: SharedTile<f32, RowMajor<18, 18>>,
    x: *const f32,
    y: *mut f32,
    rows: u32,
    cols: u32,
    step: u32,
    loaded: u32,
) {
    let (tx, ty) = (thread_idx_x(), thread_idx_y());
    let (row, col) = (block_idx_y() * step, block_idx_x() * step);
    // SAFETY: the caller's promise; elements outside the image are not loaded, and the barrier parts writes and reads.
    unsafe {
        let mut i = ty;
        while i < WITH_HALO {
            let mut j = tx;
            while j < loaded {
                // One up and one to the left; what would be negative wraps, and so is outside.
                let (r, c) = ((row + i).wrapping_sub(1), (col + j).wrapping_sub(1));
                let inside = r < rows && c < cols;
                tile.write(
                    i,
                    j,
                    if inside {
                        *x.add(r as usize * cols as usize + c as usize)
                    } else {
                        0.0
                    },
                );
                j += TILE;
            }
            i += TILE;
        }
        sync_threads();
        let (r, c) = (row + ty, col + tx);
        if r < rows && c < cols {
            let mut sum = 0.0;
            for i in 0..3 {
                for j in 0..3 {
                    sum += tile.read(ty + i, tx + j);
                }
            }
            *y.add(r as usize * cols as usize + c as usize) = sum;
        }
    }
}
