//! `cvt` to and from packed formats: two f32 as f16x2, bf16x2 or 8-bit floats, tf32, and `cvt.pack` of integers.

use tile33_ptx::ast::Type;

use super::super::float::exact::{Format, Round};
use super::super::float::half::{Bf16, F16, Half};
use super::super::float::single;
use super::super::form::Form;
use super::super::rows::{binary, rare};
use super::super::{Alu, Result, Unsupported};
use super::{Modifiers, finite, relu};

/// One f32 as a half.
#[inline(always)]
pub(super) fn half_of<H: Half>(x: f32, round: Round, with_relu: bool, satfinite: bool) -> u16 {
    let y = match round {
        Round::Nearest => H::narrow(x),
        _ => H::FORMAT.pack(Format::F32.unpack(x.to_bits().into()), round) as u16,
    };
    let y = if satfinite {
        finite(H::FORMAT, y.into()) as u16
    } else {
        y
    };
    if with_relu { relu::<H>(y) } else { y }
}

/// One f32 as an 8-bit float, saturated.
#[inline(always)]
fn byte_of(format: Format, x: f32, with_relu: bool) -> u8 {
    let nan = x.is_nan();
    let y = format.pack(Format::F32.unpack(x.to_bits().into()), Round::Nearest);
    if nan {
        return format.nan() as u8;
    }
    // What overflowed became infinity in e5m2 and, for want of one, the NaN in e4m3.
    let magnitude = y & 0x7f;
    let y = if magnitude >= format.infinity(false) {
        format.largest(x < 0.0)
    } else {
        y
    };
    if with_relu && x.is_sign_negative() { 0 } else { y as u8 }
}

/// The bits of an f32 that tf32 has.
const TF32: u32 = !0x1fff;

/// `cvt.rna.tf32`. An H200 does it as integer arithmetic on the bits, which shows in what it makes of NaNs: a payload that
/// stands in the lost bits only leaves an infinity, and `.satfinite` takes NaNs for numbers that are too large.
fn rounded_away(bits: u32, satfinite: bool) -> u32 {
    const INFINITY: u32 = 0x7f80_0000;
    let special = bits & INFINITY == INFINITY;
    let y = if special { bits & TF32 } else { (bits + 0x1000) & TF32 };
    if satfinite && y & INFINITY == INFINITY {
        y - 0x2000
    } else {
        y
    }
}

fn byte_format(ty: Type) -> Option<Format> {
    match ty {
        Type::E4m3x2 => Some(Format::E4M3),
        Type::E5m2x2 => Some(Format::E5M2),
        _ => None,
    }
}

/// Every conversion with a type that [`super::Real`] and [`super::Integer`] do not have.
pub(super) fn floats(form: &mut Form, m: Modifiers, to: Type, from: Type) -> Result<Alu> {
    m.only_round()?;
    let round = m.round;
    let nearest = || match round {
        Some(Round::Nearest) => Ok(()),
        _ => Err(Unsupported::because("it needs `.rn`")),
    };
    match (to, from) {
        (Type::F16x2 | Type::Bf16x2, Type::F32) => {
            let Some(round @ (Round::Nearest | Round::Zero)) = round else {
                return Err(Unsupported::because("it needs `.rn` or `.rz`"));
            };
            form.done(3)?;
            let (d, a, b) = (form.dest(0, to)?, form.source(1, from)?, form.source(2, from)?);
            let (with_relu, satfinite) = (m.relu, m.satfinite);
            let two = |a: u16, b: u16| u32::from(a) << 16 | u32::from(b);
            let plain = round == Round::Nearest && !with_relu && !satfinite;
            Ok(match (to, plain) {
                (Type::F16x2, true) => binary(d, a, b, move |a: f32, b: f32| two(F16::narrow(a), F16::narrow(b))),
                (_, true) => binary(d, a, b, move |a: f32, b: f32| two(Bf16::narrow(a), Bf16::narrow(b))),
                (Type::F16x2, false) => rare::binary(d, a, b, move |a: f32, b: f32| {
                    let half = |x| half_of::<F16>(x, round, with_relu, satfinite);
                    two(half(a), half(b))
                }),
                (_, false) => rare::binary(d, a, b, move |a: f32, b: f32| {
                    let half = |x| half_of::<Bf16>(x, round, with_relu, satfinite);
                    two(half(a), half(b))
                }),
            })
        }
        (Type::Tf32, Type::F32) => {
            let Some(round @ (Round::Nearest | Round::Zero | Round::Away)) = round else {
                return Err(Unsupported::because("it needs `.rna`, `.rn` or `.rz`"));
            };
            if m.relu && round == Round::Away {
                return Err(Unsupported::because("`.relu` with `.rna`"));
            }
            form.done(2)?;
            let (d, a) = (form.dest(0, Type::B32)?, form.source(1, from)?);
            Ok(rare::unary(d, a, move |x: f32| {
                let bits = x.to_bits();
                if round == Round::Away {
                    return rounded_away(bits, m.satfinite);
                }
                if x.is_nan() {
                    return single::NAN.to_bits() & TF32;
                }
                let y = Format::TF32.pack(Format::F32.unpack(bits.into()), round);
                let y = if m.satfinite { finite(Format::TF32, y) } else { y };
                if m.relu && x.is_sign_negative() {
                    0
                } else {
                    (y as u32) << 13
                }
            }))
        }
        (Type::E4m3x2 | Type::E5m2x2, Type::F32 | Type::F16x2) => {
            nearest()?;
            if !m.satfinite {
                return Err(Unsupported::because("it needs `.satfinite`"));
            }
            let Some(format) = byte_format(to) else {
                return form.bad_type(to);
            };
            let with_relu = m.relu;
            let two = move |high: f32, low: f32| {
                u16::from(byte_of(format, high, with_relu)) << 8 | u16::from(byte_of(format, low, with_relu))
            };
            if from == Type::F32 {
                form.done(3)?;
                let (d, a, b) = (form.dest(0, Type::B16)?, form.source(1, from)?, form.source(2, from)?);
                return Ok(rare::binary(d, a, b, two));
            }
            form.done(2)?;
            let (d, a) = (form.dest(0, Type::B16)?, form.source(1, from)?);
            Ok(rare::unary(d, a, move |a: u32| {
                two(F16::widen((a >> 16) as u16), F16::widen(a as u16))
            }))
        }
        (Type::F16x2, Type::E4m3x2 | Type::E5m2x2) => {
            nearest()?;
            if m.satfinite {
                return Err(Unsupported::because("`.satfinite` with these types"));
            }
            let Some(format) = byte_format(from) else {
                return form.bad_type(from);
            };
            form.done(2)?;
            let (d, a) = (form.dest(0, to)?, form.source(1, Type::B16)?);
            let with_relu = m.relu;
            Ok(rare::unary(d, a, move |a: u16| {
                // Every 8-bit float is an f16.
                let half = |x: u16| {
                    let y = Format::F16.pack(format.unpack(u64::from(x & 0xff)), Round::Nearest) as u16;
                    u32::from(if with_relu { relu::<F16>(y) } else { y })
                };
                half(a >> 8) << 16 | half(a)
            }))
        }
        _ => Err(Unsupported::because(format!("a conversion from `.{from}` to `.{to}`"))),
    }
}

/// `cvt.pack.sat`: two s32 saturated into the low end of the result, the rest from `c` shifted up.
pub(super) fn integers(form: &mut Form) -> Result<Alu> {
    let sat = form.flag("sat");
    let (to, from) = (form.ty()?, form.ty()?);
    let with_c = form.ty_if_any();
    form.done(if with_c.is_some() { 4 } else { 3 })?;
    if !sat {
        return Err(Unsupported::because("it needs `.sat`"));
    }
    if from != Type::S32 || with_c.is_some_and(|ty| ty != Type::B32) {
        return form.bad_type(from);
    }
    let (bits, signed) = match to {
        Type::U16 => (16, false),
        Type::S16 => (16, true),
        Type::U8 => (8, false),
        Type::S8 => (8, true),
        Type::U4 => (4, false),
        Type::S4 => (4, true),
        Type::U2 => (2, false),
        Type::S2 => (2, true),
        _ => return form.bad_type(to),
    };
    if (bits == 16) != with_c.is_none() {
        return Err(Unsupported::because(
            "a third operand is for results narrower than 16 bits, and needed there",
        ));
    }
    let (low, high) = if signed {
        (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    } else {
        (0, (1 << bits) - 1)
    };
    let mask = (1u32 << bits) - 1;
    let two = move |a: i32, b: i32| (a.clamp(low, high) as u32 & mask) << bits | (b.clamp(low, high) as u32 & mask);
    let d = form.dest(0, Type::B32)?;
    let (a, b) = (form.source(1, from)?, form.source(2, from)?);
    if with_c.is_none() {
        return Ok(rare::binary(d, a, b, two));
    }
    let c = form.source(3, Type::B32)?;
    Ok(rare::ternary(d, [a, b, c], move |a: i32, b: i32, c: u32| {
        c << (2 * bits) | two(a, b)
    }))
}
