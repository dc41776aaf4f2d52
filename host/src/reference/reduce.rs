//! Sums, minima and maxima.

use super::estimate::{Depth, Estimate, Real};
use super::precise::Accumulator;

/// An integer element of a kernel.
pub trait Integer: Copy {
    /// Sum in the type's own width, as a kernel's two's complement adders have it.
    fn add(self, other: Self) -> Self;
}

macro_rules! integers {
    ($($ty:ty),*) => {$(
        impl Integer for $ty {
            fn add(self, other: Self) -> Self { self.wrapping_add(other) }
        }
    )*};
}
integers!(i32, u32, i64, u64);

/// The sum, within γ(k)·Σ|x| where no element passes through more than k = `depth` additions.
pub fn sum<T: Real>(values: &[T], depth: Depth) -> Estimate {
    let total = accumulate(values);
    Estimate {
        value: total.value(),
        bound: depth.gamma::<T>() * total.sizes(),
    }
}

/// The sum, for kernels that carry the rounding error of every addition along: u·|s| + 2·γ(k)²·Σ|x|.
///
/// The errors of the additions amount to at most γ(k)·Σ|x|; adding them up, in any order over k levels, loses at most
/// γ(k) of that, and so does adding their partial sums to the rounded ones; the final rounding costs u·|s|.
pub fn compensated_sum<T: Real>(values: &[T], depth: Depth) -> Estimate {
    let total = accumulate(values);
    let gamma = depth.gamma::<T>();
    let bound = T::ROUNDOFF * total.value().abs() + 2.0 * gamma * gamma * total.sizes();
    Estimate {
        value: total.value(),
        bound,
    }
}

fn accumulate<T: Real>(values: &[T]) -> Accumulator {
    let mut total = Accumulator::default();
    values.iter().for_each(|value| total.add(value.to_f64()));
    total
}

/// The sum modulo 2^bits: exact, in any order.
pub fn wrapping_sum<T: Integer + Default>(values: &[T]) -> T {
    values.iter().fold(T::default(), |sum, &value| sum.add(value))
}

/// Index and value of the smallest element, the first among equals; NaN is skipped (as `f32::min` does). `None` when
/// there is nothing but NaN.
pub fn argmin<T: Copy + PartialOrd>(values: &[T]) -> Option<(usize, T)> {
    best(values, |candidate, best| candidate < best)
}

/// As [`argmin`], for the largest.
pub fn argmax<T: Copy + PartialOrd>(values: &[T]) -> Option<(usize, T)> {
    best(values, |candidate, best| candidate > best)
}

#[allow(clippy::eq_op, reason = "a number that differs from itself is NaN")]
fn best<T: Copy + PartialOrd>(values: &[T], better: impl Fn(T, T) -> bool) -> Option<(usize, T)> {
    let mut found: Option<(usize, T)> = None;
    for (index, &value) in values.iter().enumerate() {
        let is_number = value == value;
        if is_number && found.is_none_or(|(_, best)| better(value, best)) {
            found = Some((index, value));
        }
    }
    found
}

/// The smallest element, NaN skipped; `None` when there is nothing but NaN.
pub fn min<T: Copy + PartialOrd>(values: &[T]) -> Option<T> {
    argmin(values).map(|(_, value)| value)
}

/// The largest element, NaN skipped; `None` when there is nothing but NaN.
pub fn max<T: Copy + PartialOrd>(values: &[T]) -> Option<T> {
    argmax(values).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_sum_of_tenths_is_that_of_the_f32_nearest_to_a_tenth() {
        let n = 1 << 20;
        let tenths = vec![0.1f32; n];
        let estimate = sum(&tenths, Depth::tree(n));
        assert_eq!(estimate.value, f64::from(0.1f32) * n as f64);
        assert!(estimate.admits(pairwise(&tenths)));
        // One after the other is worse than a tree, and the tree's bound says so.
        assert!(!estimate.admits(tenths.iter().sum::<f32>()));
        assert!(sum(&tenths, Depth::any_order(n)).admits(tenths.iter().sum::<f32>()));
    }

    fn pairwise(values: &[f32]) -> f32 {
        match values {
            [] => 0.0,
            [value] => *value,
            _ => {
                let (left, right) = values.split_at(values.len() / 2);
                pairwise(left) + pairwise(right)
            }
        }
    }

    fn neumaier(values: &[f32]) -> f32 {
        let (mut sum, mut error) = (0f32, 0f32);
        for &x in values {
            let next = sum + x;
            error += if sum.abs() >= x.abs() {
                (sum - next) + x
            } else {
                (x - next) + sum
            };
            sum = next;
        }
        sum + error
    }

    #[test]
    fn integers_wrap() {
        assert_eq!(wrapping_sum(&[i32::MAX, 1]), i32::MIN);
        assert_eq!(wrapping_sum(&[u32::MAX, 3]), 2);
        assert_eq!(wrapping_sum(&[i64::MIN, -1]), i64::MAX);
        assert_eq!(wrapping_sum::<u32>(&[]), 0);
    }

    #[test]
    fn the_first_of_equal_elements_wins_and_nan_never_does() {
        assert_eq!(argmin(&[3, 1, 2, 1]), Some((1, 1)));
        assert_eq!(argmax(&[f32::NAN, 1.0, 4.0, 4.0, f32::NAN]), Some((2, 4.0)));
        assert_eq!(argmin(&[0.0f64, -0.0]).map(|(i, v)| (i, v.to_bits())), Some((0, 0)));
        assert_eq!(argmin(&[f32::NAN, f32::INFINITY]), Some((1, f32::INFINITY)));
        assert_eq!(argmin(&[f32::NAN]), None);
        assert_eq!(
            (min(&[2u32, 1]), max(&[2u32, 1]), min::<i64>(&[])),
            (Some(1), Some(2), None)
        );
    }

    proptest! {
        #[test]
        fn every_order_of_addition_is_within_the_bound(values in prop::collection::vec(-1e3f32..1e3, 1..500)) {
            let any = sum(&values, Depth::any_order(values.len()));
            prop_assert!(any.admits(values.iter().sum::<f32>()));
            prop_assert!(any.admits(values.iter().rev().sum::<f32>()));
            prop_assert!(sum(&values, Depth::tree(values.len())).admits(pairwise(&values)));
        }

        #[test]
        fn a_compensated_sum_is_within_its_much_smaller_bound(values in prop::collection::vec(-1e3f32..1e3, 2..500)) {
            let depth = Depth::any_order(values.len());
            let compensated = compensated_sum(&values, depth);
            prop_assert!(compensated.admits(neumaier(&values)));
            let cancellation = compensated.value.abs() < 1e-3;
            prop_assert!(cancellation || values.len() < 10 || compensated.bound < sum(&values, depth).bound);
        }
    }
}
