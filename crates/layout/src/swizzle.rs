//! CuTe's swizzle: some bits of an offset are flipped by others.

use core::marker::PhantomData;

use crate::shape::refuse;
use crate::{Layout, Shape, ShapeError, StaticLayout};

/// A swizzle as a value: what [`Swizzle`]'s parameters mean.
///
/// CuTe writes `Swizzle<B, M, S>`: keep the lowest M bits of an offset (a vector of 2^M elements stays together), and
/// flip the B bits above them by the B bits that lie S above those (below, for negative S). Offsets count elements.
///
/// ```
/// use tile33_layout::XorBits;
/// let swizzle = XorBits { bits: 5, base: 0, shift: 5 }; // in a tile 32 wide: col ^ row
/// assert_eq!(swizzle.apply(3 * 32 + 5), 3 * 32 + (5 ^ 3));
/// assert_eq!(swizzle.apply(swizzle.apply(1000)), 1000);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct XorBits {
    /// B: how many bits change.
    pub bits: u32,
    /// M: how many low bits stay as they are.
    pub base: u32,
    /// S: how far above the changed bits the ones lie that change them.
    pub shift: i32,
}

impl XorBits {
    /// Whether the swizzle is a permutation of 32-bit offsets.
    ///
    /// ```
    /// use tile33_layout::{ShapeError, XorBits};
    /// assert_eq!(XorBits { bits: 3, base: 4, shift: 3 }.check(), Ok(()));
    /// assert_eq!(XorBits { bits: 3, base: 4, shift: 2 }.check(), Err(ShapeError::SwizzleOverlaps));
    /// assert_eq!(XorBits { bits: 9, base: 9, shift: 15 }.check(), Err(ShapeError::SwizzleTooWide));
    /// ```
    pub const fn check(self) -> Result<(), ShapeError> {
        let shift = self.shift.unsigned_abs();
        if shift < self.bits {
            return Err(ShapeError::SwizzleOverlaps);
        }
        // In 64 bits: the parameters may be anything.
        if self.base as u64 + self.bits as u64 + shift as u64 > 32 {
            return Err(ShapeError::SwizzleTooWide);
        }
        Ok(())
    }

    /// The offset's new place. Its own inverse. Meaningful if [`check`](Self::check) is `Ok`.
    ///
    /// ```
    /// use tile33_layout::XorBits;
    /// let swizzle = XorBits { bits: 3, base: 2, shift: 3 };
    /// assert_eq!(swizzle.apply(0b101_011_01), 0b101_110_01);
    /// ```
    #[inline(always)]
    pub const fn apply(self, offset: u32) -> u32 {
        if self.bits == 0 {
            return offset;
        }
        let ones = ((1u64 << self.bits) - 1) as u32;
        if self.shift >= 0 {
            let read = ones << (self.base + self.shift as u32);
            offset ^ ((offset & read) >> self.shift)
        } else {
            let read = ones << self.base;
            offset ^ ((offset & read) << self.shift.unsigned_abs())
        }
    }

    /// Elements of the aligned runs that are permuted within themselves.
    ///
    /// ```
    /// use tile33_layout::XorBits;
    /// assert_eq!(XorBits { bits: 3, base: 2, shift: 3 }.run(), 32);
    /// assert_eq!(XorBits { bits: 3, base: 2, shift: -3 }.run(), 256);
    /// ```
    pub const fn run(self) -> u64 {
        if self.bits == 0 {
            return 1;
        }
        let below = if self.shift < 0 { self.shift.unsigned_abs() } else { 0 };
        1 << (self.base + self.bits + below)
    }

    /// Elements of the aligned runs that stay together and in order: 2^M.
    ///
    /// ```
    /// use tile33_layout::XorBits;
    /// assert_eq!(XorBits { bits: 3, base: 2, shift: 3 }.vector(), 4);
    /// ```
    pub const fn vector(self) -> u32 {
        if self.bits == 0 || self.base > 31 {
            1 << 31
        } else {
            1 << self.base
        }
    }
}

/// CuTe's `Swizzle<B, M, S>`, the parameter of [`Swizzled`]. See [`XorBits`] for what the letters do.
///
/// ```
/// use tile33_layout::Swizzle;
/// assert_eq!(Swizzle::<5, 0, 5>::BITS.apply(3 * 32 + 5), 3 * 32 + 6);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Swizzle<const B: u32, const M: u32, const S: i32>(());

impl<const B: u32, const M: u32, const S: i32> Swizzle<B, M, S> {
    /// The swizzle as a value; does not compile if its parameters are impossible.
    ///
    /// ```
    /// use tile33_layout::{Swizzle, XorBits};
    /// assert_eq!(Swizzle::<3, 4, 3>::BITS, XorBits { bits: 3, base: 4, shift: 3 });
    /// ```
    pub const BITS: XorBits = {
        let bits = XorBits {
            bits: B,
            base: M,
            shift: S,
        };
        match bits.check() {
            Ok(()) => bits,
            Err(error) => refuse(error.message()),
        }
    };
}

/// A layout `L` whose offsets are then swizzled: `Swizzled<RowMajor<32, 32>, 5, 0, 5>` is `col ^ row`.
///
/// With M = 2 on `f32`, groups of four elements stay together and aligned, so that `f32x4` accesses survive.
///
/// ```
/// use tile33_layout::{Layout, RowMajor, Swizzled};
/// type Tile = Swizzled<RowMajor<32, 32>, 3, 2, 3>;
/// assert_eq!(Tile::new().offset(1, 0), 36); // row 1 starts one vector of 4 later
/// assert_eq!(Tile::new().vector(), 4);
/// assert_eq!(Tile::new().coordinates(36), Some((1, 0)));
/// ```
///
/// A swizzle that would leave the tile does not compile:
///
/// ```compile_fail
/// use tile33_layout::{RowMajor, Swizzled};
/// let _ = Swizzled::<RowMajor<3, 24>, 5, 0, 5>::new();
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Swizzled<L, const B: u32, const M: u32, const S: i32>(PhantomData<L>);

impl<L: StaticLayout, const B: u32, const M: u32, const S: i32> Swizzled<L, B, M, S> {
    /// Elements of memory, padding included.
    ///
    /// ```
    /// use tile33_layout::{RowMajor, Swizzled};
    /// assert_eq!(Swizzled::<RowMajor<32, 32>, 5, 0, 5>::LEN, 1024);
    /// ```
    pub const LEN: usize = <Self as StaticLayout>::STORAGE;

    /// The layout; does not compile if its parameters are impossible.
    ///
    /// ```
    /// use tile33_layout::{Layout, RowMajor, Swizzled};
    /// assert_eq!(Swizzled::<RowMajor<32, 32>, 5, 0, 5>::new().rows(), 32);
    /// ```
    #[inline(always)]
    pub const fn new() -> Self {
        <Self as StaticLayout>::NEW
    }
}

impl<L: StaticLayout, const B: u32, const M: u32, const S: i32> Default for Swizzled<L, B, M, S> {
    #[inline(always)]
    fn default() -> Self {
        Self::new()
    }
}

impl<L: StaticLayout, const B: u32, const M: u32, const S: i32> Layout for Swizzled<L, B, M, S> {
    #[inline(always)]
    fn rows(&self) -> u32 {
        Self::ROWS as u32
    }

    #[inline(always)]
    fn cols(&self) -> u32 {
        Self::COLS as u32
    }

    #[inline(always)]
    fn storage(&self) -> u32 {
        Self::STORAGE as u32
    }

    #[inline(always)]
    fn offset(&self, row: u32, col: u32) -> u32 {
        Swizzle::<B, M, S>::BITS.apply(L::NEW.offset(row, col))
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

impl<L: StaticLayout, const B: u32, const M: u32, const S: i32> StaticLayout for Swizzled<L, B, M, S> {
    const SHAPE: Shape<'static> = Shape::Swizzled {
        base: &L::SHAPE,
        swizzle: Swizzle::<B, M, S>::BITS,
    }
    .checked();

    const NEW: Self = {
        let _ = Self::SHAPE;
        Self(PhantomData)
    };
}
