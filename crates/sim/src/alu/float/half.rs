//! f16 and bf16 lanes. A half travels as its 16 bits; what is computed is computed wider and rounded once.

use super::single::{narrow_to_odd, sum_to_odd};
use super::{Format, Round};

/// The NaN that arithmetic makes, in both formats.
pub(crate) const NAN: u16 = 0x7fff;

/// One of the two 16-bit formats.
pub(crate) trait Half: Copy + Send + Sync + 'static {
    /// For what is computed exactly.
    const FORMAT: Format;
    /// Exact.
    fn widen(bits: u16) -> f32;
    /// Rounded to nearest even; a NaN becomes [`NAN`]. Right also for an `x` that was rounded to odd.
    fn narrow(x: f32) -> u16;

    #[inline(always)]
    fn is_nan(bits: u16) -> bool {
        bits & 0x7fff > Self::FORMAT.infinity(false) as u16
    }

    /// A subnormal becomes a zero of its sign.
    #[inline(always)]
    fn flush(bits: u16) -> u16 {
        if bits & Self::FORMAT.infinity(false) as u16 == 0 {
            bits & 0x8000
        } else {
            bits
        }
    }
}

/// IEEE binary16.
#[derive(Clone, Copy, Debug)]
pub(crate) struct F16;
/// The upper half of an f32.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bf16;

impl Half for F16 {
    const FORMAT: Format = Format::F16;

    #[inline(always)]
    fn widen(bits: u16) -> f32 {
        let magnitude = u32::from(bits & 0x7fff);
        // The exponent is rebased by a multiplication, which also normalises what was subnormal.
        let finite = f32::from_bits(magnitude << 13) * f32::from_bits((127 + 112) << 23);
        let special = f32::from_bits((magnitude << 13) | 0x7f80_0000);
        let x = if magnitude >= 0x7c00 { special } else { finite };
        f32::from_bits(x.to_bits() | u32::from(bits & 0x8000) << 16)
    }

    #[inline(always)]
    fn narrow(x: f32) -> u16 {
        let bits = x.to_bits();
        let magnitude = bits & 0x7fff_ffff;
        // In the normal range: round the 13 bits away and rebase the exponent; a carry may make it infinity, rightly.
        let normal = magnitude
            .wrapping_add(0xfff + ((magnitude >> 13) & 1))
            .wrapping_sub(112 << 23)
            >> 13;
        // Below: adding 0.5 puts the last place of the sum where f16's subnormals have theirs.
        let subnormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0x3f00_0000);
        let finite = if magnitude < 113 << 23 { subnormal } else { normal };
        let r = if magnitude >= 143 << 23 { 0x7c00 } else { finite };
        let r = r | (bits >> 16 & 0x8000);
        if x.is_nan() { NAN } else { r as u16 }
    }
}

impl Half for Bf16 {
    const FORMAT: Format = Format::BF16;

    #[inline(always)]
    fn widen(bits: u16) -> f32 {
        f32::from_bits(u32::from(bits) << 16)
    }

    #[inline(always)]
    fn narrow(x: f32) -> u16 {
        let bits = x.to_bits();
        let r = bits.wrapping_add(0x7fff + ((bits >> 16) & 1)) >> 16;
        if x.is_nan() { NAN } else { r as u16 }
    }
}

/// `a + b`, rounded to odd.
#[inline(always)]
pub(crate) fn add<H: Half>(a: u16, b: u16) -> f32 {
    narrow_to_odd(sum_to_odd(H::widen(a).into(), H::widen(b).into(), Round::Nearest))
}

/// `a * b`, rounded to odd.
#[inline(always)]
pub(crate) fn mul<H: Half>(a: u16, b: u16) -> f32 {
    narrow_to_odd(f64::from(H::widen(a)) * f64::from(H::widen(b)))
}

/// `a * b + c`, rounded to odd.
#[inline(always)]
pub(crate) fn fma<H: Half>(a: u16, b: u16, c: u16) -> f32 {
    let product = f64::from(H::widen(a)) * f64::from(H::widen(b));
    narrow_to_odd(sum_to_odd(product, H::widen(c).into(), Round::Nearest))
}

/// `x` narrowed, and flushed if it is below the normal range when rounded as though the exponent had no bounds.
pub(crate) fn narrow_and_flush<H: Half>(x: f32) -> u16 {
    let y = H::narrow(x);
    let smallest = 1u16 << H::FORMAT.fraction;
    // Ten binary places up, where nothing is subnormal.
    let scaled = H::narrow(x * 1024.0) & 0x7fff;
    if y & 0x7fff == smallest && scaled < smallest + (10 << H::FORMAT.fraction) {
        y & 0x8000
    } else {
        H::flush(y)
    }
}

/// Clamped to [0, 1]; NaN becomes +0.
#[inline(always)]
pub(crate) fn saturate<H: Half>(x: u16) -> u16 {
    let one = H::narrow(1.0);
    if x & 0x8000 != 0 || H::is_nan(x) { 0 } else { x.min(one) }
}

/// Negative numbers become +0; a NaN stays the canonical one.
#[inline(always)]
pub(crate) fn relu<H: Half>(x: u16) -> u16 {
    if H::is_nan(x) {
        NAN
    } else if x & 0x8000 != 0 {
        0
    } else {
        x
    }
}

/// An operation on halves as one on both halves of a 32-bit lane.
#[inline(always)]
pub(crate) fn both(x: u32, y: u32, z: u32, f: impl Fn(u16, u16, u16) -> u16) -> u32 {
    let low = f(x as u16, y as u16, z as u16);
    let high = f((x >> 16) as u16, (y >> 16) as u16, (z >> 16) as u16);
    u32::from(low) | u32::from(high) << 16
}
