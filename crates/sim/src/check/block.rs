//! The checks of one block: what its warps access, and what orders their threads.

use super::cell::Class;
use super::clock::{BlockClock, Clock, join_shared};
use super::finding::CheckedSpace;
use super::launch::LaunchCheck;
use super::site::{AccessKind, Scope};
use super::state::{Copy, State};
use super::touch::{Stored, Touch, lanes};
use crate::registers::LANES;

/// The checks of one block. See the module's docs for what to tell it.
#[derive(Debug)]
pub struct BlockCheck<'a> {
    launch: &'a LaunchCheck<'a>,
    state: State,
}

impl<'a> BlockCheck<'a> {
    pub(crate) fn new(launch: &'a LaunchCheck<'a>, state: State) -> Self {
        Self { launch, state }
    }

    /// The block is done: its findings become the launch's.
    pub fn finish(self) {
        self.launch.finish_block(self.state);
    }

    /// A warp accesses shared memory. For loads `stored` is `&()`; for stores and atomics it says what is written.
    #[inline]
    pub fn shared(&mut self, touch: &Touch, stored: &impl Stored) {
        let site = self.launch.sites.get(touch.site);
        if self.launch.config.uninitialized {
            self.shared_written(touch, site.kind, stored);
        }
        if !self.launch.config.races {
            return;
        }
        let class = Class::of(site);
        let (launch, state) = (self.launch, &mut self.state);
        if !class.is_strong() {
            state.shared_access(touch, class, stored, launch.sites);
            if class == Class::WeakWrite {
                lanes(touch.active).for_each(|lane| state.shared_vars.overwrite(touch.addresses[lane]));
            }
        } else if !state.shared_vars.concerns(&state.order, touch.warp, site) {
            state.shared_access(touch, class, stored, launch.sites);
        } else {
            for (lane, thread) in threads(touch) {
                let (address, one) = (
                    touch.addresses[lane],
                    Touch {
                        active: 1 << lane,
                        ..*touch
                    },
                );
                state.shared_vars.observe(&mut state.order, thread, address, site);
                state.shared_access(&one, class, stored, launch.sites);
                if site.kind != AccessKind::Read && stored.wrote(lane) {
                    state.shared_vars.publish(&mut state.order, thread, address, site);
                }
            }
        }
    }

    /// A warp accesses global memory. As [`BlockCheck::shared`].
    #[inline]
    pub fn global(&mut self, touch: &Touch, stored: &impl Stored) {
        let site = self.launch.sites.get(touch.site);
        let (launch, state) = (self.launch, &mut self.state);
        if launch.config.uninitialized {
            state.global_written(launch, touch, site.kind, wrote(touch, site.kind, stored));
        }
        if !launch.config.races {
            return;
        }
        let class = Class::of(site);
        if !class.is_read() && state.has_flights(launch) {
            let active = wrote(touch, site.kind, stored);
            state.check_flights(launch, &Touch { active, ..*touch });
        }
        if !class.is_strong() {
            state.global_access(launch, touch, class, stored);
            if class == Class::WeakWrite {
                state.with_global_vars(launch, |_, vars| {
                    lanes(touch.active).for_each(|lane| vars.overwrite(touch.addresses[lane]));
                });
            }
        } else if !state.with_global_vars(launch, |order, vars| vars.concerns(order, touch.warp, site)) {
            state.global_access(launch, touch, class, stored);
        } else {
            for (lane, thread) in threads(touch) {
                let (address, one) = (
                    touch.addresses[lane],
                    Touch {
                        active: 1 << lane,
                        ..*touch
                    },
                );
                state.with_global_vars(launch, |order, vars| vars.observe(order, thread, address, site));
                state.global_access(launch, &one, class, stored);
                if site.kind != AccessKind::Read && stored.wrote(lane) {
                    state.with_global_vars(launch, |order, vars| vars.publish(order, thread, address, site));
                }
            }
        }
    }

    /// A barrier of the whole block completes: every thread that has not exited arrived and waited (`bar.sync 0`,
    /// `bar.red`, or a counted one that counts them all).
    pub fn block_barrier(&mut self) {
        self.state.block_barrier();
    }

    /// Lanes arrive at a named barrier that takes only part of the block, or where some only arrive (`bar.arrive`).
    /// Told at the arrival, also for those that wait.
    pub fn barrier_arrive(&mut self, barrier: u32, warp: u32, lanes: u32) {
        let clock = self.state.order.arrive(warp, lanes);
        join_shared(self.state.barriers.entry(barrier).or_default(), &clock);
    }

    /// The named barrier completes; `waiting` are the (warp, lanes) that waited and now go on. Those that only arrived
    /// are not among them.
    pub fn barrier_complete(&mut self, barrier: u32, waiting: &[(u32, u32)]) {
        let clock = self.state.barriers.remove(&barrier).flatten();
        for &(warp, lanes) in waiting {
            self.state.order.learn(warp, lanes, &clock, true);
        }
    }

    /// `bar.warp.sync` completes for these lanes; `mask` as the instruction gives it, exited lanes included.
    pub fn warp_sync(&mut self, warp: u32, mask: u32) {
        self.state.order.warp_sync(warp, mask);
    }

    /// A fence by these lanes. `sequential`: `fence.sc` or `membar`, not `fence.acq_rel`.
    pub fn fence(&mut self, warp: u32, lanes: u32, scope: Scope, sequential: bool) {
        self.state.order.fence(warp, lanes, scope, sequential);
    }

    /// `cp.async` by the active lanes: `source` is a read of global memory (its `bytes` the source size; no active lane
    /// where only zeros are written), `destination` a write to shared memory. Both are in flight until waited for. Lanes
    /// whose destination was told before may be told again with another number of source bytes.
    pub fn copy_async(&mut self, destination: &Touch, source: &Touch, stored: &impl Stored) {
        self.global(source, &());
        self.shared(destination, stored);
        if self.launch.config.races {
            self.state.put_in_flight(destination);
            self.state.put_source(self.launch, source);
        }
    }

    /// `cp.async.commit_group` by these lanes.
    pub fn copy_commit(&mut self, warp: u32, lanes: u32) {
        for thread in threads_of(warp, lanes) {
            let copies = self.state.copies.entry(thread).or_default();
            let group = std::mem::take(&mut copies.uncommitted);
            copies.groups.push_back(group);
        }
    }

    /// `cp.async.wait_group newest`: all but the newest groups of these lanes are complete.
    pub fn copy_wait(&mut self, warp: u32, lanes: u32, newest: u32) {
        for thread in threads_of(warp, lanes) {
            let Some(copies) = self.state.copies.get_mut(&thread) else {
                continue;
            };
            let done = copies.groups.len().saturating_sub(newest as usize);
            let done: Vec<Copy> = copies.groups.drain(..done).flatten().collect();
            let launch = self.launch;
            done.into_iter()
                .for_each(|copy| self.state.complete(launch, thread, copy));
        }
    }

    /// `cp.async.wait_all`: every copy of these lanes is complete, committed or not.
    pub fn copy_wait_all(&mut self, warp: u32, lanes: u32) {
        self.copy_wait(warp, lanes, 0);
        for thread in threads_of(warp, lanes) {
            let Some(copies) = self.state.copies.get_mut(&thread) else {
                continue;
            };
            let done = std::mem::take(&mut copies.uncommitted);
            let launch = self.launch;
            done.into_iter()
                .for_each(|copy| self.state.complete(launch, thread, copy));
        }
    }

    /// `mbarrier.init` or `mbarrier.inval` at an offset in shared memory. That the object itself is accessed is told with
    /// [`BlockCheck::shared`] besides: `init` is an [`AccessKind::Write`] site, all others are [`AccessKind::Atomic`].
    pub fn mbarrier_init(&mut self, address: u64) {
        self.state.mbarriers.remove(&address);
    }

    /// A lane arrives at an mbarrier with release semantics (the default). Where one instruction completes a phase and
    /// goes on arriving, lane by lane with [`BlockCheck::mbarrier_complete`] between.
    pub fn mbarrier_arrive(&mut self, warp: u32, lane: u32, address: u64) {
        let clock = self.state.order.arrive(warp, 1 << lane);
        join_shared(&mut self.state.mbarriers.entry(address).or_default().arrived, &clock);
    }

    /// `cp.async.mbarrier.arrive`: the lane's copies so far are complete when the phase is. The arrival itself says
    /// nothing of what else the lane did.
    pub fn mbarrier_arrive_after_copies(&mut self, warp: u32, lane: u32, address: u64) {
        let thread = warp * LANES as u32 + lane;
        let Some(copies) = self.state.copies.get(&thread) else {
            return;
        };
        let all = copies
            .groups
            .iter()
            .flatten()
            .chain(&copies.uncommitted)
            .map(|&copy| (thread, copy));
        self.state.mbarriers.entry(address).or_default().copies.extend(all);
    }

    /// The current phase of an mbarrier completes.
    pub fn mbarrier_complete(&mut self, address: u64) {
        let Some(phase) = self.state.mbarriers.get_mut(&address) else {
            return;
        };
        phase.done = phase.arrived.take();
        let copies = std::mem::take(&mut phase.copies);
        if copies.is_empty() {
            return;
        }
        let mut threads = BlockClock::default();
        for &(thread, copy) in &copies {
            self.state.complete(self.launch, thread, copy);
            threads.add_thread(thread, self.state.order.now());
            if let Some(own) = self.state.copies.get_mut(&thread) {
                own.uncommitted.retain(|c| c.id != copy.id);
                own.groups.iter_mut().for_each(|g| g.retain(|c| c.id != copy.id));
            }
        }
        let clock = Clock::of(self.state.order.block(), threads);
        self.state.order.pass();
        if let Some(phase) = self.state.mbarriers.get_mut(&address) {
            join_shared(&mut phase.done, &Some(clock.into()));
        }
    }

    /// `mbarrier.test_wait`/`try_wait` said yes to a lane, with acquire semantics (the default).
    pub fn mbarrier_wait(&mut self, warp: u32, lane: u32, address: u64) {
        if let Some(phase) = self.state.mbarriers.get(&address) {
            let done = phase.done.clone();
            self.state.order.learn(warp, 1 << lane, &done, false);
        }
    }

    fn shared_written(&mut self, touch: &Touch, kind: AccessKind, stored: &impl Stored) {
        let len = u64::from(touch.bytes);
        for (lane, thread) in threads(touch) {
            let at = touch.addresses[lane];
            if kind != AccessKind::Write
                && let Some(address) = self.state.shared_written.first_missing(at, len)
            {
                self.missing(touch, thread, CheckedSpace::Shared, address);
            }
            if kind != AccessKind::Read && stored.wrote(lane) {
                self.state.shared_written.mark(at, len);
            }
        }
    }

    #[cold]
    fn missing(&mut self, touch: &Touch, thread: u32, space: CheckedSpace, address: u64) {
        self.state
            .found
            .missing(touch.site, space, self.state.order.block(), thread, address);
    }
}

/// Lanes that write.
fn wrote(touch: &Touch, kind: AccessKind, stored: &impl Stored) -> u32 {
    match kind {
        AccessKind::Read => 0,
        AccessKind::Write => touch.active,
        _ => lanes(touch.active)
            .filter(|&lane| stored.wrote(lane))
            .fold(0, |all, lane| all | 1 << lane),
    }
}

fn threads(touch: &Touch) -> impl Iterator<Item = (usize, u32)> + use<> {
    let base = touch.warp * LANES as u32;
    lanes(touch.active).map(move |lane| (lane, base + lane as u32))
}

fn threads_of(warp: u32, mask: u32) -> impl Iterator<Item = u32> {
    lanes(mask).map(move |lane| warp * LANES as u32 + lane as u32)
}
