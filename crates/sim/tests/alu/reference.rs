//! Floating point a second time, by search instead of by shifting: the exact result is a comparison, and the rounded one is
//! found among the format's numbers by bisection.

use std::cmp::Ordering;

use num_bigint::BigInt;

use crate::harness::float_shape;

/// `n * 2^e`, exactly.
#[derive(Clone, Debug)]
pub(crate) struct Dyadic {
    n: BigInt,
    e: i64,
}

impl Dyadic {
    pub(crate) fn integer(n: i128) -> Self {
        Self { n: n.into(), e: 0 }
    }

    fn aligned(&self, other: &Self) -> (BigInt, BigInt) {
        let e = self.e.min(other.e);
        (&self.n << (self.e - e) as u64, &other.n << (other.e - e) as u64)
    }

    pub(crate) fn add(&self, other: &Self) -> Self {
        let (a, b) = self.aligned(other);
        Self {
            n: a + b,
            e: self.e.min(other.e),
        }
    }

    pub(crate) fn mul(&self, other: &Self) -> Self {
        Self {
            n: &self.n * &other.n,
            e: self.e + other.e,
        }
    }

    fn half(&self) -> Self {
        Self {
            n: self.n.clone(),
            e: self.e - 1,
        }
    }

    pub(crate) fn compare(&self, other: &Self) -> Ordering {
        let (a, b) = self.aligned(other);
        a.cmp(&b)
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.n == BigInt::from(0)
    }

    pub(crate) fn is_negative(&self) -> bool {
        self.n < BigInt::from(0)
    }

    pub(crate) fn abs(&self) -> Self {
        Self {
            n: if self.is_negative() { -&self.n } else { self.n.clone() },
            e: self.e,
        }
    }
}

/// What bits mean.
#[derive(Clone, Debug)]
pub(crate) enum Meaning {
    Nan,
    Infinite(bool),
    Finite(bool, Dyadic),
}

/// A type, by its name: of operands and, unless [`Format::unbounded`] says otherwise, of results.
#[derive(Clone, Copy)]
pub(crate) struct Format {
    name: &'static str,
    /// Bits of an operand's exponent.
    operand: u32,
    /// Bits of a result's exponent.
    exponent: u32,
    fraction: u32,
}

impl Format {
    pub(crate) fn of(name: &'static str) -> Self {
        let (exponent, fraction) = float_shape(name);
        Self {
            name,
            operand: exponent,
            exponent,
            fraction,
        }
    }

    /// The same operands, with results whose exponents nothing here reaches the ends of.
    fn unbounded(self) -> Self {
        Self {
            exponent: self.operand + 3,
            ..self
        }
    }

    /// The sign of an operand.
    pub(crate) fn sign(self) -> u128 {
        1 << (self.operand + self.fraction)
    }

    /// The sign of a result.
    fn out_sign(self, negative: bool) -> u128 {
        if negative {
            1 << (self.exponent + self.fraction)
        } else {
            0
        }
    }

    /// Bits of the largest finite magnitude.
    pub(crate) fn largest(self) -> u128 {
        self.infinity() - 1
    }

    /// Bits after the largest finite magnitude; in e4m3, which has no infinity, those of the NaN.
    pub(crate) fn infinity(self) -> u128 {
        match self.name {
            "e4m3" => 0x7f,
            _ => ((1 << self.exponent) - 1) << self.fraction,
        }
    }

    /// The NaN that results have if no operand is one.
    pub(crate) fn nan(self) -> u128 {
        match self.name {
            "f64" => 0xfff8_0000_0000_0000,
            _ => self.sign() - 1,
        }
    }

    /// The NaN that an operation on these operands gives, if one of them is a NaN: in f64 the first, made quiet.
    pub(crate) fn nan_of(self, operands: &[u128]) -> Option<u128> {
        let first = operands.iter().find(|x| self.is_nan(**x))?;
        Some(if self.name == "f64" {
            first | 1 << 51
        } else {
            self.nan()
        })
    }

    /// The opposite; a NaN as it is.
    pub(crate) fn opposite(self, x: u128) -> u128 {
        if self.is_nan(x) { x } else { x ^ self.sign() }
    }

    /// Value of a magnitude's bits; the pattern after the largest stands for the power of two that follows it.
    fn magnitude(self, exponent: u32, bits: u128) -> Dyadic {
        let bias = (1i64 << (exponent - 1)) - 1;
        let field = (bits >> self.fraction) as i64;
        let fraction = bits & ((1 << self.fraction) - 1);
        let smallest = 1 - bias - i64::from(self.fraction);
        let (n, e) = if field == 0 {
            (fraction, smallest)
        } else {
            (fraction + (1 << self.fraction), smallest + field - 1)
        };
        Dyadic { n: n.into(), e }
    }

    pub(crate) fn meaning(self, bits: u128) -> Meaning {
        let negative = bits & self.sign() != 0;
        let magnitude = bits & (self.sign() - 1);
        let infinity = Self {
            exponent: self.operand,
            ..self
        }
        .infinity();
        if magnitude < infinity {
            return Meaning::Finite(negative, self.magnitude(self.operand, magnitude));
        }
        if self.name != "e4m3" && magnitude == infinity {
            Meaning::Infinite(negative)
        } else {
            Meaning::Nan
        }
    }

    /// An operation with `.ftz`: operands flushed, and results that are below the normal range when they are rounded as
    /// though the exponent had no bounds.
    pub(crate) fn flushed(self, x: &[u128], f: impl Fn(Self, &[u128]) -> u128) -> u128 {
        let x: Vec<u128> = x.iter().map(|a| self.flush(*a)).collect();
        let y = f(self, &x);
        if self.is_nan(y) {
            return y;
        }
        let wide = self.unbounded();
        let unbounded = f(wide, &x);
        let magnitude = wide.magnitude(wide.exponent, unbounded & (wide.out_sign(true) - 1));
        let normal = self.magnitude(self.operand, 1 << self.fraction);
        if magnitude.compare(&normal).is_lt() {
            y & self.sign()
        } else {
            y
        }
    }

    /// The magnitude's bits, rounded. `against` compares a candidate with the exact magnitude.
    pub(crate) fn round(self, negative: bool, mode: &str, against: impl Fn(&Dyadic) -> Ordering) -> u128 {
        // The greatest number that is not above the exact one.
        let (mut low, mut high) = (0u128, self.largest() + 1);
        while high - low > 1 {
            let middle = (low + high) / 2;
            if against(&self.magnitude(self.exponent, middle)).is_le() {
                low = middle;
            } else {
                high = middle;
            }
        }
        let sign = self.out_sign(negative);
        if against(&self.magnitude(self.exponent, low)).is_eq() {
            return sign | low;
        }
        let middle = self
            .magnitude(self.exponent, low)
            .add(&self.magnitude(self.exponent, low + 1))
            .half();
        let away = match mode {
            "rn" => match against(&middle) {
                Ordering::Less => true,
                Ordering::Equal => low % 2 == 1,
                Ordering::Greater => false,
            },
            "rna" => against(&middle).is_le(),
            "rz" => false,
            "rm" => negative,
            "rp" => !negative,
            _ => panic!("no such mode: {mode}"),
        };
        sign | if away { low + 1 } else { low }
    }

    /// A dyadic number, rounded; zero gets the sign given.
    pub(crate) fn round_dyadic(self, x: &Dyadic, zero_negative: bool, mode: &str) -> u128 {
        if x.is_zero() {
            return self.out_sign(zero_negative);
        }
        let magnitude = x.abs();
        self.round(x.is_negative(), mode, |candidate| candidate.compare(&magnitude))
    }

    /// `a * b + c`; `b` 1 and `c` -0 make it a sum or a product.
    pub(crate) fn fma(self, a: u128, b: u128, c: u128, mode: &str) -> u128 {
        self.nan_of(&[b, c, a])
            .unwrap_or_else(|| self.fma_of(self.meaning(a), self.meaning(b), self.meaning(c), mode))
    }

    pub(crate) fn fma_of(self, a: Meaning, b: Meaning, c: Meaning, mode: &str) -> u128 {
        use Meaning::{Finite, Infinite, Nan};
        let product = match (a, b) {
            (Nan, _) | (_, Nan) => Nan,
            (Infinite(_), Finite(_, y)) if y.is_zero() => Nan,
            (Finite(_, x), Infinite(_)) if x.is_zero() => Nan,
            (Infinite(s), Infinite(t) | Finite(t, _)) | (Finite(s, _), Infinite(t)) => Infinite(s != t),
            (Finite(s, x), Finite(t, y)) => Finite(s != t, x.mul(&y)),
        };
        match (product, c) {
            (Nan, _) | (_, Nan) => self.nan(),
            (Infinite(s), Infinite(t)) if s != t => self.nan(),
            (Infinite(s), _) | (_, Infinite(s)) => self.infinity() | self.out_sign(s),
            (Finite(s, x), Finite(t, y)) => {
                let signed = |negative: bool, x: &Dyadic| {
                    if negative {
                        x.mul(&Dyadic::integer(-1))
                    } else {
                        x.clone()
                    }
                };
                let exact = signed(s, &x).add(&signed(t, &y));
                let zero_negative = if s == t { s } else { mode == "rm" };
                self.round_dyadic(&exact, zero_negative, mode)
            }
        }
    }

    /// The number 1.
    pub(crate) fn one(self) -> u128 {
        ((1 << (self.operand - 1)) - 1) << self.fraction
    }

    pub(crate) fn add(self, a: u128, b: u128, mode: &str) -> u128 {
        self.fma(a, self.one(), b, mode)
    }

    pub(crate) fn mul(self, a: u128, b: u128, mode: &str) -> u128 {
        use Meaning::Finite;
        // Adding a zero of the product's own sign changes nothing.
        let negative = (a ^ b) & self.sign() != 0;
        self.nan_of(&[b, a]).unwrap_or_else(|| {
            self.fma_of(
                self.meaning(a),
                self.meaning(b),
                Finite(negative, Dyadic::integer(0)),
                mode,
            )
        })
    }

    pub(crate) fn div(self, a: u128, b: u128, mode: &str) -> u128 {
        use Meaning::{Finite, Infinite, Nan};
        if let Some(nan) = self.nan_of(&[a, b]) {
            return nan;
        }
        let negative = (a ^ b) & self.sign() != 0;
        let sign = self.out_sign(negative);
        match (self.meaning(a), self.meaning(b)) {
            (Nan, _) | (_, Nan) | (Infinite(_), Infinite(_)) => self.nan(),
            (Infinite(_), _) => self.infinity() | sign,
            (_, Infinite(_)) => sign,
            (Finite(_, x), Finite(_, y)) => match (x.is_zero(), y.is_zero()) {
                (true, true) => self.nan(),
                (true, false) => sign,
                (false, true) => self.infinity() | sign,
                // candidate <=> x / y is candidate * y <=> x.
                (false, false) => self.round(negative, mode, |candidate| candidate.mul(&y).compare(&x)),
            },
        }
    }

    pub(crate) fn sqrt(self, a: u128, mode: &str) -> u128 {
        if let Some(nan) = self.nan_of(&[a]) {
            return nan;
        }
        match self.meaning(a) {
            Meaning::Nan | Meaning::Infinite(true) => self.nan(),
            Meaning::Infinite(false) => self.infinity(),
            Meaning::Finite(s, x) if x.is_zero() => self.out_sign(s),
            Meaning::Finite(true, _) => self.nan(),
            Meaning::Finite(false, x) => self.round(false, mode, |candidate| candidate.mul(candidate).compare(&x)),
        }
    }

    /// A number of this format in another, rounded.
    pub(crate) fn convert(self, to: Format, a: u128, mode: &str) -> u128 {
        match self.meaning(a) {
            Meaning::Nan => to.nan(),
            Meaning::Infinite(s) => to.infinity() | to.out_sign(s),
            Meaning::Finite(s, x) if x.is_zero() => {
                if s {
                    to.sign()
                } else {
                    0
                }
            }
            Meaning::Finite(s, x) => to.round(s, mode, |candidate| candidate.compare(&x)),
        }
    }

    /// Whether a number of this format is below the normal range of another, rounded to its places as though they had no
    /// end.
    pub(crate) fn rounds_below_normal(self, to: Format, a: u128, mode: &str) -> bool {
        let Meaning::Finite(s, x) = self.meaning(a) else {
            return false;
        };
        if x.is_zero() {
            return true;
        }
        let wide = to.unbounded();
        let bits = wide.round(s, mode, |candidate| candidate.compare(&x)) & (wide.out_sign(true) - 1);
        wide.magnitude(wide.exponent, bits)
            .compare(&to.magnitude(to.operand, 1 << to.fraction))
            .is_lt()
    }

    pub(crate) fn is_nan(self, a: u128) -> bool {
        matches!(self.meaning(a), Meaning::Nan)
    }

    /// A subnormal as a zero of its sign.
    pub(crate) fn flush(self, a: u128) -> u128 {
        let magnitude = a & (self.sign() - 1);
        if magnitude < 1 << self.fraction {
            a & self.sign()
        } else {
            a
        }
    }

    /// Clamped to [0, 1], NaN as 0.
    pub(crate) fn saturate(self, a: u128) -> u128 {
        if self.is_nan(a) || a & self.sign() != 0 {
            0
        } else {
            a.min(self.one())
        }
    }
}
