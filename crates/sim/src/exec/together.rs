//! Instructions for which lanes of a warp must come together: `bar.warp.sync`, shuffles, votes, matrix products.
//!
//! Lanes wait until everyone whom their member mask names is at an instruction of the same kind with the same mask, or
//! has exited. They may come by different instructions: then each gets its result where its own instruction says.

use std::collections::BTreeMap;

use super::block::Block;
use super::context::Machine;
use super::lanes::{blend, lanes, lowest};
use super::warp::{Group, State, Warp, same_frame};
use crate::alu::Sync;
use crate::decode::ops::{Inst, Op, Together};
use crate::registers::{PredSlot, Registers, Slot};

/// The kind of `bar.warp.sync`; other instructions have theirs from the decoder.
const WARP_BARRIER: u64 = 0;

impl Together {
    /// Who must be there, if all lanes of `mask` agree and are exactly those; the fast path.
    #[inline]
    pub(crate) fn is_complete(&self, regs: &Registers, mask: u32, live: u32) -> bool {
        match self.alu.sync() {
            Sync::None => true,
            Sync::Warp => live & !mask == 0,
            Sync::Members(slot) => all_named(regs, slot, mask, live),
        }
    }
}

/// Whether every lane of `mask` names the same lanes, itself among them, and all those that live are in `mask`.
#[inline]
pub(crate) fn all_named(regs: &Registers, slot: Slot, mask: u32, live: u32) -> bool {
    let row = regs.r32(slot);
    let members = row[lowest(mask)];
    members & live & !mask == 0 && mask & !members == 0 && lanes(mask).all(|lane| row[lane] == members)
}

/// Kind and member mask of what lane `lane` waits at.
fn wants(code: &[Inst], warp: &Warp, pc: u32, lane: usize) -> Option<(u64, u32)> {
    match &code[pc as usize].op {
        Op::WarpBarrier { members } => Some((WARP_BARRIER, warp.regs.r32(*members)[lane])),
        Op::Together(t) => {
            let members = match t.alu.sync() {
                Sync::Members(slot) => warp.regs.r32(slot)[lane],
                Sync::Warp | Sync::None => warp.live(),
            };
            Some((t.form, members))
        }
        _ => None,
    }
}

impl Machine<'_, '_> {
    /// Lets waiting lanes go on whose company is complete. Whether any did.
    pub(crate) fn try_together(&mut self, warp: &mut Warp, w: u32) -> bool {
        let code = &self.cx.kernel.code;
        let mut classes: BTreeMap<(u64, u32), u32> = BTreeMap::new();
        for group in warp.groups.iter().filter(|g| g.state == State::Together) {
            for lane in lanes(group.mask) {
                if let Some(key) = wants(code, warp, group.pc, lane) {
                    *classes.entry(key).or_default() |= 1 << lane;
                }
            }
        }
        let live = warp.live();
        let mut gone_on = Vec::new();
        for ((kind, members), here) in classes {
            if members & live & !here == 0 {
                gone_on.append(&mut self.come_together(warp, w, kind, members, here));
            }
        }
        // Lanes that came as one and named different members (the tiles of a cooperative group) go on as one.
        let any = !gone_on.is_empty();
        merge_ready(warp, gone_on);
        any
    }

    /// Executes the instruction for one company, and returns its groups.
    fn come_together(&mut self, warp: &mut Warp, w: u32, kind: u64, members: u32, here: u32) -> Vec<Group> {
        // Take the lanes out of their groups.
        let mut parties: Vec<Group> = Vec::new();
        let mut i = 0;
        while i < warp.groups.len() {
            let group = &mut warp.groups[i];
            let lanes = group.mask & here;
            if group.state != State::Together || lanes == 0 {
                i += 1;
                continue;
            }
            if lanes == group.mask {
                parties.push(warp.groups.remove(i));
            } else {
                group.mask &= !lanes;
                let (pc, token, frame, fp) = (group.pc, group.token, group.frame.clone(), group.fp);
                parties.push(Group {
                    mask: lanes,
                    pc,
                    token,
                    frame,
                    fp,
                    state: State::Together,
                });
                i += 1;
            }
        }
        if here & !members != 0 {
            for group in &parties {
                self.not_a_member(w, group.pc, group.mask & !members, members);
            }
        }
        let code = &self.cx.kernel.code;
        if kind == WARP_BARRIER {
            if let Some(check) = self.check {
                check.warp_sync(w, members);
            }
        } else {
            let mut by_pc: BTreeMap<u32, u32> = BTreeMap::new();
            parties.iter().for_each(|g| *by_pc.entry(g.pc).or_default() |= g.mask);
            let ops: Vec<(&Together, u32)> = by_pc
                .iter()
                .filter_map(|(pc, mask)| match &code[*pc as usize].op {
                    Op::Together(t) => Some((&**t, *mask)),
                    _ => None,
                })
                .collect();
            match ops[..] {
                [(one, mask)] => one.alu.execute(&mut warp.regs, mask),
                _ => exchange(&ops, &mut warp.regs, here),
            }
        }
        for group in &mut parties {
            group.pc += 1;
            group.state = State::Ready;
        }
        parties
    }
}

/// Puts groups back, those at the same place as one.
pub(crate) fn merge_ready(warp: &mut Warp, mut groups: Vec<Group>) {
    while let Some(first) = groups.pop() {
        let mut same = vec![first];
        let mut i = 0;
        while i < groups.len() {
            let (a, b) = (&same[0], &groups[i]);
            if a.pc == b.pc && a.fp == b.fp && same_frame(&a.frame, &b.frame) {
                same.push(groups.swap_remove(i));
            } else {
                i += 1;
            }
        }
        if let Some(group) = warp.merge(same) {
            warp.groups.push(group);
        }
    }
}

/// Several instructions of one kind executed as one: each runs for all lanes, with the sources of the lanes that came by
/// the others brought into its own rows, and only its own lanes keep the result.
fn exchange(ops: &[(&Together, u32)], regs: &mut Registers, all: u32) {
    let mut results: Vec<(Slot, [u32; 32], u32)> = Vec::new();
    let mut votes: Vec<(PredSlot, u32, u32)> = Vec::new();
    let before = regs.clone();
    for (own, own_lanes) in ops {
        for (other, other_lanes) in ops {
            for (to, from) in own.inputs.iter().zip(&other.inputs) {
                for row in 0..to.1.min(from.1) {
                    let values = *before.r32(Slot(from.0.0 + row));
                    blend(regs.r32_mut(Slot(to.0.0 + row)), &values, *other_lanes);
                }
            }
            for (to, from) in own.predicate_inputs.iter().zip(&other.predicate_inputs) {
                let value = before.pred(*from);
                let p = regs.pred_mut(*to);
                *p = *p & !other_lanes | value & other_lanes;
            }
        }
        own.alu.execute(regs, all);
        for (slot, rows) in &own.outputs {
            for row in 0..*rows {
                let slot = Slot(slot.0 + row);
                results.push((slot, *regs.r32(slot), *own_lanes));
            }
        }
        for slot in &own.predicate_outputs {
            votes.push((*slot, regs.pred(*slot), *own_lanes));
        }
        regs.clone_from(&before);
    }
    for (slot, values, mask) in results {
        blend(regs.r32_mut(slot), &values, mask);
    }
    for (slot, value, mask) in votes {
        let p = regs.pred_mut(slot);
        *p = *p & !mask | value & mask;
    }
}

impl Block {
    /// Refreshes what the barriers know of a warp's lanes.
    pub(crate) fn note_live(&mut self, w: usize) {
        self.state.live[w] = self.warps[w].live();
    }
}
