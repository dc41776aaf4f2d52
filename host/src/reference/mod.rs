//! What the kernels' results are compared with: plain loops on the CPU, in exact integers or with more precision than
//! the kernel has.
//!
//! A kernel that adds floating-point numbers is right when it is as close as its order of additions allows. Each
//! reference therefore returns an [`Estimate`]: the value, and how far a correct result can lie from it. The bounds are
//! the textbook ones (Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed., chapters 3 and 4), written with
//! u = 2^-24 for `f32` and 2^-53 for `f64`, and γ(k) = k·u / (1 - k·u):
//!
//! | operation | a correct result differs by at most |
//! |---|---|
//! | [`reduce::sum`], no term passing through more than k additions | γ(k) · Σ\|x\| |
//! | [`reduce::compensated_sum`] | u·\|s\| + 2·γ(k)² · Σ\|x\| |
//! | [`scan::inclusive`], [`scan::exclusive`], element i | γ(k) · Σ\|x\| over the elements before i |
//! | [`matmul::matmul`], inner dimension k | γ(k + 2) · (\|α\| Σ\|a·b\| + \|β·c\|) |
//! | [`convolve::convolve`], m weights | γ(m) · Σ\|w·x\| |
//! | sums of integers, minima, maxima, counts; [`transpose()`] | 0 |
//!
//! k depends on how the kernel associates its additions, so the caller states it; [`Depth`] has the usual cases. The
//! bounds suppose that no intermediate result overflows. The reference values are computed with error-free
//! transformations, about 2^-100 of relative error, so that a bound holds for `f64` kernels too.

pub mod convolve;
mod estimate;
pub mod filters;
pub mod histogram;
pub mod matmul;
mod precise;
pub mod reduce;
pub mod scan;
mod transpose;

pub use estimate::{Depth, Estimate, Outside, Real, first_outside};
pub use transpose::transpose;
