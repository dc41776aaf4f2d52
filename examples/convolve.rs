//! A picture, filtered: who reads a pixel how often, and where the banks come in. Blurs it, or finds its edges.
//!
//! ```sh
//! cargo run --example convolve                                 # a photograph, on the GPU or on the emulator
//! cargo run --example convolve -- --image photo.jpg --filter gaussian --out blurred.png
//! cargo run --example convolve -- --image photo.jpg --filter sobel --out edges.png
//! cargo run --example convolve -- --image field.npy --filter box --radius 2 --border wrap --out smooth.npy
//! cargo run --release --example convolve -- --width 8192 --height 8192 # the photograph again and again: for a GPU
//! ```
//!
//! The table compares every kernel of the filter's radius on the picture in grey, with a random filter, which is harder to
//! get right than a symmetric one. Then the filter that was asked for goes over the picture, each colour by itself.
//!
//! Exit code: 0 if all are correct, 1 if one is wrong, 2 if nothing could be run.

// Nothing of an example is reachable from outside of it.
#![allow(unreachable_pub)]

#[path = "common/mod.rs"]
mod common;
#[path = "convolve/picture.rs"]
mod picture;

use std::path::PathBuf;
use std::process::ExitCode;

use bytemuck::Pod;
use clap::{Parser, ValueEnum};
use miette::{IntoDiagnostic, Result};
use tile33::catalogue::convolve::{FilterError, Pixel, steps};
use tile33::prelude::*;

use crate::picture::{Picture, Pixels};

/// Filters a picture, and shows what every kernel for it costs.
#[derive(Debug, Parser)]
struct Args {
    /// A PNG or JPEG picture, or a two-dimensional .npy array [default: a photograph that comes with the example]
    #[arg(long, value_name = "FILE")]
    image: Option<PathBuf>,
    /// Columns of the picture, which is repeated or cut off [default: its own]
    #[arg(long, value_name = "PIXELS", value_parser = clap::value_parser!(u32).range(1..))]
    width: Option<u32>,
    /// Rows of the picture, which is repeated or cut off [default: its own]
    #[arg(long, value_name = "PIXELS", value_parser = clap::value_parser!(u32).range(1..))]
    height: Option<u32>,
    /// What to do with it
    #[arg(long, value_enum, default_value = "gaussian")]
    filter: Kind,
    /// Pixels that a blur reaches to each side [default: 3]
    #[arg(long, value_name = "PIXELS")]
    radius: Option<usize>,
    /// Standard deviation of a Gaussian [default: half the radius]
    #[arg(long, value_name = "PIXELS")]
    sigma: Option<f64>,
    /// What lies outside the picture
    #[arg(long, value_enum, default_value = "mirror")]
    border: Outside,
    /// Pixel type of the kernels in the table
    #[arg(long, value_enum, default_value = "f32")]
    element: Element,
    /// Where to write the filtered picture: .png or .jpg, or .npy for exact numbers of a .npy array
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    place: common::Where,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Average weighted by distance
    Gaussian,
    /// Average of a square
    Box,
    /// Steepness of the picture in grey: the size of both derivatives together
    Sobel,
    /// Derivative along the rows
    SobelX,
    /// Derivative along the columns
    SobelY,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Outside {
    /// Zeros
    Zero,
    /// The nearest pixel
    Clamp,
    /// The picture mirrored, without repeating its outermost pixels
    Mirror,
    /// The picture again
    Wrap,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Element {
    F32,
    U8,
}

impl Outside {
    fn border(self) -> Border {
        match self {
            Self::Zero => Border::Zero,
            Self::Clamp => Border::Clamp,
            Self::Mirror => Border::Mirror,
            Self::Wrap => Border::Wrap,
        }
    }
}

impl Args {
    fn radius(&self) -> usize {
        match self.filter {
            Kind::Gaussian | Kind::Box => self.radius.unwrap_or(3),
            _ => 1,
        }
    }

    fn blur(&self) -> Result<Filter, FilterError> {
        let radius = self.radius();
        match self.filter {
            Kind::Box => Filter::box_blur(radius),
            _ => Filter::gaussian(radius, self.sigma.unwrap_or((radius as f64 / 2.0).max(0.5))),
        }
    }
}

fn main() -> ExitCode {
    common::exit(run(&Args::parse()))
}

fn run(args: &Args) -> Result<bool> {
    let kernels = args.place.kernels()?;
    let device = kernels.device();
    let picture = match &args.image {
        Some(path) => Picture::read(path)?,
        None => Picture::photograph()?,
    };
    let picture = match (args.height, args.width) {
        (None, None) => picture,
        (rows, cols) => picture.repeated(
            rows.map_or(picture.rows, |rows| rows as usize),
            cols.map_or(picture.cols, |cols| cols as usize),
        ),
    };
    let correct = compare(args, &kernels, &picture)?;
    if let Some(path) = &args.out {
        filter(args, device, &picture)?.write(path)?;
    }
    Ok(correct)
}

/// Every kernel of the filter's radius, on the picture in grey.
fn compare(args: &Args, kernels: &tile33::Kernels, picture: &Picture) -> Result<bool> {
    let device = kernels.device();
    let (rows, cols, radius) = (picture.rows, picture.cols, args.radius());
    let (element, grey) = match args.element {
        Element::F32 => ("f32", Pixels::F32(picture.grey())),
        Element::U8 => (
            "u8",
            Pixels::U8(picture.grey().iter().map(|&grey| picture::byte(grey)).collect()),
        ),
    };
    let border = Border::ALL.iter().position(|&border| border == args.border.border());
    let size = [rows, cols, border.unwrap_or(0)];
    let end = format!("_r{radius}_{element}");
    let mut chosen = steps().into_iter().filter(|step| step.entry.ends_with(&end)).peekable();
    common::print(&format!("{cols} x {rows} pixels, radius {radius}, on {device}\n\n"));
    if chosen.peek().is_none() {
        common::print("No kernel has this radius as a const parameter: one for any radius is used.\n");
        return Ok(true);
    }
    let rows = match &grey {
        Pixels::F32(pixels) => args.place.compare_on(kernels, chosen, &size, pixels)?,
        Pixels::U8(pixels) => args.place.compare_on(kernels, chosen, &size, pixels)?,
    };
    common::print(&common::table::render(&rows, device.is_cuda()));
    if rows.iter().any(|row| row.step.name.starts_with("separable")) {
        common::print(
            "A separable step's costs are those of its second pass, along the columns; `rows` is the first.\n",
        );
    }
    Ok(rows.iter().all(|row| row.wrong.is_none()))
}

/// The picture with the filter that was asked for.
fn filter(args: &Args, device: &Device, picture: &Picture) -> Result<Picture> {
    let on_device = |filter| Call {
        device,
        picture,
        filter,
        border: args.border.border(),
    };
    let derivative = |filter: Filter| on_device(filter).plane(&picture.grey());
    match args.filter {
        Kind::Gaussian | Kind::Box => {
            let call = on_device(args.blur().into_diagnostic()?);
            picture.map(|plane| {
                Ok(match plane {
                    Pixels::U8(pixels) => Pixels::U8(call.plane(pixels)?),
                    Pixels::F32(pixels) => Pixels::F32(call.plane(pixels)?),
                })
            })
        }
        Kind::Sobel => {
            let (x, y) = (derivative(Filter::sobel_x())?, derivative(Filter::sobel_y())?);
            let steepness = x.iter().zip(&y).map(|(x, y)| x.hypot(*y)).collect();
            Ok(picture.of_numbers(steepness, picture::byte))
        }
        // Middle grey where nothing changes; the sum of the weights' sizes is 8.
        Kind::SobelX => Ok(picture.of_numbers(derivative(Filter::sobel_x())?, |slope| {
            picture::byte(128.0 + slope / 8.0)
        })),
        Kind::SobelY => Ok(picture.of_numbers(derivative(Filter::sobel_y())?, |slope| {
            picture::byte(128.0 + slope / 8.0)
        })),
    }
}

/// A filter for planes of a picture.
struct Call<'a> {
    device: &'a Device,
    picture: &'a Picture,
    filter: Filter,
    border: Border,
}

impl Call<'_> {
    fn plane<P: Pixel + Pod>(&self, pixels: &[P]) -> Result<Vec<P>> {
        let Self {
            device,
            picture: Picture { rows, cols, .. },
            filter,
            border,
        } = self;
        let image = device.upload(pixels).into_diagnostic()?;
        let mut filtered = device.uninit(pixels.len()).into_diagnostic()?;
        device
            .convolve(&image, &mut filtered, *rows, *cols, filter, *border)
            .into_diagnostic()?;
        filtered.to_vec().into_diagnostic()
    }
}
