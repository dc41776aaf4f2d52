//! mbarrier objects: 64 bits in shared memory.
//!
//! PTX leaves the layout open. Here: 20 bits of arrivals still expected in this phase, 20 bits of arrivals of a phase,
//! 22 bits of bytes still expected (signed), the phase's parity in bit 63.

use super::access::{At, addresses, by_space};
use super::context::{Machine, Stop};
use super::lanes::lanes;
use super::warp::{Group, Warp};
use crate::decode::ops::{Mbarrier, MbarrierOp, MemSpace, Order};
use crate::registers::Registers;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Object {
    pending: u32,
    expected: u32,
    bytes: i32,
    parity: bool,
}

const COUNT: u64 = (1 << 20) - 1;

impl Object {
    fn unpack(bits: u64) -> Self {
        let bytes = (bits >> 40) as u32 & 0x3f_ffff;
        Self {
            pending: (bits & COUNT) as u32,
            expected: (bits >> 20 & COUNT) as u32,
            bytes: (bytes << 10) as i32 >> 10,
            parity: bits >> 63 == 1,
        }
    }

    fn pack(self) -> u64 {
        (u64::from(self.pending) & COUNT)
            | (u64::from(self.expected) & COUNT) << 20
            | (u64::from(self.bytes as u32) & 0x3f_ffff) << 40
            | u64::from(self.parity) << 63
    }

    /// Ends the phase if nothing is missing any more.
    fn settle(&mut self) -> bool {
        let done = self.pending == 0 && self.bytes == 0;
        if done {
            self.pending = self.expected;
            self.parity = !self.parity;
        }
        done
    }
}

impl Machine<'_, '_> {
    pub(crate) fn mbarrier(
        &mut self,
        warp: &mut Warp,
        group: &Group,
        w: u32,
        mask: u32,
        m: &Mbarrier,
    ) -> Result<(), Stop> {
        let here = At {
            pc: group.pc,
            warp: w,
            mask,
            fp: group.fp,
        };
        let Some(addr) = &m.addr else {
            if let MbarrierOp::PendingCount { dest, state } = m.op {
                let counts = warp.regs.r64(state).map(|bits| Object::unpack(bits).pending);
                super::blend(warp.regs.r32_mut(dest), &counts, mask);
            }
            return Ok(());
        };
        let mut at = addresses(&warp.regs, addr, group.fp);
        by_space(&mut at, mask, addr.space, |space, mask, at| {
            let here = At { mask, ..here };
            if space != MemSpace::Shared {
                self.wrong_space(here, at, 8, space, "an mbarrier lives in shared memory");
                return Ok(());
            }
            Self::shared_offsets(at);
            let good = self.shared_bounds(here, at, 8, 8);
            if good == 0 {
                return Ok(());
            }
            self.check_shared(At { mask: good, ..here }, at, 8, &());
            for lane in lanes(good) {
                self.one_mbarrier(warp, w, lane, at[lane], m, group.pc)?;
            }
            Ok(())
        })
    }

    fn one_mbarrier(
        &mut self,
        warp: &mut Warp,
        w: u32,
        lane: usize,
        at: u64,
        m: &Mbarrier,
        pc: u32,
    ) -> Result<(), Stop> {
        let place = at as usize..at as usize + 8;
        let mut raw = [0; 8];
        raw.copy_from_slice(&self.block.shared[place.clone()]);
        let bits = u64::from_le_bytes(raw);
        let mut object = Object::unpack(bits);
        let value = |regs: &Registers, slot: crate::registers::Slot| regs.r32(slot)[lane];
        let ordered = m.order != Order::Relaxed;
        match m.op {
            MbarrierOp::Init { count } => {
                let count = value(&warp.regs, count);
                if count == 0 || u64::from(count) > COUNT {
                    let message = format!("an mbarrier of {count} arrivals: 1 to {COUNT} are possible");
                    return Err(Stop::Fault { pc, message });
                }
                object = Object {
                    pending: count,
                    expected: count,
                    bytes: 0,
                    parity: false,
                };
                if let Some(check) = self.check {
                    check.mbarrier_init(at);
                }
            }
            MbarrierOp::Invalidate => {
                object = Object::unpack(0);
                if let Some(check) = self.check {
                    check.mbarrier_init(at);
                }
            }
            MbarrierOp::ExpectTx { bytes } => object.bytes += value(&warp.regs, bytes) as i32,
            MbarrierOp::CompleteTx { bytes } => {
                object.bytes -= value(&warp.regs, bytes) as i32;
                self.settled(at, object.settle());
            }
            MbarrierOp::Arrive {
                state,
                count,
                expect,
                drop,
                complete,
            } => {
                let count = count.map_or(1, |slot| value(&warp.regs, slot));
                if let Some(slot) = expect {
                    object.bytes += value(&warp.regs, slot) as i32;
                }
                if let Some(dest) = state {
                    warp.regs.r64_mut(dest)[lane] = bits;
                }
                if drop {
                    object.expected = object.expected.saturating_sub(count);
                }
                let Some(pending) = object.pending.checked_sub(count) else {
                    let message = format!("{count} arrivals at an mbarrier that expects {}", object.pending);
                    return Err(Stop::Fault { pc, message });
                };
                object.pending = pending;
                if let Some(check) = self.check
                    && ordered
                {
                    check.mbarrier_arrive(w, lane as u32, at);
                }
                if complete {
                    self.settled(at, object.settle());
                }
            }
            MbarrierOp::ArriveAfterCopies { no_increment } => {
                // The copies arrive now: that is one of the times at which they may.
                self.land(warp, 1 << lane, None);
                raw.copy_from_slice(&self.block.shared[place.clone()]);
                object = Object::unpack(u64::from_le_bytes(raw));
                if no_increment {
                    object.pending = object.pending.saturating_sub(1);
                }
                if let Some(check) = self.check {
                    check.mbarrier_arrive_after_copies(w, lane as u32, at);
                }
                self.settled(at, object.settle());
            }
            MbarrierOp::Test { done, phase, parity } => {
                let over = if parity {
                    object.parity != (value(&warp.regs, phase) & 1 == 1)
                } else {
                    object.parity != Object::unpack(warp.regs.r64(phase)[lane]).parity
                };
                let p = warp.regs.pred_mut(done);
                *p = *p & !(1 << lane) | u32::from(over) << lane;
                self.block.watched = true;
                if let (true, true, Some(check)) = (over, ordered, &mut *self.check) {
                    check.mbarrier_wait(w, lane as u32, at);
                }
                return Ok(());
            }
            MbarrierOp::PendingCount { .. } => return Ok(()),
        }
        self.block.effect = true;
        self.block.shared[place].copy_from_slice(&object.pack().to_le_bytes());
        Ok(())
    }

    fn settled(&mut self, at: u64, done: bool) {
        if let (true, Some(check)) = (done, &mut *self.check) {
            check.mbarrier_complete(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_survives_its_packing() {
        for object in [
            Object {
                pending: 0,
                expected: 0,
                bytes: 0,
                parity: false,
            },
            Object {
                pending: 5,
                expected: 1_048_575,
                bytes: -3,
                parity: true,
            },
            Object {
                pending: 1_048_575,
                expected: 7,
                bytes: 1 << 20,
                parity: false,
            },
        ] {
            assert_eq!(Object::unpack(object.pack()), object);
        }
    }

    #[test]
    fn a_phase_ends_when_arrivals_and_bytes_are_complete() {
        let mut object = Object {
            pending: 0,
            expected: 4,
            bytes: 16,
            parity: false,
        };
        assert!(!object.settle());
        object.bytes = 0;
        assert!(object.settle());
        assert_eq!((object.pending, object.parity), (4, true));
    }
}
