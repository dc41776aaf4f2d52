//! Which bytes have been written: one bit a byte, nothing at all once everything was.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Bits of written bytes.
#[derive(Debug)]
pub(crate) struct Written {
    bits: Vec<AtomicU64>,
    all: AtomicBool,
    /// Whether nothing was ever marked.
    untouched: AtomicBool,
    bytes: u64,
}

impl Written {
    /// Nothing written yet.
    pub(crate) fn nothing(bytes: u64) -> Self {
        let bits = (0..bytes.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        Self {
            bits,
            all: AtomicBool::new(bytes == 0),
            untouched: AtomicBool::new(true),
            bytes,
        }
    }

    /// Whether every byte counts as written.
    #[inline]
    pub(crate) fn all(&self) -> bool {
        self.all.load(Relaxed)
    }

    /// Whether nothing was ever marked, so that every byte is still zero.
    #[inline]
    pub(crate) fn is_untouched(&self) -> bool {
        self.untouched.load(Relaxed)
    }

    /// Marks `len` bytes from `offset`.
    pub(crate) fn mark(&self, offset: u64, len: u64) {
        if self.all() || len == 0 {
            return;
        }
        self.untouched.store(false, Relaxed);
        if offset == 0 && len >= self.bytes {
            self.all.store(true, Relaxed);
            return;
        }
        self.spans(offset, len, |word, mask| {
            if word.load(Relaxed) & mask != mask {
                word.fetch_or(mask, Relaxed);
            }
            true
        });
    }

    /// Whether all `len` bytes from `offset` were written.
    #[inline]
    pub(crate) fn is_written(&self, offset: u64, len: u64) -> bool {
        self.all() || self.spans(offset, len, |word, mask| word.load(Relaxed) & mask == mask)
    }

    #[inline]
    fn spans(&self, offset: u64, len: u64, mut each: impl FnMut(&AtomicU64, u64) -> bool) -> bool {
        let end = offset + len;
        let mut at = offset;
        while at < end {
            let stop = ((at | 63) + 1).min(end);
            let count = stop - at;
            let mask = if count == 64 {
                u64::MAX
            } else {
                ((1 << count) - 1) << (at % 64)
            };
            if !each(&self.bits[(at / 64) as usize], mask) {
                return false;
            }
            at = stop;
        }
        true
    }
}
