//! The histogram of a picture, in four ways: who waits for whom at a counter. And what it is good for.
//!
//! ```sh
//! cargo run --example histogram                                # a drawn picture, on the GPU or on the emulator
//! cargo run --example histogram -- --input photo.jpg --output equalized.png
//! cargo run --example histogram -- --input bytes.npy           # an array of u1
//! ```
//!
//! The output is the picture with its contrast equalized: each grey becomes the share of pixels that are not brighter,
//! the prefix sum of the histogram. Exit code: 0 if all are correct, 1 if one is wrong, 2 if nothing could be run.

#[path = "common/mod.rs"]
mod common;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use image::GrayImage;
use miette::{IntoDiagnostic, Result, WrapErr};
use tile33::catalogue::histogram::steps;
use tile33::prelude::*;

/// Counts the greys of a picture in four ways and shows what each costs.
#[derive(Debug, Parser)]
struct Args {
    /// A PNG or JPEG picture, or a .npy array of whole numbers from 0 to 255 [default: a drawn picture of 512 x 512]
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// Where to write the picture with its contrast equalized
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    place: common::Where,
}

fn main() -> ExitCode {
    common::exit(run(&Args::parse()))
}

fn run(args: &Args) -> Result<bool> {
    let kernels = args.place.kernels()?;
    let device = kernels.device();
    let picture = match &args.input {
        Some(path) if common::input::is_npy(path) => common::input::read_greys(path)?,
        Some(path) => common::input::read_grey(path)?,
        None => common::input::draw_grey(512, 512),
    };
    let pixels = picture.as_raw();
    let chosen = steps()
        .into_iter()
        .filter(|step| step.element == "u8" && step.size_names.len() == 1);
    let rows = args.place.compare_on(&kernels, chosen, &[pixels.len()], pixels)?;
    common::print(&format!(
        "{} x {} pixels on {device}\n\n",
        picture.width(),
        picture.height()
    ));
    common::print(&common::table::render(&rows, device.is_cuda()));

    let mut counts = device.uninit(256).into_diagnostic()?;
    device
        .histogram(&device.upload(pixels).into_diagnostic()?, &mut counts)
        .into_diagnostic()?;
    common::print(&format!("\n{}", bars(&counts.to_vec().into_diagnostic()?)));
    if let Some(path) = &args.output {
        let mut darker = device.uninit(256).into_diagnostic()?;
        device.scan(&counts, &mut darker, Inclusive).into_diagnostic()?;
        let equalized = equalize(&picture, &darker.to_vec().into_diagnostic()?);
        let cannot = || format!("cannot write {}", path.display());
        equalized.save(path).into_diagnostic().wrap_err_with(cannot)?;
    }
    Ok(rows.iter().all(|row| row.wrong.is_none()))
}

/// Eight rows of 64 columns, four greys each.
fn bars(counts: &[u32]) -> String {
    let columns: Vec<u64> = counts
        .chunks(4)
        .map(|greys| greys.iter().map(|&count| u64::from(count)).sum())
        .collect();
    let most = columns.iter().copied().max().unwrap_or(0).max(1);
    let mut text = String::new();
    for row in (0..8).rev() {
        let cell = |&count: &u64| if 16 * count > most * (2 * row + 1) { '█' } else { ' ' };
        text.extend(columns.iter().map(cell));
        text.push('\n');
    }
    text + "0" + &" ".repeat(60) + "255\n"
}

/// Each grey replaced by the share of pixels that are not brighter.
fn equalize(picture: &GrayImage, not_brighter: &[u32]) -> GrayImage {
    let pixels = f64::from(picture.width()) * f64::from(picture.height());
    let mut equalized = picture.clone();
    for pixel in equalized.pixels_mut() {
        let share = f64::from(not_brighter[usize::from(pixel.0[0])]) / pixels;
        pixel.0[0] = (255.0 * share).round() as u8;
    }
    equalized
}
