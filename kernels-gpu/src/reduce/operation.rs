//! What is done to the elements.

use core::marker::PhantomData;

use cuda_std::vector::Element;
use cuda_std::warp::{FULL_WARP, Shuffle, shuffle_xor};

/// An element.
pub trait Number: Element + PartialOrd + Shuffle {
    /// The sum of nothing.
    const ZERO: Self;
    /// What leaves every other element as it is under [`smaller`](Self::smaller).
    const NO_MINIMUM: Self;
    /// What leaves every other element as it is under [`larger`](Self::larger).
    const NO_MAXIMUM: Self;

    /// The sum; integers wrap.
    #[must_use]
    fn plus(self, other: Self) -> Self;
    /// The smaller; a number rather than NaN.
    #[must_use]
    fn smaller(self, other: Self) -> Self;
    /// The larger; a number rather than NaN.
    #[must_use]
    fn larger(self, other: Self) -> Self;
}

macro_rules! numbers {
    ($($ty:ty: $zero:expr, $no_minimum:expr, $no_maximum:expr, $plus:expr;)*) => {$(
        impl Number for $ty {
            const ZERO: Self = $zero;
            const NO_MINIMUM: Self = $no_minimum;
            const NO_MAXIMUM: Self = $no_maximum;

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                $plus(self, other)
            }

            #[inline(always)]
            fn smaller(self, other: Self) -> Self {
                self.min(other)
            }

            #[inline(always)]
            fn larger(self, other: Self) -> Self {
                self.max(other)
            }
        }
    )*};
}

// NaN as the neutral element: `min` and `max` prefer the other operand, and of nothing but NaN the minimum is NaN.
numbers! {
    f32: 0.0, f32::NAN, f32::NAN, |a, b| a + b;
    f64: 0.0, f64::NAN, f64::NAN, |a, b| a + b;
    i32: 0, i32::MAX, i32::MIN, i32::wrapping_add;
    u32: 0, u32::MAX, u32::MIN, u32::wrapping_add;
    i64: 0, i64::MAX, i64::MIN, i64::wrapping_add;
}

/// A reduction of elements of type `T`: associative up to rounding.
pub trait Operation<T> {
    /// The result of some of the elements.
    type Partial: Copy;

    /// Of no element.
    const NOTHING: Self::Partial;

    /// Of `partial`'s elements and one more, which lies behind all of them, at `index`.
    fn append(partial: Self::Partial, value: T, index: u64) -> Self::Partial;

    /// Of the elements of both.
    fn combine(a: Self::Partial, b: Self::Partial) -> Self::Partial;

    /// The partial of the lane whose number differs in the bits of `bits`.
    fn exchange(partial: Self::Partial, bits: u32) -> Self::Partial;
}

/// Combines the partials of a warp's 32 lanes; every lane has the result.
#[inline(always)]
pub(super) fn across_warp<T, O: Operation<T>>(mut partial: O::Partial) -> O::Partial {
    let mut bits = 16;
    while bits > 0 {
        partial = O::combine(partial, O::exchange(partial, bits));
        bits /= 2;
    }
    partial
}

macro_rules! plain {
    ($($(#[$doc:meta])* $name:ident, $nothing:ident, $combine:ident;)*) => {$(
        $(#[$doc])*
        pub struct $name;

        impl<T: Number> Operation<T> for $name {
            type Partial = T;

            const NOTHING: T = T::$nothing;

            #[inline(always)]
            fn append(partial: T, value: T, _index: u64) -> T {
                partial.$combine(value)
            }

            #[inline(always)]
            fn combine(a: T, b: T) -> T {
                a.$combine(b)
            }

            #[inline(always)]
            fn exchange(partial: T, bits: u32) -> T {
                shuffle_xor(FULL_WARP, partial, bits)
            }
        }
    )*};
}

plain! {
    /// The sum.
    Sum, ZERO, plus;
    /// The smallest element.
    Min, NO_MINIMUM, smaller;
    /// The largest element.
    Max, NO_MAXIMUM, larger;
}

/// An `f32` sum and the rounding errors made on the way.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
pub struct Compensated {
    /// The rounded sum.
    pub sum: f32,
    /// What rounding took from it.
    pub error: f32,
}

/// The sum of `f32`, carrying the error of every addition along.
pub struct CompensatedSum;

/// `a + b` rounded, and what rounding took (Knuth's TwoSum).
#[inline(always)]
fn two_sum(a: f32, b: f32) -> Compensated {
    let sum = a + b;
    let shadow = sum - a;
    Compensated {
        sum,
        error: (a - (sum - shadow)) + (b - shadow),
    }
}

impl Operation<f32> for CompensatedSum {
    type Partial = Compensated;

    const NOTHING: Compensated = Compensated { sum: 0.0, error: 0.0 };

    #[inline(always)]
    fn append(partial: Compensated, value: f32, _index: u64) -> Compensated {
        let Compensated { sum, error } = two_sum(partial.sum, value);
        Compensated {
            sum,
            error: partial.error + error,
        }
    }

    #[inline(always)]
    fn combine(a: Compensated, b: Compensated) -> Compensated {
        let Compensated { sum, error } = two_sum(a.sum, b.sum);
        Compensated {
            sum,
            error: (a.error + b.error) + error,
        }
    }

    #[inline(always)]
    fn exchange(partial: Compensated, bits: u32) -> Compensated {
        Compensated {
            sum: shuffle_xor(FULL_WARP, partial.sum, bits),
            error: shuffle_xor(FULL_WARP, partial.error, bits),
        }
    }
}

/// The best element so far and its place.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Best<T> {
    /// Place, from 0; [`NOWHERE`](Self::NOWHERE) while there is none.
    pub index: u64,
    /// The element; unspecified while there is none.
    pub value: T,
}

impl<T> Best<T> {
    /// The place of no element: nothing was looked at, or nothing but NaN.
    pub const NOWHERE: u64 = u64::MAX;
}

/// Which of two elements is the better one.
pub trait Preference<T> {
    /// Whether `a` is better than `b`. No element is better than itself, NaN better than nothing and nothing than NaN.
    fn better(a: T, b: T) -> bool;
}

/// The smaller one is better.
pub struct Smallest;
/// The larger one is better.
pub struct Largest;

impl<T: Number> Preference<T> for Smallest {
    #[inline(always)]
    fn better(a: T, b: T) -> bool {
        a < b
    }
}

impl<T: Number> Preference<T> for Largest {
    #[inline(always)]
    fn better(a: T, b: T) -> bool {
        a > b
    }
}

/// The best element and its place, the first of equal ones; NaN is skipped.
pub struct ArgBest<P>(PhantomData<P>);

impl<T: Number, P: Preference<T>> Operation<T> for ArgBest<P> {
    type Partial = Best<T>;

    const NOTHING: Best<T> = Best {
        index: Best::<T>::NOWHERE,
        value: T::ZERO,
    };

    #[inline(always)]
    #[allow(clippy::eq_op)]
    fn append(partial: Best<T>, value: T, index: u64) -> Best<T> {
        let is_number = value == value;
        let is_first = (partial.index == Best::<T>::NOWHERE) & is_number;
        if P::better(value, partial.value) | is_first {
            Best { index, value }
        } else {
            partial
        }
    }

    #[inline(always)]
    fn combine(a: Best<T>, b: Best<T>) -> Best<T> {
        // Nowhere is behind every place, so that an element wins over none where the values are equal.
        let b_exists = b.index != Best::<T>::NOWHERE;
        let a_is_none = a.index == Best::<T>::NOWHERE;
        // Without `&&` and `||`: comparing costs less than branching.
        let b_wins = P::better(b.value, a.value) | ((b.index < a.index) & !P::better(a.value, b.value));
        if b_exists & (a_is_none | b_wins) { b } else { a }
    }

    #[inline(always)]
    fn exchange(partial: Best<T>, bits: u32) -> Best<T> {
        Best {
            index: shuffle_xor(FULL_WARP, partial.index, bits),
            value: shuffle_xor(FULL_WARP, partial.value, bits),
        }
    }
}
