//! Without shared memory.

use cuda_std::prelude::*;

use super::image::{Source, Target};
use super::{Pixel, Tile};
use crate::tile::for_each_tile;

macro_rules! naive {
    ($($name:ident, $radius:tt;)*) => {$(
        #[doc = concat!("A thread for each pixel, radius ", stringify!($radius), ".")]
        ///
        /// Each of the (2R + 1)² terms is two loads from global memory: of 32 neighbouring pixels, 4 sectors of `f32` if they
        /// start a sector and 5 if not, and of the weight, 1 sector for all lanes.
        ///
        /// # Safety
        /// `x` and `y` hold `rows * cols` pixels and do not overlap, both at most [`MOST`](super::MOST); `weights` holds
        /// (2R + 1)²; the block is [`BLOCK`](super::BLOCK).
        #[kernel(prefix = "convolve", max_threads = 256, types = [f32, u8])]
        pub unsafe fn $name<T: Pixel>(
            x: *const T, y: *mut T, rows: u32, cols: u32, border: u32, weights: *const f32,
        ) {
            const SIDE: u32 = 2 * $radius + 1;
            // SAFETY: the caller's promise.
            unsafe { sums(x, y, rows, cols, border, weights, SIDE, SIDE) }
        }
    )*};
}
naive! {
    naive_r1, 1;
    naive_r3, 3;
    naive_r8, 8;
}

/// As [`naive_r1`], for filters of any odd numbers of rows and columns up to 2 [`ANY_MAX_RADIUS`](super::ANY_MAX_RADIUS) + 1,
/// chosen at the launch.
///
/// # Safety
/// As [`naive_r1`], with `filter_rows * filter_cols` weights.
#[kernel(prefix = "convolve", max_threads = 256, types = [f32, u8])]
#[allow(clippy::too_many_arguments)]
pub unsafe fn any<T: Pixel>(
    x: *const T,
    y: *mut T,
    rows: u32,
    cols: u32,
    border: u32,
    weights: *const f32,
    filter_rows: u32,
    filter_cols: u32,
) {
    // SAFETY: the caller's promise.
    unsafe { sums(x, y, rows, cols, border, weights, filter_rows, filter_cols) }
}

/// The sums of [`naive_r1`] and [`any`].
///
/// # Safety
/// As these.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
unsafe fn sums<T: Pixel>(
    x: *const T,
    y: *mut T,
    rows: u32,
    cols: u32,
    border: u32,
    weights: *const f32,
    filter_rows: u32,
    filter_cols: u32,
) {
    let (source, target) = (Source::new(x, rows, cols, border), Target::new(y, rows, cols));
    let col = block_idx_x() * Tile::NAIVE.cols + thread_idx_x();
    for_each_tile(rows, Tile::NAIVE.rows, |row| {
        let row = row + thread_idx_y();
        if row >= rows || col >= cols {
            return;
        }
        let mut sum = 0.0;
        for i in 0..filter_rows {
            let from = source.row(row.wrapping_add(i).wrapping_sub(filter_rows / 2) as i32);
            for j in 0..filter_cols {
                let index = col.wrapping_add(j).wrapping_sub(filter_cols / 2) as i32;
                // SAFETY: the caller's promise, and no other thread has this pixel.
                unsafe {
                    let weight = *weights.add((i * filter_cols + j) as usize); // the same for all lanes
                    sum += weight * source.number(from, index); // lane = col % 32: a row of the image
                }
            }
        }
        // SAFETY: as above.
        unsafe { target.set(row, col, sum) };
    });
}
