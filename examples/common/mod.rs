//! What the examples of the catalogue share: where to run, running steps beside each other, the table.

// Each example is a program of its own and uses its part of this.
#![allow(dead_code, unreachable_pub)]

pub mod input;
pub mod table;

use std::time::Duration;

use clap::ValueEnum;
use miette::{IntoDiagnostic, Result, WrapErr};
use tile33::catalogue::{CatalogueError, Kind, Launched, Step, Trial};
use tile33::{Device, Kernels};

/// Launches before the timed ones, so that clocks and caches have settled.
pub const WARM_UP: u32 = 3;

/// Where to run, and how often.
#[derive(Debug, clap::Args)]
pub struct Where {
    /// Where to run them
    #[arg(long, value_enum, default_value = "auto")]
    backend: Backend,
    /// Timed launches of each step on a GPU, of which the median counts
    #[arg(long, default_value_t = 21, value_parser = clap::value_parser!(u32).range(1..))]
    pub repetitions: u32,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Backend {
    /// The GPU if there is one, else the emulator
    Auto,
    /// The first CUDA device
    Cuda,
    /// The CPU, counting and checking
    Emulator,
}

impl Where {
    /// The kernels, loaded on the device.
    pub fn kernels(&self) -> Result<Kernels> {
        let device = match self.backend {
            Backend::Auto => Device::open(),
            Backend::Cuda => Device::cuda(0)
                .into_diagnostic()
                .wrap_err("--backend cuda needs a CUDA device")?,
            Backend::Emulator => Device::emulator(),
        };
        Ok(Kernels::new(&device))
    }

    /// Runs steps side by side on the same input, of this size.
    pub fn compare_on<T: Clone + 'static>(
        &self,
        kernels: &Kernels,
        steps: impl Iterator<Item = Step>,
        size: &[usize],
        values: &[T],
    ) -> Result<Vec<Row>> {
        let prepared = steps.map(|step| {
            let trial = step.prepare_with(kernels, size, values.to_vec())?;
            Ok((step, trial))
        });
        let contestants = prepared.collect::<Result<Vec<_>, CatalogueError>>();
        self.compare(kernels, contestants.into_diagnostic()?)
    }

    /// Runs steps side by side: each is checked, then, on a GPU, all are timed in turns.
    pub fn compare(&self, kernels: &Kernels, contestants: Vec<(Step, Box<dyn Trial>)>) -> Result<Vec<Row>> {
        let counting = kernels.device().is_cuda().then(|| Kernels::new(&Device::emulator()));
        let (mut rows, mut trials) = (Vec::new(), Vec::new());
        for (step, mut trial) in contestants {
            let could_not = || format!("{} could not be run", step.entry);
            let launches = trial.launch().into_diagnostic().wrap_err_with(could_not)?;
            let difference = trial.difference().into_diagnostic()?;
            let found = launches.iter().find_map(Launched::finding);
            let counted = match &counting {
                None => costs(&launches[0]),
                Some(emulator) => {
                    // A GPU does not count: the emulator does, on the input that the step's claims are about.
                    let claimed = step.claims.first().map(|claim| claim.prepare(emulator)).transpose();
                    let launches = claimed.into_diagnostic()?.map(|mut trial| trial.launch()).transpose();
                    launches
                        .into_diagnostic()?
                        .and_then(|launches| costs(launches.first()?))
                }
            };
            rows.push(Row {
                wrong: difference.or(found),
                counted: counted.unwrap_or_default(),
                bytes: trial.bytes(),
                launches,
                time: None,
                step,
            });
            trials.push(trial);
        }
        if kernels.device().is_cuda() {
            self.time(&mut trials, &mut rows)?;
        }
        Ok(rows)
    }

    /// Times all of them in turns, so that whatever else happens on the machine happens to all.
    fn time(&self, trials: &mut [Box<dyn Trial>], rows: &mut [Row]) -> Result<()> {
        let mut times = vec![Vec::new(); trials.len()];
        for round in 0..WARM_UP + self.repetitions {
            for (trial, times) in trials.iter_mut().zip(&mut times) {
                let launches = trial.launch().into_diagnostic()?;
                let time: Option<Duration> = launches.iter().map(|launched| launched.run.time).sum();
                times.extend(time.filter(|_| round >= WARM_UP));
            }
        }
        for (row, times) in rows.iter_mut().zip(&mut times) {
            times.sort_unstable();
            row.time = times.get(times.len() / 2).copied();
        }
        Ok(())
    }
}

/// What one step did.
pub struct Row {
    pub step: Step,
    /// What is wrong, if anything is.
    pub wrong: Option<String>,
    /// The launches that were checked.
    pub launches: Vec<Launched>,
    /// Requests and cost of each kind in the first launch.
    pub counted: [(u64, u64); 6],
    /// Bytes that any solution has to move.
    pub bytes: u64,
    /// Median of the GPU's times, of all launches together.
    pub time: Option<Duration>,
}

impl Row {
    /// Instructions that the emulator executed.
    pub fn instructions(&self) -> u64 {
        let of = |launched: &Launched| launched.counters().map_or(0, |counters| counters.instructions);
        self.launches.iter().map(of).sum()
    }
}

fn costs(launched: &Launched) -> Option<[(u64, u64); 6]> {
    let counters = launched.counters()?;
    Some(Kind::ALL.map(|kind| kind.counted(counters)))
}

/// Prints; nobody is told if the reader of a pipe has gone.
pub fn print(text: &str) {
    use std::io::Write;
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// 0 if all were right, 1 if one was wrong, 2 if it could not be run.
pub fn exit(result: Result<bool>) -> std::process::ExitCode {
    match result {
        Ok(true) => std::process::ExitCode::SUCCESS,
        Ok(false) => std::process::ExitCode::from(1),
        Err(report) => {
            eprintln!("{report:?}");
            std::process::ExitCode::from(2)
        }
    }
}
