//! The tile with its halo in shared memory.

use cuda_std::layout::{Layout, RowMajor};
use cuda_std::prelude::*;
use cuda_std::unrolled;

use super::image::{Source, Target};
use super::{BLOCK, Pixel, Tile};
use crate::tile::for_each_tile;

/// Rows that a thread makes, one below the other: each pixel it reads serves several of them.
const PER_THREAD: usize = (Tile::TILED.rows / BLOCK[1]) as usize;

macro_rules! tiled {
    ($($name:ident, $radius:tt;)*) => {$(
        #[doc = concat!("Loads a tile and its halo once, radius ", stringify!($radius), ".")]
        ///
        /// Every pixel of the tile and its halo is read from global memory once and lies in shared memory as `f32`. A warp
        /// reads 32 neighbouring words of a row of the tile, from wherever that starts: 1 wavefront for each load and store,
        /// whatever the pitch; nothing is gained by padding. Weights are read by all lanes at once: 1 wavefront. A thread
        /// makes eight pixels of a column from (2R + 1)(8 + 2R) of the tile, and reads each weight once for all of them.
        ///
        /// # Safety
        #[doc = concat!("As [`naive_r1`](super::naive_r1), R = ", stringify!($radius), ".")]
        #[kernel(prefix = "convolve", max_threads = 256, types = [f32, u8])]
        pub unsafe fn $name<T: Pixel>(
            x: *const T, y: *mut T, rows: u32, cols: u32, border: u32, weights: *const f32,
        ) {
            const SIDE: usize = 2 * $radius + 1;
            let tile = shared_tile!(f32, RowMajor<{ 64 + 2 * $radius }, { 32 + 2 * $radius }>);
            let own = shared_array!(f32; SIDE * SIDE);
            let (source, target) = (Source::new(x, rows, cols, border), Target::new(y, rows, cols));
            // SAFETY: the caller's promise; tile and weights are this kernel's own.
            unsafe { through::<T, _, _, $radius, { 8 + 2 * $radius }>(tile, own, source, target, rows, weights) }
        }
    )*};
}
tiled! {
    tiled_r1, 1;
    tiled_r2, 2;
    tiled_r3, 3;
    tiled_r4, 4;
    tiled_r5, 5;
    tiled_r6, 6;
    tiled_r7, 7;
    tiled_r8, 8;
}

/// `READ` pixels of a column make the eight of a thread: 8 + 2R.
///
/// # Safety
/// As [`tiled_r1`]; nothing else uses `tile` and `own`.
#[inline(always)]
unsafe fn through<T: Pixel, L: Layout, W: Layout, const R: usize, const READ: usize>(
    tile: SharedTile<f32, L>,
    own: SharedArray<f32, W>,
    source: Source<T>,
    target: Target<T>,
    rows: u32,
    weights: *const f32,
) {
    let (tx, ty) = (thread_idx_x(), thread_idx_y());
    let (height, width) = (tile.layout().rows(), tile.layout().cols());
    let side = 2 * R as u32 + 1;
    let col = block_idx_x() * Tile::TILED.cols;
    // SAFETY: the caller's promise; a barrier parts the writes to the tile and the weights from their reads,
    // `for_each_tile` these from the next writes.
    unsafe {
        for w in (ty * BLOCK[0] + tx..side * side).step_by((BLOCK[0] * BLOCK[1]) as usize) {
            own.write(w, *weights.add(w as usize)); // lane = w % 32: neighbouring words
        }
        for_each_tile(rows, Tile::TILED.rows, |row| {
            for i in (ty..height).step_by(BLOCK[1] as usize) {
                let from = source.row(row.wrapping_add(i).wrapping_sub(R as u32) as i32);
                for j in (tx..width).step_by(BLOCK[0] as usize) {
                    let number = source.number(from, col.wrapping_add(j).wrapping_sub(R as u32) as i32);
                    tile.write(i, j, number); // lane = j % 32: a row of the tile
                }
            }
            sync_threads();
            let first = ty * PER_THREAD as u32;
            let mut sums = [0.0; PER_THREAD];
            for j in 0..side {
                unrolled::<READ>(|i| {
                    let number = tile.read(first + i as u32, tx + j); // lane = tx: 32 words of a row
                    unrolled::<PER_THREAD>(|k| {
                        if i >= k && i - k <= 2 * R {
                            sums[k] += own.read((i - k) as u32 * side + j) * number; // the same word for all lanes
                        }
                    });
                });
            }
            unrolled::<PER_THREAD>(|k| target.set(row + first + k as u32, col + tx, sums[k]));
        });
    }
}
