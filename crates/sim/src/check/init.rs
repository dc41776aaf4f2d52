//! Which bytes have been written: one bit a byte.
//!
//! A read of bytes that nobody wrote is reported even where the value is only copied: padding inside a structure that
//! is read as a whole is a read of memory that was never written, as it is for every tool of this kind.

use super::pages::{PAGE, Pages};
use crate::memory::Memory;
use crate::memory::init::Written;

/// One bit a byte for a range that starts at 0: a block's shared memory.
#[derive(Clone, Debug, Default)]
pub struct InitMap {
    words: Vec<u64>,
    bytes: u64,
    /// Every byte is written: nothing needs to be looked up.
    full: bool,
}

impl InitMap {
    /// `bytes` bytes, none written.
    pub fn new(bytes: u64) -> Self {
        Self {
            words: vec![0; bytes.div_ceil(64) as usize],
            bytes,
            full: bytes == 0,
        }
    }

    /// `bytes` bytes, every one written.
    pub fn written(bytes: u64) -> Self {
        Self {
            words: Vec::new(),
            bytes,
            full: true,
        }
    }

    /// Length in bytes.
    pub fn len(&self) -> u64 {
        self.bytes
    }

    /// Whether it covers no byte.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Forgets every write and changes the length.
    pub fn reset(&mut self, bytes: u64) {
        self.words.clear();
        self.words.resize(bytes.div_ceil(64) as usize, 0);
        self.bytes = bytes;
        self.full = bytes == 0;
    }

    /// Bytes `start..start + len` are written. What lies past the end is ignored.
    #[inline]
    pub fn mark(&mut self, start: u64, len: u64) {
        if self.full {
            return;
        }
        let (word, bit) = ((start / 64) as usize, start % 64);
        if bit + len <= 64 && word < self.words.len() {
            self.words[word] |= ones(len) << bit;
        } else {
            self.mark_range(start, len);
        }
    }

    /// The first byte of `start..start + len` that is not written. What lies past the end counts as written.
    #[inline]
    pub fn first_missing(&self, start: u64, len: u64) -> Option<u64> {
        if self.full {
            return None;
        }
        let (word, bit) = ((start / 64) as usize, start % 64);
        if bit + len <= 64 && word < self.words.len() {
            let missing = !(self.words[word] >> bit) & ones(len);
            if missing == 0 {
                return None;
            }
            let at = start + u64::from(missing.trailing_zeros());
            return (at < self.bytes).then_some(at);
        }
        let end = start.saturating_add(len).min(self.bytes);
        (start..end).find(|&at| self.words[(at / 64) as usize] >> (at % 64) & 1 == 0)
    }

    fn mark_range(&mut self, start: u64, len: u64) {
        let end = start.saturating_add(len).min(self.bytes);
        if start == 0 && end == self.bytes {
            *self = Self::written(self.bytes);
            return;
        }
        let mut at = start;
        while at < end {
            let count = (64 - at % 64).min(end - at);
            self.words[(at / 64) as usize] |= ones(count) << (at % 64);
            at += count;
        }
    }
}

#[inline]
fn ones(count: u64) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

/// The bytes of global memory that a launch, or one block of it, wrote and nobody had written before.
#[derive(Debug, Default)]
pub(crate) struct WrittenBytes {
    pages: Pages<Bits>,
}

type Bits = [u64; (PAGE / 64) as usize];

impl WrittenBytes {
    /// These bytes, all in one page, are written.
    #[inline]
    pub(crate) fn mark(&mut self, start: u64, len: u64) {
        let page = self.pages.get_or_make(start / PAGE, |p| *p = Bits::default());
        page[(start % PAGE / 64) as usize] |= ones(len) << (start % 64);
    }

    /// Whether the bytes are written; with `mark` they are so from now on.
    pub(crate) fn covers(&mut self, start: u64, len: u64, mark: bool) -> bool {
        let (mut at, end) = (start, start + len);
        while at < end {
            let count = (64 - at % 64).min(end - at);
            if mark {
                self.mark(at, count);
            } else if self.bits(at, count) != ones(count) {
                return false;
            }
            at += count;
        }
        true
    }

    /// Which of the bytes, all in one 64-byte line, are written: a bit each.
    #[inline]
    pub(crate) fn bits(&self, start: u64, len: u64) -> u64 {
        self.pages
            .get(start / PAGE)
            .map_or(0, |page| page[(start % PAGE / 64) as usize] >> (start % 64) & ones(len))
    }

    /// Adds another's.
    pub(crate) fn merge(&mut self, other: &WrittenBytes) {
        for (page, bits) in other.pages.iter() {
            for (ours, theirs) in self
                .pages
                .get_or_make(page, |p| *p = Bits::default())
                .iter_mut()
                .zip(bits)
            {
                *ours |= theirs;
            }
        }
    }

    pub(crate) fn clear(&mut self) {
        self.pages.clear();
    }

    /// Tells the memory.
    pub(crate) fn mark_in(&self, memory: &[Known]) {
        for (page, bits) in self.pages.iter() {
            let start = page * PAGE;
            for known in memory {
                // Allocations are aligned to pages, so that a page belongs to one of them.
                if (known.base..known.end).contains(&start) {
                    for (i, &word) in bits.iter().enumerate() {
                        for (at, len) in runs(word) {
                            known.written.mark(start - known.base + 64 * i as u64 + at, len);
                        }
                    }
                }
            }
        }
    }
}

/// Runs of ones.
fn runs(mut word: u64) -> impl Iterator<Item = (u64, u64)> {
    std::iter::from_fn(move || {
        (word != 0).then(|| {
            let at = word.trailing_zeros();
            let len = (word >> at).trailing_ones();
            word &= if at + len == 64 { 0 } else { u64::MAX << (at + len) };
            (u64::from(at), u64::from(len))
        })
    })
}

/// An allocation, and what of it was written before the launch.
#[derive(Debug)]
pub(crate) struct Known<'a> {
    pub(crate) base: u64,
    pub(crate) end: u64,
    pub(crate) written: &'a Written,
}

impl<'a> Known<'a> {
    /// Whether every active lane's access lies in this allocation.
    pub(crate) fn holds_all(&self, touch: &super::touch::Touch) -> bool {
        super::touch::lanes(touch.active).all(|lane| (self.base..self.end).contains(&touch.addresses[lane]))
    }

    /// All allocations, by address.
    pub(crate) fn all(memory: &'a Memory) -> Vec<Self> {
        let known = |a: &'a crate::memory::global::Allocation| Self {
            base: a.base,
            end: a.end(),
            written: &a.written,
        };
        memory.live.iter().map(known).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_of_a_vector_is_missing_its_first_unwritten_byte() {
        let mut map = InitMap::new(100);
        map.mark(8, 8);
        assert_eq!(map.first_missing(8, 8), None);
        assert_eq!(map.first_missing(8, 16), Some(16));
        assert_eq!(map.first_missing(0, 16), Some(0));
        assert_eq!(map.first_missing(60, 16), Some(60));
        map.mark(56, 20);
        assert_eq!((map.first_missing(60, 16), map.first_missing(72, 16)), (None, Some(76)));
        assert_eq!(map.first_missing(99, 8), Some(99));
        map.mark(0, 100);
        assert_eq!(map.first_missing(0, 100), None);
        map.reset(100);
        assert_eq!(map.first_missing(96, 4), Some(96));
    }

    #[test]
    fn what_a_launch_wrote_and_nothing_else_is_told_to_the_memory() {
        let mut memory = Memory::new();
        let (a, b) = (memory.alloc(1000).unwrap(), memory.alloc(4).unwrap());
        let mut written = WrittenBytes::default();
        for at in [a, a + 4, a + 300, a + 60, b] {
            written.mark(at, 4);
        }
        written.mark_in(&Known::all(&memory));
        for (at, len, expected) in [
            (a, 8, true),
            (a, 9, false),
            (a + 300, 4, true),
            (a + 299, 4, false),
            (b, 4, true),
        ] {
            assert_eq!(memory.is_initialized(at, len), Ok(expected), "{at:#x} {len}");
        }
    }

    #[test]
    fn runs_of_ones_are_found_whole() {
        let found = |w| runs(w).collect::<Vec<_>>();
        assert_eq!(found(0b1011_0001), [(0, 1), (4, 2), (7, 1)]);
        assert_eq!(found(u64::MAX), [(0, 64)]);
        assert_eq!(found(0), []);
        assert_eq!(found(u64::MAX << 60), [(60, 4)]);
    }
}
