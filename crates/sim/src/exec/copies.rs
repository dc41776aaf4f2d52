//! `cp.async`: copies from global to shared memory that arrive when they are waited for, not before.

use tile33_layout::Op as Access;

use super::access::{At, addresses, by_space};
use super::context::{Machine, Stop};
use super::lanes::lanes;
use super::ownership::Claim;
use super::shared::touch;
use super::transfer::Bytes;
use super::warp::{Group, Warp};
use crate::check::Stored;
use crate::decode::ops::{AsyncCopy, MemSpace};

/// A copy that has not arrived.
#[derive(Clone, Debug)]
pub(crate) struct Copy {
    /// Lanes whose part has not arrived.
    mask: u32,
    /// Offset in shared memory, by lane.
    to: [u64; 32],
    data: Box<[[u8; 16]; 32]>,
    bytes: u32,
    /// Group of each lane; `None` until the lane commits.
    group: [Option<u32>; 32],
}

impl Stored for Copy {
    fn bytes(&self, lane: usize, offset: u32, count: u32) -> u32 {
        let bytes = &self.data[lane][offset as usize..(offset + count) as usize];
        bytes.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte))
    }
}

/// Copies of a warp on their way.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    flying: Vec<Copy>,
    /// Groups that each lane has committed.
    committed: [u32; 32],
}

impl Copies {
    pub(crate) fn clear(&mut self) {
        self.flying.clear();
        self.committed = [0; 32];
    }
}

impl Machine<'_, '_> {
    pub(crate) fn copy_async(
        &mut self,
        warp: &mut Warp,
        group: &Group,
        w: u32,
        mask: u32,
        copy: &AsyncCopy,
    ) -> Result<(), Stop> {
        let here = At {
            pc: group.pc,
            warp: w,
            mask,
            fp: group.fp,
        };
        let mut to = addresses(&warp.regs, &copy.to, group.fp);
        let from = addresses(&warp.regs, &copy.from, group.fp);
        Self::shared_offsets(&mut to);
        let good = self.shared_bounds(here, &to, copy.bytes, copy.bytes);
        if good == 0 {
            return Ok(());
        }
        let ignore = copy
            .ignore
            .map_or(0, |(p, negated)| warp.regs.pred(p) ^ if negated { u32::MAX } else { 0 });
        let mut flying = Copy {
            mask: good,
            to,
            data: Box::new([[0; 16]; 32]),
            bytes: copy.bytes,
            group: [None; 32],
        };
        let wanted = |lane: usize| {
            let given = copy.source_bytes.map_or(copy.bytes, |slot| warp.regs.r32(slot)[lane]);
            if ignore >> lane & 1 == 1 {
                0
            } else {
                given.min(copy.bytes)
            }
        };
        // Lanes by the number of bytes that they read, which is nearly always one.
        let mut left = good;
        let mut told = false;
        while left != 0 {
            let bytes = wanted(super::lowest(left));
            let same = lanes(left).filter(|l| wanted(*l) == bytes).fold(0, |m, l| m | 1 << l);
            left &= !same;
            if bytes == 0 {
                continue;
            }
            let part = At { mask: same, ..here };
            let bad = self.read_global(part, &from, bytes, copy.bytes, &mut flying)?;
            let read = At {
                mask: same & !bad,
                ..here
            };
            if let (Some(check), Some(own), Some(source)) = (
                &mut *self.check,
                self.cx.kernel.sites.of(here.pc),
                self.cx.kernel.sites.source(here.pc),
            ) && bytes.is_power_of_two()
            {
                let source = touch(source, read, &from, bytes);
                let destination = touch(own, At { mask: good, ..here }, &to, copy.bytes);
                let nothing = touch(own, At { mask: 0, ..here }, &to, copy.bytes);
                check.copy_async(if told { &nothing } else { &destination }, &source, &flying);
                told = true;
            }
        }
        if let (Some(check), Some(own), false) = (&mut *self.check, self.cx.kernel.sites.of(here.pc), told) {
            let destination = touch(own, At { mask: good, ..here }, &to, copy.bytes);
            let source = touch(own, At { mask: 0, ..here }, &from, copy.bytes);
            check.copy_async(&destination, &source, &flying);
        }
        self.count_shared(here.pc, Access::Store, copy.bytes, good, &to);
        warp.copies.flying.push(flying);
        self.block.effect = true;
        Ok(())
    }

    fn read_global(
        &mut self,
        here: At,
        from: &[u64; 32],
        bytes: u32,
        align: u32,
        into: &mut Copy,
    ) -> Result<u32, Stop> {
        let mut all = *from;
        let mut bad = 0;
        by_space(&mut all, here.mask, MemSpace::Generic, |space, mask, at| {
            let here = At { mask, ..here };
            if space != MemSpace::Global {
                self.wrong_space(here, at, bytes, space, "cp.async reads global memory");
                bad |= mask;
                return Ok(());
            }
            bad |= self.global_parts(here, at, bytes, align, |m, part| {
                m.claim(part, at, bytes, Claim::Read)?;
                m.count_global(here.pc, Access::Load, align, part.mask, at);
                for lane in lanes(part.mask) {
                    let from = (at[lane] - part.base) as usize;
                    for i in 0..bytes as usize {
                        into.data[lane][i] = super::global::Device(part.data).get(lane, from + i, 1) as u8;
                    }
                }
                Ok(())
            })?;
            Ok(())
        })?;
        Ok(bad)
    }

    pub(crate) fn copy_commit(&mut self, warp: &mut Warp, w: u32, mask: u32) {
        for copy in &mut warp.copies.flying {
            for lane in lanes(mask & copy.mask) {
                copy.group[lane].get_or_insert(warp.copies.committed[lane]);
            }
        }
        lanes(mask).for_each(|lane| warp.copies.committed[lane] += 1);
        if let Some(check) = self.check {
            check.copy_commit(w, mask);
        }
    }

    /// Copies of the lanes in `mask` arrive: all but the newest `pending` groups, or every one.
    pub(crate) fn copy_wait(&mut self, warp: &mut Warp, w: u32, mask: u32, pending: Option<u32>) {
        self.land(warp, mask, pending);
        if let Some(check) = self.check {
            match pending {
                Some(newest) => check.copy_wait(w, mask, newest),
                None => check.copy_wait_all(w, mask),
            }
        }
    }

    pub(crate) fn land(&mut self, warp: &mut Warp, mask: u32, pending: Option<u32>) {
        let copies = &mut warp.copies;
        for copy in &mut copies.flying {
            for lane in lanes(copy.mask & mask) {
                let due = match (pending, copy.group[lane]) {
                    (None, _) => true,
                    (Some(newest), Some(group)) => group + newest < copies.committed[lane],
                    (Some(_), None) => false,
                };
                if due {
                    let to = copy.to[lane] as usize;
                    let bytes = copy.bytes as usize;
                    self.block.shared[to..to + bytes].copy_from_slice(&copy.data[lane][..bytes]);
                    copy.mask &= !(1 << lane);
                }
            }
        }
        copies.flying.retain(|copy| copy.mask != 0);
    }
}
