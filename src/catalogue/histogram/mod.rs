//! Histograms: how often each value occurs.
//!
//! ```
//! use tile33::prelude::*;
//!
//! let device = Device::open();
//! let pixels = device.upload(&[7u8, 0, 7, 255])?;
//! let mut counts = device.uninit(256)?;
//! device.histogram(&pixels, &mut counts)?;
//! let counts = counts.to_vec()?;
//! assert_eq!((counts[0], counts[7], counts[255]), (1, 2, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! For `u8`, `u16` and `u32`, up to 2^32 - 1 elements: counts are `u32`. Exact and **deterministic**.

mod steps;

use std::marker::PhantomData;
use std::sync::Arc;

use bytemuck::Pod;
use kernels_gpu::histogram::{BYTE_VALUES, THREADS, blocks};
use tile33_host::{Device, DeviceBuffer, Error, Kernel, LaunchConfig, SharedBytes, args};

use super::error::not_empty;
use super::{CatalogueError, Enqueue, Way};
use crate::Kernels;

pub use steps::steps;

/// An element type that can be counted.
pub trait Element: Pod + Into<u32> + Send + Sync {
    /// Rust's name of the type.
    const NAME: &'static str;
}

impl Element for u8 {
    const NAME: &'static str = "u8";
}
impl Element for u16 {
    const NAME: &'static str = "u16";
}
impl Element for u32 {
    const NAME: &'static str = "u32";
}

/// Histograms, as a method of [`Device`].
pub trait Histogram {
    /// Counts how often each of 0 to `counts.len()` - 1 occurs among the values. Other values are not counted.
    ///
    /// # Errors
    /// [`CatalogueError::Empty`] of no values or no counts, [`CatalogueError::TooMany`]; nothing has run then. When the
    /// device fails.
    fn histogram<T: Element>(
        &self,
        values: &DeviceBuffer<T>,
        counts: &mut DeviceBuffer<u32>,
    ) -> Result<(), CatalogueError>;
}

impl Histogram for Device {
    fn histogram<T: Element>(
        &self,
        values: &DeviceBuffer<T>,
        counts: &mut DeviceBuffer<u32>,
    ) -> Result<(), CatalogueError> {
        not_empty(PROBLEM, "values", values.len())?;
        not_empty(PROBLEM, "counts", counts.len())?;
        let kernels = Kernels::of(self);
        let counters: Arc<Counters<T>> = self.extension(|_| Counters::new(&kernels))?;
        counters.best(self, counts.len()).start(values, counts, &mut Enqueue)
    }
}

const PROBLEM: &str = "histogram";

/// The entry point of a kernel for an element type.
fn entry<T: Element>(kernel: &str) -> String {
    format!("histogram_{kernel}_{}", T::NAME)
}

/// The kernels for an element type, of which a call takes one.
#[derive(Debug)]
struct Counters<T> {
    /// For the 256 values of a byte.
    bytes: Option<Counter<T>>,
    /// For as many values as fit into shared memory.
    shared: Counter<T>,
    /// For more.
    global: Counter<T>,
}

impl<T: Element> Counters<T> {
    fn new(kernels: &Kernels) -> Result<Self, Error> {
        let is_byte = size_of::<T>() == 1;
        Ok(Self {
            bytes: is_byte
                // Faster on an H200 than a histogram for each warp, whose atomics take turns no less where a warp's own
                // lanes meet, and whose counters take eight times as long to clear and to add up.
                .then(|| Counter::new(kernels, "per_block", Values::OfAByte))
                .transpose()?,
            shared: Counter::new(kernels, "dynamic", Values::InSharedMemory)?,
            global: Counter::new(kernels, "global_numbers", Values::Any)?,
        })
    }

    fn best(&self, device: &Device, values: usize) -> &Counter<T> {
        match &self.bytes {
            Some(bytes) if values == BYTE_VALUES => bytes,
            _ if SharedBytes::of::<u32>(values).get() <= device.limits().shared_per_block => &self.shared,
            _ => &self.global,
        }
    }
}

/// Which values a kernel counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Values {
    /// 0 to 255, and there are no others.
    OfAByte,
    /// As many as the launch says, their counters in dynamic shared memory.
    InSharedMemory,
    /// As many as the launch says.
    Any,
}

/// A kernel on a device.
#[derive(Debug)]
struct Counter<T> {
    kernel: Kernel,
    values: Values,
    element: PhantomData<T>,
}

impl<T: Element> Counter<T> {
    fn new(kernels: &Kernels, name: &str, values: Values) -> Result<Self, Error> {
        Ok(Self {
            kernel: kernels.kernel(&entry::<T>(name))?,
            values,
            element: PhantomData,
        })
    }

    /// Launches it, for at least one element and one count, 256 counts where the kernel counts bytes.
    fn start(
        &self,
        values: &DeviceBuffer<T>,
        counts: &mut DeviceBuffer<u32>,
        way: &mut impl Way,
    ) -> Result<(), CatalogueError> {
        let too_many = |what, given, most: u32| CatalogueError::TooMany {
            problem: PROBLEM,
            what,
            given,
            most: most.into(),
        };
        let len = u32::try_from(values.len()).map_err(|_| too_many("values", values.len(), u32::MAX))?;
        let number = u32::try_from(counts.len()).map_err(|_| too_many("counts", counts.len(), u32::MAX))?;
        counts.fill_bytes(0)?;
        let mut config = LaunchConfig::new(blocks(len.into(), size_of::<T>()), THREADS as u32);
        if self.values == Values::InSharedMemory {
            config = config.with_dynamic_shared(SharedBytes::of::<u32>(counts.len()));
        }
        let len = u64::from(len);
        // SAFETY: the kernel reads `len` elements of the buffer, which is aligned as every allocation is, and adds to as many
        // counts as there are, 256 of them where it counts bytes; they are zero.
        unsafe {
            match self.values {
                Values::OfAByte => way.go(&self.kernel, &config, args![values, len, counts])?,
                _ => way.go(&self.kernel, &config, args![values, len, counts, number])?,
            }
        }
        Ok(())
    }
}
