//! `ldmatrix`, `stmatrix`, `wmma.load`, `wmma.store`: matrices between memory and a warp's registers.

use tile33_layout::{Op as Access, banks};

use super::access::{At, addresses, by_space};
use super::context::{Machine, Stop};
use super::global::Device;
use super::lanes::lanes;
use super::ownership::Claim;
use super::transfer::{self, Bytes, Flat, Own};
use super::warp::{Group, Warp};
use crate::check::Stored;
use crate::decode::ops::{Cell, Fragment, Matrix, MemSpace};
use crate::report::SharedCounters;

/// Rows of 16 bytes that `stmatrix` writes, by the lane that gives the row's address.
struct Rows([[u8; 16]; 32]);

impl Stored for Rows {
    fn bytes(&self, lane: usize, offset: u32, count: u32) -> u32 {
        let bytes = &self.0[lane][offset as usize..(offset + count) as usize];
        bytes.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte))
    }
}

/// Where element (row, column) of an 8x8 matrix of 16-bit elements is: lane, and low or high half of its register.
fn holder(row: usize, column: usize, transposed: bool) -> (usize, u32) {
    let (row, column) = if transposed { (column, row) } else { (row, column) };
    (4 * row + column / 2, 16 * (column as u32 % 2))
}

impl Machine<'_, '_> {
    /// Lanes 8 i to 8 i + 7 give the addresses of the rows of matrix i; all 32 lanes hold a part of every matrix.
    pub(crate) fn matrix(
        &mut self,
        warp: &mut Warp,
        group: &Group,
        w: u32,
        mask: u32,
        m: &Matrix,
        store: bool,
    ) -> Result<(), Stop> {
        let rows = (u64::MAX >> (64 - 8 * m.cells.len())) as u32;
        let mut at = addresses(&warp.regs, &m.addr, group.fp);
        let here = At {
            pc: group.pc,
            warp: w,
            mask: mask & rows,
            fp: group.fp,
        };
        by_space(&mut at, here.mask, m.addr.space, |space, mask, at| {
            let here = At { mask, ..here };
            if space != MemSpace::Shared {
                self.wrong_space(here, at, 16, space, "the matrices lie in shared memory");
                return Ok(());
            }
            Self::shared_offsets(at);
            let good = self.shared_bounds(here, at, 16, 16);
            if good == 0 {
                return Ok(());
            }
            let op = if store { Access::Store } else { Access::Load };
            self.count_matrices(here.pc, op, good, at);
            if store {
                self.block.effect = true;
                let mut bytes = Rows([[0; 16]; 32]);
                for lane in lanes(good) {
                    for column in 0..8 {
                        let (holder, shift) = holder(lane % 8, column, m.transposed);
                        let value = (warp.regs.r32(m.cells[lane / 8])[holder] >> shift) as u16;
                        bytes.0[lane][2 * column..2 * column + 2].copy_from_slice(&value.to_le_bytes());
                    }
                    let to = at[lane] as usize;
                    self.block.shared[to..to + 16].copy_from_slice(&bytes.0[lane]);
                }
                self.check_shared(At { mask: good, ..here }, at, 16, &bytes);
            } else {
                self.check_shared(At { mask: good, ..here }, at, 16, &());
                let shared = &self.block.shared;
                for (i, cell) in m.cells.iter().enumerate() {
                    let mut values = [0u32; 32];
                    for row in 0..8 {
                        if good >> (8 * i + row) & 1 == 0 {
                            continue;
                        }
                        let from = at[8 * i + row] as usize;
                        for column in 0..8 {
                            let (holder, shift) = holder(row, column, m.transposed);
                            let element = [shared[from + 2 * column], shared[from + 2 * column + 1]];
                            values[holder] |= u32::from(u16::from_le_bytes(element)) << shift;
                        }
                    }
                    *warp.regs.r32_mut(*cell) = values;
                }
            }
            Ok(())
        })
    }

    /// A matrix is a phase of its own: eight rows of 16 bytes, as a quarter-warp's vector access.
    fn count_matrices(&mut self, pc: u32, op: Access, mask: u32, at: &[u64; 32]) {
        if !self.cx.count {
            return;
        }
        // Stores' groups are quarter-warps that never merge.
        let wavefronts = banks::wavefronts_u64(Access::Store, 16, mask, at).into();
        let ideal = banks::ideal_u64(Access::Store, 16, mask, at).into();
        self.add_shared(
            pc,
            op,
            SharedCounters {
                requests: 1,
                wavefronts,
                ideal,
            },
        );
    }

    /// `wmma.load` and `wmma.store`: element after element, as wide as registers allow.
    pub(crate) fn fragment(
        &mut self,
        warp: &mut Warp,
        group: &Group,
        w: u32,
        mask: u32,
        f: &Fragment,
    ) -> Result<(), Stop> {
        let base = addresses(&warp.regs, &f.addr, group.fp);
        let here = At {
            pc: group.pc,
            warp: w,
            mask,
            fp: group.fp,
        };
        let per_cell = f.cells.first().map_or(1, |c| 8 * c.bytes / f.element_bits) as usize;
        for (c, cell) in f.cells.iter().enumerate() {
            // Neighbours in a register that are neighbours in memory move at once.
            let mut done = 0;
            while done < per_cell {
                let first = c * per_cell + done;
                let run = self.run_length(f, first, per_cell - done);
                let offset_of = |lane: usize, element: usize| {
                    let (row, column) = f.places[element][lane];
                    let (major, minor) = if f.column_major { (column, row) } else { (row, column) };
                    let stride = u64::from(warp.regs.r32(f.stride)[lane]);
                    (u64::from(major) * stride + u64::from(minor)) * u64::from(f.element_bits) / 8
                };
                let mut at: [u64; 32] = std::array::from_fn(|lane| base[lane].wrapping_add(offset_of(lane, first)));
                let bits = run as u32 * f.element_bits;
                let piece = Piece {
                    cell: *cell,
                    shift: done as u32 * f.element_bits,
                    bytes: bits.div_ceil(8),
                };
                by_space(&mut at, mask, f.addr.space, |space, mask, at| {
                    self.piece(warp, At { mask, ..here }, space, at, piece, f.store)
                })?;
                done += run;
            }
        }
        Ok(())
    }

    /// Elements from `first` on that lie side by side in memory for every lane, in whole bytes and aligned.
    fn run_length(&self, f: &Fragment, first: usize, most: usize) -> usize {
        let side_by_side = |n: usize| {
            (0..32).all(|lane| {
                let (row, column) = f.places[first][lane];
                let (next_row, next_column) = f.places[first + n - 1][lane];
                let (major, minor) = if f.column_major { (column, row) } else { (row, column) };
                let (next_major, next_minor) = if f.column_major {
                    (next_column, next_row)
                } else {
                    (next_row, next_column)
                };
                major == next_major
                    && usize::from(minor) + n - 1 == usize::from(next_minor)
                    && usize::from(minor).is_multiple_of(n)
            })
        };
        let sizes = [32, 16, 8, 4, 2];
        sizes.into_iter().find(|n| *n <= most && side_by_side(*n)).unwrap_or(1)
    }

    fn piece(
        &mut self,
        warp: &mut Warp,
        here: At,
        space: MemSpace,
        at: &mut [u64; 32],
        piece: Piece,
        store: bool,
    ) -> Result<(), Stop> {
        let op = if store { Access::Store } else { Access::Load };
        let bytes = piece.bytes;
        match space {
            MemSpace::Shared => {
                Self::shared_offsets(at);
                let good = self.shared_bounds(here, at, bytes, bytes);
                if good == 0 {
                    return Ok(());
                }
                self.count_shared(here.pc, op, bytes, good, at);
                let part = At { mask: good, ..here };
                if store {
                    self.block.effect = true;
                    let values = piece.values(warp);
                    self.check_shared(part, at, bytes, &values);
                    piece.put(&mut Flat(&mut self.block.shared), at, good, &values);
                } else {
                    self.check_shared(part, at, bytes, &());
                    piece.get(&Flat(&mut self.block.shared), at, good, warp);
                }
            }
            MemSpace::Global | MemSpace::Generic => {
                let claim = if store { Claim::Write } else { Claim::Read };
                self.global_parts(here, at, bytes, bytes, |m, part| {
                    m.claim(part, at, bytes, claim)?;
                    m.count_global(here.pc, op, bytes, part.mask, at);
                    let offsets = at.map(|a| a.wrapping_sub(part.base));
                    let lanes = At {
                        mask: part.mask,
                        ..here
                    };
                    if store {
                        m.block.effect = true;
                        let values = piece.values(warp);
                        m.check_global(lanes, at, bytes, &values);
                        piece.put(&mut Device(part.data), &offsets, part.mask, &values);
                    } else {
                        m.check_global(lanes, at, bytes, &());
                        piece.get(&Device(part.data), &offsets, part.mask, warp);
                    }
                    Ok(())
                })?;
            }
            MemSpace::Local => {
                let size = warp.local.bytes();
                let good = here.mask & !super::access::misfits(at, here.mask, bytes, bytes, size);
                if store {
                    let values = piece.values(warp);
                    piece.put(&mut Own(&mut warp.local), at, good, &values);
                } else {
                    let local = std::mem::take(&mut warp.local);
                    let mut local = local;
                    piece.get(&Own(&mut local), at, good, warp);
                    warp.local = local;
                }
            }
            other => self.wrong_space(here, at, bytes, other, "matrices lie in shared or global memory"),
        }
        Ok(())
    }
}

/// Part of a register that moves as one access.
#[derive(Clone, Copy)]
struct Piece {
    cell: Cell,
    shift: u32,
    bytes: u32,
}

impl Piece {
    fn values(self, warp: &Warp) -> [u64; 32] {
        std::array::from_fn(|lane| (transfer::read(&warp.regs, self.cell, lane) >> self.shift) as u64)
    }

    fn put(self, to: &mut impl Bytes, at: &[u64; 32], mask: u32, values: &[u64; 32]) {
        lanes(mask).for_each(|lane| to.put(lane, at[lane] as usize, self.bytes, values[lane]));
    }

    fn get(self, from: &impl Bytes, at: &[u64; 32], mask: u32, warp: &mut Warp) {
        let bits = if self.bytes >= 8 {
            u64::MAX
        } else {
            (1 << (8 * self.bytes)) - 1
        };
        for lane in lanes(mask) {
            let value = from.get(lane, at[lane] as usize, self.bytes);
            let old = transfer::read(&warp.regs, self.cell, lane) as u64;
            let new = old & !(bits << self.shift) | (value & bits) << self.shift;
            transfer::write(&mut warp.regs, self.cell, lane, new);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_is_held_row_by_row_two_elements_a_lane() {
        assert_eq!(holder(0, 0, false), (0, 0));
        assert_eq!(holder(0, 7, false), (3, 16));
        assert_eq!(holder(7, 0, false), (28, 0));
        assert_eq!(holder(7, 0, true), (3, 16));
    }
}
