//! One kernel, launched once.

use std::marker::PhantomData;

use kernels_gpu::convolve::{BLOCK, CLAMP, Lines, MAX_RADIUS, MIRROR, MOST, Tile, WRAP, ZERO};
use tile33_host::{Arg, DeviceBuffer, Error, Kernel, LaunchConfig, args};

use super::{Border, CatalogueError, PROBLEM, Pixel, Way, not_empty};
use crate::Kernels;

/// Rows and columns of an image that the kernels take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    pub(super) rows: u32,
    pub(super) cols: u32,
}

impl Sizes {
    pub(super) fn new(rows: usize, cols: usize) -> Result<Self, CatalogueError> {
        let narrow = |what, number| {
            not_empty(PROBLEM, what, number)?;
            let narrow = u32::try_from(number).ok().filter(|&number| number <= MOST);
            narrow.ok_or(CatalogueError::TooMany {
                problem: PROBLEM,
                what,
                given: number,
                most: MOST.into(),
            })
        };
        Ok(Self {
            rows: narrow("rows", rows)?,
            cols: narrow("columns", cols)?,
        })
    }

    /// Rows times columns.
    pub(super) fn pixels(self) -> usize {
        self.rows as usize * self.cols as usize
    }
}

/// The kernels' number for a border.
fn number(border: Border) -> u32 {
    match border {
        Border::Zero => ZERO,
        Border::Clamp => CLAMP,
        Border::Mirror => MIRROR,
        Border::Wrap => WRAP,
    }
}

/// A kernel that makes an image of pixels `B` from one of `A`.
#[derive(Debug)]
pub(super) struct Pass<A, B> {
    kernel: Kernel,
    tile: Tile,
    pixels: PhantomData<fn(A) -> B>,
}

/// The entry point of a kernel, for the type of its pixels.
pub(super) fn entry<P: Pixel>(kernel: &str) -> String {
    format!("convolve_{kernel}_{}", P::NAME)
}

impl<A: Pixel, B: Pixel> Pass<A, B> {
    /// The kernel of this name, whose entry point is that for pixels `P`, and what a block of it makes.
    pub(super) fn new<P: Pixel>(kernels: &Kernels, name: &str, tile: Tile) -> Result<Self, Error> {
        Ok(Self {
            kernel: kernels.kernel(&entry::<P>(name))?,
            tile,
            pixels: PhantomData,
        })
    }

    fn config(&self, sizes: Sizes) -> LaunchConfig {
        LaunchConfig::new(self.tile.grid(sizes.rows, sizes.cols), BLOCK)
    }

    /// Launches a kernel for a square of weights. The images have the sizes, and as many weights as the kernel's radius has.
    pub(super) fn with_weights(
        &self,
        image: &DeviceBuffer<A>,
        filtered: &mut DeviceBuffer<B>,
        sizes: Sizes,
        border: Border,
        weights: &DeviceBuffer<f32>,
        way: &mut impl Way,
    ) -> Result<(), CatalogueError> {
        let Sizes { rows, cols } = sizes;
        let arguments = args![image, filtered, rows, cols, number(border), weights];
        // SAFETY: the kernel reads and writes `rows * cols` pixels, which both hold, and reads the weights that there are.
        unsafe { way.go(&self.kernel, &self.config(sizes), arguments)? };
        Ok(())
    }

    /// As [`with_weights`](Self::with_weights), for the kernel that takes the filter's rows and columns at the launch.
    pub(super) fn with_any_weights(
        &self,
        image: &DeviceBuffer<A>,
        filtered: &mut DeviceBuffer<B>,
        sizes: Sizes,
        border: Border,
        (weights, filter_rows, filter_cols): (&DeviceBuffer<f32>, usize, usize),
        way: &mut impl Way,
    ) -> Result<(), CatalogueError> {
        let Sizes { rows, cols } = sizes;
        let (filter_rows, filter_cols) = (filter_rows as u32, filter_cols as u32);
        let arguments = args![
            image,
            filtered,
            rows,
            cols,
            number(border),
            weights,
            filter_rows,
            filter_cols
        ];
        // SAFETY: as in `with_weights`.
        unsafe { way.go(&self.kernel, &self.config(sizes), arguments)? };
        Ok(())
    }

    /// Launches a kernel for a product of lines. The images have the sizes, and are aligned as every allocation is.
    pub(super) fn with_lines(
        &self,
        image: &DeviceBuffer<A>,
        filtered: &mut DeviceBuffer<B>,
        sizes: Sizes,
        border: Border,
        (across, down): (&[f32], &[f32]),
        way: &mut impl Way,
    ) -> Result<(), CatalogueError> {
        const LINE: usize = 2 * MAX_RADIUS + 1;
        let mut lines = [[0f32; LINE]; 2];
        const { assert!(size_of::<[[f32; LINE]; 2]>() == size_of::<Lines>()) };
        for (line, weights) in lines.iter_mut().zip([across, down]) {
            line[..weights.len()].copy_from_slice(weights);
        }
        let Sizes { rows, cols } = sizes;
        let lines = Arg::structure(&lines);
        let arguments = args![image, filtered, rows, cols, number(border), lines];
        // SAFETY: as in `with_weights`; the structure has the two lines one behind the other.
        unsafe { way.go(&self.kernel, &self.config(sizes), arguments)? };
        Ok(())
    }
}
