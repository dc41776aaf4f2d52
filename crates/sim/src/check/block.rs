//! The checks of one block: what its warps access, and what orders their threads.

use std::sync::PoisonError;

use super::finding::CheckedSpace;
use super::init::{InitMap, WrittenBytes};
use super::launch::LaunchCheck;
use super::report::Collected;
use super::site::{AccessKind, Scope};
use super::touch::{Stored, Touch, lanes};
use crate::registers::LANES;

/// The checks of one block. See the module's docs for what to tell it.
#[derive(Debug)]
pub struct BlockCheck<'a> {
    launch: &'a LaunchCheck<'a>,
    block: u32,
    shared: InitMap,
    local: InitMap,
    written: WrittenBytes,
    collected: Collected,
}

impl<'a> BlockCheck<'a> {
    pub(crate) fn new(launch: &'a LaunchCheck<'a>, block: u32) -> Self {
        let config = &launch.config;
        Self {
            launch,
            block,
            shared: InitMap::new(config.shared_bytes.into()),
            local: InitMap::new(u64::from(config.local_bytes) * u64::from(config.threads)),
            written: WrittenBytes::default(),
            collected: Collected::default(),
        }
    }

    /// The block is done: its findings become the launch's.
    pub fn finish(mut self) {
        self.collected.written = self.written;
        self.launch
            .collected
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .merge(self.collected);
    }

    /// A warp accesses shared memory. For loads `stored` is `&()`; for stores and atomics it says what is written.
    pub fn shared(&mut self, touch: &Touch, stored: &impl Stored) {
        if !self.launch.config.uninitialized {
            return;
        }
        let kind = self.launch.sites.get(touch.site).kind;
        for lane in lanes(touch.active) {
            let (at, len) = (touch.addresses[lane], u64::from(touch.bytes));
            if kind != AccessKind::Write
                && let Some(address) = self.shared.first_missing(at, len)
            {
                self.missing(touch, lane, CheckedSpace::Shared, address);
            }
            if kind != AccessKind::Read && stored.wrote(lane) {
                self.shared.mark(at, len);
            }
        }
    }

    /// A warp accesses global memory. As [`BlockCheck::shared`].
    pub fn global(&mut self, touch: &Touch, stored: &impl Stored) {
        if !self.launch.config.uninitialized {
            return;
        }
        let kind = self.launch.sites.get(touch.site).kind;
        for lane in lanes(touch.active) {
            let (at, len) = (touch.addresses[lane], u64::from(touch.bytes));
            let before = self.launch.memory.find(at);
            if let Some((base, map)) = before
                && map.first_missing(at - base, len).is_none()
            {
                continue;
            }
            if kind != AccessKind::Write {
                let missing = (at..at + len).find(|&byte| {
                    before.is_none_or(|(base, map)| map.first_missing(byte - base, 1).is_some())
                        && !self.written.contains(byte)
                });
                if let Some(address) = missing {
                    self.missing(touch, lane, CheckedSpace::Global, address);
                }
            }
            if kind != AccessKind::Read && stored.wrote(lane) {
                self.written.mark(at, len);
            }
        }
    }

    /// A warp accesses local memory, each lane its own.
    pub fn local(&mut self, touch: &Touch) {
        if !self.launch.config.uninitialized {
            return;
        }
        let kind = self.launch.sites.get(touch.site).kind;
        for lane in lanes(touch.active) {
            let frame = u64::from(touch.warp * LANES as u32 + lane as u32) * u64::from(self.launch.config.local_bytes);
            let (at, len) = (frame + touch.addresses[lane], u64::from(touch.bytes));
            if kind == AccessKind::Read {
                if let Some(address) = self.local.first_missing(at, len) {
                    self.missing(touch, lane, CheckedSpace::Local, address - frame);
                }
            } else {
                self.local.mark(at, len);
            }
        }
    }

    /// A barrier of the whole block completes: every thread that has not exited arrived and waited (`bar.sync 0`,
    /// `bar.red`, or a counted one that counts them all).
    pub fn block_barrier(&mut self) {}

    /// Lanes arrive at a named barrier that takes only part of the block, or where some only arrive (`bar.arrive`).
    /// Told at the arrival, also for those that wait.
    pub fn barrier_arrive(&mut self, _barrier: u32, _warp: u32, _lanes: u32) {}

    /// The named barrier completes; `waiting` are the (warp, lanes) that waited and now go on. Those that only arrived
    /// are not among them.
    pub fn barrier_complete(&mut self, _barrier: u32, _waiting: &[(u32, u32)]) {}

    /// `bar.warp.sync` completes for these lanes; `mask` as the instruction gives it, exited lanes included.
    pub fn warp_sync(&mut self, _warp: u32, _mask: u32) {}

    /// `fence` or `membar` by these lanes, whatever its order (`fence.sc`, `fence.acq_rel`).
    pub fn fence(&mut self, _warp: u32, _lanes: u32, _scope: Scope) {}

    /// `cp.async` by the active lanes: `source` is a read of global memory (its `bytes` the source size, 0 where only
    /// zeros are written), `destination` a write to shared memory that is in flight until waited for.
    pub fn copy_async(&mut self, destination: &Touch, source: &Touch, stored: &impl Stored) {
        self.global(source, &());
        self.shared(destination, stored);
    }

    /// `cp.async.commit_group` by these lanes.
    pub fn copy_commit(&mut self, _warp: u32, _lanes: u32) {}

    /// `cp.async.wait_group newest`: all but the newest groups of these lanes are complete.
    pub fn copy_wait(&mut self, _warp: u32, _lanes: u32, _newest: u32) {}

    /// `cp.async.wait_all`: every copy of these lanes is complete, committed or not.
    pub fn copy_wait_all(&mut self, _warp: u32, _lanes: u32) {}

    /// `mbarrier.init` or `mbarrier.inval` at an offset in shared memory. That the object itself is written is told
    /// with [`BlockCheck::shared`] besides (an [`AccessKind::Write`] site); the other operations on it are
    /// [`AccessKind::Atomic`] sites.
    pub fn mbarrier_init(&mut self, _address: u64) {}

    /// A lane arrives at an mbarrier with release semantics (the default). Where one instruction completes a phase and
    /// goes on arriving, lane by lane with [`BlockCheck::mbarrier_complete`] between.
    pub fn mbarrier_arrive(&mut self, _warp: u32, _lane: u32, _address: u64) {}

    /// `cp.async.mbarrier.arrive`: the lane's copies so far are complete when the phase is, and it arrives.
    pub fn mbarrier_arrive_after_copies(&mut self, _warp: u32, _lane: u32, _address: u64) {}

    /// The current phase of an mbarrier completes.
    pub fn mbarrier_complete(&mut self, _address: u64) {}

    /// `mbarrier.test_wait`/`try_wait` said yes to a lane, with acquire semantics (the default).
    pub fn mbarrier_wait(&mut self, _warp: u32, _lane: u32, _address: u64) {}

    fn missing(&mut self, touch: &Touch, lane: usize, space: CheckedSpace, address: u64) {
        let thread = touch.warp * LANES as u32 + lane as u32;
        self.collected.missing(touch.site, space, self.block, thread, address);
    }
}
