//! A value and how far from it a correct result can be.

use approx::abs_diff_eq;

/// A floating-point element of a kernel.
pub trait Real: Copy + PartialOrd + std::fmt::Debug {
    /// Half the distance from 1 to the next number: the largest relative error of a rounding.
    const ROUNDOFF: f64;
    /// The smallest positive number: the largest absolute error of a rounding that underflows.
    const TINY: f64;
    /// The largest finite number.
    const LARGEST: f64;

    /// The number, exactly.
    fn to_f64(self) -> f64;
}

impl Real for f32 {
    const ROUNDOFF: f64 = 1.0 / (1u64 << 24) as f64;
    const TINY: f64 = f32::from_bits(1) as f64;
    const LARGEST: f64 = f32::MAX as f64;

    fn to_f64(self) -> f64 {
        self.into()
    }
}

impl Real for f64 {
    const ROUNDOFF: f64 = 1.0 / (1u64 << 53) as f64;
    const TINY: f64 = f64::from_bits(1);
    const LARGEST: f64 = f64::MAX;

    fn to_f64(self) -> f64 {
        self
    }
}

/// The most additions that one term of a sum passes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Depth(pub u64);

impl Depth {
    /// One after the other, in any order and grouping: the worst of all ways to add `terms` terms.
    pub fn any_order(terms: usize) -> Self {
        Self((terms as u64).saturating_sub(1))
    }

    /// A balanced tree over `terms` terms.
    pub fn tree(terms: usize) -> Self {
        Self(u64::from(terms.next_power_of_two().trailing_zeros()))
    }

    /// `self`, then `next` on the results.
    #[must_use]
    pub fn then(self, next: Self) -> Self {
        Self(self.0 + next.0)
    }

    /// γ of this depth in units of T's roundoff; infinite where the bound says nothing.
    pub fn gamma<T: Real>(self) -> f64 {
        let ku = self.0 as f64 * T::ROUNDOFF;
        if ku < 1.0 { ku / (1.0 - ku) } else { f64::INFINITY }
    }
}

/// A reference value and the largest distance of a correct result from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// Largest absolute difference.
    pub bound: f64,
}

impl Estimate {
    /// A value that a correct result has exactly.
    pub fn exact(value: f64) -> Self {
        Self { value, bound: 0.0 }
    }

    /// Whether `got` is a correct result: within the bound; NaN where the value is NaN, the same infinity where it is
    /// infinite, and that infinity too where the type has no number as large as a correct result may be.
    pub fn admits<T: Real>(&self, got: T) -> bool {
        let got = got.to_f64();
        if self.value.is_finite() {
            let overflows = self.value.abs() + self.bound > T::LARGEST;
            abs_diff_eq!(got, self.value, epsilon = self.bound)
                || overflows && got == f64::INFINITY.copysign(self.value)
        } else {
            got == self.value || (got.is_nan() && self.value.is_nan())
        }
    }

    /// Whether `got` is a correct result of rounding to the nearest integer and saturating to 0..=255, as image kernels
    /// do: the pixel of some number within the bound.
    pub fn admits_pixel(&self, got: u8) -> bool {
        let pixel = |value: f64| value.round_ties_even().clamp(0.0, 255.0);
        (pixel(self.value - self.bound)..=pixel(self.value + self.bound)).contains(&f64::from(got))
    }
}

/// The first result that is not within its estimate's bound.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("element {index} is {got}; {value} within {bound:e} was expected")]
pub struct Outside {
    /// Element, from 0.
    pub index: usize,
    /// The result.
    pub got: f64,
    /// The reference value.
    pub value: f64,
    /// Its bound.
    pub bound: f64,
}

/// The first of `got` that its estimate does not admit.
///
/// # Panics
/// When the lengths differ: that is a mistake of the caller, not of a kernel.
pub fn first_outside<T: Real>(got: &[T], expected: &[Estimate]) -> Option<Outside> {
    assert_eq!(got.len(), expected.len(), "as many results as estimates");
    let index = got
        .iter()
        .zip(expected)
        .position(|(&got, expected)| !expected.admits(got))?;
    let Estimate { value, bound } = expected[index];
    Some(Outside {
        index,
        got: got[index].to_f64(),
        value,
        bound,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gamma_is_a_multiple_of_the_roundoff_and_infinite_where_it_says_nothing() {
        assert_eq!(Depth(0).gamma::<f32>(), 0.0);
        let one = Depth(1).gamma::<f32>();
        assert!(one > f32::ROUNDOFF && one < f32::ROUNDOFF * (1.0 + 1e-6));
        assert_eq!(Depth(1 << 24).gamma::<f32>(), f64::INFINITY);
        assert!(Depth(1 << 24).gamma::<f64>() < 1e-8);
    }

    #[test]
    fn depths_of_a_tree_and_of_a_chain() {
        assert_eq!([1, 2, 3, 4, 5, 1024].map(|n| Depth::tree(n).0), [0, 1, 2, 2, 3, 10]);
        assert_eq!([0, 1, 2, 100].map(|n| Depth::any_order(n).0), [0, 0, 1, 99]);
        assert_eq!(Depth(3).then(Depth(4)), Depth(7));
    }

    #[test]
    fn an_estimate_admits_what_is_within_its_bound_and_nothing_else() {
        let one = Estimate {
            value: 1.0,
            bound: 0.25,
        };
        assert!(one.admits(1.25f32) && one.admits(0.75f64));
        assert!(!one.admits(1.2501f32) && !one.admits(f32::NAN) && !one.admits(f64::INFINITY));
        assert!(Estimate::exact(f64::NAN).admits(f32::NAN) && !Estimate::exact(f64::NAN).admits(0.0f32));
        assert!(Estimate::exact(f64::INFINITY).admits(f32::INFINITY));
        assert!(!Estimate::exact(f64::INFINITY).admits(f32::NEG_INFINITY));
        let too_large = Estimate::exact(-3e39);
        assert!(too_large.admits(f32::NEG_INFINITY) && too_large.admits(-3e39f64));
        assert!(!too_large.admits(f32::INFINITY) && !too_large.admits(f64::NEG_INFINITY));
    }

    #[test]
    fn a_pixel_is_admitted_where_a_number_within_the_bound_rounds_to_it() {
        let pixel = Estimate {
            value: 2.45,
            bound: 0.1,
        };
        assert!(pixel.admits_pixel(2) && pixel.admits_pixel(3) && !pixel.admits_pixel(1) && !pixel.admits_pixel(4));
        assert!(
            Estimate {
                value: -7.0,
                bound: 0.5
            }
            .admits_pixel(0)
        );
        assert!(
            Estimate {
                value: 300.0,
                bound: 0.5
            }
            .admits_pixel(255)
        );
    }

    #[test]
    fn the_first_result_outside_is_named_with_both_values() {
        let expected = [
            Estimate::exact(1.0),
            Estimate { value: 2.0, bound: 0.5 },
            Estimate::exact(3.0),
        ];
        assert_eq!(first_outside(&[1.0f32, 2.5, 3.0], &expected), None);
        let outside = first_outside(&[1.0f32, 2.75, 4.0], &expected).unwrap();
        assert_eq!(outside.index, 1);
        assert_eq!(outside.to_string(), "element 1 is 2.75; 2 within 5e-1 was expected");
    }
}
