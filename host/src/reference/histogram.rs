//! Counts of values.

/// How often each of 0 to `bins` - 1 occurs in `values`; other values are not counted.
pub fn histogram<T: Copy + Into<u32>>(values: &[T], bins: usize) -> Vec<u32> {
    let mut counts = vec![0; bins];
    for &value in values {
        if let Some(count) = counts.get_mut(value.into() as usize) {
            *count += 1;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_and_those_without_a_bin_are_not() {
        assert_eq!(histogram(&[3u8, 0, 3, 255], 4), [1, 0, 0, 2]);
        assert_eq!(histogram(&[7u32, u32::MAX], 8), [0, 0, 0, 0, 0, 0, 0, 1]);
        assert!(histogram::<u8>(&[1], 0).is_empty());
    }

    #[test]
    fn the_counts_add_up_to_the_number_of_values() {
        let values: Vec<u8> = (0..10_000u32).map(|i| (i * i % 251) as u8).collect();
        assert_eq!(histogram(&values, 256).iter().sum::<u32>(), 10_000);
    }
}
