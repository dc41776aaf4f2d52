//! One number from many: sums, minima, maxima and their places.
//!
//! ```
//! use tile33::prelude::*;
//!
//! let device = Device::open();
//! let values = device.upload(&[2.5f64, -1.0, f64::NAN, 7.0])?;
//! assert_eq!(device.reduce(&values, Max)?, 7.0);
//! assert_eq!(device.reduce(&values, ArgMin)?, Some((1, -1.0)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | operation | for | result |
//! |---|---|---|
//! | [`Sum`] | `f32 f64 i32 u32 i64` | the sum; integers wrap |
//! | [`CompensatedSum`] | `f32` | the sum, as if added with twice the precision |
//! | [`Min`], [`Max`] | `f32 f64 i32 u32 i64` | the element; NaN is skipped, and of nothing but NaN is the result |
//! | [`ArgMin`], [`ArgMax`] | `f32 f64 i32 u32 i64` | index and element, the first of equal ones; `None` of nothing but NaN |
//!
//! All are **deterministic**: the same elements give the same bits, on every device and on the emulator. A floating-point
//! sum differs from the exact one by at most γ(k)·Σ|x| ([`host::reference`](mod@crate::host::reference) has the
//! notation), where k = [`depth`] of the number of elements: at most 35 + n / 1,000,000 for n of `f32`. A compensated sum
//! differs by u·|s| + 2·γ(k)²·Σ|x|: hardly more than by the rounding of the result.

mod steps;

use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};

use bytemuck::Pod;
use kernels_gpu::reduce::{IN_FLIGHT, MAX_BLOCKS, THREADS, blocks};
use tile33_host::reference::Depth;
use tile33_host::{Arg, Device, DeviceBuffer, Error, Kernel, LaunchConfig, args};
use tile33_layout::VECTOR_BYTES;

use super::data::POISON;
use super::error::not_empty;
use super::{CatalogueError, Enqueue, Way};
use crate::Kernels;

pub use steps::steps;

/// An element type that there are reductions for.
pub trait Element: Pod + PartialOrd + Send + Sync {
    /// Rust's name of the type.
    const NAME: &'static str;
}

macro_rules! elements {
    ($($ty:ident)*) => {$(
        impl Element for $ty {
            const NAME: &'static str = stringify!($ty);
        }
    )*};
}
elements!(f32 f64 i32 u32 i64);

/// An operation that elements of type `T` are reduced by.
pub trait Operation<T>: Copy + Send + Sync + 'static {
    /// What comes out.
    type Output;

    /// The kernel's function.
    const KERNEL: &'static str;

    /// Bytes that a block's result takes.
    const PARTIAL_BYTES: usize;

    /// Whether the kernel also writes an index.
    const HAS_INDEX: bool;

    /// What comes out when the kernel wrote this.
    fn output(value: T, index: u64) -> Self::Output;
}

macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident = $kernel:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name;

        impl<T: Element> Operation<T> for $name {
            type Output = T;
            const KERNEL: &'static str = $kernel;
            const PARTIAL_BYTES: usize = size_of::<T>();
            const HAS_INDEX: bool = false;

            fn output(value: T, _index: u64) -> T {
                value
            }
        }
    )*};
}

operations! {
    /// The sum; integers wrap.
    Sum = "sum";
    /// The smallest element; NaN is skipped.
    Min = "min";
    /// The largest element; NaN is skipped.
    Max = "max";
}

macro_rules! arg_operations {
    ($($(#[$doc:meta])* $name:ident = $kernel:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name;

        impl<T: Element> Operation<T> for $name {
            type Output = Option<(usize, T)>;
            const KERNEL: &'static str = $kernel;
            const PARTIAL_BYTES: usize = 16;
            const HAS_INDEX: bool = true;

            fn output(value: T, index: u64) -> Self::Output {
                (index != kernels_gpu::reduce::Best::<T>::NOWHERE).then_some((index as usize, value))
            }
        }
    )*};
}

arg_operations! {
    /// The smallest element and its index, the first of equal ones; NaN is skipped.
    ArgMin = "argmin";
    /// The largest element and its index, the first of equal ones; NaN is skipped.
    ArgMax = "argmax";
}

/// The sum of `f32`, carrying the rounding error of every addition along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompensatedSum;

impl Operation<f32> for CompensatedSum {
    type Output = f32;
    const KERNEL: &'static str = "compensated_sum";
    const PARTIAL_BYTES: usize = 8;
    const HAS_INDEX: bool = false;

    fn output(value: f32, _index: u64) -> f32 {
        value
    }
}

/// Reductions, as a method of [`Device`].
pub trait Reduce {
    /// Reduces all elements by an operation.
    ///
    /// # Errors
    /// [`CatalogueError::Empty`] of no elements; nothing has run then. When the device fails.
    fn reduce<T: Element, O: Operation<T>>(
        &self,
        values: &DeviceBuffer<T>,
        operation: O,
    ) -> Result<O::Output, CatalogueError>;
}

impl Reduce for Device {
    fn reduce<T: Element, O: Operation<T>>(
        &self,
        values: &DeviceBuffer<T>,
        _operation: O,
    ) -> Result<O::Output, CatalogueError> {
        not_empty("reduce", "values", values.len())?;
        let kernels = Kernels::of(self);
        let kept: Arc<Mutex<Reduction<T, O>>> = self.extension(|_| Reduction::new(&kernels).map(Mutex::new))?;
        // A panic elsewhere leaves nothing half done here.
        let mut reduction = kept.lock().unwrap_or_else(PoisonError::into_inner);
        reduction.start(values, values.len(), &mut Enqueue)?;
        Ok(reduction.output()?)
    }
}

/// The additions that an element of a [`Sum`] passes through at most.
pub fn depth<T>(len: usize) -> Depth {
    let lanes = (VECTOR_BYTES / size_of::<T>()) as u64;
    let blocks = u64::from(blocks(len as u64, size_of::<T>()));
    let vectors = (len as u64 / lanes).div_ceil(blocks * THREADS as u64);
    // A thread adds its rounds of vectors to one of four sums each, the vectors of no whole round to the first, and one
    // element more; then it adds the four.
    let in_flight = IN_FLIGHT as u64;
    let thread = lanes * (vectors / in_flight + in_flight - 1) + 1 + 2;
    // Lanes, then warps; then the same for the blocks' results, of which each thread has a few.
    let (warp, block) = (5, 3);
    Depth(thread + warp + block + blocks.div_ceil(THREADS as u64) + warp + block)
}

/// The best kernel for an operation on an element type, with the memory it needs, on a device.
#[derive(Debug)]
struct Reduction<T, O> {
    kernel: Kernel,
    partials: DeviceBuffer<u64>,
    ticket: DeviceBuffer<u32>,
    value: DeviceBuffer<T>,
    index: DeviceBuffer<u64>,
    operation: PhantomData<O>,
}

/// The entry point of a kernel for an element type.
fn entry<T: Element>(kernel: &str) -> String {
    format!("reduce_{kernel}_{}", T::NAME)
}

impl<T: Element, O: Operation<T>> Reduction<T, O> {
    fn new(kernels: &Kernels) -> Result<Self, Error> {
        let device = kernels.device();
        Ok(Self {
            kernel: kernels.kernel(&entry::<T>(O::KERNEL))?,
            partials: device.uninit(MAX_BLOCKS * O::PARTIAL_BYTES.div_ceil(size_of::<u64>()))?,
            ticket: device.zeros(1)?,
            value: device.uninit(1)?,
            index: device.zeros(1)?,
            operation: PhantomData,
        })
    }

    /// Launches it on the first `len` elements, of which there is at least one.
    fn start(&mut self, values: &DeviceBuffer<T>, len: usize, way: &mut impl Way) -> Result<(), Error> {
        let config = LaunchConfig::new(blocks(len as u64, size_of::<T>()), THREADS as u32);
        let Self {
            kernel,
            partials,
            ticket,
            value,
            index,
            ..
        } = self;
        let mut arguments: Vec<Arg<'_>> = args![values, len as u64, partials, ticket, value].to_vec();
        if O::HAS_INDEX {
            arguments.push(index.into());
        }
        // SAFETY: the kernel reads `len` elements of the buffer, which is aligned as every allocation is; there is room for
        // as many partials as the grid has blocks; the ticket is zero before each launch, and after.
        let launched = unsafe { way.go(kernel, &config, &arguments) };
        if launched.is_err() {
            // Blocks may have taken tickets before it failed.
            self.ticket.fill_bytes(0)?;
        }
        launched
    }

    /// Makes sure that no result of an earlier launch is taken for one of the next.
    fn poison(&mut self) -> Result<(), Error> {
        self.partials.fill_bytes(POISON)?;
        self.value.fill_bytes(POISON)?;
        if O::HAS_INDEX {
            self.index.fill_bytes(POISON)?;
        }
        Ok(())
    }

    /// The result of the last launch. Waits for it.
    fn output(&self) -> Result<O::Output, Error> {
        let (value, index) = (self.value.to_vec()?, self.index.to_vec()?);
        Ok(O::output(value[0], index[0]))
    }
}
