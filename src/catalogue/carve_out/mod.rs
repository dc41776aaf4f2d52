//! Rows of measurements with gaps: the mean of each row's valid elements taken off them.
//!
//! ```
//! use tile33::prelude::*;
//!
//! let device = Device::open();
//! let values = device.upload(&[1.0f32, 99.0, 3.0, 10.0, 20.0, 30.0])?; // 2 rows of 3 columns
//! let valid = device.upload(&[1u8, 0, 1, 1, 1, 1])?; // 99 is none
//! let mut centred = device.uninit(6)?;
//! device.centre(&values, &valid, &mut centred, 2, 3)?;
//! assert_eq!(centred.to_vec()?, [-1.0, 0.0, 1.0, -10.0, 0.0, 10.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The problem that shows arrays of different types in one block of dynamic shared memory, planned by
//! [`CarveOut`](tile33_layout::CarveOut): see [`kernels_gpu::carve_out`]. Sums are of `f64`, in an order that depends on the
//! row's length alone: **deterministic**. A result differs from the exact one by at most half a unit in its last place and
//! γ(k)·Σ|x| / n, where k = [`depth`] of the n elements and γ that of `f64`
//! ([`host::reference`](mod@crate::host::reference) has the notation).

mod steps;

use std::sync::Arc;

use kernels_gpu::carve_out::{THREADS, blocks, plan};
use tile33_host::reference::Depth;
use tile33_host::{Device, DeviceBuffer, Error, Kernel, LaunchConfig, args};

use super::{CatalogueError, Enqueue, Way};
use crate::Kernels;

pub use steps::steps;

const PROBLEM: &str = "carve_out";

/// Centring, as a method of [`Device`].
pub trait Centre {
    /// Writes to `centred` the `rows` x `cols` elements of `values`, row-major, each valid one less the mean of the valid
    /// ones of its row, and zero for the others. An element is valid where `valid` is not zero; the others' values are not
    /// looked at.
    ///
    /// A row of up to 45,875 elements (on a card with 227 KiB of shared memory for a block) is read once, a longer one twice.
    ///
    /// # Errors
    /// [`CatalogueError::Empty`] of no elements, [`CatalogueError::TooMany`] of more than 2^32 - 1 rows or columns,
    /// [`CatalogueError::Length`] where a buffer has another length; nothing has run then. When the device fails.
    fn centre(
        &self,
        values: &DeviceBuffer<f32>,
        valid: &DeviceBuffer<u8>,
        centred: &mut DeviceBuffer<f32>,
        rows: usize,
        cols: usize,
    ) -> Result<(), CatalogueError>;
}

impl Centre for Device {
    fn centre(
        &self,
        values: &DeviceBuffer<f32>,
        valid: &DeviceBuffer<u8>,
        centred: &mut DeviceBuffer<f32>,
        rows: usize,
        cols: usize,
    ) -> Result<(), CatalogueError> {
        let kernels = Kernels::of(self);
        let kernels: Arc<[Centring; 2]> = self.extension(|_| -> Result<_, Error> {
            Ok([Centring::new(&kernels, true)?, Centring::new(&kernels, false)?])
        })?;
        let [carved, streamed] = &*kernels;
        let [_, cols_counted] = shape(rows, cols)?;
        let fits = u64::from(plan(cols_counted).memory.bytes()) <= self.limits().shared_per_block;
        let kernel = if fits { carved } else { streamed };
        kernel.start(values, valid, centred, rows, cols, &mut Enqueue)
    }
}

/// The additions that an element of a row's sum passes through at most.
pub fn depth(cols: usize) -> Depth {
    Depth::any_order(cols.div_ceil(THREADS) + 1).then(Depth::tree(THREADS))
}

/// Rows and columns as the kernels count them.
fn shape(rows: usize, cols: usize) -> Result<[u32; 2], CatalogueError> {
    let count = |what, n: usize| match u32::try_from(n) {
        Ok(0) => Err(CatalogueError::Empty { problem: PROBLEM, what }),
        Ok(n) => Ok(n),
        Err(_) => Err(CatalogueError::TooMany {
            problem: PROBLEM,
            what,
            given: n,
            most: u32::MAX.into(),
        }),
    };
    Ok([count("rows", rows)?, count("columns", cols)?])
}

/// A kernel on a device.
struct Centring {
    kernel: Kernel,
    /// Whether it keeps the row in dynamic shared memory.
    carved: bool,
}

impl Centring {
    fn new(kernels: &Kernels, carved: bool) -> Result<Self, Error> {
        Ok(Self {
            kernel: kernels.kernel(entry(carved))?,
            carved,
        })
    }

    fn start(
        &self,
        values: &DeviceBuffer<f32>,
        valid: &DeviceBuffer<u8>,
        centred: &mut DeviceBuffer<f32>,
        rows: usize,
        cols: usize,
        way: &mut impl Way,
    ) -> Result<(), CatalogueError> {
        let needed = elements(rows, cols)?;
        for (what, given) in [
            ("values", values.len()),
            ("valid", valid.len()),
            ("centred", centred.len()),
        ] {
            super::error::same_length(PROBLEM, what, given, needed)?;
        }
        let [rows, cols] = shape(rows, cols)?;
        let mut config = LaunchConfig::new(blocks(rows), THREADS as u32);
        if self.carved {
            config = config.with_dynamic_shared(plan(cols).memory);
        }
        // SAFETY: the three hold `rows * cols` elements each and are distinct; the plan is the kernel's.
        unsafe { way.go(&self.kernel, &config, args![values, valid, centred, rows, cols])? };
        Ok(())
    }
}

/// Elements of a matrix that the kernels can count.
fn elements(rows: usize, cols: usize) -> Result<usize, CatalogueError> {
    shape(rows, cols)?;
    rows.checked_mul(cols).ok_or(CatalogueError::TooMany {
        problem: PROBLEM,
        what: "rows of that length",
        given: rows,
        most: (usize::MAX / cols) as u64,
    })
}

fn entry(carved: bool) -> &'static str {
    if carved {
        "carve_out_carved_f32"
    } else {
        "carve_out_streamed_f32"
    }
}
