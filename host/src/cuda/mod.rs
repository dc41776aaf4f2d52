//! The CUDA side: the same operations as the emulator's, on `cust`.
//!
//! Every CUDA device has one primary context, shared with every other library of the process, and one stream of this
//! crate's, which does not run beside the legacy default stream. So everything that is done to a device through this crate
//! happens in the order in which it was asked for, from whichever thread.

mod error;
mod memory;
mod module;

use std::fmt;
use std::time::Duration;

use cust::CudaFlags;
use cust::context::{Context, CurrentContext};
use cust::device::DeviceAttribute as Attribute;
use cust::event::{Event, EventFlags};
use cust::stream::{Stream, StreamFlags};
use cust::sys::CUdevice_attribute_enum::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
use tile33_driver_shim::driver_missing;

use crate::arch::Arch;
use crate::dims::Dim3;
use crate::error::Error;
use crate::limits::{Limits, SHARED_WITHOUT_OPT_IN};

use error::{During, describe};
pub(crate) use memory::Allocation;
pub(crate) use module::{Kernel, Module};

/// An open CUDA device.
pub(crate) struct Cuda {
    // Fields drop in this order: the stream belongs to the context.
    stream: Stream,
    context: Context,
    limits: Limits,
    driver: (i32, i32),
    ordinal: u32,
}

impl fmt::Debug for Cuda {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cuda")
            .field("ordinal", &self.ordinal)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl Cuda {
    /// Opens device `ordinal`.
    pub(crate) fn open(ordinal: u32) -> Result<Self, Error> {
        let count = device_count()?;
        if ordinal >= count {
            return Err(Error::NoSuchDevice { ordinal, count });
        }
        let device = cust::device::Device::get_device(ordinal).during("finding the device")?;
        let context = Context::new(device).during("making a context")?;
        CurrentContext::set_current(&context).during("entering the context")?;
        let stream = Stream::new(StreamFlags::DEFAULT, None).during("making a stream")?;
        let driver = cust::CudaApiVersion::get().during("asking for the driver's version")?;
        Ok(Self {
            stream,
            context,
            limits: limits(device).during("asking for the device's limits")?,
            driver: (driver.major(), driver.minor()),
            ordinal,
        })
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(crate) fn describe(&self) -> String {
        let Limits { name, arch, .. } = &self.limits;
        let (major, minor) = self.driver;
        format!(
            "{name} ({arch}, CUDA device {}, driver for CUDA {major}.{minor})",
            self.ordinal
        )
    }

    /// Makes the device's context the calling thread's.
    fn enter(&self) -> Result<(), Error> {
        CurrentContext::set_current(&self.context).during("entering the context")
    }

    /// Waits until everything that was asked for has happened, and reports what went wrong.
    pub(crate) fn synchronize(&self) -> Result<(), Error> {
        self.enter()?;
        self.stream.synchronize().during("running the kernel")
    }

    /// The answer of a call that `cust` has no wrapper for.
    fn accept(&self, answer: cust::sys::CUresult, action: &'static str) -> Result<(), Error> {
        match answer {
            cust::sys::cudaError_enum::CUDA_SUCCESS => Ok(()),
            code => Err(Error::Cuda {
                action,
                message: error::describe_code(code),
            }),
        }
    }

    /// Runs `work`, which enqueues on this device, between two events, and returns the device's time between them.
    pub(crate) fn time<R>(&self, work: impl FnOnce() -> Result<R, Error>) -> Result<(R, Duration), Error> {
        self.enter()?;
        let event = || Event::new(EventFlags::DEFAULT).during("making an event");
        let (start, stop) = (event()?, event()?);
        start.record(&self.stream).during("recording an event")?;
        let result = work()?;
        stop.record(&self.stream).during("recording an event")?;
        stop.synchronize().during("running the kernel")?;
        let milliseconds = stop.elapsed_time_f32(&start).during("reading the time")?;
        Ok((result, Duration::from_secs_f64(f64::from(milliseconds) / 1e3)))
    }
}

impl Drop for Cuda {
    fn drop(&mut self) {
        // The stream goes next, and wants its context. If that fails there is nobody to tell.
        let _ = self.enter();
    }
}

/// How many CUDA devices there are; at least one.
fn device_count() -> Result<u32, Error> {
    if let Some(reason) = driver_missing() {
        return Err(Error::NoCudaDevice { reason });
    }
    let none = |reason: cust::error::CudaError| Error::NoCudaDevice {
        reason: describe(reason),
    };
    cust::init(CudaFlags::empty()).map_err(none)?;
    match cust::device::Device::num_devices().map_err(none)? {
        0 => Err(Error::NoCudaDevice {
            reason: "the driver lists none".to_owned(),
        }),
        count => Ok(count),
    }
}

fn limits(device: cust::device::Device) -> cust::error::CudaResult<Limits> {
    let get = |attribute| device.get_attribute(attribute).map(|value| value.unsigned_abs());
    let mut opt_in = 0;
    // SAFETY: the device is one that the driver listed, and the pointer is to a local variable.
    let answer = unsafe {
        cust::sys::cuDeviceGetAttribute(
            &mut opt_in,
            CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
            device.as_raw(),
        )
    };
    // A driver that does not know the attribute drives no card that has the opt-in.
    let shared_per_block = match answer {
        cust::sys::cudaError_enum::CUDA_SUCCESS => u64::from(opt_in.unsigned_abs()),
        _ => SHARED_WITHOUT_OPT_IN,
    };
    Ok(Limits {
        name: device.name()?,
        arch: Arch::new(
            get(Attribute::ComputeCapabilityMajor)?,
            get(Attribute::ComputeCapabilityMinor)?,
        ),
        threads_per_block: get(Attribute::MaxThreadsPerBlock)?,
        block: Dim3([
            get(Attribute::MaxBlockDimX)?,
            get(Attribute::MaxBlockDimY)?,
            get(Attribute::MaxBlockDimZ)?,
        ]),
        grid: Dim3([
            get(Attribute::MaxGridDimX)?,
            get(Attribute::MaxGridDimY)?,
            get(Attribute::MaxGridDimZ)?,
        ]),
        shared_per_block,
    })
}
