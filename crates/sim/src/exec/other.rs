//! Instructions that are neither arithmetic, control flow, nor plain accesses.

use super::context::{Machine, Stop};
use super::lanes::blend;
use super::warp::{Group, Warp};
use crate::decode::ops::{ClockKind, MemSpace, Op};

/// Clock cycles that a warp instruction stands for: time moves on, and is the same from run to run.
const CYCLES: u64 = 4;

impl Machine<'_, '_> {
    /// Runs an instruction for the lanes of `mask`, at least one.
    pub(crate) fn other(
        &mut self,
        warp: &mut Warp,
        group: &Group,
        w: u32,
        mask: u32,
        op: &Op,
        steps: u64,
    ) -> Result<(), Stop> {
        match op {
            Op::Clock { dest, kind, wide } => {
                let now = steps * CYCLES;
                let value = match kind {
                    ClockKind::Low32 => now & 0xffff_ffff,
                    ClockKind::High32 => now >> 32,
                    ClockKind::Full64 => now,
                };
                // Who reads a clock may be waiting for time to pass.
                (self.block.watched, self.block.changed) = (true, true);
                if *wide {
                    blend(warp.regs.r64_mut(*dest), &[value; 32], mask);
                } else {
                    blend(warp.regs.r32_mut(*dest), &[value as u32; 32], mask);
                }
            }
            Op::FrameAddress { dest, wide, offset } => {
                let value = u64::from(group.fp).wrapping_add_signed(*offset);
                if *wide {
                    blend(warp.regs.r64_mut(*dest), &[value; 32], mask);
                } else {
                    blend(warp.regs.r32_mut(*dest), &[value as u32; 32], mask);
                }
            }
            Op::Convert {
                dest,
                source,
                wide,
                window,
                to_generic,
            } => {
                let step = if *to_generic { *window } else { window.wrapping_neg() };
                if *wide {
                    let values = warp.regs.r64(*source).map(|v| v.wrapping_add(step));
                    blend(warp.regs.r64_mut(*dest), &values, mask);
                } else {
                    let values = warp.regs.r32(*source).map(|v| v.wrapping_add(step as u32));
                    blend(warp.regs.r32_mut(*dest), &values, mask);
                }
            }
            Op::IsSpace {
                dest,
                source,
                wide,
                space,
            } => {
                let is = |address: u64| super::access::window_of(address).0 == *space;
                let bits = super::lanes::select(mask, |lane| {
                    is(if *wide {
                        warp.regs.r64(*source)[lane]
                    } else {
                        warp.regs.r32(*source)[lane].into()
                    })
                });
                // Whatever is in no other window is global.
                let bits = if *space == MemSpace::Generic { mask } else { bits };
                let p = warp.regs.pred_mut(*dest);
                *p = *p & !mask | bits;
            }
            Op::AsyncCopy(copy) => self.copy_async(warp, group, w, mask, copy)?,
            Op::AsyncCommit => self.copy_commit(warp, w, mask),
            Op::AsyncWait { pending } => self.copy_wait(warp, w, mask, *pending),
            Op::Mbarrier(m) => self.mbarrier(warp, group, w, mask, m)?,
            Op::Matrix { matrix, store } => self.matrix(warp, group, w, mask, matrix, *store)?,
            Op::Fragment(fragment) => self.fragment(warp, group, w, mask, fragment)?,
            _ => {}
        }
        Ok(())
    }
}
