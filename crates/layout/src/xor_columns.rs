//! The simple swizzle, `col ^ row`.

use crate::row_major::narrow;
use crate::{Layout, Shape, StaticLayout};

/// Row-major without padding, each row's columns permuted: (`row`, `col`) lies in column `col ^ (row % PERIOD)`.
///
/// With a period of 32, a row and a column of 4-byte elements both touch 32 different banks, and no byte is wasted. The
/// price is two instructions, and that vectors along a row are torn apart ([`Swizzled`](crate::Swizzled) keeps them).
///
/// ```
/// use tile33_layout::XorColumns;
/// let tile = XorColumns::<32, 32>::new();
/// assert_eq!(tile.offset(3, 5), 3 * 32 + (5 ^ 3));
/// assert_eq!(XorColumns::<32, 32>::LEN, 1024);
/// ```
///
/// The period is a power of two that divides the columns; anything else would leave the row and collide, so it does
/// not compile:
///
/// ```compile_fail
/// let _ = tile33_layout::XorColumns::<32, 24, 32>::new();
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct XorColumns<const ROWS: usize, const COLS: usize, const PERIOD: usize = COLS>(());

impl<const ROWS: usize, const COLS: usize, const PERIOD: usize> XorColumns<ROWS, COLS, PERIOD> {
    /// Elements of memory.
    ///
    /// ```
    /// assert_eq!(tile33_layout::XorColumns::<32, 64, 32>::LEN, 2048);
    /// ```
    pub const LEN: usize = <Self as StaticLayout>::STORAGE;

    /// The layout; does not compile if its parameters are impossible.
    ///
    /// ```
    /// use tile33_layout::{Layout, XorColumns};
    /// assert_eq!(XorColumns::<32, 64, 32>::new().cols(), 64);
    /// ```
    #[inline(always)]
    pub const fn new() -> Self {
        <Self as StaticLayout>::NEW
    }

    /// Offset in elements of (`row`, `col`).
    ///
    /// ```
    /// assert_eq!(tile33_layout::XorColumns::<32, 64, 32>::new().offset(33, 2), 33 * 64 + (2 ^ 1));
    /// ```
    #[inline(always)]
    pub const fn offset(&self, row: u32, col: u32) -> u32 {
        row * COLS as u32 + (col ^ (row % PERIOD as u32))
    }
}

impl<const ROWS: usize, const COLS: usize, const PERIOD: usize> Default for XorColumns<ROWS, COLS, PERIOD> {
    #[inline(always)]
    fn default() -> Self {
        Self::new()
    }
}

impl<const ROWS: usize, const COLS: usize, const PERIOD: usize> Layout for XorColumns<ROWS, COLS, PERIOD> {
    #[inline(always)]
    fn rows(&self) -> u32 {
        ROWS as u32
    }

    #[inline(always)]
    fn cols(&self) -> u32 {
        COLS as u32
    }

    #[inline(always)]
    fn storage(&self) -> u32 {
        Self::STORAGE as u32
    }

    #[inline(always)]
    fn offset(&self, row: u32, col: u32) -> u32 {
        XorColumns::offset(self, row, col)
    }

    #[inline(always)]
    fn coordinates(&self, offset: u32) -> Option<(u32, u32)> {
        Self::SHAPE.coordinates(offset)
    }

    #[inline(always)]
    fn vector(&self) -> u32 {
        Self::VECTOR as u32
    }
}

impl<const ROWS: usize, const COLS: usize, const PERIOD: usize> StaticLayout for XorColumns<ROWS, COLS, PERIOD> {
    const SHAPE: Shape<'static> = Shape::XorColumns {
        rows: narrow(ROWS),
        cols: narrow(COLS),
        period: narrow(PERIOD),
    }
    .checked();

    const NEW: Self = {
        let _ = Self::SHAPE;
        Self(())
    };
}
