//! Matrices in global memory, by row and column.

use crate::layout::{Layout, Pitched};

macro_rules! matrix {
    ($(#[$doc:meta])* $name:ident, $pointer:ty, $column:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name<T> {
            base: $pointer,
            layout: Pitched,
        }

        impl<T: Copy> $name<T> {
            /// The matrix at `base` whose rows lie as `layout` says.
            #[inline(always)]
            #[must_use]
            pub const fn new(base: $pointer, layout: Pitched) -> Self {
                Self { base, layout }
            }

            /// Rows.
            #[inline(always)]
            #[must_use]
            pub fn rows(self) -> u32 {
                self.layout.rows()
            }

            /// Columns.
            #[inline(always)]
            #[must_use]
            pub fn cols(self) -> u32 {
                self.layout.cols()
            }

            /// Whether there is an element at (`row`, `col`): the guard of every access at the edge of a matrix.
            #[inline(always)]
            #[must_use]
            pub fn contains(self, row: u32, col: u32) -> bool {
                row < self.rows() && col < self.cols()
            }

            /// Address of (`row`, `col`), its offset computed in 64 bits.
            #[inline(always)]
            #[must_use]
            pub fn at(self, row: u32, col: u32) -> $pointer {
                self.base.wrapping_add(self.layout.offset_wide(row, col) as usize)
            }

            /// Every `step`-th element down column `col`, from row `row` on.
            #[inline(always)]
            #[must_use]
            pub fn column(self, row: u32, col: u32, step: u32) -> $column<T> {
                $column {
                    first: self.at(row, col),
                    stride: u64::from(self.layout.pitch()) * u64::from(step),
                    rows: if col < self.cols() { self.rows().saturating_sub(row) } else { 0 },
                    step,
                }
            }

            /// The element at (`row`, `col`), if there is one.
            ///
            /// # Safety
            /// `base` points to the matrix that `layout` describes, and no other thread writes the element at the same time.
            #[inline(always)]
            #[must_use]
            pub unsafe fn get(self, row: u32, col: u32) -> Option<T> {
                if self.contains(row, col) {
                    // SAFETY: inside; the rest is the caller's promise.
                    Some(unsafe { self.read(row, col) })
                } else {
                    None
                }
            }

            /// The element at (`row`, `col`).
            ///
            /// # Safety
            /// As [`get`](Self::get), and the matrix [`contains`](Self::contains) the element.
            #[inline(always)]
            #[must_use]
            pub unsafe fn read(self, row: u32, col: u32) -> T {
                // SAFETY: the caller's promise.
                unsafe { *self.at(row, col) }
            }
        }

        /// Elements at equal distances down a column of a matrix, from [`column`]: one address is computed, and the
        /// others from it.
        ///
        #[doc = concat!("[`column`]: ", stringify!($name), "::column")]
        #[derive(Clone, Copy)]
        pub struct $column<T> {
            first: $pointer,
            /// Elements from one to the next.
            stride: u64,
            /// Rows from the first element to the end of the matrix, itself included; 0 outside of it.
            rows: u32,
            step: u32,
        }

        impl<T: Copy> $column<T> {
            /// The same without what is `rows` rows below the first element, and further.
            #[inline(always)]
            #[must_use]
            pub fn up_to(self, rows: u32) -> Self {
                Self { rows: self.rows.min(rows), ..self }
            }

            /// Whether there is an element number `i`.
            #[inline(always)]
            #[must_use]
            pub fn contains(self, i: u32) -> bool {
                i * self.step < self.rows
            }

            /// Address of element number `i`.
            #[inline(always)]
            #[must_use]
            pub fn at(self, i: u32) -> $pointer {
                self.first.wrapping_add((u64::from(i) * self.stride) as usize)
            }

            /// Element number `i`, if there is one.
            ///
            /// # Safety
            #[doc = concat!("As [`", stringify!($name), "::get`].")]
            #[inline(always)]
            #[must_use]
            pub unsafe fn get(self, i: u32) -> Option<T> {
                if self.contains(i) {
                    // SAFETY: inside; the rest is the caller's promise.
                    Some(unsafe { *self.at(i) })
                } else {
                    None
                }
            }
        }
    };
}

matrix! {
    /// A matrix that a kernel reads.
    GlobalMatrix, *const T, GlobalColumn
}
matrix! {
    /// A matrix that a kernel writes.
    GlobalMatrixMut, *mut T, GlobalColumnMut
}

impl<T: Copy> GlobalMatrixMut<T> {
    /// Writes the element at (`row`, `col`), if there is one.
    ///
    /// # Safety
    /// `base` points to the matrix that `layout` describes, and no other thread accesses the element at the same time.
    #[inline(always)]
    pub unsafe fn set(self, row: u32, col: u32, value: T) {
        if self.contains(row, col) {
            // SAFETY: inside; the rest is the caller's promise.
            unsafe { self.write(row, col, value) }
        }
    }

    /// Writes the element at (`row`, `col`).
    ///
    /// # Safety
    /// As [`set`](Self::set), and the matrix [`contains`](Self::contains) the element.
    #[inline(always)]
    pub unsafe fn write(self, row: u32, col: u32, value: T) {
        // SAFETY: the caller's promise.
        unsafe { *self.at(row, col) = value }
    }
}

impl<T: Copy> GlobalColumnMut<T> {
    /// Writes element number `i`, if there is one.
    ///
    /// # Safety
    /// As [`GlobalMatrixMut::set`].
    #[inline(always)]
    pub unsafe fn set(self, i: u32, value: T) {
        if self.contains(i) {
            // SAFETY: inside; the rest is the caller's promise.
            unsafe { *self.at(i) = value }
        }
    }
}
