//! A row-major layout whose shape is chosen at run time.

use crate::{Layout, Shape, ShapeError};

/// Rows of a pitch chosen at run time: tiles in dynamic shared memory, matrices in global memory.
///
/// ```
/// use tile33_layout::{Layout, Pitched, ShapeError};
/// let tile = Pitched::new(32, 32, 33)?;
/// assert_eq!(tile.offset(2, 5), 71);
/// assert_eq!(tile.storage(), 1056);
/// assert_eq!(Pitched::new(32, 32, 31), Err(ShapeError::PitchTooSmall));
/// # Ok::<(), ShapeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pitched {
    rows: u32,
    cols: u32,
    pitch: u32,
}

impl Pitched {
    /// `rows` rows of `cols` elements, `pitch` elements from a row to the next.
    ///
    /// # Errors
    ///
    /// An empty shape, a pitch less than the columns, or more than 2^32 - 1 elements (a larger matrix is a
    /// [`Pitched::wide`]).
    ///
    /// ```
    /// use tile33_layout::Pitched;
    /// assert_eq!(Pitched::new(8, 16, 20).unwrap().pitch(), 20);
    /// assert!(Pitched::new(0, 16, 20).is_err());
    /// ```
    pub const fn new(rows: u32, cols: u32, pitch: u32) -> Result<Self, ShapeError> {
        match (Shape::RowMajor { rows, cols, pitch }).check() {
            Ok(()) => Ok(Self { rows, cols, pitch }),
            Err(error) => Err(error),
        }
    }

    /// As [`new`](Self::new), without the limit on the elements: only [`offset_wide`](Self::offset_wide) and
    /// [`storage_wide`](Self::storage_wide) are meaningful past 2^32 - 1.
    ///
    /// # Errors
    ///
    /// An empty shape or a pitch less than the columns.
    ///
    /// ```
    /// use tile33_layout::Pitched;
    /// let matrix = Pitched::wide(100_000, 100_000, 100_000).unwrap();
    /// assert_eq!(matrix.offset_wide(99_999, 99_999), 9_999_999_999);
    /// assert_eq!(matrix.storage_wide(), 10_000_000_000);
    /// ```
    pub const fn wide(rows: u32, cols: u32, pitch: u32) -> Result<Self, ShapeError> {
        match (Shape::RowMajor { rows, cols, pitch }).check() {
            Ok(()) | Err(ShapeError::TooLarge) => Ok(Self { rows, cols, pitch }),
            Err(error) => Err(error),
        }
    }

    /// What the host already checked: for kernels, whose parameters these are.
    ///
    /// With an impossible shape offsets are unspecified (rows overlap); nothing else happens.
    ///
    /// ```
    /// use tile33_layout::Pitched;
    /// assert_eq!(Some(Pitched::unchecked(32, 32, 33)), Pitched::new(32, 32, 33).ok());
    /// ```
    #[inline(always)]
    pub const fn unchecked(rows: u32, cols: u32, pitch: u32) -> Self {
        Self { rows, cols, pitch }
    }

    /// Elements from a row to the next.
    ///
    /// ```
    /// assert_eq!(tile33_layout::Pitched::new(32, 32, 33).unwrap().pitch(), 33);
    /// ```
    #[inline(always)]
    pub const fn pitch(&self) -> u32 {
        self.pitch
    }

    /// Offset in elements of (`row`, `col`), in 64 bits.
    ///
    /// ```
    /// use tile33_layout::Pitched;
    /// assert_eq!(Pitched::wide(3, 1 << 31, 1 << 31).unwrap().offset_wide(2, 7), (1 << 32) + 7);
    /// ```
    #[inline(always)]
    pub const fn offset_wide(&self, row: u32, col: u32) -> u64 {
        row as u64 * self.pitch as u64 + col as u64
    }

    /// Elements of memory, padding included, in 64 bits.
    ///
    /// ```
    /// assert_eq!(tile33_layout::Pitched::new(32, 32, 33).unwrap().storage_wide(), 1056);
    /// ```
    #[inline(always)]
    pub const fn storage_wide(&self) -> u64 {
        self.rows as u64 * self.pitch as u64
    }

    /// The layout as a [`Shape`].
    ///
    /// ```
    /// use tile33_layout::{Pitched, Shape};
    /// assert_eq!(Pitched::unchecked(2, 3, 4).shape(), Shape::RowMajor { rows: 2, cols: 3, pitch: 4 });
    /// ```
    pub const fn shape(&self) -> Shape<'static> {
        Shape::RowMajor {
            rows: self.rows,
            cols: self.cols,
            pitch: self.pitch,
        }
    }
}

impl Layout for Pitched {
    #[inline(always)]
    fn rows(&self) -> u32 {
        self.rows
    }

    #[inline(always)]
    fn cols(&self) -> u32 {
        self.cols
    }

    #[inline(always)]
    fn storage(&self) -> u32 {
        self.rows.wrapping_mul(self.pitch)
    }

    #[inline(always)]
    fn offset(&self, row: u32, col: u32) -> u32 {
        row.wrapping_mul(self.pitch).wrapping_add(col)
    }

    #[inline(always)]
    fn coordinates(&self, offset: u32) -> Option<(u32, u32)> {
        if self.pitch == 0 {
            None
        } else {
            self.shape().coordinates(offset)
        }
    }

    #[inline(always)]
    fn vector(&self) -> u32 {
        self.shape().vector()
    }
}
