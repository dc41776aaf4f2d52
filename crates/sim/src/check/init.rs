//! Which bytes have been written: one bit a byte.
//!
//! A read of bytes that nobody wrote is reported even where the value is only copied: padding inside a structure that
//! is read as a whole is a read of memory that was never written, as it is for every tool of this kind.

use std::collections::BTreeMap;

/// One bit a byte for a range that starts at 0: a block's shared memory, a thread's local memory, an allocation.
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

    /// Marks what `other`, shifted by `start`, has written; used to merge what a launch wrote.
    pub(crate) fn mark_bits(&mut self, start: u64, bits: u64) {
        if self.full || bits == 0 {
            return;
        }
        let (word, bit) = ((start / 64) as usize, start % 64);
        if word < self.words.len() {
            self.words[word] |= bits << bit;
        }
        if bit != 0 && word + 1 < self.words.len() {
            self.words[word + 1] |= bits >> (64 - bit);
        }
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

/// Which bytes of the device's global memory are written: one [`InitMap`] an allocation.
#[derive(Clone, Debug, Default)]
pub struct GlobalInit {
    allocations: BTreeMap<u64, InitMap>,
}

impl GlobalInit {
    /// No allocation.
    pub fn new() -> Self {
        Self::default()
    }

    /// A new allocation, nothing of it written.
    pub fn alloc(&mut self, address: u64, bytes: u64) {
        self.allocations.insert(address, InitMap::new(bytes));
    }

    /// Forgets an allocation.
    pub fn free(&mut self, address: u64) {
        self.allocations.remove(&address);
    }

    /// The host (or a launch) wrote these bytes; they lie in one allocation.
    pub fn mark(&mut self, address: u64, bytes: u64) {
        if let Some((base, map)) = self.allocations.range_mut(..=address).next_back() {
            map.mark(address - base, bytes);
        }
    }

    /// Takes every byte as written: for after a launch that was not watched.
    pub fn mark_everything(&mut self) {
        for map in self.allocations.values_mut() {
            *map = InitMap::written(map.len());
        }
    }

    /// The allocation that holds an address, with its first address.
    #[inline]
    pub fn find(&self, address: u64) -> Option<(u64, &InitMap)> {
        let (base, map) = self.allocations.range(..=address).next_back()?;
        (address - base < map.len()).then_some((*base, map))
    }

    /// Notes what a launch wrote.
    pub fn absorb(&mut self, written: &WrittenBytes) {
        for (&page, bits) in &written.pages {
            let start = page * PAGE;
            // An allocation may start inside a page, so that a page can belong to several.
            let last = start + PAGE - 1;
            let first = self
                .allocations
                .range(..=start)
                .next_back()
                .map_or(start, |(base, _)| *base);
            for (&base, map) in self.allocations.range_mut(first..=last) {
                for (i, &word) in bits.iter().enumerate() {
                    let at = start + 64 * i as u64;
                    if at >= base {
                        map.mark_bits(at - base, word);
                    } else if base - at < 64 {
                        map.mark_bits(0, word >> (base - at));
                    }
                }
            }
        }
    }
}

/// Bytes of a page of [`WrittenBytes`].
pub(crate) const PAGE: u64 = 256;

/// The bytes of global memory that a launch, or one block of it, wrote and nobody had written before.
#[derive(Clone, Debug, Default)]
pub struct WrittenBytes {
    pages: BTreeMap<u64, [u64; (PAGE / 64) as usize]>,
}

impl WrittenBytes {
    /// These bytes are written.
    #[inline]
    pub(crate) fn mark(&mut self, start: u64, len: u64) {
        let mut at = start;
        while at < start + len {
            let count = (64 - at % 64).min(start + len - at);
            let page = self.pages.entry(at / PAGE).or_default();
            page[(at % PAGE / 64) as usize] |= ones(count) << (at % 64);
            at += count;
        }
    }

    /// Whether a byte is written.
    pub(crate) fn contains(&self, byte: u64) -> bool {
        self.pages
            .get(&(byte / PAGE))
            .is_some_and(|page| page[(byte % PAGE / 64) as usize] >> (byte % 64) & 1 == 1)
    }

    /// Adds another's.
    pub(crate) fn merge(&mut self, other: WrittenBytes) {
        for (page, bits) in other.pages {
            for (ours, theirs) in self.pages.entry(page).or_default().iter_mut().zip(bits) {
                *ours |= theirs;
            }
        }
    }
}
