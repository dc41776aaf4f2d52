//! Prefix sums.

use super::estimate::{Depth, Estimate, Real};
use super::precise::Accumulator;
use super::reduce::Integer;

/// Element i is the sum of elements 0 to i, within γ(k)·Σ|x| over those, where k is the least of `depth` and i.
pub fn inclusive<T: Real>(values: &[T], depth: Depth) -> Vec<Estimate> {
    let mut total = Accumulator::default();
    let estimates = values.iter().enumerate().map(|(i, value)| {
        total.add(value.to_f64());
        estimate::<T>(&total, depth, i)
    });
    estimates.collect()
}

/// Element i is the sum of elements 0 to i - 1; element 0 is zero. Bound as for [`inclusive`].
pub fn exclusive<T: Real>(values: &[T], depth: Depth) -> Vec<Estimate> {
    let mut total = Accumulator::default();
    let estimates = values.iter().enumerate().map(|(i, value)| {
        let before = estimate::<T>(&total, depth, i.saturating_sub(1));
        total.add(value.to_f64());
        before
    });
    estimates.collect()
}

fn estimate<T: Real>(total: &Accumulator, depth: Depth, additions: usize) -> Estimate {
    let depth = Depth(depth.0.min(additions as u64));
    Estimate {
        value: total.value(),
        bound: depth.gamma::<T>() * total.sizes(),
    }
}

/// The inclusive sums modulo 2^bits.
pub fn wrapping_inclusive<T: Integer + Default>(values: &[T]) -> Vec<T> {
    let mut sum = T::default();
    let sums = values.iter().map(|&value| {
        sum = sum.add(value);
        sum
    });
    sums.collect()
}

/// The exclusive sums modulo 2^bits.
pub fn wrapping_exclusive<T: Integer + Default>(values: &[T]) -> Vec<T> {
    let mut sum = T::default();
    let mut sums = Vec::with_capacity(values.len());
    for &value in values {
        sums.push(sum);
        sum = sum.add(value);
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::super::first_outside;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn exclusive_is_inclusive_moved_by_one() {
        let values = [5u32, 1, u32::MAX, 2];
        assert_eq!(wrapping_inclusive(&values), [5, 6, 5, 7]);
        assert_eq!(wrapping_exclusive(&values), [0, 5, 6, 5]);
        assert!(wrapping_inclusive::<i64>(&[]).is_empty());
    }

    #[test]
    fn the_first_two_sums_of_floats_are_exact() {
        let values = [0.1f32, 0.2, 0.3];
        let depth = Depth::any_order(3);
        assert_eq!(exclusive(&values, depth)[0], Estimate::exact(0.0));
        assert_eq!(exclusive(&values, depth)[1], Estimate::exact(0.1f32.into()));
        assert_eq!(inclusive(&values, depth)[0], Estimate::exact(0.1f32.into()));
        assert!(inclusive(&values, depth)[2].bound > 0.0);
    }

    proptest! {
        #[test]
        fn adding_one_after_the_other_is_within_the_bounds(values in prop::collection::vec(-1e3f32..1e3, 0..300)) {
            let depth = Depth::any_order(values.len());
            let mut sum = 0f32;
            let sums: Vec<_> = values.iter().map(|x| { sum += x; sum }).collect();
            prop_assert_eq!(first_outside(&sums, &inclusive(&values, depth)), None);
            let shifted: Vec<_> = [0.0].into_iter().chain(sums).take(values.len()).collect();
            prop_assert_eq!(first_outside(&shifted, &exclusive(&values, depth)), None);
        }
    }
}
