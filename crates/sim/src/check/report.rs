//! Findings as they are collected: one a pair of instructions, with the example of the lowest block.

use std::collections::{BTreeMap, BTreeSet};

use super::finding::{Access, CheckFindings, CheckedSpace, Race, Uninitialized};
use super::site::{AccessKind, SiteId, Sites};

/// The findings of a block, or of all that have finished.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    races: BTreeMap<(SiteId, SiteId, CheckedSpace), Pair>,
    missing: BTreeMap<(SiteId, CheckedSpace), Missing>,
    /// Where each instruction raced.
    raced: BTreeSet<(SiteId, Place)>,
}

/// A word: space, block where the space is the block's own, and address.
type Place = (CheckedSpace, u32, u64);

fn place(space: CheckedSpace, block: u32, address: u64) -> Place {
    (
        space,
        if space == CheckedSpace::Global { 0 } else { block },
        address / 4,
    )
}

/// Places that are remembered of an instruction; of more, those of the lowest blocks.
const REMEMBERED: usize = 1 << 14;

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

/// Reads of an instruction that met bytes nobody had written.
#[derive(Clone, Debug, Default)]
struct Missing {
    count: u64,
    /// By block, in the order in which the block made them.
    reads: Vec<Read>,
}

#[derive(Clone, Copy, Debug)]
struct Read {
    block: u32,
    thread: u32,
    address: u64,
    written_later: bool,
}

impl Missing {
    fn add(&mut self, theirs: Missing) {
        self.count += theirs.count;
        if let Some(first) = theirs.reads.first() {
            let at = self.reads.partition_point(|r| r.block <= first.block);
            self.reads.splice(at..at, theirs.reads);
            self.reads.truncate(REMEMBERED);
        }
    }
}

impl Collected {
    /// Two accesses race.
    #[cold]
    pub(crate) fn race(&mut self, space: CheckedSpace, first: Side, second: Side, address: u64) {
        for side in [first, second] {
            self.raced.insert((side.site, place(space, side.block, address)));
        }
        self.limit();
        let key = (first.site.min(second.site), first.site.max(second.site), space);
        let count = 1;
        merge_pair(
            &mut self.races,
            key,
            Pair {
                first,
                second,
                address,
                count,
            },
        );
    }

    /// A read met a byte that nobody wrote.
    #[cold]
    pub(crate) fn missing(&mut self, site: SiteId, space: CheckedSpace, block: u32, thread: u32, address: u64) {
        let missing = self.missing.entry((site, space)).or_default();
        missing.count += 1;
        if missing.reads.len() < REMEMBERED {
            missing.reads.push(Read {
                block,
                thread,
                address,
                written_later: false,
            });
        }
    }

    /// The block is over: of its loads from shared memory, says which met a byte that was written only later. (An atomic
    /// writes the byte that it misses itself.)
    pub(crate) fn settle(&mut self, sites: &Sites, written: impl Fn(u64) -> bool) {
        for ((site, space), missing) in &mut self.missing {
            if *space == CheckedSpace::Shared && sites.get(*site).kind == AccessKind::Read {
                missing
                    .reads
                    .iter_mut()
                    .for_each(|r| r.written_later = written(r.address));
            }
        }
    }

    /// Adds another block's, whichever order blocks finish in.
    pub(crate) fn merge(&mut self, other: Collected) {
        for (key, theirs) in other.races {
            merge_pair(&mut self.races, key, theirs);
        }
        for (key, theirs) in other.missing {
            self.missing.entry(key).or_default().add(theirs);
        }
        self.raced.extend(other.raced);
        self.limit();
    }

    fn limit(&mut self) {
        while self.raced.len() > 4 * REMEMBERED {
            self.raced.pop_last();
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
        // Where a read raced with the write that it should have seen, that it came first is the race's doing.
        let mut uninitialized = Vec::new();
        for ((site, space), missing) in self.missing {
            let raced = |r: &&Read| self.raced.contains(&(site, place(space, r.block, r.address)));
            let explained = missing.reads.iter().filter(raced).count() as u64;
            if let Some(r) = missing.reads.iter().find(|r| !raced(r)) {
                uninitialized.push(Uninitialized {
                    pc: sites.get(site).pc,
                    space,
                    block: r.block,
                    thread: r.thread,
                    address: r.address,
                    written_later: r.written_later,
                    count: missing.count - explained,
                });
            }
        }
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
