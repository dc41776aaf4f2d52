//! The filters of the examples, as weights for [`convolve`](super::convolve).

/// A line of a box blur: 1 / (2·radius + 1) each. The product of two lines is the square filter.
pub fn box_line(radius: usize) -> Vec<f32> {
    let side = 2 * radius + 1;
    vec![1.0 / side as f32; side]
}

/// A line of a Gaussian of standard deviation `sigma`, in pixels, normalised to a sum of 1.
pub fn gaussian_line(radius: usize, sigma: f64) -> Vec<f32> {
    let weight = |i: usize| {
        let distance = (i as f64 - radius as f64) / sigma;
        (-0.5 * distance * distance).exp()
    };
    let weights: Vec<f64> = (0..2 * radius + 1).map(weight).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|w| (w / sum) as f32).collect()
}

/// The two lines of Sobel's derivative along a row: `(across, down)`. Swapped, they are the derivative along a column.
pub fn sobel_lines() -> ([f32; 3], [f32; 3]) {
    ([-1.0, 0.0, 1.0], [1.0, 2.0, 1.0])
}

/// The square filter whose weight at (i, j) is `down[i] * across[j]`.
pub fn outer(across: &[f32], down: &[f32]) -> Vec<f32> {
    down.iter().flat_map(|d| across.iter().map(move |a| d * a)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;

    #[test]
    fn blurs_keep_the_brightness() {
        for line in [box_line(0), box_line(3), gaussian_line(2, 1.0), gaussian_line(8, 3.5)] {
            assert_abs_diff_eq!(line.iter().sum::<f32>(), 1.0, epsilon = 1e-6);
        }
    }

    #[test]
    fn a_gaussian_is_symmetric_and_falls_off() {
        let line = gaussian_line(4, 1.5);
        assert!(line.iter().eq(line.iter().rev()));
        assert!(line[..5].is_sorted());
        assert_abs_diff_eq!(line[4] / line[5], (0.5f32 / 2.25).exp(), epsilon = 1e-5);
    }

    #[test]
    fn sobel_is_the_filter_of_the_textbooks() {
        let (across, down) = sobel_lines();
        assert_eq!(outer(&across, &down), [-1.0, 0.0, 1.0, -2.0, 0.0, 2.0, -1.0, 0.0, 1.0]);
    }
}
