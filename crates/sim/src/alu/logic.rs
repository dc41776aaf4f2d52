//! Bitwise logic and shifts.

use tile33_ptx::ast::{Opcode, Operand, Type};

use super::form::Form;
use super::rows::{Value, binary, fast, load_pred, mask, store, store_pred, ternary, unary};
use super::{Alu, Result, Unsupported};
use crate::registers::Slot;

/// `and`, `or`, `xor`, of predicates too.
pub(super) fn bitwise(form: &mut Form) -> Result<Alu> {
    let ty = form.ty()?;
    form.done(3)?;
    let opcode = form.opcode;
    if ty == Type::Pred {
        let (d, a, b) = (form.pred_dest(0)?, form.pred_source(1)?, form.pred_source(2)?);
        return Ok(Alu::new(move |regs, active| {
            let (a, b) = (load_pred(regs, a), load_pred(regs, b));
            let bits = match opcode {
                Opcode::And => a & b,
                Opcode::Or => a | b,
                _ => a ^ b,
            };
            store_pred(regs, d, active, bits);
        }));
    }
    let (d, a, b) = (form.dest(0, ty)?, form.source(1, ty)?, form.source(2, ty)?);
    Ok(match (ty, opcode) {
        (Type::B16 | Type::B32, Opcode::And) => binary(d, a, b, |a: u32, b: u32| a & b),
        (Type::B16 | Type::B32, Opcode::Or) => binary(d, a, b, |a: u32, b: u32| a | b),
        (Type::B16 | Type::B32, _) => binary(d, a, b, |a: u32, b: u32| a ^ b),
        (Type::B64, Opcode::And) => binary(d, a, b, |a: u64, b: u64| a & b),
        (Type::B64, Opcode::Or) => binary(d, a, b, |a: u64, b: u64| a | b),
        (Type::B64, _) => binary(d, a, b, |a: u64, b: u64| a ^ b),
        _ => return form.bad_type(ty),
    })
}

/// `not`, and `cnot`, which is 1 for 0 and 0 for anything else.
pub(super) fn not(form: &mut Form) -> Result<Alu> {
    let ty = form.ty()?;
    form.done(2)?;
    let cnot = form.opcode == Opcode::Cnot;
    if ty == Type::Pred && !cnot {
        let (d, a) = (form.pred_dest(0)?, form.pred_source(1)?);
        return Ok(Alu::new(move |regs, active| {
            store_pred(regs, d, active, !load_pred(regs, a));
        }));
    }
    let (d, a) = (form.dest(0, ty)?, form.source(1, ty)?);
    Ok(match (ty, cnot) {
        (Type::B16, false) => unary(d, a, |a: u16| !a),
        (Type::B32, false) => unary(d, a, |a: u32| !a),
        (Type::B64, false) => unary(d, a, |a: u64| !a),
        (Type::B16 | Type::B32, true) => unary(d, a, |a: u32| u32::from(a == 0)),
        (Type::B64, true) => unary(d, a, |a: u64| u64::from(a == 0)),
        _ => return form.bad_type(ty),
    })
}

/// A function of three bits, given by its truth table, of every bit of three words. The table is the value of the same
/// function of 0xf0, 0xcc and 0xaa.
#[inline(always)]
fn lut3(a: u32, b: u32, c: u32, table: &[u32; 8]) -> u32 {
    let select = |low: u32, high: u32, by: u32| low ^ ((low ^ high) & by);
    let by_c = |i: usize| select(table[i], table[i + 1], c);
    let by_b = |i: usize| select(by_c(i), by_c(i + 2), b);
    select(by_b(0), by_b(4), a)
}

/// `lop3`, with the predicate form.
pub(super) fn lop3(form: &mut Form) -> Result<Alu> {
    let combine = form.choice(&["and", "or"]);
    let ty = form.ty()?;
    form.done(if combine.is_some() { 6 } else { 5 })?;
    if ty != Type::B32 {
        return form.bad_type(ty);
    }
    let Operand::Integer(table) = *form.operand(4)? else {
        return Err(Unsupported::because("the look-up table must be an integer constant"));
    };
    let table: [u32; 8] = std::array::from_fn(|i| if table >> i & 1 == 1 { u32::MAX } else { 0 });
    let abc = [form.source(1, ty)?, form.source(2, ty)?, form.source(3, ty)?];
    let Some(combine) = combine else {
        let d = form.dest(0, ty)?;
        return Ok(ternary(d, abc, move |a: u32, b: u32, c: u32| lut3(a, b, c, &table)));
    };
    let Operand::Pair(d, p) = form.operand(0)? else {
        return Err(Unsupported::because("with `.and` or `.or` its destination is `d|p`"));
    };
    let (d, p, q) = (form.write(d, ty)?, form.at.pred_dest(p)?, form.pred_source(5)?);
    let and = combine == "and";
    Ok(fast(move |regs, active| {
        let [a, b, c] = abc.map(|slot| regs.r32(slot));
        let out: [u32; 32] = std::array::from_fn(|i| lut3(a[i], b[i], c[i], &table));
        let nonzero = mask(|i| out[i] != 0);
        let q = load_pred(regs, q);
        store(regs, d, active, out);
        store_pred(regs, p, active, if and { nonzero & q } else { nonzero | q });
    }))
}

/// `shl`, `shr`: amounts past the width shift everything out.
pub(super) fn shift(form: &mut Form) -> Result<Alu> {
    let ty = form.ty()?;
    form.done(3)?;
    let (d, a, b) = (form.dest(0, ty)?, form.source(1, ty)?, form.source(2, Type::U32)?);
    if form.opcode == Opcode::Shl {
        return Ok(match ty {
            Type::B16 => binary(d, a, b, |a: u16, n: u32| if n < 16 { a << n } else { 0 }),
            Type::B32 => binary(d, a, b, |a: u32, n: u32| if n < 32 { a << n } else { 0 }),
            Type::B64 => binary(d, a, b, |a: u64, n: u32| if n < 64 { a << n } else { 0 }),
            _ => return form.bad_type(ty),
        });
    }
    Ok(match ty {
        Type::B16 | Type::U16 => binary(d, a, b, |a: u16, n: u32| if n < 16 { a >> n } else { 0 }),
        Type::B32 | Type::U32 => binary(d, a, b, |a: u32, n: u32| if n < 32 { a >> n } else { 0 }),
        Type::B64 | Type::U64 => binary(d, a, b, |a: u64, n: u32| if n < 64 { a >> n } else { 0 }),
        Type::S16 => binary(d, a, b, |a: i16, n: u32| a >> n.min(15)),
        Type::S32 => binary(d, a, b, |a: i32, n: u32| a >> n.min(31)),
        Type::S64 => binary(d, a, b, |a: i64, n: u32| a >> n.min(63)),
        _ => return form.bad_type(ty),
    })
}

/// `shf`: the funnel shift of `b:a`.
pub(super) fn funnel(form: &mut Form) -> Result<Alu> {
    let direction = form.choice(&["l", "r"]);
    let mode = form.choice(&["clamp", "wrap"]);
    let ty = form.ty()?;
    form.done(4)?;
    if ty != Type::B32 {
        return form.bad_type(ty);
    }
    let d = form.dest(0, ty)?;
    let abc = [form.source(1, ty)?, form.source(2, ty)?, form.source(3, Type::U32)?];
    let joined = |a: u32, b: u32| u64::from(b) << 32 | u64::from(a);
    Ok(match (direction, mode) {
        (Some("l"), Some("wrap")) => ternary(d, abc, move |a, b, n: u32| ((joined(a, b) << (n & 31)) >> 32) as u32),
        (Some("l"), Some("clamp")) => ternary(d, abc, move |a, b, n: u32| ((joined(a, b) << n.min(32)) >> 32) as u32),
        (Some("r"), Some("wrap")) => ternary(d, abc, move |a, b, n: u32| (joined(a, b) >> (n & 31)) as u32),
        (Some("r"), Some("clamp")) => ternary(d, abc, move |a, b, n: u32| (joined(a, b) >> n.min(32)) as u32),
        _ => return Err(Unsupported::because("it needs `.l` or `.r`, and `.clamp` or `.wrap`")),
    })
}

/// `selp`, which copies bits.
pub(super) fn selp(form: &mut Form) -> Result<Alu> {
    fn select<T: Value>(d: Slot, a: Slot, b: Slot, p: (crate::registers::PredSlot, bool)) -> Alu {
        use super::rows::Raw;
        fast(move |regs, active| {
            let p = load_pred(regs, p);
            let (x, y) = (T::Raw::row(regs, a), T::Raw::row(regs, b));
            let out = std::array::from_fn(|i| T::Raw::pick(p >> i & 1, x[i], y[i]));
            store(regs, d, active, out);
        })
    }
    let ty = form.ty()?;
    form.done(4)?;
    let p = form.pred_source(3)?;
    if ty == Type::Pred {
        return form.bad_type(ty);
    }
    let (d, a, b) = (form.dest(0, ty)?, form.source(1, ty)?, form.source(2, ty)?);
    Ok(match ty.bytes() {
        2 | 4 => select::<u32>(d, a, b, p),
        8 => select::<u64>(d, a, b, p),
        _ => return form.bad_type(ty),
    })
}
