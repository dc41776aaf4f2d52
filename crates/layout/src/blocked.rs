//! A tile of tiles.

use core::marker::PhantomData;

use crate::{Layout, Shape, StaticLayout};

/// Tiles laid out as `Inner`, themselves placed as `Outer`: each tile's storage is contiguous.
///
/// ```
/// use tile33_layout::{Blocked, Layout, RowMajor};
/// // 64 x 64 as 8 x 4 tiles of 8 x 16 (what a tensor-core instruction takes at once).
/// type Tile = Blocked<RowMajor<8, 4>, RowMajor<8, 16>>;
/// assert_eq!((Tile::new().rows(), Tile::new().cols()), (64, 64));
/// assert_eq!(Tile::new().offset(9, 17), (1 * 4 + 1) * 128 + 1 * 16 + 1);
/// assert_eq!(Tile::new().coordinates(657), Some((9, 17)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocked<Outer, Inner>(PhantomData<(Outer, Inner)>);

impl<Outer: StaticLayout, Inner: StaticLayout> Blocked<Outer, Inner> {
    /// Elements of memory, padding included.
    ///
    /// ```
    /// use tile33_layout::{Blocked, RowMajor};
    /// assert_eq!(Blocked::<RowMajor<2, 2>, RowMajor<4, 4, 5>>::LEN, 80);
    /// ```
    pub const LEN: usize = <Self as StaticLayout>::STORAGE;

    /// The layout; does not compile if its parameters are impossible.
    ///
    /// ```
    /// use tile33_layout::{Blocked, Layout, RowMajor};
    /// assert_eq!(Blocked::<RowMajor<2, 2>, RowMajor<4, 4>>::new().rows(), 8);
    /// ```
    #[inline(always)]
    pub const fn new() -> Self {
        <Self as StaticLayout>::NEW
    }
}

impl<Outer: StaticLayout, Inner: StaticLayout> Default for Blocked<Outer, Inner> {
    #[inline(always)]
    fn default() -> Self {
        Self::new()
    }
}

impl<Outer: StaticLayout, Inner: StaticLayout> Layout for Blocked<Outer, Inner> {
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
        let (rows, cols) = (Inner::ROWS as u32, Inner::COLS as u32);
        Outer::NEW.offset(row / rows, col / cols) * Inner::STORAGE as u32 + Inner::NEW.offset(row % rows, col % cols)
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

impl<Outer: StaticLayout, Inner: StaticLayout> StaticLayout for Blocked<Outer, Inner> {
    const SHAPE: Shape<'static> = Shape::Blocked {
        outer: &Outer::SHAPE,
        inner: &Inner::SHAPE,
    }
    .checked();

    const NEW: Self = {
        let _ = Self::SHAPE;
        Self(PhantomData)
    };
}
