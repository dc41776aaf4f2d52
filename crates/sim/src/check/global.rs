//! Global memory: within the block as shared memory is, and between blocks besides.

use std::sync::PoisonError;

use super::apart::Touched;
use super::cell::{Class, Context, who};
use super::finding::CheckedSpace;
use super::init::WrittenBytes;
use super::launch::{BlocksRun, LaunchCheck};
use super::line::{LINE, Row};
use super::order::Order;
use super::pages::PAGE;
use super::site::AccessKind;
use super::state::{State, groups, touch_cell};
use super::touch::{Stored, Touch, lanes};
use super::turns::Step;
use super::vars::Vars;
use crate::registers::LANES;

impl State {
    /// Races, without what strong accesses publish.
    pub(crate) fn global_access(&mut self, launch: &LaunchCheck, touch: &Touch, class: Class, stored: &impl Stored) {
        let sites = launch.sites;
        let Self {
            order,
            sets,
            found,
            global,
            touched,
            start,
            ..
        } = self;
        let (floor, now) = (order.floor(), order.now());
        let (between, in_turns) = (launch.config.blocks > 1, launch.config.blocks_run == BlocksRun::InTurns);
        let mut turns = (between && in_turns).then(|| launch.turns.lock().unwrap_or_else(PoisonError::into_inner));
        let regular = if between && !in_turns { in_order(touch) } else { None };
        let mut news = false;
        touched.clear();
        for (lane, mask, at) in groups(touch, class) {
            let page = global.get_or_make(at / PAGE, |p| p.reset());
            let unit = page.unit_for(touch.bytes, sets, floor);
            let Some(cells) = page.cells(at, touch.bytes, unit) else {
                continue;
            };
            for (i, cell) in cells.iter_mut().enumerate() {
                let offset = unit * i as u32;
                let address = at + u64::from(offset);
                let value = if class == Class::WeakWrite {
                    stored.bytes(lane, offset, unit)
                } else {
                    0
                };
                // The highest lane stands for those that read a word together: the lowest is often the one that
                // signals, and is the last to be late.
                let thread = touch.warp * LANES as u32 + 31 - mask.leading_zeros();
                if let Some(turns) = &mut turns {
                    if !(mask.is_power_of_two() && cell.is_last(who(thread, touch.site), now, class)) {
                        let step = Step {
                            site: touch.site,
                            thread,
                            address,
                            bytes: unit,
                            value,
                        };
                        for lane in lanes(mask) {
                            let thread = touch.warp * LANES as u32 + lane as u32;
                            turns.between.access(order, sites, Step { thread, ..step }, found);
                        }
                        if class == Class::WeakRead {
                            let by = (touch.warp, mask);
                            turns.between.read(order, touch.site, by, address, unit);
                        }
                    }
                } else if between {
                    let told = match class {
                        Class::WeakWrite => cell.was_written_by(touch.site, value, *start),
                        _ => cell.was_touched_by(touch.site, *start, floor, sets),
                    };
                    news |= !told;
                    if !told && regular.is_none() {
                        touched.push(Touched {
                            address,
                            bytes: unit,
                            thread,
                            value,
                        });
                    }
                }
                let mut cx = Context {
                    order,
                    sites,
                    sets,
                    found,
                    space: CheckedSpace::Global,
                    strong_elsewhere: turns.is_some(),
                };
                touch_cell(cell, &mut cx, floor, now, touch, class, (lane, mask), address, || value);
            }
        }
        match regular {
            Some(first) if news => self.tell_rows(launch, touch, first, class, stored),
            _ if !touched.is_empty() => launch
                .apart
                .touch(&mut self.regions, touch.site, self.order.block(), touched),
            _ => {}
        }
    }

    /// Tells what lanes in order touched to the summary of all blocks, line by line. `first`: the first lane.
    fn tell_rows(&mut self, launch: &LaunchCheck, touch: &Touch, first: u32, class: Class, stored: &impl Stored) {
        let start = touch.addresses[first as usize];
        let bytes = u64::from(touch.bytes);
        let end = start + bytes * u64::from(touch.active.count_ones());
        let lane_of = |at: u64| (u64::from(first) + (at - start) / bytes) as usize;
        let mut line = start / LINE * LINE;
        while line < end {
            let (from, to) = (start.max(line), end.min(line + LINE));
            let words = (from - line) / 4..(to - line) / 4;
            let mut values = [0; LINE as usize / 4];
            if class == Class::WeakWrite {
                for word in words.clone() {
                    let at = line + 4 * word;
                    values[word as usize] = stored.bytes(lane_of(at), ((at - start) % bytes) as u32, 4);
                }
            }
            let before = (line as i64 - start as i64) / bytes as i64;
            let row = Row {
                site: touch.site,
                block: self.order.block(),
                words: (u64::from(u32::MAX) << words.start & ((1 << words.end) - 1)) as u32,
                first_thread: (touch.warp * LANES as u32 + first) as i32 + before as i32,
                shift: touch.bytes.trailing_zeros() - 2,
                values: (class == Class::WeakWrite).then_some(&values),
            };
            launch.apart.touch_row(&mut self.regions, line, &row);
            line += LINE;
        }
    }

    /// The clock of the block and what strong writes to global memory have published.
    pub(crate) fn with_global_vars<R>(
        &mut self,
        launch: &LaunchCheck,
        then: impl FnOnce(&mut Order, &mut Vars) -> R,
    ) -> R {
        match launch.config.blocks_run {
            BlocksRun::Apart => then(&mut self.order, &mut self.global_vars),
            BlocksRun::InTurns => {
                let mut turns = launch.turns.lock().unwrap_or_else(PoisonError::into_inner);
                then(&mut self.order, &mut turns.vars)
            }
        }
    }

    /// Reads of bytes that nobody wrote, and what is written now.
    pub(crate) fn global_written(&mut self, launch: &LaunchCheck, touch: &Touch, kind: AccessKind, wrote: u32) {
        let first = touch.addresses[touch.active.trailing_zeros() as usize & 31];
        if let Some(known) = self.allocation_of(launch, first).map(|i| &launch.memory[i])
            && known.holds_all(touch)
        {
            if known.written.all() {
                return;
            }
            if in_order(touch).is_some() {
                let len = u64::from(touch.bytes * touch.active.count_ones());
                let told = known.written.is_written(first - known.base, len);
                if told || self.with_written(launch, |since| since.covers(first, len, kind == AccessKind::Write)) {
                    return;
                }
            }
        }
        for lane in lanes(touch.active) {
            let (at, len) = (touch.addresses[lane], u64::from(touch.bytes));
            let before = match self.allocation_of(launch, at) {
                Some(allocation) => {
                    let known = &launch.memory[allocation];
                    if known.written.all() || known.written.is_written(at - known.base, len) {
                        continue;
                    }
                    (0..len)
                        .map(|i| u64::from(known.written.is_written(at - known.base + i, 1)) << i)
                        .fold(0, |all, bit| all | bit)
                }
                None if at >= launch.config.fresh_heap => 0,
                None => continue,
            };
            let writes = wrote >> lane & 1 == 1;
            let since = self.with_written(launch, |since| {
                let bits = since.bits(at, len);
                if writes {
                    since.mark(at, len);
                }
                bits
            });
            let missing = !(before | since) & (u64::MAX >> (64 - len));
            if kind != AccessKind::Write && missing != 0 {
                let (thread, byte) = (
                    touch.warp * LANES as u32 + lane as u32,
                    at + u64::from(missing.trailing_zeros()),
                );
                self.found
                    .missing(touch.site, CheckedSpace::Global, self.order.block(), thread, byte);
            }
        }
    }

    /// What the launch, or the block where nothing orders it with others, wrote before.
    fn with_written<R>(&mut self, launch: &LaunchCheck, then: impl FnOnce(&mut WrittenBytes) -> R) -> R {
        match launch.config.blocks_run {
            BlocksRun::Apart => then(&mut self.global_written),
            BlocksRun::InTurns => then(&mut launch.turns.lock().unwrap_or_else(PoisonError::into_inner).written),
        }
    }

    fn allocation_of(&mut self, launch: &LaunchCheck, address: u64) -> Option<usize> {
        let holds = |i: usize| launch.memory.get(i).is_some_and(|k| (k.base..k.end).contains(&address));
        if !holds(self.allocation) {
            self.allocation = launch.memory.partition_point(|k| k.base <= address).checked_sub(1)?;
        }
        holds(self.allocation).then_some(self.allocation)
    }
}

/// The first lane of a warp whose lanes touch whole words one after another.
fn in_order(touch: &Touch) -> Option<u32> {
    let first = touch.active.checked_ilog2().map(|_| touch.active.trailing_zeros())?;
    let run = touch.active >> first;
    let start = touch.addresses[first as usize];
    let ordered = run & run.wrapping_add(1) == 0
        && matches!(touch.bytes, 4 | 8 | 16)
        && (first..first + run.count_ones())
            .all(|lane| touch.addresses[lane as usize] == start + u64::from((lane - first) * touch.bytes));
    ordered.then_some(first)
}
