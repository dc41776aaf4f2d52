//! One element of C a thread, without shared memory and with it.

use cuda_std::layout::Layout;
use cuda_std::prelude::*;

use super::operand::{Float, Operand, TRANSPOSED_A, TRANSPOSED_B, Target};
use super::shape::SIMPLE_BLOCK;
use crate::tile::{Padded, Plain, TILE};

/// Every thread fetches a row of A and a column of B.
///
/// The lanes of a warp make neighbours of a row of C: they all read the same element of A, one sector a request, and
/// neighbours of a row of B, 4 sectors for `f32`. Of a transposed B they read a column: 32 sectors.
///
/// # Safety
/// `a`, `b` and `c` hold the matrices that the [module](super) describes, C overlaps neither of the others; the grid has
/// [`blocks`](super::blocks) of [`SIMPLE_BLOCK`] threads.
#[kernel(prefix = "matmul", max_threads = 256, types = [f32, f64])]
#[allow(clippy::too_many_arguments, reason = "BLAS's")]
pub unsafe fn naive<T: Float>(
    m: u32,
    n: u32,
    k: u32,
    alpha: T,
    a: *const T,
    lda: u32,
    b: *const T,
    ldb: u32,
    beta: T,
    c: *mut T,
    ldc: u32,
    transposed: u32,
) {
    let a = Operand::new(a, m, k, lda, transposed & TRANSPOSED_A > 0);
    let b = Operand::new(b, k, n, ldb, transposed & TRANSPOSED_B > 0);
    let (first_row, first_col) = tile_of_block(n, SIMPLE_BLOCK[1], SIMPLE_BLOCK[0]);
    let (row, col) = (first_row + thread_idx_y(), first_col + thread_idx_x());
    if row < m && col < n {
        let mut sum = T::ZERO;
        // SAFETY: inside of the matrices, which are as the caller promises; no other thread has this element of C.
        unsafe {
            for i in 0..k {
                // lane = col: one element of A, a row of B
                sum = (*a.at(row, i)).fma(*b.at(i, col), sum);
            }
            Target::new(c, m, n, ldc, alpha, beta).store(row, col, sum);
        }
    }
}

/// A block fetches 32 x 32 of A and of B at a time, and every thread multiplies a row of the one by a column of the other.
///
/// Global memory is read along its rows, 4 sectors a request for `f32`, 8 for `f64`. In shared memory, wavefronts a
/// request:
///
/// | access | lanes have | `f32` | `f64` |
/// |---|---|---|---|
/// | load of A's tile | the same place | 1 | 1 |
/// | load of B's tile | a row | 1 | 2 |
/// | store of a tile | a row | 1 | 2 |
/// | store of a transposed operand's tile | **a column** | **32** | **32** |
///
/// # Safety
/// As [`naive`], with blocks of [`TILE_BLOCK`](super::TILE_BLOCK) threads.
#[kernel(prefix = "matmul", max_threads = 1024, types = [f32, f64])]
#[allow(clippy::too_many_arguments, reason = "BLAS's")]
pub unsafe fn tiled<T: Float>(
    m: u32,
    n: u32,
    k: u32,
    alpha: T,
    a: *const T,
    lda: u32,
    b: *const T,
    ldb: u32,
    beta: T,
    c: *mut T,
    ldc: u32,
    transposed: u32,
) {
    let tiles = (shared_tile!(T, Plain), shared_tile!(T, Plain));
    let a = Operand::new(a, m, k, lda, transposed & TRANSPOSED_A > 0);
    let b = Operand::new(b, k, n, ldb, transposed & TRANSPOSED_B > 0);
    // SAFETY: the caller's promise; the tiles are this kernel's own.
    unsafe { through_tiles(tiles, a, b, Target::new(c, m, n, ldc, alpha, beta), transposed) }
}

/// As [`tiled`], with an unused column at the end of each row of the tiles: storing a column of them costs 1 wavefront for
/// `f32` and 2 for `f64`, as a row does.
///
/// # Safety
/// As [`tiled`].
#[kernel(prefix = "matmul", max_threads = 1024, types = [f32, f64])]
#[allow(clippy::too_many_arguments, reason = "BLAS's")]
pub unsafe fn tiled_padded<T: Float>(
    m: u32,
    n: u32,
    k: u32,
    alpha: T,
    a: *const T,
    lda: u32,
    b: *const T,
    ldb: u32,
    beta: T,
    c: *mut T,
    ldc: u32,
    transposed: u32,
) {
    let tiles = (shared_tile!(T, Padded), shared_tile!(T, Padded));
    let a = Operand::new(a, m, k, lda, transposed & TRANSPOSED_A > 0);
    let b = Operand::new(b, k, n, ldb, transposed & TRANSPOSED_B > 0);
    // SAFETY: the caller's promise; the tiles are this kernel's own.
    unsafe { through_tiles(tiles, a, b, Target::new(c, m, n, ldc, alpha, beta), transposed) }
}

/// The product of [`tiled`] and [`tiled_padded`]: only where the tiles' elements lie differs.
///
/// # Safety
/// As [`tiled`]; no other thread of the block uses the tiles otherwise.
#[inline(always)]
unsafe fn through_tiles<T: Float, L: Layout>(
    (tile_a, tile_b): (SharedTile<T, L>, SharedTile<T, L>),
    a: Operand<T>,
    b: Operand<T>,
    c: Target<T>,
    transposed: u32,
) {
    let (tx, ty) = (thread_idx_x(), thread_idx_y());
    let (row, col) = tile_of_block(b.cols(), TILE, TILE);
    let mut sum = T::ZERO;
    // SAFETY: the caller's promise; a barrier parts the tiles' writes from their reads, and these from the next writes.
    unsafe {
        for first in (0..a.cols()).step_by(TILE as usize) {
            bring(tile_a, a, row, first, transposed & TRANSPOSED_A > 0);
            bring(tile_b, b, first, col, transposed & TRANSPOSED_B > 0);
            sync_threads();
            for i in 0..TILE {
                let (x, y) = (tile_a.read(ty, i), tile_b.read(i, tx)); // lane = tx: one place; a row
                sum = x.fma(y, sum);
            }
            sync_threads();
        }
        c.store(row + ty, col + tx, sum);
    }
}

/// Brings a tile of an operand to shared memory, zeros where there is nothing: along the rows in global memory, which are
/// columns of the tile if it is transposed there.
///
/// # Safety
/// As [`through_tiles`].
#[inline(always)]
unsafe fn bring<T: Float, L: Layout>(tile: SharedTile<T, L>, from: Operand<T>, row: u32, col: u32, transposed: bool) {
    let (tx, ty) = (thread_idx_x(), thread_idx_y());
    // SAFETY: the caller's promise.
    unsafe {
        if transposed {
            tile.write(tx, ty, from.get(row + tx, col + ty).unwrap_or(T::ZERO)); // lane = tx: a column of the tile
        } else {
            tile.write(ty, tx, from.get(row + ty, col + tx).unwrap_or(T::ZERO)); // lane = tx: a row of the tile
        }
    }
}

/// First row and column of this block's tile of C, of `n` columns: along the rows of tiles.
#[inline(always)]
fn tile_of_block(n: u32, rows: u32, cols: u32) -> (u32, u32) {
    let across = n.div_ceil(cols);
    (block_idx_x() / across * rows, block_idx_x() % across * cols)
}
