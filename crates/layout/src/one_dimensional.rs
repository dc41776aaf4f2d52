//! Layouts of one dimension: a single row.

use crate::row_major::narrow;
use crate::{Layout, Shape, StaticLayout};

/// `LEN` elements, `STRIDE` apart.
///
/// ```
/// use tile33_layout::Strided;
/// let every_other = Strided::<32, 2>::new();
/// assert_eq!(every_other.at(5), 10);
/// assert_eq!(Strided::<32, 2>::LEN, 63);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strided<const COUNT: usize, const STRIDE: usize = 1>(());

impl<const COUNT: usize, const STRIDE: usize> Strided<COUNT, STRIDE> {
    /// Elements of memory, the gaps between elements included.
    ///
    /// ```
    /// assert_eq!(tile33_layout::Strided::<10, 3>::LEN, 28);
    /// ```
    pub const LEN: usize = <Self as StaticLayout>::STORAGE;

    /// The layout; does not compile if its parameters are impossible.
    ///
    /// ```
    /// use tile33_layout::{Layout, Strided};
    /// assert_eq!(Strided::<10, 3>::new().cols(), 10);
    /// ```
    #[inline(always)]
    pub const fn new() -> Self {
        <Self as StaticLayout>::NEW
    }

    /// Offset in elements of element `index`.
    ///
    /// ```
    /// assert_eq!(tile33_layout::Strided::<10, 3>::new().at(9), 27);
    /// ```
    #[inline(always)]
    pub const fn at(&self, index: u32) -> u32 {
        index * STRIDE as u32
    }
}

/// `COUNT` elements, one place left free after every `EVERY`: element i lies at `i + i / EVERY`.
///
/// The conflict-avoiding offset of tree-shaped algorithms (scan, reduction), whose stride doubles from step to step:
///
/// ```
/// use tile33_layout::{Skewed, WarpAccess};
/// let skewed = Skewed::<2048, 32>::new();
/// let step = |place: &dyn Fn(u32) -> u32| {
///     WarpAccess::shared_load(4, |lane| Some(u64::from(4 * place(64 * lane)))).unwrap().wavefronts()
/// };
/// assert_eq!(step(&|index| index), 32);
/// assert_eq!(step(&|index| skewed.at(index)), 2);
/// assert_eq!(Skewed::<2048, 32>::LEN, 2048 + 63);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skewed<const COUNT: usize, const EVERY: usize>(());

impl<const COUNT: usize, const EVERY: usize> Skewed<COUNT, EVERY> {
    /// Elements of memory, the free places included.
    ///
    /// ```
    /// assert_eq!(tile33_layout::Skewed::<64, 32>::LEN, 65);
    /// ```
    pub const LEN: usize = <Self as StaticLayout>::STORAGE;

    /// The layout; does not compile if its parameters are impossible.
    ///
    /// ```
    /// use tile33_layout::{Layout, Skewed};
    /// assert_eq!(Skewed::<64, 32>::new().cols(), 64);
    /// ```
    #[inline(always)]
    pub const fn new() -> Self {
        <Self as StaticLayout>::NEW
    }

    /// Offset in elements of element `index`.
    ///
    /// ```
    /// assert_eq!(tile33_layout::Skewed::<64, 32>::new().at(33), 34);
    /// ```
    #[inline(always)]
    pub const fn at(&self, index: u32) -> u32 {
        index + index / EVERY as u32
    }
}

macro_rules! one_row {
    ($name:ident<$count:ident, $parameter:ident>, $shape:expr) => {
        impl<const $count: usize, const $parameter: usize> Default for $name<$count, $parameter> {
            #[inline(always)]
            fn default() -> Self {
                Self::new()
            }
        }

        impl<const $count: usize, const $parameter: usize> Layout for $name<$count, $parameter> {
            #[inline(always)]
            fn rows(&self) -> u32 {
                1
            }

            #[inline(always)]
            fn cols(&self) -> u32 {
                $count as u32
            }

            #[inline(always)]
            fn storage(&self) -> u32 {
                Self::STORAGE as u32
            }

            #[inline(always)]
            fn offset(&self, _row: u32, col: u32) -> u32 {
                self.at(col)
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

        impl<const $count: usize, const $parameter: usize> StaticLayout for $name<$count, $parameter> {
            const SHAPE: Shape<'static> = $shape.checked();

            const NEW: Self = {
                let _ = Self::SHAPE;
                Self(())
            };
        }
    };
}

one_row!(Strided<COUNT, STRIDE>, Shape::Strided { len: narrow(COUNT), stride: narrow(STRIDE) });
one_row!(Skewed<COUNT, EVERY>, Shape::Skewed { len: narrow(COUNT), every: narrow(EVERY) });
