//! A warp's turn, step by step.
//!
//! A turn ends when no group of the warp can go on, when it has lasted long, or when the warp spins: its loop came round
//! several times, looked at what other threads may change, and changed nothing itself. Then others have their turn, and
//! lanes that wait to reconverge go on without the spinning ones, which may be waiting for them.

use super::block::Block;
use super::context::{Context, Gathered, Machine, Stop};
use super::findings::Record;
use super::lanes::lowest;
use super::together::all_named;
use super::warp::{Group, Meeting, State, Warp};
use crate::check::BlockCheck;
use crate::decode::ops::{Guard, NOWHERE, Op};
use crate::finding::FindingKind;
use crate::launch::TraceStep;

/// Longest turn of a warp, in instructions.
const TURN: u64 = 1 << 16;
/// Rounds of a loop without effect after which it counts as spinning.
const IDLE_ROUNDS: u32 = 16;
/// Steps of a trace that are kept.
const TRACE_STEPS: usize = 1 << 20;

/// What a block's part of the machine needs from outside.
pub(crate) struct Shell<'r, 'a> {
    pub(crate) cx: &'a Context<'a>,
    pub(crate) gathered: &'r mut Gathered,
    pub(crate) check: &'r mut Option<BlockCheck<'a>>,
}

/// How a warp's turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// No group can go on.
    Blocked,
    /// It spins.
    Spins,
    /// It lasted long.
    Long,
}

/// How a block's slice ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slice {
    /// Every thread has exited.
    Done,
    /// Every warp that can go on spins: only another block can help.
    Spins,
    /// The slice is used up.
    Long,
}

impl Block {
    /// Runs the block for about `budget` warp instructions.
    pub(crate) fn slice(&mut self, shell: &mut Shell<'_, '_>, budget: u64) -> Result<Slice, Stop> {
        let end = self.state.steps.saturating_add(budget);
        self.state.changed = false;
        loop {
            let (mut ran, mut all_spin) = (false, true);
            for _ in 0..self.warps.len() {
                let w = self.next;
                self.next = (self.next + 1) % self.warps.len();
                let warp = &mut self.warps[w];
                if warp.live() == 0 || (warp.next_ready().is_none() && !warp.release_waiting()) {
                    continue;
                }
                ran = true;
                let mut machine = Machine {
                    cx: shell.cx,
                    gathered: shell.gathered,
                    block: &mut self.state,
                    check: shell.check,
                };
                let turn = machine.turn(warp, w as u32)?;
                all_spin &= turn == Turn::Spins;
                self.state.changed |= self.state.effect || turn == Turn::Long;
                self.note_live(w);
                if self.state.steps >= end {
                    return Ok(if self.is_done() { Slice::Done } else { Slice::Long });
                }
            }
            if self.complete_barriers(shell) {
                continue;
            }
            if self.is_done() {
                return Ok(Slice::Done);
            }
            if !ran {
                self.deadlock(shell);
                return Err(Stop::Over);
            }
            if all_spin {
                return Ok(Slice::Spins);
            }
        }
    }
}

impl Machine<'_, '_> {
    fn turn(&mut self, warp: &mut Warp, w: u32) -> Result<Turn, Stop> {
        let started = self.block.steps;
        let limit = (started + TURN).min(self.cx.max_steps);
        let mut steps = started;
        (self.block.watched, self.block.effect) = (false, false);
        let Some(next) = warp.next_ready() else {
            return Ok(Turn::Blocked);
        };
        let mut group = warp.groups.remove(next);
        let turn = self.steps(warp, w, &mut group, &mut steps, limit);
        self.block.steps = steps;
        if group.mask != 0 {
            // A group that spins has its next turn after the others.
            let at = if matches!(turn, Ok(Turn::Spins)) {
                0
            } else {
                warp.groups.len()
            };
            let pc = group.pc;
            warp.groups.insert(at, group);
            if matches!(turn, Ok(Turn::Spins)) {
                warp.release_waiting();
            }
            if steps >= self.cx.max_steps {
                return Err(Stop::Steps { pc });
            }
        }
        turn
    }

    /// Takes the next group that can go on, in place of one that is gone or waits.
    fn next_group(&mut self, warp: &mut Warp, group: &mut Group) -> bool {
        group.mask = 0;
        let next = match warp.next_ready() {
            Some(next) => next,
            None if warp.release_waiting() => match warp.next_ready() {
                Some(next) => next,
                None => return false,
            },
            None => return false,
        };
        *group = warp.groups.remove(next);
        true
    }

    /// The group waits at an instruction; another goes on.
    fn wait(&mut self, warp: &mut Warp, w: u32, group: &mut Group) -> bool {
        let waiting = std::mem::replace(
            group,
            Group {
                mask: 0,
                pc: NOWHERE,
                token: NOWHERE,
                frame: None,
                fp: 0,
                state: State::Ready,
            },
        );
        let together = waiting.state == State::Together;
        warp.groups.push(waiting);
        if together {
            self.try_together(warp, w);
        }
        self.next_group(warp, group)
    }

    fn steps(&mut self, warp: &mut Warp, w: u32, group: &mut Group, steps: &mut u64, limit: u64) -> Result<Turn, Stop> {
        let kernel = self.cx.kernel;
        let code = &kernel.code[..];
        let trace = self.cx.trace == Some((self.block.linear, w));
        let mut idle = 0;
        let mut meeting = warp.meeting_pc(group.token);
        macro_rules! next_or_return {
            ($going:expr) => {
                if !$going {
                    return Ok(Turn::Blocked);
                }
                meeting = warp.meeting_pc(group.token);
            };
        }
        loop {
            if group.pc == meeting {
                match warp.meet(group) {
                    Meeting::NotHere => {}
                    Meeting::Together => {
                        meeting = warp.meeting_pc(group.token);
                        continue;
                    }
                    Meeting::Waits => {
                        next_or_return!(self.next_group(warp, group));
                        continue;
                    }
                }
            }
            if *steps >= limit {
                return Ok(Turn::Long);
            }
            *steps += 1;
            let pc = group.pc;
            let inst = &code[pc as usize];
            let active = match inst.guard {
                Guard::Always => group.mask,
                Guard::If(p) => group.mask & warp.regs.pred(p),
                Guard::Unless(p) => group.mask & !warp.regs.pred(p),
            };
            if inst.counted {
                let counters = &mut self.gathered.counters[pc as usize];
                counters.instructions += 1;
                counters.lane_instructions += u64::from(active.count_ones());
            }
            if trace {
                self.trace(pc, group.mask, active);
            }
            match &inst.op {
                Op::Alu(alu) => {
                    if active != 0 {
                        alu.execute(&mut warp.regs, active);
                    }
                    group.pc = pc + 1;
                }
                Op::Load(load) => {
                    if active != 0 {
                        self.load(warp, group, w, active, load)?;
                    }
                    group.pc = pc + 1;
                }
                Op::Store(store) => {
                    if active != 0 {
                        self.store(warp, group, w, active, store)?;
                    }
                    group.pc = pc + 1;
                }
                Op::Branch { target, reconverge } => {
                    let counters = &mut self.gathered.counters[pc as usize];
                    counters.branches += u64::from(inst.counted);
                    if *target <= pc && active != 0 && self.came_round(&mut idle) {
                        // The branch is taken at the next turn.
                        counters_back(&mut self.gathered.counters[pc as usize], active, inst.counted);
                        return Ok(Turn::Spins);
                    }
                    if active == group.mask {
                        group.pc = *target;
                    } else if active == 0 {
                        group.pc = pc + 1;
                    } else {
                        self.gathered.counters[pc as usize].divergent_branches += u64::from(inst.counted);
                        warp.part(group, active, *target, *reconverge);
                        meeting = warp.meeting_pc(group.token);
                    }
                }
                Op::BranchTable {
                    index,
                    targets,
                    reconverge,
                } => {
                    self.gathered.counters[pc as usize].branches += 1;
                    self.branch_table(
                        warp,
                        group,
                        active,
                        warp.regs.r32(*index)[..].to_vec(),
                        targets,
                        *reconverge,
                    )?;
                    meeting = warp.meeting_pc(group.token);
                }
                Op::Atomic(atomic) => {
                    if active != 0 {
                        self.atomic(warp, group, w, active, atomic)?;
                    }
                    group.pc = pc + 1;
                }
                Op::Together(together) => {
                    if active == 0 {
                        group.pc = pc + 1;
                    } else if together.is_complete(&warp.regs, active, warp.live()) {
                        together.alu.execute(&mut warp.regs, active);
                        group.pc = pc + 1;
                    } else {
                        self.leave_behind(warp, group, active);
                        group.state = State::Together;
                        next_or_return!(self.wait(warp, w, group));
                    }
                }
                Op::WarpBarrier { members } => {
                    if active == 0 {
                        group.pc = pc + 1;
                    } else if all_named(&warp.regs, *members, active, warp.live()) {
                        let named = warp.regs.r32(*members)[lowest(active)];
                        if let Some(check) = self.check {
                            check.warp_sync(w, named);
                        }
                        group.pc = pc + 1;
                    } else {
                        self.leave_behind(warp, group, active);
                        group.state = State::Together;
                        next_or_return!(self.wait(warp, w, group));
                    }
                }
                Op::Barrier(barrier) => {
                    if active == 0 {
                        group.pc = pc + 1;
                    } else {
                        self.leave_behind(warp, group, active);
                        self.arrive(warp, group, w, barrier)?;
                        if group.state != State::Ready {
                            next_or_return!(self.wait(warp, w, group));
                        }
                    }
                }
                Op::Exit => {
                    warp.exit(active, pc);
                    self.block.live[w as usize] = warp.live();
                    group.mask &= !active;
                    group.pc = pc + 1;
                    if active != 0 {
                        self.try_together(warp, w);
                    }
                    if group.mask == 0 {
                        next_or_return!(self.next_group(warp, group));
                    }
                }
                Op::Call(call) => {
                    self.call(warp, group, w, active, call)?;
                    meeting = warp.meeting_pc(group.token);
                }
                Op::Return => self.ret(warp, group),
                Op::Fence { scope, sequential } => {
                    if let Some(check) = self.check
                        && active != 0
                    {
                        check.fence(w, active, crate::decode::checked_scope(*scope), *sequential);
                    }
                    group.pc = pc + 1;
                }
                Op::Trap => {
                    if active != 0 {
                        let thread = self.thread(w, lowest(active));
                        self.gathered.findings.add(Record::new(FindingKind::Trap, pc, thread));
                        return Err(Stop::Over);
                    }
                    group.pc = pc + 1;
                }
                Op::Unsupported(reason) => {
                    if active != 0 {
                        return Err(Stop::Unsupported {
                            pc,
                            reason: reason.to_string(),
                        });
                    }
                    group.pc = pc + 1;
                }
                Op::Nop => group.pc = pc + 1,
                Op::Sleep => {
                    self.block.watched = true;
                    group.pc = pc + 1;
                }
                other => {
                    if active != 0 {
                        self.other(warp, group, w, active, other, *steps)?;
                    }
                    group.pc = pc + 1;
                }
            }
        }
    }

    /// A loop comes round. Whether it has done so often without effect.
    fn came_round(&mut self, idle: &mut u32) -> bool {
        self.block.changed |= self.block.effect;
        if self.block.effect {
            *idle = 0;
        } else if self.block.watched {
            *idle += 1;
        }
        (self.block.watched, self.block.effect) = (false, false);
        *idle >= IDLE_ROUNDS
    }

    /// Lanes whose guard is false do not take part: they go on behind the instruction.
    fn leave_behind(&mut self, warp: &mut Warp, group: &mut Group, active: u32) {
        let others = group.mask & !active;
        if others != 0 {
            warp.expect(group, group.pc + 1);
            warp.arrive(group, others);
        }
    }

    fn branch_table(
        &mut self,
        warp: &mut Warp,
        group: &mut Group,
        active: u32,
        index: Vec<u32>,
        targets: &[u32],
        reconverge: u32,
    ) -> Result<(), Stop> {
        let pc = group.pc;
        let mut ways: Vec<(u32, u32)> = Vec::new();
        let mut go = |target: u32, lanes: u32| match ways.iter_mut().find(|w| w.0 == target) {
            Some(way) => way.1 |= lanes,
            None => ways.push((target, lanes)),
        };
        if group.mask & !active != 0 {
            go(pc + 1, group.mask & !active);
        }
        for lane in super::lanes(active) {
            let Some(target) = targets.get(index[lane] as usize) else {
                let message = format!("index {} in a branch table of {} targets", index[lane], targets.len());
                return Err(Stop::Fault { pc, message });
            };
            go(*target, 1 << lane);
        }
        if let [(target, _)] = ways[..] {
            group.pc = target;
            return Ok(());
        }
        self.gathered.counters[pc as usize].divergent_branches += 1;
        if reconverge != NOWHERE {
            warp.expect(group, reconverge);
        }
        // The last way goes on in this group.
        ways.reverse();
        while let Some((target, lanes)) = ways.pop() {
            if ways.is_empty() {
                group.pc = target;
            } else if target == reconverge {
                warp.arrive(group, lanes);
            } else {
                warp.split(group, lanes, target);
            }
        }
        Ok(())
    }

    #[cold]
    fn trace(&mut self, pc: u32, mask: u32, active: u32) {
        if self.gathered.trace.len() < TRACE_STEPS {
            self.gathered.trace.push(TraceStep { pc, mask, active });
        }
    }
}

/// A branch that is executed again at the next turn counts once.
fn counters_back(counters: &mut crate::report::Counters, active: u32, counted: bool) {
    let one = u64::from(counted);
    counters.branches -= one;
    counters.instructions -= one;
    counters.lane_instructions -= one * u64::from(active.count_ones());
}
