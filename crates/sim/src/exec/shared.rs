//! Shared memory: bounds, wavefronts, checks, bytes. Offsets count from the block's first variable.

use tile33_layout::{Op as Access, banks};

use super::access::{At, misfits};
use super::context::Machine;
use super::lanes::lanes;
use super::transfer::{self, Flat, Values};
use super::warp::Warp;
use crate::check::{SiteId, Stored, Touch};
use crate::decode::ops::{Cell, Element, MemSpace};
use crate::report::SharedCounters;

impl Machine<'_, '_> {
    pub(crate) fn shared_load(&mut self, warp: &mut Warp, here: At, at: &mut [u64; 32], e: Element, cells: &[Cell]) {
        let bytes = e.bytes * cells.len() as u32;
        Self::shared_offsets(at);
        let good = self.shared_bounds(here, at, bytes, bytes);
        if good != here.mask {
            transfer::clear(here.mask & !good, cells, &mut warp.regs);
        }
        if good == 0 {
            return;
        }
        self.count_shared(here.pc, Access::Load, bytes, good, at);
        self.check_shared(At { mask: good, ..here }, at, bytes, &());
        transfer::gather(&Flat(&mut self.block.shared), at, good, e, cells, &mut warp.regs);
    }

    pub(crate) fn shared_store(&mut self, warp: &mut Warp, here: At, at: &mut [u64; 32], e: Element, cells: &[Cell]) {
        let bytes = e.bytes * cells.len() as u32;
        Self::shared_offsets(at);
        let good = self.shared_bounds(here, at, bytes, bytes);
        if good == 0 {
            return;
        }
        self.block.effect = true;
        self.count_shared(here.pc, Access::Store, bytes, good, at);
        let values = Values {
            regs: &warp.regs,
            cells,
            bytes: e.bytes,
        };
        self.check_shared(At { mask: good, ..here }, at, bytes, &values);
        transfer::scatter(&mut Flat(&mut self.block.shared), at, good, e, cells, &warp.regs);
    }

    /// The lanes whose access stays within the block's shared memory and, where the launch declares arrays in it, within
    /// one of them.
    pub(crate) fn shared_bounds(&mut self, here: At, at: &[u64; 32], bytes: u32, align: u32) -> u32 {
        let size = u64::from(self.cx.shared_bytes);
        let bad = misfits(at, here.mask, bytes, align, size);
        if bad != 0 {
            self.bad_access(At { mask: bad, ..here }, at, bytes, align, MemSpace::Shared, size);
        }
        let mut good = here.mask & !bad;
        if !self.cx.shared_arrays.is_empty() && good != 0 {
            let strays = self.strays(at, good, bytes);
            if strays != 0 {
                self.stray(At { mask: strays, ..here }, at, bytes);
                good &= !strays;
            }
        }
        good
    }

    /// Lanes that leave the declared arrays of dynamic shared memory, or that are in another one than the lanes around
    /// them: one instruction indexes one array.
    fn strays(&self, at: &[u64; 32], mask: u32, bytes: u32) -> u32 {
        let arrays = &self.cx.shared_arrays;
        let first = arrays.iter().map(|a| u64::from(a.offset)).min().unwrap_or(0);
        let dynamic = self.cx.kernel.shared.dynamic - crate::memory::SHARED_BASE;
        let array_of = |lane: usize| {
            let (from, to) = (at[lane], at[lane] + u64::from(bytes));
            arrays
                .iter()
                .position(|a| u64::from(a.offset) <= from && to <= u64::from(a.offset) + u64::from(a.bytes))
        };
        let mut strays = 0;
        let mut lanes_in = vec![0u32; arrays.len()];
        for lane in lanes(mask) {
            if at[lane] < dynamic.min(first) {
                continue;
            }
            match array_of(lane) {
                Some(array) => lanes_in[array] |= 1 << lane,
                None => strays |= 1 << lane,
            }
        }
        // Most lanes say which array is meant; of equally many, the first.
        let meant = lanes_in.iter().map(|l| l.count_ones()).max().unwrap_or(0);
        let mut found = false;
        for lanes in lanes_in {
            if lanes.count_ones() == meant && !found {
                found = true;
            } else {
                strays |= lanes;
            }
        }
        strays
    }

    #[inline]
    pub(crate) fn count_shared(&mut self, pc: u32, op: Access, bytes: u32, mask: u32, at: &[u64; 32]) {
        if !self.cx.count {
            return;
        }
        let add = SharedCounters {
            requests: 1,
            wavefronts: banks::wavefronts_u64(op, bytes, mask, at).into(),
            ideal: banks::ideal_u64(op, bytes, mask, at).into(),
        };
        self.add_shared(pc, op, add);
    }

    #[inline]
    pub(crate) fn add_shared(&mut self, pc: u32, op: Access, add: SharedCounters) {
        let counters = &mut self.gathered.counters[pc as usize];
        match op {
            Access::Load => counters.shared_load += add,
            Access::Store => counters.shared_store += add,
            _ => counters.shared_atomic += add,
        }
    }

    #[inline]
    pub(crate) fn check_shared(&mut self, here: At, at: &[u64; 32], bytes: u32, stored: &impl Stored) {
        if let (Some(check), Some(site)) = (&mut *self.check, self.cx.kernel.site(here.pc)) {
            check.shared(&touch(site, here, at, bytes), stored);
        }
    }
}

pub(crate) fn touch(site: SiteId, here: At, at: &[u64; 32], bytes: u32) -> Touch<'_> {
    Touch {
        site,
        warp: here.warp,
        active: here.mask,
        addresses: at,
        bytes,
    }
}
