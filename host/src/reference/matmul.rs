//! Matrix products: C = alpha·A·B + beta·C, row-major with leading dimensions, A or B transposed.

use super::estimate::{Depth, Estimate, Real};
use super::precise::Accumulator;

/// A row-major matrix, or its transpose, in memory whose rows are a leading dimension apart.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a, T> {
    data: &'a [T],
    leading: usize,
    transposed: bool,
}

impl<'a, T: Copy> Matrix<'a, T> {
    /// Row `i` begins at `data[i * leading]`.
    pub fn new(data: &'a [T], leading: usize) -> Self {
        Self {
            data,
            leading,
            transposed: false,
        }
    }

    /// Column `i` of the result begins at `data[i * leading]`: what is stored is the transpose.
    #[must_use]
    pub fn transposed(self) -> Self {
        Self {
            transposed: !self.transposed,
            ..self
        }
    }

    fn at(&self, row: usize, col: usize) -> T {
        let (row, col) = if self.transposed { (col, row) } else { (row, col) };
        self.data[row * self.leading + col]
    }
}

/// Sizes of a product: A is `m` x `k`, B is `k` x `n`, C is `m` x `n`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Rows of A and C.
    pub m: usize,
    /// Columns of B and C.
    pub n: usize,
    /// Columns of A, rows of B.
    pub k: usize,
}

/// `alpha`·A·B + `beta`·C for each element of C, row by row without gaps.
///
/// A correct result, its products and sums each rounded once or fused, in any order, is within
/// γ(k + 2)·(|alpha|·Σ|a·b| + |beta·c|), plus what underflow can lose: (k + 2) times the smallest number, times
/// max(1, |alpha|). As in BLAS, `c` is not looked at where `beta` is zero, and may hold NaN then.
pub fn matmul<T: Real>(
    sizes: Sizes,
    alpha: T,
    a: Matrix<'_, T>,
    b: Matrix<'_, T>,
    beta: T,
    c: Matrix<'_, T>,
) -> Vec<Estimate> {
    with_gamma(sizes, alpha, a, b, beta, c, Depth(sizes.k as u64 + 2).gamma::<T>())
}

/// As [`matmul`] for tensor cores: `f16` or `bf16` products are exact in `f32`, but the sums inside an `mma` may be
/// truncated instead of rounded, and keep one bit less while they are aligned: four times the roundoff of `f32`.
pub fn matmul_tensor(
    sizes: Sizes,
    alpha: f32,
    a: Matrix<'_, f32>,
    b: Matrix<'_, f32>,
    beta: f32,
    c: Matrix<'_, f32>,
) -> Vec<Estimate> {
    with_gamma(
        sizes,
        alpha,
        a,
        b,
        beta,
        c,
        Depth(4 * (sizes.k as u64 + 2)).gamma::<f32>(),
    )
}

fn with_gamma<T: Real>(
    sizes: Sizes,
    alpha: T,
    a: Matrix<'_, T>,
    b: Matrix<'_, T>,
    beta: T,
    c: Matrix<'_, T>,
    gamma: f64,
) -> Vec<Estimate> {
    let (alpha, beta) = (alpha.to_f64(), beta.to_f64());
    let underflow = (sizes.k as f64 + 2.0) * T::TINY * alpha.abs().max(1.0);
    let mut estimates = Vec::with_capacity(sizes.m * sizes.n);
    for row in 0..sizes.m {
        for col in 0..sizes.n {
            let mut product = Accumulator::default();
            for i in 0..sizes.k {
                product.add_product(a.at(row, i).to_f64(), b.at(i, col).to_f64());
            }
            let mut total = Accumulator::default();
            total.add_product(alpha, product.value());
            if beta != 0.0 {
                total.add_product(beta, c.at(row, col).to_f64());
            }
            let scale = alpha.abs() * product.sizes() + (total.sizes() - (alpha * product.value()).abs());
            estimates.push(Estimate {
                value: total.value(),
                bound: gamma * scale + underflow,
            });
        }
    }
    estimates
}

#[cfg(test)]
mod tests {
    use super::super::first_outside;
    use super::*;
    use proptest::prelude::*;

    fn values(estimates: &[Estimate]) -> Vec<f64> {
        estimates.iter().map(|e| e.value).collect()
    }

    #[test]
    fn a_small_product_by_hand() {
        let a = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]; // 2 x 3
        let b = [1.0f32, 0.0, 0.0, 1.0, 1.0, 1.0]; // 3 x 2
        let c = [10.0f32, 20.0, 30.0, 40.0];
        let (a, b, c) = (Matrix::new(&a, 3), Matrix::new(&b, 2), Matrix::new(&c, 2));
        let sizes = Sizes { m: 2, n: 2, k: 3 };
        assert_eq!(values(&matmul(sizes, 1.0, a, b, 0.0, c)), [4.0, 5.0, 10.0, 11.0]);
        assert_eq!(values(&matmul(sizes, 2.0, a, b, 0.5, c)), [13.0, 20.0, 35.0, 42.0]);
    }

    #[test]
    fn leading_dimensions_skip_the_padding_and_transposes_swap_the_indices() {
        let gap = f64::NAN;
        let a = [1.0, 2.0, gap, 3.0, 4.0, gap]; // 2 x 2, rows 3 apart
        let b = [5.0, 7.0, 6.0, 8.0]; // the transpose of [[5, 6], [7, 8]]
        let sizes = Sizes { m: 2, n: 2, k: 2 };
        let product = matmul(
            sizes,
            1.0,
            Matrix::new(&a, 3),
            Matrix::new(&b, 2).transposed(),
            0.0,
            Matrix::new(&[], 2),
        );
        assert_eq!(values(&product), [19.0, 22.0, 43.0, 50.0]);
    }

    #[test]
    fn a_beta_of_zero_leaves_c_unread() {
        let one = [1.0f32];
        let nan = [f32::NAN];
        let sizes = Sizes { m: 1, n: 1, k: 1 };
        let matrix = Matrix::new(&one, 1);
        assert!(matmul(sizes, 1.0, matrix, matrix, 0.0, Matrix::new(&nan, 1))[0].admits(1.0f32));
        assert!(matmul(sizes, 1.0, matrix, matrix, 1.0, Matrix::new(&nan, 1))[0].admits(f32::NAN));
    }

    proptest! {
        #[test]
        fn a_plain_loop_is_within_the_bound(
            (m, n, k) in (1usize..6, 1usize..6, 1usize..40), alpha in -2f32..2.0, beta in -2f32..2.0, seed: u32,
        ) {
            let number = |i: usize| ((i as u32).wrapping_mul(2_654_435_761).wrapping_add(seed) >> 8) as f32 / 8e6 - 1.0;
            let a: Vec<f32> = (0..m * k).map(number).collect();
            let b: Vec<f32> = (0..k * n).map(|i| number(i + 1000)).collect();
            let c: Vec<f32> = (0..m * n).map(|i| number(i + 2000)).collect();
            let estimates =
                matmul(Sizes { m, n, k }, alpha, Matrix::new(&a, k), Matrix::new(&b, n), beta, Matrix::new(&c, n));
            let mut got = Vec::new();
            for row in 0..m {
                for col in 0..n {
                    let dot: f32 = (0..k).map(|i| a[row * k + i] * b[i * n + col]).sum();
                    got.push(alpha * dot + beta * c[row * n + col]);
                }
            }
            prop_assert_eq!(first_outside(&got, &estimates), None);
        }
    }
}
