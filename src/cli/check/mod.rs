//! `tile33 check`.

mod finding;
mod sources;
mod tables;

use std::path::PathBuf;
use std::process::ExitCode;

use miette::{Diagnostic, NamedSource, Result, SourceSpan, miette};
use tile33::launch_file::LaunchFile;
use tile33_sim::{Checks, Launch, LaunchError, Report};

use super::output;
use sources::Sources;

/// Run a kernel's launch on the emulator: bank conflicts, races, uninitialised reads, accesses out of bounds
///
/// The launch file is TOML: `ptx`, `entry`, `grid`, `block`, `shared_bytes`, one `[[arg]]` for each parameter with a
/// `buffer` or a `value`, and `[dump]` for results as .npy files.
///
/// Exit code: 0 nothing was found, 1 something was, 2 the launch cannot run.
#[derive(clap::Args)]
#[command(after_help = "Example of a launch file:
  ptx = \"reverse.ptx\"            # relative to this file
  entry = \"reverse\"
  grid = [1, 1, 1]
  block = [64, 1, 1]
  shared_bytes = 256             # dynamic shared memory, bytes per block
  [[arg]]
  buffer = { type = \"f32\", len = 64, init = \"iota\" }   # zeros | ones | iota | uninit | random:SEED | FILE.npy
  [[arg]]
  value = { type = \"u32\", value = 64 }
  [dump]
  0 = \"out.npy\"                  # argument 0 after the launch

Besides: an argument as `bytes = \"00 01 ff\"`, a structure passed by value; before the first [[arg]]
  card = \"sm_90\"                # whose limits hold
  registers = 64                 # a thread, if known: they limit block and occupancy
  max_steps = 1000000            # warp instructions of one block before it counts as endless
  cooperative = true             # the grid may wait for itself: all blocks are resident
and, for each array that the kernel carves from dynamic shared memory,
  [[shared]]
  name = \"tile\"
  offset = 0
  bytes = 256")]
pub(crate) struct Args {
    /// The launch file
    #[arg(value_name = "LAUNCH.toml")]
    launch: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Print the steps of one warp: the block's linear index and the warp in it
    #[arg(long, value_name = "BLOCK,WARP", num_args = 0..=1, require_equals = true, default_missing_value = "0,0", value_parser = parse_trace)]
    trace: Option<(u64, u32)>,
    /// What to check besides bounds, alignment and barriers
    #[arg(long, value_name = "CHECKS", default_value = "all", value_parser = parse_checks)]
    checks: Checks,
    /// Do not count wavefronts and sectors
    #[arg(long)]
    no_counters: bool,
    /// Threads of this machine [default: all cores]; the results do not depend on it
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..=4096))]
    threads: Option<u64>,
}

fn parse_trace(text: &str) -> Result<(u64, u32), String> {
    let (block, warp) = text.split_once(',').ok_or("expected two numbers, such as 0,0")?;
    let wrong = |_| format!("`{text}` is not the index of a block and of a warp in it, such as 0,0");
    Ok((
        block.trim().parse().map_err(wrong)?,
        warp.trim().parse().map_err(wrong)?,
    ))
}

fn parse_checks(name: &str) -> Result<Checks, String> {
    match name {
        "all" => Ok(Checks::ALL),
        "none" => Ok(Checks::NONE),
        "races" => Ok(Checks {
            races: true,
            ..Checks::NONE
        }),
        "uninitialized" => Ok(Checks {
            uninitialized: true,
            ..Checks::NONE
        }),
        _ => Err("possible are all, none, races, uninitialized".into()),
    }
}

pub(crate) fn run(args: Args) -> Result<ExitCode> {
    let file = LaunchFile::read(&args.launch)?;
    let mut prepared = file.prepare()?;
    let options = &mut prepared.launch.options;
    options.checks = args.checks;
    options.counters = !args.no_counters;
    options.threads = args.threads.map(|threads| threads as usize);
    options.trace = args.trace;
    if let Some((block, warp)) = args.trace {
        traceable(&prepared.launch, block, warp)?;
    }
    let report = prepared.run(file.program()).map_err(|error| match file.blame(&error) {
        Some(place) => miette::Report::from(place),
        None => Failed::new(&file, error).into(),
    })?;
    prepared.dump()?;
    if args.json {
        output::print_json(&report)?;
    } else {
        let sources = Sources::new(&file, &args.launch);
        output::print(&text(&report, &sources))?;
    }
    let code = ExitCode::from(u8::from(!report.is_clean()));
    // The process ends here; giving back a large module piece by piece would take longer than most launches.
    std::mem::forget((file, prepared, report));
    Ok(code)
}

/// Whether the launch has such a warp.
fn traceable(launch: &Launch, block: u64, warp: u32) -> Result<()> {
    let blocks = launch.grid.iter().fold(1u64, |n, d| n.saturating_mul(u64::from(*d)));
    let warps = launch
        .block
        .iter()
        .fold(1u64, |n, d| n.saturating_mul(u64::from(*d)))
        .div_ceil(32);
    if block < blocks && u64::from(warp) < warps {
        return Ok(());
    }
    Err(miette!(
        "--trace={block},{warp}: the launch has {blocks} blocks of {warps} warps, counted from 0"
    ))
}

/// The report for a terminal.
fn text(report: &Report, sources: &Sources<'_>) -> String {
    let mut text = String::new();
    if !report.output.is_empty() {
        text.push_str(&String::from_utf8_lossy(&report.output));
        if !report.output.ends_with(b"\n") {
            text.push('\n');
        }
        text.push('\n');
    }
    text.push_str(&tables::trace(report));
    for found in &report.findings {
        text.push_str(&finding::text(found, sources));
        text.push_str("\n\n");
    }
    text.push_str(&tables::text(report, sources));
    text.push_str(&match report.findings.len() {
        0 => format!("\n{}: nothing found\n", report.entry),
        1 => format!("\n{}: 1 finding\n", report.entry),
        n => format!("\n{}: {n} findings\n", report.entry),
    });
    text
}

/// A launch that did not run to its end, with the PTX line where it stopped.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("cannot run `{entry}`: {error}")]
struct Failed {
    entry: String,
    error: LaunchError,
    #[source_code]
    ptx: NamedSource<String>,
    #[label("here")]
    span: Option<SourceSpan>,
}

impl Failed {
    fn new(file: &LaunchFile, error: LaunchError) -> Self {
        let line = match &error {
            LaunchError::Unsupported { line, .. }
            | LaunchError::StepLimit { line, .. }
            | LaunchError::Fault { line, .. } => Some(*line),
            _ => None,
        };
        let span = line
            .and_then(|line| sources::line_span(file.ptx(), line))
            .map(SourceSpan::from);
        let ptx = NamedSource::new(file.ptx_path().display().to_string(), file.ptx().to_owned());
        Self {
            entry: file.entry().into(),
            error,
            ptx,
            span,
        }
    }
}
