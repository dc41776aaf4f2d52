//! A sum, added up in five ways: from pairs that conflict to 16 bytes a load.
//!
//! ```sh
//! cargo run --example reduce                                   # 2^20 numbers on the GPU, or on the emulator
//! cargo run --example reduce -- --elements 1000003 --backend emulator
//! cargo run --example reduce -- --input weights.npy
//! ```
//!
//! Every result is compared with the CPU's, which has about twice the precision of `f64`, within the bound that the
//! order of additions allows. Exit code: 0 if all are correct, 1 if one is wrong, 2 if nothing could be run.

#[path = "common/mod.rs"]
mod common;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use miette::{IntoDiagnostic, Result};
use tile33::catalogue::data::Sample;
use tile33::catalogue::reduce::steps;
use tile33::prelude::*;

/// Adds numbers up in five ways and shows what each costs.
#[derive(Debug, Parser)]
struct Args {
    /// How many generated numbers
    #[arg(long, default_value_t = 1 << 20, conflicts_with = "input")]
    elements: usize,
    /// A .npy array whose elements are added up instead
    #[arg(long, value_name = "FILE.npy")]
    input: Option<PathBuf>,
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
    let named = [
        "interleaved",
        "sequential",
        "warp_shuffle",
        "grid_stride_atomic",
        "sum",
        "compensated_sum",
    ];
    let chosen = steps()
        .into_iter()
        .filter(|step| step.element == "f32" && named.contains(&step.name));
    let rows = args.place.compare_on(&kernels, chosen, &[values.len()], &values)?;
    common::print(&format!("{} numbers of 32 bits on {device}\n\n", values.len()));
    common::print(&common::table::render(&rows, device.is_cuda()));

    let buffer = device.upload(&values).into_diagnostic()?;
    let sum = device.reduce(&buffer, Sum).into_diagnostic()?;
    let exact = device.reduce(&buffer, CompensatedSum).into_diagnostic()?;
    let least = device.reduce(&buffer, ArgMin).into_diagnostic()?;
    let most = device.reduce(&buffer, ArgMax).into_diagnostic()?;
    let place = |found: Option<(usize, f32)>| match found {
        Some((index, value)) => format!("{value} at {index}"),
        None => "nowhere: there is no number".to_owned(),
    };
    common::print(&format!(
        "\nsum {sum}, with the rounding errors {exact}; smallest {}, largest {}\n",
        place(least),
        place(most)
    ));
    Ok(rows.iter().all(|row| row.wrong.is_none()))
}
