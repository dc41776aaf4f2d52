//! Bytes between a memory and registers: every width, sign extension, vectors.

use super::lanes::{blend, lanes};
use crate::decode::ops::{Cell, Element};
use crate::registers::Registers;

/// A memory as one warp sees it: up to 8 bytes at an offset that is a multiple of their number, in bounds.
pub(crate) trait Bytes {
    fn get(&self, lane: usize, at: usize, bytes: u32) -> u64;
    fn put(&mut self, lane: usize, at: usize, bytes: u32, value: u64);
    /// 32 words side by side, one a lane.
    fn get_row(&self, at: usize) -> [u32; 32] {
        std::array::from_fn(|lane| self.get(lane, at + 4 * lane, 4) as u32)
    }
    /// 32 words side by side, one a lane.
    fn put_row(&mut self, at: usize, row: &[u32; 32]) {
        for (lane, value) in row.iter().enumerate() {
            self.put(lane, at + 4 * lane, 4, u64::from(*value));
        }
    }
}

/// Whether 32 lanes access 4 bytes each, side by side.
#[inline]
fn is_row(at: &[u64; 32], mask: u32) -> bool {
    if mask != u32::MAX {
        return false;
    }
    let mut off = 0;
    for lane in 0..32 {
        off |= at[lane] ^ at[0].wrapping_add(4 * lane as u64);
    }
    off == 0
}

/// Memory to registers: for the lanes of `mask`, element `i` from `i * element.bytes` on into register `i`.
#[inline]
pub(crate) fn gather(from: &impl Bytes, at: &[u64; 32], mask: u32, e: Element, cells: &[Cell], regs: &mut Registers) {
    if let ([cell], 4) = (cells, e.bytes)
        && cell.bytes == 4
        && is_row(at, mask)
    {
        *regs.r32_mut(cell.slot) = from.get_row(at[0] as usize);
        return;
    }
    for (i, cell) in (0u64..).zip(cells) {
        let offset = i * u64::from(e.bytes);
        match (e.bytes, cell.bytes) {
            (4, 4) => {
                let row = regs.r32_mut(cell.slot);
                lanes(mask).for_each(|l| row[l] = from.get(l, (at[l] + offset) as usize, 4) as u32);
            }
            (8, 8) => {
                let row = regs.r64_mut(cell.slot);
                lanes(mask).for_each(|l| row[l] = from.get(l, (at[l] + offset) as usize, 8));
            }
            (16, _) => {
                let row = regs.r128_mut(cell.slot);
                lanes(mask).for_each(|l| {
                    let at = (at[l] + offset) as usize;
                    row[l] = u128::from(from.get(l, at, 8)) | u128::from(from.get(l, at + 8, 8)) << 64;
                });
            }
            (bytes, _) => {
                for l in lanes(mask) {
                    let raw = from.get(l, (at[l] + offset) as usize, bytes);
                    write(regs, *cell, l, extend(raw, e));
                }
            }
        }
    }
}

/// Registers to memory.
#[inline]
pub(crate) fn scatter(to: &mut impl Bytes, at: &[u64; 32], mask: u32, e: Element, cells: &[Cell], regs: &Registers) {
    if let ([cell], 4) = (cells, e.bytes)
        && cell.bytes == 4
        && is_row(at, mask)
    {
        to.put_row(at[0] as usize, regs.r32(cell.slot));
        return;
    }
    if cells.len() == 1 || e.bytes == 16 {
        for (i, cell) in (0u64..).zip(cells) {
            let offset = i * u64::from(e.bytes);
            for l in lanes(mask) {
                put(to, l, (at[l] + offset) as usize, e.bytes, read(regs, *cell, l));
            }
        }
        return;
    }
    // Lane by lane: where lanes overlap, the last lane's whole vector stays, as it does on the hardware.
    for l in lanes(mask) {
        for (i, cell) in (0u64..).zip(cells) {
            put(
                to,
                l,
                (at[l] + i * u64::from(e.bytes)) as usize,
                e.bytes,
                read(regs, *cell, l),
            );
        }
    }
}

#[inline]
fn put(to: &mut impl Bytes, lane: usize, at: usize, bytes: u32, value: u128) {
    if bytes == 16 {
        to.put(lane, at, 8, value as u64);
        to.put(lane, at + 8, 8, (value >> 64) as u64);
    } else {
        to.put(lane, at, bytes, value as u64);
    }
}

/// The same value for every lane.
pub(crate) fn broadcast(bytes: &[u8], mask: u32, e: Element, cells: &[Cell], regs: &mut Registers) {
    for (cell, chunk) in cells.iter().zip(bytes.chunks(e.bytes as usize)) {
        let mut raw = [0; 16];
        raw[..chunk.len()].copy_from_slice(chunk);
        let value = u128::from_le_bytes(raw);
        let value = if e.bytes < 16 {
            u128::from(extend(value as u64, e))
        } else {
            value
        };
        match cell.bytes {
            8 => blend(regs.r64_mut(cell.slot), &[value as u64; 32], mask),
            16 => blend(regs.r128_mut(cell.slot), &[value; 32], mask),
            n => blend(regs.r32_mut(cell.slot), &[narrow(value as u64, n); 32], mask),
        }
    }
}

/// Zeros, for lanes whose load has no place to read from.
pub(crate) fn clear(mask: u32, cells: &[Cell], regs: &mut Registers) {
    for cell in cells {
        for l in lanes(mask) {
            match cell.bytes {
                16 => regs.r128_mut(cell.slot)[l] = 0,
                _ => write(regs, *cell, l, 0),
            }
        }
    }
}

/// A lane's register, as wide as it is.
#[inline]
pub(crate) fn read(regs: &Registers, cell: Cell, lane: usize) -> u128 {
    match cell.bytes {
        8 => regs.r64(cell.slot)[lane].into(),
        16 => regs.r128(cell.slot)[lane],
        _ => regs.r32(cell.slot)[lane].into(),
    }
}

/// Sets a lane's register of up to 8 bytes; the value is cut to the register's width.
#[inline]
pub(crate) fn write(regs: &mut Registers, cell: Cell, lane: usize, value: u64) {
    match cell.bytes {
        8 => regs.r64_mut(cell.slot)[lane] = value,
        16 => regs.r128_mut(cell.slot)[lane] = value.into(),
        n => regs.r32_mut(cell.slot)[lane] = narrow(value, n),
    }
}

#[inline]
fn narrow(value: u64, bytes: u32) -> u32 {
    match bytes {
        1 => value as u32 & 0xff,
        2 => value as u32 & 0xffff,
        _ => value as u32,
    }
}

#[inline]
fn extend(raw: u64, e: Element) -> u64 {
    if !e.signed || e.bytes >= 8 {
        return raw;
    }
    let unused = 64 - 8 * e.bytes;
    ((raw << unused) as i64 >> unused) as u64
}

/// What a store writes, for the race checks.
pub(crate) struct Values<'a> {
    pub(crate) regs: &'a Registers,
    pub(crate) cells: &'a [Cell],
    pub(crate) bytes: u32,
}

impl crate::check::Stored for Values<'_> {
    fn bytes(&self, lane: usize, offset: u32, _count: u32) -> u32 {
        let cell = self.cells[(offset / self.bytes) as usize];
        (read(self.regs, cell, lane) >> (8 * (offset % self.bytes))) as u32
    }
}

/// A block's shared memory or the constant bank.
pub(crate) struct Flat<'a>(pub(crate) &'a mut [u8]);
/// Bytes that are only read.
pub(crate) struct ReadOnly<'a>(pub(crate) &'a [u8]);

macro_rules! get {
    ($bytes:expr, $at:expr, $n:expr) => {
        match $n {
            1 => u64::from($bytes[$at]),
            2 => u64::from(u16::from_le_bytes(le($bytes, $at))),
            4 => u64::from(u32::from_le_bytes(le($bytes, $at))),
            _ => u64::from_le_bytes(le($bytes, $at)),
        }
    };
}

#[inline]
fn le<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    // The caller has checked the bounds of the whole access.
    bytes[at..at + N].try_into().unwrap_or([0; N])
}

impl Bytes for ReadOnly<'_> {
    #[inline(always)]
    fn get(&self, _: usize, at: usize, bytes: u32) -> u64 {
        get!(self.0, at, bytes)
    }
    fn put(&mut self, _: usize, _: usize, _: u32, _: u64) {}
}

impl Bytes for Flat<'_> {
    #[inline(always)]
    fn get(&self, _: usize, at: usize, bytes: u32) -> u64 {
        get!(&*self.0, at, bytes)
    }

    #[inline(always)]
    fn put(&mut self, _: usize, at: usize, bytes: u32, value: u64) {
        match bytes {
            1 => self.0[at] = value as u8,
            2 => self.0[at..at + 2].copy_from_slice(&(value as u16).to_le_bytes()),
            4 => self.0[at..at + 4].copy_from_slice(&(value as u32).to_le_bytes()),
            _ => self.0[at..at + 8].copy_from_slice(&value.to_le_bytes()),
        }
    }
}

/// Local memory: the lane's own.
pub(crate) struct Own<'a>(pub(crate) &'a mut super::local::LocalMemory);

impl Bytes for Own<'_> {
    #[inline(always)]
    fn get(&self, lane: usize, at: usize, bytes: u32) -> u64 {
        self.0.read(lane, at, bytes)
    }
    #[inline(always)]
    fn put(&mut self, lane: usize, at: usize, bytes: u32, value: u64) {
        self.0.write(lane, at, bytes, value);
    }
}
