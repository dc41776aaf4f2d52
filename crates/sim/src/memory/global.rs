//! The device's global memory: allocations with bounds and fresh addresses; freed ranges are remembered.

use std::collections::BTreeMap;

use super::backing::Backing;
use super::init::Written;
use super::{GLOBAL_BASE, MemoryError};
use crate::exec::Heap;
use crate::instance::Instance;

/// Allocations start at multiples of this, as `cudaMalloc`'s do.
const ALIGN: u64 = 256;
/// Unmapped bytes between allocations, so that running over an end never lands in the neighbour.
const GUARD: u64 = 1 << 16;

/// One allocation.
#[derive(Debug)]
pub(crate) struct Allocation {
    pub(crate) base: u64,
    pub(crate) data: Backing,
    pub(crate) written: Written,
    pub(crate) label: String,
}

impl Allocation {
    #[inline]
    pub(crate) fn end(&self) -> u64 {
        self.base + self.data.len() as u64
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Freed {
    pub(crate) base: u64,
    pub(crate) bytes: u64,
    pub(crate) label: String,
}

/// The device's global memory.
///
/// Addresses are never used twice, so an access through an address that was freed is always told apart from one to a
/// live buffer. What was allocated counts as uninitialised until it is written.
#[derive(Debug)]
pub struct Memory {
    /// By address: allocation only appends.
    pub(crate) live: Vec<Allocation>,
    pub(crate) freed: Vec<Freed>,
    /// What the blocks of cooperative launches meet in.
    pub(crate) workspace: Option<u64>,
    /// What `malloc` in kernels gave.
    pub(crate) heap: Heap,
    /// Variables of the modules that were launched, by the program's number.
    pub(crate) instances: BTreeMap<u64, Instance>,
    next: u64,
    in_use: u64,
    count: u64,
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

impl Memory {
    /// Nothing allocated.
    pub fn new() -> Self {
        Self {
            live: Vec::new(),
            freed: Vec::new(),
            workspace: None,
            heap: Heap::default(),
            instances: BTreeMap::new(),
            next: GLOBAL_BASE,
            in_use: 0,
            count: 0,
        }
    }

    /// Where the blocks of a cooperative launch meet, cleared: its size and the barrier's word.
    pub(crate) fn workspace(&mut self) -> Result<u64, MemoryError> {
        const BYTES: u64 = 8;
        let address = match self.workspace {
            Some(address) => address,
            None => self.alloc_named(BYTES, "grid workspace")?,
        };
        self.workspace = Some(address);
        self.fill(address, 0, BYTES)?;
        Ok(address)
    }

    /// Allocates `bytes` (0 is allowed and gives an address that nothing may access). Returns the device address.
    ///
    /// # Errors
    /// When the host cannot provide the memory.
    pub fn alloc(&mut self, bytes: u64) -> Result<u64, MemoryError> {
        let label = format!("buffer#{}", self.count);
        self.alloc_named(bytes, &label)
    }

    /// Like [`alloc`](Self::alloc); findings call the buffer by `name`.
    ///
    /// # Errors
    /// When the host cannot provide the memory.
    pub fn alloc_named(&mut self, bytes: u64, name: &str) -> Result<u64, MemoryError> {
        let out_of_memory = MemoryError::OutOfMemory {
            asked: bytes,
            in_use: self.in_use,
        };
        if bytes > 1 << 44 {
            return Err(out_of_memory);
        }
        let Some(data) = Backing::new(bytes) else {
            return Err(out_of_memory);
        };
        let base = self.next;
        self.next = (base + bytes + GUARD).next_multiple_of(ALIGN);
        self.in_use += bytes;
        self.count += 1;
        self.live.push(Allocation {
            base,
            data,
            written: Written::nothing(bytes),
            label: name.to_owned(),
        });
        Ok(base)
    }

    /// Frees the allocation that starts at `address`.
    ///
    /// # Errors
    /// When no live allocation starts there; a second free says so.
    pub fn free(&mut self, address: u64) -> Result<(), MemoryError> {
        match self.live.binary_search_by_key(&address, |a| a.base) {
            Ok(index) => {
                let a = self.live.remove(index);
                self.in_use -= a.data.len() as u64;
                self.freed.push(Freed {
                    base: a.base,
                    bytes: a.data.len() as u64,
                    label: a.label,
                });
                Ok(())
            }
            Err(_) => Err(match self.freed_at(address) {
                Some(f) => MemoryError::Freed {
                    address,
                    buffer: f.label.clone(),
                },
                None => MemoryError::NotAllocated { address },
            }),
        }
    }

    /// Copies `bytes` to the device.
    ///
    /// # Errors
    /// When the range is not within one allocation.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), MemoryError> {
        let (index, offset) = self.range(address, bytes.len() as u64)?;
        let a = &mut self.live[index];
        a.data.bytes_mut()[offset..offset + bytes.len()].copy_from_slice(bytes);
        a.written.mark(offset as u64, bytes.len() as u64);
        Ok(())
    }

    /// Copies from the device. Bytes that nobody wrote read as zero.
    ///
    /// # Errors
    /// When the range is not within one allocation.
    pub fn read(&mut self, address: u64, out: &mut [u8]) -> Result<(), MemoryError> {
        let (index, offset) = self.range(address, out.len() as u64)?;
        out.copy_from_slice(&self.live[index].data.bytes_mut()[offset..offset + out.len()]);
        Ok(())
    }

    /// Sets `bytes` bytes to `value`.
    ///
    /// # Errors
    /// When the range is not within one allocation.
    pub fn fill(&mut self, address: u64, value: u8, bytes: u64) -> Result<(), MemoryError> {
        let (index, offset) = self.range(address, bytes)?;
        let a = &mut self.live[index];
        a.data.bytes_mut()[offset..offset + bytes as usize].fill(value);
        a.written.mark(offset as u64, bytes);
        Ok(())
    }

    /// The bytes of the allocation that starts at `address`, to fill in place; all of it counts as written.
    ///
    /// # Errors
    /// When no live allocation starts there.
    pub fn bytes_mut(&mut self, address: u64) -> Result<&mut [u8], MemoryError> {
        let (index, _) = self.range(address, 0)?;
        let a = &mut self.live[index];
        if a.base != address {
            return Err(MemoryError::NotAllocated { address });
        }
        a.written.mark(0, a.data.len() as u64);
        Ok(a.data.bytes_mut())
    }

    /// Whether every one of the `bytes` bytes at `address` has been written.
    ///
    /// # Errors
    /// When the range is not within one allocation.
    pub fn is_initialized(&self, address: u64, bytes: u64) -> Result<bool, MemoryError> {
        let (index, offset) = self.range(address, bytes)?;
        Ok(self.live[index].written.is_written(offset as u64, bytes))
    }

    /// Bytes in live allocations.
    pub fn in_use(&self) -> u64 {
        self.in_use
    }

    fn range(&self, address: u64, bytes: u64) -> Result<(usize, usize), MemoryError> {
        let index = self.live.partition_point(|a| a.base <= address);
        if let Some(a) = index.checked_sub(1).map(|i| &self.live[i])
            && address.checked_add(bytes).is_some_and(|end| end <= a.end())
        {
            return Ok((index - 1, (address - a.base) as usize));
        }
        Err(match self.freed_at(address) {
            Some(f) => MemoryError::Freed {
                address,
                buffer: f.label.clone(),
            },
            None => MemoryError::OutOfBounds {
                address,
                bytes,
                near: self.describe_near(address),
            },
        })
    }

    pub(crate) fn freed_at(&self, address: u64) -> Option<&Freed> {
        self.freed
            .iter()
            .find(|f| address.wrapping_sub(f.base) < f.bytes.max(1))
    }

    /// The live allocation nearest to an address.
    pub(crate) fn nearest(&self, address: u64) -> Option<&Allocation> {
        self.live.iter().chain(&self.heap.live).min_by_key(|a| {
            if address < a.base {
                a.base - address
            } else {
                address.saturating_sub(a.end().saturating_sub(1))
            }
        })
    }

    fn describe_near(&self, address: u64) -> Option<String> {
        let a = self.nearest(address)?;
        Some(format!("{} of {} bytes at {:#x}", a.label, a.data.len(), a.base))
    }
}
