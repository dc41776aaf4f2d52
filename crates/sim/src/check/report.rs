//! Findings as they are collected: one a pair of instructions, with the example of the lowest block.

use std::collections::BTreeMap;

use super::finding::{CheckFindings, CheckedSpace, Uninitialized};
use super::init::WrittenBytes;
use super::site::{SiteId, Sites};

/// The findings of a block, or of all that have finished.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    uninitialized: BTreeMap<(SiteId, CheckedSpace), Missing>,
    pub(crate) written: WrittenBytes,
}

#[derive(Clone, Copy, Debug)]
struct Missing {
    block: u32,
    thread: u32,
    address: u64,
    count: u64,
}

impl Collected {
    /// A read met a byte that nobody wrote.
    #[cold]
    pub(crate) fn missing(&mut self, site: SiteId, space: CheckedSpace, block: u32, thread: u32, address: u64) {
        self.uninitialized
            .entry((site, space))
            .and_modify(|seen| seen.count += 1)
            .or_insert(Missing {
                block,
                thread,
                address,
                count: 1,
            });
    }

    /// Adds another block's, whichever order blocks finish in.
    pub(crate) fn merge(&mut self, other: Collected) {
        for (key, theirs) in other.uninitialized {
            self.uninitialized
                .entry(key)
                .and_modify(|ours| {
                    let count = ours.count + theirs.count;
                    if theirs.block < ours.block {
                        *ours = theirs;
                    }
                    ours.count = count;
                })
                .or_insert(theirs);
        }
        self.written.merge(other.written);
    }

    pub(crate) fn finish(self, sites: &Sites) -> (CheckFindings, WrittenBytes) {
        let mut uninitialized: Vec<_> = self
            .uninitialized
            .into_iter()
            .map(|((site, space), m)| Uninitialized {
                pc: sites.get(site).pc,
                space,
                block: m.block,
                thread: m.thread,
                address: m.address,
                count: m.count,
            })
            .collect();
        uninitialized.sort_by_key(|u| (u.pc, u.space));
        (
            CheckFindings {
                races: Vec::new(),
                uninitialized,
            },
            self.written,
        )
    }
}
