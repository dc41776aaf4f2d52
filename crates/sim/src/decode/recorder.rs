//! Lowers register-only instructions, and notes the rows of those that lanes execute together.

use std::hash::{DefaultHasher, Hash, Hasher};

use tile33_ptx::{Instruction, Operand, Type};

use super::liveness::rows_of;
use super::operands::Resolver;
use super::ops::{Op, Together};
use super::words::Result;
use crate::alu::{self, Operands, Sync};
use crate::registers::{PredSlot, Slot};

/// Lowers an instruction; `None` if it is none of the register-only ones.
pub(crate) fn lower(inst: &Instruction, at: &mut Resolver<'_>) -> Result<Option<Op>> {
    let mut recorder = Recorder {
        at,
        inputs: Vec::new(),
        outputs: Vec::new(),
        predicate_inputs: Vec::new(),
        predicate_outputs: Vec::new(),
    };
    let Some(alu) = alu::lower(inst, &mut recorder)? else {
        return Ok(None);
    };
    if alu.sync() == Sync::None {
        return Ok(Some(Op::Alu(alu)));
    }
    let mut hasher = DefaultHasher::new();
    alu::spelling(inst).hash(&mut hasher);
    // Zero is the kind of `bar.warp.sync`.
    let form = hasher.finish().max(1);
    let Recorder {
        inputs,
        outputs,
        predicate_inputs,
        predicate_outputs,
        ..
    } = recorder;
    Ok(Some(Op::Together(Box::new(Together {
        alu,
        form,
        inputs,
        outputs,
        predicate_inputs,
        predicate_outputs,
    }))))
}

struct Recorder<'r, 'a> {
    at: &'r mut Resolver<'a>,
    inputs: Vec<(Slot, u32)>,
    outputs: Vec<(Slot, u32)>,
    predicate_inputs: Vec<PredSlot>,
    predicate_outputs: Vec<PredSlot>,
}

impl Operands for Recorder<'_, '_> {
    fn source(&mut self, operand: &Operand, ty: Type) -> Result<Slot> {
        let slot = self.at.source(operand, ty)?;
        self.inputs.push((slot, rows_of(ty)));
        Ok(slot)
    }

    fn dest(&mut self, operand: &Operand, ty: Type) -> Result<Slot> {
        let slot = self.at.dest(operand, ty)?;
        self.outputs.push((slot, rows_of(ty)));
        Ok(slot)
    }

    fn pred_source(&mut self, operand: &Operand) -> Result<(PredSlot, bool)> {
        let (slot, negated) = self.at.pred_source(operand)?;
        self.predicate_inputs.push(slot);
        Ok((slot, negated))
    }

    fn pred_dest(&mut self, operand: &Operand) -> Result<PredSlot> {
        let slot = self.at.pred_dest(operand)?;
        self.predicate_outputs.push(slot);
        Ok(slot)
    }

    fn declared(&self, operand: &Operand) -> Option<Type> {
        self.at.declared(operand)
    }

    fn vector_len(&self, operand: &Operand) -> u8 {
        self.at.vector_len(operand)
    }

    fn constant(&mut self, bits: u128, ty: Type) -> Slot {
        self.at.constant(bits, ty)
    }

    fn carry(&mut self) -> PredSlot {
        self.at.carry()
    }
}
