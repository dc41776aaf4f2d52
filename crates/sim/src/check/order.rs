//! What orders the threads of one block, and what each of them knows of other blocks.
//!
//! A block barrier costs one number ([`Order::floor`]): all that came before it is known to all. `bar.warp.sync` of a
//! whole warp costs one number a warp. Only what is learned otherwise, through atomics, fences, named barriers and
//! mbarriers, is kept per thread, as a [`Clock`].

use std::sync::Arc;

use super::clock::{BlockClock, Clock, SharedClock, Time, join_shared};
use super::site::Scope;
use super::touch::lanes;
use crate::registers::LANES;

/// Times that lanes of a warp know of each other: `[knows][of]`.
type Rows = [[Time; LANES]; LANES];

/// See the module's docs.
#[derive(Debug)]
pub(crate) struct Order {
    block: u32,
    threads: u32,
    now: Time,
    floor: Time,
    /// What every thread knows beyond the floor.
    base: SharedClock,
    /// What threads knew at their last `fence.sc` before a block barrier: what any thread's strong write publishes.
    fenced: SharedClock,
    warps: Vec<Warp>,
}

#[derive(Debug, Default)]
struct Warp {
    /// All lanes know what all lanes did up to here.
    synced: Time,
    rows: Option<Box<Rows>>,
    /// What single lanes know beyond that, and beyond the block's base.
    learned: Option<Box<[SharedClock; LANES]>>,
    /// What strong reads observed and no fence has made known yet.
    seen: Option<Box<[Seen; LANES]>>,
    fences: Option<Box<[Fences; LANES]>>,
}

#[derive(Debug, Default, Clone)]
struct Seen {
    /// Released by threads of this block.
    block: SharedClock,
    /// Released to the whole device.
    device: SharedClock,
}

/// What a lane knew at its last fence of each scope: what its next strong write publishes.
#[derive(Debug, Default, Clone)]
struct Fences {
    block: Option<Snapshot>,
    device: Option<Snapshot>,
    /// Whether the last fence for the device was a `fence.sc`, and no block barrier has come since.
    sequential: bool,
}

#[derive(Debug, Clone)]
struct Snapshot {
    time: Time,
    floor: Time,
    synced: Time,
    row: Option<Box<[Time; LANES]>>,
    learned: SharedClock,
    base: SharedClock,
    /// Made when first published.
    clock: SharedClock,
}

/// What a strong write publishes.
#[derive(Debug, Default, Clone)]
pub(crate) struct Published {
    /// To readers of the same block.
    pub(crate) block: SharedClock,
    /// To readers of any block.
    pub(crate) device: SharedClock,
}

impl Published {
    pub(crate) fn is_nothing(&self) -> bool {
        self.block.is_none() && self.device.is_none()
    }

    /// Adds what another one publishes.
    pub(crate) fn join(&mut self, more: &Published) {
        join_shared(&mut self.block, &more.block);
        join_shared(&mut self.device, &more.device);
    }
}

impl Order {
    pub(crate) fn new(threads: u32) -> Self {
        let warps = threads.div_ceil(LANES as u32);
        Self {
            block: 0,
            threads,
            now: 1,
            floor: 0,
            base: None,
            fenced: None,
            warps: (0..warps).map(|_| Warp::default()).collect(),
        }
    }

    /// A new block: everything before is over. Time goes on, so that what shadows still hold is known to be past.
    pub(crate) fn start(&mut self, block: u32) {
        self.block = block;
        self.floor = self.now;
        self.now += 1;
        self.base = None;
        self.fenced = None;
        self.warps.iter_mut().for_each(|w| *w = Warp::default());
    }

    pub(crate) fn block(&self) -> u32 {
        self.block
    }

    /// The time of accesses made now.
    #[inline]
    pub(crate) fn now(&self) -> Time {
        self.now
    }

    /// Accesses of the block up to this time are known to all of its threads.
    #[inline]
    pub(crate) fn floor(&self) -> Time {
        self.floor
    }

    /// What comes now is later than what came before.
    pub(crate) fn pass(&mut self) {
        self.tick();
    }

    fn tick(&mut self) -> Time {
        self.now += 1;
        self.now - 1
    }

    /// Whether `thread` knows what `other`, of the same block, did at `time`.
    #[inline]
    pub(crate) fn knows(&self, thread: u32, other: u32, time: Time) -> bool {
        time <= self.floor || thread == other || self.knows_otherwise(thread, other, time)
    }

    fn knows_otherwise(&self, thread: u32, other: u32, time: Time) -> bool {
        let (warp, lane) = (&self.warps[thread as usize / LANES], thread as usize % LANES);
        if thread as usize / LANES == other as usize / LANES {
            if time <= warp.synced {
                return true;
            }
            if warp
                .rows
                .as_ref()
                .is_some_and(|rows| time <= rows[lane][other as usize % LANES])
            {
                return true;
            }
        }
        self.knows_of_block(thread, self.block, other, time)
    }

    /// Whether `thread` knows what a thread of some block did at that block's `time`, by what it learned otherwise
    /// than through its own block's barriers.
    pub(crate) fn knows_of_block(&self, thread: u32, block: u32, other: u32, time: Time) -> bool {
        let (warp, lane) = (&self.warps[thread as usize / LANES], thread as usize % LANES);
        let covers = |clock: &SharedClock| clock.as_ref().is_some_and(|c| c.covers(block, other, time));
        warp.learned.as_ref().is_some_and(|l| covers(&l[lane])) || covers(&self.base)
    }

    /// Every thread of the block arrives and waits.
    pub(crate) fn block_barrier(&mut self) {
        self.floor = self.tick();
        let Self {
            base,
            fenced,
            warps,
            block,
            ..
        } = self;
        for (w, warp) in warps.iter_mut().enumerate() {
            warp.rows = None;
            for (lane, fences) in warp.fences.iter_mut().flat_map(|f| f.iter_mut()).enumerate() {
                if std::mem::take(&mut fences.sequential)
                    && let Some(snapshot) = &mut fences.device
                {
                    join_shared(fenced, &Some(snapshot.publish(*block, (w * LANES + lane) as u32)));
                }
            }
            for clock in warp.learned.take().iter().flat_map(|l| l.iter()) {
                join_shared(base, clock);
            }
            // A block barrier counts as a fence for what its threads observed before: see the module's docs.
            for seen in warp.seen.take().iter().flat_map(|s| s.iter()) {
                join_shared(base, &seen.block);
                join_shared(base, &seen.device);
            }
        }
    }

    /// The lanes in `mask` wait for each other.
    pub(crate) fn warp_sync(&mut self, warp: u32, mask: u32) {
        let time = self.tick();
        let existing = lanes_of_warp(self.threads, warp);
        let Some(state) = self.warps.get_mut(warp as usize) else {
            return;
        };
        if mask & existing == existing {
            state.synced = time;
            state.rows = None;
        } else {
            let rows = state.rows.get_or_insert_with(|| Box::new([[0; LANES]; LANES]));
            let mut joined = [0; LANES];
            for lane in lanes(mask) {
                for (all, own) in joined.iter_mut().zip(rows[lane]) {
                    *all = (*all).max(own);
                }
            }
            lanes(mask).for_each(|lane| joined[lane] = time);
            lanes(mask).for_each(|lane| rows[lane] = joined);
        }
        if let Some(learned) = &mut state.learned {
            let mut all = None;
            lanes(mask).for_each(|lane| join_shared(&mut all, &learned[lane]));
            lanes(mask).for_each(|lane| learned[lane] = all.clone());
        }
    }

    /// What `lanes` of a warp publish by arriving at a named barrier or an mbarrier.
    pub(crate) fn arrive(&mut self, warp: u32, mask: u32) -> SharedClock {
        if mask == 0 {
            return None;
        }
        let time = self.tick();
        let existing = lanes_of_warp(self.threads, warp);
        let mut own = BlockClock::up_to(self.floor);
        let mut all = self.base.clone();
        let state = self.warps.get(warp as usize)?;
        if mask & existing == existing {
            own.add_warp(warp, time);
        } else {
            own.add_warp(warp, state.synced);
            for lane in lanes(mask & existing) {
                own.add_thread(warp * LANES as u32 + lane as u32, time);
                if let Some(rows) = &state.rows {
                    add_row(&mut own, warp, &rows[lane]);
                }
            }
        }
        join_shared(&mut all, &Some(Arc::new(Clock::of(self.block, own))));
        if let Some(learned) = &state.learned {
            lanes(mask).for_each(|lane| join_shared(&mut all, &learned[lane]));
        }
        all
    }

    /// Lanes learn what a named barrier or an mbarrier collected. A barrier counts as a fence besides.
    pub(crate) fn learn(&mut self, warp: u32, mask: u32, clock: &SharedClock, as_fence: bool) {
        let Some(state) = self.warps.get_mut(warp as usize) else {
            return;
        };
        let learned = state.learned.get_or_insert_default();
        for lane in lanes(mask) {
            join_shared(&mut learned[lane], clock);
            if as_fence && let Some(seen) = &mut state.seen {
                let seen = std::mem::take(&mut seen[lane]);
                join_shared(&mut learned[lane], &seen.block);
                join_shared(&mut learned[lane], &seen.device);
            }
        }
    }

    /// A strong read observed what a strong write published. `at_once` where the read itself acquires.
    pub(crate) fn observe(&mut self, thread: u32, published: &Published, at_once: bool) {
        if published.is_nothing() {
            return;
        }
        let (warp, lane) = (&mut self.warps[thread as usize / LANES], thread as usize % LANES);
        if at_once {
            let learned = &mut warp.learned.get_or_insert_default()[lane];
            join_shared(learned, &published.block);
            join_shared(learned, &published.device);
        } else {
            let seen = &mut warp.seen.get_or_insert_default()[lane];
            join_shared(&mut seen.block, &published.block);
            join_shared(&mut seen.device, &published.device);
        }
    }

    /// Lanes execute a fence: what they observed becomes known to them, and what they know is what their strong
    /// writes publish from now on.
    pub(crate) fn fence(&mut self, warp: u32, mask: u32, scope: Scope, sequential: bool) {
        let time = self.tick();
        let Some(state) = self.warps.get_mut(warp as usize) else {
            return;
        };
        if let Some(seen) = &mut state.seen {
            let learned = state.learned.get_or_insert_default();
            for lane in lanes(mask) {
                join_shared(&mut learned[lane], &seen[lane].block.take());
                if scope == Scope::Device {
                    join_shared(&mut learned[lane], &seen[lane].device.take());
                }
            }
        }
        let fences = state.fences.get_or_insert_default();
        for lane in lanes(mask) {
            let snapshot = Snapshot {
                time,
                floor: self.floor,
                synced: state.synced,
                row: state.rows.as_ref().map(|rows| Box::new(rows[lane])),
                learned: state.learned.as_ref().and_then(|l| l[lane].clone()),
                base: self.base.clone(),
                clock: None,
            };
            if scope == Scope::Device {
                fences[lane].device = Some(snapshot.clone());
                fences[lane].sequential = sequential;
            }
            fences[lane].block = Some(snapshot);
        }
    }

    /// Whether a strong write of the thread without a word of its own can publish anything.
    #[inline]
    pub(crate) fn has_fenced(&self, warp: u32) -> bool {
        self.fenced.is_some() || self.warps[warp as usize].fences.is_some()
    }

    /// What a strong write of the thread publishes. `at_once` where the write itself releases.
    pub(crate) fn publish(&mut self, thread: u32, scope: Scope, at_once: bool) -> Published {
        let (w, lane) = (thread / LANES as u32, thread as usize % LANES);
        let mut published = Published::default();
        if at_once {
            published.block = self.arrive(w, 1 << lane);
            if scope == Scope::Device {
                published.device = published.block.clone();
            }
            return published;
        }
        let block = self.block;
        if let Some(fences) = &mut self.warps[w as usize].fences {
            published.block = fences[lane].block.as_mut().map(|s| s.publish(block, thread));
            if scope == Scope::Device {
                published.device = fences[lane].device.as_mut().map(|s| s.publish(block, thread));
            }
        }
        if scope == Scope::Device {
            join_shared(&mut published.device, &self.fenced);
        }
        published
    }
}

impl Snapshot {
    fn publish(&mut self, block: u32, thread: u32) -> Arc<Clock> {
        if let Some(clock) = &self.clock {
            return clock.clone();
        }
        let warp = thread / LANES as u32;
        let mut own = BlockClock::up_to(self.floor);
        own.add_warp(warp, self.synced);
        own.add_thread(thread, self.time);
        if let Some(row) = &self.row {
            add_row(&mut own, warp, row);
        }
        let mut clock = Clock::of(block, own);
        for more in [&self.base, &self.learned].into_iter().flatten() {
            clock.join(more);
        }
        let clock = Arc::new(clock);
        self.clock = Some(clock.clone());
        clock
    }
}

fn add_row(clock: &mut BlockClock, warp: u32, row: &[Time; LANES]) {
    for (lane, &time) in row.iter().enumerate() {
        clock.add_thread(warp * LANES as u32 + lane as u32, time);
    }
}

/// The lanes that a warp has: the last one of a block may have fewer than 32.
pub(crate) fn lanes_of_warp(threads: u32, warp: u32) -> u32 {
    match threads.saturating_sub(warp * LANES as u32) {
        n if n >= LANES as u32 => u32::MAX,
        n => (1 << n) - 1,
    }
}
