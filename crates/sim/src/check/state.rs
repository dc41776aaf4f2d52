//! What is kept for the checks of one block: shadows, clocks, copies in flight. Used for block after block.

use std::collections::{HashMap, VecDeque};

use super::apart::{Regions, Touched};
use super::cell::{Cell, Class, Context, Group, IN_FLIGHT, who};
use super::clock::{SharedClock, Time};
use super::finding::CheckedSpace;
use super::flights::{Flights, Source};
use super::init::{InitMap, WrittenBytes};
use super::launch::CheckConfig;
use super::order::Order;
use super::pages::{PAGE, Pages};
use super::report::Collected;
use super::sets::Sets;
use super::site::{SiteId, Sites};
use super::touch::{Stored, Touch};
use super::vars::Vars;
use crate::registers::LANES;

/// See the module's docs.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) order: Order,
    pub(crate) sets: Sets,
    pub(crate) found: Collected,
    /// The time at which the block began.
    pub(crate) start: Time,
    pub(crate) shared: SharedShadow,
    pub(crate) shared_written: InitMap,
    pub(crate) global: Pages<GlobalPage>,
    pub(crate) global_written: WrittenBytes,
    pub(crate) regions: Regions,
    pub(crate) touched: Vec<Touched>,
    pub(crate) shared_vars: Vars,
    pub(crate) global_vars: Vars,
    pub(crate) barriers: HashMap<u32, SharedClock>,
    pub(crate) mbarriers: HashMap<u64, Phase>,
    pub(crate) copies: HashMap<u32, Copies>,
    pub(crate) flights: Flights,
    next_copy: u64,
    /// The allocation that was accessed last.
    pub(crate) allocation: usize,
}

/// An mbarrier.
#[derive(Debug, Default)]
pub(crate) struct Phase {
    /// What the arrivals of the current phase published.
    pub(crate) arrived: SharedClock,
    /// What those of the last phase did.
    pub(crate) done: SharedClock,
    /// Copies that are complete when the current phase is, by thread.
    pub(crate) copies: Vec<(u32, Copy)>,
}

/// A `cp.async` that has not been waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copy {
    /// Different for each copy of the block.
    pub(crate) id: u64,
    pub(crate) site: SiteId,
    pub(crate) address: u64,
    pub(crate) bytes: u32,
    /// What it reads, unless it only writes zeros.
    pub(crate) source: Option<Source>,
}

/// A thread's copies in flight.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    pub(crate) uncommitted: Vec<Copy>,
    /// Oldest first.
    pub(crate) groups: VecDeque<Vec<Copy>>,
}

/// Pages that a block may keep over a barrier, at which everything on them becomes past.
const KEPT_PAGES: usize = 1024;

impl State {
    pub(crate) fn new(config: &CheckConfig) -> Self {
        Self {
            order: Order::new(config.threads),
            sets: Sets::default(),
            found: Collected::default(),
            start: 0,
            shared: SharedShadow::new(if config.races { config.shared_bytes } else { 0 }),
            shared_written: InitMap::default(),
            global: Pages::default(),
            global_written: WrittenBytes::default(),
            regions: Regions::default(),
            touched: Vec::new(),
            shared_vars: Vars::default(),
            global_vars: Vars::default(),
            barriers: HashMap::new(),
            mbarriers: HashMap::new(),
            copies: HashMap::new(),
            flights: Flights::default(),
            next_copy: 0,
            allocation: 0,
        }
    }

    /// Makes it ready for a block.
    pub(crate) fn start(&mut self, block: u32, config: &CheckConfig) {
        self.order.start(block);
        self.start = self.order.floor();
        self.sets.clear();
        self.global.clear();
        self.shared_vars.clear();
        self.global_vars.clear();
        self.barriers.clear();
        self.mbarriers.clear();
        self.shared.abandon_copies(self.copies.drain());
        self.flights = Flights::default();
        if config.uninitialized {
            self.shared_written.reset(config.shared_bytes.into());
            self.global_written.clear();
        }
    }

    pub(crate) fn block_barrier(&mut self) {
        self.order.block_barrier();
        self.sets.clear();
        if self.global.len() > KEPT_PAGES {
            self.global.clear();
        }
    }

    /// Shared memory, without what strong accesses publish.
    pub(crate) fn shared_access(&mut self, touch: &Touch, class: Class, stored: &impl Stored, sites: &Sites) {
        let Self {
            order,
            sets,
            found,
            shared,
            ..
        } = self;
        if touch.bytes < 4 && shared.unit == 4 {
            shared.split(sets, order.floor());
        }
        let unit = shared.unit;
        let (floor, now) = (order.floor(), order.now());
        let mut cx = Context {
            order,
            sites,
            sets,
            found,
            space: CheckedSpace::Shared,
            strong_elsewhere: false,
        };
        for (lane, mask, at) in groups(touch, class) {
            let Some(cells) = shared.cells(at, touch.bytes) else {
                continue;
            };
            for (i, cell) in cells.iter_mut().enumerate() {
                let offset = unit * i as u32;
                touch_cell(
                    cell,
                    &mut cx,
                    floor,
                    now,
                    touch,
                    class,
                    (lane, mask),
                    at + u64::from(offset),
                    || stored.bytes(lane, offset, unit),
                );
            }
        }
    }

    /// Copies by these lanes are in flight.
    pub(crate) fn put_in_flight(&mut self, touch: &Touch) {
        for lane in super::touch::lanes(touch.active) {
            let thread = touch.warp * LANES as u32 + lane as u32;
            self.next_copy += 1;
            let copy = Copy {
                id: self.next_copy,
                site: touch.site,
                address: touch.addresses[lane],
                bytes: touch.bytes,
                source: None,
            };
            if let Some(cells) = self.shared.cells(copy.address, copy.bytes) {
                cells.iter_mut().for_each(|c| c.write_time = IN_FLIGHT);
            }
            self.copies.entry(thread).or_default().uncommitted.push(copy);
        }
    }
}

/// One granule, the quick ways first.
#[inline]
#[expect(
    clippy::too_many_arguments,
    reason = "inlined into two loops, where each of them is at hand"
)]
pub(crate) fn touch_cell(
    cell: &mut Cell,
    cx: &mut Context,
    floor: Time,
    now: Time,
    touch: &Touch,
    class: Class,
    (lane, mask): (usize, u32),
    address: u64,
    value: impl FnOnce() -> u32,
) {
    let me = who(touch.warp * LANES as u32 + lane as u32, touch.site);
    let group = Group {
        warp: touch.warp,
        lanes: mask,
        site: touch.site,
        class,
        address,
    };
    if class == Class::WeakWrite {
        let value = value();
        if cell.is_quiet(floor) {
            (cell.write_time, cell.writer, cell.value) = (now, me, value);
        } else {
            cell.access(cx, group, value);
        }
    } else if cell.write_time <= floor && mask.is_power_of_two() && cell.may_take(me, floor, class) {
        (cell.other_time, cell.other) = (now, me);
    } else if cell.write_time <= floor && cell.joins_readers(cx.sets, &group, floor, now) {
    } else {
        cell.access(cx, group, 0);
    }
}

/// Lanes next to each other that touch the same address, as (first lane, lanes, address). Ordinary stores lane by lane,
/// since each may store another value.
#[inline]
pub(crate) fn groups<'t>(touch: &Touch<'t>, class: Class) -> impl Iterator<Item = (usize, u32, u64)> + use<'t> {
    let (mut rest, addresses) = (touch.active, touch.addresses);
    let together = class != Class::WeakWrite;
    std::iter::from_fn(move || {
        if rest == 0 {
            return None;
        }
        let lane = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        let mut mask = 1 << lane;
        while together && rest != 0 && addresses[rest.trailing_zeros() as usize] == addresses[lane] {
            mask |= 1 << rest.trailing_zeros();
            rest &= rest - 1;
        }
        Some((lane, mask, addresses[lane]))
    })
}

/// The shadow of a block's shared memory.
#[derive(Debug)]
pub(crate) struct SharedShadow {
    cells: Vec<Cell>,
    /// Bytes of a granule: 4, or 1 once a narrower access was seen.
    unit: u32,
}

impl SharedShadow {
    fn new(bytes: u32) -> Self {
        Self {
            cells: vec![Cell::default(); bytes.div_ceil(4) as usize],
            unit: 4,
        }
    }

    #[inline]
    fn cells(&mut self, address: u64, bytes: u32) -> Option<&mut [Cell]> {
        let start = address as usize / self.unit as usize;
        self.cells.get_mut(start..start + (bytes / self.unit) as usize)
    }

    fn split(&mut self, sets: &mut Sets, floor: Time) {
        self.cells = self.cells.iter().flat_map(|c| c.split(sets, floor)).collect();
        self.unit = 1;
    }

    pub(crate) fn settle(&mut self, thread: u32, copy: Copy, now: Time) {
        let me = who(thread, copy.site);
        for cell in self.cells(copy.address, copy.bytes).into_iter().flatten() {
            if cell.write_time == IN_FLIGHT && cell.writer == me {
                cell.write_time = now;
            }
        }
    }

    /// The block is over: what never arrived is past.
    fn abandon_copies(&mut self, copies: impl Iterator<Item = (u32, Copies)>) {
        for (thread, copies) in copies {
            for copy in copies.groups.into_iter().flatten().chain(copies.uncommitted) {
                self.settle(thread, copy, 0);
            }
        }
    }
}

/// Shadow of a page of global memory, for one block.
#[derive(Debug, Default)]
pub(crate) struct GlobalPage {
    cells: Vec<Cell>,
}

impl GlobalPage {
    /// As new.
    pub(crate) fn reset(&mut self) {
        self.cells.clear();
        self.cells.resize((PAGE / 4) as usize, Cell::default());
    }

    /// Bytes of a granule, 1 if a narrower access than a word has been made or is made now.
    #[inline]
    pub(crate) fn unit_for(&mut self, bytes: u32, sets: &mut Sets, floor: Time) -> u32 {
        if self.cells.len() == PAGE as usize {
            return 1;
        }
        if bytes < 4 {
            self.cells = self.cells.iter().flat_map(|c| c.split(sets, floor)).collect();
            return 1;
        }
        4
    }

    #[inline]
    pub(crate) fn cells(&mut self, address: u64, bytes: u32, unit: u32) -> Option<&mut [Cell]> {
        let start = (address % PAGE) as usize / unit as usize;
        self.cells.get_mut(start..start + (bytes / unit) as usize)
    }
}
