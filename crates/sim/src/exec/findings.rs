//! Findings as a block collects them: small, and one for each pair of instructions.

use std::collections::BTreeMap;

use crate::decode::ops::{MemSpace, NOWHERE};
use crate::finding::FindingKind;

/// A thread of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Thread {
    /// Linear index of the block.
    pub(crate) block: u64,
    /// Linear index within it.
    pub(crate) thread: u32,
}

/// What a finding's message needs besides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    None,
    /// Freed buffer, by name.
    Freed(String),
    /// A sentence.
    Text(String),
    /// A member mask in which the thread is not.
    Members(u32),
}

/// A finding before it is put in words.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) kind: FindingKind,
    pub(crate) pc: u32,
    /// The other instruction; [`NOWHERE`] if there is none.
    pub(crate) other_pc: u32,
    pub(crate) by: Thread,
    pub(crate) other: Option<Thread>,
    pub(crate) space: MemSpace,
    pub(crate) address: Option<u64>,
    /// Frame base of an address in local memory.
    pub(crate) frame: u32,
    pub(crate) bytes: u32,
    pub(crate) detail: Detail,
    pub(crate) count: u64,
}

impl Record {
    pub(crate) fn new(kind: FindingKind, pc: u32, by: Thread) -> Self {
        Self {
            kind,
            pc,
            other_pc: NOWHERE,
            by,
            other: None,
            space: MemSpace::Generic,
            address: None,
            frame: 0,
            bytes: 0,
            detail: Detail::None,
            count: 1,
        }
    }

    fn key(&self) -> (FindingKind, u32, u32) {
        (self.kind, self.pc, self.other_pc)
    }
}

/// See the module's docs.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    all: BTreeMap<(FindingKind, u32, u32), Record>,
}

impl Findings {
    /// Adds one. Of several for the same instructions, that of the lowest block stays, and within a block the first.
    pub(crate) fn add(&mut self, record: Record) {
        self.all
            .entry(record.key())
            .and_modify(|r| {
                let count = r.count + record.count;
                if record.by.block < r.by.block {
                    *r = record.clone();
                }
                r.count = count;
            })
            .or_insert(record);
    }

    pub(crate) fn merge(&mut self, other: Self) {
        other.all.into_values().for_each(|r| self.add(r));
    }

    /// All of them, by instruction.
    pub(crate) fn into_sorted(self) -> Vec<Record> {
        let mut all: Vec<Record> = self.all.into_values().collect();
        all.sort_by_key(|r| (r.pc, r.kind, r.other_pc));
        all
    }
}
