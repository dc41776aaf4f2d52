//! Runs the variants: each checked first, then, on a GPU, timed in turns.

use std::fmt::Debug;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use miette::{IntoDiagnostic, Result, WrapErr};
use tile33::catalogue::data::POISON;
use tile33::catalogue::step;
use tile33::host::{Module, compare, reference};
use tile33::layout::occupancy::Card;
use tile33::sim::Counters;
use tile33::transpose::{Element, TransposeKernel, Variant};
use tile33::{Device, DeviceBuffer, Error, Kernels};

use crate::common::WARM_UP;
use crate::common::table::CARD;

/// Rows and columns of the matrix that costs are counted on where the matrix itself is not on the emulator, or has tiles that
/// are not whole: there some lanes of a warp idle, and its access costs less.
pub const COUNTED: usize = 128;

/// What to run.
pub struct Plan<'a> {
    pub kernels: &'a Kernels,
    pub rows: usize,
    pub cols: usize,
    pub variants: Vec<&'static Variant>,
    pub repetitions: u32,
    /// PTX of another compiler.
    pub twin: Option<&'a str>,
}

/// What one variant did.
pub struct Row {
    pub name: String,
    /// What it teaches.
    pub lesson: &'static str,
    /// What is wrong, if anything is.
    pub wrong: Option<String>,
    /// Bytes of shared memory of a block.
    pub shared_bytes: u64,
    /// Warps that a multiprocessor of the card [`CARD`] holds.
    pub warps: Option<u32>,
    /// Counts of shared memory, by full warps.
    pub shared: Counters,
    /// Counts of global memory and of instructions.
    pub global: Counters,
    /// Median of the GPU's times.
    pub time: Option<Duration>,
}

/// What they did.
pub struct Outcome {
    pub rows: Vec<Row>,
    /// Median time of a copy by the driver, on a GPU.
    pub memcpy: Option<Duration>,
    /// Bytes of an element.
    pub element_bytes: usize,
    /// Whether every variant's tiles were whole.
    pub whole: bool,
}

impl Outcome {
    pub fn all_correct(&self) -> bool {
        self.rows.iter().all(|row| row.wrong.is_none())
    }
}

impl Plan<'_> {
    pub fn last(&self) -> &'static Variant {
        self.variants[self.variants.len() - 1]
    }

    /// Whether every tile is whole, and so every warp full.
    pub fn is_whole<T: Element>(&self, variant: &Variant) -> bool {
        let side = variant.side(T::KERNEL) as usize;
        self.rows.is_multiple_of(side) && self.cols.is_multiple_of(side)
    }

    pub fn device(&self) -> &Device {
        self.kernels.device()
    }

    /// Bytes that a transpose has to move: every element is read once and written once.
    pub fn bytes(&self, element_bytes: usize) -> f64 {
        2.0 * self.rows as f64 * self.cols as f64 * element_bytes as f64
    }
}

/// A kernel that takes part.
struct Contestant<T> {
    name: String,
    variant: &'static Variant,
    kernel: TransposeKernel<T>,
    /// The same kernel on the emulator, where the other is on a GPU, which does not count.
    counting: Option<TransposeKernel<T>>,
}

/// The kernels of our PTX, each followed by that of the other compiler's if it has one.
fn contestants<T: Element>(plan: &Plan<'_>) -> Result<Vec<Contestant<T>>> {
    let emulator = plan.device().is_cuda().then(Device::emulator);
    let load = |ptx| -> Result<(Module, Option<Module>), Error> {
        let counting = emulator.as_ref().map(|emulator| emulator.load(ptx)).transpose()?;
        Ok((plan.device().load(ptx)?, counting))
    };
    let ours_counting = emulator.as_ref().map(Kernels::new);
    let twin = plan.twin.map(load).transpose().into_diagnostic()?;
    let mut contestants = Vec::new();
    for &variant in &plan.variants {
        let find = |module: &Module| TransposeKernel::new(module, variant);
        contestants.push(Contestant {
            name: variant.name.to_owned(),
            variant,
            kernel: TransposeKernel::of(plan.kernels, variant).into_diagnostic()?,
            counting: ours_counting
                .as_ref()
                .map(|kernels| TransposeKernel::of(kernels, variant))
                .transpose()
                .into_diagnostic()?,
        });
        let Some((twin, twin_counting)) = &twin else { continue };
        if let Ok(kernel) = find(twin) {
            contestants.push(Contestant {
                name: format!("{}, other compiler", variant.name),
                variant,
                kernel,
                counting: twin_counting.as_ref().map(find).transpose().into_diagnostic()?,
            });
        }
    }
    Ok(contestants)
}

/// Runs every variant, and returns besides what the last one made.
pub fn run_all<T: Element + Debug + Send + Sync>(plan: &Plan<'_>, input: &[T]) -> Result<(Outcome, Vec<T>)> {
    let contestants = contestants(plan)?;
    let transposed = reference::transpose(input, plan.rows, plan.cols);
    let device_input = plan.device().upload(input).into_diagnostic()?;
    let mut output = plan.device().uninit(input.len()).into_diagnostic()?;
    let bar = progress(contestants.len());
    let (mut rows, mut last) = (Vec::new(), Vec::new());
    for contestant in &contestants {
        let Contestant {
            name, variant, kernel, ..
        } = contestant;
        bar.set_message(name.clone());
        output.fill_bytes(POISON).into_diagnostic()?;
        let run = kernel.run(&device_input, &mut output, plan.rows, plan.cols);
        let run = run
            .into_diagnostic()
            .wrap_err_with(|| format!("{name} could not be run"))?;
        last = output.to_vec().into_diagnostic()?;
        let (expected, cols) = if variant.transposes {
            (&*transposed, plan.rows)
        } else {
            (input, plan.cols)
        };
        let difference = compare::identical(&last, expected).map_err(|error| error.in_matrix(cols).to_string());
        let finding = run.report.as_ref().and_then(|report| report.findings.first());
        let (shared, global) = match &run.report {
            Some(report) if plan.is_whole::<T>(variant) => (report.counters, report.counters),
            Some(report) => (count(contestant)?, report.counters),
            None => {
                let counters = count(contestant)?;
                (counters, counters)
            }
        };
        rows.push(Row {
            name: name.clone(),
            lesson: step(variant.entry(T::KERNEL)).map_or("", |step| step.lesson),
            wrong: difference.err().or(finding.map(ToString::to_string)),
            shared_bytes: kernel.shared_bytes(),
            warps: Card::find(CARD).map(|card| kernel.occupancy(card).warps),
            shared,
            global,
            time: None,
        });
        bar.inc(1);
    }
    bar.finish_and_clear();
    let memcpy = match plan.device().is_cuda() {
        true => Some(time(plan, &contestants, &device_input, &mut output, &mut rows)?),
        false => None,
    };
    Ok((
        Outcome {
            rows,
            memcpy,
            element_bytes: size_of::<T>(),
            whole: plan.variants.iter().all(|variant| plan.is_whole::<T>(variant)),
        },
        last,
    ))
}

fn progress(steps: usize) -> ProgressBar {
    let style =
        ProgressStyle::with_template("{spinner} {bar:30} {pos}/{len} {msg} ({elapsed})").expect("a valid template");
    let bar = ProgressBar::new(steps as u64).with_style(style);
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

/// What the emulator counts on a small matrix of whole tiles.
fn count<T: Element>(contestant: &Contestant<T>) -> Result<Counters> {
    let kernel = contestant.counting.as_ref().unwrap_or(&contestant.kernel);
    let emulator = kernel.device();
    let input = emulator.zeros::<T>(COUNTED * COUNTED).into_diagnostic()?;
    let mut output = emulator.uninit(COUNTED * COUNTED).into_diagnostic()?;
    let run = kernel.run(&input, &mut output, COUNTED, COUNTED).into_diagnostic()?;
    Ok(run.report.map(|report| report.counters).unwrap_or_default())
}

/// Times all of them in turns, so that whatever else happens on the machine happens to all; returns memcpy's time.
fn time<T: Element>(
    plan: &Plan<'_>,
    contestants: &[Contestant<T>],
    input: &DeviceBuffer<T>,
    output: &mut DeviceBuffer<T>,
    rows: &mut [Row],
) -> Result<Duration> {
    let mut times = vec![Vec::new(); contestants.len()];
    let mut copies = Vec::new();
    for round in 0..WARM_UP + plan.repetitions {
        let counts = round >= WARM_UP;
        for (contestant, times) in contestants.iter().zip(&mut times) {
            let run = contestant
                .kernel
                .run(input, output, plan.rows, plan.cols)
                .into_diagnostic()?;
            times.extend(run.time.filter(|_| counts));
        }
        let ((), copy) = plan.device().time(|| output.copy_from(input)).into_diagnostic()?;
        copies.extend(copy.filter(|_| counts));
    }
    for (row, times) in rows.iter_mut().zip(&mut times) {
        row.time = Some(median(times));
    }
    Ok(median(&mut copies))
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
