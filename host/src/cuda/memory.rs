//! Device memory.

use std::sync::Arc;

use cust::memory::{AsyncCopyDestination, CopyDestination, DeviceBuffer};

use super::{Cuda, During};
use crate::error::Error;

/// Bytes on a CUDA device, freed when dropped.
#[derive(Debug)]
pub(crate) struct Allocation {
    // An Option so that Drop can enter the context before the memory goes.
    bytes: Option<DeviceBuffer<u8>>,
    device: Arc<Cuda>,
}

impl Allocation {
    /// Memory of any content.
    pub(crate) fn new(device: &Arc<Cuda>, bytes: usize) -> Result<Self, Error> {
        device.enter()?;
        // SAFETY: every pattern of bits is a u8, so reading before writing gives some value.
        let bytes = unsafe { DeviceBuffer::uninitialized(bytes) }.during("allocating device memory")?;
        Ok(Self {
            bytes: Some(bytes),
            device: Arc::clone(device),
        })
    }

    pub(crate) fn device(&self) -> &Arc<Cuda> {
        &self.device
    }

    fn get(&self) -> &DeviceBuffer<u8> {
        self.bytes.as_ref().expect("only Drop takes the buffer away")
    }

    fn get_mut(&mut self) -> &mut DeviceBuffer<u8> {
        self.bytes.as_mut().expect("only Drop takes the buffer away")
    }

    pub(crate) fn address(&self) -> u64 {
        self.get().as_device_ptr().as_raw()
    }

    /// Copies all of it to the host, after everything enqueued before. The lengths must be equal.
    pub(crate) fn read(&self, into: &mut [u8]) -> Result<(), Error> {
        // First, so that a kernel's failure is reported as the kernel's.
        self.device.synchronize()?;
        self.get().copy_to(into).during("copying to the host")
    }

    /// Copies all of it from the host. The lengths must be equal.
    pub(crate) fn write(&mut self, from: &[u8]) -> Result<(), Error> {
        self.device.synchronize()?;
        self.get_mut().copy_from(from).during("copying to the device")
    }

    /// Sets every byte.
    pub(crate) fn fill(&mut self, byte: u8) -> Result<(), Error> {
        self.device.enter()?;
        let (address, len) = (self.address(), self.get().len());
        if len == 0 {
            return Ok(());
        }
        // SAFETY: the range is this allocation, and the borrow is unique.
        let answer = unsafe { cust::sys::cuMemsetD8Async(address, byte, len, self.device.stream.as_inner()) };
        self.device.accept(answer, "filling device memory")
    }

    /// Enqueues a copy from `from`, on the same device and of the same length.
    pub(crate) fn copy_from(&mut self, from: &Self) -> Result<(), Error> {
        let device = Arc::clone(&self.device);
        device.enter()?;
        // SAFETY: both live on this device, and every later use of either is ordered behind this stream.
        unsafe { from.get().async_copy_to(self.get_mut(), &device.stream) }.during("copying on the device")
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        // A failed kernel leaves a context in which nothing works any more. The memory goes with the context then, and
        // nothing useful can be done about the error here; it was reported where it happened.
        let _ = self.device.enter();
        drop(self.bytes.take());
    }
}
