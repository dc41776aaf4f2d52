//! f32 and f64 lanes: flushing, saturation, canonical NaNs, and sums and products rounded in any direction.

use super::exact::{Format, Round};

/// The NaN that f32 arithmetic makes.
pub(crate) const NAN: f32 = f32::from_bits(0x7fff_ffff);

/// Replaces any NaN by [`NAN`]. On bits: to the compiler one NaN is as good as another, and it drops a selection between
/// two.
#[inline(always)]
pub(crate) fn canonical(x: f32) -> f32 {
    let bits = x.to_bits();
    f32::from_bits(if bits & 0x7fff_ffff > 0x7f80_0000 {
        NAN.to_bits()
    } else {
        bits
    })
}

/// A subnormal becomes a zero of its sign.
#[inline(always)]
pub(crate) fn flush(x: f32) -> f32 {
    let bits = x.to_bits();
    f32::from_bits(if bits & 0x7f80_0000 == 0 {
        bits & 0x8000_0000
    } else {
        bits
    })
}

/// `flush` if `FTZ`.
#[inline(always)]
pub(crate) fn enter<const FTZ: bool>(x: f32) -> f32 {
    if FTZ { flush(x) } else { x }
}

/// What happens to an f32 result that is exact wherever it is tiny: a sum's, say.
#[inline(always)]
pub(crate) fn leave<const FTZ: bool, const SAT: bool>(x: f32) -> f32 {
    let x = enter::<FTZ>(x);
    if SAT { saturate(x) } else { canonical(x) }
}

/// A power of two out of the subnormals' way: results are computed times it too, to see how they round without bounds.
pub(crate) const SCALE: f32 = 16_777_216.0;

/// What happens to every f32 result. A result is flushed if it is below the normal range when rounded as though the
/// exponent had no bounds: one that subnormals' coarser places would round up into that range is lost too. `scaled` is the
/// result times [`SCALE`], rounded in the same direction.
#[inline(always)]
pub(crate) fn settle<const FTZ: bool, const SAT: bool>(x: f32, scaled: impl FnOnce() -> f32) -> f32 {
    let x = if FTZ { flush_result(x, scaled) } else { x };
    if SAT { saturate(x) } else { canonical(x) }
}

/// The flushing of [`settle`].
#[inline(always)]
pub(crate) fn flush_result(x: f32, scaled: impl FnOnce() -> f32) -> f32 {
    let lost = (x.abs() == f32::MIN_POSITIVE) & (scaled().abs() < f32::MIN_POSITIVE * SCALE);
    f32::from_bits(if lost {
        x.to_bits() & 1 << 31
    } else {
        flush(x).to_bits()
    })
}

/// Clamped to [0, 1]; NaN becomes +0.
#[inline(always)]
pub(crate) fn saturate(x: f32) -> f32 {
    if x > 0.0 { if x > 1.0 { 1.0 } else { x } } else { 0.0 }
}

/// `p + c` rounded to odd: exact if possible, else whichever neighbour has its last bit set. Rounding that to a format of
/// at most 51 bits, in any direction, is the same as rounding the exact sum. An exact zero gets the sign of `round`.
#[inline(always)]
pub(crate) fn sum_to_odd(p: f64, c: f64, round: Round) -> f64 {
    let s = p + c;
    let c_part = s - p;
    let error = (p - (s - c_part)) + (c - c_part);
    let bits = s.to_bits();
    // The error of an infinite or NaN sum is NaN, and both comparisons are false.
    let inexact = (error > 0.0) | (error < 0.0);
    let outward = (error > 0.0) == (s > 0.0);
    let odd = if outward {
        bits.wrapping_add(1)
    } else {
        bits.wrapping_sub(1)
    };
    let s = if inexact & (bits & 1 == 0) {
        f64::from_bits(odd)
    } else {
        s
    };
    if round == Round::Down && s == 0.0 && (p.is_sign_negative() | c.is_sign_negative()) {
        -0.0
    } else {
        s
    }
}

/// `x` as f32 in any rounding mode.
#[inline(always)]
pub(crate) fn narrow(x: f64, round: Round) -> f32 {
    let y = x as f32;
    let back = f64::from(y);
    let bits = y.to_bits();
    // One step of the magnitude towards or away from zero; 1 from zero itself is the smallest subnormal.
    let (inner, outer) = (
        f32::from_bits(bits.wrapping_sub(1)),
        f32::from_bits(bits.wrapping_add(1)),
    );
    let negative = x.is_sign_negative();
    match round {
        Round::Nearest => y,
        Round::Away => {
            // To nearest differs only in a tie that went to an even neighbour nearer to zero.
            let tie = (f64::from(outer) - x) == (x - back);
            if tie && back.abs() < x.abs() { outer } else { y }
        }
        Round::Zero => {
            if back.abs() > x.abs() {
                inner
            } else {
                y
            }
        }
        Round::Down => {
            if back > x {
                if negative { outer } else { inner }
            } else {
                y
            }
        }
        Round::Up => {
            if back < x {
                if negative { inner } else { outer }
            } else {
                y
            }
        }
    }
}

/// `x` as f32, rounded to odd.
#[inline(always)]
pub(crate) fn narrow_to_odd(x: f64) -> f32 {
    let y = narrow(x, Round::Zero);
    if f64::from(y) != x && !x.is_nan() {
        f32::from_bits(y.to_bits() | 1)
    } else {
        y
    }
}

/// `a + b`
#[inline(always)]
pub(crate) fn add(a: f32, b: f32, round: Round) -> f32 {
    match round {
        Round::Nearest => a + b,
        _ => narrow(sum_to_odd(a.into(), b.into(), round), round),
    }
}

/// `a * b`
#[inline(always)]
pub(crate) fn mul(a: f32, b: f32, round: Round) -> f32 {
    match round {
        Round::Nearest => a * b,
        // 48 bits at most: exact.
        _ => narrow(f64::from(a) * f64::from(b), round),
    }
}

/// `a * b + c`, rounded once.
#[inline(always)]
pub(crate) fn fma(a: f32, b: f32, c: f32, round: Round) -> f32 {
    match round {
        Round::Nearest => a.mul_add(b, c),
        _ => narrow(sum_to_odd(f64::from(a) * f64::from(b), c.into(), round), round),
    }
}

/// `a / b`
#[inline(always)]
pub(crate) fn div(a: f32, b: f32, round: Round) -> f32 {
    match round {
        Round::Nearest => a / b,
        _ => f32::from_bits(Format::F32.div(a.to_bits().into(), b.to_bits().into(), round) as u32),
    }
}

/// The square root.
#[inline(always)]
pub(crate) fn sqrt(a: f32, round: Round) -> f32 {
    match round {
        Round::Nearest => a.sqrt(),
        _ => f32::from_bits(Format::F32.sqrt(a.to_bits().into(), round) as u32),
    }
}

/// f64 operations: to nearest on the host, the rest exactly.
pub(crate) mod double {
    use super::{Format, Round};

    /// The NaN that f64 arithmetic makes of operands that are none.
    pub(crate) const NAN: u64 = 0xfff8_0000_0000_0000;

    /// The bit that makes a NaN a quiet one.
    pub(crate) const QUIET: u64 = 1 << 51;

    /// Whether bits are a NaN's.
    #[inline(always)]
    pub(crate) fn is_nan(bits: u64) -> bool {
        bits & !(1 << 63) > 0x7ff0_0000_0000_0000
    }

    /// `result`; if it is a NaN, the first NaN of `operands` made quiet, or [`NAN`] if none of them is one. Unlike f32
    /// results, f64 ones keep an operand's payload and sign.
    #[inline(always)]
    pub(crate) fn settle<const N: usize>(result: f64, operands: [f64; N]) -> f64 {
        let bits = result.to_bits();
        let mut bits = if is_nan(bits) { NAN } else { bits };
        for operand in operands.into_iter().rev() {
            let operand = operand.to_bits();
            bits = if is_nan(operand) { operand | QUIET } else { bits };
        }
        f64::from_bits(bits)
    }

    #[inline(always)]
    pub(crate) fn add(a: f64, b: f64, round: Round) -> f64 {
        match round {
            Round::Nearest => a + b,
            _ => f64::from_bits(Format::F64.add(a.to_bits(), b.to_bits(), round)),
        }
    }

    #[inline(always)]
    pub(crate) fn mul(a: f64, b: f64, round: Round) -> f64 {
        match round {
            Round::Nearest => a * b,
            _ => f64::from_bits(Format::F64.mul(a.to_bits(), b.to_bits(), round)),
        }
    }

    #[inline(always)]
    pub(crate) fn fma(a: f64, b: f64, c: f64, round: Round) -> f64 {
        match round {
            Round::Nearest => a.mul_add(b, c),
            _ => f64::from_bits(Format::F64.fma(a.to_bits(), b.to_bits(), c.to_bits(), round)),
        }
    }

    #[inline(always)]
    pub(crate) fn div(a: f64, b: f64, round: Round) -> f64 {
        match round {
            Round::Nearest => a / b,
            _ => f64::from_bits(Format::F64.div(a.to_bits(), b.to_bits(), round)),
        }
    }

    #[inline(always)]
    pub(crate) fn sqrt(a: f64, round: Round) -> f64 {
        match round {
            Round::Nearest => a.sqrt(),
            _ => f64::from_bits(Format::F64.sqrt(a.to_bits(), round)),
        }
    }
}
