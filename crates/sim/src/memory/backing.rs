//! The bytes of an allocation.
//!
//! Blocks run on several host threads and a kernel may have races, so the bytes are only ever touched through relaxed
//! atomics of the access's own width: a race of the kernel is then a finding, never undefined behaviour of the host.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};

/// Zeroed bytes, aligned to 16.
#[derive(Debug)]
pub(crate) struct Backing {
    data: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the bytes are owned, and shared access goes through atomics only.
unsafe impl Send for Backing {}
// SAFETY: as above.
unsafe impl Sync for Backing {}

/// No more than what `calloc` gives anyhow: then fresh pages of the system serve as zeros without being touched.
const ALIGN: usize = 16;
/// Room is made in units of this, so that no wide access needs a tail case.
const ROOM: usize = 256;

impl Backing {
    /// `None` if the host has not that much memory.
    pub(crate) fn new(bytes: u64) -> Option<Self> {
        let bytes = usize::try_from(bytes).ok()?;
        let layout = Self::layout(bytes)?;
        // SAFETY: the layout has a size of at least 256.
        let data = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(Self { data, bytes })
    }

    fn layout(bytes: usize) -> Option<Layout> {
        Layout::from_size_align(bytes.max(1).checked_next_multiple_of(ROOM)?, ALIGN).ok()
    }

    /// Bytes.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.bytes
    }

    #[inline]
    fn at<A>(&self, offset: usize) -> &A {
        let width = size_of::<A>();
        assert!(offset.is_multiple_of(width) && offset + width <= self.bytes.next_multiple_of(ROOM));
        // SAFETY: in bounds and aligned by the assertion; `A` is an atomic integer, of which every bit pattern is valid,
        // and all shared access is through atomics.
        unsafe { &*self.data.as_ptr().add(offset).cast::<A>() }
    }

    /// The byte at `offset`, as an atomic.
    #[inline]
    pub(crate) fn u8(&self, offset: usize) -> &AtomicU8 {
        self.at(offset)
    }

    /// The 2 bytes at `offset`, which is a multiple of 2.
    #[inline]
    pub(crate) fn u16(&self, offset: usize) -> &AtomicU16 {
        self.at(offset)
    }

    /// The 4 bytes at `offset`, which is a multiple of 4.
    #[inline]
    pub(crate) fn u32(&self, offset: usize) -> &AtomicU32 {
        self.at(offset)
    }

    /// The 8 bytes at `offset`, which is a multiple of 8.
    #[inline]
    pub(crate) fn u64(&self, offset: usize) -> &AtomicU64 {
        self.at(offset)
    }

    /// The 4-byte words from `offset` on, as atomics.
    #[inline]
    pub(crate) fn words(&self, offset: usize, count: usize) -> &[AtomicU32] {
        assert!(offset.is_multiple_of(4) && offset + 4 * count <= self.bytes.next_multiple_of(ROOM));
        // SAFETY: as in `at`.
        unsafe { std::slice::from_raw_parts(self.data.as_ptr().add(offset).cast(), count) }
    }

    /// The 8-byte words from `offset` on, as atomics.
    #[inline]
    pub(crate) fn doubles(&self, offset: usize, count: usize) -> &[AtomicU64] {
        assert!(offset.is_multiple_of(8) && offset + 8 * count <= self.bytes.next_multiple_of(ROOM));
        // SAFETY: as in `at`.
        unsafe { std::slice::from_raw_parts(self.data.as_ptr().add(offset).cast(), count) }
    }

    /// Makes every byte zero.
    pub(crate) fn clear(&self) {
        for double in self.doubles(0, self.bytes.div_ceil(8)) {
            double.store(0, Relaxed);
        }
    }

    /// Copies out.
    pub(crate) fn read(&self, offset: usize, out: &mut [u8]) {
        for (i, byte) in out.iter_mut().enumerate() {
            *byte = self.u8(offset + i).load(Relaxed);
        }
    }

    /// Copies in.
    pub(crate) fn write(&self, offset: usize, bytes: &[u8]) {
        for (i, &byte) in bytes.iter().enumerate() {
            self.u8(offset + i).store(byte, Relaxed);
        }
    }

    /// The bytes, where nobody else can touch them.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: owned, in bounds, and the borrow is unique.
        unsafe { std::slice::from_raw_parts_mut(self.data.as_ptr(), self.bytes) }
    }
}

impl Drop for Backing {
    fn drop(&mut self) {
        if let Some(layout) = Self::layout(self.bytes) {
            // SAFETY: allocated in `new` with this layout.
            unsafe { dealloc(self.data.as_ptr(), layout) };
        }
    }
}
