//! Findings as they are collected: one a pair of instructions, with the example of the lowest block.

use std::collections::BTreeMap;

use super::finding::{Access, CheckFindings, CheckedSpace, Race, Uninitialized};
use super::site::{SiteId, Sites};

/// The findings of a block, or of all that have finished.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    races: BTreeMap<(SiteId, SiteId, CheckedSpace), Pair>,
    uninitialized: BTreeMap<(SiteId, CheckedSpace), Missing>,
}

/// One access of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Side {
    pub(crate) site: SiteId,
    pub(crate) block: u32,
    pub(crate) thread: u32,
}

#[derive(Clone, Copy, Debug)]
struct Pair {
    first: Side,
    second: Side,
    address: u64,
    count: u64,
}

impl Pair {
    /// Which example is shown: within one block rather than between two, then the lowest block. Both are the same
    /// whichever order blocks finish in.
    fn rank(&self) -> impl Ord + use<> {
        (
            self.first.block != self.second.block,
            self.first.block.min(self.second.block),
        )
    }
}

#[derive(Clone, Copy, Debug)]
struct Missing {
    block: u32,
    thread: u32,
    address: u64,
    count: u64,
}

impl Collected {
    /// Two accesses race.
    #[cold]
    pub(crate) fn race(&mut self, space: CheckedSpace, first: Side, second: Side, address: u64) {
        let key = (first.site.min(second.site), first.site.max(second.site), space);
        merge_pair(
            &mut self.races,
            key,
            Pair {
                first,
                second,
                address,
                count: 1,
            },
        );
    }

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
        for (key, theirs) in other.races {
            merge_pair(&mut self.races, key, theirs);
        }
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
    }

    pub(crate) fn finish(self, sites: &Sites) -> CheckFindings {
        let access = |side: Side| {
            let site = sites.get(side.site);
            Access {
                pc: site.pc,
                kind: site.kind,
                order: site.order,
                block: side.block,
                thread: side.thread,
            }
        };
        let mut races: Vec<_> = self
            .races
            .into_iter()
            .map(|((_, _, space), p)| Race {
                first: access(p.first),
                second: access(p.second),
                space,
                address: p.address,
                count: p.count,
            })
            .collect();
        races.sort_by_key(|r| (r.first.pc.min(r.second.pc), r.first.pc.max(r.second.pc), r.space));
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
        CheckFindings { races, uninitialized }
    }
}

fn merge_pair(
    races: &mut BTreeMap<(SiteId, SiteId, CheckedSpace), Pair>,
    key: (SiteId, SiteId, CheckedSpace),
    new: Pair,
) {
    races
        .entry(key)
        .and_modify(|ours| {
            let count = ours.count + new.count;
            if new.rank() < ours.rank() {
                *ours = new;
            }
            ours.count = count;
        })
        .or_insert(new);
}
