//! Opening a device.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tile33_sim::Options;

use crate::cuda::Cuda;
use crate::emulated::Emulated;
use crate::error::Error;
use crate::limits::Limits;

/// Something that kernels run on: a CUDA device, or the emulator. Cloning gives another handle to the same device; handles
/// can be used from any thread.
///
/// ```
/// use tile33_host::Device;
///
/// let device = Device::open();
/// println!("{device}"); // says which it is, and why
/// let buffer = device.upload(&[1.0f32, 2.0, 3.0])?;
/// assert_eq!(buffer.to_vec()?, [1.0, 2.0, 3.0]);
/// # Ok::<(), tile33_host::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Device {
    pub(crate) backend: Backend,
    /// Why it is the emulator, where nobody asked for it.
    fallback: Option<Arc<str>>,
}

#[derive(Clone, Debug)]
pub(crate) enum Backend {
    Cuda(Arc<Cuda>),
    Emulated(Arc<Emulated>),
}

impl Device {
    /// The first CUDA device if there is one that can be opened, else the emulator. [`Display`](fmt::Display) says which,
    /// and why.
    pub fn open() -> Self {
        Self::cuda(0).unwrap_or_else(|reason| Self {
            fallback: Some(reason.to_string().into()),
            ..Self::emulator()
        })
    }

    /// The CUDA device with this number, counted from 0.
    ///
    /// # Errors
    /// [`Error::NoCudaDevice`], [`Error::NoSuchDevice`], or what the driver says.
    pub fn cuda(ordinal: u32) -> Result<Self, Error> {
        Ok(Self {
            backend: Backend::Cuda(Arc::new(Cuda::open(ordinal)?)),
            fallback: None,
        })
    }

    /// The emulator, with all checks.
    pub fn emulator() -> Self {
        Self::emulator_with(Options::default())
    }

    /// The emulator, with options of your own: which checks run, how many threads it takes, when it gives up.
    pub fn emulator_with(options: Options) -> Self {
        Self {
            backend: Backend::Emulated(Arc::new(Emulated::new(options))),
            fallback: None,
        }
    }

    /// Whether this is a CUDA device.
    pub fn is_cuda(&self) -> bool {
        matches!(self.backend, Backend::Cuda(_))
    }

    /// Whether this is the emulator.
    pub fn is_emulator(&self) -> bool {
        matches!(self.backend, Backend::Emulated(_))
    }

    /// What a launch must stay within.
    pub fn limits(&self) -> &Limits {
        match &self.backend {
            Backend::Cuda(device) => device.limits(),
            Backend::Emulated(device) => device.limits(),
        }
    }

    /// Waits for everything that was launched.
    ///
    /// # Errors
    /// What went wrong in it.
    pub fn synchronize(&self) -> Result<(), Error> {
        match &self.backend {
            Backend::Cuda(device) => device.synchronize(),
            Backend::Emulated(_) => Ok(()),
        }
    }

    /// The device's own time for what `work` enqueues on it: between two events, on CUDA; `None` on the emulator, whose
    /// clock says nothing about a GPU.
    ///
    /// # Errors
    /// Those of `work`, and what went wrong on the device.
    pub fn time<R>(&self, work: impl FnOnce() -> Result<R, Error>) -> Result<(R, Option<Duration>), Error> {
        match &self.backend {
            Backend::Cuda(device) => device.time(work).map(|(result, time)| (result, Some(time))),
            Backend::Emulated(_) => work().map(|result| (result, None)),
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.backend, &self.fallback) {
            (Backend::Cuda(device), _) => f.write_str(&device.describe()),
            (Backend::Emulated(_), None) => f.write_str("emulator"),
            (Backend::Emulated(_), Some(reason)) => {
                write!(f, "emulator ({})", reason.trim_end_matches(". The emulator needs none"))
            }
        }
    }
}
