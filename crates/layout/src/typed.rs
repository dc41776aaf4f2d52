//! A layout together with its element type: everything in bytes.

use core::marker::PhantomData;

use crate::shape::refuse;
use crate::{Layout, StaticLayout};

/// A layout `L` of elements `T`.
///
/// `T` has 1, 2, 4, 8 or 16 bytes, the widths of a memory instruction; other sizes do not compile.
///
/// ```
/// use tile33_layout::{RowMajor, Typed};
/// type Tile = Typed<f32, RowMajor<32, 32, 33>>;
/// assert_eq!(Tile::BYTES, 4224);
/// assert_eq!(Tile::new().byte_offset(2, 5), 284);
/// assert_eq!(Tile::new().coordinates_of_byte(284), Some((2, 5)));
/// ```
///
/// ```compile_fail
/// use tile33_layout::{RowMajor, Typed};
/// let _ = Typed::<[f32; 3], RowMajor<32, 32>>::new(); // no instruction loads 12 bytes
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Typed<T, L> {
    layout: L,
    element: PhantomData<fn() -> T>,
}

impl<T, L> Typed<T, L> {
    const ELEMENT: u32 = {
        let size = size_of::<T>();
        if !size.is_power_of_two() || size > 16 {
            refuse(
                "an element has 1, 2, 4, 8 or 16 bytes, what one memory instruction moves per lane; split other types into \
                 several arrays",
            );
        }
        size as u32
    };
}

impl<T, L: StaticLayout> Typed<T, L> {
    /// Bytes of memory, padding included.
    ///
    /// ```
    /// use tile33_layout::{RowMajor, Typed};
    /// assert_eq!(Typed::<f64, RowMajor<32, 32>>::BYTES, 8192);
    /// ```
    pub const BYTES: usize = L::STORAGE * Self::ELEMENT as usize;

    /// Bytes to which the storage must be aligned so that the widest access along a row that the layout allows (16
    /// bytes at most) is aligned.
    ///
    /// ```
    /// use tile33_layout::{RowMajor, Typed};
    /// assert_eq!(Typed::<f64, RowMajor<32, 32>>::ALIGNMENT, 16);
    /// assert_eq!(Typed::<f64, RowMajor<32, 32, 33>>::ALIGNMENT, 8);
    /// ```
    pub const ALIGNMENT: usize = alignment(Self::ELEMENT, L::VECTOR as u32) as usize;

    /// The layout; does not compile if its parameters are impossible.
    ///
    /// ```
    /// use tile33_layout::{RowMajor, Typed};
    /// assert_eq!(Typed::<u8, RowMajor<4, 4>>::new().byte_offset(3, 3), 15);
    /// ```
    #[inline(always)]
    pub const fn new() -> Self {
        Self::with(L::NEW)
    }
}

impl<T, L: StaticLayout> Default for Typed<T, L> {
    #[inline(always)]
    fn default() -> Self {
        Self::new()
    }
}

impl<T, L: Layout> Typed<T, L> {
    /// Elements `T` in a layout that was made before.
    ///
    /// ```
    /// use tile33_layout::{Pitched, Typed};
    /// let tile = Typed::<f64, _>::with(Pitched::new(32, 32, 33).unwrap());
    /// assert_eq!(tile.size_in_bytes(), 8448);
    /// ```
    #[inline(always)]
    pub const fn with(layout: L) -> Self {
        let _ = Self::ELEMENT;
        Self {
            layout,
            element: PhantomData,
        }
    }

    /// The layout, in elements.
    ///
    /// ```
    /// use tile33_layout::{Layout, RowMajor, Typed};
    /// assert_eq!(Typed::<f64, RowMajor<4, 4>>::new().layout().storage(), 16);
    /// ```
    #[inline(always)]
    pub const fn layout(&self) -> L {
        self.layout
    }

    /// Offset in bytes of (`row`, `col`).
    ///
    /// ```
    /// use tile33_layout::{RowMajor, Typed};
    /// assert_eq!(Typed::<f64, RowMajor<4, 4>>::new().byte_offset(1, 1), 40);
    /// ```
    #[inline(always)]
    pub fn byte_offset(&self, row: u32, col: u32) -> u32 {
        self.layout.offset(row, col) * Self::ELEMENT
    }

    /// Bytes of memory, padding included.
    ///
    /// ```
    /// use tile33_layout::{RowMajor, Typed};
    /// assert_eq!(Typed::<u8, RowMajor<32, 32, 36>>::new().size_in_bytes(), 1152);
    /// ```
    #[inline(always)]
    pub fn size_in_bytes(&self) -> u64 {
        self.layout.storage() as u64 * Self::ELEMENT as u64
    }

    /// Bytes to which the storage must be aligned so that the widest access along a row that the layout allows (16
    /// bytes at most) is aligned; at least the element's size.
    ///
    /// ```
    /// use tile33_layout::{RowMajor, Typed};
    /// assert_eq!(Typed::<f32, RowMajor<32, 32, 36>>::new().alignment(), 16);
    /// assert_eq!(Typed::<f32, RowMajor<32, 32, 33>>::new().alignment(), 4);
    /// ```
    #[inline(always)]
    pub fn alignment(&self) -> u32 {
        alignment(Self::ELEMENT, self.layout.vector())
    }

    /// The row and column of the element that contains the byte; `None` in padding and outside.
    ///
    /// ```
    /// use tile33_layout::{RowMajor, Typed};
    /// assert_eq!(Typed::<f64, RowMajor<4, 4>>::new().coordinates_of_byte(47), Some((1, 1)));
    /// ```
    #[inline(always)]
    pub fn coordinates_of_byte(&self, byte: u32) -> Option<(u32, u32)> {
        self.layout.coordinates(byte / Self::ELEMENT)
    }
}

const fn alignment(element: u32, vector: u32) -> u32 {
    let most = 16 / element;
    element * if vector < most { vector } else { most }
}
