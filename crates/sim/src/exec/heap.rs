//! The device's own heap: what `malloc` in a kernel gives, until `free` takes it, across launches.

use crate::memory::backing::Backing;
use crate::memory::global::{Allocation, Freed};
use crate::memory::init::Written;
use crate::memory::{HEAP_BASE, HEAP_BYTES};

/// See the module's docs.
#[derive(Debug, Default)]
pub(crate) struct Heap {
    /// By address.
    pub(crate) live: Vec<Allocation>,
    pub(crate) freed: Vec<Freed>,
    next: u64,
    in_use: u64,
}

/// Alignment of what `malloc` gives.
const ALIGN: u64 = 16;
const GUARD: u64 = 256;

impl Heap {
    /// Allocates; 0 when the heap is exhausted, as `malloc` does.
    pub(crate) fn malloc(&mut self, bytes: u64) -> u64 {
        if bytes == 0 || bytes > HEAP_BYTES - self.in_use {
            return 0;
        }
        let Some(data) = Backing::new(bytes) else { return 0 };
        let base = HEAP_BASE + self.next;
        self.next = (self.next + bytes + GUARD).next_multiple_of(ALIGN);
        self.in_use += bytes;
        let label = format!("malloc#{}", self.live.len() + self.freed.len());
        let written = Written::nothing(bytes);
        self.live.push(Allocation {
            base,
            data,
            written,
            label,
        });
        base
    }

    /// Frees; `false` when nothing that is live starts there. Null is fine.
    pub(crate) fn free(&mut self, address: u64) -> bool {
        if address == 0 {
            return true;
        }
        match self.live.binary_search_by_key(&address, |a| a.base) {
            Ok(i) => {
                let a = self.live.remove(i);
                self.in_use -= a.data.len() as u64;
                self.freed.push(Freed {
                    base: a.base,
                    bytes: a.data.len() as u64,
                    label: a.label,
                });
                true
            }
            Err(_) => false,
        }
    }

    /// First address that `malloc` has not given yet. Addresses are never given again.
    pub(crate) fn next_address(&self) -> u64 {
        HEAP_BASE + self.next
    }

    pub(crate) fn find(&self, address: u64) -> Option<&Allocation> {
        let after = self.live.partition_point(|a| a.base <= address);
        let a = &self.live[after.checked_sub(1)?];
        (address < a.end()).then_some(a)
    }

    pub(crate) fn freed_at(&self, address: u64) -> Option<&Freed> {
        self.freed.iter().find(|f| address.wrapping_sub(f.base) < f.bytes)
    }
}
