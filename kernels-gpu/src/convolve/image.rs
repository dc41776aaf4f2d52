//! Pixels, and what lies outside an image.

use cuda_std::layout::Pitched;
use cuda_std::prelude::*;
use cuda_std::unrolled;
use cuda_std::vector::{F32x4, U8x4, Vector};

use super::{CLAMP, MIRROR, ZERO};

/// A pixel, and four of them as one access.
pub trait Pixel: Copy {
    /// Four pixels of a row.
    type Four: Vector<Element = Self>;

    /// As a number.
    fn number(self) -> f32;

    /// The pixel of a number.
    fn of_number(number: f32) -> Self;

    /// Four pixels as numbers.
    fn numbers(four: Self::Four) -> [f32; 4];

    /// The four pixels of numbers.
    fn of_numbers(numbers: [f32; 4]) -> Self::Four;

    /// The bits of four pixels, by the word; zero behind them.
    fn words(four: Self::Four) -> [u32; 4];
}

impl Pixel for f32 {
    type Four = F32x4;

    #[inline(always)]
    fn number(self) -> f32 {
        self
    }

    #[inline(always)]
    fn of_number(number: f32) -> Self {
        number
    }

    #[inline(always)]
    fn numbers(four: F32x4) -> [f32; 4] {
        four.0
    }

    #[inline(always)]
    fn of_numbers(numbers: [f32; 4]) -> F32x4 {
        F32x4(numbers)
    }

    #[inline(always)]
    fn words(four: F32x4) -> [u32; 4] {
        four.0.map(f32::to_bits)
    }
}

impl Pixel for u8 {
    type Four = U8x4;

    #[inline(always)]
    fn number(self) -> f32 {
        self.into()
    }

    /// The nearest integer, halves to even, at least 0 and at most 255; 0 for NaN.
    #[inline(always)]
    #[allow(clippy::manual_clamp)] // `clamp` keeps NaN.
    fn of_number(number: f32) -> Self {
        // From 2^23 on, an f32 is an integer: the addition rounds, and the integer is in the last bits. Of these, 2 are
        // taken off again only so that the byte is the result of an integer operation: of a floating-point one, the
        // assembler would store the saturated number, 255.
        const WHOLE: f32 = ((1u32 << 23) + 2) as f32;
        (number.max(0.0).min(255.0) + WHOLE).to_bits().wrapping_sub(2) as u8
    }

    #[inline(always)]
    fn numbers(four: U8x4) -> [f32; 4] {
        four.0.map(f32::from)
    }

    #[inline(always)]
    fn of_numbers(numbers: [f32; 4]) -> U8x4 {
        U8x4(numbers.map(Self::of_number))
    }

    #[inline(always)]
    fn words(four: U8x4) -> [u32; 4] {
        [u32::from_ne_bytes(four.0), 0, 0, 0]
    }
}

/// The row or column of an image that has `len` of them which stands at `index`, and whether there is one: where there are
/// zeros, the nearest.
///
/// A lane that is inside skips no access that others make: all of a warp load together.
#[inline(always)]
fn place(border: u32, index: i32, len: u32) -> (u32, bool) {
    if (index as u32) < len {
        (index as u32, true)
    } else {
        (folded(border, index, len as i32), border != ZERO)
    }
}

/// [`place`] outside the image, at any distance. Without branches, as lanes differ.
#[inline(always)]
fn folded(border: u32, index: i32, len: i32) -> u32 {
    let last = len - 1;
    let index = if border <= CLAMP { index.max(0).min(last) } else { index };
    // A mirrored line is the same again after each there and back, one that wraps after each there.
    let period = if border == MIRROR { 2 * last } else { len }.max(1);
    let place = index.rem_euclid(period);
    let place = if border == MIRROR {
        place.min(period - place)
    } else {
        place
    };
    place as u32
}

const _: () = assert!(ZERO < CLAMP && CLAMP < MIRROR, "zeros are clamped, too");

/// A number that the compiler cannot compute with before it is here: what follows from it stays where it is needed, instead
/// of being prepared for by every thread.
#[inline(always)]
fn only_here(number: i32) -> i32 {
    #[cfg(target_os = "cuda")]
    {
        let here;
        // SAFETY: copies a register.
        unsafe { core::arch::asm!("mov.b32 {}, {};", out(reg32) here, in(reg32) number, options(nomem, nostack)) };
        here
    }
    #[cfg(not(target_os = "cuda"))]
    {
        number
    }
}

/// Takes all of the words into account, so that a vector whose first elements nobody needs is still loaded whole, by one
/// instruction.
#[inline(always)]
pub(super) fn needed(words: [u32; 4]) {
    #[cfg(target_os = "cuda")]
    {
        let [a, b, c, d] = words;
        // SAFETY: a comment.
        unsafe {
            core::arch::asm!("// {} {} {} {}", in(reg32) a, in(reg32) b, in(reg32) c, in(reg32) d, options(nomem, nostack));
        }
    }
    #[cfg(not(target_os = "cuda"))]
    let _ = words;
}

/// An image that a kernel reads, and what lies outside.
#[derive(Clone, Copy)]
pub(super) struct Source<T> {
    pixels: GlobalMatrix<T>,
    border: u32,
}

impl<T: Pixel> Source<T> {
    #[inline(always)]
    pub(super) fn new(pixels: *const T, rows: u32, cols: u32, border: u32) -> Self {
        Self {
            pixels: GlobalMatrix::new(pixels, Pitched::unchecked(rows, cols, cols)),
            border,
        }
    }

    /// The row that stands at `index`; `None` for zeros.
    #[inline(always)]
    pub(super) fn row(self, index: i32) -> Option<u32> {
        let (row, exists) = place(self.border, index, self.pixels.rows());
        exists.then_some(row)
    }

    /// The number that stands in column `index` of what [`row`](Self::row) gave.
    ///
    /// # Safety
    /// The image is as its maker promised, and nothing writes to it.
    #[inline(always)]
    pub(super) unsafe fn number(self, row: Option<u32>, index: i32) -> f32 {
        let Some(row) = row else { return 0.0 };
        let (col, exists) = place(self.border, index, self.pixels.cols());
        // SAFETY: inside; the rest is the caller's promise.
        let number = unsafe { self.pixels.read(row, col) }.number();
        if exists { number } else { 0.0 }
    }

    /// The numbers in vectors of four of a row of the image, from column `col` on, as far as they are in columns from
    /// `from` up to `to` of these; others are anything. By vectors if these are inside and aligned, otherwise one by one.
    ///
    /// # Safety
    /// As [`number`](Self::number); `col` is a multiple of four.
    #[inline(always)]
    pub(super) unsafe fn vectors<const NUMBERS: usize>(
        self,
        row: Option<u32>,
        col: i32,
        from: usize,
        to: usize,
    ) -> [f32; NUMBERS] {
        let mut numbers = [0.0; NUMBERS];
        let cols = self.pixels.cols();
        let Some(row) = row else { return numbers };
        // SAFETY: inside; every row starts at a multiple of a vector if the first one does and their length is one.
        unsafe {
            if cols.is_multiple_of(4) && col >= 0 && col as u32 + NUMBERS as u32 <= cols {
                unrolled::<NUMBERS>(|i| {
                    if i.is_multiple_of(4) {
                        let four = T::Four::read(self.pixels.at(row, col as u32 + i as u32));
                        needed(T::words(four));
                        let four = T::numbers(four);
                        numbers[i] = four[0];
                        numbers[i + 1] = four[1];
                        numbers[i + 2] = four[2];
                        numbers[i + 3] = four[3];
                    }
                });
            } else {
                let col = only_here(col);
                unrolled::<NUMBERS>(|i| {
                    if i >= from && i < to {
                        numbers[i] = self.number(Some(row), col + i as i32);
                    }
                });
            }
        }
        numbers
    }
}

/// An image that a kernel writes.
#[derive(Clone, Copy)]
pub(super) struct Target<T> {
    pixels: GlobalMatrixMut<T>,
}

impl<T: Pixel> Target<T> {
    #[inline(always)]
    pub(super) fn new(pixels: *mut T, rows: u32, cols: u32) -> Self {
        Self {
            pixels: GlobalMatrixMut::new(pixels, Pitched::unchecked(rows, cols, cols)),
        }
    }

    /// Writes a pixel, if there is one.
    ///
    /// # Safety
    /// The image is as its maker promised, and nothing else accesses the pixel.
    #[inline(always)]
    pub(super) unsafe fn set(self, row: u32, col: u32, number: f32) {
        // SAFETY: the caller's promise.
        unsafe { self.pixels.set(row, col, T::of_number(number)) }
    }

    /// Writes four pixels of a row, those that there are: as a vector if the rows allow it.
    ///
    /// # Safety
    /// As [`set`](Self::set); `col` is a multiple of four.
    #[inline(always)]
    pub(super) unsafe fn set_four(self, row: u32, col: u32, numbers: [f32; 4]) {
        if !self.pixels.contains(row, col) {
            return;
        }
        // SAFETY: the caller's promise; every row starts at a multiple of a vector if the first one does and their length
        // is one, and then the last vector is whole.
        unsafe {
            if self.pixels.cols().is_multiple_of(4) {
                T::of_numbers(numbers).write(self.pixels.at(row, col));
            } else {
                unrolled::<4>(|i| self.set(row, col + i as u32, numbers[i]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::WRAP;
    use super::*;

    /// Step by step, as the borders are defined.
    fn defined(border: u32, mut index: i32, len: i32) -> Option<u32> {
        while !(0..len).contains(&index) {
            index = match border {
                ZERO => return None,
                CLAMP => index.clamp(0, len - 1),
                MIRROR if len == 1 => 0,
                MIRROR if index < 0 => -index,
                MIRROR => 2 * (len - 1) - index,
                _ if index < 0 => index + len,
                _ => index - len,
            };
        }
        Some(index as u32)
    }

    #[test]
    fn every_border_is_its_definition_at_any_distance_from_lines_of_any_length() {
        for border in [ZERO, CLAMP, MIRROR, WRAP] {
            for len in 1..40 {
                for index in -130..170 {
                    let (at, exists) = place(border, index, len as u32);
                    let expected = defined(border, index, len);
                    assert_eq!(exists.then_some(at), expected, "border {border}, {index} of {len}");
                    assert!(at < len as u32, "what is loaded is there");
                }
            }
        }
    }

    #[test]
    fn a_byte_is_the_nearest_integer_halves_to_even_and_saturates() {
        for quarter in -2000..2000 {
            let number = quarter as f32 / 4.0;
            assert_eq!(u8::of_number(number), number.round_ties_even() as u8, "{number}");
        }
        assert_eq!(u8::of_number(f32::INFINITY), 255);
        assert_eq!(u8::of_number(f32::NEG_INFINITY), 0);
        assert_eq!(u8::of_number(f32::NAN), 0);
    }
}
