//! `tile33 run`: a kernel of the catalogue, on the GPU or on the emulator, its result checked against the CPU's.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::ValueEnum;
use miette::{IntoDiagnostic, Result, WrapErr, miette};
use serde::Serialize;
use tile33::catalogue::{Kind, Launched, Step, step, steps};
use tile33::sim::Report;
use tile33::{Device, Kernels};

use super::output::{print, print_json};

/// Runs a kernel of the catalogue and checks its result against the CPU's; lists the kernels if none is named
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The kernel, by its entry point: transpose_padded_f32. Or the start of several: reduce, scan_work_efficient
    kernel: Option<String>,
    /// The problem's size, as the list names its numbers: 1000x777 [default: the list's]
    #[arg(long, value_parser = size)]
    size: Option<Size>,
    /// Seed of the generated input
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Where to run it
    #[arg(long, value_enum, default_value = "auto")]
    backend: Backend,
    /// Print one JSON object a kernel
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Backend {
    /// The GPU if there is one, else the emulator
    Auto,
    /// The first CUDA device
    Cuda,
    /// The CPU, counting and checking
    Emulator,
}

#[derive(Clone)]
struct Size(Vec<usize>);

fn size(text: &str) -> Result<Size, String> {
    let numbers: Result<Vec<usize>, _> = text.split('x').map(|number| number.replace('_', "").parse()).collect();
    numbers
        .map(Size)
        .map_err(|_| "a size is whole numbers with an x between them: 1000x777".to_owned())
}

/// What one kernel did.
#[derive(Serialize)]
struct Outcome {
    kernel: String,
    device: String,
    size: Vec<usize>,
    correct: bool,
    /// What differs from the CPU's result.
    difference: Option<String>,
    launches: Vec<Launch>,
}

#[derive(Serialize)]
struct Launch {
    kernel: String,
    grid: [u32; 3],
    block: [u32; 3],
    /// Static and dynamic, of a block.
    shared_bytes: u64,
    /// The GPU's own time.
    microseconds: Option<f64>,
    /// What the emulator counted and found.
    report: Option<Report>,
}

impl Outcome {
    fn is_clean(&self) -> bool {
        let clean = |launch: &Launch| launch.report.as_ref().is_none_or(Report::is_clean);
        self.correct && self.launches.iter().all(clean)
    }
}

/// Exit code 0: correct and nothing found. 1: wrong, or the emulator found something. 2: it could not be run.
pub(crate) fn run(args: Args) -> Result<ExitCode> {
    let Some(name) = &args.kernel else {
        print(&list(&steps()))?;
        return Ok(ExitCode::SUCCESS);
    };
    let chosen = choose(name)?;
    let device = match args.backend {
        Backend::Auto => Device::open(),
        Backend::Cuda => Device::cuda(0)
            .into_diagnostic()
            .wrap_err("--backend cuda needs a CUDA device")?,
        Backend::Emulator => Device::emulator(),
    };
    let kernels = Kernels::of(&device);
    let mut clean = true;
    for step in &chosen {
        let size = args.size.as_ref().map(|size| size_of(step, &size.0, &chosen));
        let size = size.as_ref().unwrap_or(&step.usual_size);
        let outcome = run_step(step, &kernels, size, args.seed)?;
        clean &= outcome.is_clean();
        if args.json {
            print_json(&outcome)?;
        } else {
            print(&text(step, &outcome))?;
        }
    }
    Ok(if clean { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// The kernel of that name, else those whose names start with it and a further word.
fn choose(name: &str) -> Result<Vec<Step>> {
    if let Some(step) = step(name) {
        return Ok(vec![step]);
    }
    let start = format!("{name}_");
    let chosen: Vec<Step> = steps()
        .into_iter()
        .filter(|step| step.entry.starts_with(&start))
        .collect();
    if chosen.is_empty() {
        return Err(miette!(
            help = "`tile33 run` lists the kernels",
            "there is no kernel `{name}` in the catalogue, nor one whose name starts with `{start}`"
        ));
    }
    Ok(chosen)
}

/// The size that `step` runs at when `given` is asked of all of `chosen`.
///
/// Where these differ in how many numbers they take (histograms of bytes, and of any number of values), each takes those it
/// has, and the list's for any further one. Otherwise the numbers must fit, which the kernel itself checks.
fn size_of(step: &Step, given: &[usize], chosen: &[Step]) -> Vec<usize> {
    let counts = || chosen.iter().map(|step| step.usual_size.len());
    if counts().min() == counts().max() || Some(given.len()) > counts().max() {
        return given.to_vec();
    }
    let further = step.usual_size.iter().skip(given.len());
    given
        .iter()
        .take(step.usual_size.len())
        .chain(further)
        .copied()
        .collect()
}

/// The kernels by problem and step, with the numbers of a size.
fn list(steps: &[Step]) -> String {
    let width = steps.iter().map(|step| step.entry.len()).max().unwrap_or(0);
    let mut text = String::new();
    let mut before = ("", "");
    let mut heading: Option<(&str, &[&str])> = None;
    for step in steps {
        if heading.replace((step.problem, step.size_names)) != Some((step.problem, step.size_names)) {
            let usual: Vec<String> = step.usual_size.iter().map(ToString::to_string).collect();
            let gap = if text.is_empty() { "" } else { "\n" };
            let _ = writeln!(
                text,
                "{gap}{}, --size {} [{}]",
                step.problem,
                step.size_names.join(" x "),
                usual.join("x")
            );
        }
        let lesson = if (step.problem, step.name) == before {
            ""
        } else {
            step.lesson
        };
        let line = format!("  {:width$}  {lesson}", step.entry);
        let _ = writeln!(text, "{}", line.trim_end());
        before = (step.problem, step.name);
    }
    text
}

fn run_step(step: &Step, kernels: &Kernels, size: &[usize], seed: u64) -> Result<Outcome> {
    let mut trial = step.prepare(kernels, size, seed).into_diagnostic()?;
    let launches = trial
        .launch()
        .into_diagnostic()
        .wrap_err_with(|| format!("{} could not be run", step.entry))?;
    let difference = trial.difference().into_diagnostic()?;
    Ok(Outcome {
        kernel: step.entry.clone(),
        device: kernels.device().to_string(),
        size: size.to_vec(),
        correct: difference.is_none(),
        difference,
        launches: launches.into_iter().map(launch).collect(),
    })
}

fn launch(launched: Launched) -> Launch {
    Launch {
        shared_bytes: launched.shared_bytes(),
        kernel: launched.run.kernel,
        grid: launched.config.grid.0,
        block: launched.config.block.0,
        microseconds: launched.run.time.map(|time| time.as_secs_f64() * 1e6),
        report: launched.run.report,
    }
}

fn text(step: &Step, outcome: &Outcome) -> String {
    let mut text = String::new();
    let size: Vec<String> = outcome.size.iter().map(ToString::to_string).collect();
    let verdict = match &outcome.difference {
        None => "correct".to_owned(),
        Some(difference) => format!("WRONG: {difference}"),
    };
    let _ = writeln!(
        text,
        "{} of {} {}: {verdict}",
        outcome.kernel,
        size.join(" x "),
        step.size_names.join(" x ")
    );
    let _ = writeln!(text, "  on {}", outcome.device);
    for launch in &outcome.launches {
        let [x, y, z] = launch.grid;
        let [bx, by, bz] = launch.block;
        let _ = write!(
            text,
            "  {}: {x} x {y} x {z} blocks of {bx} x {by} x {bz} threads, {} bytes of shared memory",
            launch.kernel, launch.shared_bytes
        );
        match launch.microseconds {
            Some(time) => {
                let _ = writeln!(text, ", {time:.1} µs");
            }
            None => text.push('\n'),
        }
        let Some(report) = &launch.report else { continue };
        for kind in Kind::ALL {
            let (requests, cost) = kind.counted(&report.counters);
            let unit = if kind.is_shared() { "wavefronts" } else { "sectors" };
            if requests > 0 {
                let each = cost as f64 / requests as f64;
                let _ = writeln!(text, "    {kind}s: {requests} requests, {cost} {unit}, {each:.2} each");
            }
        }
        let _ = writeln!(text, "    {} instructions", report.counters.instructions);
        for finding in &report.findings {
            let _ = writeln!(text, "    FOUND: {finding}");
        }
    }
    text
}
