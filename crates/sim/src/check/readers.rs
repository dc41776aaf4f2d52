//! Who has read a page of memory, exactly and small: what the lanes of a warp read side by side is one record.

use super::clock::Time;
use super::pages::PAGE;
use super::site::SiteId;
use super::touch::lanes;

/// Records that a page may have before it is looked for some that later ones stand for.
const CROWDED: usize = 64;

/// Records, from the newest on, that may take up one more read.
const NEAR: usize = 32;

/// A bit for each byte of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bytes([u64; (PAGE / 64) as usize]);

impl Bytes {
    /// `count` bytes from `at` on, all in one word of 64 bits, as accesses are aligned.
    fn of(at: u8, count: u32) -> Self {
        let mut bytes = Self::default();
        bytes.0[usize::from(at) / 64] = ((1u64 << count) - 1) << (at % 64);
        bytes
    }

    fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    fn has(&self, at: u8) -> bool {
        self.0[usize::from(at) / 64] >> (at % 64) & 1 == 1
    }

    fn meets(&self, other: &Self) -> bool {
        self.0.iter().zip(other.0).any(|(a, b)| a & b != 0)
    }

    fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a |= b);
    }

    fn remove(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a &= !b);
    }

    fn iter(self) -> impl Iterator<Item = u8> {
        let word = |(i, mut word): (usize, u64)| {
            std::iter::from_fn(move || {
                (word != 0).then(|| {
                    let bit = word.trailing_zeros();
                    word &= word - 1;
                    (64 * i as u32 + bit) as u8
                })
            })
        };
        self.0.into_iter().enumerate().flat_map(word)
    }
}

/// Which lanes read each of the bytes.
#[derive(Clone, Copy, Debug)]
enum Lanes {
    /// All of these.
    Each(u32),
    /// One: `lane` the first `1 << shift` bytes from `first` on, the next lane the next.
    Row { first: u8, lane: u8, shift: u8 },
}

/// Ordinary reads by one warp with one instruction.
#[derive(Clone, Copy, Debug)]
struct Read {
    bytes: Bytes,
    block: u32,
    time: Time,
    site: SiteId,
    warp: u16,
    lanes: Lanes,
}

impl Read {
    fn lanes_at(&self, at: u8) -> u32 {
        match self.lanes {
            Lanes::Each(mask) => mask,
            Lanes::Row { first, lane, shift } => at.checked_sub(first).map_or(0, |distance| {
                1u32.checked_shl(u32::from(lane) + u32::from(distance >> shift))
                    .unwrap_or(0)
            }),
        }
    }

    /// Takes up that these lanes read these bytes too, if that can be said.
    fn takes(&mut self, mask: u32, at: u8, bytes: &Bytes) -> bool {
        let fits = match self.lanes {
            Lanes::Each(own) if own == mask => true,
            // The next lane behind the first one begins a row.
            Lanes::Each(own) if own.is_power_of_two() && mask == own << 1 => {
                let count: u32 = self.bytes.0.iter().map(|w| w.count_ones()).sum();
                let first = self.bytes.iter().next().unwrap_or(0);
                let row = Lanes::Row {
                    first,
                    lane: own.trailing_zeros() as u8,
                    shift: count.trailing_zeros() as u8,
                };
                let begins = count.is_power_of_two()
                    && u32::from(first) + count == u32::from(at)
                    && self
                        .bytes
                        .iter()
                        .last()
                        .is_some_and(|last| u32::from(last) + 1 == u32::from(at));
                if begins {
                    self.lanes = row;
                }
                begins
            }
            Lanes::Each(_) => false,
            Lanes::Row { .. } => bytes.iter().all(|byte| self.lanes_at(byte) == mask),
        };
        if fits {
            self.bytes.add(bytes);
        }
        fits
    }

    /// Forgets the bytes for which a later read by the same warp stands.
    fn give_way_to(&mut self, later: &Read) {
        if !self.bytes.meets(&later.bytes) {
            return;
        }
        for at in self.bytes.iter().filter(|&at| later.bytes.has(at)) {
            if self.lanes_at(at) & !later.lanes_at(at) == 0 {
                self.bytes.remove(&Bytes::of(at, 1));
            }
        }
    }
}

/// A thread that read, with what and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reader {
    pub(crate) block: u32,
    pub(crate) thread: u32,
    pub(crate) time: Time,
    pub(crate) site: SiteId,
}

/// The ordinary reads of a page for which nothing later stands: of every byte, the last read of each thread since the
/// last ordinary write. So memory grows with the threads that read a page, and not with how often they do.
#[derive(Debug, Default)]
pub(crate) struct Readers {
    all: Vec<Read>,
    crowded: usize,
}

impl Readers {
    /// Lanes of a warp read the same `count` bytes (1, 2 or 4, aligned) from `at` on.
    pub(crate) fn add(&mut self, by: Reader, mask: u32, at: u8, count: u32) {
        let bytes = Bytes::of(at, count);
        let warp = (by.thread / 32) as u16;
        let alike = |r: &&mut Read| (r.block, r.warp, r.time, r.site) == (by.block, warp, by.time, by.site);
        let mut near = self.all.iter_mut().rev().take(NEAR).filter(alike);
        if near.any(|r| r.takes(mask, at, &bytes)) {
            return;
        }
        self.all.push(Read {
            bytes,
            block: by.block,
            time: by.time,
            site: by.site,
            warp,
            lanes: Lanes::Each(mask),
        });
        if self.all.len() > self.crowded.max(CROWDED) {
            self.tidy();
        }
    }

    /// Everyone who read one of the bytes.
    pub(crate) fn of(&self, at: u8, count: u32) -> impl Iterator<Item = Reader> {
        let bytes = Bytes::of(at, count);
        self.all
            .iter()
            .filter(move |r| r.bytes.meets(&bytes))
            .flat_map(move |r| {
                let touched = bytes.iter().filter(|&at| r.bytes.has(at));
                let mask = touched.fold(0, |mask, at| mask | r.lanes_at(at));
                lanes(mask).map(|lane| Reader {
                    block: r.block,
                    thread: u32::from(r.warp) * 32 + lane as u32,
                    time: r.time,
                    site: r.site,
                })
            })
    }

    /// The bytes were written: whoever comes later must be ordered behind that, and so behind those who read before.
    pub(crate) fn overwrite(&mut self, at: u8, count: u32) {
        let bytes = Bytes::of(at, count);
        let mut emptied = false;
        for r in self.all.iter_mut().filter(|r| r.bytes.meets(&bytes)) {
            r.bytes.remove(&bytes);
            emptied |= r.bytes.is_empty();
        }
        if emptied {
            self.all.retain(|r| !r.bytes.is_empty());
        }
    }

    /// Drops what later reads of the same warp stand for.
    fn tidy(&mut self) {
        self.all.sort_by_key(|r| (r.block, r.warp, r.time));
        for warp in self.all.chunk_by_mut(|a, b| (a.block, a.warp) == (b.block, b.warp)) {
            for i in (1..warp.len()).rev() {
                let (before, later) = warp.split_at_mut(i);
                before.iter_mut().for_each(|r| r.give_way_to(&later[0]));
            }
        }
        self.all.retain(|r| !r.bytes.is_empty());
        self.crowded = 2 * self.all.len();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn reader(block: u32, thread: u32, time: Time, site: u32) -> Reader {
        Reader {
            block,
            thread,
            time,
            site: SiteId(site),
        }
    }

    #[test]
    fn a_row_of_words_or_of_vectors_is_one_record() {
        let mut words = Readers::default();
        let mut vectors = Readers::default();
        for lane in 0..32u32 {
            words.add(reader(3, 64 + lane, 7, 1), 1 << lane, (4 * lane) as u8, 4);
            for word in (0..4).filter(|_| lane < 16) {
                vectors.add(reader(3, 64 + lane, 7, 1), 1 << lane, (16 * lane + 4 * word) as u8, 4);
            }
        }
        assert_eq!((words.all.len(), vectors.all.len()), (1, 1));
        assert_eq!(words.of(40, 4).collect::<Vec<_>>(), [reader(3, 74, 7, 1)]);
        assert_eq!(vectors.of(40, 4).collect::<Vec<_>>(), [reader(3, 66, 7, 1)]);
        assert_eq!(words.of(128, 4).count(), 0);
    }

    #[test]
    fn reading_again_and_again_takes_no_more_memory() {
        let mut readers = Readers::default();
        for time in 0..10_000 {
            for lane in 0..32u32 {
                readers.add(reader(0, lane, time, time % 3), 1 << lane, (8 * lane) as u8, 4);
            }
        }
        assert!(readers.all.len() <= 2 * CROWDED, "{}", readers.all.len());
        assert!(readers.of(8, 4).any(|r| r == reader(0, 1, 9_999, 0)));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Against a table of the last read of each byte by each thread.
        #[test]
        fn every_threads_last_read_of_every_byte_is_known(
            steps in prop::collection::vec((0u32..3, 0u32..2, any::<u32>(), 0u8..64, 0u32..3, any::<bool>(), 0u32..20), 1..400),
        ) {
            let mut readers = Readers::default();
            let mut last: BTreeMap<(u8, u32, u32), Time> = BTreeMap::new();
            for (time, (block, warp, mask, word, width, row, write)) in (0..).zip(steps) {
                let (count, mask) = (1u32 << width, mask | 1);
                let at = word * 4;
                if write == 0 {
                    readers.overwrite(at, 4);
                    last.retain(|key, _| !(at..=at + 3).contains(&key.0));
                    continue;
                }
                // A row of lanes, or lanes that read one place together.
                let reads: Vec<(u32, u8)> = if row {
                    (0..32).map(|lane| (1 << lane, at.wrapping_add((lane * count) as u8))).collect()
                } else {
                    vec![(mask, at)]
                };
                for (mask, at) in reads {
                    readers.add(reader(block, 32 * warp, time / 5, time % 4), mask, at, count);
                    for lane in lanes(mask) {
                        for byte in 0..count as u8 {
                            last.insert((at + byte, block, 32 * warp + lane as u32), time / 5);
                        }
                    }
                }
            }
            for at in 0..=255u8 {
                let mut found: BTreeMap<(u8, u32, u32), Time> = BTreeMap::new();
                for r in readers.of(at, 1) {
                    let newest = found.entry((at, r.block, r.thread)).or_default();
                    *newest = r.time.max(*newest);
                }
                let expected = last.range((at, 0, 0)..=(at, u32::MAX, u32::MAX)).map(|(k, v)| (*k, *v)).collect();
                prop_assert_eq!(found, expected, "byte {}", at);
            }
        }
    }
}
