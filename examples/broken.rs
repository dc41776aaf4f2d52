//! The mistakes that people make with shared memory, and what the emulator says about each. A GPU says nothing: it gives a
//! wrong result, or the right one until the next driver.
//!
//! ```sh
//! cargo run --example broken              # all of them
//! cargo run --example broken -- tile_loop # one, with the lines of its source
//! ```
//!
//! The kernels are in `kernels-gpu/src/broken`, each beside its cure. They are in no PTX that a program embeds: this example
//! has the one that tests use. Exit code: 0 if every mistake was found and no cure has one, 1 if not, 2 if nothing could be
//! run.

// Nothing of an example is reachable from outside of it.
#![allow(unreachable_pub)]

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use miette::{IntoDiagnostic, Result, miette};
use tile33::sim::{Emulator, Finding, Launch, Report, Site};

const PTX: &str = include_str!("../crates/sim/tests/ptx/broken.sm_75.ptx");

/// Runs kernels with a mistake on the emulator, and their cures.
#[derive(Debug, Parser)]
struct Args {
    /// The kernel whose mistake is shown with its source [default: all, briefly]
    kernel: Option<String>,
}

/// A mistake, and how to make it.
struct Mistake {
    kernel: &'static str,
    cure: &'static str,
    what: &'static str,
    grid: [u32; 2],
    block: [u32; 2],
    /// Bytes of dynamic shared memory: where it is the mistake, and for the cure.
    dynamic: [u32; 2],
    /// Elements of the input and of the output.
    elements: [usize; 2],
    /// Further arguments.
    numbers: &'static [u32],
}

/// A block without dynamic shared memory.
const BLOCK: Mistake = Mistake {
    kernel: "",
    cure: "",
    what: "",
    grid: [1, 1],
    block: [64, 1],
    dynamic: [0, 0],
    elements: [64, 64],
    numbers: &[],
};

const MISTAKES: [Mistake; 10] = [
    Mistake {
        kernel: "edge_tile",
        cure: "edge_tile_repaired",
        what: "at a partial tile the store is guarded, the load is not",
        grid: [3, 2],
        block: [16, 16],
        elements: [21 * 37, 21 * 37],
        numbers: &[21, 37],
        ..BLOCK
    },
    Mistake {
        kernel: "reverse",
        cure: "reverse",
        what: "launched with the number of elements where bytes are asked for",
        block: [256, 1],
        dynamic: [256, 1024],
        elements: [256, 256],
        ..BLOCK
    },
    Mistake {
        kernel: "carve",
        cure: "carve_repaired",
        what: "arrays of f64, u8 and f32 one behind the other, the second of odd length",
        block: [37, 1],
        dynamic: [13 * 37 + 16, 13 * 37 + 16],
        elements: [37, 37],
        ..BLOCK
    },
    Mistake {
        kernel: "tile_loop",
        cure: "tile_loop_repaired",
        what: "a loop over tiles with one barrier a round",
        elements: [5 * 64, 64],
        numbers: &[5],
        ..BLOCK
    },
    Mistake {
        kernel: "early_return",
        cure: "early_return_repaired",
        what: "threads without an element return before the barrier",
        elements: [40, 40],
        numbers: &[40],
        ..BLOCK
    },
    Mistake {
        kernel: "warp_sum",
        cure: "warp_sum_repaired",
        what: "the lanes of a warp are taken to step together",
        block: [32, 1],
        elements: [32, 1],
        ..BLOCK
    },
    Mistake {
        kernel: "tail",
        cure: "tail_repaired",
        what: "the sum of a partial block reads what nobody wrote",
        elements: [50, 1],
        numbers: &[50],
        ..BLOCK
    },
    Mistake {
        kernel: "stencil_origin",
        cure: "stencil",
        what: "tiles advance by tile and halo: some pixels are never written",
        grid: [3, 3],
        block: [16, 16],
        elements: [40 * 40, 40 * 40],
        numbers: &[40, 40],
        ..BLOCK
    },
    Mistake {
        kernel: "stencil_halo",
        cure: "stencil",
        what: "the right column of the halo is not loaded",
        grid: [3, 3],
        block: [16, 16],
        elements: [40 * 40, 40 * 40],
        numbers: &[40, 40],
        ..BLOCK
    },
    Mistake {
        kernel: "pairs",
        cure: "pairs_repaired",
        what: "rows of odd length read two elements at a time",
        block: [32, 1],
        elements: [20 * 7, 20],
        numbers: &[20, 7],
        ..BLOCK
    },
];

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(report) => {
            eprintln!("{report:?}");
            ExitCode::from(2)
        }
    }
}

fn run(args: &Args) -> Result<bool> {
    let chosen = |mistake: &&Mistake| args.kernel.as_ref().is_none_or(|kernel| kernel == mistake.kernel);
    let mistakes: Vec<&Mistake> = MISTAKES.iter().filter(chosen).collect();
    if mistakes.is_empty() {
        let names: Vec<&str> = MISTAKES.iter().map(|mistake| mistake.kernel).collect();
        return Err(miette!(
            help = format!("there is {}", names.join(", ")),
            "no such kernel"
        ));
    }
    let mut all_as_told = true;
    for mistake in mistakes {
        let [dynamic, dynamic_of_cure] = mistake.dynamic;
        let (broken, wrong) = launch(mistake, mistake.kernel, dynamic)?;
        let (cured, right) = launch(mistake, mistake.cure, dynamic_of_cure)?;
        let mut text = format!("{}: {}\n", mistake.kernel, mistake.what);
        match broken.findings.first() {
            Some(finding) if args.kernel.is_some() => text.push_str(&in_full(finding)),
            Some(finding) => text.push_str(&format!("  found   {finding}\n")),
            None => {
                let differ = wrong.iter().zip(&right).filter(|(a, b)| a != b).count();
                text.push_str(&format!("  found   nothing, but {differ} results are wrong\n"));
            }
        }
        let verdict = match cured.findings.first() {
            None => "nothing found".to_owned(),
            Some(finding) => finding.to_string(),
        };
        text.push_str(&format!("  cured   {}: {verdict}\n\n", mistake.cure));
        all_as_told &= (!broken.is_clean() || wrong != right) && cured.is_clean();
        // Nobody to tell if the reader has gone.
        let _ = std::io::stdout().write_all(text.as_bytes());
    }
    Ok(all_as_told)
}

/// Runs a kernel; what the emulator tells, and what the kernel wrote.
fn launch(mistake: &Mistake, kernel: &str, dynamic: u32) -> Result<(Report, Vec<f32>)> {
    let mut emulator = Emulator::load(PTX).into_diagnostic()?;
    let [input, output] = mistake.elements;
    let input: Vec<f32> = (0..input).map(|i| (i % 11) as f32).collect();
    let x = emulator.buffer(&input).into_diagnostic()?;
    let y = emulator.buffer(&vec![-1.0f32; output]).into_diagnostic()?;
    let ([gx, gy], [bx, by]) = (mistake.grid, mistake.block);
    let mut launch = Launch::new(&format!("broken_{kernel}"), [gx, gy, 1], [bx, by, 1])
        .arg(x)
        .arg(y)
        .dynamic_shared(dynamic);
    for &number in mistake.numbers {
        launch = launch.arg(number);
    }
    let report = emulator.launch(&launch).into_diagnostic()?;
    Ok((report, emulator.read(y).into_diagnostic()?))
}

/// A finding with both of its places and what to do about it.
fn in_full(finding: &Finding) -> String {
    let mut text = format!("  found   {}: {}\n", finding.kind, finding.message);
    for site in std::iter::once(&finding.site).chain(&finding.other) {
        text.push_str(&place(site));
    }
    text + &format!("  advice  {}\n", finding.help)
}

/// The line of a site, from the source if it is here, as in a checkout.
fn place(site: &Site) -> String {
    let Some(source) = &site.source else {
        return format!("  at      line {} of the PTX: {}\n", site.line, site.instruction);
    };
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&source.file)).ok();
    let line = text.and_then(|text| Some(text.lines().nth(source.line as usize - 1)?.trim().to_owned()));
    format!(
        "  at      {source}: {}\n",
        line.unwrap_or_else(|| site.instruction.clone())
    )
}
