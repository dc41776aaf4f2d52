//! The emulator's side: the same operations as CUDA's, on `tile33-sim`.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tile33_sim::{Launch, Memory, Options, Program, Report};

use crate::args::{Arg, Scalar, Value};
use crate::dims::LaunchConfig;
use crate::error::Error;
use crate::limits::Limits;

/// An emulated device: memory, and how launches run.
#[derive(Debug)]
pub(crate) struct Emulated {
    memory: Mutex<Memory>,
    options: Options,
    limits: Limits,
}

impl Emulated {
    pub(crate) fn new(options: Options) -> Self {
        Self {
            memory: Mutex::default(),
            limits: Limits::of_card("the emulator", options.card),
            options,
        }
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    /// The memory is consistent between any two calls, so a panic elsewhere while it was held does no harm to it.
    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a kernel to its end.
    pub(crate) fn launch(
        &self,
        program: &Program,
        kernel: &str,
        config: &LaunchConfig,
        args: &[Arg<'_>],
        options: &Options,
    ) -> Result<Report, Error> {
        let launch = Launch {
            dynamic_shared: u32::try_from(config.dynamic_shared.get()).unwrap_or(u32::MAX),
            args: args.iter().map(argument).collect(),
            options: options.clone(),
            ..Launch::new(kernel, config.grid.0, config.block.0)
        };
        Ok(program.launch(&mut self.memory(), &launch)?)
    }
}

fn argument(arg: &Arg<'_>) -> tile33_sim::Arg {
    use tile33_sim::Arg as Sim;
    match &arg.0 {
        Value::Buffer(storage) => Sim::Pointer(storage.address()),
        Value::Bytes(bytes) => Sim::Bytes(bytes.clone()),
        Value::Scalar { kind, bytes } => {
            let low = u64::from_le_bytes(*bytes);
            match kind {
                Scalar::U8 => Sim::U8(low as u8),
                Scalar::U16 => Sim::U16(low as u16),
                Scalar::U32 => Sim::U32(low as u32),
                Scalar::U64 => Sim::U64(low),
                Scalar::I8 => Sim::I8(low as i8),
                Scalar::I16 => Sim::I16(low as i16),
                Scalar::I32 => Sim::I32(low as i32),
                Scalar::I64 => Sim::I64(low as i64),
                Scalar::F32 => Sim::F32(f32::from_bits(low as u32)),
                Scalar::F64 => Sim::F64(f64::from_bits(low)),
            }
        }
    }
}

/// Bytes in an emulated device's memory, freed when dropped.
#[derive(Debug)]
pub(crate) struct Allocation {
    address: u64,
    bytes: u64,
    device: Arc<Emulated>,
}

impl Allocation {
    /// Memory that counts as unwritten.
    pub(crate) fn new(device: &Arc<Emulated>, bytes: usize) -> Result<Self, Error> {
        let bytes = bytes as u64;
        let address = device.memory().alloc(bytes)?;
        Ok(Self {
            address,
            bytes,
            device: Arc::clone(device),
        })
    }

    pub(crate) fn device(&self) -> &Arc<Emulated> {
        &self.device
    }

    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    pub(crate) fn read(&self, into: &mut [u8]) -> Result<(), Error> {
        Ok(self.device.memory().read(self.address, into)?)
    }

    pub(crate) fn write(&mut self, from: &[u8]) -> Result<(), Error> {
        Ok(self.device.memory().write(self.address, from)?)
    }

    pub(crate) fn fill(&mut self, byte: u8) -> Result<(), Error> {
        Ok(self.device.memory().fill(self.address, byte, self.bytes)?)
    }

    /// Copies `from`, on the same device and of the same length.
    pub(crate) fn copy_from(&mut self, from: &Self) -> Result<(), Error> {
        // One lock is held at a time: `from` is read to the end before this is written.
        let mut bytes = vec![0; from.bytes as usize];
        from.read(&mut bytes)?;
        self.write(&bytes)
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        // The address came from this memory and is freed once, so there is no error to lose.
        let _ = self.device.memory().free(self.address);
    }
}
