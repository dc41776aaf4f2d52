//! Two passes over the image, for filters that are a product of two lines.

use cuda_std::layout::{Layout, RowMajor};
use cuda_std::prelude::*;
use cuda_std::unrolled;
use cuda_std::vector::F32x4;

use super::image::{Source, Target, needed};
use super::{BLOCK, COLUMN, Columns, Lines, PaddedColumns, Pixel, SwizzledColumns, Tile, margin};
use crate::tile::for_each_tile;

macro_rules! rows {
    ($($name:ident, $radius:tt;)*) => {$(
        #[doc = concat!("Filters along the rows, radius ", stringify!($radius), ": sums as `f32`, for `columns`.")]
        ///
        /// A warp stages 128 pixels of a row and their halo in shared memory and reads them by vectors of 16 bytes, those of
        /// 32 lanes side by side: 4 wavefronts a load, the least there can be, in any layout of the tile.
        ///
        /// # Safety
        /// `x` and `y` hold `rows * cols` pixels, numbers, and do not overlap, both at most [`MOST`](super::MOST); they are
        /// aligned as vectors of four; the block is [`BLOCK`](super::BLOCK).
        #[kernel(prefix = "convolve", max_threads = 256, types = [f32, u8])]
        pub unsafe fn $name<T: Pixel>(x: *const T, y: *mut f32, rows: u32, cols: u32, border: u32, lines: Lines) {
            let tile = shared_tile!(f32, RowMajor<8, { 128 + 2 * margin($radius) }>);
            let (source, target) = (Source::new(x, rows, cols, border), Target::new(y, rows, cols));
            // SAFETY: the caller's promise; the tile is this kernel's own.
            unsafe { along_rows::<T, _, $radius, { 4 + 2 * margin($radius) }>(tile, source, target, rows, cols, lines) }
        }
    )*};
}
rows! {
    rows_r1, 1;
    rows_r3, 3;
    rows_r8, 8;
}

/// `READ` pixels of a row make the four of a thread.
///
/// # Safety
/// As [`rows_r1`]; nothing else uses the tile.
#[inline(always)]
unsafe fn along_rows<T: Pixel, L: Layout, const R: usize, const READ: usize>(
    tile: SharedTile<f32, L>,
    source: Source<T>,
    target: Target<f32>,
    rows: u32,
    cols: u32,
    lines: Lines,
) {
    let (tx, ty) = (thread_idx_x(), thread_idx_y());
    let col = block_idx_x() * Tile::ROWS.cols;
    for_each_tile(rows, Tile::ROWS.rows, |row| {
        // SAFETY: the caller's promise; a barrier parts the tile's writes from its reads, `for_each_tile` these from the
        // next.
        unsafe {
            let from = source.row((row + ty) as i32);
            for j in (tx..tile.layout().cols()).step_by(BLOCK[0] as usize) {
                let number = source.number(from, col.wrapping_add(j).wrapping_sub(margin(R) as u32) as i32);
                tile.write(ty, j, number); // lane = j % 32: a row of the tile
            }
            sync_threads();
            if col + 4 * tx < cols {
                let mut numbers = [0.0; READ];
                unrolled::<READ>(|i| {
                    if i.is_multiple_of(4) {
                        let four = tile.read_vector::<F32x4>(ty, 4 * tx + i as u32); // lane = tx: 32 vectors of a row
                        needed(f32::words(four));
                        let four = four.0;
                        unrolled::<4>(|k| numbers[i + k] = four[k]);
                    }
                });
                target.set_four(row + ty, col + 4 * tx, four_sums::<R, READ>(&numbers, &lines.across));
            }
        }
    });
}

/// The sums of the four pixels in the middle of `READ`.
#[inline(always)]
pub(super) fn four_sums<const R: usize, const READ: usize>(numbers: &[f32; READ], weights: &[f32; 17]) -> [f32; 4] {
    let mut sums = [0.0; 4];
    unrolled::<READ>(|i| {
        unrolled::<4>(|k| {
            // Pixel k stands at margin + k, and its terms from R before to R behind.
            let first = margin(R) + k - R;
            if i >= first && i - first <= 2 * R {
                sums[k] += weights[i - first] * numbers[i];
            }
        });
    });
    sums
}

macro_rules! columns {
    ($layout:ty, $cost:literal: $($name:ident, $radius:tt;)*) => {$(
        #[doc = concat!("Filters along the columns what `rows` made, radius ", stringify!($radius), ".")]
        ///
        #[doc = $cost]
        ///
        /// # Safety
        /// `x` and `y` hold `rows * cols` numbers, pixels, and do not overlap, both at most [`MOST`](super::MOST); the block
        /// is [`BLOCK`](super::BLOCK).
        #[kernel(prefix = "convolve", max_threads = 256, types = [f32, u8])]
        pub unsafe fn $name<T: Pixel>(x: *const f32, y: *mut T, rows: u32, cols: u32, border: u32, lines: Lines) {
            let tile = shared_tile!(f32, $layout);
            let (source, target) = (Source::new(x, rows, cols, border), Target::new(y, rows, cols));
            // SAFETY: the caller's promise; the tile is this kernel's own.
            unsafe {
                along_columns::<T, _, $radius, { 4 + 4 * ($radius as usize).div_ceil(2) }>(
                    tile, source, target, rows, cols, lines,
                )
            }
        }
    )*};
}
columns! {
    Columns,
    "The tile has a row for each column of the image, so that a thread moves four pixels of a column at once. But rows of \
     64 words put the vectors of all lanes into the same four banks: 32 wavefronts for each load and store instead of 4.":
    columns_r1, 1;
    columns_r3, 3;
    columns_r8, 8;
}
columns! {
    PaddedColumns,
    "As [`columns_r1`], with a vector left free at the end of each row of the tile: those of eight neighbouring lanes lie \
     in all 32 banks, and each load and store takes 4 wavefronts, the least there can be.":
    columns_padded_r1, 1;
    columns_padded_r3, 3;
    columns_padded_r8, 8;
}
columns! {
    SwizzledColumns,
    "As [`columns_r1`], with the vectors of each row of the tile permuted by the row's number: 4 wavefronts as for \
     [`columns_padded_r1`], and nothing is left free.":
    columns_swizzled_r1, 1;
    columns_swizzled_r3, 3;
    columns_swizzled_r8, 8;
}

/// `READ` pixels of a column, in whole vectors, make the four of a thread.
///
/// # Safety
/// As [`columns_r1`]; nothing else uses the tile.
#[inline(always)]
unsafe fn along_columns<T: Pixel, L: Layout, const R: usize, const READ: usize>(
    tile: SharedTile<f32, L>,
    source: Source<f32>,
    target: Target<T>,
    rows: u32,
    cols: u32,
    lines: Lines,
) {
    let (tx, ty) = (thread_idx_x(), thread_idx_y());
    let col = block_idx_x() * BLOCK[0] + tx;
    let height = Tile::columns(R as u32).rows;
    for_each_tile(rows, height, |row| {
        // SAFETY: the caller's promise; a barrier parts the tile's writes from its reads, `for_each_tile` these from the
        // next.
        unsafe {
            if col < cols {
                for i in (4 * ty..COLUMN).step_by(4 * BLOCK[1] as usize) {
                    let mut four = [0.0; 4];
                    unrolled::<4>(|k| {
                        let from = source.row(row.wrapping_add(i + k as u32).wrapping_sub(R as u32) as i32);
                        four[k] = source.number(from, col as i32); // lane = tx: a row of the image
                    });
                    tile.write_vector(tx, i, F32x4(four)); // lane = tx: a column of vectors
                }
            }
            sync_threads();
            if col < cols {
                for first in (4 * ty..height).step_by(4 * BLOCK[1] as usize) {
                    let mut sums = [0.0; 4];
                    unrolled::<READ>(|i| {
                        if i.is_multiple_of(4) {
                            let four = tile.read_vector::<F32x4>(tx, first + i as u32); // lane = tx: a column of vectors
                            needed(f32::words(four));
                            let four = four.0;
                            unrolled::<4>(|n| {
                                unrolled::<4>(|k| {
                                    if i + n >= k && i + n - k <= 2 * R {
                                        sums[k] += lines.down[i + n - k] * four[n];
                                    }
                                });
                            });
                        }
                    });
                    unrolled::<4>(|k| target.set(row + first + k as u32, col, sums[k])); // lane = tx: a row of y
                }
            }
        }
    });
}
