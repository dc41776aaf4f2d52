//! Binary floating point of any format, computed exactly and rounded once, in any rounding mode.
//!
//! The host's arithmetic rounds to nearest only, and knows neither the 8-, 16- nor the 19-bit formats. Whatever it cannot
//! do is done here: operands become integers times powers of two, the result is exact up to a sticky bit, and
//! [`Format::round`] is the only place that rounds.

/// Rounding modes, named as PTX does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Round {
    /// `.rn`: to nearest, ties to even.
    Nearest,
    /// `.rna`: to nearest, ties away from zero.
    Away,
    /// `.rz`: towards zero.
    Zero,
    /// `.rm`: towards minus infinity.
    Down,
    /// `.rp`: towards plus infinity.
    Up,
}

impl Round {
    /// From `rn`, `rna`, `rz`, `rm`, `rp`.
    pub(crate) fn from_word(word: &str) -> Option<Self> {
        Some(match word {
            "rn" => Self::Nearest,
            "rna" => Self::Away,
            "rz" => Self::Zero,
            "rm" => Self::Down,
            "rp" => Self::Up,
            _ => return None,
        })
    }

    /// Whether a magnitude whose discarded part is `half` (compared with one half of the last place) grows.
    fn grows(self, negative: bool, odd: bool, half: std::cmp::Ordering, exact: bool) -> bool {
        match self {
            Self::Nearest => half.is_gt() || (half.is_eq() && odd),
            Self::Away => half.is_ge(),
            Self::Zero => false,
            Self::Down => negative && !exact,
            Self::Up => !negative && !exact,
        }
    }
}

/// A nonzero number: `mantissa * 2^exponent`, its last bit set if anything smaller was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exact {
    pub(crate) negative: bool,
    /// Never zero. Bit 126 is the highest set once [`Exact::new`] has made it.
    pub(crate) mantissa: u128,
    pub(crate) exponent: i32,
}

/// A number as an operand has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    Nan,
    Infinity { negative: bool },
    Zero { negative: bool },
    Finite(Exact),
}

/// The highest bit of a normalised mantissa; one above it is left for the carry of a sum.
const TOP: u32 = 126;

impl Exact {
    /// Normalised; `mantissa` must not be zero. Exact for mantissas of up to 127 bits.
    pub(crate) fn new(negative: bool, mantissa: u128, exponent: i32) -> Self {
        let lead = 127 - mantissa.leading_zeros();
        let (mantissa, exponent) = if lead > TOP {
            ((mantissa >> 1) | (mantissa & 1), exponent + 1)
        } else {
            (mantissa << (TOP - lead), exponent - (TOP - lead) as i32)
        };
        Self {
            negative,
            mantissa,
            exponent,
        }
    }

    /// Exact for mantissas of up to 63 significant bits each.
    pub(crate) fn mul(self, other: Self) -> Self {
        // Significant bits stand at the top of 126; both fit 63 bits for every format here (at most 53).
        let (a, b) = (self.mantissa >> 64, other.mantissa >> 64);
        Self::new(
            self.negative ^ other.negative,
            a * b,
            self.exponent + other.exponent + 128,
        )
    }

    /// The quotient, sticky.
    pub(crate) fn div(self, other: Self) -> Self {
        let (a, b) = (self.mantissa, other.mantissa >> 64);
        let (q, r) = (a / b, a % b);
        Self::new(
            self.negative ^ other.negative,
            (q << 1) | u128::from(r != 0),
            self.exponent - other.exponent - 65,
        )
    }

    /// The square root of the magnitude, sticky.
    pub(crate) fn sqrt(self) -> Self {
        let odd = self.exponent & 1;
        let m = self.mantissa << odd;
        let root = m.isqrt();
        Self::new(
            false,
            (root << 1) | u128::from(root * root != m),
            (self.exponent - odd) / 2 - 1,
        )
    }

    /// The sum, or `None` where it is exactly zero. Exact or sticky for mantissas of up to 110 bits.
    pub(crate) fn add(self, other: Self) -> Option<Self> {
        let (big, small) = if (self.exponent, self.mantissa) >= (other.exponent, other.mantissa) {
            (self, other)
        } else {
            (other, self)
        };
        let distance = (big.exponent - small.exponent) as u32;
        let shifted = if distance >= 128 {
            1
        } else {
            let lost = small.mantissa & ((1u128 << distance) - 1) != 0;
            (small.mantissa >> distance) | u128::from(lost)
        };
        if big.negative == small.negative {
            Some(Self::new(big.negative, big.mantissa + shifted, big.exponent))
        } else if big.mantissa == shifted {
            None
        } else {
            Some(Self::new(big.negative, big.mantissa - shifted, big.exponent))
        }
    }
}

/// Which bit patterns of a format are no numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Specials {
    /// The highest exponent holds infinity and NaNs.
    Ieee,
    /// Only all ones is a NaN; there is no infinity (`e4m3`).
    NanOnly,
    /// None at all (`e2m1`, `e2m3`, `e3m2`).
    None,
}

/// A binary floating-point format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    /// Bits of the exponent.
    pub(crate) exponent: u32,
    /// Bits of the fraction as stored.
    pub(crate) fraction: u32,
    pub(crate) specials: Specials,
}

impl Format {
    pub(crate) const F16: Self = Self::ieee(5, 10);
    pub(crate) const BF16: Self = Self::ieee(8, 7);
    /// As 19 bits; in a register it stands in the upper bits of a 32-bit value.
    pub(crate) const TF32: Self = Self::ieee(8, 10);
    pub(crate) const F32: Self = Self::ieee(8, 23);
    pub(crate) const F64: Self = Self::ieee(11, 52);
    pub(crate) const E5M2: Self = Self::ieee(5, 2);
    pub(crate) const E4M3: Self = Self {
        exponent: 4,
        fraction: 3,
        specials: Specials::NanOnly,
    };

    const fn ieee(exponent: u32, fraction: u32) -> Self {
        Self {
            exponent,
            fraction,
            specials: Specials::Ieee,
        }
    }

    const fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    const fn sign_bit(self) -> u64 {
        1 << (self.exponent + self.fraction)
    }

    const fn magnitude_mask(self) -> u64 {
        self.sign_bit() - 1
    }

    /// The pattern after the largest finite one: infinity where there is one.
    const fn overflow(self) -> u64 {
        match self.specials {
            Specials::Ieee => ((1 << self.exponent) - 1) << self.fraction,
            Specials::NanOnly => self.magnitude_mask(),
            Specials::None => self.sign_bit(),
        }
    }

    /// The NaN that the hardware makes of operands that are none: all ones but the sign (`0x7fffffff`, `0x7fff`, `0x7f`);
    /// for f64 a negative one with no payload.
    pub(crate) const fn nan(self) -> u64 {
        if self.fraction == 52 {
            0xfff8_0000_0000_0000
        } else {
            self.magnitude_mask()
        }
    }

    pub(crate) const fn infinity(self, negative: bool) -> u64 {
        self.signed(self.overflow(), negative)
    }

    pub(crate) const fn zero(self, negative: bool) -> u64 {
        self.signed(0, negative)
    }

    pub(crate) const fn largest(self, negative: bool) -> u64 {
        self.signed(self.overflow() - 1, negative)
    }

    const fn signed(self, magnitude: u64, negative: bool) -> u64 {
        if negative {
            magnitude | self.sign_bit()
        } else {
            magnitude
        }
    }

    /// Whether `bits` is a nonzero number below the smallest normal one.
    pub(crate) const fn is_subnormal(self, bits: u64) -> bool {
        let magnitude = bits & self.magnitude_mask();
        magnitude != 0 && magnitude < (1 << self.fraction)
    }

    /// `bits`, or a zero of its sign if it is subnormal.
    pub(crate) const fn flush(self, bits: u64) -> u64 {
        if self.is_subnormal(bits) {
            bits & self.sign_bit()
        } else {
            bits
        }
    }

    /// What the pattern `bits` means.
    pub(crate) fn unpack(self, bits: u64) -> Number {
        let negative = bits & self.sign_bit() != 0;
        let magnitude = bits & self.magnitude_mask();
        if magnitude == 0 {
            return Number::Zero { negative };
        }
        if magnitude >= self.overflow() && self.specials != Specials::None {
            return if self.specials == Specials::Ieee && magnitude == self.overflow() {
                Number::Infinity { negative }
            } else {
                Number::Nan
            };
        }
        let field = magnitude >> self.fraction;
        let fraction = magnitude & ((1 << self.fraction) - 1);
        let smallest = 1 - self.bias() - self.fraction as i32;
        let exact = if field == 0 {
            Exact::new(negative, fraction.into(), smallest)
        } else {
            Exact::new(
                negative,
                (fraction | 1 << self.fraction).into(),
                smallest + field as i32 - 1,
            )
        };
        Number::Finite(exact)
    }

    /// The value of this format nearest to `exact` in the sense of `round`; the format's infinity (or what stands in its
    /// place) if it overflows in a mode that rounds away from zero there.
    pub(crate) fn round(self, exact: Exact, round: Round) -> u64 {
        let top = exact.exponent + TOP as i32;
        let field = top + self.bias();
        let negative = exact.negative;
        if field >= (1 << self.exponent) {
            return self.overflowed(negative, round);
        }
        // Below the normal range the last place stays where it is, so fewer bits are kept.
        let keep = if field >= 1 {
            self.fraction as i32 + 1
        } else {
            self.fraction as i32 + field
        };
        let (kept, half, is_exact) = if keep < 0 {
            (0, std::cmp::Ordering::Less, false)
        } else {
            let shift = TOP + 1 - keep as u32;
            let rest = exact.mantissa & ((1u128 << shift) - 1);
            let kept = (exact.mantissa >> shift) as u64;
            (kept, rest.cmp(&(1u128 << (shift - 1))), rest == 0)
        };
        let base = if field >= 1 {
            ((field - 1) as u64) << self.fraction
        } else {
            0
        };
        let grown = u64::from(round.grows(negative, kept & 1 == 1, half, is_exact));
        // A carry out of the fraction moves into the exponent, as it should.
        let magnitude = base + kept + grown;
        if magnitude >= self.overflow() {
            return self.overflowed(negative, round);
        }
        self.signed(magnitude, negative)
    }

    fn overflowed(self, negative: bool, round: Round) -> u64 {
        let away = match round {
            Round::Nearest | Round::Away => true,
            Round::Zero => false,
            Round::Down => negative,
            Round::Up => !negative,
        };
        if away {
            self.infinity(negative)
        } else {
            self.largest(negative)
        }
    }

    /// `number` in this format.
    pub(crate) fn pack(self, number: Number, round: Round) -> u64 {
        match number {
            Number::Nan => self.nan(),
            Number::Infinity { negative } => self.infinity(negative),
            Number::Zero { negative } => self.zero(negative),
            Number::Finite(exact) => self.round(exact, round),
        }
    }

    /// `a * b + c`, rounded once.
    pub(crate) fn fma(self, a: u64, b: u64, c: u64, round: Round) -> u64 {
        self.pack(
            sum(product(self.unpack(a), self.unpack(b)), self.unpack(c), round),
            round,
        )
    }

    /// `a + b`
    pub(crate) fn add(self, a: u64, b: u64, round: Round) -> u64 {
        self.pack(sum(self.unpack(a), self.unpack(b), round), round)
    }

    /// `a * b`
    pub(crate) fn mul(self, a: u64, b: u64, round: Round) -> u64 {
        self.pack(product(self.unpack(a), self.unpack(b)), round)
    }

    /// `a / b`
    pub(crate) fn div(self, a: u64, b: u64, round: Round) -> u64 {
        use Number::{Finite, Infinity, Nan, Zero};
        let quotient = match (self.unpack(a), self.unpack(b)) {
            (Nan, _) | (_, Nan) | (Infinity { .. }, Infinity { .. }) | (Zero { .. }, Zero { .. }) => Nan,
            (x @ (Infinity { .. } | Finite(_)), y @ (Zero { .. } | Finite(_)))
                if matches!(x, Infinity { .. }) || matches!(y, Zero { .. }) =>
            {
                Infinity {
                    negative: x.negative() ^ y.negative(),
                }
            }
            (Finite(x), Finite(y)) => Finite(x.div(y)),
            (x, y) => Zero {
                negative: x.negative() ^ y.negative(),
            },
        };
        self.pack(quotient, round)
    }

    /// The square root.
    pub(crate) fn sqrt(self, a: u64, round: Round) -> u64 {
        let root = match self.unpack(a) {
            Number::Finite(x) if !x.negative => Number::Finite(x.sqrt()),
            Number::Finite(_) | Number::Infinity { negative: true } => Number::Nan,
            other => other,
        };
        self.pack(root, round)
    }
}

impl Number {
    pub(crate) fn negative(self) -> bool {
        match self {
            Self::Nan => false,
            Self::Infinity { negative } | Self::Zero { negative } => negative,
            Self::Finite(exact) => exact.negative,
        }
    }
}

/// The exact product.
pub(crate) fn product(a: Number, b: Number) -> Number {
    use Number::{Finite, Infinity, Nan, Zero};
    let negative = a.negative() ^ b.negative();
    match (a, b) {
        (Nan, _) | (_, Nan) => Nan,
        (Infinity { .. }, Zero { .. }) | (Zero { .. }, Infinity { .. }) => Nan,
        (Infinity { .. }, _) | (_, Infinity { .. }) => Infinity { negative },
        (Zero { .. }, _) | (_, Zero { .. }) => Zero { negative },
        (Finite(x), Finite(y)) => Finite(x.mul(y)),
    }
}

/// The exact sum. An exact zero of two signs is negative only when rounding down.
pub(crate) fn sum(a: Number, b: Number, round: Round) -> Number {
    use Number::{Finite, Infinity, Nan, Zero};
    let cancelled = Zero {
        negative: round == Round::Down,
    };
    match (a, b) {
        (Nan, _) | (_, Nan) => Nan,
        (Infinity { negative: x }, Infinity { negative: y }) => {
            if x == y {
                a
            } else {
                Nan
            }
        }
        (Infinity { .. }, _) => a,
        (_, Infinity { .. }) => b,
        (Zero { negative: x }, Zero { negative: y }) => {
            if x == y {
                a
            } else {
                cancelled
            }
        }
        (Zero { .. }, _) => b,
        (_, Zero { .. }) => a,
        (Finite(x), Finite(y)) => x.add(y).map_or(cancelled, Finite),
    }
}
