//! Sets of accesses that may be concurrent without being a race, for the granules that need more than one record.

use super::cell::{Class, Group};
use super::clock::Time;
use super::site::SiteId;

/// Lanes of a warp that touched a granule alike.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    pub(crate) lanes: u32,
    /// When last.
    pub(crate) time: Time,
    /// Since when these lanes have observed what came before this record.
    pub(crate) since: Time,
    pub(crate) site: SiteId,
    pub(crate) warp: u16,
    pub(crate) class: Class,
}

impl Record {
    /// Takes away the lanes for which a later access stands.
    pub(crate) fn subsume(&mut self, class: Class, warp: u32, lanes: u32) {
        if class == Class::Atomic && matches!(self.class, Class::StrongWrite | Class::Atomic) {
            // It observed this one: what comes behind it comes behind both.
            self.lanes = 0;
        } else if u32::from(self.warp) == warp && class.replaces(self.class) {
            self.lanes &= !lanes;
        }
    }
}

/// The records of one granule, in order where it matters.
#[derive(Clone, Debug, Default)]
pub(crate) struct Set {
    records: Vec<Record>,
    /// Where the newest record of each warp is, or was.
    newest: [u8; 32],
    /// Whether all are reads.
    reads: bool,
    /// Whether all are ordinary reads, or all are strong writes: their order does not matter.
    plain: bool,
    /// Records from which on it is tidied.
    crowded: usize,
}

/// Records that a set may have before it is looked for some that others stand for.
const CROWDED: usize = 64;

impl Set {
    pub(crate) fn records(&self) -> &[Record] {
        &self.records
    }

    /// Whether an access that only writes concern can pass by.
    #[inline]
    pub(crate) fn only_reads(&self) -> bool {
        self.reads
    }

    /// More that is concurrent with what is there.
    pub(crate) fn extend(&mut self, more: &[Record]) {
        more.iter().for_each(|r| self.push(*r));
    }

    fn push(&mut self, r: Record) {
        self.reads &= r.class.is_read();
        self.plain &= self.records.first().is_none_or(|first| first.class == r.class)
            && matches!(r.class, Class::WeakRead | Class::StrongWrite);
        self.newest[r.warp as usize % 32] = self.records.len().min(255) as u8;
        self.records.push(r);
    }

    /// The quick way, if there is one: more lanes that do what the newest record of their warp did.
    #[inline]
    pub(crate) fn add(&mut self, new: &Group, now: Time) -> bool {
        if self.plain
            && let Some(r) = self.records.get_mut(self.newest[new.warp as usize % 32] as usize)
            && (r.time, r.site, u32::from(r.warp)) == (now, new.site, new.warp)
        {
            r.lanes |= new.lanes;
            return true;
        }
        false
    }

    pub(crate) fn insert(&mut self, new: &Group, now: Time) {
        if self.add(new, now) {
            return;
        }
        match new.class {
            Class::StrongRead => self.look(new, now),
            Class::Atomic => {
                self.records
                    .iter_mut()
                    .for_each(|r| r.subsume(new.class, new.warp, new.lanes));
                self.records.retain(|r| r.lanes != 0);
                self.push(new.record(now));
                self.describe();
            }
            _ => self.push(new.record(now)),
        }
        if self.records.len() > self.crowded {
            self.tidy();
        }
    }

    /// A strong read. Polling: if nothing was written strongly since this warp's last look, that look goes on.
    fn look(&mut self, new: &Group, now: Time) {
        let same = |r: &&mut Record| {
            r.class == Class::StrongRead && (r.lanes, r.site, u32::from(r.warp)) == (new.lanes, new.site, new.warp)
        };
        let written = self
            .records
            .iter()
            .rposition(|r| !r.class.is_read())
            .map_or(0, |i| i + 1);
        match self.records[written..].iter_mut().find(same) {
            Some(r) => r.time = now,
            None => self.push(new.record(now)),
        }
    }

    /// Drops what later records stand for.
    fn tidy(&mut self) {
        for i in (1..self.records.len()).rev() {
            let (before, r) = self.records.split_at_mut(i);
            let (class, warp, lanes) = (r[0].class, r[0].warp.into(), r[0].lanes);
            before.iter_mut().for_each(|b| b.subsume(class, warp, lanes));
        }
        self.records.retain(|r| r.lanes != 0);
        self.merge_looks();
        self.crowded = CROWDED.max(2 * self.records.len());
        self.describe();
    }

    /// Looks of the same lanes between which nothing is left that was written are one.
    fn merge_looks(&mut self) {
        let mut i = 0;
        while i < self.records.len() {
            let r = self.records[i];
            let same =
                |n: &Record| n.class == Class::StrongRead && (n.lanes, n.site, n.warp) == (r.lanes, r.site, r.warp);
            match self.records[i + 1..]
                .iter()
                .take_while(|n| n.class.is_read())
                .position(same)
            {
                Some(n) if r.class == Class::StrongRead => {
                    self.records[i + 1 + n].since = r.since;
                    self.records.remove(i);
                }
                _ => i += 1,
            }
        }
    }

    /// Finds out again what is known of the records as a whole.
    fn describe(&mut self) {
        let records = std::mem::take(&mut self.records);
        (self.reads, self.plain) = (true, true);
        records.into_iter().for_each(|r| self.push(r));
    }

    fn restart(&mut self, first: Record) {
        self.records.clear();
        (self.reads, self.plain, self.crowded) = (true, true, CROWDED);
        self.push(first);
    }
}

/// The sets of a block. Emptied when a block barrier makes all of them past.
#[derive(Debug, Default)]
pub(crate) struct Sets {
    all: Vec<Set>,
    used: usize,
}

impl Sets {
    pub(crate) fn clear(&mut self) {
        self.used = 0;
    }

    /// A set of one; gives its number.
    pub(crate) fn make(&mut self, first: Record) -> u32 {
        if self.used == self.all.len() {
            self.all.push(Set::default());
        }
        self.all[self.used].restart(first);
        self.used += 1;
        self.used as u32 - 1
    }

    #[inline]
    pub(crate) fn get(&self, set: u32) -> &Set {
        &self.all[set as usize]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, set: u32) -> &mut Set {
        &mut self.all[set as usize]
    }

    /// A copy, for a granule that is split.
    pub(crate) fn copy(&mut self, set: u32) -> u32 {
        let original = self.all[set as usize].clone();
        let copy = self.make(original.records[0]);
        self.all[copy as usize] = original;
        copy
    }
}
