//! One access of one warp: what stride, offset and element size cost.
//!
//! ```sh
//! cargo run --example stride                                   # the well-known cases, for elements of 1 to 16 bytes
//! cargo run --example stride -- --stride 24 --offset 3
//! ```
//!
//! Each number is counted by the emulator, which runs the kernel's PTX, and compared with the bank model's. On a GPU the
//! kernels run too and their results are checked; a GPU does not count.

#[path = "common/mod.rs"]
mod common;

use std::process::ExitCode;

use clap::Parser;
use comfy_table::{ContentArrangement, Table, presets};
use miette::{IntoDiagnostic, Result};
use tile33::catalogue::stride::{Experiment, cost, steps};
use tile33::{Device, Kernels};

/// Shows what a stride costs in shared and in global memory.
#[derive(Debug, Parser)]
struct Args {
    /// Elements from a lane's to the next lane's [default: the well-known cases]
    #[arg(long)]
    stride: Option<u32>,
    /// Element of the first lane
    #[arg(long, default_value_t = 0, requires = "stride")]
    offset: u32,
    #[command(flatten)]
    place: common::Where,
}

/// Name, stride, offset.
const CASES: [(&str, u32, u32); 9] = [
    ("neighbours", 1, 0),
    ("neighbours, shifted", 1, 1),
    ("broadcast, same word", 0, 0),
    ("every other", 2, 0),
    ("every fourth", 4, 0),
    ("odd stride", 17, 0),
    ("a column of [32][32], same bank", 32, 0),
    ("a column of [32][33]", 33, 0),
    ("a column of [32][34]", 34, 0),
];

/// Element sizes of the table, in bytes.
const BYTES: [usize; 5] = [1, 2, 4, 8, 16];

fn main() -> ExitCode {
    common::exit(run(&Args::parse()))
}

fn run(args: &Args) -> Result<bool> {
    let kernels = args.place.kernels()?;
    let counting = match kernels.device().is_emulator() {
        true => kernels.clone(),
        false => Kernels::new(&Device::emulator()),
    };
    let cases = match args.stride {
        Some(stride) => vec![("as asked for", stride, args.offset)],
        None => CASES.to_vec(),
    };
    let mut right = true;
    common::print(&format!(
        "One access of one warp on {}: lane l names element offset + stride * l\n",
        kernels.device()
    ));
    for experiment in Experiment::ALL {
        let unit = if experiment.is_shared() {
            "wavefronts"
        } else {
            "sectors"
        };
        common::print(&format!(
            "\n{}: {unit} for elements of 1 to 16 bytes\n",
            experiment.kind()
        ));
        let mut table = Table::new();
        table
            .load_preset(presets::UTF8_FULL_CONDENSED)
            .set_content_arrangement(ContentArrangement::Dynamic);
        table.set_header(["", "stride", "offset", "1", "2", "4", "8", "16"]);
        for &(name, stride, offset) in &cases {
            let mut cells = vec![name.to_owned(), stride.to_string(), offset.to_string()];
            for bytes in BYTES {
                let counted = count(&kernels, &counting, experiment, bytes, stride, offset)?;
                right &= counted.as_ref().is_none_or(|counted| counted.is_right);
                cells.push(counted.map_or("-".to_owned(), |counted| counted.text));
            }
            table.add_row(cells);
        }
        common::print(&format!("{table}\n"));
    }
    common::print(
        "\n-: there is no such access (lanes that store to one element race; atomics are of 4 and 8 bytes; the array is too large).\n\
         8 and 16 bytes a lane move 256 and 512 bytes: 2 and 4 wavefronts are ideal.\n",
    );
    Ok(right)
}

struct Counted {
    text: String,
    is_right: bool,
}

/// Runs one experiment; `None` where there is none.
fn count(
    kernels: &Kernels,
    counting: &Kernels,
    experiment: Experiment,
    bytes: usize,
    stride: u32,
    offset: u32,
) -> Result<Option<Counted>> {
    let name = experiment.name();
    let step = steps()
        .into_iter()
        .find(|step| step.name == name && step.entry.ends_with(element(bytes)));
    let size = [stride as usize, offset as usize];
    let Some(mut trial) = step.as_ref().and_then(|step| step.prepare(counting, &size, 1).ok()) else {
        return Ok(None);
    };
    let launches = trial.launch().into_diagnostic()?;
    let (_, all) = launches[0]
        .counters()
        .map_or((0, 0), |counters| experiment.kind().counted(counters));
    let counted = all - tile33::catalogue::stride::other_cost(experiment, bytes, stride, offset);
    let expected = cost(experiment, bytes, stride, offset);
    let mut is_right = counted == expected && trial.difference().into_diagnostic()?.is_none();
    if let (true, Some(step)) = (kernels.device().is_cuda(), &step) {
        let mut trial = step.prepare(kernels, &size, 1).into_diagnostic()?;
        trial.launch().into_diagnostic()?;
        is_right &= trial.difference().into_diagnostic()?.is_none();
    }
    let text = if is_right {
        counted.to_string()
    } else {
        format!("{counted}, not {expected}")
    };
    Ok(Some(Counted { text, is_right }))
}

/// How the name of an entry point ends.
fn element(bytes: usize) -> &'static str {
    match bytes {
        1 => "_u8",
        2 => "_u16",
        4 => "_u32",
        8 => "_u64",
        _ => "_u128",
    }
}
