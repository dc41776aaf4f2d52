//! `mov`: copies, and packing vectors of registers into a wider one and back.

use tile33_ptx::ast::{Operand, Type};

use super::form::Form;
use super::rows::{Raw, binary, fast, load_pred, store, store_pred, unary};
use super::{Alu, Result, Unsupported};
use crate::registers::{LANES, Registers, Slot};

/// The bit type of `bytes` bytes.
pub(super) fn bits_of(bytes: u32) -> Type {
    match bytes {
        1 => Type::B8,
        2 => Type::B16,
        4 => Type::B32,
        8 => Type::B64,
        _ => Type::B128,
    }
}

/// A row of values of `bytes` bytes, widened.
fn row(regs: &Registers, slot: Slot, bytes: u32) -> [u128; LANES] {
    match bytes {
        8 => regs.r64(slot).map(u128::from),
        16 => *regs.r128(slot),
        n => regs.r32(slot).map(|x| u128::from(x) & ((1 << (8 * n)) - 1)),
    }
}

/// Writes the active lanes of a row; the values fit.
fn save(regs: &mut Registers, slot: Slot, bytes: u32, active: u32, values: &[u128; LANES]) {
    match bytes {
        8 => store(regs, slot, active, values.map(|x| x as u64)),
        16 => store(regs, slot, active, *values),
        _ => store(regs, slot, active, values.map(|x| x as u32)),
    }
}

/// `createpolicy`: what a cache is to keep changes no result, so that every policy is the same.
pub(super) fn policy(form: &mut Form) -> Result<Alu> {
    form.choice(&["fractional", "range", "cvt"]);
    while form
        .find(|word| (word == "L2" || word.starts_with("L2::") || word == "a state space").then_some(()))
        .is_some()
    {}
    let ty = form.ty()?;
    let operands = form.operands.len();
    form.done(operands)?;
    let (d, same) = (form.dest(0, ty)?, form.at.constant(0, ty));
    Ok(copy(d, same, ty))
}

/// `mov`
pub(super) fn mov(form: &mut Form) -> Result<Alu> {
    let vector = form.vector();
    let ty = form.ty()?;
    form.done(2)?;
    if ty == Type::Pred {
        let (d, a) = (form.pred_dest(0)?, form.pred_source(1)?);
        return Ok(Alu::new(move |regs, active| {
            store_pred(regs, d, active, load_pred(regs, a));
        }));
    }
    let (to, from) = (form.operand(0)?, form.operand(1)?);
    if vector > 1 {
        return each(form, ty, vector);
    }
    match (to, from) {
        (Operand::Vector(parts), _) => unpack(form, ty, parts),
        (_, Operand::Vector(parts)) => pack(form, ty, parts),
        _ => {
            let (d, a) = (form.dest(0, ty)?, form.source(1, ty)?);
            Ok(copy(d, a, ty))
        }
    }
}

fn copy(d: Slot, a: Slot, ty: Type) -> Alu {
    match ty.bytes() {
        8 => unary(d, a, |a: u64| a),
        16 => unary(d, a, |a: u128| a),
        _ => unary(d, a, |a: u32| a),
    }
}

/// The elements of `{a, b}` or of a vector register.
fn elements(form: &Form, operand: &Operand, n: u8) -> Result<Vec<Operand>> {
    let all = match operand {
        Operand::Vector(parts) => parts.clone(),
        Operand::Register(id, None) if form.at.vector_len(operand) > 1 => (0..form.at.vector_len(operand))
            .map(|i| Operand::Register(*id, Some(i)))
            .collect(),
        other => vec![other.clone()],
    };
    if all.len() != usize::from(n) {
        return Err(Unsupported::because(format!(
            "an operand of {} elements with `.v{n}`",
            all.len()
        )));
    }
    Ok(all)
}

/// `mov.v2` and `mov.v4`: element by element, all read before any is written.
fn each(form: &mut Form, ty: Type, n: u8) -> Result<Alu> {
    let (to, from) = (
        elements(form, form.operand(0)?, n)?,
        elements(form, form.operand(1)?, n)?,
    );
    let mut pairs = Vec::new();
    for (to, from) in to.iter().zip(&from) {
        pairs.push((form.write(to, ty)?, form.read(from, ty)?));
    }
    let bytes = ty.bytes();
    Ok(Alu::new(move |regs, active| {
        let mut values = [[0; LANES]; 8];
        for (values, (_, a)) in values.iter_mut().zip(&pairs) {
            *values = row(regs, *a, bytes);
        }
        for (values, (d, _)) in values.iter().zip(&pairs) {
            save(regs, *d, bytes, active, values);
        }
    }))
}

/// The type of one of `parts` elements of `ty`.
fn element_type(ty: Type, parts: usize) -> Result<Type> {
    let bytes = ty.bytes();
    if !matches!(parts, 2 | 4) || bytes < 2 || bytes as usize / parts == 0 {
        return Err(Unsupported::because(format!("a vector of {parts} elements as `.{ty}`")));
    }
    Ok(bits_of(bytes / parts as u32))
}

/// `mov.b64 d, {a, b}`: the first element is the lowest.
fn pack(form: &mut Form, ty: Type, parts: &[Operand]) -> Result<Alu> {
    let element = element_type(ty, parts.len())?;
    let d = form.dest(0, ty)?;
    let mut slots = Vec::new();
    for part in parts {
        slots.push(form.read(part, element)?);
    }
    let (bytes, each) = (ty.bytes(), element.bytes());
    Ok(match (each, slots.as_slice()) {
        (4, &[a, b]) => binary(d, a, b, |a: u32, b: u32| u64::from(a) | u64::from(b) << 32),
        (2, &[a, b]) => binary(d, a, b, |a: u32, b: u32| a | b << 16),
        (2, &[a, b, c, e]) => fast(move |regs, active| {
            let [a, b, c, e] = [a, b, c, e].map(|slot| regs.r32(slot));
            let out: [u64; LANES] =
                std::array::from_fn(|i| u64::from(a[i] | b[i] << 16) | u64::from(c[i] | e[i] << 16) << 32);
            store(regs, d, active, out);
        }),
        _ => Alu::new(move |regs, active| {
            let mut whole = [0; LANES];
            for (i, slot) in slots.iter().enumerate() {
                for (whole, part) in whole.iter_mut().zip(row(regs, *slot, each)) {
                    *whole |= part << (8 * each * i as u32);
                }
            }
            save(regs, d, bytes, active, &whole);
        }),
    })
}

/// `mov.b64 {a, b}, d`
fn unpack(form: &mut Form, ty: Type, parts: &[Operand]) -> Result<Alu> {
    let element = element_type(ty, parts.len())?;
    let a = form.source(1, ty)?;
    let mut slots = Vec::new();
    for part in parts {
        slots.push(match part {
            Operand::Sink => None,
            _ => Some(form.write(part, element)?),
        });
    }
    let (bytes, each) = (ty.bytes(), element.bytes());
    if bytes == 8 && each == 4 {
        return Ok(fast(move |regs, active| {
            let x = *u64::row(regs, a);
            for (i, slot) in slots.iter().enumerate() {
                if let Some(d) = slot {
                    store::<u32>(regs, *d, active, x.map(|x| (x >> (32 * i)) as u32));
                }
            }
        }));
    }
    Ok(Alu::new(move |regs, active| {
        let whole = row(regs, a, bytes);
        for (i, slot) in slots.iter().enumerate() {
            if let Some(d) = slot {
                let part = whole.map(|x| x >> (8 * each * i as u32) & ((1u128 << (8 * each)) - 1));
                save(regs, *d, each, active, &part);
            }
        }
    }))
}
