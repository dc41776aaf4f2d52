//! Loads and stores: addresses, the space they lie in, bounds, then the space's own rules.

use super::context::{Machine, Stop};
use super::lanes::{lowest, select};
use super::transfer::{self, Own, ReadOnly};
use super::warp::{Group, Warp};
use crate::decode::ops::{Addr, Base, Cell, Element, Load, MemSpace, Order, Store};
use crate::memory::{CONST_WINDOW, LOCAL_WINDOW, PARAM_WINDOW, SHARED_BASE, SHARED_WINDOW, WINDOW_BYTES};
use crate::registers::Registers;

/// One execution of an instruction by a warp.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At {
    pub(crate) pc: u32,
    pub(crate) warp: u32,
    pub(crate) mask: u32,
    /// Frame base in local memory.
    pub(crate) fp: u32,
}

/// Addresses of all lanes.
#[inline]
pub(crate) fn addresses(regs: &Registers, addr: &Addr, fp: u32) -> [u64; 32] {
    match addr.base {
        Base::Wide(slot) => {
            let base = regs.r64(slot);
            std::array::from_fn(|lane| base[lane].wrapping_add_signed(addr.offset))
        }
        Base::Narrow(slot) => {
            let (base, offset) = (regs.r32(slot), addr.offset as u32);
            std::array::from_fn(|lane| u64::from(base[lane].wrapping_add(offset)))
        }
        Base::Frame => [u64::from(fp).wrapping_add_signed(addr.offset); 32],
        Base::KernelParam => [addr.offset as u64; 32],
    }
}

/// The space that a generic address lies in, and its first address.
#[inline]
pub(crate) fn window_of(address: u64) -> (MemSpace, u64) {
    const SIZE: u64 = WINDOW_BYTES - 1;
    match address & !SIZE {
        SHARED_WINDOW => (MemSpace::Shared, SHARED_WINDOW),
        LOCAL_WINDOW => (MemSpace::Local, LOCAL_WINDOW),
        CONST_WINDOW => (MemSpace::Const, CONST_WINDOW),
        PARAM_WINDOW => (MemSpace::Param, PARAM_WINDOW),
        _ => (MemSpace::Global, 0),
    }
}

/// Lanes by the space of their generic addresses, which become addresses of that space.
pub(crate) fn by_space(
    at: &mut [u64; 32],
    mask: u32,
    space: MemSpace,
    mut each: impl FnMut(MemSpace, u32, &mut [u64; 32]) -> Result<(), Stop>,
) -> Result<(), Stop> {
    if space != MemSpace::Generic {
        return each(space, mask, at);
    }
    let mut left = mask;
    while left != 0 {
        let (space, first) = window_of(at[lowest(left)]);
        let here = select(left, |lane| window_of(at[lane]).1 == first);
        left &= !here;
        if first == 0 {
            each(space, here, at)?;
        } else {
            let mut own = at.map(|address| address.wrapping_sub(first));
            each(space, here, &mut own)?;
        }
    }
    Ok(())
}

/// Lanes of `mask` whose access of `bytes` bytes is not within `size`, or not aligned to `align`.
#[inline]
pub(crate) fn misfits(at: &[u64; 32], mask: u32, bytes: u32, align: u32, size: u64) -> u32 {
    let Some(last) = size.checked_sub(u64::from(bytes)) else {
        return mask;
    };
    let bits = u64::from(align) - 1;
    let mut any = 0;
    for address in at {
        any |= u64::from(*address > last) | (address & bits);
    }
    if any == 0 {
        return 0;
    }
    select(mask, |lane| at[lane] > last || at[lane] & bits != 0)
}

impl Machine<'_, '_> {
    /// `ld`
    pub(crate) fn load(&mut self, warp: &mut Warp, group: &Group, w: u32, mask: u32, load: &Load) -> Result<(), Stop> {
        let (e, cells) = (load.element, &load.cells[..]);
        let bytes = e.bytes * cells.len() as u32;
        if let Base::KernelParam = load.addr.base {
            let at = load.addr.offset as u64;
            let end = at.saturating_add(bytes.into());
            match self.cx.params.get(at as usize..end as usize) {
                Some(value) if at.is_multiple_of(bytes.into()) => {
                    transfer::broadcast(value, mask, e, cells, &mut warp.regs);
                }
                _ => {
                    let (cx, fp, pc) = (self.cx, group.fp, group.pc);
                    let here = At { pc, warp: w, mask, fp };
                    self.read_only(warp, here, &[at; 32], e, cells, MemSpace::Param, &cx.params);
                }
            }
            return Ok(());
        }
        if load.order != Order::Weak {
            self.block.watched = true;
        }
        let here = At {
            pc: group.pc,
            warp: w,
            mask,
            fp: group.fp,
        };
        let mut at = addresses(&warp.regs, &load.addr, group.fp);
        if let Base::Frame = load.addr.base {
            // Parameters of calls may have padding, which callers do not write.
            let check = load.addr.space != MemSpace::Param;
            self.local_load(warp, here, &at, e, cells, check);
            return Ok(());
        }
        by_space(&mut at, mask, load.addr.space, |space, mask, at| {
            let here = At { mask, ..here };
            match space {
                MemSpace::Shared => self.shared_load(warp, here, at, e, cells),
                MemSpace::Global | MemSpace::Generic => self.global_load(warp, here, at, e, cells)?,
                MemSpace::Local => self.local_load(warp, here, at, e, cells, true),
                MemSpace::Const => {
                    let cx = self.cx;
                    self.read_only(warp, here, at, e, cells, MemSpace::Const, cx.constants);
                }
                MemSpace::Param => {
                    let cx = self.cx;
                    self.read_only(warp, here, at, e, cells, MemSpace::Param, &cx.params);
                }
            }
            Ok(())
        })
    }

    /// `st`
    pub(crate) fn store(
        &mut self,
        warp: &mut Warp,
        group: &Group,
        w: u32,
        mask: u32,
        store: &Store,
    ) -> Result<(), Stop> {
        let (e, cells) = (store.element, &store.cells[..]);
        let here = At {
            pc: group.pc,
            warp: w,
            mask,
            fp: group.fp,
        };
        let mut at = addresses(&warp.regs, &store.addr, group.fp);
        if let Base::Frame = store.addr.base {
            self.local_store(warp, here, &at, e, cells);
            return Ok(());
        }
        by_space(&mut at, mask, store.addr.space, |space, mask, at| {
            let here = At { mask, ..here };
            match space {
                MemSpace::Shared => self.shared_store(warp, here, at, e, cells),
                MemSpace::Global | MemSpace::Generic => self.global_store(warp, here, at, e, cells)?,
                MemSpace::Local => self.local_store(warp, here, at, e, cells),
                space @ (MemSpace::Const | MemSpace::Param) => {
                    self.wrong_space(here, at, e.bytes * cells.len() as u32, space, "it is read-only");
                }
            }
            Ok(())
        })
    }

    fn local_load(&mut self, warp: &mut Warp, here: At, at: &[u64; 32], e: Element, cells: &[Cell], check: bool) {
        let bytes = e.bytes * cells.len() as u32;
        let bad = misfits(at, here.mask, bytes, bytes, warp.local.bytes());
        if bad != 0 {
            self.bad_access(
                At { mask: bad, ..here },
                at,
                bytes,
                bytes,
                MemSpace::Local,
                warp.local.bytes(),
            );
            transfer::clear(bad, cells, &mut warp.regs);
        }
        let good = here.mask & !bad;
        if check {
            let missing = warp.local.unwritten(at, bytes, good);
            if missing != 0 {
                self.unwritten_local(At { mask: missing, ..here }, at, bytes);
            }
        }
        // Register spills and parameters: every lane at the same word of its own.
        if let (4, [cell]) = (e.bytes, cells)
            && cell.bytes == 4
            && good != 0
            && at.iter().all(|address| *address == at[0])
        {
            let row = *warp.local.row(at[0] as u32);
            super::blend(warp.regs.r32_mut(cell.slot), &row, good);
            return;
        }
        transfer::gather(&Own(&mut warp.local), at, good, e, cells, &mut warp.regs);
    }

    fn local_store(&mut self, warp: &mut Warp, here: At, at: &[u64; 32], e: Element, cells: &[Cell]) {
        let bytes = e.bytes * cells.len() as u32;
        let bad = misfits(at, here.mask, bytes, bytes, warp.local.bytes());
        if bad != 0 {
            self.bad_access(
                At { mask: bad, ..here },
                at,
                bytes,
                bytes,
                MemSpace::Local,
                warp.local.bytes(),
            );
        }
        let good = here.mask & !bad;
        if let (4, [cell]) = (e.bytes, cells)
            && cell.bytes == 4
            && good != 0
            && at.iter().all(|address| *address == at[0])
        {
            warp.local.write_row(at[0] as u32, warp.regs.r32(cell.slot), good);
            return;
        }
        transfer::scatter(&mut Own(&mut warp.local), at, good, e, cells, &warp.regs);
    }

    #[allow(clippy::too_many_arguments)]
    fn read_only(
        &mut self,
        warp: &mut Warp,
        here: At,
        at: &[u64; 32],
        e: Element,
        cells: &[Cell],
        space: MemSpace,
        from: &[u8],
    ) {
        let bytes = e.bytes * cells.len() as u32;
        let size = from.len() as u64;
        let bad = misfits(at, here.mask, bytes, bytes, size);
        if bad != 0 {
            self.bad_access(At { mask: bad, ..here }, at, bytes, bytes, space, size);
            transfer::clear(bad, cells, &mut warp.regs);
        }
        transfer::gather(&ReadOnly(from), at, here.mask & !bad, e, cells, &mut warp.regs);
    }

    /// Shared addresses as offsets from the first variable.
    pub(crate) fn shared_offsets(at: &mut [u64; 32]) {
        at.iter_mut()
            .for_each(|address| *address = address.wrapping_sub(SHARED_BASE));
    }
}
