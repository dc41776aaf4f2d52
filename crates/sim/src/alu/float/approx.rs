//! Reciprocals, roots and the transcendental functions.
//!
//! The `.approx` forms are evaluated in f64 and rounded once, so that they are correctly rounded but for the rarest of
//! cases: well inside every bound that the PTX manual gives, and the same on every machine. Hardware results differ from
//! them in the last places.

use tile33_ptx::ast::{Opcode, Type};

use super::exact::Round;
use super::half::{Bf16, F16, Half};
use super::single::{self, SCALE, double, enter, leave, settle};
use super::{Modifiers, by_flag, rare_half_lanes};
use crate::alu::form::Form;
use crate::alu::rows::{rare, unary};
use crate::alu::{Alu, Result, Unsupported};

/// `rcp`
pub(crate) fn rcp(form: &mut Form) -> Result<Alu> {
    let approx = form.flag("approx");
    let m = Modifiers::take(form);
    let ty = form.ty()?;
    form.done(2)?;
    let (d, a) = (form.dest(0, ty)?, form.source(1, ty)?);
    Ok(match (ty, approx, m.round) {
        (Type::F32, true, None) | (Type::F32, false, Some(_)) => {
            m.check(ty, true, false, false, true)?;
            match m.round.unwrap_or(Round::Nearest) {
                Round::Nearest => {
                    by_flag!(m.ftz, FTZ => unary(d, a, |a: f32| {
 let a = enter::<FTZ>(a); settle::<FTZ, false>(1.0 / a, || SCALE / a) }))
                }
                round => rare::unary(d, a, move |a: f32| m.div(1.0, a, round)),
            }
        }
        (Type::F64, true, None) if m.ftz => rare::unary(d, a, |a: f64| coarse(a, |x| 1.0 / x)),
        (Type::F64, false, Some(round)) => {
            m.check(ty, false, false, false, true)?;
            match round {
                Round::Nearest => unary(d, a, |a: f64| double::settle(1.0 / a, [a])),
                _ => rare::unary(d, a, move |a: f64| double::settle(double::div(1.0, a, round), [a])),
            }
        }
        (Type::F32 | Type::F64, ..) => return Err(needs_rounding()),
        _ => return form.bad_type(ty),
    })
}

/// The gross f64 approximations: only the high word of the operand is looked at and only that of the result is not zero;
/// subnormals are flushed. NaN results are those of a high word of f32's kind.
fn coarse(x: f64, f: impl Fn(f64) -> f64) -> f64 {
    let high = |x: f64| {
        let bits = x.to_bits() & 0xffff_ffff_0000_0000;
        f64::from_bits(if bits & 0x7ff0_0000_0000_0000 == 0 {
            bits & 1 << 63
        } else {
            bits
        })
    };
    let r = f(high(x));
    if r.is_nan() {
        f64::from_bits(0x7fff_ffff_0000_0000)
    } else {
        high(r)
    }
}

fn needs_rounding() -> Unsupported {
    Unsupported::because("it needs either `.approx` (with `.ftz` for f64) or a rounding mode")
}

/// `sqrt`
pub(crate) fn sqrt(form: &mut Form) -> Result<Alu> {
    let approx = form.flag("approx");
    let m = Modifiers::take(form);
    let ty = form.ty()?;
    form.done(2)?;
    let (d, a) = (form.dest(0, ty)?, form.source(1, ty)?);
    Ok(match (ty, approx, m.round) {
        (Type::F32, true, None) | (Type::F32, false, Some(_)) => {
            m.check(ty, true, false, false, true)?;
            match m.round.unwrap_or(Round::Nearest) {
                Round::Nearest => {
                    by_flag!(m.ftz, FTZ => unary(d, a, |a: f32| leave::<FTZ, false>(enter::<FTZ>(a).sqrt())))
                }
                round => rare::unary(d, a, move |a: f32| m.leave(single::sqrt(m.enter(a), round))),
            }
        }
        (Type::F64, false, Some(round)) => {
            m.check(ty, false, false, false, true)?;
            match round {
                Round::Nearest => unary(d, a, |a: f64| double::settle(a.sqrt(), [a])),
                _ => rare::unary(d, a, move |a: f64| double::settle(double::sqrt(a, round), [a])),
            }
        }
        (Type::F32 | Type::F64, ..) => return Err(needs_rounding()),
        _ => return form.bad_type(ty),
    })
}

/// `rsqrt.approx`
pub(crate) fn rsqrt(form: &mut Form) -> Result<Alu> {
    let approx = form.flag("approx");
    let ftz = form.flag("ftz");
    let ty = form.ty()?;
    form.done(2)?;
    if !approx {
        return Err(Unsupported::because("it needs `.approx`"));
    }
    let (d, a) = (form.dest(0, ty)?, form.source(1, ty)?);
    Ok(match ty {
        Type::F32 => by_flag!(ftz, FTZ => unary(d, a, |a: f32| {
            leave::<FTZ, false>((1.0 / f64::from(enter::<FTZ>(a)).sqrt()) as f32)
        })),
        Type::F64 if ftz => rare::unary(d, a, |a: f64| coarse(a, |x| 1.0 / x.sqrt())),
        Type::F64 => unary(d, a, |a: f64| double::settle(1.0 / a.sqrt(), [a])),
        _ => return form.bad_type(ty),
    })
}

/// `sin`, `cos`, `lg2`, `ex2`, `tanh`, all `.approx`.
pub(crate) fn transcendental(form: &mut Form) -> Result<Alu> {
    let approx = form.flag("approx");
    let ftz = form.flag("ftz");
    let ty = form.ty()?;
    form.done(2)?;
    if !approx {
        return Err(Unsupported::because("it needs `.approx`"));
    }
    let (d, a) = (form.dest(0, ty)?, form.source(1, ty)?);
    let function = match form.opcode {
        Opcode::Sin => libm::sin,
        Opcode::Cos => libm::cos,
        Opcode::Lg2 => log2,
        Opcode::Ex2 => exp2,
        _ => libm::tanh,
    };
    let tanh = form.opcode == Opcode::Tanh;
    let halves = tanh || form.opcode == Opcode::Ex2;
    Ok(match ty {
        Type::F32 if !(tanh && ftz) => match form.opcode {
            // The two that programs run in their inner loops are inlined, so that they are vectorised.
            Opcode::Ex2 => by_flag!(ftz, FTZ => unary(d, a, |a: f32| evaluate::<FTZ>(a, exp2))),
            Opcode::Lg2 => by_flag!(ftz, FTZ => unary(d, a, |a: f32| evaluate::<FTZ>(a, log2))),
            _ => rare::unary(d, a, move |a: f32| {
                if ftz {
                    evaluate::<true>(a, function)
                } else {
                    evaluate::<false>(a, function)
                }
            }),
        },
        // PTX spells `ex2` of f16 without `.ftz` or with it, of bf16 only with it; `tanh` never has it.
        Type::F16 | Type::F16x2 if halves && !(tanh && ftz) => {
            rare_half_lanes(ty == Type::F16x2, d, [a; 3], move |a, _, _| {
                evaluate_half::<F16>(a, ftz, function)
            })
        }
        Type::Bf16 | Type::Bf16x2 if halves && tanh != ftz => {
            rare_half_lanes(ty == Type::Bf16x2, d, [a; 3], move |a, _, _| {
                evaluate_half::<Bf16>(a, ftz, function)
            })
        }
        _ => return form.bad_type(ty),
    })
}

#[inline(always)]
fn evaluate<const FTZ: bool>(x: f32, f: impl Fn(f64) -> f64) -> f32 {
    leave::<FTZ, false>(f(f64::from(enter::<FTZ>(x))) as f32)
}

fn evaluate_half<H: Half>(x: u16, ftz: bool, f: impl Fn(f64) -> f64) -> u16 {
    let x = if ftz { H::flush(x) } else { x };
    let y = H::narrow(single::narrow_to_odd(f(f64::from(H::widen(x)))));
    if ftz { H::flush(y) } else { y }
}

/// 2^x to about 1e-15, for x that an f32 can be.
#[inline(always)]
fn exp2(x: f64) -> f64 {
    // Beyond this an f32 result is infinite or zero; the power of two below stays in range.
    let clamped = x.clamp(-300.0, 300.0);
    // Adding 1.5 * 2^52 rounds to an integer, which then stands in the low bits.
    const MAGIC: f64 = 6_755_399_441_055_744.0;
    let shifted = clamped + MAGIC;
    let n = shifted.to_bits().wrapping_sub(MAGIC.to_bits());
    let t = (clamped - (shifted - MAGIC)) * std::f64::consts::LN_2;
    // Taylor's series of e^t for |t| <= ln(2) / 2; the first term left out is below 1e-16.
    let mut sum = 1.0;
    for k in (1..=13).rev() {
        sum = 1.0 + sum * t / f64::from(k);
    }
    let power = f64::from_bits(n.wrapping_add(1023) << 52);
    if x.is_nan() { x } else { sum * power }
}

/// log2(x) to about 1e-15 relative, for x that an f32 can be.
#[inline(always)]
fn log2(x: f64) -> f64 {
    let bits = x.to_bits();
    // x = 2^e * m with m in [sqrt(1/2), sqrt(2)): near 1 the exponent is 0 and nothing cancels.
    const SQRT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    let offset = bits.wrapping_sub(SQRT_HALF);
    let e = (offset as i64) >> 52;
    let m = f64::from_bits(bits.wrapping_sub((e as u64) << 52));
    let s = (m - 1.0) / (m + 1.0);
    let s2 = s * s;
    // atanh(s) = s (1 + s^2/3 + s^4/5 + ..), |s| < 0.1716: the first term left out is below 1e-17.
    let mut sum = 1.0 / 23.0;
    for k in (0..11).rev() {
        sum = sum * s2 + 1.0 / f64::from(2 * k + 1);
    }
    let r = e as i32 as f64 + 2.0 * std::f64::consts::LOG2_E * s * sum;
    if x > 0.0 && x < f64::INFINITY {
        r
    } else if x == 0.0 {
        f64::NEG_INFINITY
    } else if x > 0.0 {
        x
    } else {
        f64::NAN
    }
}
