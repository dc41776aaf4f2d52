//! Both passes of a product of lines in one kernel.

use cuda_std::layout::{Layout, RowMajor};
use cuda_std::prelude::*;
use cuda_std::unrolled;
use cuda_std::vector::F32x4;

use super::image::{Source, Target};
use super::separable::four_sums;
use super::{BLOCK, Lines, Pixel, Tile, margin};
use crate::tile::for_each_tile;

/// Rows that a thread makes, one below the other.
const PER_THREAD: usize = (Tile::FUSED.rows / BLOCK[1]) as usize;

macro_rules! fused {
    ($($name:ident, $radius:tt;)*) => {$(
        #[doc = concat!("Filters along the rows into shared memory, and from there along the columns, radius ", stringify!($radius), ".")]
        ///
        /// The tile holds the rows' sums for 32 rows and a halo of R above and below; what the rows need beside the tile is
        /// read from global memory, where neighbouring threads have just read it: 1 + 2⌈R/4⌉ vectors for four pixels, 16
        /// sectors each for `f32`. All is moved by vectors of four that lie side by side for the lanes of a warp: 4
        /// wavefronts for each load and store of the tile. Global memory is read and written once.
        ///
        /// Rows whose length is no multiple of four are read and written pixel by pixel, as is what borders the outside.
        ///
        /// # Safety
        /// `x` and `y` hold `rows * cols` pixels and do not overlap, both at most [`MOST`](super::MOST); they are aligned
        /// as vectors of four; the block is [`BLOCK`](super::BLOCK).
        #[kernel(prefix = "convolve", max_threads = 256, types = [f32, u8])]
        pub unsafe fn $name<T: Pixel>(x: *const T, y: *mut T, rows: u32, cols: u32, border: u32, lines: Lines) {
            let tile = shared_tile!(f32, RowMajor<{ 32 + 2 * $radius }, 128>);
            let (source, target) = (Source::new(x, rows, cols, border), Target::new(y, rows, cols));
            // SAFETY: the caller's promise; the tile is this kernel's own.
            unsafe {
                both::<T, _, $radius, { 4 + 2 * margin($radius) }, { 4 + 2 * $radius }>(
                    tile, source, target, rows, cols, lines,
                )
            }
        }
    )*};
}
fused! {
    fused_r1, 1;
    fused_r2, 2;
    fused_r3, 3;
    fused_r4, 4;
    fused_r5, 5;
    fused_r6, 6;
    fused_r7, 7;
    fused_r8, 8;
}

/// `ACROSS` pixels of a row make four sums, `DOWN` of these in a column make four pixels.
///
/// # Safety
/// As [`fused_r1`]; nothing else uses the tile.
#[inline(always)]
unsafe fn both<T: Pixel, L: Layout, const R: usize, const ACROSS: usize, const DOWN: usize>(
    tile: SharedTile<f32, L>,
    source: Source<T>,
    target: Target<T>,
    rows: u32,
    cols: u32,
    lines: Lines,
) {
    let (tx, ty) = (thread_idx_x(), thread_idx_y());
    let col = block_idx_x() * Tile::FUSED.cols + 4 * tx;
    for_each_tile(rows, Tile::FUSED.rows, |row| {
        // SAFETY: the caller's promise; a barrier parts the tile's writes from its reads, `for_each_tile` these from the
        // next.
        unsafe {
            if col < cols {
                for i in (ty..tile.layout().rows()).step_by(BLOCK[1] as usize) {
                    let from = source.row(row.wrapping_add(i).wrapping_sub(R as u32) as i32);
                    // Of the vectors, the columns that the four pixels need.
                    let (first, end) = (margin(R) - R, margin(R) + 4 + R);
                    let numbers = source.vectors::<ACROSS>(from, col as i32 - margin(R) as i32, first, end);
                    let sums = four_sums::<R, ACROSS>(&numbers, &lines.across);
                    tile.write_vector(i, 4 * tx, F32x4(sums)); // lane = tx: 32 vectors of a row
                }
            }
            sync_threads();
            if col < cols {
                let first = ty * PER_THREAD as u32;
                let mut sums = [[0.0; 4]; PER_THREAD];
                unrolled::<DOWN>(|i| {
                    let four = tile.read_vector::<F32x4>(first + i as u32, 4 * tx).0; // lane = tx: 32 vectors of a row
                    unrolled::<PER_THREAD>(|k| {
                        if i >= k && i - k <= 2 * R {
                            unrolled::<4>(|n| sums[k][n] += lines.down[i - k] * four[n]);
                        }
                    });
                });
                unrolled::<PER_THREAD>(|k| target.set_four(row + first + k as u32, col, sums[k]));
            }
        }
    });
}
