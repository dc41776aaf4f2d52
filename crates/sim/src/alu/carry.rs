//! Extended-precision arithmetic: `add.cc`, `addc`, `sub.cc`, `subc`, `mad.cc`, `madc`.
//!
//! The carry flag is a predicate of the thread. After a subtraction it holds the borrow, as the PTX manual says.

use tile33_ptx::ast::{Opcode, Type};

use super::form::Form;
use super::integer::{Int, by_int, by_width};
use super::rows::{Raw, store, store_pred};
use super::{Alu, Result, Unsupported};
use crate::registers::{LANES, PredSlot, Slot};

/// `d = f(a, b, c, carry in)`, and the carry out where `writes`.
fn with_carry<T: Int>(
    d: Slot,
    [a, b, c]: [Slot; 3],
    carry: PredSlot,
    (reads, writes): (bool, bool),
    f: impl Fn(T, T, T, bool) -> (T, bool) + Send + Sync + 'static,
) -> Alu {
    Alu::new(move |regs, active| {
        let carry_in = if reads { regs.pred(carry) } else { 0 };
        let mut carry_out = 0;
        let mut out = [T::Raw::default(); LANES];
        let (x, y, z) = (T::Raw::row(regs, a), T::Raw::row(regs, b), T::Raw::row(regs, c));
        for lane in 0..LANES {
            let (r, over) = f(
                T::from_raw(x[lane]),
                T::from_raw(y[lane]),
                T::from_raw(z[lane]),
                carry_in >> lane & 1 == 1,
            );
            out[lane] = r.raw();
            carry_out |= u32::from(over) << lane;
        }
        store(regs, d, active, out);
        if writes {
            store_pred(regs, carry, active, carry_out);
        }
    })
}

/// Whether `instruction` reads or writes the carry flag, judged before its form is taken apart.
pub(super) fn concerns(form: &Form) -> bool {
    matches!(form.opcode, Opcode::Addc | Opcode::Subc) || form.has("cc") || form.opcode == Opcode::Madc
}

/// All of them.
pub(super) fn lower(form: &mut Form) -> Result<Alu> {
    let writes = form.flag("cc");
    let reads = matches!(form.opcode, Opcode::Addc | Opcode::Subc | Opcode::Madc);
    let mad = matches!(form.opcode, Opcode::Mad | Opcode::Madc);
    let part = if mad { form.choice(&["lo", "hi"]) } else { None };
    let ty = form.ty()?;
    form.done(if mad { 4 } else { 3 })?;
    if !matches!(ty, Type::U32 | Type::S32 | Type::U64 | Type::S64) {
        return form.bad_type(ty);
    }
    let (d, a, b) = (form.dest(0, ty)?, form.source(1, ty)?, form.source(2, ty)?);
    let carry = form.at.carry();
    let flags = (reads, writes);
    if mad {
        let Some(part) = part else {
            return Err(Unsupported::because("it needs `.lo` or `.hi`"));
        };
        let abc = [a, b, form.source(3, ty)?];
        if part == "lo" {
            return Ok(
                by_width!(ty, form, T => with_carry::<T>(d, abc, carry, flags, |a, b, c, carry| {
                    a.mul_lo(b).add_carry(c, carry)
                })),
            );
        }
        return Ok(
            by_int!(ty, form, T => with_carry::<T>(d, abc, carry, flags, |a, b, c, carry| {
                a.mul_hi(b).add_carry(c, carry)
            })),
        );
    }
    let sub = matches!(form.opcode, Opcode::Sub | Opcode::Subc);
    Ok(by_width!(ty, form, T => if sub {
        with_carry::<T>(d, [a, b, b], carry, flags, |a, b, _, carry| a.sub_borrow(b, carry))
    } else {
        with_carry::<T>(d, [a, b, b], carry, flags, |a, b, _, carry| a.add_carry(b, carry))
    }))
}
