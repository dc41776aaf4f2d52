//! The laboratory: what one access of one warp costs at a stride and an offset.
//!
//! Lane l names element `offset + stride * l`. [`Laboratory::stride`] runs that access and gives back what it moved and,
//! on the emulator, what it cost; [`cost`] is the bank model's answer, without running anything. They agree.
//!
//! ```
//! use tile33::catalogue::stride::{Experiment, cost};
//! use tile33::prelude::*;
//!
//! // A column of a tile with 32 columns, and with 33.
//! let device = Device::emulator();
//! assert_eq!(device.stride::<f32>(Experiment::Load, 32, 0)?.cost, Some(32));
//! assert_eq!(device.stride::<f32>(Experiment::Load, 33, 0)?.cost, Some(1));
//! // Lanes that read one word share it; lanes that add to one word take turns.
//! assert_eq!(cost(Experiment::Load, 4, 0, 0), 1);
//! assert_eq!(cost(Experiment::AtomicAdd, 4, 0, 0), 32);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod steps;

use bytemuck::Pod;
use kernels_gpu::stride::{THREADS, reach};
use tile33_host::{Device, DeviceBuffer, Error, Kernel, LaunchConfig, SharedBytes, args};
use tile33_layout::{Op, Space, WarpAccess};

use super::data::POISON;
use super::trial::Launched;
use super::{CatalogueError, Kind, Record, Way};
use crate::Kernels;

pub use steps::steps;

/// An access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Experiment {
    /// A load from shared memory.
    Load,
    /// A store to shared memory. Needs a stride of at least 1: lanes that store to one element race.
    Store,
    /// An atomic addition to shared memory, of 4 or 8 bytes.
    AtomicAdd,
    /// A load from global memory.
    GlobalLoad,
    /// A store to global memory. Needs a stride of at least 1.
    GlobalStore,
}

impl Experiment {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Load,
        Self::Store,
        Self::AtomicAdd,
        Self::GlobalLoad,
        Self::GlobalStore,
    ];

    /// The kernel's function.
    pub fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Store => "store",
            Self::AtomicAdd => "atomic_add",
            Self::GlobalLoad => "global_load",
            Self::GlobalStore => "global_store",
        }
    }

    /// What the emulator counts it as.
    pub fn kind(self) -> Kind {
        match self {
            Self::Load => Kind::SharedLoad,
            Self::Store => Kind::SharedStore,
            Self::AtomicAdd => Kind::SharedAtomic,
            Self::GlobalLoad => Kind::GlobalLoad,
            Self::GlobalStore => Kind::GlobalStore,
        }
    }

    /// Whether it is an access to shared memory.
    pub fn is_shared(self) -> bool {
        matches!(self, Self::Load | Self::Store | Self::AtomicAdd)
    }

    /// Whether there is a kernel for elements of so many bytes.
    pub fn has(self, bytes: usize) -> bool {
        match self {
            Self::AtomicAdd => matches!(bytes, 4 | 8),
            _ => matches!(bytes, 1 | 2 | 4 | 8 | 16),
        }
    }

    fn writes_apart(self) -> bool {
        matches!(self, Self::Store | Self::GlobalStore)
    }
}

/// What the bank model says that the access costs: wavefronts in shared memory, sectors in global memory. The array starts
/// at a multiple of 16 bytes in shared memory, of 256 in global memory.
///
/// # Panics
/// When there is no such element: 1, 2, 4, 8 or 16 bytes.
pub fn cost(experiment: Experiment, bytes: usize, stride: u32, offset: u32) -> u64 {
    let address = |lane: u32| (u64::from(offset) + u64::from(stride) * u64::from(lane)) * bytes as u64;
    of_lanes(experiment, bytes, |lane| Some(address(lane)))
}

/// What the kernel's other accesses of the same kind cost: those that fill the array or read it back.
///
/// # Panics
/// As [`cost`].
pub fn other_cost(experiment: Experiment, bytes: usize, stride: u32, offset: u32) -> u64 {
    let others = steps::other_accesses(experiment, bytes, stride, offset);
    let others = others.iter().filter(|access| access.kind == experiment.kind());
    others.map(|access| access.requests * access.cost).sum()
}

fn of_lanes(experiment: Experiment, bytes: usize, address: impl FnMut(u32) -> Option<u64>) -> u64 {
    let (space, op) = match experiment {
        Experiment::Load => (Space::Shared, Op::Load),
        Experiment::Store => (Space::Shared, Op::Store),
        Experiment::AtomicAdd => (Space::Shared, Op::Red),
        Experiment::GlobalLoad => (Space::Global, Op::Load),
        Experiment::GlobalStore => (Space::Global, Op::Store),
    };
    let access = WarpAccess::from_fn(space, op, bytes as u32, address).expect("an element of 1, 2, 4, 8 or 16 bytes");
    match space {
        Space::Shared => access.wavefronts().into(),
        Space::Global => access.sectors().into(),
    }
}

/// What came of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured<T> {
    /// What the access moved: the 32 elements loaded or stored, or all elements after the addition.
    pub elements: Vec<T>,
    /// Wavefronts or sectors; `None` on CUDA, which does not count.
    pub cost: Option<u64>,
}

/// The laboratory, as a method of [`Device`].
pub trait Laboratory {
    /// Runs one access of one warp: lane l names element `offset + stride * l`. The elements are 0, 1, 2, .. in their
    /// first bytes; an atomic addition adds them to zeros.
    ///
    /// # Errors
    /// [`CatalogueError::Parameter`] where there is no kernel for elements of this size or the stride is 0 for a store; the
    /// array does not fit into shared memory; nothing has run then. When the device fails.
    fn stride<T: Pod>(&self, experiment: Experiment, stride: u32, offset: u32) -> Result<Measured<T>, CatalogueError>;
}

impl Laboratory for Device {
    fn stride<T: Pod>(&self, experiment: Experiment, stride: u32, offset: u32) -> Result<Measured<T>, CatalogueError> {
        let mut bench = Bench::<T>::new(&Kernels::of(self), experiment, stride, offset, numbered)?;
        let launched = bench.run()?;
        Ok(Measured {
            elements: bench.result()?,
            cost: launched.counters().map(|counters| bench.cost_of_access(counters)),
        })
    }
}

const PROBLEM: &str = "stride";

/// Rust's name of the unsigned integer of so many bytes, which ends the entry point's name.
fn element(bytes: usize) -> &'static str {
    match bytes {
        1 => "u8",
        2 => "u16",
        4 => "u32",
        8 => "u64",
        _ => "u128",
    }
}

fn entry(experiment: Experiment, bytes: usize) -> String {
    format!("stride_{}_{}", experiment.name(), element(bytes))
}

/// Element `index` with its number in its first bytes.
fn numbered<T: Pod>(index: usize) -> T {
    let mut element = T::zeroed();
    let bytes = bytemuck::bytes_of_mut(&mut element);
    let kept = bytes.len().min(size_of::<usize>());
    bytes[..kept].copy_from_slice(&index.to_le_bytes()[..kept]);
    element
}

/// An experiment, ready to run.
struct Bench<T> {
    kernel: Kernel,
    experiment: Experiment,
    stride: u32,
    offset: u32,
    /// Elements of the array that is accessed.
    len: u32,
    values: Vec<T>,
    input: DeviceBuffer<T>,
    output: DeviceBuffer<T>,
}

impl<T: Pod> Bench<T> {
    fn new(
        kernels: &Kernels,
        experiment: Experiment,
        stride: u32,
        offset: u32,
        value: impl FnMut(usize) -> T,
    ) -> Result<Self, CatalogueError> {
        let parameter = |what, given: u64, possible| CatalogueError::Parameter {
            problem: PROBLEM,
            what,
            given,
            possible,
        };
        let bytes = size_of::<T>();
        if !experiment.has(bytes) {
            let possible = match experiment {
                Experiment::AtomicAdd => "4 and 8 are possible",
                _ => "1, 2, 4, 8 and 16 are possible",
            };
            return Err(parameter("the element's size in bytes", bytes as u64, possible));
        }
        if experiment.writes_apart() && stride == 0 {
            let possible = "lanes that store to one element race: at least 1 is possible";
            return Err(parameter("the stride", 0, possible));
        }
        let reach = reach(stride, offset);
        let len = u32::try_from(reach);
        let len = len.map_err(|_| parameter("the number of elements", reach, "at most 2^32 - 1 are possible"))?;
        let (array, lanes) = (len as usize, THREADS);
        let (inputs, outputs) = match experiment {
            Experiment::Load | Experiment::GlobalLoad => (array, lanes),
            Experiment::Store => (lanes, lanes),
            Experiment::AtomicAdd | Experiment::GlobalStore => (lanes, array),
        };
        let device = kernels.device();
        let most = device.limits().shared_per_block;
        if experiment.is_shared() && SharedBytes::of::<T>(array).get() > most {
            let possible = "the array has to fit into the shared memory of a block";
            return Err(parameter("the number of elements", reach, possible));
        }
        let values: Vec<T> = (0..inputs).map(value).collect();
        Ok(Self {
            kernel: kernels.kernel(&entry(experiment, bytes))?,
            experiment,
            stride,
            offset,
            len,
            input: device.upload(&values)?,
            output: device.uninit(outputs)?,
            values,
        })
    }

    fn run(&mut self) -> Result<Launched, Error> {
        self.output.fill_bytes(POISON)?;
        let mut launches = Record::default();
        let config = LaunchConfig::new(1, THREADS as u32);
        let Self {
            kernel,
            experiment,
            stride,
            offset,
            len,
            input,
            output,
            ..
        } = self;
        // SAFETY: the buffers and the shared memory have the lengths that the kernel asks for: see `new`.
        unsafe {
            if experiment.is_shared() {
                let config = config.with_dynamic_shared(SharedBytes::of::<T>(*len as usize));
                launches.go(kernel, &config, args![&*input, output, *stride, *offset, *len])?;
            } else {
                launches.go(kernel, &config, args![&*input, output, *stride, *offset])?;
            }
        }
        Ok(launches.0.remove(0))
    }

    fn result(&self) -> Result<Vec<T>, Error> {
        self.output.to_vec()
    }

    /// Element that lane `lane` names.
    fn place(&self, lane: usize) -> usize {
        self.offset as usize + self.stride as usize * lane
    }

    /// Of the launch's accesses of the kind, all but the one in question are known: they lie side by side.
    fn cost_of_access(&self, counters: &tile33_sim::Counters) -> u64 {
        let (_, counted) = self.experiment.kind().counted(counters);
        counted.saturating_sub(other_cost(self.experiment, size_of::<T>(), self.stride, self.offset))
    }
}
