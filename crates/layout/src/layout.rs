//! What every layout answers.

use crate::Shape;

/// Where the element at a row and a column lies.
///
/// Rows, columns and offsets count elements, from 0. One-dimensional layouts have a single row. Offsets are 32-bit,
/// because a tile is in shared memory, of which no block has more than 227 KiB; a matrix in global memory is a
/// [`Pitched`](crate::Pitched), whose [`offset_wide`](crate::Pitched::offset_wide) is 64-bit.
///
/// # Contract
///
/// Different coordinates within the shape have different offsets, all less than [`storage`](Self::storage), and
/// [`coordinates`](Self::coordinates) inverts [`offset`](Self::offset). Coordinates outside the shape give an
/// unspecified offset, or a panic where the build checks for overflow ([`checked_offset`](Self::checked_offset) tells).
///
/// ```
/// use tile33_layout::{Layout, RowMajor};
/// let tile = RowMajor::<32, 32, 33>::new();
/// assert_eq!(Layout::offset(&tile, 2, 5), 71);
/// assert_eq!(tile.coordinates(71), Some((2, 5)));
/// assert_eq!(tile.coordinates(32), None); // the padding of row 0
/// assert_eq!(tile.storage(), 32 * 33);
/// ```
pub trait Layout: Copy {
    /// Rows.
    fn rows(&self) -> u32;

    /// Columns that hold data.
    fn cols(&self) -> u32;

    /// Elements of memory, padding included.
    fn storage(&self) -> u32;

    /// Offset in elements of (`row`, `col`).
    fn offset(&self, row: u32, col: u32) -> u32;

    /// The row and column whose element lies at `offset`; `None` for padding and outside the storage.
    fn coordinates(&self, offset: u32) -> Option<(u32, u32)>;

    /// The largest power of two V so that any V consecutive columns, the first a multiple of V, lie side by side in
    /// order, at an offset that is a multiple of V: what a vector access of V elements needs.
    fn vector(&self) -> u32;

    /// [`offset`](Self::offset), or `None` outside the shape.
    ///
    /// ```
    /// use tile33_layout::{Layout, RowMajor};
    /// assert_eq!(RowMajor::<4, 4>::new().checked_offset(3, 3), Some(15));
    /// assert_eq!(RowMajor::<4, 4>::new().checked_offset(0, 4), None);
    /// ```
    #[inline(always)]
    fn checked_offset(&self, row: u32, col: u32) -> Option<u32> {
        if row < self.rows() && col < self.cols() {
            Some(self.offset(row, col))
        } else {
            None
        }
    }
}

/// A layout whose shape is a type: a zero-sized value, everything known when compiling.
///
/// ```
/// use tile33_layout::{RowMajor, StaticLayout, XorColumns};
/// fn bytes<L: StaticLayout>() -> usize { L::STORAGE * size_of::<f32>() }
/// assert_eq!(bytes::<RowMajor<32, 32, 33>>(), 4224);
/// assert_eq!(bytes::<XorColumns<32, 32>>(), 4096);
/// ```
pub trait StaticLayout: Layout + Default {
    /// The layout as a value. Using it (every constant and method does) checks the parameters when compiling.
    const SHAPE: Shape<'static>;

    /// The layout.
    const NEW: Self;

    /// Rows.
    const ROWS: usize = Self::SHAPE.rows() as usize;

    /// Columns that hold data.
    const COLS: usize = Self::SHAPE.cols() as usize;

    /// Elements of memory, padding included: the length of the array that holds the tile.
    const STORAGE: usize = Self::SHAPE.storage() as usize;

    /// See [`Layout::vector`].
    const VECTOR: usize = Self::SHAPE.vector() as usize;
}
