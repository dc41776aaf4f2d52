//! Packed integers: `dp4a` and `dp2a`, dot products added to a third operand; `vabsdiff2` and `vabsdiff4`, which are all
//! that compilers still write of the video instructions.

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

/// `vabsdiff2`, `vabsdiff4`: absolute differences element by element, or with `.add` their sum added to a third operand.
pub(super) fn differences(form: &mut Form) -> Result<Alu> {
    let (sat, add) = (form.flag("sat"), form.flag("add"));
    let (dt, at, bt) = (form.ty()?, form.ty()?, form.ty()?);
    form.done(4)?;
    for ty in [dt, at, bt] {
        if !matches!(ty, Type::U32 | Type::S32) {
            return form.bad_type(ty);
        }
    }
    let bits = if form.opcode == Opcode::Vabsdiff4 { 8 } else { 16 };
    let (sa, sb) = (at == Type::S32, bt == Type::S32);
    // The largest element of the result's type; a difference is never negative.
    let most = if dt == Type::S32 {
        (1 << (bits - 1)) - 1
    } else {
        (1 << bits) - 1
    };
    let d = form.dest(0, Type::B32)?;
    let abc = [
        form.source(1, Type::B32)?,
        form.source(2, Type::B32)?,
        form.source(3, Type::B32)?,
    ];
    Ok(rare::ternary(d, abc, move |a: u32, b: u32, c: u32| {
        let difference = |i: u32| {
            let difference = element(a, i, bits, sa).abs_diff(element(b, i, bits, sb));
            if sat { difference.min(most) } else { difference }
        };
        let all = 0..32 / bits;
        if add {
            all.fold(c, |sum, i| sum.wrapping_add(difference(i)))
        } else {
            all.fold(0, |packed, i| {
                packed | (difference(i) & ((1 << bits) - 1)) << (bits * i)
            })
        }
    }))
}
