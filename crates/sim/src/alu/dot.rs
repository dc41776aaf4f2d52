//! `dp4a`, `dp2a`: dot products of packed integers, added to a third operand.

use tile33_ptx::ast::{Opcode, Type};

use super::form::Form;
use super::rows::{rare, ternary};
use super::{Alu, Result, Unsupported};

/// Element `i` of `bits` bits.
#[inline(always)]
fn element(x: u32, i: u32, bits: u32, signed: bool) -> i32 {
    let top = x << (32 - bits * (i + 1));
    if signed {
        top as i32 >> (32 - bits)
    } else {
        (top >> (32 - bits)) as i32
    }
}

/// Both.
pub(super) fn dot(form: &mut Form) -> Result<Alu> {
    let dp4a = form.opcode == Opcode::Dp4a;
    let part = if dp4a { Some("lo") } else { form.choice(&["lo", "hi"]) };
    let (at, bt) = (form.ty()?, form.ty()?);
    form.done(4)?;
    let Some(part) = part else {
        return Err(Unsupported::because("it needs `.lo` or `.hi`"));
    };
    for ty in [at, bt] {
        if !matches!(ty, Type::U32 | Type::S32) {
            return form.bad_type(ty);
        }
    }
    let (sa, sb, first) = (at == Type::S32, bt == Type::S32, if part == "hi" { 2 } else { 0 });
    let d = form.dest(0, Type::B32)?;
    let abc = [
        form.source(1, Type::B32)?,
        form.source(2, Type::B32)?,
        form.source(3, Type::B32)?,
    ];
    Ok(if dp4a {
        ternary(d, abc, move |a: u32, b: u32, c: u32| {
            (0..4).fold(c, |sum, i| {
                sum.wrapping_add((element(a, i, 8, sa) * element(b, i, 8, sb)) as u32)
            })
        })
    } else {
        rare::ternary(d, abc, move |a: u32, b: u32, c: u32| {
            (0..2).fold(c, |sum, i| {
                sum.wrapping_add((element(a, i, 16, sa) * element(b, first + i, 8, sb)) as u32)
            })
        })
    })
}
