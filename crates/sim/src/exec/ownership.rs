//! Which block touches which word of global memory, so that blocks may run in parallel without changing the result.
//!
//! Blocks of a launch run on several threads at once. Where two of them touch one word and one of them writes it, the
//! result would depend on their order; then the launch is undone and its blocks run one after the other. Every word is
//! claimed before it is accessed, in one step, so no two threads ever access a word that one of them writes.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::memory::backing::Backing;

/// Words are claimed as a whole: two blocks that write different bytes of one word run one after the other.
const WORD: u64 = 4;
const PAGE: usize = 1 << 16;

const READ_BY_MANY: u32 = 1;
const READ: u32 = 1 << 30;
const WRITTEN: u32 = 2 << 30;
const REDUCED: u32 = 3 << 30;
const BLOCK: u32 = (1 << 30) - 1;

/// Blocks that a launch may have for its words to be told apart.
pub(crate) const MOST_BLOCKS: u64 = BLOCK as u64;

/// What a block is about to do with a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    Read,
    Write,
    /// A reduction of which the order does not matter, by a number that tells operations apart.
    Reduce(u32),
}

/// The claims on one allocation, and its bytes before the launch.
#[derive(Debug, Default)]
pub(crate) struct Ownership {
    words: OnceLock<Option<Backing>>,
    before: OnceLock<Vec<OnceLock<Box<[u8]>>>>,
}

impl Ownership {
    /// Claims `bytes` bytes at an offset for a block. `false`: another block is in the way.
    #[inline]
    pub(crate) fn claim(&self, data: &Backing, offset: u64, bytes: u64, claim: Claim, block: u32) -> bool {
        let Some(words) = self.words.get_or_init(|| Backing::new(data.len() as u64 + WORD)) else {
            return false;
        };
        let (first, last) = (offset / WORD, (offset + bytes.max(1) - 1) / WORD);
        if claim != Claim::Read {
            self.keep(data, offset as usize, bytes as usize);
        }
        let cells = words.words((first * WORD) as usize, (last - first + 1) as usize);
        match claim {
            Claim::Read => cells.iter().all(|cell| claim_read(cell, block)),
            Claim::Write => cells.iter().all(|cell| claim_write(cell, block)),
            Claim::Reduce(op) => cells.iter().all(|cell| claim_reduce(cell, block, op)),
        }
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
    pub(crate) fn undo(&self, data: &Backing) {
        for (page, kept) in self.before.get().into_iter().flatten().enumerate() {
            if let Some(before) = kept.get() {
                data.write(page * PAGE, before);
            }
        }
    }
}

#[inline]
fn claim_read(cell: &AtomicU32, block: u32) -> bool {
    let mut now = cell.load(Relaxed);
    loop {
        let next = match now {
            0 => READ | block,
            READ_BY_MANY => return true,
            _ if now & BLOCK == block && (now >> 30 == 1 || now >> 30 == 2) => return true,
            _ if now >> 30 == 1 => READ_BY_MANY,
            _ => return false,
        };
        match cell.compare_exchange_weak(now, next, Relaxed, Relaxed) {
            Ok(_) => return true,
            Err(other) => now = other,
        }
    }
}

#[inline]
fn claim_write(cell: &AtomicU32, block: u32) -> bool {
    let mut now = cell.load(Relaxed);
    loop {
        if now == WRITTEN | block {
            return true;
        }
        if now != 0 && now != READ | block {
            return false;
        }
        match cell.compare_exchange_weak(now, WRITTEN | block, Relaxed, Relaxed) {
            Ok(_) => return true,
            Err(other) => now = other,
        }
    }
}

#[inline]
fn claim_reduce(cell: &AtomicU32, block: u32, op: u32) -> bool {
    let mut now = cell.load(Relaxed);
    loop {
        if now == REDUCED | op || now == WRITTEN | block {
            return true;
        }
        let next = match now {
            0 => REDUCED | op,
            _ if now == READ | block => WRITTEN | block,
            _ => return false,
        };
        match cell.compare_exchange_weak(now, next, Relaxed, Relaxed) {
            Ok(_) => return true,
            Err(other) => now = other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims(steps: &[(Claim, u32)]) -> Vec<bool> {
        let data = Backing::new(4).unwrap();
        let ownership = Ownership::default();
        steps
            .iter()
            .map(|&(claim, block)| ownership.claim(&data, 0, 4, claim, block))
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
    fn undo_brings_the_bytes_back() {
        let data = Backing::new(200_000).unwrap();
        data.write(70_000, &[7; 8]);
        let ownership = Ownership::default();
        assert!(ownership.claim(&data, 70_000, 8, Claim::Write, 1));
        data.write(70_000, &[9; 8]);
        ownership.undo(&data);
        let mut bytes = [0; 8];
        data.read(70_000, &mut bytes);
        assert_eq!(bytes, [7; 8]);
    }
}
