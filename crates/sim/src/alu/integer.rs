//! Integer arithmetic: wrapping sums and products, quotients, absolute differences, extremes.
//!
//! What PTX leaves open is as an H200 does it: a division by zero gives all ones, as quotient and as remainder, and the
//! most negative number divided by -1 is itself.

use tile33_ptx::ast::{Opcode, Type};

use super::form::Form;
use super::rows::{binary, rare, ternary, unary};
use super::{Alu, Result, Unsupported};

/// Evaluates an expression with a type name that is the integer type `ty`.
macro_rules! by_int {
    ($ty:expr, $form:expr, $name:ident => $body:expr) => {{
        use tile33_ptx::ast::Type;
        match $ty {
            Type::U16 => {
                type $name = u16;
                $body
            }
            Type::S16 => {
                type $name = i16;
                $body
            }
            Type::U32 => {
                type $name = u32;
                $body
            }
            Type::S32 => {
                type $name = i32;
                $body
            }
            Type::U64 => {
                type $name = u64;
                $body
            }
            Type::S64 => {
                type $name = i64;
                $body
            }
            ty => return $form.bad_type(ty),
        }
    }};
}
pub(super) use by_int;

/// The same for what does not depend on the sign: with the unsigned type of that width.
macro_rules! by_width {
    ($ty:expr, $form:expr, $name:ident => $body:expr) => {{
        use tile33_ptx::ast::Type;
        match $ty {
            Type::U16 | Type::S16 => {
                type $name = u16;
                $body
            }
            Type::U32 | Type::S32 => {
                type $name = u32;
                $body
            }
            Type::U64 | Type::S64 => {
                type $name = u64;
                $body
            }
            ty => return $form.bad_type(ty),
        }
    }};
}
pub(super) use by_width;

/// The operations that the six integer types share.
pub(super) trait Int: super::rows::Value + Ord + Send + Sync {
    fn add(self, b: Self) -> Self;
    fn sub(self, b: Self) -> Self;
    /// Low half of the product.
    fn mul_lo(self, b: Self) -> Self;
    /// High half of the product.
    fn mul_hi(self, b: Self) -> Self;
    fn abs_diff(self, b: Self) -> Self;
    fn div(self, b: Self) -> Self;
    fn rem(self, b: Self) -> Self;
    /// Sum and carry out.
    fn add_carry(self, b: Self, carry: bool) -> (Self, bool);
    /// Difference and borrow out.
    fn sub_borrow(self, b: Self, borrow: bool) -> (Self, bool);
}

macro_rules! int {
    ($($ty:ident, $unsigned:ident, $wide:ident;)*) => {$(
        impl Int for $ty {
            #[inline(always)]
            fn add(self, b: Self) -> Self { self.wrapping_add(b) }
            #[inline(always)]
            fn sub(self, b: Self) -> Self { self.wrapping_sub(b) }
            #[inline(always)]
            fn mul_lo(self, b: Self) -> Self { self.wrapping_mul(b) }
            #[inline(always)]
            fn mul_hi(self, b: Self) -> Self { ((self as $wide * b as $wide) >> $ty::BITS) as $ty }
            #[inline(always)]
            fn abs_diff(self, b: Self) -> Self {
                if self < b { b.wrapping_sub(self) } else { self.wrapping_sub(b) }
            }
            #[inline(always)]
            fn div(self, b: Self) -> Self { if b == 0 { !0 } else { self.wrapping_div(b) } }
            #[inline(always)]
            fn rem(self, b: Self) -> Self { if b == 0 { !0 } else { self.wrapping_rem(b) } }
            #[inline(always)]
            fn add_carry(self, b: Self, carry: bool) -> (Self, bool) {
                let (a, b) = (self as $unsigned, b as $unsigned);
                let (s, c) = a.overflowing_add(b);
                let (s, d) = s.overflowing_add($unsigned::from(carry));
                (s as $ty, c | d)
            }
            #[inline(always)]
            fn sub_borrow(self, b: Self, borrow: bool) -> (Self, bool) {
                let (a, b) = (self as $unsigned, b as $unsigned);
                let (s, c) = a.overflowing_sub(b);
                let (s, d) = s.overflowing_sub($unsigned::from(borrow));
                (s as $ty, c | d)
            }
        }
    )*};
}

int! {
    u16, u16, u32;
    i16, u16, i32;
    u32, u32, u64;
    i32, u32, i64;
    u64, u64, u128;
    i64, u64, i128;
}

/// A function of 16-bit halves as one of 32-bit lanes.
#[inline(always)]
fn halves(a: u32, b: u32, f: impl Fn(u16, u16) -> u16) -> u32 {
    u32::from(f(a as u16, b as u16)) | u32::from(f((a >> 16) as u16, (b >> 16) as u16)) << 16
}

/// `add`, `sub` of integers, without carry.
pub(super) fn add(form: &mut Form) -> Result<Alu> {
    let sat = form.flag("sat");
    let ty = form.ty()?;
    form.done(3)?;
    if sat && ty != Type::S32 {
        return Err(Unsupported::because("`.sat` is for type `.s32` only"));
    }
    let sub = form.opcode == Opcode::Sub;
    let (d, a, b) = (form.dest(0, ty)?, form.source(1, ty)?, form.source(2, ty)?);
    Ok(match ty {
        Type::S32 if sat && sub => rare::binary(d, a, b, i32::saturating_sub),
        Type::S32 if sat => rare::binary(d, a, b, i32::saturating_add),
        Type::U16x2 | Type::S16x2 if sub => rare::binary(d, a, b, |a, b| halves(a, b, u16::wrapping_sub)),
        Type::U16x2 | Type::S16x2 => rare::binary(d, a, b, |a, b| halves(a, b, u16::wrapping_add)),
        _ => {
            by_width!(ty, form, T => if sub { binary(d, a, b, <T as Int>::sub) } else { binary(d, a, b, <T as Int>::add) })
        }
    })
}

/// `mul` of integers.
pub(super) fn mul(form: &mut Form) -> Result<Alu> {
    let part = form.choice(&["lo", "hi", "wide"]);
    let ty = form.ty()?;
    form.done(3)?;
    let Some(part) = part else {
        return Err(Unsupported::because("an integer product needs `.lo`, `.hi` or `.wide`"));
    };
    let (a, b) = (form.source(1, ty)?, form.source(2, ty)?);
    if part == "wide" {
        let d = form.dest(0, widened(form, ty)?)?;
        return Ok(match ty {
            Type::U16 => binary(d, a, b, |a: u16, b: u16| u32::from(a) * u32::from(b)),
            Type::S16 => binary(d, a, b, |a: i16, b: i16| i32::from(a) * i32::from(b)),
            Type::U32 => binary(d, a, b, |a: u32, b: u32| u64::from(a) * u64::from(b)),
            _ => binary(d, a, b, |a: i32, b: i32| i64::from(a) * i64::from(b)),
        });
    }
    let d = form.dest(0, ty)?;
    if part == "lo" {
        return Ok(by_width!(ty, form, T => binary(d, a, b, <T as Int>::mul_lo)));
    }
    Ok(by_int!(ty, form, T => binary(d, a, b, <T as Int>::mul_hi)))
}

/// The type of a `.wide` result.
fn widened(form: &Form, ty: Type) -> Result<Type> {
    Ok(match ty {
        Type::U16 => Type::U32,
        Type::S16 => Type::S32,
        Type::U32 => Type::U64,
        Type::S32 => Type::S64,
        _ => return form.bad_type(ty),
    })
}

/// `mad` of integers, without carry.
pub(super) fn mad(form: &mut Form) -> Result<Alu> {
    let part = form.choice(&["lo", "hi", "wide"]);
    let sat = form.flag("sat");
    let ty = form.ty()?;
    form.done(4)?;
    let Some(part) = part else {
        return Err(Unsupported::because("an integer product needs `.lo`, `.hi` or `.wide`"));
    };
    if sat && (ty != Type::S32 || part != "hi") {
        return Err(Unsupported::because("`.sat` is for `mad.hi.sat.s32` only"));
    }
    let (a, b) = (form.source(1, ty)?, form.source(2, ty)?);
    if part == "wide" {
        let wide = widened(form, ty)?;
        let (d, abc) = (form.dest(0, wide)?, [a, b, form.source(3, wide)?]);
        return Ok(match ty {
            Type::U16 => ternary(d, abc, |a: u16, b: u16, c: u32| {
                (u32::from(a) * u32::from(b)).wrapping_add(c)
            }),
            Type::S16 => ternary(d, abc, |a: i16, b: i16, c: i32| {
                (i32::from(a) * i32::from(b)).wrapping_add(c)
            }),
            Type::U32 => ternary(d, abc, |a: u32, b: u32, c: u64| {
                (u64::from(a) * u64::from(b)).wrapping_add(c)
            }),
            _ => ternary(d, abc, |a: i32, b: i32, c: i64| {
                (i64::from(a) * i64::from(b)).wrapping_add(c)
            }),
        });
    }
    let (d, abc) = (form.dest(0, ty)?, [a, b, form.source(3, ty)?]);
    if sat {
        return Ok(rare::ternary(d, abc, |a: i32, b: i32, c: i32| {
            a.mul_hi(b).saturating_add(c)
        }));
    }
    if part == "lo" {
        return Ok(by_width!(ty, form, T => ternary(d, abc, |a: T, b: T, c: T| a.mul_lo(b).add(c))));
    }
    Ok(by_int!(ty, form, T => rare::ternary(d, abc, |a: T, b: T, c: T| a.mul_hi(b).add(c))))
}

/// `mul24`, `mad24`: the low 24 bits of the factors; the low 32 bits or the bits from 16 on of the 48-bit product.
pub(super) fn mul24(form: &mut Form) -> Result<Alu> {
    #[inline(always)]
    fn product(a: u32, b: u32, signed: bool, hi: bool) -> u32 {
        let p = if signed {
            i64::from((a as i32) << 8 >> 8) * i64::from((b as i32) << 8 >> 8)
        } else {
            i64::from(a & 0xff_ffff) * i64::from(b & 0xff_ffff)
        };
        if hi { (p >> 16) as u32 } else { p as u32 }
    }
    let mad = form.opcode == Opcode::Mad24;
    let part = form.choice(&["lo", "hi"]);
    let sat = form.flag("sat");
    let ty = form.ty()?;
    form.done(if mad { 4 } else { 3 })?;
    let Some(part) = part else {
        return Err(Unsupported::because("it needs `.lo` or `.hi`"));
    };
    let (hi, signed) = (part == "hi", ty == Type::S32);
    if !matches!(ty, Type::U32 | Type::S32) {
        return form.bad_type(ty);
    }
    if sat && !(mad && hi && signed) {
        return Err(Unsupported::because("`.sat` is for `mad24.hi.sat.s32` only"));
    }
    let (d, a, b) = (form.dest(0, ty)?, form.source(1, ty)?, form.source(2, ty)?);
    if !mad {
        return Ok(rare::binary(d, a, b, move |a: u32, b: u32| product(a, b, signed, hi)));
    }
    let c = form.source(3, ty)?;
    Ok(if sat {
        rare::ternary(d, [a, b, c], |a: u32, b: u32, c: i32| {
            (product(a, b, true, true) as i32).saturating_add(c)
        })
    } else {
        rare::ternary(d, [a, b, c], move |a: u32, b: u32, c: u32| {
            product(a, b, signed, hi).wrapping_add(c)
        })
    })
}

/// `sad d, a, b, c`: `c + |a - b|`.
pub(super) fn sad(form: &mut Form) -> Result<Alu> {
    let ty = form.ty()?;
    form.done(4)?;
    let d = form.dest(0, ty)?;
    let abc = [form.source(1, ty)?, form.source(2, ty)?, form.source(3, ty)?];
    Ok(by_int!(ty, form, T => rare::ternary(d, abc, |a: T, b: T, c: T| Int::abs_diff(a, b).add(c))))
}

/// `div`, `rem` of integers.
pub(super) fn div(form: &mut Form) -> Result<Alu> {
    let ty = form.ty()?;
    form.done(3)?;
    let (d, a, b) = (form.dest(0, ty)?, form.source(1, ty)?, form.source(2, ty)?);
    let rem = form.opcode == Opcode::Rem;
    Ok(by_int!(ty, form, T => if rem {
        rare::binary(d, a, b, <T as Int>::rem)
    } else {
        rare::binary(d, a, b, <T as Int>::div)
    }))
}

/// `abs`, `neg` of integers.
pub(super) fn sign(form: &mut Form) -> Result<Alu> {
    let ty = form.ty()?;
    form.done(2)?;
    let (d, a) = (form.dest(0, ty)?, form.source(1, ty)?);
    Ok(match (ty, form.opcode) {
        (Type::S16, Opcode::Neg) => unary(d, a, i16::wrapping_neg),
        (Type::S32, Opcode::Neg) => unary(d, a, i32::wrapping_neg),
        (Type::S64, Opcode::Neg) => unary(d, a, i64::wrapping_neg),
        (Type::S16, _) => unary(d, a, i16::wrapping_abs),
        (Type::S32, _) => unary(d, a, i32::wrapping_abs),
        (Type::S64, _) => unary(d, a, i64::wrapping_abs),
        _ => return form.bad_type(ty),
    })
}

/// `min`, `max` of integers.
pub(super) fn min_max(form: &mut Form) -> Result<Alu> {
    let relu = form.flag("relu");
    let ty = form.ty()?;
    form.done(3)?;
    let max = form.opcode == Opcode::Max;
    let (d, a, b) = (form.dest(0, ty)?, form.source(1, ty)?, form.source(2, ty)?);
    if relu && !matches!(ty, Type::S32 | Type::S16x2) {
        return Err(Unsupported::because(format!("`.relu` with type `.{ty}`")));
    }
    let signed = move |a: u16, b: u16| {
        let (a, b) = (a as i16, b as i16);
        let r = if max { a.max(b) } else { a.min(b) };
        (if relu { r.max(0) } else { r }) as u16
    };
    Ok(match ty {
        Type::S16x2 => rare::binary(d, a, b, move |a, b| halves(a, b, signed)),
        Type::U16x2 => rare::binary(d, a, b, move |a, b| {
            halves(a, b, |a, b| if max { a.max(b) } else { a.min(b) })
        }),
        Type::S32 if relu => rare::binary(d, a, b, move |a: i32, b: i32| {
            if max { a.max(b) } else { a.min(b) }.max(0)
        }),
        _ => {
            by_int!(ty, form, T => if max { binary(d, a, b, <T as Ord>::max) } else { binary(d, a, b, <T as Ord>::min) })
        }
    })
}
