//! A matrix, transposed seven ways: watch the bank conflicts appear and disappear.
//!
//! ```sh
//! cargo run --example transpose                                   # 1024 x 1024 on the GPU, or on the emulator
//! cargo run --release --example transpose -- --rows 1000 --cols 777 --backend emulator
//! cargo run --release --example transpose -- --input photo.jpg --output transposed.png
//! ```
//!
//! Every variant writes into a poisoned buffer and is compared with the CPU's transpose bit by bit.
//! Exit code: 0 if all are correct, 1 if one is wrong, 2 if nothing could be run.

// Nothing of an example is reachable from outside of it.
#![allow(unreachable_pub)]

mod common;
#[path = "transpose/contest.rs"]
mod contest;
#[path = "transpose/input.rs"]
mod input;
#[path = "transpose/table.rs"]
mod table;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use miette::{IntoDiagnostic, Result, WrapErr};
use tile33::transpose::{ALL, Variant};

use crate::contest::{Plan, run_all};
use crate::input::{ElementType, Matrix, with_elements};

/// Transposes a matrix in seven ways and shows what each costs.
#[derive(Debug, Parser)]
struct Args {
    /// Rows of the generated matrix
    #[arg(long, default_value_t = 1024, conflicts_with = "input")]
    rows: usize,
    /// Columns of the generated matrix
    #[arg(long, default_value_t = 1024, conflicts_with = "input")]
    cols: usize,
    /// Element type of the generated matrix
    #[arg(long, value_enum, default_value = "f32", conflicts_with = "input")]
    element: ElementType,
    /// A PNG or JPEG picture, or a .npy matrix, to transpose instead
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// Where to write what the last variant made
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Variants to run, separated by commas [default: all]
    #[arg(long, value_delimiter = ',', value_parser = variant)]
    variant: Vec<&'static Variant>,
    #[command(flatten)]
    place: common::Where,
    /// PTX of another compiler with the same kernel names and parameters, timed launch by launch beside ours
    #[arg(long, value_name = "FILE.ptx")]
    against: Option<PathBuf>,
}

fn variant(name: &str) -> Result<&'static Variant, String> {
    Variant::named(name).ok_or_else(|| {
        let names: Vec<&str> = ALL.iter().map(|variant| variant.name).collect();
        format!("there is {}", names.join(", "))
    })
}

fn main() -> ExitCode {
    common::exit(run(Args::parse()))
}

/// Whether every variant was correct.
fn run(args: Args) -> Result<bool> {
    let kernels = args.place.kernels()?;
    let matrix = match &args.input {
        Some(path) => Matrix::read(path)?,
        None => Matrix::generate(args.rows, args.cols, args.element)?,
    };
    let twin = match &args.against {
        Some(path) => {
            let text = std::fs::read_to_string(path).into_diagnostic();
            Some(text.wrap_err_with(|| format!("cannot read {}", path.display()))?)
        }
        None => None,
    };
    let plan = Plan {
        kernels: &kernels,
        rows: matrix.rows,
        cols: matrix.cols,
        variants: if args.variant.is_empty() {
            ALL.iter().collect()
        } else {
            args.variant
        },
        repetitions: args.place.repetitions,
        twin: twin.as_deref(),
    };
    let (outcome, last) = with_elements!(&matrix.elements, elements => {
        let (outcome, last) = run_all(&plan, elements)?;
        (outcome, last.into())
    });
    let correct = outcome.all_correct();
    common::print(&table::render(&plan, &outcome));
    if let Some(path) = &args.output {
        let result = matrix.result(last, plan.last().transposes);
        result.write(path)?;
    }
    Ok(correct)
}
