//! A layout chosen at run time, for a tile of given rows and columns.

use std::fmt;

use tile33_layout::{Shape, ShapeError, XorBits};

/// How the elements of a tile are placed.
///
/// ```
/// use tile33_explain::Arrangement;
/// assert_eq!(Arrangement::Xor { period: 32 }.to_string(), "col ^ (row % 32)");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrangement {
    /// Rows of `pitch` elements one after the other.
    Pitch(u32),
    /// `col ^ (row % period)`, without padding.
    Xor {
        /// Rows after which the permutation repeats.
        period: u32,
    },
    /// CuTe's swizzle over rows of `pitch` elements.
    Swizzle {
        /// Elements from a row to the next.
        pitch: u32,
        /// The swizzle.
        bits: XorBits,
    },
    /// One dimension: a free place after every so many elements.
    Skew {
        /// So many.
        every: u32,
    },
}

impl fmt::Display for Arrangement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pitch(pitch) => write!(f, "pitch {pitch}"),
            Self::Xor { period } => write!(f, "col ^ (row % {period})"),
            Self::Swizzle {
                bits: XorBits { bits, base, shift },
                ..
            } => write!(f, "swizzle {bits},{base},{shift}"),
            Self::Skew { every } => write!(f, "index + index / {every}"),
        }
    }
}

/// A tile's shape and how its elements are placed.
///
/// ```
/// use tile33_explain::{Arrangement, Placement};
/// let padded = Placement { rows: 32, cols: 32, arrangement: Arrangement::Pitch(33) };
/// assert_eq!(padded.check(), Ok(()));
/// assert_eq!((padded.storage(), padded.offset(2, 5)), (1056, Some(71)));
/// assert_eq!(padded.layout_type(), "RowMajor<32, 32, 33>");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Rows.
    pub rows: u32,
    /// Columns that hold data.
    pub cols: u32,
    /// How they are placed.
    pub arrangement: Arrangement,
}

impl Placement {
    /// Whether `tile33-layout` has such a layout.
    ///
    /// # Errors
    ///
    /// The reason that the compiler would give for the type.
    ///
    /// ```
    /// use tile33_explain::{Arrangement, Placement};
    /// let overlapping = Placement { rows: 32, cols: 32, arrangement: Arrangement::Pitch(31) };
    /// assert!(overlapping.check().is_err());
    /// ```
    pub fn check(&self) -> Result<(), ShapeError> {
        self.with_shape(|shape| shape.check())
    }

    /// Calls `f` with the layout.
    ///
    /// ```
    /// use tile33_explain::{Arrangement, Placement};
    /// let padded = Placement { rows: 32, cols: 32, arrangement: Arrangement::Pitch(33) };
    /// assert_eq!(padded.with_shape(|shape| shape.coordinates(33)), Some((1, 0)));
    /// ```
    pub fn with_shape<R>(&self, f: impl FnOnce(&Shape<'_>) -> R) -> R {
        let Self { rows, cols, .. } = *self;
        match self.arrangement {
            Arrangement::Pitch(pitch) => f(&Shape::RowMajor { rows, cols, pitch }),
            Arrangement::Xor { period } => f(&Shape::XorColumns { rows, cols, period }),
            Arrangement::Swizzle { pitch, bits } => f(&Shape::Swizzled {
                base: &Shape::RowMajor { rows, cols, pitch },
                swizzle: bits,
            }),
            Arrangement::Skew { every } => f(&Shape::Skewed {
                len: rows.saturating_mul(cols),
                every,
            }),
        }
    }

    /// Elements of memory. Of a checked placement.
    ///
    /// ```
    /// use tile33_explain::{Arrangement, Placement};
    /// let padded = Placement { rows: 32, cols: 32, arrangement: Arrangement::Pitch(33) };
    /// assert_eq!(padded.storage(), 1056);
    /// ```
    pub fn storage(&self) -> u32 {
        self.with_shape(|shape| shape.storage())
    }

    /// Elements from a row to the next.
    ///
    /// ```
    /// use tile33_explain::{Arrangement, Placement};
    /// assert_eq!(Placement { rows: 8, cols: 16, arrangement: Arrangement::Xor { period: 8 } }.pitch(), 16);
    /// ```
    pub fn pitch(&self) -> u32 {
        match self.arrangement {
            Arrangement::Pitch(pitch) | Arrangement::Swizzle { pitch, .. } => pitch,
            Arrangement::Xor { .. } | Arrangement::Skew { .. } => self.cols,
        }
    }

    /// Offset in elements of a row and a column, which need not be within the shape: like C's indexing, a column past
    /// the row's end is in the next row. `None` before the start and past 2^32 - 1. Of a checked placement.
    ///
    /// ```
    /// use tile33_explain::{Arrangement, Placement};
    /// let padded = Placement { rows: 32, cols: 32, arrangement: Arrangement::Pitch(33) };
    /// assert_eq!((padded.offset(1, 0), padded.offset(0, 33), padded.offset(0, -1)), (Some(33), Some(33), None));
    /// ```
    pub fn offset(&self, row: i64, col: i64) -> Option<u32> {
        let pitch = i64::from(self.pitch());
        let linear = u32::try_from(row.checked_mul(pitch)?.checked_add(col)?).ok()?;
        if let Arrangement::Skew { every } = self.arrangement {
            return linear.checked_add(linear / every);
        }
        let pitch = self.pitch();
        Some(self.with_shape(|shape| shape.offset(linear / pitch, linear % pitch)))
    }

    /// Whether `count` elements along a row, the first at a multiple of `count`, lie side by side.
    ///
    /// ```
    /// use tile33_explain::{Arrangement, Placement};
    /// let xor = Placement { rows: 32, cols: 32, arrangement: Arrangement::Xor { period: 32 } };
    /// assert!(xor.keeps_vectors(1) && !xor.keeps_vectors(4));
    /// ```
    pub fn keeps_vectors(&self, count: u32) -> bool {
        match self.arrangement {
            // Whether they are aligned shows in each address.
            Arrangement::Pitch(_) => true,
            Arrangement::Xor { period } => count == 1 || period == 1,
            Arrangement::Swizzle { bits, .. } => bits.vector() >= count,
            Arrangement::Skew { every } => every.is_multiple_of(count),
        }
    }

    /// The widest access in bytes (at most 16) that any row allows at any multiple of it.
    ///
    /// ```
    /// use tile33_explain::{Arrangement, Placement};
    /// assert_eq!(Placement { rows: 32, cols: 32, arrangement: Arrangement::Pitch(36) }.widest_access(4), 16);
    /// ```
    pub fn widest_access(&self, element_bytes: u32) -> u32 {
        let vector = self.with_shape(|shape| shape.vector());
        (u64::from(vector) * u64::from(element_bytes)).min(16) as u32
    }

    /// The type in `tile33-layout`.
    ///
    /// ```
    /// use tile33_explain::{Arrangement, Placement};
    /// let padded = Placement { rows: 32, cols: 32, arrangement: Arrangement::Pitch(33) };
    /// assert_eq!(padded.layout_type(), "RowMajor<32, 32, 33>");
    /// ```
    pub fn layout_type(&self) -> String {
        let Self { rows, cols, .. } = *self;
        match self.arrangement {
            Arrangement::Pitch(pitch) if pitch == cols => format!("RowMajor<{rows}, {cols}>"),
            Arrangement::Pitch(pitch) => format!("RowMajor<{rows}, {cols}, {pitch}>"),
            Arrangement::Xor { period } if period == cols => format!("XorColumns<{rows}, {cols}>"),
            Arrangement::Xor { period } => format!("XorColumns<{rows}, {cols}, {period}>"),
            Arrangement::Swizzle { pitch, bits } => {
                let base = Self {
                    arrangement: Arrangement::Pitch(pitch),
                    ..*self
                }
                .layout_type();
                format!("Swizzled<{base}, {}, {}, {}>", bits.bits, bits.base, bits.shift)
            }
            Arrangement::Skew { every } => format!("Skewed<{}, {every}>", u64::from(rows) * u64::from(cols)),
        }
    }
}
