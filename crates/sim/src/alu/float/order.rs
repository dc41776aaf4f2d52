//! `min`, `max`, `abs`, `neg` and `copysign` of floats: what works on signs and magnitudes.

use tile33_ptx::ast::{Opcode, Type};

use super::half::{Bf16, F16, Half};
use super::single;
use super::single::{double, enter};
use super::{by_flag, half_lanes, rare_half_lanes};
use crate::alu::form::Form;
use crate::alu::rows::{binary, rare, unary};
use crate::alu::{Alu, Result, Unsupported};

/// A format's bits, ordered: -0 is less than +0.
trait Ordered: Copy {
    fn nan(self) -> bool;
    fn less(self, other: Self) -> bool;
    /// What two NaNs give.
    fn canonical(a: Self, b: Self) -> Self;
    fn magnitude(self) -> Self;
    /// `self` with the exclusive or of the two signs.
    fn sign_of(self, a: Self, b: Self) -> Self;
}

macro_rules! ordered {
    ($name:ident, $bits:ty, $signed:ty, $infinity:expr, $two_nans:expr) => {
        #[derive(Clone, Copy)]
        struct $name($bits);
        impl Ordered for $name {
            #[inline(always)]
            fn nan(self) -> bool {
                self.0 << 1 > $infinity << 1
            }
            #[inline(always)]
            fn less(self, other: Self) -> bool {
                let key = |x: $bits| {
                    let x = x as $signed;
                    x ^ ((x >> (<$bits>::BITS - 1)) as $bits >> 1) as $signed
                };
                key(self.0) < key(other.0)
            }
            #[inline(always)]
            fn canonical(a: Self, b: Self) -> Self {
                Self($two_nans(a.0, b.0))
            }
            #[inline(always)]
            fn magnitude(self) -> Self {
                Self(self.0 << 1 >> 1)
            }
            #[inline(always)]
            fn sign_of(self, a: Self, b: Self) -> Self {
                let sign = 1 << (<$bits>::BITS - 1);
                Self(self.0 & !sign | (a.0 ^ b.0) & sign)
            }
        }
    };
}

ordered!(Bits16, u16, i16, 0x7c00u16, |_, _| super::half::NAN);
ordered!(BitsB16, u16, i16, 0x7f80u16, |_, _| super::half::NAN);
ordered!(Bits32, u32, i32, 0x7f80_0000u32, |_, _| single::NAN.to_bits());
ordered!(Bits64, u64, i64, 0x7ff0_0000_0000_0000u64, |_, b| b | double::QUIET);

/// The lesser or greater; of a NaN and a number the number, unless NaNs win; of two NaNs the canonical one,
/// in f64 the second.
#[inline(always)]
fn extreme<T: Ordered>(a: T, b: T, max: bool, nan: bool) -> T {
    let first = if max { b.less(a) } else { a.less(b) };
    let r = if first { a } else { b };
    let r = if a.nan() {
        b
    } else if b.nan() {
        a
    } else {
        r
    };
    let poisoned = if nan { a.nan() | b.nan() } else { a.nan() & b.nan() };
    if poisoned { T::canonical(a, b) } else { r }
}

/// The same on magnitudes, with the exclusive or of both signs.
#[inline(always)]
fn extreme_abs<T: Ordered>(a: T, b: T, max: bool, nan: bool) -> T {
    let r = extreme(a.magnitude(), b.magnitude(), max, nan);
    if r.nan() { r } else { r.sign_of(a, b) }
}

/// `min`, `max` of floats, of two operands or, in f32, three.
pub(crate) fn min_max(form: &mut Form) -> Result<Alu> {
    let ftz = form.flag("ftz");
    let nan = form.flag("NaN");
    let xorsign = form.flag("xorsign");
    if xorsign && !form.flag("abs") {
        return Err(Unsupported::because("`.xorsign` without `.abs`"));
    }
    let three = form.operands.len() == 4;
    let magnitudes = three && form.flag("abs");
    let ty = form.ty()?;
    form.done(if three { 4 } else { 3 })?;
    let max = form.opcode == Opcode::Max;
    let (d, a, b) = (form.dest(0, ty)?, form.source(1, ty)?, form.source(2, ty)?);
    if three && (ty != Type::F32 || xorsign) {
        return Err(Unsupported::because(
            "three operands are taken by type `.f32` alone, without `.xorsign`",
        ));
    }
    Ok(match ty {
        Type::F32 if three => {
            let c = form.source(3, ty)?;
            rare::ternary(d, [a, b, c], move |a: f32, b: f32, c: f32| {
                let [a, b, c] = [a, b, c].map(|x| {
                    let x = Bits32(if ftz { single::flush(x) } else { x }.to_bits());
                    if magnitudes { x.magnitude() } else { x }
                });
                extreme(extreme(a, b, max, nan), c, max, nan).0
            })
        }
        Type::F32 if xorsign => rare::binary(d, a, b, move |a: f32, b: f32| {
            let [a, b] = [a, b].map(|x| Bits32(if ftz { single::flush(x) } else { x }.to_bits()));
            extreme_abs(a, b, max, nan).0
        }),
        Type::F32 => by_flag!(max, MAX => by_flag!(nan, NAN => by_flag!(ftz, FTZ => binary(d, a, b, |a: f32, b: f32| {
            let [a, b] = [a, b].map(|x| Bits32(enter::<FTZ>(x).to_bits()));
            extreme(a, b, MAX, NAN).0
        })))),
        Type::F64 if !ftz && !nan && !xorsign => {
            by_flag!(max, MAX => binary(d, a, b, |a: u64, b: u64| extreme(Bits64(a), Bits64(b), MAX, false).0))
        }
        Type::F16 | Type::F16x2 if !(nan || ftz || xorsign) => by_flag!(max, MAX => {
            half_lanes(ty == Type::F16x2, d, [a, b, b], |a, b, _| extreme(Bits16(a), Bits16(b), MAX, false).0)
        }),
        Type::F16 | Type::F16x2 => rare_half_lanes(ty == Type::F16x2, d, [a, b, b], move |a, b, _| {
            let [a, b] = [a, b].map(|x| Bits16(if ftz { F16::flush(x) } else { x }));
            if xorsign {
                extreme_abs(a, b, max, nan).0
            } else {
                extreme(a, b, max, nan).0
            }
        }),
        Type::Bf16 | Type::Bf16x2 if !ftz => rare_half_lanes(ty == Type::Bf16x2, d, [a, b, b], move |a, b, _| {
            let [a, b] = [a, b].map(BitsB16);
            if xorsign {
                extreme_abs(a, b, max, nan).0
            } else {
                extreme(a, b, max, nan).0
            }
        }),
        _ => return form.bad_type(ty),
    })
}

/// `abs`, `neg` of floats: signs only, but a NaN of 32 or 16 bits becomes the canonical one, as in any arithmetic.
pub(crate) fn sign(form: &mut Form) -> Result<Alu> {
    let ftz = form.flag("ftz");
    let ty = form.ty()?;
    form.done(2)?;
    let neg = form.opcode == Opcode::Neg;
    let (d, a) = (form.dest(0, ty)?, form.source(1, ty)?);
    // Negation flips the sign, the absolute value clears it.
    let (keep, flip) = if neg { (u32::MAX, 1 << 31) } else { (u32::MAX >> 1, 0) };
    Ok(match ty {
        Type::F32 => by_flag!(ftz, FTZ => unary(d, a, move |a: f32| {
            single::canonical(f32::from_bits(enter::<FTZ>(a).to_bits() & keep ^ flip))
        })),
        Type::F64 if !ftz => {
            let (keep, flip) = (u64::from(keep) << 32 | 0xffff_ffff, u64::from(flip) << 32);
            // A NaN keeps its sign.
            unary(d, a, move |a: u64| {
                if double::is_nan(a) {
                    a | double::QUIET
                } else {
                    a & keep ^ flip
                }
            })
        }
        Type::F16 | Type::F16x2 => {
            let (keep, flip) = ((keep >> 16) as u16, (flip >> 16) as u16);
            if ftz {
                rare_half_lanes(ty == Type::F16x2, d, [a; 3], move |a, _, _| {
                    half_sign::<F16>(F16::flush(a), keep, flip)
                })
            } else {
                half_lanes(ty == Type::F16x2, d, [a; 3], move |a, _, _| {
                    half_sign::<F16>(a, keep, flip)
                })
            }
        }
        Type::Bf16 | Type::Bf16x2 if !ftz => {
            let (keep, flip) = ((keep >> 16) as u16, (flip >> 16) as u16);
            half_lanes(ty == Type::Bf16x2, d, [a; 3], move |a, _, _| {
                half_sign::<Bf16>(a, keep, flip)
            })
        }
        _ => return form.bad_type(ty),
    })
}

#[inline(always)]
fn half_sign<H: Half>(a: u16, keep: u16, flip: u16) -> u16 {
    if H::is_nan(a) {
        super::half::NAN
    } else {
        a & keep ^ flip
    }
}

/// `copysign d, a, b`: the magnitude of `b` with the sign of `a`.
pub(crate) fn copysign(form: &mut Form) -> Result<Alu> {
    let ty = form.ty()?;
    form.done(3)?;
    let (d, a, b) = (form.dest(0, ty)?, form.source(1, ty)?, form.source(2, ty)?);
    Ok(match ty {
        Type::F32 => binary(d, a, b, |a: u32, b: u32| a & 1 << 31 | b & !(1 << 31)),
        Type::F64 => binary(d, a, b, |a: u64, b: u64| a & 1 << 63 | b & !(1 << 63)),
        _ => return form.bad_type(ty),
    })
}
