//! Integer arithmetic.

use tile33_ptx::ast::{Opcode, Type};

use super::form::Form;
use super::rows::{binary, fast, mask, store, store_pred};
use super::{Alu, Result};
use crate::registers::Registers;

/// `add`, `sub`.
pub(super) fn add(form: &mut Form) -> Result<Alu> {
    let ty = form.ty()?;
    form.done(3)?;
    let (d, a, b) = (form.dest(0, ty)?, form.source(1, ty)?, form.source(2, ty)?);
    let sub = form.opcode == Opcode::Sub;
    Ok(match (ty, sub) {
        (Type::U32 | Type::S32, false) => binary(d, a, b, u32::wrapping_add),
        (Type::U32 | Type::S32, true) => binary(d, a, b, u32::wrapping_sub),
        (Type::U64 | Type::S64, false) => binary(d, a, b, u64::wrapping_add),
        (Type::U64 | Type::S64, true) => binary(d, a, b, u64::wrapping_sub),
        (Type::F32, false) => binary(d, a, b, |a: f32, b: f32| a + b),
        _ => return form.bad_type(ty),
    })
}
