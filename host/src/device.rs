//! Opening a device.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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
    extensions: Extensions,
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
            extensions: Extensions::default(),
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
            extensions: Extensions::default(),
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

    /// What a library keeps for a device between calls, loaded kernels above all: made by the first call for a type `T`,
    /// the same for every later one and every clone of this handle, dropped with the last of them.
    ///
    /// ```
    /// use tile33_host::{Device, Error};
    ///
    /// struct Answer(u32);
    /// let device = Device::emulator();
    /// let first = device.extension(|_| Ok::<_, Error>(Answer(42)))?;
    /// let second = device.clone().extension(|_| -> Result<Answer, Error> { unreachable!() })?;
    /// assert_eq!((first.0, second.0), (42, 42));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of `make`; the next call tries again.
    pub fn extension<T, E>(&self, make: impl FnOnce(&Self) -> Result<T, E>) -> Result<Arc<T>, E>
    where
        T: Any + Send + Sync,
    {
        if let Some(found) = self.extensions.get() {
            return Ok(found);
        }
        // Outside of the lock, and with a handle that has no extensions: what `make` keeps may hold a handle.
        let made = make(&self.without_extensions())?;
        Ok(self.extensions.get_or_insert(made))
    }

    /// A handle to the same device that extensions can keep: they would keep themselves alive through one of theirs.
    pub(crate) fn without_extensions(&self) -> Self {
        Self {
            extensions: Extensions::default(),
            ..self.clone()
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

/// Values by their types.
#[derive(Clone, Default)]
struct Extensions(Arc<Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>>);

impl Extensions {
    fn get<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        let found = self.lock().get(&TypeId::of::<T>()).cloned()?;
        found.downcast().ok()
    }

    /// The value of this type, which is `value` if there was none: another thread may have been faster.
    fn get_or_insert<T: Any + Send + Sync>(&self, value: T) -> Arc<T> {
        if let Some(found) = self.get() {
            return found;
        }
        let value = Arc::new(value);
        let kept: Arc<dyn Any + Send + Sync> = Arc::clone(&value) as _;
        let kept = Arc::clone(self.lock().entry(TypeId::of::<T>()).or_insert(kept));
        kept.downcast().unwrap_or(value)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TypeId, Arc<dyn Any + Send + Sync>>> {
        // Nothing that runs under the lock panics.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} extensions", self.lock().len())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extension_is_made_once_for_all_handles_and_dropped_with_the_last() {
        struct Kept(Device, Arc<()>);
        let alive = Arc::new(());
        let device = Device::emulator();
        let make = |device: &Device| Ok::<_, Error>(Kept(device.clone(), Arc::clone(&alive)));
        let first = device.extension(make).unwrap();
        let second = device.clone().extension(make).unwrap();
        assert!(Arc::ptr_eq(&first, &second));
        assert!(second.0.is_emulator());
        assert_eq!(Arc::strong_count(&second.1), 2);
        drop((first, second, device));
        assert_eq!(Arc::strong_count(&alive), 1);
    }

    #[test]
    fn an_extension_that_could_not_be_made_is_tried_again() {
        let device = Device::emulator();
        assert_eq!(device.extension(|_| Err::<u32, _>("not yet")), Err("not yet"));
        assert_eq!(device.extension(|_| Ok::<u32, &str>(7)).as_deref(), Ok(&7));
    }
}
