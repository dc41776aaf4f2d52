//! Four arrays of four types in one block of shared memory: where they lie, and how long the row can be that they hold.
//!
//! ```sh
//! cargo run --example carve_out                                # 64 rows of 12001 numbers with gaps
//! cargo run --example carve_out -- --rows 4 --columns 45876    # more than a block of an H200 has room for
//! cargo run --example carve_out -- --input measurements.npy    # its NaNs are the gaps
//! ```
//!
//! From each row the mean of its valid numbers is taken off them. Exit code: 0 if all are correct, 1 if one is wrong, 2 if
//! nothing could be run.

#[path = "common/mod.rs"]
mod common;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use comfy_table::{ContentArrangement, Table, presets};
use kernels_gpu::carve_out::{Plan, plan};
use miette::{IntoDiagnostic, Result, miette};
use tile33::catalogue::CatalogueError;
use tile33::catalogue::carve_out::steps;
use tile33::host::{Error, SHARED_WITHOUT_OPT_IN};

/// Centres rows of numbers with gaps, and shows how shared memory is divided for it.
#[derive(Debug, Parser)]
struct Args {
    /// Rows of the generated numbers
    #[arg(long, default_value_t = 64, conflicts_with = "input")]
    rows: usize,
    /// Numbers of each row
    #[arg(long, default_value_t = 12_001, conflicts_with = "input")]
    columns: usize,
    /// A .npy array instead, its last axis the rows' numbers; NaN is a gap
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
    let (values, rows, columns) = match &args.input {
        Some(path) => {
            let array = common::input::read_array(path)?.in_c_order(path)?;
            let values: Vec<f32> = array.elements.iter().map(|&element| element as f32).collect();
            let columns = array.shape.last().copied().unwrap_or(values.len()).max(1);
            let rows = values.len() / columns;
            (Some(values), rows, columns)
        }
        None => (None, args.rows, args.columns),
    };
    let counted = u32::try_from(columns).map_err(|_| {
        miette!(
            help = "rows of up to 2^32 - 1 numbers are counted",
            "a row of {columns} numbers"
        )
    })?;
    let available = device.limits().shared_per_block;
    common::print(&format!("{rows} x {columns} numbers on {device}\n\n"));
    common::print(&layout(&plan(counted), columns, available));

    let (mut contestants, mut refused) = (Vec::new(), None);
    for step in steps() {
        let size = [rows, columns];
        let prepared = match &values {
            Some(values) => step.prepare_with(&kernels, &size, values.clone()),
            None => step.prepare(&kernels, &size, 1),
        };
        let mut trial = prepared.into_diagnostic()?;
        match trial.launch() {
            Err(CatalogueError::Device(error @ Error::SharedMemory { .. })) => refused = Some(error),
            other => {
                other.into_diagnostic()?;
                contestants.push((step, trial));
            }
        }
    }
    let rows = args.place.compare(&kernels, contestants)?;
    common::print(&format!("\n{}", common::table::render(&rows, device.is_cuda())));
    if let Some(error) = refused {
        common::print(&format!(
            "\n{error}.\nThe call `device.centre(..)` streams such rows.\n"
        ));
    }
    Ok(rows.iter().all(|row| row.wrong.is_none()))
}

/// The plan as a table, and what it comes to.
fn layout(plan: &Plan, columns: usize, available: u64) -> String {
    let mut table = Table::new();
    table
        .load_preset(presets::UTF8_FULL_CONDENSED)
        .set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(["array", "type", "first byte", "bytes", "gap before"]);
    let mut end = 0;
    let parts = [
        ("each thread's sum", "f64", plan.sums.offset(), plan.sums.bytes()),
        ("which numbers are valid", "u8", plan.valid.offset(), plan.valid.bytes()),
        ("each thread's count", "u32", plan.counts.offset(), plan.counts.bytes()),
        ("the row", "f32", plan.values.offset(), plan.values.bytes()),
    ];
    for (name, ty, offset, bytes) in parts {
        table.add_row([
            name.to_owned(),
            ty.to_owned(),
            offset.to_string(),
            bytes.to_string(),
            (offset - end).to_string(),
        ]);
        end = offset + bytes;
    }
    let bytes = u64::from(plan.memory.bytes());
    let verdict = if bytes > available {
        format!("more than the {available} that a block of this device can have")
    } else if bytes > SHARED_WITHOUT_OPT_IN {
        format!(
            "more than {SHARED_WITHOUT_OPT_IN}, so the launch opts in to it; a block of this device can have {available}"
        )
    } else {
        format!("no more than the {SHARED_WITHOUT_OPT_IN} that every launch can have")
    };
    format!("One block's shared memory for a row of {columns}:\n{table}\n{bytes} bytes: {verdict}.\n")
}
