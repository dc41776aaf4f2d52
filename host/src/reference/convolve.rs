//! Two-dimensional correlation of an image with a small filter, in every border mode.
//!
//! As in image processing, and unlike in signal processing, the filter is not mirrored: the result at (r, c) is the sum of
//! `weights[i][j] * image[r + i - radius][c + j - radius]`.

use rayon::prelude::*;

use super::estimate::{Depth, Estimate, Real};
use super::precise::Accumulator;

/// What lies outside the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Border {
    /// Zeros: `0 0 | a b c d | 0 0`.
    Zero,
    /// The nearest pixel of the image: `a a | a b c d | d d`.
    Clamp,
    /// The image mirrored in the middle of its outermost pixels, which are not repeated: `c b | a b c d | c b`.
    Mirror,
    /// The image again: `c d | a b c d | a b`.
    Wrap,
}

impl Border {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Zero, Self::Clamp, Self::Mirror, Self::Wrap];

    /// The pixel of a line of `len` that stands at `index`; `None` for a zero. Steps as the definition does, mirror by
    /// mirror: any distance from the image is valid, however short the line.
    pub fn index(self, mut index: i64, len: usize) -> Option<usize> {
        let len = len as i64;
        while !(0..len).contains(&index) {
            index = match self {
                Self::Zero => return None,
                Self::Clamp => index.clamp(0, len - 1),
                Self::Mirror if len == 1 => 0,
                Self::Mirror if index < 0 => -index,
                Self::Mirror => 2 * (len - 1) - index,
                Self::Wrap if index < 0 => index + len,
                Self::Wrap => index - len,
            };
        }
        Some(index as usize)
    }
}

/// An image: `rows` x `cols`, row-major, without gaps.
#[derive(Clone, Copy, Debug)]
pub struct Image<'a, T> {
    /// Pixels.
    pub pixels: &'a [T],
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub cols: usize,
}

/// A pixel: `f32`, or `u8` as the numbers 0 to 255.
pub trait Pixel: Copy + Sync {
    /// The number.
    fn number(self) -> f64;
}
impl Pixel for f32 {
    fn number(self) -> f64 {
        self.into()
    }
}
impl Pixel for u8 {
    fn number(self) -> f64 {
        self.into()
    }
}

/// Correlation with a square filter of `2 * radius + 1` rows and columns.
///
/// A kernel that sums `f32` products in any order is within γ(m)·Σ|w·x|, m = (2·radius + 1)², plus m times the smallest
/// `f32`. For `u8` images that bound is the one before rounding ([`Estimate::admits_pixel`]).
pub fn convolve<P: Pixel>(image: Image<'_, P>, weights: &[f32], radius: usize, border: Border) -> Vec<Estimate> {
    let side = 2 * radius + 1;
    assert_eq!(weights.len(), side * side, "a filter of {side} x {side} weights");
    let bound = Depth((side * side) as u64).gamma::<f32>();
    pixels(image, |row, col| {
        let mut sum = Accumulator::default();
        for i in 0..side {
            for j in 0..side {
                sum.add_product(
                    weights[i * side + j].into(),
                    at(image, border, row + i, col + j, radius),
                );
            }
        }
        Estimate {
            value: sum.value(),
            bound: bound * sum.sizes() + (side * side) as f64 * f32::TINY,
        }
    })
}

/// Correlation with `down[i] * across[j]`: rows first, rounded to `f32`, then columns.
///
/// Bound: γ(2·(2·radius + 1))·Σ|w·x|, plus underflow.
pub fn separable<P: Pixel>(image: Image<'_, P>, across: &[f32], down: &[f32], border: Border) -> Vec<Estimate> {
    assert_eq!(across.len(), down.len(), "as many weights down as across");
    let (side, radius) = (across.len(), across.len() / 2);
    let gamma = Depth(2 * side as u64).gamma::<f32>();
    pixels(image, |row, col| {
        let mut sum = Accumulator::default();
        for (i, &down) in down.iter().enumerate() {
            for (j, &across) in across.iter().enumerate() {
                // The product of two f32 is exact in f64.
                let weight = f64::from(down) * f64::from(across);
                sum.add_product(weight, at(image, border, row + i, col + j, radius));
            }
        }
        let scale: f64 = down.iter().map(|w| f64::from(w.abs())).sum();
        let underflow = side as f64 * f32::TINY * (1.0 + scale);
        Estimate {
            value: sum.value(),
            bound: gamma * sum.sizes() + underflow,
        }
    })
}

/// On all cores: a picture of a few megapixels is a matter of seconds.
fn pixels<P>(image: Image<'_, P>, result: impl Fn(usize, usize) -> Estimate + Sync) -> Vec<Estimate> {
    assert_eq!(
        image.pixels.len(),
        image.rows * image.cols,
        "as many pixels as rows times columns"
    );
    (0..image.pixels.len())
        .into_par_iter()
        .map(|i| result(i / image.cols, i % image.cols))
        .collect()
}

/// The pixel at (`row` - `radius`, `col` - `radius`).
fn at<P: Pixel>(image: Image<'_, P>, border: Border, row: usize, col: usize, radius: usize) -> f64 {
    let row = border.index(row as i64 - radius as i64, image.rows);
    let col = border.index(col as i64 - radius as i64, image.cols);
    row.zip(col)
        .map_or(0.0, |(row, col)| image.pixels[row * image.cols + col].number())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn line(border: Border, len: usize) -> String {
        let letter = |index| border.index(index, len).map_or('0', |i| char::from(b'a' + i as u8));
        (-5..len as i64 + 5).map(letter).collect()
    }

    #[test]
    fn borders_continue_a_line_as_their_documentation_draws_them() {
        assert_eq!(line(Border::Zero, 4), "00000abcd00000");
        assert_eq!(line(Border::Clamp, 4), "aaaaaabcdddddd");
        assert_eq!(line(Border::Mirror, 4), "bcdcbabcdcbabc");
        assert_eq!(line(Border::Wrap, 4), "dabcdabcdabcda");
    }

    #[test]
    fn borders_fold_as_often_as_a_short_line_needs() {
        assert_eq!(line(Border::Mirror, 2), "babababababa");
        assert_eq!(line(Border::Mirror, 1), "aaaaaaaaaaa");
        assert_eq!(line(Border::Wrap, 1), "aaaaaaaaaaa");
    }

    #[test]
    fn a_filter_that_picks_a_neighbour_moves_the_image() {
        let pixels = [1u8, 2, 3, 4, 5, 6];
        let image = Image {
            pixels: &pixels,
            rows: 2,
            cols: 3,
        };
        let mut right = [0f32; 9];
        right[5] = 1.0; // the pixel one column to the right
        let value = |border| {
            convolve(image, &right, 1, border)
                .iter()
                .map(|e| e.value)
                .collect::<Vec<_>>()
        };
        assert_eq!(value(Border::Zero), [2.0, 3.0, 0.0, 5.0, 6.0, 0.0]);
        assert_eq!(value(Border::Clamp), [2.0, 3.0, 3.0, 5.0, 6.0, 6.0]);
        assert_eq!(value(Border::Mirror), [2.0, 3.0, 2.0, 5.0, 6.0, 5.0]);
        assert_eq!(value(Border::Wrap), [2.0, 3.0, 1.0, 5.0, 6.0, 4.0]);
    }

    proptest! {
        #[test]
        fn separable_is_the_filter_that_is_the_product_of_its_lines(
            (rows, cols, radius) in (1usize..9, 1usize..9, 0usize..4), mode in 0usize..4, seed: u32,
        ) {
            let number = |i: usize| ((i as u32 ^ seed).wrapping_mul(2_654_435_761) >> 24) as f32;
            let pixels: Vec<f32> = (0..rows * cols).map(number).collect();
            let image = Image { pixels: &pixels, rows, cols };
            let across: Vec<f32> = (0..2 * radius + 1).map(|i| number(i + 500)).collect();
            let down: Vec<f32> = (0..2 * radius + 1).map(|i| number(i + 600)).collect();
            let both: Vec<f32> = down.iter().flat_map(|d| across.iter().map(move |a| d * a)).collect();
            let border = Border::ALL[mode];
            let separated = separable(image, &across, &down, border);
            // Whole numbers below 2^24: everything is exact.
            for (s, c) in separated.iter().zip(convolve(image, &both, radius, border)) {
                prop_assert_eq!(s.value, c.value);
            }
        }
    }
}
