//! `atom` and `red`: lane after lane, in the order of the lanes.

use half::{bf16, f16};
use std::sync::atomic::Ordering::Relaxed;
use tile33_layout::Op as Access;

use super::access::{At, addresses, by_space};
use super::context::{Machine, Stop};
use super::global::Device;
use super::lanes::lanes;
use super::ownership::Claim;
use super::transfer::{self, Bytes, Flat, Own};
use super::warp::{Group, Warp};
use crate::check::Stored;
use crate::decode::ops::{Atomic, AtomicOp, AtomicType, Base, MemSpace};
use crate::registers::Registers;

/// Which lanes wrote: a compare-and-swap that failed did not.
struct Wrote(u32);

impl Stored for Wrote {
    fn bytes(&self, _: usize, _: u32, _: u32) -> u32 {
        0
    }
    fn wrote(&self, lane: usize) -> bool {
        self.0 >> lane & 1 == 1
    }
}

/// What the operation makes of `old`.
fn combine(a: &Atomic, old: u128, value: u128, swap: u128, flush: bool) -> u128 {
    use AtomicOp as O;
    use AtomicType as T;
    let mask = if a.bytes == 16 {
        u128::MAX
    } else {
        (1 << (8 * a.bytes)) - 1
    };
    let (old, value, swap) = (old & mask, value & mask, swap & mask);
    let signed = |v: u128| {
        let unused = 128 - 8 * a.bytes;
        (v << unused) as i128 >> unused
    };
    let new = match (a.op, a.ty) {
        (O::Exch, _) => value,
        (O::Cas, _) if old == value => swap,
        (O::Cas, _) => old,
        (O::And, _) => old & value,
        (O::Or, _) => old | value,
        (O::Xor, _) => old ^ value,
        (O::Inc, _) if old >= value => 0,
        (O::Inc, _) => old + 1,
        (O::Dec, _) if old == 0 || old > value => value,
        (O::Dec, _) => old - 1,
        (O::Add, T::F32) => add_f32(old as u32, value as u32, flush).into(),
        (O::Add, T::F64) => (f64::from_bits(old as u64) + f64::from_bits(value as u64))
            .to_bits()
            .into(),
        (op, T::F16 | T::Bf16) => half(op, a.ty, old as u16, value as u16).into(),
        (op, T::F16x2 | T::Bf16x2) => {
            let ty = if a.ty == T::F16x2 { T::F16 } else { T::Bf16 };
            let low = half(op, ty, old as u16, value as u16);
            let high = half(op, ty, (old >> 16) as u16, (value >> 16) as u16);
            u128::from(low) | u128::from(high) << 16
        }
        (O::Add, _) => old.wrapping_add(value),
        (O::Min, T::Signed) if signed(value) < signed(old) => value,
        (O::Max, T::Signed) if signed(value) > signed(old) => value,
        (O::Min | O::Max, T::Signed) => old,
        (O::Min, _) => old.min(value),
        (O::Max, _) => old.max(value),
    };
    new & mask
}

/// Canonical NaN of f32 operations.
const NAN: u32 = 0x7fff_ffff;

fn add_f32(a: u32, b: u32, flush: bool) -> u32 {
    let f = |bits: u32| {
        let v = f32::from_bits(bits);
        if flush && v.is_subnormal() {
            f32::from_bits(bits & 0x8000_0000)
        } else {
            v
        }
    };
    let sum = f(f(a).to_bits()) + f(b);
    if sum.is_nan() { NAN } else { f(sum.to_bits()).to_bits() }
}

/// Exact in f64, then rounded once.
fn half(op: AtomicOp, ty: AtomicType, a: u16, b: u16) -> u16 {
    let is_bf16 = ty == AtomicType::Bf16;
    let wide = |bits: u16| {
        if is_bf16 {
            bf16::from_bits(bits).to_f64()
        } else {
            f16::from_bits(bits).to_f64()
        }
    };
    let (x, y) = (wide(a), wide(b));
    match op {
        AtomicOp::Min if x.is_nan() || y < x => b,
        AtomicOp::Max if x.is_nan() || y > x => b,
        AtomicOp::Min | AtomicOp::Max => a,
        _ if (x + y).is_nan() => 0x7fff,
        _ if is_bf16 => bf16::from_f64(x + y).to_bits(),
        _ => f16::from_f64(x + y).to_bits(),
    }
}

/// Runs it on one memory. Returns the lanes that wrote, and whether anything changed.
fn run(
    a: &Atomic,
    memory: &mut impl Bytes,
    at: &[u64; 32],
    mask: u32,
    regs: &mut Registers,
    flush: bool,
) -> (u32, bool) {
    let (mut wrote, mut changed) = (0, false);
    for lane in lanes(mask) {
        for (i, source) in a.sources.iter().enumerate() {
            let place = at[lane] as usize + i * a.bytes as usize;
            let old = get(memory, lane, place, a.bytes);
            let value = transfer::read(regs, *source, lane);
            let swap = a.swap.map_or(0, |cell| transfer::read(regs, cell, lane));
            let new = combine(a, old, value, swap, flush);
            if a.op != AtomicOp::Cas || old == value & low(a.bytes) {
                wrote |= 1 << lane;
                changed |= new != old;
                put(memory, lane, place, a.bytes, new);
            }
            if let Some(dest) = a.dests.get(i) {
                match dest.bytes {
                    16 => regs.r128_mut(dest.slot)[lane] = old,
                    _ => transfer::write(regs, *dest, lane, old as u64),
                }
            }
        }
    }
    (wrote, changed)
}

fn low(bytes: u32) -> u128 {
    if bytes == 16 { u128::MAX } else { (1 << (8 * bytes)) - 1 }
}

fn get(memory: &impl Bytes, lane: usize, at: usize, bytes: u32) -> u128 {
    if bytes == 16 {
        return u128::from(memory.get(lane, at, 8)) | u128::from(memory.get(lane, at + 8, 8)) << 64;
    }
    memory.get(lane, at, bytes).into()
}

fn put(memory: &mut impl Bytes, lane: usize, at: usize, bytes: u32, value: u128) {
    if bytes == 16 {
        memory.put(lane, at, 8, value as u64);
        memory.put(lane, at + 8, 8, (value >> 64) as u64);
    } else {
        memory.put(lane, at, bytes, value as u64);
    }
}

/// Whether blocks may apply it to one word in any order: the result is the same, and nobody sees what was between.
pub(crate) fn commutes(a: &Atomic) -> bool {
    let integer = matches!(a.ty, AtomicType::Bits | AtomicType::Unsigned | AtomicType::Signed);
    let op = matches!(
        a.op,
        AtomicOp::Add | AtomicOp::Min | AtomicOp::Max | AtomicOp::And | AtomicOp::Or | AtomicOp::Xor
    );
    a.dests.is_empty() && integer && op && matches!(a.bytes, 4 | 8)
}

/// A number that is equal for reductions that may be mixed.
fn kind(a: &Atomic) -> u16 {
    (a.op as u16) << 8 | (a.ty as u16) << 4 | a.bytes.trailing_zeros() as u16
}

impl Machine<'_, '_> {
    /// `atom`, `red`
    pub(crate) fn atomic(&mut self, warp: &mut Warp, group: &Group, w: u32, mask: u32, a: &Atomic) -> Result<(), Stop> {
        self.block.watched = true;
        let bytes = a.bytes * a.sources.len() as u32;
        let access = match a.op {
            AtomicOp::Cas => Access::Cas,
            AtomicOp::Exch => Access::Exch,
            _ if a.dests.is_empty() => Access::Red,
            _ => Access::Atom,
        };
        let here = At {
            pc: group.pc,
            warp: w,
            mask,
            fp: group.fp,
        };
        let mut at = addresses(&warp.regs, &a.addr, group.fp);
        let space = if let Base::Frame = a.addr.base {
            MemSpace::Local
        } else {
            a.addr.space
        };
        by_space(&mut at, mask, space, |space, mask, at| {
            let here = At { mask, ..here };
            match space {
                MemSpace::Shared => {
                    Self::shared_offsets(at);
                    let good = self.shared_bounds(here, at, bytes, bytes);
                    if good != here.mask {
                        transfer::clear(here.mask & !good, &a.dests, &mut warp.regs);
                    }
                    if good != 0 {
                        self.count_shared(here.pc, access, bytes, good, at);
                        let shared = &mut Flat(&mut self.block.shared);
                        let (wrote, changed) = run(a, shared, at, good, &mut warp.regs, false);
                        self.block.effect |= changed;
                        self.check_shared(At { mask: good, ..here }, at, bytes, &Wrote(wrote));
                    }
                }
                MemSpace::Global | MemSpace::Generic => {
                    let bad = self.global_parts(here, at, bytes, bytes, |m, part| {
                        let apart = m.cx.ownership.is_some();
                        let claim = if commutes(a) {
                            Claim::Reduce(kind(a))
                        } else {
                            Claim::Write
                        };
                        m.claim(part, at, bytes, claim)?;
                        m.count_global(here.pc, access, bytes, part.mask, at);
                        let offsets = at.map(|address| address.wrapping_sub(part.base));
                        let wrote = if apart && commutes(a) {
                            reduce(a, part.data, &offsets, part.mask, &warp.regs);
                            m.block.effect = true;
                            part.mask
                        } else {
                            let flush = a.ty == AtomicType::F32;
                            let device = &mut Device(part.data);
                            let (wrote, changed) = run(a, device, &offsets, part.mask, &mut warp.regs, flush);
                            m.block.effect |= changed;
                            wrote
                        };
                        m.check_global(
                            At {
                                mask: part.mask,
                                ..here
                            },
                            at,
                            bytes,
                            &Wrote(wrote),
                        );
                        Ok(())
                    })?;
                    transfer::clear(bad, &a.dests, &mut warp.regs);
                }
                MemSpace::Local => {
                    self.wrong_space(
                        here,
                        at,
                        bytes,
                        MemSpace::Local,
                        "atomics work on shared and global memory only",
                    );
                    let size = warp.local.bytes();
                    let fits = here.mask & !super::access::misfits(at, here.mask, bytes, bytes, size);
                    let Warp { local, regs, .. } = warp;
                    run(a, &mut Own(local), at, fits, regs, false);
                }
                space @ (MemSpace::Const | MemSpace::Param) => {
                    self.wrong_space(here, at, bytes, space, "it is read-only");
                    transfer::clear(here.mask, &a.dests, &mut warp.regs);
                }
            }
            Ok(())
        })
    }
}

/// Reductions while other blocks may do the same.
fn reduce(a: &Atomic, data: &crate::memory::backing::Backing, at: &[u64; 32], mask: u32, regs: &Registers) {
    for lane in lanes(mask) {
        for (i, source) in a.sources.iter().enumerate() {
            let place = at[lane] as usize + i * a.bytes as usize;
            let value = transfer::read(regs, *source, lane);
            if a.bytes == 8 {
                let _ = data.u64(place).fetch_update(Relaxed, Relaxed, |old| {
                    Some(combine(a, old.into(), value, 0, false) as u64)
                });
            } else {
                let _ = data.u32(place).fetch_update(Relaxed, Relaxed, |old| {
                    Some(combine(a, old.into(), value, 0, false) as u32)
                });
            }
        }
    }
}
