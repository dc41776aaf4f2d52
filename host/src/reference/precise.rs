//! Sums and dot products in about twice the precision of `f64`, by error-free transformations (Ogita, Rump and Oishi,
//! *Accurate Sum and Dot Product*, 2005).

/// A sum, with the rounding errors of its additions kept beside it, and the sum of the terms' sizes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Accumulator {
    sum: f64,
    errors: f64,
    sizes: f64,
}

impl Accumulator {
    pub(crate) fn add(&mut self, term: f64) {
        self.sizes += term.abs();
        self.add_unsized(term);
    }

    /// Adds `a * b`, exactly.
    pub(crate) fn add_product(&mut self, a: f64, b: f64) {
        let product = a * b;
        self.sizes += product.abs();
        self.add_unsized(product);
        self.errors += a.mul_add(b, -product);
    }

    fn add_unsized(&mut self, term: f64) {
        let sum = self.sum + term;
        let shadow = sum - self.sum;
        self.errors += (self.sum - (sum - shadow)) + (term - shadow);
        self.sum = sum;
    }

    pub(crate) fn value(&self) -> f64 {
        // An infinite or NaN term leaves NaN in the errors; the plain sum has the right special value then.
        if self.sum.is_finite() {
            self.sum + self.errors
        } else {
            self.sum
        }
    }

    /// Σ|term|.
    pub(crate) fn sizes(&self) -> f64 {
        self.sizes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(terms: &[f64]) -> f64 {
        let mut accumulator = Accumulator::default();
        terms.iter().for_each(|&term| accumulator.add(term));
        accumulator.value()
    }

    #[test]
    fn a_sum_keeps_what_f64_loses() {
        assert_eq!(sum(&[1.0, 1e100, 1.0, -1e100]), 2.0);
        assert_eq!(sum(&[f64::INFINITY, 1.0]), f64::INFINITY);
        assert!(sum(&[f64::INFINITY, f64::NEG_INFINITY]).is_nan());
    }

    #[test]
    fn a_product_keeps_what_f64_loses() {
        let mut accumulator = Accumulator::default();
        let a = 1.0 + f64::EPSILON;
        accumulator.add_product(a, a);
        accumulator.add(-1.0 - 2.0 * f64::EPSILON);
        assert_eq!(accumulator.value(), f64::EPSILON * f64::EPSILON);
    }
}
