//! What a host needs to launch the transposes.

use cuda_std::layout::{Shape, StaticLayout};

use super::{TILE, Vectors};
use crate::tile::{self, Padded, Permuted, Plain};

/// Threads of a block.
pub const BLOCK: [u32; 3] = [TILE, 8, 1];

/// Blocks of the grid for a matrix of `rows` x `cols` in square tiles of `side` elements (not 0).
///
/// ```
/// use kernels_gpu::transpose::{TILE, grid};
/// assert_eq!(grid(1000, 777, TILE), [25, 32, 1]);
/// // More tiles than a grid has blocks along y: blocks take several.
/// assert_eq!(grid(2_097_153, 4, TILE), [1, 65_535, 1]);
/// ```
#[must_use]
pub const fn grid(rows: u32, cols: u32, side: u32) -> [u32; 3] {
    tile::grid(rows, cols, side, side)
}

/// An element type that there are transposes for. Only its size matters: bits are moved, not numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    /// 4 bytes.
    F32,
    /// 8 bytes.
    F64,
    /// 2 bytes: `u16`, `f16`, `bf16`, ..
    U16,
    /// 1 byte.
    U8,
    /// 16 bytes.
    U128,
}

impl Element {
    /// Every element type.
    pub const ALL: [Element; 5] = [Element::F32, Element::F64, Element::U16, Element::U8, Element::U128];

    /// Rust's name of the type, which ends the names of entry points.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Element::F32 => "f32",
            Element::F64 => "f64",
            Element::U16 => "u16",
            Element::U8 => "u8",
            Element::U128 => "u128",
        }
    }

    /// Bytes of an element.
    #[must_use]
    pub const fn size(self) -> u32 {
        match self {
            Element::F32 => 4,
            Element::F64 => 8,
            Element::U16 => 2,
            Element::U8 => 1,
            Element::U128 => 16,
        }
    }
}

/// A transpose kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Variant {
    /// Its function in [`transpose`](crate::transpose).
    pub name: &'static str,
    /// Whether its tile is in dynamic shared memory, and two more parameters, side and pitch, follow rows and columns.
    pub dynamic: bool,
    /// Whether it transposes: all but the copy.
    pub transposes: bool,
    /// Whether it moves vectors of 16 bytes where every row starts at a multiple of 16 bytes.
    pub vectors: bool,
    entries: [&'static str; Element::ALL.len()],
    work: [Work; Element::ALL.len()],
}

/// How a block does its part, for an element type.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Work {
    tile: Option<Shape<'static>>,
    side: u32,
    block: [u32; 3],
}

impl Work {
    /// A tile of [`TILE`] rows and columns.
    const fn elements(tile: Option<Shape<'static>>) -> [Self; Element::ALL.len()] {
        [Self {
            tile,
            side: TILE,
            block: BLOCK,
        }; Element::ALL.len()]
    }

    const fn vectors<T: Vectors>() -> Self {
        Self {
            tile: Some(T::Tile::SHAPE),
            side: T::Tile::ROWS as u32,
            block: [T::WIDTH, T::HEIGHT, 1],
        }
    }
}

impl Variant {
    /// The entry point for an element type.
    ///
    /// ```
    /// use kernels_gpu::transpose::{Element, Variant};
    /// assert_eq!(Variant::named("padded").unwrap().entry(Element::F64), "transpose_padded_f64");
    /// ```
    #[must_use]
    pub const fn entry(&self, element: Element) -> &'static str {
        self.entries[element as usize]
    }

    /// How its tile lies in static shared memory, where it has one.
    #[must_use]
    pub const fn tile(&self, element: Element) -> Option<Shape<'static>> {
        self.work[element as usize].tile
    }

    /// Rows and columns that a block moves at a time. (The dynamic kernel's: where nothing else is chosen.)
    ///
    /// ```
    /// use kernels_gpu::transpose::{Element, Variant};
    /// assert_eq!(Variant::named("padded").unwrap().side(Element::F32), 32);
    /// assert_eq!(Variant::named("vectorized").unwrap().side(Element::F32), 64);
    /// ```
    #[must_use]
    pub const fn side(&self, element: Element) -> u32 {
        self.work[element as usize].side
    }

    /// Threads of a block.
    #[must_use]
    pub const fn block(&self, element: Element) -> [u32; 3] {
        self.work[element as usize].block
    }

    /// Bytes of static shared memory of a block.
    ///
    /// ```
    /// use kernels_gpu::transpose::{Element, Variant};
    /// assert_eq!(Variant::named("padded").unwrap().shared_bytes(Element::F32), 4224);
    /// ```
    #[must_use]
    pub const fn shared_bytes(&self, element: Element) -> u32 {
        match self.tile(element) {
            Some(shape) => shape.storage() * element.size(),
            None => 0,
        }
    }

    /// The variant of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Variant> {
        VARIANTS.iter().find(|variant| variant.name == name)
    }
}

macro_rules! variant {
    ($name:literal, $work:expr) => {
        Variant {
            name: $name,
            dynamic: matches!($name.as_bytes(), b"dynamic"),
            transposes: !matches!($name.as_bytes(), b"copy"),
            vectors: matches!($name.as_bytes(), b"vectorized"),
            entries: [
                concat!("transpose_", $name, "_f32"),
                concat!("transpose_", $name, "_f64"),
                concat!("transpose_", $name, "_u16"),
                concat!("transpose_", $name, "_u8"),
                concat!("transpose_", $name, "_u128"),
            ],
            work: $work,
        }
    };
}

/// Every variant, in the order in which they are taught.
pub const VARIANTS: [Variant; 7] = [
    variant!("copy", Work::elements(None)),
    variant!("naive", Work::elements(None)),
    variant!("tiled", Work::elements(Some(<Plain as StaticLayout>::SHAPE))),
    variant!("padded", Work::elements(Some(<Padded as StaticLayout>::SHAPE))),
    variant!("swizzled", Work::elements(Some(<Permuted as StaticLayout>::SHAPE))),
    variant!("dynamic", Work::elements(None)),
    variant!(
        "vectorized",
        [
            Work::vectors::<f32>(),
            Work::vectors::<f64>(),
            Work::vectors::<u16>(),
            Work::vectors::<u8>(),
            Work::vectors::<u128>(),
        ]
    ),
];
