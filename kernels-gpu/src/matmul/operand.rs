//! The matrices as kernels see them.

use core::ops::Mul;

use cuda_std::layout::{Pitched, VECTOR_BYTES};
use cuda_std::math::{fma_f32, fma_f64};
use cuda_std::prelude::*;
use cuda_std::vector::{Element, F32x2, Vector, Vector16};

/// Flag of the parameter `transposed`: A lies in memory as its transpose.
pub const TRANSPOSED_A: u32 = 1;

/// Flag of the parameter `transposed`: B lies in memory as its transpose.
pub const TRANSPOSED_B: u32 = 2;

/// An element type that sums are made in.
pub trait Float: Element + PartialEq + Mul<Output = Self> {
    /// Zero.
    const ZERO: Self;

    /// `self * factor + term`, rounded once.
    #[must_use]
    fn fma(self, factor: Self, term: Self) -> Self;
}

macro_rules! floats {
    ($($ty:ty: $fma:ident;)*) => {$(
        impl Float for $ty {
            const ZERO: Self = 0.0;

            #[inline(always)]
            fn fma(self, factor: Self, term: Self) -> Self {
                $fma(self, factor, term)
            }
        }
    )*};
}
floats! {
    f32: fma_f32;
    f64: fma_f64;
}

/// A factor of the product, `rows` x `cols`, whatever way it lies in memory.
#[derive(Clone, Copy)]
pub(super) struct Operand<T> {
    base: *const T,
    rows: u32,
    cols: u32,
    /// Elements from a row to the next, and from a column to the next. One of the two is 1.
    row_step: u64,
    col_step: u64,
}

impl<T: Element> Operand<T> {
    /// The matrix at `base`, whose rows in memory are `leading` elements apart: those of the transpose if `transposed`.
    #[inline(always)]
    pub(super) fn new(base: *const T, rows: u32, cols: u32, leading: u32, transposed: bool) -> Self {
        let leading = u64::from(leading);
        let (row_step, col_step) = if transposed { (1, leading) } else { (leading, 1) };
        Self {
            base,
            rows,
            cols,
            row_step,
            col_step,
        }
    }

    /// The transpose, in the same memory.
    #[inline(always)]
    pub(super) fn transpose(self) -> Self {
        Self {
            rows: self.cols,
            cols: self.rows,
            row_step: self.col_step,
            col_step: self.row_step,
            ..self
        }
    }

    #[inline(always)]
    pub(super) fn rows(self) -> u32 {
        self.rows
    }

    #[inline(always)]
    pub(super) fn cols(self) -> u32 {
        self.cols
    }

    #[inline(always)]
    pub(super) fn row_step(self) -> u64 {
        self.row_step
    }

    #[inline(always)]
    pub(super) fn col_step(self) -> u64 {
        self.col_step
    }

    /// Address of an element.
    #[inline(always)]
    pub(super) fn at(self, row: u32, col: u32) -> *const T {
        let offset = u64::from(row) * self.row_step + u64::from(col) * self.col_step;
        self.base.wrapping_add(offset as usize)
    }

    /// Whether there is such an element.
    #[inline(always)]
    pub(super) fn contains(self, row: u32, col: u32) -> bool {
        row < self.rows && col < self.cols
    }

    /// The element, if there is one.
    ///
    /// # Safety
    /// The matrix is what was said when this was made, and nobody writes it.
    #[inline(always)]
    pub(super) unsafe fn get(self, row: u32, col: u32) -> Option<T> {
        if self.contains(row, col) {
            // SAFETY: inside; the rest is the caller's promise.
            Some(unsafe { *self.at(row, col) })
        } else {
            None
        }
    }

    /// Whether vectors of 16 bytes can be read along its lines in memory, from every multiple of their length on.
    #[inline(always)]
    pub(super) fn is_aligned(self) -> bool {
        let leading = if self.col_step == 1 {
            self.row_step
        } else {
            self.col_step
        };
        aligned::<T>(self.base, leading)
    }
}

/// Whether every row of a matrix starts at a multiple of 16 bytes.
#[inline(always)]
fn aligned<T: Element>(base: *const T, leading: u64) -> bool {
    base.addr().is_multiple_of(VECTOR_BYTES) && leading.is_multiple_of(T::LANES as u64)
}

/// C, and what becomes of it: alpha · the product + beta · what it was.
#[derive(Clone, Copy)]
pub(super) struct Target<T> {
    matrix: GlobalMatrixMut<T>,
    is_aligned: bool,
    /// Whether every row starts at a multiple of two elements.
    has_even_rows: bool,
    alpha: T,
    beta: T,
}

impl<T: Float> Target<T> {
    #[inline(always)]
    pub(super) fn new(base: *mut T, rows: u32, cols: u32, leading: u32, alpha: T, beta: T) -> Self {
        Self {
            matrix: GlobalMatrixMut::new(base, Pitched::unchecked(rows, cols, leading)),
            is_aligned: aligned::<T>(base, leading.into()),
            has_even_rows: base.addr().is_multiple_of(2 * size_of::<T>()) && leading.is_multiple_of(2),
            alpha,
            beta,
        }
    }

    /// Writes the element, if there is one, of which `product` is A·B.
    ///
    /// # Safety
    /// The matrix is what was said when this was made, and no other thread has this element.
    #[inline(always)]
    pub(super) unsafe fn store(self, row: u32, col: u32, product: T) {
        if self.matrix.contains(row, col) {
            let scaled = self.alpha * product;
            // SAFETY: inside; the rest is the caller's promise.
            unsafe {
                let result = if self.beta == T::ZERO {
                    scaled
                } else {
                    self.beta.fma(self.matrix.read(row, col), scaled)
                };
                self.matrix.write(row, col, result);
            }
        }
    }

    /// Writes the elements from (`row`, `col`) on that are inside, of which `products` are A·B: by one instruction where
    /// all are, and lie so. `col` is a multiple of their number.
    ///
    /// # Safety
    /// As [`store`](Self::store), for each.
    #[inline(always)]
    pub(super) unsafe fn store_vector(self, row: u32, col: u32, products: Vector16<T>) {
        let lanes = T::LANES as u32;
        // SAFETY: inside and aligned, or one by one; the rest is the caller's promise.
        unsafe {
            if self.is_aligned && self.matrix.contains(row, col + (lanes - 1)) {
                let place: *mut Vector16<T> = self.matrix.at(row, col).cast();
                let scaled = products.map(|product| self.alpha * product);
                *place = if self.beta == T::ZERO {
                    scaled
                } else {
                    let (before, mut result) = (*place, scaled);
                    scaled.for_each(|lane, scaled| result.set(lane, self.beta.fma(before.get(lane), scaled)));
                    result
                };
            } else {
                products.for_each(|lane, product| self.store(row, col + lane as u32, product));
            }
        }
    }
}

impl Target<f32> {
    /// Writes the elements (`row`, `col`) and right of it that are inside, of which `products` are A·B. `col` is even.
    ///
    /// # Safety
    /// As [`store`](Self::store), for both.
    #[inline(always)]
    pub(super) unsafe fn store_pair(self, row: u32, col: u32, products: [f32; 2]) {
        // SAFETY: inside and aligned, or one by one; the rest is the caller's promise.
        unsafe {
            if self.has_even_rows && self.matrix.contains(row, col + 1) {
                let place = self.matrix.at(row, col);
                let mut result = products.map(|product| self.alpha * product);
                if self.beta != 0.0 {
                    let F32x2([left, right]) = F32x2::read(place);
                    result = [self.beta.fma(left, result[0]), self.beta.fma(right, result[1])];
                }
                F32x2(result).write(place);
            } else {
                self.store(row, col, products[0]);
                self.store(row, col + 1, products[1]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::ptr;

    #[test]
    fn offsets_have_64_bits() {
        // 70,000 rows and columns: more than 2^32 elements.
        let (side, last) = (70_000, 69_999u32);
        let plain = Operand::<f64>::new(ptr::null(), side, side, side, false);
        assert_eq!(plain.at(last, 5).addr(), (69_999 * 70_000 + 5) * 8);
        let transposed = Operand::<f64>::new(ptr::null(), side, side, side, true);
        assert_eq!(transposed.at(5, last), plain.at(last, 5));
        assert_eq!(transposed.transpose().at(last, 5), plain.at(last, 5));
        let target = Target::<f32>::new(ptr::null_mut(), side, side, u32::MAX, 1.0, 0.0);
        assert_eq!(target.matrix.at(last, 5).addr(), (69_999 * 0xffff_ffff + 5) * 4);
    }

    #[test]
    fn vectors_need_an_aligned_start_and_rows_of_whole_vectors() {
        let at = |address: usize, leading, transposed| {
            Operand::<f32>::new(ptr::without_provenance(address), 9, 9, leading, transposed).is_aligned()
        };
        assert!(at(4096, 12, false) && at(4096, 12, true));
        assert!(!at(4096, 10, false) && !at(4096, 9, true) && !at(4104, 12, false));
    }
}
