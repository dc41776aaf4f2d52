//! Prefix sums in four ways: what the strides of a tree cost, and how to pass over memory once.
//!
//! ```sh
//! cargo run --example scan                                     # 2^18 numbers on the GPU, or on the emulator
//! cargo run --example scan -- --input steps.npy --output path.npy
//! ```
//!
//! Exit code: 0 if all are correct, 1 if one is wrong, 2 if nothing could be run.

#[path = "common/mod.rs"]
mod common;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use miette::{IntoDiagnostic, Result};
use tile33::catalogue::data::Sample;
use tile33::catalogue::scan::steps;
use tile33::prelude::*;

/// Adds up all numbers before each, in four ways, and shows what each costs.
#[derive(Debug, Parser)]
struct Args {
    /// How many generated numbers
    #[arg(long, default_value_t = 1 << 18, conflicts_with = "input")]
    elements: usize,
    /// A .npy array to scan instead
    #[arg(long, value_name = "FILE.npy")]
    input: Option<PathBuf>,
    /// Where to write the inclusive sums
    #[arg(long, value_name = "FILE.npy")]
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
    let values = match &args.input {
        Some(path) => common::input::read_npy(path)?,
        None => f32::samples(1, args.elements),
    };
    let chosen = steps().into_iter().filter(|step| step.element == "f32");
    let rows = args.place.compare_on(&kernels, chosen, &[values.len()], &values)?;
    common::print(&format!("{} numbers of 32 bits on {device}\n\n", values.len()));
    common::print(&common::table::render(&rows, device.is_cuda()));
    if let Some(path) = &args.output {
        let mut sums = device.uninit(values.len()).into_diagnostic()?;
        let input = device.upload(&values).into_diagnostic()?;
        device.scan(&input, &mut sums, Inclusive).into_diagnostic()?;
        common::input::write_npy(path, &sums.to_vec().into_diagnostic()?)?;
    }
    Ok(rows.iter().all(|row| row.wrong.is_none()))
}
