//! Prefix sums.
//!
//! ```
//! use tile33::prelude::*;
//!
//! let device = Device::open();
//! let values = device.upload(&[3u32, 1, 4, 1])?;
//! let mut sums = device.uninit(4)?;
//! device.scan(&values, &mut sums, Exclusive)?;
//! assert_eq!(sums.to_vec()?, [0, 3, 4, 8]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! For `f32`, `f64`, `i32`, `u32` and `i64`, up to 2^32 - 1 tiles of 16 KiB. Integers wrap, and are **deterministic**.
//! Floating-point sums are **not**: their last bits depend on which block was faster. Element i differs from the exact
//! sum by at most γ(k)·Σ|x| over what it sums ([`host::reference`](mod@crate::host::reference) has the notation), where k is
//! the lesser of i and [`depth`].

mod steps;

use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};

use kernels_gpu::scan::{LOOK_BACK_THREADS, ROUNDS, State, look_back_tile};
use tile33_host::reference::Depth;
use tile33_host::{Device, DeviceBuffer, Error, Kernel, LaunchConfig, args};
use tile33_layout::VECTOR_BYTES;

use super::error::{not_empty, same_length};
use super::{CatalogueError, Enqueue, Way};
use crate::Kernels;

pub use super::reduce::Element;
pub use steps::steps;

/// Which elements a prefix sum includes.
pub trait Kind: Copy + Send + Sync + 'static {
    /// The kernel's function.
    const KERNEL: &'static str;
    /// Whether element i of the result includes element i.
    const INCLUSIVE: bool;
}

/// Element i is the sum of the elements before i.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exclusive;

/// Element i is the sum of the elements up to i.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inclusive;

impl Kind for Exclusive {
    const KERNEL: &'static str = "exclusive";
    const INCLUSIVE: bool = false;
}

impl Kind for Inclusive {
    const KERNEL: &'static str = "inclusive";
    const INCLUSIVE: bool = true;
}

/// Prefix sums, as a method of [`Device`].
pub trait Scan {
    /// Writes the prefix sums of `values` to `sums`, which has the same length.
    ///
    /// # Errors
    /// [`CatalogueError::Empty`] of no elements, [`CatalogueError::Length`], [`CatalogueError::TooMany`]; nothing has run
    /// then. When the device fails.
    fn scan<T: Element + State, K: Kind>(
        &self,
        values: &DeviceBuffer<T>,
        sums: &mut DeviceBuffer<T>,
        kind: K,
    ) -> Result<(), CatalogueError>;
}

impl Scan for Device {
    fn scan<T: Element + State, K: Kind>(
        &self,
        values: &DeviceBuffer<T>,
        sums: &mut DeviceBuffer<T>,
        _kind: K,
    ) -> Result<(), CatalogueError> {
        not_empty(PROBLEM, "values", values.len())?;
        same_length(PROBLEM, "sums", sums.len(), values.len())?;
        let kernels = Kernels::of(self);
        let kept: Arc<Mutex<LookBack<T, K>>> = self.extension(|_| LookBack::new(&kernels).map(Mutex::new))?;
        // A panic elsewhere leaves nothing half done here.
        let mut look_back = kept.lock().unwrap_or_else(PoisonError::into_inner);
        look_back.start(values, sums, &mut Enqueue)
    }
}

const PROBLEM: &str = "scan";

/// The additions that an element passes through at most.
pub fn depth<T>(len: usize) -> Depth {
    let lanes = (VECTOR_BYTES / size_of::<T>()) as u64;
    // Within a vector, twice; the lanes of a warp; the rounds; the lanes again, over the warps; what lies before the tile;
    // the tiles one after the other in the worst case, and the joining of these sums.
    let tiles = len.div_ceil(look_back_tile(size_of::<T>())) as u64;
    Depth(2 * lanes + 5 + ROUNDS as u64 + 4 + 1 + tiles + 5)
}

/// The look-back kernel for an element type, with the memory it needs, on a device.
#[derive(Debug)]
struct LookBack<T, K> {
    kernel: Kernel,
    device: Device,
    /// The tiles' states, as many as the longest input needed, and the ticket behind them.
    states: DeviceBuffer<u64>,
    ticket: DeviceBuffer<u32>,
    kind: PhantomData<(T, K)>,
}

/// The entry point of a kernel for an element type.
fn entry<T: Element>(kernel: &str) -> String {
    format!("scan_{kernel}_{}", T::NAME)
}

impl<T: Element + State, K: Kind> LookBack<T, K> {
    fn new(kernels: &Kernels) -> Result<Self, Error> {
        let device = kernels.device();
        Ok(Self {
            kernel: kernels.kernel(&entry::<T>(K::KERNEL))?,
            device: device.clone(),
            states: device.uninit(0)?,
            ticket: device.uninit(1)?,
            kind: PhantomData,
        })
    }

    /// Launches it. The buffers have the same length, at least 1.
    fn start(
        &mut self,
        values: &DeviceBuffer<T>,
        sums: &mut DeviceBuffer<T>,
        way: &mut impl Way,
    ) -> Result<(), CatalogueError> {
        let len = values.len();
        let tiles = len.div_ceil(look_back_tile(size_of::<T>()));
        let most = self.device.limits().grid.0[0];
        let Some(blocks) = u32::try_from(tiles).ok().filter(|&blocks| blocks <= most) else {
            let most = u64::from(most) * look_back_tile(size_of::<T>()) as u64;
            return Err(CatalogueError::TooMany {
                problem: PROBLEM,
                what: "elements",
                given: len,
                most,
            });
        };
        let words = tiles * T::WORDS;
        if self.states.len() < words {
            self.states = self.device.uninit(words)?;
        }
        self.states.fill_bytes(0)?;
        self.ticket.fill_bytes(0)?;
        let config = LaunchConfig::new(blocks, LOOK_BACK_THREADS as u32);
        // SAFETY: the kernel reads and writes `len` elements of the two, which are distinct, aligned as every allocation is,
        // and that long; there is a zeroed state for each block, and the ticket is zero.
        unsafe {
            let arguments = args![values, sums, len as u64, &mut self.states, &mut self.ticket];
            way.go(&self.kernel, &config, arguments)?;
        }
        Ok(())
    }
}
