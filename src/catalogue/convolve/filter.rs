//! Filters: what a pixel's neighbours count.

use kernels_gpu::convolve::ANY_MAX_RADIUS;
use tile33_host::reference::filters;

/// A square of weights with a middle: 2R + 1 rows and columns, R the radius.
///
/// Where the weights are a product, `weights[i][j] = down[i] * across[j]`, the filter is *separable*: a line along the rows,
/// then one along the columns, 2 (2R + 1) multiplications a pixel instead of (2R + 1)².
///
/// ```
/// use tile33::catalogue::convolve::Filter;
///
/// let blur = Filter::gaussian(3, 1.5)?;
/// assert_eq!((blur.side(), blur.is_separable()), (7, true));
/// let edges = Filter::square(&[0.0, 1.0, 0.0, 1.0, -4.0, 1.0, 0.0, 1.0, 0.0])?;
/// assert_eq!((edges.radius(), edges.is_separable()), (1, false));
/// # Ok::<(), tile33::catalogue::convolve::FilterError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    radius: u32,
    weights: Weights,
}

#[derive(Clone, Debug, PartialEq)]
enum Weights {
    Lines { across: Vec<f32>, down: Vec<f32> },
    Square(Vec<f32>),
}

/// Why something is no filter.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FilterError {
    /// An even number of weights in a line: none is in the middle.
    #[error("a filter of {side} weights a line has none in the middle: give an odd number")]
    EvenSide {
        /// Weights of a line.
        side: usize,
    },
    /// A number of weights that no square has.
    #[error("{weights} weights are no square: 9 are 3 x 3, 25 are 5 x 5, ..")]
    NoSquare {
        /// Weights given.
        weights: usize,
    },
    /// Lines of different lengths.
    #[error(
        "{across} weights along the rows and {down} along the columns: pad the shorter line with zeros on both sides"
    )]
    UnequalLines {
        /// Weights along a row.
        across: usize,
        /// Weights along a column.
        down: usize,
    },
    /// A filter larger than the kernels take.
    #[error("a filter of radius {radius}: at most {ANY_MAX_RADIUS} is possible")]
    TooLarge {
        /// Asked for.
        radius: usize,
    },
    /// A Gaussian without a width.
    #[error("a Gaussian of standard deviation {sigma}: it must be a number of pixels greater than 0")]
    Sigma {
        /// Asked for.
        sigma: f64,
    },
}

impl Filter {
    /// The average over the square.
    ///
    /// # Errors
    /// [`FilterError::TooLarge`].
    pub fn box_blur(radius: usize) -> Result<Self, FilterError> {
        check_radius(radius)?;
        let line = filters::box_line(radius);
        Self::separable(&line, &line)
    }

    /// A Gaussian of standard deviation `sigma` in pixels, cut off at the radius and normalised to a sum of 1. A radius of
    /// three times sigma leaves out 0.3 %.
    ///
    /// # Errors
    /// [`FilterError::TooLarge`], [`FilterError::Sigma`].
    pub fn gaussian(radius: usize, sigma: f64) -> Result<Self, FilterError> {
        check_radius(radius)?;
        if !(sigma > 0.0 && sigma.is_finite()) {
            return Err(FilterError::Sigma { sigma });
        }
        let line = filters::gaussian_line(radius, sigma);
        Self::separable(&line, &line)
    }

    /// Sobel's derivative along the rows, positive where it gets lighter to the right: `[-1 0 1]` along the rows, `[1 2 1]`
    /// along the columns.
    pub fn sobel_x() -> Self {
        let (difference, average) = filters::sobel_lines();
        Self::of_lines(1, difference.to_vec(), average.to_vec())
    }

    /// Sobel's derivative along the columns, positive where it gets lighter downwards.
    pub fn sobel_y() -> Self {
        let (difference, average) = filters::sobel_lines();
        Self::of_lines(1, average.to_vec(), difference.to_vec())
    }

    /// The product of two lines of the same odd length: `across` along the rows, `down` along the columns.
    ///
    /// # Errors
    /// [`FilterError::UnequalLines`], [`FilterError::EvenSide`], [`FilterError::TooLarge`].
    pub fn separable(across: &[f32], down: &[f32]) -> Result<Self, FilterError> {
        if across.len() != down.len() {
            return Err(FilterError::UnequalLines {
                across: across.len(),
                down: down.len(),
            });
        }
        let radius = radius_of(across.len())?;
        Ok(Self::of_lines(radius, across.to_vec(), down.to_vec()))
    }

    /// Any square of weights, row by row.
    ///
    /// # Errors
    /// [`FilterError::NoSquare`], [`FilterError::EvenSide`], [`FilterError::TooLarge`].
    pub fn square(weights: &[f32]) -> Result<Self, FilterError> {
        let side = weights.len().isqrt();
        if side * side != weights.len() {
            return Err(FilterError::NoSquare { weights: weights.len() });
        }
        Ok(Self {
            radius: radius_of(side)?,
            weights: Weights::Square(weights.to_vec()),
        })
    }

    fn of_lines(radius: u32, across: Vec<f32>, down: Vec<f32>) -> Self {
        Self {
            radius,
            weights: Weights::Lines { across, down },
        }
    }

    /// Pixels on each side of the middle.
    pub fn radius(&self) -> usize {
        self.radius as usize
    }

    /// Rows and columns, 2R + 1.
    pub fn side(&self) -> usize {
        2 * self.radius() + 1
    }

    /// Whether it was made as a product of two lines. Whether a square of weights happens to be one is not looked for.
    pub fn is_separable(&self) -> bool {
        self.lines().is_some()
    }

    /// The lines along the rows and along the columns, where it is a product of them.
    pub fn lines(&self) -> Option<(&[f32], &[f32])> {
        match &self.weights {
            Weights::Lines { across, down } => Some((across, down)),
            Weights::Square(_) => None,
        }
    }

    /// The square of weights, row by row; those of a product rounded to `f32`.
    pub fn weights(&self) -> Vec<f32> {
        match &self.weights {
            Weights::Lines { across, down } => filters::outer(across, down),
            Weights::Square(weights) => weights.clone(),
        }
    }
}

/// The radius of a filter with so many weights in a line.
fn radius_of(side: usize) -> Result<u32, FilterError> {
    if side.is_multiple_of(2) {
        return Err(FilterError::EvenSide { side });
    }
    check_radius(side / 2)
}

fn check_radius(radius: usize) -> Result<u32, FilterError> {
    u32::try_from(radius)
        .ok()
        .filter(|&radius| radius <= ANY_MAX_RADIUS)
        .ok_or(FilterError::TooLarge { radius })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_filter_is_refused_with_what_is_wrong() {
        let line = |n: usize| vec![1.0; n];
        let error = |result: Result<Filter, FilterError>| result.unwrap_err();
        assert_eq!(
            error(Filter::separable(&line(4), &line(4))),
            FilterError::EvenSide { side: 4 }
        );
        assert_eq!(error(Filter::separable(&[], &[])), FilterError::EvenSide { side: 0 });
        assert_eq!(
            error(Filter::separable(&line(3), &line(5))),
            FilterError::UnequalLines { across: 3, down: 5 }
        );
        assert_eq!(error(Filter::square(&line(16))), FilterError::EvenSide { side: 4 });
        assert_eq!(error(Filter::square(&line(10))), FilterError::NoSquare { weights: 10 });
        assert_eq!(error(Filter::square(&[])), FilterError::EvenSide { side: 0 });
        assert_eq!(
            error(Filter::box_blur(usize::MAX)),
            FilterError::TooLarge { radius: usize::MAX }
        );
        assert_eq!(
            error(Filter::gaussian(1025, 1.0)),
            FilterError::TooLarge { radius: 1025 }
        );
        for sigma in [0.0, -1.0, f64::INFINITY] {
            assert_eq!(error(Filter::gaussian(1, sigma)), FilterError::Sigma { sigma });
        }
        assert!(Filter::gaussian(1, f64::NAN).is_err());
    }

    #[test]
    fn sobel_s_filters_are_each_other_s_transpose() {
        let (x, y) = (Filter::sobel_x().weights(), Filter::sobel_y().weights());
        assert_eq!(x, [-1.0, 0.0, 1.0, -2.0, 0.0, 2.0, -1.0, 0.0, 1.0]);
        assert_eq!(y, [-1.0, -2.0, -1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 1.0]);
    }

    #[test]
    fn a_radius_of_0_is_a_filter_of_one_weight() {
        assert_eq!(Filter::box_blur(0).unwrap().weights(), [1.0]);
        assert_eq!(Filter::square(&[2.0]).unwrap().radius(), 0);
    }
}
