//! Two-dimensional convolution of an image with a small filter, as image processing means it (the filter is not mirrored):
//! the pixel at (r, c) becomes the sum of `weights[i][j] * image[r + i - R][c + j - R]`, for a filter of 2R + 1 rows and
//! columns.
//!
//! Every pixel is read (2R + 1)² times, so the question is from where; and around every tile lies a *halo* of R pixels that
//! belongs to its neighbours.
//!
//! | kernel | each pixel is read | from | multiplications a pixel |
//! |---|---|---|---|
//! | [`naive`](naive_r1), [`any`] | (2R + 1)² times | global memory, through the cache | (2R + 1)² |
//! | [`tiled`](tiled_r1) | once, and those in a halo twice or four times | global memory into a tile with its halo, then from there | (2R + 1)² |
//! | [`rows`](rows_r1), then [`columns`](columns_r1) | once by each pass, besides halos | as `tiled` | 2 (2R + 1) |
//! | [`fused`](fused_r1) | 1 + 2⌈R/4⌉ vectors for 4 pixels | global memory; the rows' sums stay in shared memory for the columns | 2 (2R + 1) |
//!
//! `rows`, `columns` and `fused` need a filter that is a product, `weights[i][j] = down[i] * across[j]`: box blurs,
//! Gaussians and Sobel's are.
//!
//! # Where the banks come in
//!
//! Filter and lanes of `rows` run in one direction: 32 lanes read 32 vectors that lie side by side, and no layout of the
//! tile has conflicts. `columns` filters across the rows. To read several pixels of a column by one 16-byte access its tile
//! is *transposed*, a row for each column of the image, and now lanes lie a whole row of the tile apart:
//!
//! | kernel | tile | wavefronts of a 16-byte access | of 32 lanes without conflicts |
//! |---|---|---|---|
//! | [`columns`](columns_r1) | [`Columns`], `[32][64]` | 32 | 4 |
//! | [`columns_padded`](columns_padded_r1) | [`PaddedColumns`], `[32][68]`: one unused vector a row | 4 | 4 |
//! | [`columns_swizzled`](columns_swizzled_r1) | [`SwizzledColumns`], the vectors of each row permuted | 4 | 4 |
//!
//! # Pixels, borders, sizes
//!
//! Pixels are `f32`, or `u8` as the numbers 0 to 255. Sums are `f32`; for `u8` the sum is rounded to the nearest integer,
//! halves to even, and saturates. What lies outside the image is the launch's choice ([`ZERO`], [`CLAMP`], [`MIRROR`],
//! [`WRAP`]), for images of every size from 1x1 up, also smaller than the filter. Images are dense and row-major, of at
//! most [`MOST`] rows and columns; offsets are 64-bit. A grid has at most 65,535 blocks along y, so a block also takes the
//! tiles a grid's height below its own.
//!
//! The radius is a const parameter of every kernel but [`any`]: `tiled_r3` is the entry points `convolve_tiled_r3_f32` and
//! `convolve_tiled_r3_u8`.

mod fused;
mod image;
mod naive;
mod separable;
mod tiled;

pub use fused::*;
pub use image::Pixel;
pub use naive::*;
pub use separable::*;
pub use tiled::*;

use cuda_std::layout::{LANES, RowMajor, Swizzled};

use crate::tile;

/// Threads of a block: 8 warps, a warp is one row.
pub const BLOCK: [u32; 3] = [32, 8, 1];

/// The largest radius of the kernels whose radius is a const parameter. All from 1 to this exist of those that calls use,
/// [`tiled`](tiled_r1) and [`fused`](fused_r1); of the others [`TAUGHT`].
pub const MAX_RADIUS: usize = 8;

/// The radii of the kernels that exist to be compared: `naive`, `rows`, `columns`.
pub const TAUGHT: [usize; 3] = [1, 3, 8];

/// Most rows, and columns, of an image.
pub const MOST: u32 = 1 << 30;

/// The largest radius of [`any`].
pub const ANY_MAX_RADIUS: u32 = 1 << 10;

/// Outside the image are zeros.
pub const ZERO: u32 = 0;
/// Outside the image is its nearest pixel.
pub const CLAMP: u32 = 1;
/// Outside the image it is mirrored in the middle of its outermost pixels.
pub const MIRROR: u32 = 2;
/// Outside the image it starts again.
pub const WRAP: u32 = 3;

/// Weights of a line of the largest radius.
const LINE: usize = 2 * MAX_RADIUS + 1;

/// A filter that is a product: the first 2R + 1 weights of each line count. A launch gives it by value, so that it lies in
/// the constant memory of the kernel's parameters and a multiplication takes a weight from there without a load.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Lines {
    /// Weights along a row.
    pub across: [f32; LINE],
    /// Weights along a column.
    pub down: [f32; LINE],
}

/// Rows and columns of a tile: what a block makes at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Rows.
    pub rows: u32,
    /// Columns.
    pub cols: u32,
}

impl Tile {
    /// Of [`naive`](naive_r1) and [`any`].
    pub const NAIVE: Self = Self { rows: 8, cols: 32 };
    /// Of [`tiled`](tiled_r1).
    pub const TILED: Self = Self { rows: 64, cols: 32 };
    /// Of [`rows`](rows_r1).
    pub const ROWS: Self = Self { rows: 8, cols: 128 };
    /// Of [`fused`](fused_r1).
    pub const FUSED: Self = Self { rows: 32, cols: 128 };

    /// Of [`columns`](columns_r1) of this radius: the tile with its halo has 64 rows, of which whole vectors of 4 are made.
    ///
    /// ```
    /// use kernels_gpu::convolve::Tile;
    /// assert_eq!([1, 3, 8].map(|radius| Tile::columns(radius).rows), [60, 56, 48]);
    /// ```
    #[must_use]
    pub const fn columns(radius: u32) -> Self {
        Self {
            rows: COLUMN - 4 * radius.div_ceil(2),
            cols: 32,
        }
    }

    /// Blocks of the grid for an image.
    ///
    /// ```
    /// use kernels_gpu::convolve::Tile;
    /// assert_eq!(Tile::TILED.grid(1000, 777), [25, 16, 1]);
    /// // More tiles than a grid has blocks along y: blocks take several.
    /// assert_eq!(Tile::FUSED.grid(2_097_153, 4), [1, 65_535, 1]);
    /// ```
    #[must_use]
    pub const fn grid(self, rows: u32, cols: u32) -> [u32; 3] {
        tile::grid(rows, cols, self.rows, self.cols)
    }
}

/// Rows of the image in the tile of `columns`, its halo included.
const COLUMN: u32 = 64;

/// The tile of [`columns`](columns_r1): a row for each column of the image. 16-byte vectors of neighbouring lanes are 64
/// words apart, all in the same four banks.
pub type Columns = RowMajor<LANES, { COLUMN as usize }>;

/// The tile of [`columns_padded`](columns_padded_r1): vectors of neighbouring lanes are 68 words apart, four banks on.
pub type PaddedColumns = RowMajor<LANES, { COLUMN as usize }, { COLUMN as usize + 4 }>;

/// The tile of [`columns_swizzled`](columns_swizzled_r1): the number of a vector in its row is changed by XOR with the
/// row's, modulo 8.
pub type SwizzledColumns = Swizzled<Columns, 3, 2, 4>;

/// Columns before and behind those of a thread's vector of four that it reads too: as many as the radius, in whole vectors.
const fn margin(radius: usize) -> usize {
    4 * radius.div_ceil(4)
}
