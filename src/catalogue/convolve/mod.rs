//! Two-dimensional convolution of images: blurs, derivatives, any square filter.
//!
//! ```
//! use tile33::prelude::*;
//!
//! let device = Device::open();
//! let (rows, cols) = (2, 3);
//! let image = device.upload(&[0u8, 0, 0, 0, 90, 0])?;
//! let mut blurred = device.uninit(rows * cols)?;
//! device.convolve(&image, &mut blurred, rows, cols, &Filter::box_blur(1)?, Border::Zero)?;
//! assert_eq!(blurred.to_vec()?, [10; 6]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The filter is not mirrored: the pixel at (r, c) becomes the sum of `weights[i][j] * image[r + i - R][c + j - R]`, as image
//! processing has it (mathematics calls that a correlation).
//!
//! # Numbers
//!
//! Images are `f32`, or `u8` as the numbers 0 to 255. Sums are `f32` and **deterministic**. An `f32` pixel differs from the
//! exact sum by at most γ(m)·Σ|w·x| ([`host::reference`](mod@crate::host::reference) has the notation), m = (2R + 1)² for a
//! square filter and 2 (2R + 1) for a separable one, plus m times the smallest `f32`. A `u8` pixel is that sum rounded to the
//! nearest integer, halves to even, and saturated to 0 to 255: exact where weights are integers and every sum of sizes stays
//! below 2^24, and otherwise off by 1 where the exact sum is within the bound of a half.
//!
//! # Outside the image
//!
//! | [`Border`] | draws | NumPy's `pad` | SciPy's `ndimage` | OpenCV |
//! |---|---|---|---|---|
//! | `Zero` | `0 0 \| a b c d \| 0 0` | `constant` | `constant` | `BORDER_CONSTANT` |
//! | `Clamp` | `a a \| a b c d \| d d` | `edge` | `nearest` | `BORDER_REPLICATE` |
//! | `Mirror` | `c b \| a b c d \| c b` | `reflect` | `mirror` | `BORDER_REFLECT_101` |
//! | `Wrap` | `c d \| a b c d \| a b` | `wrap` | `wrap` | `BORDER_WRAP` |
//!
//! Every size from 1x1 up works, also images smaller than the filter: mirror and wrap go on as often as it takes.
//!
//! # Which kernel
//!
//! | filter | radius 1 to 8 | otherwise |
//! |---|---|---|
//! | separable | [`fused`](kernels_gpu::convolve::fused_r1): one pass over memory | `f32`: [`any`](kernels_gpu::convolve::any) twice, for rows and columns; `u8`: once, with the product |
//! | square | [`tiled`](kernels_gpu::convolve::tiled_r1) | `any` |
//!
//! Only rows whose length is a multiple of 4 are moved by vectors.

mod claims;
mod filter;
mod pass;
mod steps;

use std::sync::Arc;

use bytemuck::Pod;
use kernels_gpu::convolve::{MAX_RADIUS, Tile};
use tile33_host::{Device, DeviceBuffer, Error, reference};

use super::error::{not_empty, same_length};
use super::{CatalogueError, Enqueue, Way};
use crate::Kernels;
use pass::{Pass, Sizes};

pub use filter::{Filter, FilterError};
pub use steps::steps;
pub use tile33_host::reference::convolve::Border;

/// A pixel type.
pub trait Pixel: Pod + reference::convolve::Pixel + Send + Sync {
    /// Rust's name of the type.
    const NAME: &'static str;

    /// Whether an image of this type can hold the sums between two passes as they are.
    const HOLDS_SUMS: bool;
}

impl Pixel for f32 {
    const NAME: &'static str = "f32";
    const HOLDS_SUMS: bool = true;
}

impl Pixel for u8 {
    const NAME: &'static str = "u8";
    const HOLDS_SUMS: bool = false;
}

/// Convolutions, as a method of [`Device`].
pub trait Convolve {
    /// Filters an image of `rows` x `cols` pixels, row by row without gaps, into another of the same size.
    ///
    /// # Errors
    /// [`CatalogueError::Empty`] of no rows or columns, [`CatalogueError::TooMany`] of more than 2^30 of either,
    /// [`CatalogueError::Length`] of a buffer with another number of pixels; nothing has run then, and nothing is written.
    /// When the device fails.
    fn convolve<P: Pixel>(
        &self,
        image: &DeviceBuffer<P>,
        filtered: &mut DeviceBuffer<P>,
        rows: usize,
        cols: usize,
        filter: &Filter,
        border: Border,
    ) -> Result<(), CatalogueError>;
}

impl Convolve for Device {
    fn convolve<P: Pixel>(
        &self,
        image: &DeviceBuffer<P>,
        filtered: &mut DeviceBuffer<P>,
        rows: usize,
        cols: usize,
        filter: &Filter,
        border: Border,
    ) -> Result<(), CatalogueError> {
        let sizes = Sizes::new(rows, cols)?;
        same_length(PROBLEM, "the image", image.len(), sizes.pixels())?;
        same_length(PROBLEM, "the filtered image", filtered.len(), sizes.pixels())?;
        let kernels = Kernels::of(self);
        let passes: Arc<Passes<P>> = self.extension(|_| Passes::new(&kernels))?;
        passes.start(self, (image, filtered), sizes, filter, border, &mut Enqueue)
    }
}

const PROBLEM: &str = "convolve";

/// The kernels for a pixel type, of which a call takes one.
#[derive(Debug)]
struct Passes<P> {
    /// By radius, from 1.
    tiled: Vec<Pass<P, P>>,
    fused: Vec<Pass<P, P>>,
    any: Pass<P, P>,
}

impl<P: Pixel> Passes<P> {
    fn new(kernels: &Kernels) -> Result<Self, Error> {
        let of_all_radii = |name, tile| -> Result<Vec<_>, Error> {
            (1..=MAX_RADIUS)
                .map(|radius| Pass::new::<P>(kernels, &format!("{name}_r{radius}"), tile))
                .collect()
        };
        Ok(Self {
            tiled: of_all_radii("tiled", Tile::TILED)?,
            fused: of_all_radii("fused", Tile::FUSED)?,
            any: Pass::new::<P>(kernels, "any", Tile::NAIVE)?,
        })
    }

    fn start(
        &self,
        device: &Device,
        (image, filtered): (&DeviceBuffer<P>, &mut DeviceBuffer<P>),
        sizes: Sizes,
        filter: &Filter,
        border: Border,
        way: &mut impl Way,
    ) -> Result<(), CatalogueError> {
        let place = filter.radius().wrapping_sub(1);
        if let (Some((across, down)), Some(fused)) = (filter.lines(), self.fused.get(place)) {
            return fused.with_lines(image, filtered, sizes, border, (across, down), way);
        }
        if let Some(tiled) = self.tiled.get(place) {
            let weights = device.upload(&filter.weights())?;
            return tiled.with_weights(image, filtered, sizes, border, &weights, way);
        }
        let side = filter.side();
        match filter.lines() {
            Some((across, down)) if P::HOLDS_SUMS => {
                let (across, down) = (device.upload(across)?, device.upload(down)?);
                let mut between = device.uninit(sizes.pixels())?;
                self.any
                    .with_any_weights(image, &mut between, sizes, border, (&across, 1, side), way)?;
                self.any
                    .with_any_weights(&between, filtered, sizes, border, (&down, side, 1), way)
            }
            _ => {
                let weights = device.upload(&filter.weights())?;
                self.any
                    .with_any_weights(image, filtered, sizes, border, (&weights, side, side), way)
            }
        }
    }
}
