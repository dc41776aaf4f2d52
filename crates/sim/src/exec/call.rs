//! Calls of functions and returns from them.

use std::rc::Rc;

use super::context::{Machine, Stop};
use super::lanes::{blend, lanes, lowest, select};
use super::local::LOCAL_LIMIT;
use super::transfer;
use super::warp::{CallFrame, Group, Warp};
use crate::decode::ops::{Base, Call, Callee, Cell, Passed};
use crate::memory::CODE_WINDOW;
use crate::registers::{PredSlot, Slot};

/// A value on its way, one a lane.
enum Value {
    Rows(Box<[u128; 32]>),
    /// Bytes in local memory.
    Local {
        from: u32,
        bytes: u32,
    },
    None,
}

fn take(warp: &Warp, passed: Passed, fp: u32) -> Value {
    match passed {
        Passed::Frame { offset, bytes } => Value::Local {
            from: fp + offset,
            bytes,
        },
        Passed::Register(cell) => Value::Rows(Box::new(std::array::from_fn(|lane| {
            transfer::read(&warp.regs, cell, lane)
        }))),
        Passed::Nothing => Value::None,
    }
}

fn give(warp: &mut Warp, value: &Value, passed: Passed, fp: u32, mask: u32) {
    match (value, passed) {
        (Value::Local { from, bytes }, Passed::Frame { offset, .. }) => {
            warp.local.copy(*from, fp + offset, *bytes, mask);
        }
        (Value::Rows(values), Passed::Frame { offset, bytes }) => {
            for lane in lanes(mask) {
                for (i, byte) in values[lane].to_le_bytes().iter().take(bytes as usize).enumerate() {
                    warp.local.write(lane, (fp + offset) as usize + i, 1, u64::from(*byte));
                }
            }
        }
        (Value::Rows(values), Passed::Register(cell)) => {
            lanes(mask).for_each(|lane| set(warp, cell, lane, values[lane]));
        }
        (Value::Local { from, bytes }, Passed::Register(cell)) => {
            for lane in lanes(mask) {
                let value = (0..*bytes.min(&16)).fold(0u128, |v, i| {
                    v | u128::from(warp.local.read(lane, (from + i) as usize, 1)) << (8 * i)
                });
                set(warp, cell, lane, value);
            }
        }
        (Value::None, _) | (_, Passed::Nothing) => {}
    }
}

fn set(warp: &mut Warp, cell: Cell, lane: usize, value: u128) {
    if cell.bytes == 16 {
        warp.regs.r128_mut(cell.slot)[lane] = value;
    } else {
        transfer::write(&mut warp.regs, cell, lane, value as u64);
    }
}

impl Machine<'_, '_> {
    /// `call`, for the lanes of `active`; the others of the group go on behind it.
    pub(crate) fn call(
        &mut self,
        warp: &mut Warp,
        group: &mut Group,
        w: u32,
        active: u32,
        call: &Call,
    ) -> Result<(), Stop> {
        let after = group.pc + 1;
        if active == 0 {
            group.pc = after;
            return Ok(());
        }
        let skipped = group.mask & !active;
        if skipped != 0 {
            warp.expect(group, after);
            warp.arrive(group, skipped);
        }
        let index = match call.callee {
            Callee::Builtin(builtin) => {
                self.builtin(warp, group, w, call, builtin)?;
                group.pc = after;
                return Ok(());
            }
            Callee::Function(index) => index,
            Callee::Indirect { target } => {
                let address = |lane: usize| match target {
                    Base::Wide(slot) => warp.regs.r64(slot)[lane],
                    Base::Narrow(slot) => u64::from(warp.regs.r32(slot)[lane]),
                    Base::Frame | Base::KernelParam => 0,
                };
                let first = address(lowest(group.mask));
                let others = select(group.mask, |lane| address(lane) != first);
                if others != 0 {
                    warp.expect(group, after);
                    let pc = group.pc;
                    warp.split(group, others, pc);
                }
                let id = first.wrapping_sub(CODE_WINDOW) / 16;
                let found = self.cx.kernel.functions.iter().position(|f| u64::from(f.id.0) == id);
                match found {
                    Some(index) if first >= CODE_WINDOW && first.is_multiple_of(16) => index,
                    _ => {
                        let message = format!("a call of {first:#x}, which is no function's address");
                        return Err(Stop::Fault { pc: group.pc, message });
                    }
                }
            }
        };
        let function = &self.cx.kernel.functions[index];
        let caller = &self.cx.kernel.functions[group.frame.as_ref().map_or(0, |f| f.function)];
        let fp = group.fp.saturating_add(caller.frame_bytes);
        let end = fp.saturating_add(function.frame_bytes);
        let depth = group.frame.as_ref().map_or(0, |f| f.depth) + 1;
        // A function without variables takes no local memory here, but its return address does on a GPU.
        if end.saturating_add(depth.saturating_mul(16)) > LOCAL_LIMIT {
            let message = format!("calls nest too deeply: a thread has {LOCAL_LIMIT} bytes of local memory");
            return Err(Stop::Fault { pc: group.pc, message });
        }
        warp.local.grow(end);
        warp.local.forget(fp, function.frame_bytes, group.mask);
        if call.args.len() != function.params.len() || call.returns.len() != function.returns.len() {
            let message = format!("a call of `{}` with another signature than it has", function.name);
            return Err(Stop::Fault { pc: group.pc, message });
        }
        let values: Vec<Value> = call.args.iter().map(|arg| take(warp, *arg, group.fp)).collect();
        let saved_rows = call
            .save_rows
            .iter()
            .flat_map(|&(first, n)| first..first + n)
            .map(|r| (r, *warp.regs.r32(Slot(r))));
        let frame = CallFrame {
            parent: group.frame.clone(),
            call_pc: group.pc,
            function: index,
            caller_fp: group.fp,
            depth,
            saved_rows: saved_rows.collect(),
            saved_predicates: call.save_predicates.iter().map(|p| (p.0, warp.regs.pred(*p))).collect(),
        };
        for (value, param) in values.iter().zip(&function.params) {
            give(warp, value, *param, fp, group.mask);
        }
        group.frame = Some(Rc::new(frame));
        group.fp = fp;
        group.pc = function.entry;
        Ok(())
    }

    /// The end of a function.
    pub(crate) fn ret(&mut self, warp: &mut Warp, group: &mut Group) {
        let Some(frame) = group.frame.take() else { return };
        let function = &self.cx.kernel.functions[frame.function];
        let values: Vec<Value> = function.returns.iter().map(|r| take(warp, *r, group.fp)).collect();
        for (row, values) in &frame.saved_rows {
            blend(warp.regs.r32_mut(Slot(*row)), values, group.mask);
        }
        for (slot, value) in &frame.saved_predicates {
            let p = warp.regs.pred_mut(PredSlot(*slot));
            *p = *p & !group.mask | value & group.mask;
        }
        if let crate::decode::ops::Op::Call(call) = &self.cx.kernel.code[frame.call_pc as usize].op {
            for (value, into) in values.iter().zip(&call.returns) {
                give(warp, value, *into, frame.caller_fp, group.mask);
            }
        }
        group.fp = frame.caller_fp;
        group.pc = frame.call_pc + 1;
        group.frame = frame.parent.clone();
    }
}

/// A lane's argument, up to 8 bytes.
pub(crate) fn value(warp: &Warp, passed: Passed, fp: u32, lane: usize) -> u64 {
    match passed {
        Passed::Frame { offset, bytes } => (0..bytes.min(8)).fold(0, |v, i| {
            v | warp.local.read(lane, (fp + offset + i) as usize, 1) << (8 * i)
        }),
        Passed::Register(cell) => transfer::read(&warp.regs, cell, lane) as u64,
        Passed::Nothing => 0,
    }
}

/// Sets a lane's return value, up to 8 bytes.
pub(crate) fn set_value(warp: &mut Warp, passed: Passed, fp: u32, lane: usize, value: u64) {
    match passed {
        Passed::Frame { offset, bytes } => {
            for i in 0..bytes.min(8) {
                warp.local
                    .write(lane, (fp + offset + i) as usize, 1, value >> (8 * i) & 0xff);
            }
        }
        Passed::Register(cell) => transfer::write(&mut warp.regs, cell, lane, value),
        Passed::Nothing => {}
    }
}
