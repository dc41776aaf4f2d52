//! Typed memory on a device.

use std::marker::PhantomData;
use std::sync::Arc;

use bytemuck::allocation::zeroed_vec;
use bytemuck::{Pod, cast_slice, cast_slice_mut};

use crate::device::{Backend, Device};
use crate::error::Error;
use crate::{cuda, emulated};

/// `len` elements of type `T` on a device, freed when dropped. Made by [`Device::upload`] and its kin.
#[derive(Debug)]
pub struct DeviceBuffer<T> {
    pub(crate) storage: Storage,
    len: usize,
    element: PhantomData<T>,
}

/// Where a buffer's bytes are.
#[derive(Debug)]
pub(crate) enum Storage {
    Cuda(cuda::Allocation),
    Emulated(emulated::Allocation),
}

impl Storage {
    pub(crate) fn address(&self) -> u64 {
        match self {
            Self::Cuda(allocation) => allocation.address(),
            Self::Emulated(allocation) => allocation.address(),
        }
    }

    pub(crate) fn is_on(&self, device: &Device) -> bool {
        match (self, &device.backend) {
            (Self::Cuda(allocation), Backend::Cuda(cuda)) => Arc::ptr_eq(allocation.device(), cuda),
            (Self::Emulated(allocation), Backend::Emulated(emulated)) => Arc::ptr_eq(allocation.device(), emulated),
            _ => false,
        }
    }

    /// For messages.
    pub(crate) fn describe_device(&self) -> String {
        match self {
            Self::Cuda(allocation) => allocation.device().describe(),
            Self::Emulated(_) => "the emulator (another one)".to_owned(),
        }
    }
}

impl Device {
    /// A buffer of `len` elements of any content. To the emulator they count as unwritten: a kernel that reads one before
    /// it was written is a finding.
    ///
    /// # Errors
    /// When the device has no room for it.
    pub fn uninit<T: Pod>(&self, len: usize) -> Result<DeviceBuffer<T>, Error> {
        let bytes = len
            .checked_mul(size_of::<T>())
            .filter(|&bytes| bytes <= isize::MAX as usize)
            .ok_or(Error::TooLarge {
                elements: len,
                element_bytes: size_of::<T>(),
            })?;
        let storage = match &self.backend {
            Backend::Cuda(device) => Storage::Cuda(cuda::Allocation::new(device, bytes)?),
            Backend::Emulated(device) => Storage::Emulated(emulated::Allocation::new(device, bytes)?),
        };
        Ok(DeviceBuffer {
            storage,
            len,
            element: PhantomData,
        })
    }

    /// A buffer of `len` elements whose bytes are all zero.
    ///
    /// # Errors
    /// When the device has no room for it.
    pub fn zeros<T: Pod>(&self, len: usize) -> Result<DeviceBuffer<T>, Error> {
        let mut buffer = self.uninit(len)?;
        buffer.fill_bytes(0)?;
        Ok(buffer)
    }

    /// A buffer with a copy of `elements`.
    ///
    /// # Errors
    /// When the device has no room for it.
    pub fn upload<T: Pod>(&self, elements: &[T]) -> Result<DeviceBuffer<T>, Error> {
        let mut buffer = self.uninit(elements.len())?;
        buffer.write(elements)?;
        Ok(buffer)
    }
}

impl<T: Pod> DeviceBuffer<T> {
    /// Elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        self.len * size_of::<T>()
    }

    /// Whether the buffer is in this device's memory.
    pub fn is_on(&self, device: &Device) -> bool {
        self.storage.is_on(device)
    }

    /// Copies all elements to the host. Waits for the kernels launched before, and returns their error if they failed.
    ///
    /// # Errors
    /// When an earlier launch failed, or the copy does.
    pub fn to_vec(&self) -> Result<Vec<T>, Error> {
        let mut elements = zeroed_vec(self.len);
        self.read(&mut elements)?;
        Ok(elements)
    }

    /// Like [`to_vec`](Self::to_vec), into a slice of the buffer's length.
    ///
    /// # Errors
    /// Besides those, [`Error::Length`].
    pub fn read(&self, into: &mut [T]) -> Result<(), Error> {
        self.check_length(into.len())?;
        match &self.storage {
            Storage::Cuda(allocation) => allocation.read(cast_slice_mut(into)),
            Storage::Emulated(allocation) => allocation.read(cast_slice_mut(into)),
        }
    }

    /// Overwrites all elements from a slice of the buffer's length.
    ///
    /// # Errors
    /// [`Error::Length`]; or an earlier launch failed, or the copy does.
    pub fn write(&mut self, elements: &[T]) -> Result<(), Error> {
        self.check_length(elements.len())?;
        match &mut self.storage {
            Storage::Cuda(allocation) => allocation.write(cast_slice(elements)),
            Storage::Emulated(allocation) => allocation.write(cast_slice(elements)),
        }
    }

    /// Sets every byte to `byte`.
    ///
    /// # Errors
    /// When the device refuses.
    pub fn fill_bytes(&mut self, byte: u8) -> Result<(), Error> {
        match &mut self.storage {
            Storage::Cuda(allocation) => allocation.fill(byte),
            Storage::Emulated(allocation) => allocation.fill(byte),
        }
    }

    /// Copies a buffer of the same length on the same device, without passing through the host.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::DifferentDevices`]; or the device refuses.
    pub fn copy_from(&mut self, from: &Self) -> Result<(), Error> {
        self.check_length(from.len)?;
        match (&mut self.storage, &from.storage) {
            (Storage::Cuda(to), Storage::Cuda(from)) if Arc::ptr_eq(to.device(), from.device()) => to.copy_from(from),
            (Storage::Emulated(to), Storage::Emulated(from)) if Arc::ptr_eq(to.device(), from.device()) => {
                to.copy_from(from)
            }
            _ => Err(Error::DifferentDevices),
        }
    }

    fn check_length(&self, given: usize) -> Result<(), Error> {
        if given == self.len {
            Ok(())
        } else {
            Err(Error::Length {
                buffer: self.len,
                given,
            })
        }
    }
}
