//! `cvt` between any two of the integers, f16, bf16, f32 and f64; tf32, the 8-bit floats and the packing forms are in
//! [`pack`].
//!
//! PTX lets the registers be wider than the types: a source is cut down to its type, an integer result is extended to its
//! register by its own sign.

mod pack;

use tile33_ptx::ast::{Operand, Type};

use super::float::exact::{Exact, Format, Number, Round};
use super::float::half::{self, Bf16, F16, Half};
use super::float::single::{self, double, flush, narrow, narrow_to_odd};
use super::form::Form;
use super::mov::bits_of;
use super::rows::{rare, unary};
use super::{Alu, Result, Unsupported};
use crate::registers::Slot;

/// The eight integer types.
pub(super) trait Integer: Copy + Send + Sync + 'static {
    const BITS: u32;
    /// The register's low bits.
    fn from_bits(bits: u64) -> Self;
    /// Extended to 64 bits.
    fn bits(self) -> u64;
    fn wide(self) -> i128;
    fn saturate(x: i128) -> Self;
    /// Saturating; NaN is 0.
    fn from_float(x: f64) -> Self;
    fn to_f64(self) -> f64;
}

macro_rules! integer {
    ($($ty:ident)*) => {$(
        impl Integer for $ty {
            const BITS: u32 = $ty::BITS;
            #[inline(always)]
            fn from_bits(bits: u64) -> Self { bits as $ty }
            #[inline(always)]
            fn bits(self) -> u64 { self as i64 as u64 }
            #[inline(always)]
            fn wide(self) -> i128 { self as i128 }
            #[inline(always)]
            fn saturate(x: i128) -> Self { x.clamp($ty::MIN as i128, $ty::MAX as i128) as $ty }
            #[inline(always)]
            fn from_float(x: f64) -> Self { x as $ty }
            #[inline(always)]
            fn to_f64(self) -> f64 { self as f64 }
        }
    )*};
}
integer!(u8 i8 u16 i16 u32 i32 u64 i64);

/// The four floating-point types that `cvt` takes with any other.
pub(super) trait Real: Copy + Send + Sync + 'static {
    const FORMAT: Format;
    fn of(bits: u64) -> Self;
    fn bits(self) -> u64;
    /// Exact.
    fn wide(self) -> f64;
    fn from_wide(x: f64, round: Round) -> Self;
    fn from_integer(x: i128, round: Round) -> Self {
        let exact = match x {
            0 => return Self::of(0),
            x => Exact::new(x < 0, x.unsigned_abs(), 0),
        };
        Self::of(Self::FORMAT.round(exact, round))
    }
}

impl Real for f32 {
    const FORMAT: Format = Format::F32;
    #[inline(always)]
    fn of(bits: u64) -> Self {
        f32::from_bits(bits as u32)
    }
    #[inline(always)]
    fn bits(self) -> u64 {
        self.to_bits().into()
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        self.into()
    }
    #[inline(always)]
    fn from_wide(x: f64, round: Round) -> Self {
        single::canonical(narrow(x, round))
    }
}

impl Real for f64 {
    const FORMAT: Format = Format::F64;
    #[inline(always)]
    fn of(bits: u64) -> Self {
        f64::from_bits(bits)
    }
    #[inline(always)]
    fn bits(self) -> u64 {
        self.to_bits()
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }
    #[inline(always)]
    fn from_wide(x: f64, _: Round) -> Self {
        double::settle(x, [x])
    }
}

/// A half as a value of its own.
#[derive(Clone, Copy)]
pub(super) struct HalfOf<H> {
    bits: u16,
    format: std::marker::PhantomData<H>,
}

impl<H: Half> Real for HalfOf<H> {
    const FORMAT: Format = H::FORMAT;
    #[inline(always)]
    fn of(bits: u64) -> Self {
        Self {
            bits: bits as u16,
            format: std::marker::PhantomData,
        }
    }
    #[inline(always)]
    fn bits(self) -> u64 {
        self.bits.into()
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        H::widen(self.bits).into()
    }
    #[inline(always)]
    fn from_wide(x: f64, round: Round) -> Self {
        Self::of(match round {
            Round::Nearest => H::narrow(narrow_to_odd(x)).into(),
            _ => H::FORMAT.pack(Format::F64.unpack(x.to_bits()), round),
        })
    }
}

/// Evaluates an expression with a type name that is the integer `ty`, or refuses it.
macro_rules! by_integer {
    ($ty:expr, $form:expr, $name:ident => $body:expr) => {
        match $ty {
            Type::U8 => {
                type $name = u8;
                $body
            }
            Type::S8 => {
                type $name = i8;
                $body
            }
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
    };
}

/// The same for the four floating-point types.
macro_rules! by_real {
    ($ty:expr, $form:expr, $name:ident => $body:expr) => {
        match $ty {
            Type::F16 => {
                type $name = HalfOf<F16>;
                $body
            }
            Type::Bf16 => {
                type $name = HalfOf<Bf16>;
                $body
            }
            Type::F32 => {
                type $name = f32;
                $body
            }
            Type::F64 => {
                type $name = f64;
                $body
            }
            ty => return $form.bad_type(ty),
        }
    };
}

fn is_integer(ty: Type) -> bool {
    use Type::{S8, S16, S32, S64, U8, U16, U32, U64};
    matches!(ty, U8 | S8 | U16 | S16 | U32 | S32 | U64 | S64)
}

fn is_real(ty: Type) -> bool {
    matches!(ty, Type::F16 | Type::Bf16 | Type::F32 | Type::F64)
}

/// The rows of a source and of a destination, with the widths of their registers.
#[derive(Clone, Copy)]
struct Ends {
    d: Slot,
    a: Slot,
    /// Bytes of the destination register.
    to: u32,
    /// Bytes of the source register.
    from: u32,
}

impl Ends {
    /// Operands 0 and 1 for a conversion from `from` to `to`.
    fn of(form: &mut Form, to: Type, from: Type) -> Result<Self> {
        let (d, a) = (form.operand(0)?, form.operand(1)?);
        let width = |form: &Form, operand: &Operand, ty: Type, exact: bool| {
            let bytes = form.at.declared(operand).map_or(ty.bytes(), Type::bytes);
            if bytes < ty.bytes() || bytes > 8 || (exact && bytes != ty.bytes()) {
                return Err(Unsupported::because(format!(
                    "a register of {bytes} bytes for type `.{ty}`"
                )));
            }
            Ok(bytes)
        };
        let to_bytes = width(form, d, to, !is_integer(to))?;
        let from_bytes = width(form, a, from, false)?;
        // A constant is read at the type's own width, through its bits.
        let read_as = if form.at.declared(a).is_some() {
            bits_of(from_bytes)
        } else {
            from
        };
        Ok(Self {
            d: form.at.dest(d, bits_of(to_bytes))?,
            a: form.at.source(a, read_as)?,
            to: to_bytes,
            from: from_bytes,
        })
    }

    /// `f` of the source register's bits, zero-extended; it gives the result extended to 64 bits.
    fn each(self, f: impl Fn(u64) -> u64 + Send + Sync + 'static) -> Alu {
        let kept = if self.to == 8 {
            u64::MAX
        } else {
            (1 << (8 * self.to)) - 1
        };
        let (d, a) = ((self.d, self.to == 8), (self.a, self.from == 8));
        rare::run(d, [a; 3], Box::new(move |[x, ..]| f(x) & kept))
    }

    /// Whether both registers are as wide as their types.
    fn natural(self, to: Type, from: Type) -> bool {
        self.to == to.bytes() && self.from == from.bytes()
    }
}

/// The conversions that programs run all the time, vectorised.
fn common(ends: Ends, m: Modifiers, to: Type, from: Type) -> Option<Alu> {
    use Type::{Bf16 as B16, F16 as H16, F32, F64, S16, S32, S64, U16, U32, U64};
    if m.ftz || m.sat || m.relu || m.satfinite || !ends.natural(to, from) {
        return None;
    }
    let (d, a) = (ends.d, ends.a);
    let nearest = m.round == Some(Round::Nearest);
    let zero = m.integral == Some(Integral::Zero);
    let plain = m.round.is_none() && m.integral.is_none();
    Some(match (to, from) {
        (U64 | S64, U32) if plain => unary(d, a, |x: u32| u64::from(x)),
        (U64 | S64, S32) if plain => unary(d, a, |x: i32| i64::from(x)),
        (U32 | S32, U64 | S64) if plain => unary(d, a, |x: u64| x as u32),
        (U32 | S32, U16) if plain => unary(d, a, |x: u16| u32::from(x)),
        (U32 | S32, S16) if plain => unary(d, a, |x: i16| i32::from(x)),
        (U16 | S16, U32 | S32) if plain => unary(d, a, |x: u32| x as u16),
        (F64, F32) if plain => unary(d, a, |x: f32| or_nan(x, f64::from(x))),
        (F32, F64) if nearest => unary(d, a, |x: f64| or_nan(x, x as f32)),
        (F32, H16) if plain => unary(d, a, |x: u16| single::canonical(F16::widen(x))),
        // A shift, which leaves NaNs alone.
        (F32, B16) if plain => unary(d, a, |x: u16| u32::from(x) << 16),
        (H16, F32) if nearest => unary(d, a, F16::narrow),
        (B16, F32) if nearest => unary(d, a, Bf16::narrow),
        (F32, S32) if nearest => unary(d, a, |x: i32| x as f32),
        (F32, U32) if nearest => unary(d, a, |x: u32| x as f32),
        (F64, S32) if nearest => unary(d, a, |x: i32| f64::from(x)),
        (F64, U32) if nearest => unary(d, a, |x: u32| f64::from(x)),
        // The host's conversions truncate, saturate and make 0 of NaN, as these do.
        (S32, F32) if zero => unary(d, a, |x: f32| x as i32),
        (U32, F32) if zero => unary(d, a, |x: f32| x as u32),
        _ => return None,
    })
}

/// What may stand between `cvt` and its types.
#[derive(Clone, Copy)]
struct Modifiers {
    integral: Option<Integral>,
    round: Option<Round>,
    ftz: bool,
    sat: bool,
    relu: bool,
    satfinite: bool,
}

/// Roundings to an integral value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Integral {
    Nearest,
    Zero,
    Down,
    Up,
}

impl Integral {
    #[inline(always)]
    fn apply(self, x: f64) -> f64 {
        match self {
            Self::Nearest => x.round_ties_even(),
            Self::Zero => x.trunc(),
            Self::Down => x.floor(),
            Self::Up => x.ceil(),
        }
    }
}

impl Modifiers {
    fn take(form: &mut Form) -> Self {
        let integral = form.choice(&["rni", "rzi", "rmi", "rpi"]).map(|word| match word {
            "rni" => Integral::Nearest,
            "rzi" => Integral::Zero,
            "rmi" => Integral::Down,
            _ => Integral::Up,
        });
        Self {
            integral,
            round: form.choice(&["rna", "rn", "rz", "rm", "rp"]).and_then(Round::from_word),
            ftz: form.flag("ftz"),
            sat: form.flag("sat"),
            relu: form.flag("relu"),
            satfinite: form.flag("satfinite"),
        }
    }

    fn only_round(self) -> Result<()> {
        if self.integral.is_some() || self.ftz || self.sat {
            return Err(Unsupported::because(
                "`.ftz`, `.sat` or a rounding to integers with these types",
            ));
        }
        Ok(())
    }
}

/// `cvt`
pub(super) fn cvt(form: &mut Form) -> Result<Alu> {
    if form.flag("pack") {
        return pack::integers(form);
    }
    let m = Modifiers::take(form);
    let (to, from) = (form.ty()?, form.ty()?);
    if !(is_integer(to) || is_real(to)) || !(is_integer(from) || is_real(from)) {
        return pack::floats(form, m, to, from);
    }
    form.done(2)?;
    if (m.relu || m.satfinite) && !(matches!(to, Type::F16 | Type::Bf16) && from == Type::F32) {
        return Err(Unsupported::because("`.relu` and `.satfinite` with these types"));
    }
    if m.ftz && to != Type::F32 && from != Type::F32 {
        return Err(Unsupported::because("`.ftz` where neither type is `.f32`"));
    }
    let ends = Ends::of(form, to, from)?;
    if let Some(alu) = common(ends, m, to, from) {
        return Ok(alu);
    }
    match (is_real(to), is_real(from)) {
        (false, false) => integer_to_integer(form, ends, m, to, from),
        (true, false) => integer_to_real(form, ends, m, to, from),
        (false, true) => real_to_integer(form, ends, m, to, from),
        (true, true) => real_to_real(form, ends, m, to, from),
    }
}

fn integer_to_integer(form: &Form, ends: Ends, m: Modifiers, to: Type, from: Type) -> Result<Alu> {
    if m.round.is_some() || m.integral.is_some() || m.ftz {
        return Err(Unsupported::because("a rounding between integers"));
    }
    Ok(by_integer!(to, form, D => by_integer!(from, form, S => if m.sat {
        ends.each(|x| D::saturate(S::from_bits(x).wide()).bits())
    } else {
        ends.each(|x| D::from_bits(S::from_bits(x).bits()).bits())
    })))
}

fn integer_to_real(form: &Form, ends: Ends, m: Modifiers, to: Type, from: Type) -> Result<Alu> {
    let Some(round) = m.round.filter(|r| *r != Round::Away) else {
        return Err(Unsupported::because("it needs `.rn`, `.rz`, `.rm` or `.rp`"));
    };
    if m.integral.is_some() {
        return Err(Unsupported::because("a rounding to integers of an integer"));
    }
    Ok(by_real!(to, form, D => by_integer!(from, form, S => integers_as::<D, S>(ends, round, m.sat))))
}

fn integers_as<D: Real, S: Integer>(ends: Ends, round: Round, sat: bool) -> Alu {
    let f32_or_f64 = D::FORMAT == Format::F32 || D::FORMAT == Format::F64;
    if round == Round::Nearest && !sat && f32_or_f64 {
        // The host's own conversions, which round to nearest from any integer.
        return if D::FORMAT == Format::F64 {
            ends.each(|x| S::from_bits(x).to_f64().to_bits())
        } else if S::BITS == 64 {
            ends.each(|x| (S::from_bits(x).wide() as f32).to_bits().into())
        } else {
            ends.each(|x| (S::from_bits(x).to_f64() as f32).to_bits().into())
        };
    }
    ends.each(move |x| {
        let y = D::from_integer(S::from_bits(x).wide(), round);
        if sat { saturate(y).bits() } else { y.bits() }
    })
}

/// Clamped to [0, 1]; NaN becomes +0.
#[inline(always)]
fn saturate<D: Real>(y: D) -> D {
    let x = y.wide();
    if x >= 1.0 {
        D::from_wide(1.0, Round::Nearest)
    } else if x > 0.0 {
        y
    } else {
        D::of(0)
    }
}

fn real_to_integer(form: &Form, ends: Ends, m: Modifiers, to: Type, from: Type) -> Result<Alu> {
    let (Some(integral), None) = (m.integral, m.round) else {
        return Err(Unsupported::because("it needs `.rni`, `.rzi`, `.rmi` or `.rpi`"));
    };
    // `.sat` changes nothing: these conversions saturate by themselves.
    let nan_is_zero = from != Type::F64 && to.bytes() < 8;
    Ok(by_integer!(to, form, D => by_real!(from, form, S => {
        let of_nan = if nan_is_zero { 0 } else { D::from_bits(1 << (D::BITS - 1)).bits() };
        ends.each(move |x| {
            let x = S::of(x).wide();
            // A subnormal f32 rounds to 0, or away from it to 1 unless it is flushed.
            let x = if m.ftz { f64::from(flush(x as f32)) } else { x };
            if x.is_nan() { of_nan } else { D::from_float(integral.apply(x)).bits() }
        })
    })))
}

fn real_to_real(form: &Form, ends: Ends, m: Modifiers, to: Type, from: Type) -> Result<Alu> {
    if let Some(integral) = m.integral {
        if to != from || m.round.is_some() {
            return Err(Unsupported::because(
                "a rounding to integers between different float types",
            ));
        }
        return Ok(by_real!(to, form, D => ends.each(move |x| {
            let x = if m.ftz { flush(f32::from_bits(x as u32)).to_bits().into() } else { x };
            let y = D::from_wide(integral.apply(D::of(x).wide()), Round::Nearest);
            if m.sat { saturate(y).bits() } else { y.bits() }
        })));
    }
    let narrower = to.bytes() < from.bytes() || (to != from && to.bytes() == from.bytes());
    let round = match m.round {
        Some(Round::Away) => return Err(Unsupported::because("`.rna` with these types")),
        Some(round) if narrower => round,
        None if !narrower => Round::Nearest,
        // A rounding where nothing is rounded: bf16 of f32's range, say, which PTX spells with one.
        Some(round) if to != from => round,
        Some(_) => return Err(Unsupported::because("a rounding between equal types")),
        None => return Err(Unsupported::because("it needs `.rn`, `.rz`, `.rm` or `.rp`")),
    };
    if m.relu || m.satfinite {
        return Ok(if to == Type::F16 {
            ends.each(move |x| pack::half_of::<F16>(f32::from_bits(x as u32), round, m.relu, m.satfinite).into())
        } else {
            ends.each(move |x| pack::half_of::<Bf16>(f32::from_bits(x as u32), round, m.relu, m.satfinite).into())
        });
    }
    Ok(by_real!(to, form, D => by_real!(from, form, S => reals_as::<D, S>(ends, m, round))))
}

fn reals_as<D: Real, S: Real>(ends: Ends, m: Modifiers, round: Round) -> Alu {
    // An H200 flushes f32 operands of every conversion but the one to f16.
    let flush_source = m.ftz && S::FORMAT == Format::F32 && D::FORMAT != Format::F16;
    let flush_result = m.ftz && D::FORMAT == Format::F32;
    ends.each(move |x| {
        let x = S::of(if flush_source { S::FORMAT.flush(x) } else { x });
        if x.wide().is_nan() {
            return if m.sat {
                0
            } else {
                nan(S::FORMAT, D::FORMAT, m.ftz, x.bits())
            };
        }
        let mut y = D::from_wide(x.wide(), round).bits();
        if flush_result {
            let scaled = || narrow(x.wide() * f64::from(single::SCALE), round);
            y = single::flush_result(f32::from_bits(y as u32), scaled).to_bits().into();
        }
        if m.sat { saturate(D::of(y)).bits() } else { y }
    })
}

/// What a NaN becomes, as an H200 has it. From and to f64 it keeps its sign and as much of its payload as fits, and is made
/// quiet; from bf16 to f32 it is copied, unless `.ftz` makes an operation of the copy; all others become the canonical one.
#[inline(always)]
fn nan(from: Format, to: Format, ftz: bool, bits: u64) -> u64 {
    if from != Format::F64 && to != Format::F64 {
        return if from == Format::BF16 && to == Format::F32 && !ftz {
            bits << 16
        } else {
            to.nan()
        };
    }
    let bits = if ftz && from == Format::F32 { from.nan() } else { bits };
    let negative = bits >> (from.exponent + from.fraction) & 1 == 1;
    let payload = (bits & ((1 << from.fraction) - 1)) << (52 - from.fraction) | double::QUIET;
    to.infinity(negative) | payload >> (52 - to.fraction)
}

/// `y`, the conversion of `x`, unless that is a NaN.
#[inline(always)]
fn or_nan<D: Real, S: Real>(x: S, y: D) -> D {
    if x.wide().is_nan() {
        D::of(nan(S::FORMAT, D::FORMAT, false, x.bits()))
    } else {
        y
    }
}

/// The largest finite value in place of infinity.
#[inline(always)]
fn finite(format: Format, bits: u64) -> u64 {
    match format.unpack(bits) {
        Number::Infinity { negative } => format.largest(negative),
        _ => bits,
    }
}

/// Negative numbers become +0, the NaN of a half stays.
#[inline(always)]
fn relu<H: Half>(bits: u16) -> u16 {
    half::relu::<H>(bits)
}
