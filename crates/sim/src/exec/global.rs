//! Global memory: which allocation, bounds, claims between blocks, sectors, checks, bytes.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::{MutexGuard, PoisonError};

use tile33_layout::{Op as Access, sectors};

use super::access::{At, misfits};
use super::context::{Machine, Stop};
use super::heap::Heap;
use super::lanes::{lanes, lowest, select};
use super::ownership::Claim;
use super::shared::touch;
use super::transfer::{self, Bytes, Values};
use super::warp::Warp;
use crate::check::Stored;
use crate::decode::ops::{Cell, Element, MemSpace};
use crate::memory::backing::Backing;
use crate::memory::global::Allocation;
use crate::memory::{HEAP_BASE, Memory};
use crate::report::GlobalCounters;

/// An allocation as a warp sees it; offsets are from its start.
pub(crate) struct Device<'a>(pub(crate) &'a Backing);

impl Bytes for Device<'_> {
    #[inline(always)]
    fn get(&self, _: usize, at: usize, bytes: u32) -> u64 {
        match bytes {
            1 => self.0.u8(at).load(Relaxed).into(),
            2 => self.0.u16(at).load(Relaxed).into(),
            4 => self.0.u32(at).load(Relaxed).into(),
            _ => self.0.u64(at).load(Relaxed),
        }
    }

    #[inline(always)]
    fn put(&mut self, _: usize, at: usize, bytes: u32, value: u64) {
        match bytes {
            1 => self.0.u8(at).store(value as u8, Relaxed),
            2 => self.0.u16(at).store(value as u16, Relaxed),
            4 => self.0.u32(at).store(value as u32, Relaxed),
            _ => self.0.u64(at).store(value, Relaxed),
        }
    }

    #[inline(always)]
    fn get_row(&self, at: usize) -> [u32; 32] {
        let words = self.0.words(at, 32);
        std::array::from_fn(|lane| words[lane].load(Relaxed))
    }

    #[inline(always)]
    fn put_row(&mut self, at: usize, row: &[u32; 32]) {
        for (word, value) in self.0.words(at, 32).iter().zip(row) {
            word.store(*value, Relaxed);
        }
    }
}

/// What an address lies in.
pub(crate) enum Place<'a> {
    /// Index among the live allocations.
    Live(usize, &'a Allocation),
    /// In the device's own heap.
    Heap,
    Nothing,
}

impl Memory {
    #[inline]
    pub(crate) fn place(&self, address: u64) -> Place<'_> {
        if address >= HEAP_BASE {
            return Place::Heap;
        }
        let after = self.live.partition_point(|a| a.base <= address);
        match after.checked_sub(1).map(|i| (i, &self.live[i])) {
            Some((i, a)) if address < a.end() => Place::Live(i, a),
            _ => Place::Nothing,
        }
    }
}

/// A part of an access that lies in one allocation.
pub(crate) struct Part<'a> {
    pub(crate) data: &'a Backing,
    /// First address of the allocation.
    pub(crate) base: u64,
    /// The allocation and its index, if it is one of the memory's rather than of the device's heap.
    pub(crate) live: Option<(usize, &'a Allocation)>,
    /// The lanes; all in bounds and aligned.
    pub(crate) mask: u32,
}

impl<'a> Machine<'_, 'a> {
    /// Cuts an access into parts by allocation, and reports the lanes that lie in none. Returns those.
    pub(crate) fn global_parts(
        &mut self,
        here: At,
        at: &[u64; 32],
        bytes: u32,
        align: u32,
        mut each: impl FnMut(&mut Self, &Part<'_>) -> Result<(), Stop>,
    ) -> Result<u32, Stop> {
        let mut left = here.mask;
        let mut bad = 0;
        while left != 0 {
            let address = at[lowest(left)];
            let memory: &'a Memory = self.cx.memory;
            let guard: MutexGuard<'_, Heap>;
            let (data, base, live) = match memory.place(address) {
                Place::Live(index, a) => (&a.data, a.base, Some((index, a))),
                Place::Heap => {
                    guard = self.cx.heap.lock().unwrap_or_else(PoisonError::into_inner);
                    match guard.find(address) {
                        Some(a) => (&a.data, a.base, None),
                        None => {
                            bad |= 1 << lowest(left);
                            left &= left - 1;
                            continue;
                        }
                    }
                }
                Place::Nothing => {
                    bad |= 1 << lowest(left);
                    left &= left - 1;
                    continue;
                }
            };
            let size = data.len() as u64;
            // Offsets from the start: what lies below becomes huge, and so does not fit either.
            let mut offsets = *at;
            offsets.iter_mut().for_each(|a| *a = a.wrapping_sub(base));
            let out = misfits(&offsets, left, bytes, align, size);
            if out == 0 {
                each(
                    self,
                    &Part {
                        data,
                        base,
                        live,
                        mask: left,
                    },
                )?;
                break;
            }
            // Lanes that start here but do not fit are wrong; those that start elsewhere have their turn.
            let starts = select(left, |lane| offsets[lane] < size);
            bad |= starts & out;
            if starts & !out != 0 {
                each(
                    self,
                    &Part {
                        data,
                        base,
                        live,
                        mask: starts & !out,
                    },
                )?;
            }
            left &= !starts;
        }
        if bad != 0 {
            self.bad_access(At { mask: bad, ..here }, at, bytes, align, MemSpace::Global, 0);
        }
        Ok(bad)
    }

    /// Claims what a part touches.
    #[inline]
    pub(crate) fn claim(&mut self, part: &Part<'_>, at: &[u64; 32], bytes: u32, claim: Claim) -> Result<(), Stop> {
        let (Some(all), Some((index, a))) = (&self.cx.ownership, part.live) else {
            return Ok(());
        };
        let (ownership, chunk) = (&all[index], self.block.chunk);
        let first = at[0].wrapping_sub(part.base);
        let row = part.mask == u32::MAX
            && (0..32u64).fold(0, |off, l| {
                off | (at[l as usize] ^ at[0].wrapping_add(l * u64::from(bytes)))
            }) == 0;
        let granted = if row {
            ownership.claim(a, first, 32 * u64::from(bytes), claim, chunk)
        } else {
            lanes(part.mask)
                .all(|lane| ownership.claim(a, at[lane].wrapping_sub(part.base), u64::from(bytes), claim, chunk))
        };
        if granted {
            return Ok(());
        }
        self.cx.conflict.store(true, Relaxed);
        Err(Stop::Conflict)
    }

    pub(crate) fn global_load(
        &mut self,
        warp: &mut Warp,
        here: At,
        at: &[u64; 32],
        e: Element,
        cells: &[Cell],
    ) -> Result<(), Stop> {
        let bytes = e.bytes * cells.len() as u32;
        let bad = self.global_parts(here, at, bytes, bytes, |m, part| {
            m.claim(part, at, bytes, Claim::Read)?;
            m.count_global(here.pc, Access::Load, bytes, part.mask, at);
            m.check_global(
                At {
                    mask: part.mask,
                    ..here
                },
                at,
                bytes,
                &(),
            );
            let offsets = at.map(|a| a.wrapping_sub(part.base));
            transfer::gather(&Device(part.data), &offsets, part.mask, e, cells, &mut warp.regs);
            Ok(())
        })?;
        if bad != 0 {
            transfer::clear(bad, cells, &mut warp.regs);
        }
        Ok(())
    }

    pub(crate) fn global_store(
        &mut self,
        warp: &mut Warp,
        here: At,
        at: &[u64; 32],
        e: Element,
        cells: &[Cell],
    ) -> Result<(), Stop> {
        let bytes = e.bytes * cells.len() as u32;
        self.block.effect = true;
        self.global_parts(here, at, bytes, bytes, |m, part| {
            m.claim(part, at, bytes, Claim::Write)?;
            m.count_global(here.pc, Access::Store, bytes, part.mask, at);
            let values = Values {
                regs: &warp.regs,
                cells,
                bytes: e.bytes,
            };
            m.check_global(
                At {
                    mask: part.mask,
                    ..here
                },
                at,
                bytes,
                &values,
            );
            let offsets = at.map(|a| a.wrapping_sub(part.base));
            transfer::scatter(&mut Device(part.data), &offsets, part.mask, e, cells, &warp.regs);
            Ok(())
        })?;
        Ok(())
    }

    #[inline]
    pub(crate) fn count_global(&mut self, pc: u32, op: Access, bytes: u32, mask: u32, at: &[u64; 32]) {
        if !self.cx.count {
            return;
        }
        let add = GlobalCounters {
            requests: 1,
            sectors: sectors::sectors(mask, at).into(),
            ideal_sectors: sectors::ideal_sectors(bytes, mask, at).into(),
        };
        let counters = &mut self.gathered.counters[pc as usize];
        match op {
            Access::Load => counters.global_load += add,
            Access::Store => counters.global_store += add,
            _ => counters.global_atomic += add,
        }
    }

    #[inline]
    pub(crate) fn check_global(&mut self, here: At, at: &[u64; 32], bytes: u32, stored: &impl Stored) {
        if let (Some(check), Some(site)) = (&mut *self.check, self.cx.kernel.site(here.pc)) {
            check.global(&touch(site, here, at, bytes), stored);
        }
    }
}
