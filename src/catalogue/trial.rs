//! Launching a step, and looking at what it did.

use tile33_host::{Arg, Dim3, Error, Kernel, LaunchConfig, Run};
use tile33_layout::occupancy::{Card, Occupancy, occupancy};
use tile33_sim::Counters;

use super::CatalogueError;

/// A step with its input on a device.
pub trait Trial {
    /// Runs the step once, from outputs that are poisoned (or zero, where the kernels start from that), and waits. Several
    /// launches where the step takes several; the costs that are claimed are those of the first.
    ///
    /// # Errors
    /// When the device fails.
    fn launch(&mut self) -> Result<Vec<Launched>, CatalogueError>;

    /// Compares what the last [`launch`](Self::launch) wrote with the CPU's result: what differs, if anything.
    ///
    /// # Errors
    /// When the device fails.
    fn difference(&self) -> Result<Option<String>, CatalogueError>;

    /// Bytes of global memory that any solution has to read and write at least.
    fn bytes(&self) -> u64;
}

/// A launch that was.
#[derive(Clone, Debug)]
pub struct Launched {
    /// Grid, block and dynamic shared memory.
    pub config: LaunchConfig,
    /// Static shared memory of a block, in bytes.
    pub static_shared: u64,
    /// Registers of a thread; `None` on the emulator.
    pub registers: Option<u32>,
    /// What the device tells.
    pub run: Run,
}

impl Launched {
    /// Shared memory of a block, static and dynamic, in bytes.
    pub fn shared_bytes(&self) -> u64 {
        self.static_shared + self.config.dynamic_shared.get()
    }

    /// Threads of a block.
    pub fn threads(&self) -> u64 {
        let Dim3(block) = self.config.block;
        block.into_iter().map(u64::from).product()
    }

    /// What the emulator counted; `None` on CUDA.
    pub fn counters(&self) -> Option<&Counters> {
        self.run.report.as_ref().map(|report| &report.counters)
    }

    /// The first thing that the emulator found wrong.
    pub fn finding(&self) -> Option<String> {
        Some(self.run.report.as_ref()?.findings.first()?.to_string())
    }

    /// How many blocks fit on a multiprocessor of the card, for its threads, its shared memory and, where they are known, its
    /// registers.
    pub fn occupancy(&self, card: &Card) -> Occupancy {
        let number = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        let dynamic = self.config.dynamic_shared.get();
        occupancy(
            card,
            number(self.threads()),
            self.registers.unwrap_or(0),
            number(self.static_shared),
            number(dynamic),
        )
    }
}

/// How a launch is made.
pub(crate) trait Way {
    /// # Safety
    /// As [`Kernel::launch`].
    unsafe fn go(&mut self, kernel: &Kernel, config: &LaunchConfig, args: &[Arg<'_>]) -> Result<(), Error>;
}

/// Without waiting: for calls.
pub(crate) struct Enqueue;

impl Way for Enqueue {
    unsafe fn go(&mut self, kernel: &Kernel, config: &LaunchConfig, args: &[Arg<'_>]) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        unsafe { kernel.enqueue(config, args) }
    }
}

/// One after the other, remembering each: for trials.
#[derive(Default)]
pub(crate) struct Record(pub(crate) Vec<Launched>);

impl Way for Record {
    unsafe fn go(&mut self, kernel: &Kernel, config: &LaunchConfig, args: &[Arg<'_>]) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        let run = unsafe { kernel.launch(config, args) }?;
        self.0.push(Launched {
            config: *config,
            static_shared: kernel.static_shared(),
            registers: kernel.registers(),
            run,
        });
        Ok(())
    }
}
