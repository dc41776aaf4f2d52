//! Block barriers, by number: who is there, and when all are.

use std::collections::BTreeMap;

use super::block::Block;
use super::context::{Machine, Stop};
use super::findings::{Detail, Record};
use super::lanes::{lanes, lowest};
use super::together::merge_ready;
use super::warp::{Group, State, Warp};
use crate::decode::operands::{FALSE, SINK};
use crate::decode::ops::{Barrier, BarrierKind, NOWHERE, Op};
use crate::finding::FindingKind;

/// Barriers of a block.
const COUNT: u32 = 16;

/// One barrier between two completions.
#[derive(Clone, Debug, Default)]
struct One {
    /// Lanes that arrived, by warp, those that only arrived included.
    arrived: Vec<u32>,
    /// Threads to wait for; `None` for the whole block.
    expected: Option<u32>,
    /// Instruction of the first arrival.
    pc: u32,
    any: bool,
}

/// All barriers of a block.
#[derive(Debug, Default)]
pub(crate) struct Barriers {
    all: Vec<One>,
    warps: usize,
}

impl Barriers {
    pub(crate) fn reset(&mut self, warps: usize) {
        self.warps = warps;
        self.all.resize(COUNT as usize, One::default());
        for one in &mut self.all {
            one.clear(warps);
        }
    }
}

impl One {
    fn clear(&mut self, warps: usize) {
        self.arrived.clear();
        self.arrived.resize(warps, 0);
        (self.expected, self.any) = (None, false);
    }

    /// Whether nobody is missing. A warp whose live lanes are all there counts as 32 threads, as the hardware counts
    /// warps; before that, its lanes count one by one.
    fn is_complete(&self, live: &[u32]) -> bool {
        match self.expected {
            None => self.arrived.iter().zip(live).all(|(here, live)| live & !here == 0),
            Some(expected) => {
                let count = |(here, live): (&u32, &u32)| {
                    if *here != 0 && live & !here == 0 {
                        32
                    } else {
                        here.count_ones()
                    }
                };
                self.arrived.iter().zip(live).map(count).sum::<u32>() >= expected
            }
        }
    }
}

impl Machine<'_, '_> {
    /// A group arrives. It waits, or goes on if it only arrives; whether the barrier completes is asked later, when the
    /// warp is back among the block's.
    pub(crate) fn arrive(&mut self, warp: &Warp, group: &mut Group, w: u32, b: &Barrier) -> Result<(), Stop> {
        let lane = lowest(group.mask);
        let id = warp.regs.r32(b.id)[lane];
        if id >= COUNT {
            return Err(Stop::Unsupported {
                pc: group.pc,
                reason: format!("barrier number {id}: there are {COUNT}, from 0"),
            });
        }
        // The count that names the whole block means the same as none.
        let expected = b
            .count
            .map(|slot| warp.regs.r32(slot)[lane])
            .filter(|n| *n != self.cx.threads || *n % 32 != 0);
        let one = &mut self.block.barriers.all[id as usize];
        if !one.any {
            (one.any, one.expected, one.pc) = (true, expected, group.pc);
        }
        one.arrived[w as usize] |= group.mask;
        let whole = one.expected.is_none();
        if let Some(check) = self.check
            && (!whole || matches!(b.kind, BarrierKind::Arrive))
        {
            check.barrier_arrive(id, w, group.mask);
        }
        group.state = match b.kind {
            BarrierKind::Arrive => {
                group.pc += 1;
                State::Ready
            }
            _ => State::Barrier(id),
        };
        Ok(())
    }
}

impl Block {
    /// Completes the barriers that nobody is missing at. Whether there were any.
    pub(crate) fn complete_barriers(&mut self, m: &mut super::run::Shell<'_, '_>) -> bool {
        let mut completed = false;
        for id in 0..COUNT {
            let one = &self.state.barriers.all[id as usize];
            if one.any && one.is_complete(&self.state.live) {
                self.complete(id, m);
                completed = true;
            }
        }
        completed
    }

    fn complete(&mut self, id: u32, m: &mut super::run::Shell<'_, '_>) {
        let one = self.state.barriers.all[id as usize].clone();
        let code = &m.cx.kernel.code;
        // Who waits, by warp and instruction.
        let mut waiting: Vec<(u32, u32)> = Vec::new();
        let mut sites: Vec<BTreeMap<u32, u32>> = vec![BTreeMap::new(); self.warps.len()];
        let mut votes = 0u32;
        let mut all = true;
        for (w, warp) in self.warps.iter().enumerate() {
            for group in warp.groups.iter().filter(|g| g.state == State::Barrier(id)) {
                *sites[w].entry(group.pc).or_default() |= group.mask;
                if let Op::Barrier(b) = &code[group.pc as usize].op {
                    let source = match b.kind {
                        BarrierKind::Popc { source, .. }
                        | BarrierKind::And { source, .. }
                        | BarrierKind::Or { source, .. } => source,
                        _ => (FALSE, false),
                    };
                    let value = warp.regs.pred(source.0) ^ if source.1 { u32::MAX } else { 0 };
                    votes += (value & group.mask).count_ones();
                    all &= group.mask & !value == 0;
                }
            }
            let lanes = sites[w].values().fold(0, |all, lanes| all | lanes);
            if lanes != 0 {
                waiting.push((w as u32, lanes));
            }
        }
        if let Some((w, pc)) = sites.iter().enumerate().find_map(|(w, s)| Some((w, *s.keys().next()?))) {
            m.gathered.counters[pc as usize].barriers += 1;
            self.complain(&one, &sites, w, m);
        }
        match &mut *m.check {
            // Whoever only arrives learns nothing, so that the block is ordered as one only where all wait.
            Some(check) if one.expected.is_none() && lanes_waiting(&sites).eq(one.arrived.iter().copied()) => {
                check.block_barrier();
            }
            Some(check) => {
                // Those that wait at a barrier of the whole block were not told when they arrived.
                if one.expected.is_none() {
                    waiting
                        .iter()
                        .for_each(|(w, lanes)| check.barrier_arrive(id, *w, *lanes));
                }
                check.barrier_complete(id, &waiting);
            }
            None => {}
        }
        for warp in &mut self.warps {
            let mut released = Vec::new();
            let mut i = 0;
            while i < warp.groups.len() {
                if warp.groups[i].state != State::Barrier(id) {
                    i += 1;
                    continue;
                }
                let mut group = warp.groups.remove(i);
                if let Op::Barrier(b) = &code[group.pc as usize].op {
                    match b.kind {
                        BarrierKind::Popc { dest, .. } => {
                            super::blend(warp.regs.r32_mut(dest), &[votes; 32], group.mask);
                        }
                        BarrierKind::And { dest, .. } => set(warp, dest, group.mask, all),
                        BarrierKind::Or { dest, .. } => set(warp, dest, group.mask, votes != 0),
                        BarrierKind::Sync | BarrierKind::Arrive => {}
                    }
                }
                group.pc += 1;
                group.state = State::Ready;
                released.push(group);
            }
            merge_ready(warp, released);
        }
        self.state.barriers.all[id as usize].clear(self.warps.len());
        self.state.changed = true;
    }

    /// A barrier that not every thread of the block reached, or that lanes of one warp reached at different
    /// instructions.
    fn complain(&self, one: &One, sites: &[BTreeMap<u32, u32>], w: usize, m: &mut super::run::Shell<'_, '_>) {
        let thread = |w: usize, lanes: u32| super::findings::Thread {
            block: self.state.linear,
            thread: w as u32 * 32 + lowest(lanes) as u32,
        };
        let pc = *sites[w].keys().next().unwrap_or(&one.pc);
        let here = thread(w, sites[w].get(&pc).copied().unwrap_or(1));
        for (w, site) in sites.iter().enumerate() {
            let mut of_warp = site.iter();
            let (Some((a, a_lanes)), Some((b, b_lanes))) = (of_warp.next(), of_warp.next()) else {
                continue;
            };
            let aligned = |pc: u32| matches!(&m.cx.kernel.code[pc as usize].op, Op::Barrier(b) if b.aligned);
            if aligned(*a) || aligned(*b) {
                let mut record = Record::new(FindingKind::DivergentBarrier, *a, thread(w, *a_lanes));
                record.other_pc = *b;
                record.other = Some(thread(w, *b_lanes));
                record.detail = Detail::Text("at different instructions".into());
                m.gathered.findings.add(record);
            }
        }
        if one.expected.is_some() {
            return;
        }
        for (w, warp) in self.warps.iter().enumerate() {
            let missing = warp.valid & !one.arrived[w];
            if missing != 0 {
                // A lane of the same warp that arrived shows the divergence best.
                let arrived = sites[w].iter().next();
                let (pc, here) = arrived.map_or((pc, here), |(pc, lanes)| (*pc, thread(w, *lanes)));
                let mut record = Record::new(FindingKind::DivergentBarrier, pc, here);
                record.other_pc = warp.exit_pc[lowest(missing)];
                record.other = Some(thread(w, missing));
                record.count = lanes(missing).count() as u64;
                record.detail = Detail::Text("had exited".into());
                m.gathered.findings.add(record);
            }
        }
    }

    /// Nobody can go on: says so, with two threads and what they wait for.
    pub(crate) fn deadlock(&self, m: &mut super::run::Shell<'_, '_>) {
        let mut waiting: Vec<(u32, usize, u32, State)> = Vec::new();
        for (w, warp) in self.warps.iter().enumerate() {
            for g in &warp.groups {
                waiting.push((g.pc, w, g.mask, g.state));
            }
        }
        let thread = |w: usize, mask: u32| super::findings::Thread {
            block: self.state.linear,
            thread: w as u32 * 32 + lowest(mask) as u32,
        };
        let is_barrier = |state: State| matches!(state, State::Barrier(_));
        // Lanes of one warp at a block barrier and elsewhere: the barrier is divergent.
        let parted = waiting.iter().find_map(|a| {
            let b = waiting.iter().find(|b| b.1 == a.1 && b.0 != a.0)?;
            is_barrier(a.3).then_some((a, b))
        });
        let (kind, a, b) = match (parted, waiting.first()) {
            (Some((a, b)), _) => (FindingKind::DivergentBarrier, a, Some(b)),
            (None, Some(a)) => (FindingKind::Deadlock, a, waiting.iter().find(|b| b.0 != a.0)),
            (None, None) => return,
        };
        let mut record = Record::new(kind, a.0, thread(a.1, a.2));
        if let Some(b) = b {
            record.other_pc = b.0;
            record.other = Some(thread(b.1, b.2));
        } else {
            record.other_pc = NOWHERE;
        }
        record.detail = Detail::Text("deadlock".into());
        m.gathered.findings.add(record);
    }
}

/// The lanes of each warp that wait.
fn lanes_waiting(sites: &[BTreeMap<u32, u32>]) -> impl Iterator<Item = u32> {
    sites
        .iter()
        .map(|of_warp| of_warp.values().fold(0, |all, lanes| all | lanes))
}

fn set(warp: &mut Warp, dest: crate::registers::PredSlot, mask: u32, value: bool) {
    if dest != SINK {
        let p = warp.regs.pred_mut(dest);
        *p = if value { *p | mask } else { *p & !mask };
    }
}
