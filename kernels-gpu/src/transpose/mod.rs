//! The transpose, `y[col][row] = x[row][col]`: the smallest problem in which shared memory pays and its layout decides.
//!
//! | kernel | a warp reads of `x` | and writes of `y` | tile | what it shows |
//! |---|---|---|---|---|
//! | [`copy`] | a row | a row | none | the bound: moves as much, transposes nothing |
//! | [`naive`] | a row | a column | none | every lane writes into a sector of its own |
//! | [`tiled`] | a row | a row | `[32][32]` | shared memory turns the tile, but a column of it is all one bank |
//! | [`padded`] | a row | a row | `[32][33]` | one unused column spreads a column over all banks |
//! | [`swizzled`] | a row | a row | `[32][32]` | so does permuting the columns of each row, and nothing is unused |
//! | [`dynamic`] | a row | a row | chosen at launch | the same with tile and pitch as parameters |
//! | [`vectorized`] | vectors of 16 bytes | vectors of 16 bytes | swizzled by vectors | a quarter of the instructions, wider rows |
//!
//! Each has one entry point an element type, `transpose_padded_f32` and so on; [`VARIANTS`] lists them for hosts. Other
//! shapes of the problem:
//!
//! | kernel | what it transposes |
//! |---|---|
//! | [`in_place`] | a square matrix where it lies: two tiles change places |
//! | [`batched`] | many matrices of one shape, one after the other in memory |
//! | [`batched_vectorized`] | the same as [`vectorized`] does it |
//!
//! # Launch
//!
//! Blocks of [`BLOCK`] threads (the vector kernels': [`Vectors`]) in a grid of [`grid`]. A grid has at most 65,535 blocks
//! along y, so a block also takes the tiles a grid's height below its own, until there are none. Rows and columns are any
//! number from 1; matrices are dense and row-major; offsets are 64-bit.

mod batched;
mod in_place;
mod variants;
mod vectorized;

use cuda_std::global::GlobalColumn;
use cuda_std::layout::{Layout, Pitched};
use cuda_std::prelude::*;

pub use batched::*;
pub use in_place::*;
pub use variants::{BLOCK, Element, VARIANTS, Variant, grid};
pub use vectorized::*;

pub use crate::tile::TILE;

use crate::tile;

/// Rows of a block, fewer than those of a tile: a thread moves every eighth row of its column.
const STEP: u32 = BLOCK[1];

/// Elements of a tile that a thread moves.
const PER_THREAD: u32 = TILE / STEP;

/// Copies `x` to `y`: what a transpose could reach at best.
///
/// # Safety
/// `x` and `y` each hold `rows * cols` elements and do not overlap; the block is [`BLOCK`].
#[kernel(prefix = "transpose", max_threads = 256, types = [f32, f64, u16, u8, u128])]
pub unsafe fn copy<T: Copy + Default>(x: *const T, y: *mut T, rows: u32, cols: u32) {
    let x = GlobalMatrix::new(x, Pitched::unchecked(rows, cols, cols));
    let y = GlobalMatrixMut::new(y, Pitched::unchecked(rows, cols, cols));
    let (tx, ty) = (thread_idx_x(), thread_idx_y());
    for_each_tile(rows, TILE, |row, col| {
        // SAFETY: both matrices are as the caller promises, and no two threads have the same element.
        unsafe {
            let to = y.column(row + ty, col + tx, STEP);
            for (i, value) in (0..).zip(read::<T, { PER_THREAD as usize }>(x.column(row + ty, col + tx, STEP))) {
                to.set(i, value); // lane = tx: a row of y
            }
        }
    });
}

/// Writes each element where it belongs: the lanes of a warp write a column.
///
/// # Safety
/// As [`copy`].
#[kernel(prefix = "transpose", max_threads = 256, types = [f32, f64, u16, u8, u128])]
pub unsafe fn naive<T: Copy + Default>(x: *const T, y: *mut T, rows: u32, cols: u32) {
    let x = GlobalMatrix::new(x, Pitched::unchecked(rows, cols, cols));
    let y = GlobalMatrixMut::new(y, Pitched::unchecked(cols, rows, rows));
    let (tx, ty) = (thread_idx_x(), thread_idx_y());
    for_each_tile(rows, TILE, |row, col| {
        // SAFETY: as in `copy`.
        unsafe {
            for (i, value) in (0..).zip(read::<T, { PER_THREAD as usize }>(x.column(row + ty, col + tx, STEP))) {
                y.set(col + tx, row + ty + i * STEP, value); // lane = tx: a column of y, one sector a lane
            }
        }
    });
}

/// Turns each tile in shared memory, rows one after the other: the column that a warp reads is a single bank.
///
/// # Safety
/// As [`copy`].
#[kernel(prefix = "transpose", max_threads = 256, types = [f32, f64, u16, u8, u128])]
pub unsafe fn tiled<T: Copy + Default>(x: *const T, y: *mut T, rows: u32, cols: u32) {
    let tile = shared_tile!(T, tile::Plain);
    // SAFETY: the caller's promise; the tile is this kernel's own.
    unsafe { through(tile, x, y, rows, cols) }
}

/// As [`tiled`], with an unused column at the end of each row of the tile.
///
/// # Safety
/// As [`copy`].
#[kernel(prefix = "transpose", max_threads = 256, types = [f32, f64, u16, u8, u128])]
pub unsafe fn padded<T: Copy + Default>(x: *const T, y: *mut T, rows: u32, cols: u32) {
    let tile = shared_tile!(T, tile::Padded);
    // SAFETY: the caller's promise; the tile is this kernel's own.
    unsafe { through(tile, x, y, rows, cols) }
}

/// As [`tiled`], with the columns of each row of the tile permuted by the row's number.
///
/// # Safety
/// As [`copy`].
#[kernel(prefix = "transpose", max_threads = 256, types = [f32, f64, u16, u8, u128])]
pub unsafe fn swizzled<T: Copy + Default>(x: *const T, y: *mut T, rows: u32, cols: u32) {
    let tile = shared_tile!(T, tile::Permuted);
    // SAFETY: the caller's promise; the tile is this kernel's own.
    unsafe { through(tile, x, y, rows, cols) }
}

/// The transpose of [`tiled`], [`padded`] and [`swizzled`]: only where the tile's elements lie differs.
///
/// # Safety
/// As [`copy`]; no other thread of the block uses the tile otherwise.
#[inline(always)]
unsafe fn through<T: Copy + Default, L: Layout>(tile: SharedTile<T, L>, x: *const T, y: *mut T, rows: u32, cols: u32) {
    let x = GlobalMatrix::new(x, Pitched::unchecked(rows, cols, cols));
    let y = GlobalMatrixMut::new(y, Pitched::unchecked(cols, rows, rows));
    let thread = (thread_idx_x(), thread_idx_y());
    for_each_tile(rows, TILE, |row, col| {
        // SAFETY: the caller's promise; `for_each_tile` parts the tile's reads from its next writes.
        unsafe { turn::<T, L, { PER_THREAD as usize }>(tile, x, y, (row, col), thread) }
    });
}

/// Moves the tile of `x` that starts at (`row`, `col`) to `y`, `N` elements a thread: for blocks of 32 by 32 / `N` threads,
/// of which this is (`tx`, `ty`).
///
/// # Safety
/// The matrices are as their makers promised, and no two blocks have the same tile; `tile` has [`TILE`] rows and columns,
/// and a barrier is between this and what was done with it before.
#[inline(always)]
unsafe fn turn<T: Copy + Default, L: Layout, const N: usize>(
    tile: SharedTile<T, L>,
    x: GlobalMatrix<T>,
    y: GlobalMatrixMut<T>,
    (row, col): (u32, u32),
    (tx, ty): (u32, u32),
) {
    let step = TILE / N as u32;
    // SAFETY: the caller's promise; the barrier parts the tile's writes from its reads.
    unsafe {
        let moved = read::<T, N>(x.column(row + ty, col + tx, step));
        for i in 0..N as u32 {
            tile.write(ty + i * step, tx, moved[i as usize]); // lane = tx: a row of the tile
        }
        sync_threads();
        let to = y.column(col + ty, row + tx, step);
        for i in 0..N as u32 {
            let value = tile.read(tx, ty + i * step); // lane = tx: a column of the tile
            to.set(i, value); // lane = tx: a row of y
        }
    }
}

/// The transpose through a square tile of `side` elements, `pitch` from a row to the next, in dynamic shared memory.
///
/// A warp takes 32 columns of a row at a time, so every side from 1 works; multiples of 32 keep all lanes busy.
///
/// # Safety
/// As [`copy`]; the launch provides `side * pitch` elements of dynamic shared memory, and `pitch >= side >= 1`.
#[kernel(prefix = "transpose", max_threads = 256, types = [f32, f64, u16, u8, u128])]
pub unsafe fn dynamic<T: Copy + Default>(x: *const T, y: *mut T, rows: u32, cols: u32, side: u32, pitch: u32) {
    let x = GlobalMatrix::new(x, Pitched::unchecked(rows, cols, cols));
    let y = GlobalMatrixMut::new(y, Pitched::unchecked(cols, rows, rows));
    // SAFETY: the launch provides it, and there is no other handle.
    let tile = unsafe { dynamic_shared().tile::<T, _>(0, Pitched::unchecked(side, side, pitch)) };
    let (tx, ty) = (thread_idx_x(), thread_idx_y());
    for_each_tile(rows, side, |row, col| {
        // SAFETY: as in `through`; only elements of the tile that were written are read.
        unsafe {
            for j in (tx..side).step_by(TILE as usize) {
                for i in (ty..side).step_by(TILE as usize) {
                    let from = x.column(row + i, col + j, STEP).up_to(side - i);
                    let moved = read::<T, { PER_THREAD as usize }>(from); // lane = j % 32: a row of x
                    for k in 0..PER_THREAD {
                        if i + k * STEP < side {
                            tile.write(i + k * STEP, j, moved[k as usize]); // lane = j % 32: a row of the tile
                        }
                    }
                }
            }
            sync_threads();
            for j in (tx..side).step_by(TILE as usize) {
                for i in (ty..side).step_by(TILE as usize) {
                    let to = y.column(col + i, row + j, STEP).up_to(side - i);
                    for k in 0..PER_THREAD {
                        if to.contains(k) {
                            let value = tile.read(j, i + k * STEP); // lane = j % 32: a column of the tile
                            to.set(k, value); // lane = j % 32: a row of y
                        }
                    }
                }
            }
        }
    });
}

/// Calls `body` with the first row and column of each square tile of this block, with a barrier between tiles.
#[inline(always)]
fn for_each_tile(rows: u32, side: u32, body: impl Fn(u32, u32)) {
    tile::for_each_tile(rows, side, |row| body(row, block_idx_x() * side));
}

/// What a thread moves of a tile of `x`, `N` elements, zeros where there is none; lane = `tx`, so a warp reads rows of `x`.
///
/// All are read before any is used, so that the reads wait for memory together.
///
/// # Safety
/// `from` is of a matrix as its maker promised.
#[inline(always)]
unsafe fn read<T: Copy + Default, const N: usize>(from: GlobalColumn<T>) -> [T; N] {
    // SAFETY: the caller's promise.
    core::array::from_fn(|i| unsafe { from.get(i as u32) }.unwrap_or_default())
}
