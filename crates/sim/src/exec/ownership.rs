//! Which blocks touch which word of global memory, so that blocks may run in parallel without changing the result.
//!
//! Blocks of a launch run on several threads, in chunks of neighbours; within a chunk one after the other. Where two
//! chunks touch one word and one of them writes it, the result would depend on their order; then the launch is undone and
//! all blocks run one after the other. Every word is claimed before it is accessed, in one step, so no two threads ever
//! access a word that one of them writes.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::memory::backing::Backing;
use crate::memory::global::Allocation;

/// Words are claimed as a whole: two chunks that write different bytes of one word run one after the other.
const WORD: u64 = 4;
/// Claims are 16 bits, four to a cell that changes in one step.
const BITS: u32 = 16;
const PER_CELL: u64 = 4;
const PAGE: usize = 1 << 16;

const READ_BY_MANY: u16 = 1;
const READ: u16 = 1 << 14;
const WRITTEN: u16 = 2 << 14;
const REDUCED: u16 = 3 << 14;
const OWNER: u16 = (1 << 14) - 1;

/// Chunks that a launch may have for their claims to be told apart.
pub(crate) const MOST_CHUNKS: u64 = OWNER as u64;

/// What a block is about to do with a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    Read,
    Write,
    /// A reduction of which the order does not matter, by a number of at most 14 bits that tells operations apart.
    Reduce(u16),
}

/// The claims on one allocation, and its bytes before the launch.
#[derive(Debug, Default)]
pub(crate) struct Ownership {
    cells: OnceLock<Option<Backing>>,
    before: OnceLock<Vec<OnceLock<Box<[u8]>>>>,
}

impl Ownership {
    /// Claims `bytes` bytes at an offset for a chunk. `false`: another chunk is in the way.
    #[inline]
    pub(crate) fn claim(&self, a: &Allocation, offset: u64, bytes: u64, claim: Claim, chunk: u16) -> bool {
        let size = (a.data.len() as u64 / WORD + PER_CELL) * u64::from(BITS / 8);
        let Some(cells) = self.cells.get_or_init(|| Backing::new(size)) else {
            return false;
        };
        let (first, last) = (offset / WORD, (offset + bytes.max(1) - 1) / WORD);
        if claim != Claim::Read && !a.written.is_untouched() {
            self.keep(&a.data, offset as usize, bytes as usize);
        }
        let (from, to) = (first / PER_CELL, last / PER_CELL);
        let cells = cells.doubles(8 * from as usize, (to - from + 1) as usize);
        for (i, cell) in (from..).zip(cells) {
            let low = if i == from { first % PER_CELL } else { 0 };
            let high = if i == to { last % PER_CELL } else { PER_CELL - 1 };
            let words = (u64::MAX >> (64 - u64::from(BITS) * (high - low + 1))) << (u64::from(BITS) * low);
            if !claim_cell(cell, words, claim, chunk) {
                return false;
            }
        }
        true
    }

    /// Keeps the bytes as they are, before the first write to their page.
    fn keep(&self, data: &Backing, offset: usize, bytes: usize) {
        let pages = self
            .before
            .get_or_init(|| (0..data.len().div_ceil(PAGE)).map(|_| OnceLock::new()).collect());
        for page in offset / PAGE..=(offset + bytes.max(1) - 1) / PAGE {
            if let Some(kept) = pages.get(page) {
                kept.get_or_init(|| {
                    let mut before = vec![0; PAGE.min(data.len() - page * PAGE)].into_boxed_slice();
                    data.read(page * PAGE, &mut before);
                    before
                });
            }
        }
    }

    /// Puts the bytes back.
    pub(crate) fn undo(&self, a: &Allocation) {
        if a.written.is_untouched() {
            // Nobody had written anything, so all was zero.
            a.data.clear();
        }
        for (page, kept) in self.before.get().into_iter().flatten().enumerate() {
            if let Some(before) = kept.get() {
                a.data.write(page * PAGE, before);
            }
        }
    }
}

/// The same claim for every word of a cell.
const fn four(claim: u16) -> u64 {
    claim as u64 * 0x0001_0001_0001_0001
}

/// Claims the words of a cell whose bits are set in `words`.
#[inline]
fn claim_cell(cell: &AtomicU64, words: u64, claim: Claim, chunk: u16) -> bool {
    let wanted = match claim {
        Claim::Read => four(READ | chunk),
        Claim::Write => four(WRITTEN | chunk),
        Claim::Reduce(op) => four(REDUCED | op),
    };
    let mut now = cell.load(Relaxed);
    loop {
        let next = if (now ^ wanted) & words == 0 {
            return true;
        } else if now & words == 0 {
            now | wanted & words
        } else {
            match merge(now, words, claim, chunk) {
                None => return false,
                Some(next) if next == now => return true,
                Some(next) => next,
            }
        };
        match cell.compare_exchange_weak(now, next, Relaxed, Relaxed) {
            Ok(_) => return true,
            Err(other) => now = other,
        }
    }
}

/// What a cell becomes, word by word; `None` where another chunk is in the way.
fn merge(now: u64, words: u64, claim: Claim, chunk: u16) -> Option<u64> {
    let mut next = now;
    for word in 0..PER_CELL as u32 {
        let shift = BITS * word;
        if words >> shift & 1 == 0 {
            continue;
        }
        let old = (now >> shift) as u16;
        let (read, written) = (old == READ | chunk, old == WRITTEN | chunk);
        let new = match claim {
            Claim::Read if read || written || old == READ_BY_MANY => old,
            Claim::Read if old == 0 => READ | chunk,
            Claim::Read if old >> 14 == READ >> 14 => READ_BY_MANY,
            Claim::Write if old == 0 || read || written => WRITTEN | chunk,
            Claim::Reduce(op) if old == 0 || old == REDUCED | op => REDUCED | op,
            Claim::Reduce(_) if read || written => WRITTEN | chunk,
            _ => return None,
        };
        next = next & !(0xffff << shift) | u64::from(new) << shift;
    }
    Some(next)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::init::Written;

    fn allocation(bytes: u64) -> Allocation {
        let (data, written) = (Backing::new(bytes).unwrap(), Written::nothing(bytes));
        Allocation {
            base: 0,
            data,
            written,
            label: String::new(),
        }
    }

    fn claims(steps: &[(Claim, u16)]) -> Vec<bool> {
        let a = allocation(4);
        let ownership = Ownership::default();
        steps
            .iter()
            .map(|&(claim, chunk)| ownership.claim(&a, 0, 4, claim, chunk))
            .collect()
    }

    #[test]
    fn many_blocks_may_read_what_nobody_writes() {
        assert_eq!(
            claims(&[(Claim::Read, 0), (Claim::Read, 1), (Claim::Read, 0), (Claim::Write, 0)]),
            [true, true, true, false]
        );
    }

    #[test]
    fn a_written_word_is_its_writers_alone() {
        assert_eq!(
            claims(&[(Claim::Read, 3), (Claim::Write, 3), (Claim::Read, 3), (Claim::Read, 0)]),
            [true, true, true, false]
        );
        assert_eq!(claims(&[(Claim::Write, 0), (Claim::Write, 1)]), [true, false]);
    }

    #[test]
    fn reductions_of_one_kind_go_together_and_others_do_not() {
        let (add, max) = (Claim::Reduce(1), Claim::Reduce(2));
        assert_eq!(claims(&[(add, 0), (add, 1), (max, 1)]), [true, true, false]);
        assert_eq!(claims(&[(add, 0), (Claim::Read, 0)]), [true, false]);
        assert_eq!(claims(&[(Claim::Write, 5), (add, 5), (add, 6)]), [true, true, false]);
    }

    #[test]
    fn words_of_one_cell_are_told_apart() {
        let a = allocation(64);
        let ownership = Ownership::default();
        let claim = |offset, bytes, claim, chunk| ownership.claim(&a, offset, bytes, claim, chunk);
        assert!(claim(0, 12, Claim::Write, 1));
        assert!(claim(12, 20, Claim::Write, 2));
        assert!(claim(4, 8, Claim::Read, 1));
        assert!(!claim(8, 8, Claim::Read, 1));
        assert!(!claim(32, 4, Claim::Write, 1) || claim(36, 28, Claim::Read, 3));
        assert!(!claim(28, 8, Claim::Write, 1));
    }

    #[test]
    fn undo_brings_the_bytes_back() {
        for touched in [true, false] {
            let a = allocation(200_000);
            let kept = if touched { 7 } else { 0 };
            if touched {
                a.data.write(70_000, &[7; 8]);
                a.written.mark(70_000, 8);
            }
            let ownership = Ownership::default();
            assert!(ownership.claim(&a, 70_000, 8, Claim::Write, 1));
            a.data.write(70_000, &[9; 8]);
            ownership.undo(&a);
            let mut bytes = [1; 8];
            a.data.read(70_000, &mut bytes);
            assert_eq!(bytes, [kept; 8]);
        }
    }
}
