//! Rows one after the other, at a pitch.

use crate::shape::refuse;
use crate::{Layout, Shape, StaticLayout};

/// `ROWS` rows of `COLS` elements, `PITCH` elements from a row to the next: `[[T; PITCH]; ROWS]`.
///
/// Plain and padded tiles are this one type: `RowMajor<32, 32>` puts a column of 4-byte elements into a single bank,
/// `RowMajor<32, 32, 33>` spreads it over all of them.
///
/// ```
/// use tile33_layout::RowMajor;
/// type Padded = RowMajor<32, 32, 33>;
/// const PLACE: u32 = Padded::new().offset(2, 5);
/// assert_eq!(PLACE, 71);
/// assert_eq!(Padded::LEN, 1056);
/// ```
///
/// A pitch less than the columns does not compile:
///
/// ```compile_fail
/// let _ = tile33_layout::RowMajor::<32, 32, 31>::new();
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowMajor<const ROWS: usize, const COLS: usize, const PITCH: usize = COLS>(());

impl<const ROWS: usize, const COLS: usize, const PITCH: usize> RowMajor<ROWS, COLS, PITCH> {
    /// Elements of memory, padding included.
    ///
    /// ```
    /// assert_eq!(tile33_layout::RowMajor::<32, 32, 33>::LEN, 1056);
    /// ```
    pub const LEN: usize = <Self as StaticLayout>::STORAGE;

    /// The layout; does not compile if its parameters are impossible.
    ///
    /// ```
    /// use tile33_layout::{Layout, RowMajor};
    /// assert_eq!(RowMajor::<32, 32, 33>::new().cols(), 32);
    /// ```
    #[inline(always)]
    pub const fn new() -> Self {
        <Self as StaticLayout>::NEW
    }

    /// Offset in elements of (`row`, `col`).
    ///
    /// ```
    /// assert_eq!(tile33_layout::RowMajor::<32, 32, 33>::new().offset(1, 0), 33);
    /// ```
    #[inline(always)]
    pub const fn offset(&self, row: u32, col: u32) -> u32 {
        row * PITCH as u32 + col
    }
}

impl<const ROWS: usize, const COLS: usize, const PITCH: usize> Default for RowMajor<ROWS, COLS, PITCH> {
    #[inline(always)]
    fn default() -> Self {
        Self::new()
    }
}

impl<const ROWS: usize, const COLS: usize, const PITCH: usize> Layout for RowMajor<ROWS, COLS, PITCH> {
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
        row * PITCH as u32 + col
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

impl<const ROWS: usize, const COLS: usize, const PITCH: usize> StaticLayout for RowMajor<ROWS, COLS, PITCH> {
    const SHAPE: Shape<'static> = Shape::RowMajor {
        rows: narrow(ROWS),
        cols: narrow(COLS),
        pitch: narrow(PITCH),
    }
    .checked();

    const NEW: Self = {
        let _ = Self::SHAPE;
        Self(())
    };
}

/// A const parameter as a `u32`; does not compile past 32 bits.
#[track_caller]
pub(crate) const fn narrow(parameter: usize) -> u32 {
    if parameter as u64 > u32::MAX as u64 {
        refuse("a layout's parameters are at most 2^32 - 1");
    }
    parameter as u32
}
