//! Comparing a device's result with the CPU's.

use std::fmt::{self, Debug};

use approx::{AbsDiffEq, RelativeEq, UlpsEq};
use bytemuck::{Pod, bytes_of};

/// What differs between a result and what was expected.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch<T> {
    /// Index of the first element that differs.
    pub index: usize,
    /// What was expected there.
    pub expected: T,
    /// What is there.
    pub actual: T,
    /// How many elements differ.
    pub count: usize,
    /// How many were compared.
    pub total: usize,
    /// Columns of a row-major matrix, where the elements are one: the message gives row and column too.
    pub cols: Option<usize>,
}

impl<T> Mismatch<T> {
    /// The same, of a row-major matrix with so many columns.
    #[must_use]
    pub fn in_matrix(self, cols: usize) -> Self {
        Self {
            cols: Some(cols),
            ..self
        }
    }
}

impl<T: Debug> fmt::Display for Mismatch<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            index,
            expected,
            actual,
            count,
            total,
            cols,
        } = self;
        write!(f, "element {index}")?;
        if let Some(cols) = cols.filter(|&cols| cols > 0) {
            write!(f, " (row {}, column {})", index / cols, index % cols)?;
        }
        write!(
            f,
            " is {actual:?}, expected {expected:?}; {count} of {total} elements differ"
        )
    }
}

impl<T: Debug> std::error::Error for Mismatch<T> {}

/// Why two slices do not agree.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Difference<T: Debug> {
    /// They have different lengths.
    #[error("{actual} elements, expected {expected}")]
    Length {
        /// Of what was expected.
        expected: usize,
        /// Of the result.
        actual: usize,
    },
    /// Elements differ.
    #[error(transparent)]
    Elements(Mismatch<T>),
}

impl<T: Debug> Difference<T> {
    /// The same, of a row-major matrix with so many columns.
    #[must_use]
    pub fn in_matrix(self, cols: usize) -> Self {
        match self {
            Self::Elements(mismatch) => Self::Elements(mismatch.in_matrix(cols)),
            length @ Self::Length { .. } => length,
        }
    }
}

/// How far a result may be from what was expected. An element is accepted if either bound holds; NaN is accepted where NaN
/// was expected, and an infinity where the same infinity was.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance<E> {
    /// Largest difference.
    pub absolute: E,
    /// Largest difference as a fraction of the larger of the two magnitudes.
    pub relative: E,
}

/// Compares bit by bit: NaN equals the same NaN, and -0.0 is not 0.0.
///
/// # Errors
/// The first difference, and how many there are.
pub fn identical<T: Pod + Debug>(actual: &[T], expected: &[T]) -> Result<(), Difference<T>> {
    compare(actual, expected, |a, b| bytes_of(a) == bytes_of(b))
}

/// Compares within a tolerance.
///
/// # Errors
/// The first difference, and how many there are.
pub fn close<T>(actual: &[T], expected: &[T], tolerance: Tolerance<T::Epsilon>) -> Result<(), Difference<T>>
where
    T: Copy + Debug + RelativeEq,
    T::Epsilon: Copy,
{
    compare(actual, expected, |a, b| {
        both_nan(a, b) || RelativeEq::relative_eq(a, b, tolerance.absolute, tolerance.relative)
    })
}

/// Compares within a number of units in the last place.
///
/// # Errors
/// The first difference, and how many there are.
pub fn within_ulps<T>(actual: &[T], expected: &[T], ulps: u32) -> Result<(), Difference<T>>
where
    T: Copy + Debug + UlpsEq,
    T::Epsilon: Default,
{
    compare(actual, expected, |a, b| {
        both_nan(a, b) || UlpsEq::ulps_eq(a, b, T::Epsilon::default(), ulps)
    })
}

/// Of all numbers only NaN differs from itself.
#[allow(clippy::eq_op)]
fn both_nan<T: AbsDiffEq>(a: &T, b: &T) -> bool {
    a != a && b != b
}

fn compare<T: Copy + Debug>(actual: &[T], expected: &[T], same: impl Fn(&T, &T) -> bool) -> Result<(), Difference<T>> {
    if actual.len() != expected.len() {
        return Err(Difference::Length {
            expected: expected.len(),
            actual: actual.len(),
        });
    }
    let mut wrong = actual
        .iter()
        .zip(expected)
        .enumerate()
        .filter(|(_, (a, b))| !same(a, b));
    match wrong.next() {
        None => Ok(()),
        Some((index, (&actual, &expected_here))) => Err(Difference::Elements(Mismatch {
            index,
            expected: expected_here,
            actual,
            count: 1 + wrong.count(),
            total: expected.len(),
            cols: None,
        })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_mismatch_is_reported_with_its_place_and_the_count() {
        let error = identical(&[1, 2, 9, 4, 9, 6], &[1, 2, 3, 4, 5, 6])
            .unwrap_err()
            .in_matrix(2);
        assert_eq!(
            error.to_string(),
            "element 2 (row 1, column 0) is 9, expected 3; 2 of 6 elements differ"
        );
    }

    #[test]
    fn lengths_are_compared_first() {
        let error = identical(&[1.0f32], &[]).unwrap_err();
        assert_eq!(error, Difference::Length { expected: 0, actual: 1 });
        assert_eq!(error.to_string(), "1 elements, expected 0");
    }

    #[test]
    fn identical_means_the_bits() {
        let quiet = f32::from_bits(0x7fc0_0001);
        identical(&[quiet, f32::INFINITY], &[quiet, f32::INFINITY]).unwrap();
        assert!(identical(&[-0.0f32], &[0.0]).is_err());
        assert!(identical(&[quiet], &[f32::NAN]).is_err());
    }

    #[test]
    fn close_accepts_either_bound_and_nan_for_nan() {
        let tolerance = Tolerance {
            absolute: 1e-3,
            relative: 1e-6,
        };
        close(
            &[1.0005, f64::NAN, f64::INFINITY, 1_000_000.5],
            &[1.0, f64::NAN, f64::INFINITY, 1e6],
            tolerance,
        )
        .unwrap();
        for (actual, expected) in [
            (1.01, 1.0),
            (f64::NAN, 1.0),
            (1.0, f64::NAN),
            (f64::NEG_INFINITY, f64::INFINITY),
        ] {
            assert!(
                close(&[actual], &[expected], tolerance).is_err(),
                "{actual} for {expected}"
            );
        }
    }

    #[test]
    fn ulps_are_counted() {
        let next = f32::from_bits(1.0f32.to_bits() + 2);
        within_ulps(&[next], &[1.0], 2).unwrap();
        assert!(within_ulps(&[next], &[1.0], 1).is_err());
    }
}
