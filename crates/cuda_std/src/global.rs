//! Matrices in global memory, by row and column.

use crate::layout::{Layout, Pitched};

macro_rules! matrix {
    ($(#[$doc:meta])* $name:ident, $pointer:ty) => {
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
    };
}

matrix! {
    /// A matrix that a kernel reads.
    GlobalMatrix, *const T
}
matrix! {
    /// A matrix that a kernel writes.
    GlobalMatrixMut, *mut T
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
