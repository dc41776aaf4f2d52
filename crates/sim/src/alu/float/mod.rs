//! Floating point: sums, products and quotients in every format and rounding direction.
//!
//! Round to nearest runs on the host's arithmetic, which is IEEE 754; the other directions and the narrow formats go
//! through a wider type in which the result is exact or rounded to odd, and are rounded once from there.
//!
//! What the PTX manual leaves open is as an H200 does it: NaN results have the canonical NaN's bits in every type but f64,
//! where a NaN operand's payload is kept; `.ftz` flushes what is tiny after rounding.

pub(crate) mod approx;
pub(crate) mod exact;
pub(crate) mod half;
pub(crate) mod order;
pub(crate) mod single;

use tile33_ptx::ast::{Opcode, Type};

use self::exact::{Format, Round};
use self::half::{Bf16, F16, Half, both};
use self::single::{SCALE, double, enter, leave, settle};
use super::form::Form;
use super::rows::{binary, rare, ternary};
use super::{Alu, Result, Unsupported};
use crate::registers::Slot;

/// Evaluates an expression with a constant `bool`.
macro_rules! by_flag {
    ($flag:expr, $name:ident => $body:expr) => {
        if $flag {
            const $name: bool = true;
            $body
        } else {
            const $name: bool = false;
            $body
        }
    };
}
pub(crate) use by_flag;

/// What may stand between an arithmetic opcode and its type.
#[derive(Clone, Copy)]
struct Modifiers {
    round: Option<Round>,
    ftz: bool,
    sat: bool,
    relu: bool,
}

impl Modifiers {
    fn take(form: &mut Form) -> Self {
        Self {
            round: form.choice(&["rn", "rz", "rm", "rp"]).and_then(Round::from_word),
            ftz: form.flag("ftz"),
            sat: form.flag("sat"),
            relu: form.flag("relu"),
        }
    }

    /// An f32 operand, flushed if so asked.
    fn enter(self, x: f32) -> f32 {
        if self.ftz { single::flush(x) } else { x }
    }

    /// An f32 result that is exact wherever it is tiny, flushed and saturated if so asked.
    fn leave(self, x: f32) -> f32 {
        let x = self.enter(x);
        if self.sat {
            single::saturate(x)
        } else {
            single::canonical(x)
        }
    }

    /// An f32 result; `scaled` is it times [`single::SCALE`].
    fn settle(self, x: f32, scaled: impl FnOnce() -> f32) -> f32 {
        let x = if self.ftz { single::flush_result(x, scaled) } else { x };
        if self.sat {
            single::saturate(x)
        } else {
            single::canonical(x)
        }
    }

    fn mul(self, a: f32, b: f32, round: Round) -> f32 {
        let (a, b) = (self.enter(a), self.enter(b));
        self.settle(single::mul(a, b, round), || single::mul(a * SCALE, b, round))
    }

    fn fma(self, a: f32, b: f32, c: f32, round: Round) -> f32 {
        let [a, b, c] = [a, b, c].map(|x| self.enter(x));
        self.settle(single::fma(a, b, c, round), || {
            single::fma(a * SCALE, b, c * SCALE, round)
        })
    }

    fn div(self, a: f32, b: f32, round: Round) -> f32 {
        let (a, b) = (self.enter(a), self.enter(b));
        self.settle(single::div(a, b, round), || single::div(a * SCALE, b, round))
    }

    /// Refuses what the type does not take.
    fn check(&self, ty: Type, ftz: bool, sat: bool, relu: bool, directed: bool) -> Result<()> {
        let refused = |what: &str| Err(Unsupported::because(format!("`.{what}` with type `.{ty}`")));
        if self.ftz && !ftz {
            return refused("ftz");
        }
        if self.sat && !sat {
            return refused("sat");
        }
        if self.relu && !relu {
            return refused("relu");
        }
        if !directed && self.round.is_some_and(|r| r != Round::Nearest) {
            return refused("rz, .rm or .rp");
        }
        Ok(())
    }
}

/// Whether `ty` is a floating-point type that arithmetic takes.
pub(crate) fn is_float(ty: Type) -> bool {
    use Type::{Bf16, Bf16x2, F16, F16x2, F32, F32x2, F64};
    matches!(ty, F16 | F16x2 | F32 | F64 | Bf16 | Bf16x2 | F32x2)
}

/// A function of f32 on both halves of 64-bit lanes.
#[inline(always)]
fn each2(a: u64, b: u64, c: u64, f: impl Fn(f32, f32, f32) -> f32) -> u64 {
    let half = |x: u64, i: u32| f32::from_bits((x >> (32 * i)) as u32);
    let of = |i| u64::from(f(half(a, i), half(b, i), half(c, i)).to_bits()) << (32 * i);
    of(0) | of(1)
}

/// `add`, `sub`.
pub(super) fn add(form: &mut Form) -> Result<Alu> {
    let m = Modifiers::take(form);
    let ty = form.ty()?;
    let narrow = form.ty_if_any();
    form.done(3)?;
    let round = m.round.unwrap_or(Round::Nearest);
    let sub = form.opcode == Opcode::Sub;
    if let Some(narrow) = narrow {
        return add_mixed(form, ty, narrow, m, sub);
    }
    let (d, a, b) = (form.dest(0, ty)?, form.source(1, ty)?, form.source(2, ty)?);
    // A difference is the sum with the sign of `b` flipped.
    let flip = if sub { 1u32 << 31 } else { 0 };
    let signed = move |b: f32| f32::from_bits(b.to_bits() ^ flip);
    Ok(match ty {
        Type::F32 => {
            m.check(ty, true, true, false, true)?;
            match (round, m.sat) {
                (Round::Nearest, false) => by_flag!(m.ftz, FTZ => binary(d, a, b, move |a: f32, b: f32| {
                    leave::<FTZ, false>(enter::<FTZ>(a) + enter::<FTZ>(signed(b)))
                })),
                _ => rare::binary(d, a, b, move |a: f32, b: f32| {
                    m.leave(single::add(m.enter(a), m.enter(signed(b)), round))
                }),
            }
        }
        Type::F64 => {
            m.check(ty, false, false, false, true)?;
            let flip = u64::from(flip) << 32;
            let signed = move |b: f64| f64::from_bits(b.to_bits() ^ flip);
            match round {
                Round::Nearest => binary(d, a, b, move |a: f64, b: f64| double::settle(a + signed(b), [b, a])),
                _ => rare::binary(d, a, b, move |a: f64, b: f64| {
                    double::settle(double::add(a, signed(b), round), [b, a])
                }),
            }
        }
        Type::F32x2 => {
            m.check(ty, true, false, false, true)?;
            match (round, m.ftz) {
                (Round::Nearest, false) => binary(d, a, b, move |a: u64, b: u64| {
                    each2(a, b, 0, |a, b, _| single::canonical(a + signed(b)))
                }),
                _ => rare::binary(d, a, b, move |a: u64, b: u64| {
                    each2(a, b, 0, |a, b, _| {
                        m.leave(single::add(m.enter(a), m.enter(signed(b)), round))
                    })
                }),
            }
        }
        _ => {
            let flip = (flip >> 16) as u16;
            by_half(
                form,
                ty,
                m,
                [d, a, b, b],
                move |a, b, _| half::add::<F16>(a, b ^ flip),
                move |a, b, _| half::add::<Bf16>(a, b ^ flip),
            )?
        }
    })
}

/// `add.f32.f16`: the first operand is widened, the rest is f32.
fn add_mixed(form: &mut Form, ty: Type, narrow: Type, m: Modifiers, sub: bool) -> Result<Alu> {
    if ty != Type::F32 {
        return form.bad_type(narrow);
    }
    m.check(ty, false, true, false, true)?;
    let round = m.round.unwrap_or(Round::Nearest);
    let (d, a, c) = (form.dest(0, ty)?, form.source(1, narrow)?, form.source(2, ty)?);
    let widen = widening(form, narrow)?;
    Ok(rare::binary(d, a, c, move |a: u16, c: f32| {
        let c = if sub { -c } else { c };
        m.leave(single::add(widen(a), c, round))
    }))
}

fn widening(form: &Form, ty: Type) -> Result<fn(u16) -> f32> {
    match ty {
        Type::F16 => Ok(F16::widen),
        Type::Bf16 => Ok(Bf16::widen),
        _ => form.bad_type(ty),
    }
}

/// `mul` of floats.
pub(super) fn mul(form: &mut Form) -> Result<Alu> {
    let m = Modifiers::take(form);
    let ty = form.ty()?;
    form.done(3)?;
    let round = m.round.unwrap_or(Round::Nearest);
    let (d, a, b) = (form.dest(0, ty)?, form.source(1, ty)?, form.source(2, ty)?);
    Ok(match ty {
        Type::F32 => {
            m.check(ty, true, true, false, true)?;
            match (round, m.sat) {
                (Round::Nearest, false) => by_flag!(m.ftz, FTZ => binary(d, a, b, |a: f32, b: f32| {
                    let (a, b) = (enter::<FTZ>(a), enter::<FTZ>(b));
                    settle::<FTZ, false>(a * b, || a * SCALE * b)
                })),
                _ => rare::binary(d, a, b, move |a: f32, b: f32| m.mul(a, b, round)),
            }
        }
        Type::F64 => {
            m.check(ty, false, false, false, true)?;
            match round {
                Round::Nearest => binary(d, a, b, |a: f64, b: f64| double::settle(a * b, [b, a])),
                _ => rare::binary(d, a, b, move |a: f64, b: f64| {
                    double::settle(double::mul(a, b, round), [b, a])
                }),
            }
        }
        Type::F32x2 => {
            m.check(ty, true, false, false, true)?;
            match (round, m.ftz) {
                (Round::Nearest, false) => binary(d, a, b, |a: u64, b: u64| {
                    each2(a, b, 0, |a, b, _| single::canonical(a * b))
                }),
                _ => rare::binary(d, a, b, move |a: u64, b: u64| {
                    each2(a, b, 0, |a, b, _| m.mul(a, b, round))
                }),
            }
        }
        _ => by_half(
            form,
            ty,
            m,
            [d, a, b, b],
            |a, b, _| half::mul::<F16>(a, b),
            |a, b, _| half::mul::<Bf16>(a, b),
        )?,
    })
}

/// `fma`, and `mad` of floats, which is the same.
pub(super) fn fma(form: &mut Form) -> Result<Alu> {
    let m = Modifiers::take(form);
    let ty = form.ty()?;
    let narrow = form.ty_if_any();
    form.done(4)?;
    let Some(round) = m.round else {
        return Err(Unsupported::because(
            "it names no rounding, which only targets before sm_20 allow",
        ));
    };
    if let Some(narrow) = narrow {
        return fma_mixed(form, ty, narrow, m, round);
    }
    let d = form.dest(0, ty)?;
    let abc = [form.source(1, ty)?, form.source(2, ty)?, form.source(3, ty)?];
    Ok(match ty {
        Type::F32 => {
            m.check(ty, true, true, false, true)?;
            match (round, m.sat) {
                (Round::Nearest, sat) => by_flag!(m.ftz, FTZ => by_flag!(sat, SAT => {
                    ternary(d, abc, |a: f32, b: f32, c: f32| {
                        let [a, b, c] = [a, b, c].map(enter::<FTZ>);
                        settle::<FTZ, SAT>(a.mul_add(b, c), || (a * SCALE).mul_add(b, c * SCALE))
                    })
                })),
                // `expf` as nvcc compiles it has one of these.
                (Round::Down, false) => by_flag!(m.ftz, FTZ => ternary(d, abc, |a: f32, b: f32, c: f32| {
                    let [a, b, c] = [a, b, c].map(enter::<FTZ>);
                    let scaled = || single::fma(a * SCALE, b, c * SCALE, Round::Down);
                    settle::<FTZ, false>(single::fma(a, b, c, Round::Down), scaled)
                })),
                _ => rare::ternary(d, abc, move |a: f32, b: f32, c: f32| m.fma(a, b, c, round)),
            }
        }
        Type::F64 => {
            m.check(ty, false, false, false, true)?;
            match round {
                Round::Nearest => ternary(d, abc, |a: f64, b: f64, c: f64| {
                    double::settle(a.mul_add(b, c), [b, c, a])
                }),
                _ => rare::ternary(d, abc, move |a: f64, b: f64, c: f64| {
                    double::settle(double::fma(a, b, c, round), [b, c, a])
                }),
            }
        }
        Type::F32x2 => {
            m.check(ty, true, false, false, true)?;
            match (round, m.ftz) {
                (Round::Nearest, false) => ternary(d, abc, |a: u64, b: u64, c: u64| {
                    each2(a, b, c, |a, b, c| single::canonical(a.mul_add(b, c)))
                }),
                _ => rare::ternary(d, abc, move |a: u64, b: u64, c: u64| {
                    each2(a, b, c, |a, b, c| m.fma(a, b, c, round))
                }),
            }
        }
        _ => by_half(
            form,
            ty,
            m,
            [d, abc[0], abc[1], abc[2]],
            half::fma::<F16>,
            half::fma::<Bf16>,
        )?,
    })
}

/// `fma.rn.f32.f16`: the factors are widened.
fn fma_mixed(form: &mut Form, ty: Type, narrow: Type, m: Modifiers, round: Round) -> Result<Alu> {
    if ty != Type::F32 {
        return form.bad_type(narrow);
    }
    m.check(ty, false, true, false, true)?;
    let d = form.dest(0, ty)?;
    let abc = [form.source(1, narrow)?, form.source(2, narrow)?, form.source(3, ty)?];
    let widen = widening(form, narrow)?;
    Ok(rare::ternary(d, abc, move |a: u16, b: u16, c: f32| {
        m.fma(widen(a), widen(b), c, round)
    }))
}

/// The 16-bit types, alone and in pairs, of an operation that is to nearest only and given as an f32 rounded to odd.
fn by_half(
    form: &Form,
    ty: Type,
    m: Modifiers,
    [d, a, b, c]: [Slot; 4],
    f16: impl Fn(u16, u16, u16) -> f32 + Copy + Send + Sync + 'static,
    bf16: impl Fn(u16, u16, u16) -> f32 + Copy + Send + Sync + 'static,
) -> Result<Alu> {
    fn finished<H: Half>(
        f: impl Fn(u16, u16, u16) -> f32 + Copy + Send + Sync + 'static,
        m: Modifiers,
        pair: bool,
        d: Slot,
        abc: [Slot; 3],
    ) -> Alu {
        if !(m.ftz || m.sat || m.relu) {
            return half_lanes(pair, d, abc, move |a, b, c| H::narrow(f(a, b, c)));
        }
        rare_half_lanes(pair, d, abc, move |a, b, c| {
            let flush = |x| if m.ftz { H::flush(x) } else { x };
            let exact = f(flush(a), flush(b), flush(c));
            let y = if m.ftz {
                half::narrow_and_flush::<H>(exact)
            } else {
                H::narrow(exact)
            };
            match (m.sat, m.relu) {
                (true, _) => half::saturate::<H>(y),
                (_, true) => half::relu::<H>(y),
                _ => y,
            }
        })
    }
    let fused = matches!(form.opcode, Opcode::Fma);
    if m.sat && m.relu {
        return Err(Unsupported::because("`.sat` and `.relu` together"));
    }
    match ty {
        Type::F16 | Type::F16x2 => {
            m.check(ty, true, true, fused, false)?;
            Ok(finished::<F16>(f16, m, ty == Type::F16x2, d, [a, b, c]))
        }
        Type::Bf16 | Type::Bf16x2 => {
            m.check(ty, false, false, fused, false)?;
            Ok(finished::<Bf16>(bf16, m, ty == Type::Bf16x2, d, [a, b, c]))
        }
        _ => form.bad_type(ty),
    }
}

/// A function of halves over lanes that hold one or two of them.
fn half_lanes(
    pair: bool,
    d: Slot,
    abc: [Slot; 3],
    f: impl Fn(u16, u16, u16) -> u16 + Copy + Send + Sync + 'static,
) -> Alu {
    if pair {
        ternary(d, abc, move |a: u32, b: u32, c: u32| both(a, b, c, f))
    } else {
        ternary(d, abc, f)
    }
}

/// The same, not vectorised.
fn rare_half_lanes(
    pair: bool,
    d: Slot,
    abc: [Slot; 3],
    f: impl Fn(u16, u16, u16) -> u16 + Copy + Send + Sync + 'static,
) -> Alu {
    if pair {
        rare::ternary(d, abc, move |a: u32, b: u32, c: u32| both(a, b, c, f))
    } else {
        rare::ternary(d, abc, f)
    }
}

/// `div` of floats. `.approx` and `.full` give the quotient rounded to nearest, which is within their bounds.
pub(super) fn div(form: &mut Form) -> Result<Alu> {
    let loose = form.choice(&["approx", "full"]);
    let m = Modifiers::take(form);
    let ty = form.ty()?;
    form.done(3)?;
    let round = match (loose, m.round) {
        (Some(_), None) if ty == Type::F32 => Round::Nearest,
        (None, Some(round)) => round,
        _ => {
            return Err(Unsupported::because(
                "a float division needs `.approx`, `.full` or a rounding mode",
            ));
        }
    };
    let (d, a, b) = (form.dest(0, ty)?, form.source(1, ty)?, form.source(2, ty)?);
    let coarse = loose == Some("approx");
    Ok(match (ty, round) {
        (Type::F32, Round::Nearest) => {
            m.check(ty, true, false, false, true)?;
            by_flag!(m.ftz, FTZ => by_flag!(coarse, COARSE => binary(d, a, b, |a: f32, b: f32| {
                let (a, b) = (enter::<FTZ>(a), enter::<FTZ>(b));
                // `div.approx` multiplies by a reciprocal, which is flushed for divisors this large.
                let lost = COARSE && b.abs() > f32::from_bits((126 + 127) << 23) && b.is_finite();
                let q = if lost { a * 0.0f32.copysign(b) } else { a / b };
                settle::<FTZ, false>(q, || a * SCALE / b)
            })))
        }
        (Type::F32, _) => {
            m.check(ty, true, false, false, true)?;
            rare::binary(d, a, b, move |a: f32, b: f32| m.div(a, b, round))
        }
        (Type::F64, _) => {
            m.check(ty, false, false, false, true)?;
            match round {
                Round::Nearest => binary(d, a, b, |a: f64, b: f64| double::settle(a / b, [a, b])),
                _ => rare::binary(d, a, b, move |a: f64, b: f64| {
                    double::settle(double::div(a, b, round), [a, b])
                }),
            }
        }
        _ => return form.bad_type(ty),
    })
}
