//! Layouts as values: what `const` evaluation and the tools work with, and the one place that says which parameters
//! are possible.

use crate::XorBits;

/// Any layout of this crate, as a value.
///
/// The typed layouts take their constants and their compile-time checks from here, so a tool that builds a `Shape` from
/// user input gives the same answers and the same messages as the compiler.
///
/// ```
/// use tile33_layout::{Shape, ShapeError};
/// let padded = Shape::RowMajor { rows: 32, cols: 32, pitch: 33 };
/// assert_eq!(padded.check(), Ok(()));
/// assert_eq!(padded.offset(2, 5), 71);
/// const NARROW: Shape = Shape::XorColumns { rows: 32, cols: 24, period: 32 };
/// assert_eq!(NARROW.check(), Err(ShapeError::PeriodDoesNotDivide));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape<'a> {
    /// [`RowMajor`](crate::RowMajor) and [`Pitched`](crate::Pitched).
    RowMajor {
        /// Rows.
        rows: u32,
        /// Columns that hold data.
        cols: u32,
        /// Elements from a row to the next.
        pitch: u32,
    },
    /// [`XorColumns`](crate::XorColumns).
    XorColumns {
        /// Rows.
        rows: u32,
        /// Columns.
        cols: u32,
        /// Rows after which the permutation repeats.
        period: u32,
    },
    /// [`Strided`](crate::Strided).
    Strided {
        /// Elements that hold data.
        len: u32,
        /// Elements from one to the next.
        stride: u32,
    },
    /// [`Skewed`](crate::Skewed).
    Skewed {
        /// Elements that hold data.
        len: u32,
        /// One element stays free after so many.
        every: u32,
    },
    /// [`Swizzled`](crate::Swizzled).
    Swizzled {
        /// The layout whose offsets are permuted.
        base: &'a Shape<'a>,
        /// How.
        swizzle: XorBits,
    },
    /// [`Blocked`](crate::Blocked).
    Blocked {
        /// How tiles lie in the whole.
        outer: &'a Shape<'a>,
        /// How elements lie in a tile.
        inner: &'a Shape<'a>,
    },
}

/// Why a layout cannot exist. [`message`](Self::message) is what the compiler says, too.
///
/// ```
/// use tile33_layout::{Shape, ShapeError};
/// let nothing = Shape::Strided { len: 8, stride: 0 };
/// assert_eq!(nothing.check(), Err(ShapeError::Empty));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeError {
    /// No rows, no columns, no elements, or a stride of 0.
    Empty,
    /// Rows would overlap.
    PitchTooSmall,
    /// More than 2^32 - 1 elements.
    TooLarge,
    /// Only powers of two make `col ^ row` a permutation.
    PeriodNotPowerOfTwo,
    /// `col ^ row` would leave the row.
    PeriodDoesNotDivide,
    /// CuTe's `Swizzle<B, M, S>` with |S| < B: the bits read and the bits changed would overlap.
    SwizzleOverlaps,
    /// CuTe's `Swizzle<B, M, S>` with bits past the 32nd.
    SwizzleTooWide,
    /// The swizzle permutes runs of a power of two, and the storage is no whole number of them.
    SwizzleLeavesTile,
}

impl ShapeError {
    /// What is wrong, what would have happened, and what to do.
    ///
    /// ```
    /// use tile33_layout::ShapeError;
    /// assert!(ShapeError::PitchTooSmall.message().contains("pitch"));
    /// ```
    pub const fn message(self) -> &'static str {
        match self {
            Self::Empty => "a layout needs at least one row and one column, and strides of at least one element",
            Self::PitchTooSmall => {
                "the pitch is less than the columns: the end of each row would overwrite the start of the next; use a \
                 pitch of at least the columns"
            }
            Self::TooLarge => "the layout has more than 2^32 - 1 elements, which its 32-bit offsets cannot tell apart",
            Self::PeriodNotPowerOfTwo => {
                "the swizzle's period is no power of two: `col ^ (row % period)` would give two columns of a row \
                 the same place; use a power of two that divides the columns, or pad instead"
            }
            Self::PeriodDoesNotDivide => {
                "the swizzle's period does not divide the columns: `col ^ (row % period)` would leave the row and \
                 collide with the next one; use a power of two that divides the columns, or pad instead"
            }
            Self::SwizzleOverlaps => {
                "Swizzle<B, M, S> needs |S| >= B: the bits it reads and the bits it changes would overlap, and two \
                 offsets would collide"
            }
            Self::SwizzleTooWide => "Swizzle<B, M, S> reaches past bit 31: M + B + |S| must be at most 32",
            Self::SwizzleLeavesTile => {
                "the swizzle permutes runs of 2^(M + B) elements (2^(M + B - S) for negative S), and the storage is \
                 no whole number of them: offsets would leave the tile; choose rows and a pitch whose product is a \
                 multiple, or a swizzle of fewer bits"
            }
        }
    }
}

impl core::fmt::Display for ShapeError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.message())
    }
}

impl core::error::Error for ShapeError {}

impl Shape<'_> {
    /// Whether the layout can exist. Everything else here is meaningful only if it is `Ok`.
    ///
    /// ```
    /// use tile33_layout::{Shape, ShapeError};
    /// let overlapping = Shape::RowMajor { rows: 2, cols: 8, pitch: 7 };
    /// assert_eq!(overlapping.check(), Err(ShapeError::PitchTooSmall));
    /// ```
    pub const fn check(&self) -> Result<(), ShapeError> {
        match *self {
            Self::RowMajor { rows, cols, pitch } => {
                if rows == 0 || cols == 0 {
                    Err(ShapeError::Empty)
                } else if pitch < cols {
                    Err(ShapeError::PitchTooSmall)
                } else {
                    fits(rows as u64 * pitch as u64)
                }
            }
            Self::XorColumns { rows, cols, period } => {
                if rows == 0 || cols == 0 {
                    Err(ShapeError::Empty)
                } else if !period.is_power_of_two() {
                    Err(ShapeError::PeriodNotPowerOfTwo)
                } else if cols % period != 0 {
                    Err(ShapeError::PeriodDoesNotDivide)
                } else {
                    fits(rows as u64 * cols as u64)
                }
            }
            Self::Strided { len, stride } => {
                if len == 0 || stride == 0 {
                    Err(ShapeError::Empty)
                } else {
                    fits((len as u64 - 1) * stride as u64 + 1)
                }
            }
            Self::Skewed { len, every } => {
                if len == 0 || every == 0 {
                    Err(ShapeError::Empty)
                } else {
                    fits(len as u64 + (len as u64 - 1) / every as u64)
                }
            }
            Self::Swizzled { base, swizzle } => {
                if let Err(error) = base.check() {
                    return Err(error);
                }
                if let Err(error) = swizzle.check() {
                    return Err(error);
                }
                if !(base.storage() as u64).is_multiple_of(swizzle.run()) {
                    Err(ShapeError::SwizzleLeavesTile)
                } else {
                    Ok(())
                }
            }
            Self::Blocked { outer, inner } => {
                if let Err(error) = outer.check() {
                    return Err(error);
                }
                if let Err(error) = inner.check() {
                    return Err(error);
                }
                fits(outer.storage() as u64 * inner.storage() as u64)
            }
        }
    }

    /// See [`Layout::rows`](crate::Layout::rows).
    ///
    /// ```
    /// # use tile33_layout::Shape;
    /// assert_eq!(Shape::Strided { len: 8, stride: 3 }.rows(), 1);
    /// ```
    pub const fn rows(&self) -> u32 {
        match *self {
            Self::RowMajor { rows, .. } | Self::XorColumns { rows, .. } => rows,
            Self::Strided { .. } | Self::Skewed { .. } => 1,
            Self::Swizzled { base, .. } => base.rows(),
            Self::Blocked { outer, inner } => outer.rows() * inner.rows(),
        }
    }

    /// See [`Layout::cols`](crate::Layout::cols).
    ///
    /// ```
    /// # use tile33_layout::Shape;
    /// assert_eq!(Shape::Strided { len: 8, stride: 3 }.cols(), 8);
    /// ```
    pub const fn cols(&self) -> u32 {
        match *self {
            Self::RowMajor { cols, .. } | Self::XorColumns { cols, .. } => cols,
            Self::Strided { len, .. } | Self::Skewed { len, .. } => len,
            Self::Swizzled { base, .. } => base.cols(),
            Self::Blocked { outer, inner } => outer.cols() * inner.cols(),
        }
    }

    /// See [`Layout::storage`](crate::Layout::storage).
    ///
    /// ```
    /// # use tile33_layout::Shape;
    /// assert_eq!(Shape::Strided { len: 8, stride: 3 }.storage(), 22);
    /// ```
    pub const fn storage(&self) -> u32 {
        match *self {
            Self::RowMajor { rows, pitch, .. } => rows * pitch,
            Self::XorColumns { rows, cols, .. } => rows * cols,
            Self::Strided { len, stride } => (len - 1) * stride + 1,
            Self::Skewed { len, every } => len + (len - 1) / every,
            Self::Swizzled { base, .. } => base.storage(),
            Self::Blocked { outer, inner } => outer.storage() * inner.storage(),
        }
    }

    /// See [`Layout::offset`](crate::Layout::offset); usable in constants. (Kernels call the typed layouts' `offset`,
    /// which has no cases to decide.)
    ///
    /// ```
    /// # use tile33_layout::Shape;
    /// const PLACE: u32 = Shape::XorColumns { rows: 32, cols: 32, period: 32 }.offset(3, 5);
    /// assert_eq!(PLACE, 3 * 32 + (5 ^ 3));
    /// ```
    pub const fn offset(&self, row: u32, col: u32) -> u32 {
        match *self {
            Self::RowMajor { pitch, .. } => row * pitch + col,
            Self::XorColumns { cols, period, .. } => row * cols + (col ^ (row % period)),
            Self::Strided { stride, .. } => col * stride,
            Self::Skewed { every, .. } => col + col / every,
            Self::Swizzled { base, swizzle } => swizzle.apply(base.offset(row, col)),
            Self::Blocked { outer, inner } => {
                outer.offset(row / inner.rows(), col / inner.cols()) * inner.storage()
                    + inner.offset(row % inner.rows(), col % inner.cols())
            }
        }
    }

    /// See [`Layout::coordinates`](crate::Layout::coordinates).
    ///
    /// ```
    /// # use tile33_layout::Shape;
    /// let skewed = Shape::Skewed { len: 64, every: 32 };
    /// assert_eq!(skewed.coordinates(31), Some((0, 31)));
    /// assert_eq!(skewed.coordinates(32), None);
    /// assert_eq!(skewed.coordinates(33), Some((0, 32)));
    /// ```
    pub const fn coordinates(&self, offset: u32) -> Option<(u32, u32)> {
        match *self {
            Self::RowMajor { rows, cols, pitch } => {
                let (row, col) = (offset / pitch, offset % pitch);
                if row < rows && col < cols {
                    Some((row, col))
                } else {
                    None
                }
            }
            Self::XorColumns { rows, cols, period } => {
                let row = offset / cols;
                if row < rows {
                    Some((row, (offset % cols) ^ (row % period)))
                } else {
                    None
                }
            }
            Self::Strided { len, stride } => {
                if offset.is_multiple_of(stride) && offset / stride < len {
                    Some((0, offset / stride))
                } else {
                    None
                }
            }
            Self::Skewed { len, every } => {
                let (run, place) = match every.checked_add(1) {
                    Some(run) => (offset / run, offset % run),
                    None => (0, offset),
                };
                // run * every cannot overflow: it is at most the offset.
                let col = run * every + place;
                if place < every && col < len {
                    Some((0, col))
                } else {
                    None
                }
            }
            Self::Swizzled { base, swizzle } => {
                if offset < base.storage() {
                    base.coordinates(swizzle.apply(offset))
                } else {
                    None
                }
            }
            Self::Blocked { outer, inner } => {
                let (Some((tile_row, tile_col)), Some((row, col))) = (
                    outer.coordinates(offset / inner.storage()),
                    inner.coordinates(offset % inner.storage()),
                ) else {
                    return None;
                };
                Some((tile_row * inner.rows() + row, tile_col * inner.cols() + col))
            }
        }
    }

    /// See [`Layout::vector`](crate::Layout::vector).
    ///
    /// ```
    /// # use tile33_layout::Shape;
    /// assert_eq!(Shape::RowMajor { rows: 32, cols: 32, pitch: 36 }.vector(), 4);
    /// assert_eq!(Shape::RowMajor { rows: 32, cols: 32, pitch: 33 }.vector(), 1);
    /// ```
    pub const fn vector(&self) -> u32 {
        match *self {
            Self::RowMajor { rows, cols, pitch } => {
                // A single row has no next row to misalign.
                if rows == 1 {
                    power_of_two_in(cols)
                } else {
                    power_of_two_in(cols | pitch)
                }
            }
            Self::XorColumns { rows, cols, period } => {
                if rows == 1 || period == 1 {
                    power_of_two_in(cols)
                } else {
                    1
                }
            }
            Self::Strided { len, stride } => {
                if stride == 1 {
                    power_of_two_in(len)
                } else {
                    1
                }
            }
            Self::Skewed { len, every } => {
                if len <= every {
                    power_of_two_in(len)
                } else {
                    1
                }
            }
            Self::Swizzled { base, swizzle } => {
                let kept = swizzle.vector();
                let vector = base.vector();
                if kept < vector { kept } else { vector }
            }
            Self::Blocked { inner, .. } => power_of_two_in(inner.vector() | inner.storage()),
        }
    }

    /// The shape itself if it can exist; otherwise does not compile, with the reason.
    #[track_caller]
    pub(crate) const fn checked(self) -> Self {
        match self.check() {
            Ok(()) => self,
            Err(error) => refuse(error.message()),
        }
    }
}

/// Ends the evaluation of a constant. Not `panic!`: the compiler would point into that macro instead of at the layout.
#[track_caller]
#[expect(clippy::unnecessary_literal_unwrap, reason = "`panic!` is what this replaces")]
pub(crate) const fn refuse(why: &'static str) -> ! {
    match None::<core::convert::Infallible>.expect(why) {}
}

const fn fits(elements: u64) -> Result<(), ShapeError> {
    if elements <= u32::MAX as u64 {
        Ok(())
    } else {
        Err(ShapeError::TooLarge)
    }
}

/// The largest power of two that divides every number or-ed into `bits`.
const fn power_of_two_in(bits: u32) -> u32 {
    bits & bits.wrapping_neg()
}
