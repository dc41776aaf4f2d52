//! The shadow of one granule (a 4-byte word, or a byte where narrower accesses occur): who touched it last.
//!
//! As in FastTrack, the last ordinary write is one record, because a write that is ordered behind all that came before
//! stands for all of it; what may be concurrent without being a race (reads, strong accesses) is a set, which is
//! usually a single record kept in the cell itself.

use super::clock::Time;
use super::finding::CheckedSpace;
use super::order::Order;
use super::report::{Collected, Side};
use super::sets::{Record, Sets};
use super::site::{AccessKind, Order as MemoryOrder, Site, SiteId, Sites};
use super::touch::lanes;
use crate::registers::LANES;

/// The last accesses of one granule.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cell {
    /// Time of the last ordinary write; [`IN_FLIGHT`] for one that has not arrived.
    pub(crate) write_time: Time,
    /// Its [`Who`].
    pub(crate) writer: u32,
    /// What it wrote.
    pub(crate) value: u32,
    /// Time of the newest of the others.
    pub(crate) other_time: Time,
    /// Its [`Who`], or the number of a set with [`SET`].
    pub(crate) other: u32,
}

/// The time of a `cp.async` write that is not waited for: later than everything.
pub(crate) const IN_FLIGHT: Time = Time::MAX;
const SET: u32 = 1 << 31;
const THREAD_BITS: u32 = 10;

/// A thread and a memory instruction in 31 bits.
#[inline]
pub(crate) fn who(thread: u32, site: SiteId) -> u32 {
    site.0 << THREAD_BITS | thread
}

#[inline]
fn thread_of(who: u32) -> u32 {
    who & ((1 << THREAD_BITS) - 1)
}

#[inline]
pub(crate) fn site_of(who: u32) -> SiteId {
    SiteId((who & !SET) >> THREAD_BITS)
}

/// What an access conflicts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    /// With every write.
    WeakRead,
    /// With ordinary writes.
    StrongRead,
    /// With everything.
    WeakWrite,
    /// With ordinary accesses.
    StrongWrite,
    /// As `StrongWrite`, and it observes the strong writes before it.
    Atomic,
}

impl Class {
    pub(crate) fn of(site: &Site) -> Self {
        match (site.kind, site.order) {
            (AccessKind::Atomic, _) => Self::Atomic,
            // Its thread does not see what it observed, so nothing can rely on that.
            (AccessKind::Reduction, _) => Self::StrongWrite,
            (AccessKind::Read, MemoryOrder::Weak) => Self::WeakRead,
            (AccessKind::Read, _) => Self::StrongRead,
            (AccessKind::Write, MemoryOrder::Weak) => Self::WeakWrite,
            (AccessKind::Write, _) => Self::StrongWrite,
        }
    }

    pub(crate) fn is_strong(self) -> bool {
        !matches!(self, Self::WeakRead | Self::WeakWrite)
    }

    pub(crate) fn is_read(self) -> bool {
        matches!(self, Self::WeakRead | Self::StrongRead)
    }

    fn conflicts(self, other: Self) -> bool {
        !(self.is_read() && other.is_read() || self.is_strong() && other.is_strong())
    }

    /// Whether a later access of this class by the same thread stands for an earlier one.
    ///
    /// Strong reads stay: strong writes before one are known to whoever knows it (see [`Sets`]).
    pub(crate) fn replaces(self, earlier: Self) -> bool {
        match self {
            Self::WeakWrite => true,
            Self::WeakRead => earlier == Self::WeakRead,
            Self::StrongRead => false,
            Self::StrongWrite => matches!(earlier, Self::StrongWrite | Self::Atomic),
            Self::Atomic => earlier.is_strong(),
        }
    }
}

/// What an access needs besides its cell.
pub(crate) struct Context<'a> {
    pub(crate) order: &'a Order,
    pub(crate) sites: &'a Sites,
    pub(crate) sets: &'a mut Sets,
    pub(crate) found: &'a mut Collected,
    pub(crate) space: CheckedSpace,
    /// Strong writes are looked after elsewhere.
    pub(crate) strong_elsewhere: bool,
}

/// Lanes of one warp that touch one granule with one instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    pub(crate) warp: u32,
    pub(crate) lanes: u32,
    pub(crate) site: SiteId,
    pub(crate) class: Class,
    pub(crate) address: u64,
}

impl Group {
    #[inline]
    fn threads(&self) -> impl Iterator<Item = u32> + use<> {
        let base = self.warp * LANES as u32;
        lanes(self.lanes).map(move |lane| base + lane as u32)
    }

    pub(crate) fn record(&self, time: Time) -> Record {
        Record {
            lanes: self.lanes,
            time,
            since: time,
            site: self.site,
            warp: self.warp as u16,
            class: self.class,
        }
    }
}

type Writes = smallvec::SmallVec<[Record; 4]>;

impl Cell {
    /// Whether this block has touched the granule with this instruction (not an ordinary store) since `start`, so
    /// that a summary knows of it.
    #[inline]
    pub(crate) fn was_touched_by(&self, site: SiteId, start: Time, floor: Time, sets: &Sets) -> bool {
        if self.other & SET == 0 {
            self.other_time > start && site_of(self.other) == site
        } else {
            self.other_time > floor && sets.get(self.other & !SET).records().iter().any(|r| r.site == site)
        }
    }

    /// Whether this block last wrote the granule with this instruction, and the same value, since `start`.
    #[inline]
    pub(crate) fn was_written_by(&self, site: SiteId, value: u32, start: Time) -> bool {
        self.write_time > start && site_of(self.writer) == site && self.value == value
    }

    /// Whether this very read was the last.
    #[inline]
    pub(crate) fn is_last(&self, me: u32, now: Time, class: Class) -> bool {
        match class {
            Class::WeakRead => (self.other_time, self.other) == (now, me),
            _ => false,
        }
    }

    /// Whether one of the granule's accesses since the last block barrier has to be looked at.
    #[inline]
    pub(crate) fn is_quiet(&self, floor: Time) -> bool {
        self.write_time <= floor && self.other_time <= floor
    }

    /// Whether a single access that is no ordinary store, and that no ordinary write concerns, may simply take the place
    /// of what is there: there is nothing, or the same, or an atomic that an atomic of the same instruction observed.
    #[inline]
    pub(crate) fn may_take(&self, me: u32, floor: Time, class: Class) -> bool {
        self.other_time <= floor
            || self.other == me
            || (class == Class::Atomic && self.other & SET == 0 && site_of(self.other) == site_of(me))
    }

    /// The quick way of lanes that read a word which only reads concern, if there is one.
    #[inline]
    pub(crate) fn joins_readers(&mut self, sets: &mut Sets, group: &Group, floor: Time, now: Time) -> bool {
        let joins = self.other_time > floor
            && self.other & SET != 0
            && group.class == Class::WeakRead
            && sets.get(self.other & !SET).only_reads()
            && sets.get_mut(self.other & !SET).add(group, now);
        if joins {
            self.other_time = now;
        }
        joins
    }

    /// Lanes load, store ordinarily, or access strongly. For ordinary stores by several lanes, once a lane.
    pub(crate) fn access(&mut self, cx: &mut Context, group: Group, value: u32) {
        // Two ordinary stores of the same bits are no race: see the module's docs.
        let same = group.class == Class::WeakWrite && value == self.value && self.write_time != IN_FLIGHT;
        if self.write_time > cx.order.floor() && !same {
            self.check_write(cx, &group);
        }
        if self.other_time > cx.order.floor() {
            if self.other & SET == 0 {
                check_others(cx, &group, &[self.single(cx.sites)], same);
            } else if !(group.class.is_read() && cx.sets.get(self.other & !SET).only_reads()) {
                // Lent out, since reporting needs the rest.
                let set = std::mem::take(cx.sets.get_mut(self.other & !SET));
                check_others(cx, &group, set.records(), same);
                *cx.sets.get_mut(self.other & !SET) = set;
            }
        }
        if group.class == Class::WeakWrite {
            let concurrent = if same {
                self.concurrent_writes(cx, &group)
            } else {
                Writes::new()
            };
            let thread = group.warp * LANES as u32 + group.lanes.trailing_zeros();
            (self.write_time, self.writer, self.value) = (cx.order.now(), who(thread, group.site), value);
            self.other_time = 0;
            if let Some((first, rest)) = concurrent.split_first() {
                self.other_time = cx.order.now();
                let set = cx.sets.make(*first);
                cx.sets.get_mut(set).extend(rest);
                self.other = SET | set;
            }
        } else if group.class == Class::Atomic {
            // Lanes take turns, and the last one observed the others.
            let last = 31 - group.lanes.leading_zeros();
            self.note(
                cx,
                &Group {
                    lanes: 1 << last,
                    ..group
                },
            );
        } else {
            self.note(cx, &group);
        }
    }

    /// The writes of the same bits with which a store is not ordered: what comes later must be ordered behind each.
    fn concurrent_writes(&self, cx: &mut Context, group: &Group) -> Writes {
        let mut all = Writes::new();
        let thread = group.warp * LANES as u32 + group.lanes.trailing_zeros();
        let order = cx.order;
        let mut add = |r: Record| {
            let known = |lane: &usize| order.knows(thread, u32::from(r.warp) * 32 + *lane as u32, r.time);
            let unknown = lanes(r.lanes)
                .filter(|lane| !known(lane))
                .fold(0, |m, lane| m | 1 << lane);
            match all.last_mut() {
                _ if unknown == 0 => {}
                Some(l) if (l.time, l.site, l.warp) == (r.time, r.site, r.warp) => l.lanes |= unknown,
                _ => all.push(Record { lanes: unknown, ..r }),
            }
        };
        if self.other_time > order.floor() {
            if self.other & SET == 0 {
                let single = self.single(cx.sites);
                if single.class == Class::WeakWrite {
                    add(single);
                }
            } else {
                cx.sets
                    .get(self.other & !SET)
                    .records()
                    .iter()
                    .filter(|r| r.class == Class::WeakWrite)
                    .for_each(|r| add(*r));
            }
        }
        if self.write_time > order.floor() {
            let writer = thread_of(self.writer);
            add(Record {
                lanes: 1 << (writer % 32),
                time: self.write_time,
                since: self.write_time,
                site: site_of(self.writer),
                warp: (writer / 32) as u16,
                class: Class::WeakWrite,
            });
        }
        all
    }

    fn single(&self, sites: &Sites) -> Record {
        let thread = thread_of(self.other);
        Record {
            lanes: 1 << (thread % 32),
            time: self.other_time,
            since: self.other_time,
            site: site_of(self.other),
            warp: (thread / 32) as u16,
            class: Class::of(sites.get(site_of(self.other))),
        }
    }

    #[cold]
    fn check_write(&self, cx: &mut Context, group: &Group) {
        let (writer, site) = (thread_of(self.writer), site_of(self.writer));
        for thread in group.threads() {
            if self.write_time == IN_FLIGHT || !cx.order.knows(thread, writer, self.write_time) {
                report(cx, group, (writer, site), thread);
            }
        }
    }

    /// Adds to the set of what may be concurrent.
    fn note(&mut self, cx: &mut Context, group: &Group) {
        let now = cx.order.now();
        let one = group
            .lanes
            .is_power_of_two()
            .then(|| who(group.warp * LANES as u32 + group.lanes.trailing_zeros(), group.site));
        if self.other_time <= cx.order.floor() {
            self.other = match one {
                Some(who) => who,
                None => SET | cx.sets.make(group.record(now)),
            };
        } else if self.other & SET == 0 {
            let before = self.single(cx.sites);
            let mut kept = before;
            kept.subsume(group.class, group.warp, group.lanes);
            self.other = match one {
                Some(who) if kept.lanes == 0 => who,
                _ => {
                    let set = cx.sets.make(before);
                    cx.sets.get_mut(set).insert(group, now);
                    SET | set
                }
            };
        } else {
            cx.sets.get_mut(self.other & !SET).insert(group, now);
        }
        self.other_time = now;
    }

    /// The cells of the four bytes of this word.
    pub(crate) fn split(&self, sets: &mut Sets, floor: Time) -> [Cell; 4] {
        let mut cells = [*self; 4];
        for (i, cell) in cells.iter_mut().enumerate() {
            cell.value = self.value >> (8 * i) & 0xff;
            if i > 0 && self.other & SET != 0 && self.other_time > floor {
                cell.other = SET | sets.copy(self.other & !SET);
            }
        }
        cells
    }
}

/// `same`: the group stores the bits that are there, so that other stores of them are no matter.
fn check_others(cx: &mut Context, group: &Group, records: &[Record], same: bool) {
    let conflicts = |r: &Record| r.class.conflicts(group.class) && !(same && r.class == Class::WeakWrite);
    if !records.iter().any(conflicts) {
        return;
    }
    for thread in group.threads() {
        let knows = |r: &Record, lane: usize, time| cx.order.knows(thread, u32::from(r.warp) * 32 + lane as u32, time);
        // The newest strong access that this thread knows: it observed the strong writes before it.
        let observer = records.iter().rposition(|r| {
            matches!(r.class, Class::StrongRead | Class::Atomic) && lanes(r.lanes).any(|lane| knows(r, lane, r.since))
        });
        let mut races = smallvec::SmallVec::<[(u32, SiteId); 4]>::new();
        for (i, r) in records.iter().enumerate() {
            let strong_write = r.class.is_strong() && !r.class.is_read();
            let settled = strong_write && (cx.strong_elsewhere || observer.is_some_and(|z| z > i));
            if settled || !conflicts(r) {
                continue;
            }
            if let Some(lane) = lanes(r.lanes).find(|&lane| !knows(r, lane, r.time)) {
                races.push((u32::from(r.warp) * 32 + lane as u32, r.site));
            }
        }
        for earlier in races {
            report(cx, group, earlier, thread);
        }
    }
}

#[cold]
fn report(cx: &mut Context, group: &Group, earlier: (u32, SiteId), thread: u32) {
    let block = cx.order.block();
    let first = Side {
        site: earlier.1,
        block,
        thread: earlier.0,
    };
    let second = Side {
        site: group.site,
        block,
        thread,
    };
    cx.found.race(cx.space, first, second, group.address);
}
