//! Runs the variants: each checked first, then, on a GPU, timed in turns.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use miette::{IntoDiagnostic, Result, WrapErr};
use tile33::host::{compare, reference};
use tile33::kernels;
use tile33::sim::Counters;
use tile33::transpose::{Element, TransposeKernel, Variant};
use tile33::{Device, DeviceBuffer};

/// What the output holds before a kernel runs: what stays there was not written.
const POISON: u8 = 0xa5;

/// Launches before the timed ones, so that clocks and caches have settled.
const WARM_UP: u32 = 3;

/// Rows and columns of the matrix that the emulator counts on when the variants run on a GPU.
pub const COUNTED: usize = 128;

/// What to run.
pub struct Plan<'a> {
    pub device: &'a Device,
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
    pub variant: &'static Variant,
    /// What is wrong, if anything is.
    pub wrong: Option<String>,
    /// Counted by the emulator.
    pub counters: Option<Counters>,
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

    /// Bytes that a transpose has to move: every element is read once and written once.
    pub fn bytes(&self, element_bytes: usize) -> f64 {
        2.0 * self.rows as f64 * self.cols as f64 * element_bytes as f64
    }
}

/// Runs every variant, and returns besides what the last one made.
pub fn run_all<T: Element + std::fmt::Debug + Send + Sync>(plan: &Plan<'_>, input: &[T]) -> Result<(Outcome, Vec<T>)> {
    let kernels = kernels::load(plan.device).into_diagnostic()?;
    let twin = plan
        .twin
        .map(|ptx| plan.device.load(ptx))
        .transpose()
        .into_diagnostic()?;
    let mut contestants = Vec::new();
    for &variant in &plan.variants {
        let kernel = TransposeKernel::new(&kernels, variant).into_diagnostic()?;
        contestants.push((variant.name.to_owned(), variant, kernel));
        if let Some(Ok(kernel)) = twin.as_ref().map(|twin| TransposeKernel::new(twin, variant)) {
            contestants.push((format!("{}, the other compiler's", variant.name), variant, kernel));
        }
    }
    let transposed = reference::transpose(input, plan.rows, plan.cols);
    let device_input = plan.device.upload(input).into_diagnostic()?;
    let mut output = plan.device.uninit(input.len()).into_diagnostic()?;
    let bar = progress(contestants.len());
    let (mut rows, mut last) = (Vec::new(), Vec::new());
    for (name, variant, kernel) in &contestants {
        bar.set_message(name.clone());
        output.fill_bytes(POISON).into_diagnostic()?;
        let run = kernel.run(&device_input, &mut output, plan.rows, plan.cols);
        let run = run
            .into_diagnostic()
            .wrap_err_with(|| format!("{name} could not be run"))?;
        last = output.to_vec().into_diagnostic()?;
        let expected = if variant.transposes { &transposed } else { input };
        let cols = if variant.transposes { plan.rows } else { plan.cols };
        let finding = run
            .report
            .as_ref()
            .and_then(|report| report.findings.first())
            .map(ToString::to_string);
        let difference = compare::identical(&last, expected)
            .err()
            .map(|error| error.in_matrix(cols).to_string());
        rows.push(Row {
            name: name.clone(),
            variant,
            wrong: difference.or(finding),
            counters: match &run.report {
                Some(report) => Some(report.counters),
                None => Some(count::<T>(plan.device, variant)?),
            },
            time: None,
        });
        bar.inc(1);
    }
    bar.finish_and_clear();
    let memcpy = if plan.device.is_cuda() {
        let kernels: Vec<&TransposeKernel<T>> = contestants.iter().map(|(_, _, kernel)| kernel).collect();
        Some(time(plan, &kernels, &device_input, &mut output, &mut rows)?)
    } else {
        None
    };
    let outcome = Outcome {
        rows,
        memcpy,
        element_bytes: size_of::<T>(),
    };
    Ok((outcome, last))
}

fn progress(steps: usize) -> ProgressBar {
    let style =
        ProgressStyle::with_template("{spinner} {bar:30} {pos}/{len} {msg} ({elapsed})").expect("a valid template");
    let bar = ProgressBar::new(steps as u64).with_style(style);
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

/// What the emulator counts for the PTX that the GPU was given.
fn count<T: Element>(device: &Device, variant: &Variant) -> Result<Counters> {
    let ptx = kernels::best_ptx(device).into_diagnostic()?;
    let emulator = Device::emulator();
    let kernel = TransposeKernel::new(&emulator.load(ptx).into_diagnostic()?, variant).into_diagnostic()?;
    let input = emulator.zeros::<T>(COUNTED * COUNTED).into_diagnostic()?;
    let mut output = emulator.uninit(COUNTED * COUNTED).into_diagnostic()?;
    let run = kernel.run(&input, &mut output, COUNTED, COUNTED).into_diagnostic()?;
    Ok(run.report.map(|report| report.counters).unwrap_or_default())
}

/// Times all of them in turns, so that whatever else happens on the machine happens to all; returns memcpy's time.
fn time<T: Element>(
    plan: &Plan<'_>,
    kernels: &[&TransposeKernel<T>],
    input: &DeviceBuffer<T>,
    output: &mut DeviceBuffer<T>,
    rows: &mut [Row],
) -> Result<Duration> {
    let mut times = vec![Vec::new(); kernels.len()];
    let mut copies = Vec::new();
    for round in 0..WARM_UP + plan.repetitions {
        let counts = round >= WARM_UP;
        for (kernel, times) in kernels.iter().zip(&mut times) {
            let run = kernel.run(input, output, plan.rows, plan.cols).into_diagnostic()?;
            times.extend(run.time.filter(|_| counts));
        }
        let ((), copy) = plan.device.time(|| output.copy_from(input)).into_diagnostic()?;
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
