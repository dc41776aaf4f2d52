//! The transpose, ready to use: `output[col][row] = input[row][col]`, dense and row-major.
//!
//! [`Kernels::transpose`] is the plain call. [`TransposeKernel`] is one variant on buffers that are on the device already:
//! what a program uses that keeps its data there, and what compares the variants.

use std::marker::PhantomData;

use kernels_gpu::transpose::{VARIANTS, grid};
use tile33_host::{Device, DeviceBuffer, Error, Kernel, LaunchConfig, Module, Run, SharedBytes, args};
use tile33_layout::occupancy::{Card, Occupancy, occupancy};
use tile33_layout::{Pitched, VECTOR_BYTES};

use crate::catalogue::{Record, Way};
use crate::kernels::Kernels;

pub use kernels_gpu::transpose::{Element as KernelElement, TILE, Variant};

/// Every variant, in the order in which they are taught.
pub const ALL: &[Variant] = &VARIANTS;

/// A type whose matrices can be transposed. Bits are moved, not numbers, so types of one size share a kernel.
pub trait Element: bytemuck::Pod + Send + Sync {
    /// The kernels' type of that size.
    const KERNEL: KernelElement;
}

macro_rules! elements {
    ($($kernel:ident: $($ty:ty),*;)*) => {$($(
        impl Element for $ty { const KERNEL: KernelElement = KernelElement::$kernel; }
    )*)*};
}
// Arrays: pixels, complex numbers, vectors.
elements! {
    U8: u8, i8;
    U16: u16, i16, [u8; 2];
    F32: u32, i32, f32, [u8; 4], [u16; 2];
    F64: u64, i64, f64, [u8; 8], [u16; 4], [u32; 2], [i32; 2], [f32; 2];
    U128: u128, i128, [u8; 16], [u16; 8], [u32; 4], [i32; 4], [f32; 4], [u64; 2], [i64; 2], [f64; 2];
}

/// Why a transpose cannot run, or went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransposeError {
    /// A matrix without elements, or with more rows or columns than the kernels count.
    #[error(
        "a matrix of {rows} rows and {cols} columns: both are at least 1 and at most {}",
        u32::MAX
    )]
    Shape {
        /// Asked for.
        rows: usize,
        /// Asked for.
        cols: usize,
    },
    /// A slice that is not as long as the matrix.
    #[error("{given} elements for a matrix of {rows} x {cols}")]
    Length {
        /// Elements given.
        given: usize,
        /// The matrix's rows.
        rows: usize,
        /// The matrix's columns.
        cols: usize,
    },
    /// A buffer that is shorter than the matrix.
    #[error("the {which} buffer holds {given} elements, and a matrix of {rows} x {cols} needs more")]
    Buffer {
        /// `input`, `output` or `matrix`.
        which: &'static str,
        /// Elements of the buffer.
        given: usize,
        /// The matrix's rows.
        rows: usize,
        /// The matrix's columns.
        cols: usize,
    },
    /// No matrices at all, or more than the kernels count.
    #[error("{batch} matrices: at least 1 and at most {} are possible", u32::MAX)]
    Batch {
        /// Asked for.
        batch: usize,
    },
    /// A buffer that is shorter than all matrices together.
    #[error("the {which} buffer holds {given} elements, and {batch} matrices of {rows} x {cols} need more")]
    BatchBuffer {
        /// `input` or `output`.
        which: &'static str,
        /// Elements of the buffer.
        given: usize,
        /// Matrices.
        batch: usize,
        /// Rows of each.
        rows: usize,
        /// Columns of each.
        cols: usize,
    },
    /// A tile that the dynamic kernel cannot use.
    #[error("a tile of side {side} with rows {pitch} elements apart: {reason}")]
    Tile {
        /// Asked for.
        side: u32,
        /// Asked for.
        pitch: u32,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The device.
    #[error(transparent)]
    Device(#[from] Error),
}

/// The tile of the dynamic kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    side: u32,
    pitch: u32,
}

impl Tile {
    /// A square tile of `side` rows and columns, whose rows start `pitch` elements apart.
    ///
    /// # Errors
    /// When the side is 0, a row does not fit its pitch, or the tile is larger than 32 bits count.
    pub fn new(side: u32, pitch: u32) -> Result<Self, TransposeError> {
        let refuse = |reason| Err(TransposeError::Tile { side, pitch, reason });
        if side == 0 {
            return refuse("the side is at least 1");
        }
        if pitch < side {
            return refuse("the pitch is at least the side");
        }
        match Pitched::new(side, side, pitch) {
            Ok(_) => Ok(Self { side, pitch }),
            Err(_) => refuse("that is more than 32 bits count"),
        }
    }

    /// Shared memory for it.
    fn shared<T>(self) -> SharedBytes {
        let elements = Pitched::unchecked(self.side, self.side, self.pitch).storage_wide();
        SharedBytes::of::<T>(elements as usize)
    }
}

impl Default for Tile {
    /// One unused column: the emblem's.
    fn default() -> Self {
        Self {
            side: TILE,
            pitch: TILE + 1,
        }
    }
}

impl Kernels {
    /// The transpose of a row-major matrix of `rows` x `cols` elements.
    ///
    /// # Errors
    /// When the slice does not hold such a matrix, or the device refuses; nothing has run then.
    pub fn transpose<T: Element>(&self, input: &[T], rows: usize, cols: usize) -> Result<Vec<T>, TransposeError> {
        if input.len() != elements(rows, cols)? {
            return Err(TransposeError::Length {
                given: input.len(),
                rows,
                cols,
            });
        }
        let kernel = TransposeKernel::of(self, best::<T>(rows, cols))?;
        let input = self.device().upload(input)?;
        let mut output = self.device().uninit(input.len())?;
        kernel.run(&input, &mut output, rows, cols)?.clean()?;
        Ok(output.to_vec()?)
    }
}

/// The variant for a matrix of this shape in buffers of its own, which start at multiples of 16 bytes.
pub(crate) fn best<T: Element>(rows: usize, cols: usize) -> &'static Variant {
    let by_vectors = suits_vectors::<T>(rows, cols);
    Variant::named(if by_vectors { "vectorized" } else { "padded" }).expect("the kernels have it")
}

/// Whether a matrix is best moved by vectors: every row starts at one, also once transposed, and there is a whole tile.
pub(crate) fn suits_vectors<T: Element>(rows: usize, cols: usize) -> bool {
    let lanes = VECTOR_BYTES / size_of::<T>();
    let side = Variant::named("vectorized").map_or(usize::MAX, |variant| variant.side(T::KERNEL) as usize);
    rows.is_multiple_of(lanes) && cols.is_multiple_of(lanes) && rows.min(cols) >= side
}

/// Elements of a matrix that the kernels can index.
pub(crate) fn elements(rows: usize, cols: usize) -> Result<usize, TransposeError> {
    let fits = |n: usize| n > 0 && u32::try_from(n).is_ok();
    let count = rows.checked_mul(cols).filter(|_| fits(rows) && fits(cols));
    count.ok_or(TransposeError::Shape { rows, cols })
}

/// One variant for one element type, on a device.
#[derive(Debug)]
pub struct TransposeKernel<T> {
    kernel: Kernel,
    variant: Variant,
    tile: Tile,
    element: PhantomData<T>,
}

impl<T: Element> TransposeKernel<T> {
    /// The kernel of this project.
    ///
    /// # Errors
    /// As [`Kernels::module`].
    pub fn of(kernels: &Kernels, variant: &Variant) -> Result<Self, TransposeError> {
        Self::new(kernels.module(variant.entry(T::KERNEL))?, variant)
    }

    /// Finds the kernel in another module with the same names and parameters.
    ///
    /// # Errors
    /// When the module has no such kernel.
    pub fn new(module: &Module, variant: &Variant) -> Result<Self, TransposeError> {
        Ok(Self {
            kernel: module.kernel(variant.entry(T::KERNEL))?,
            variant: *variant,
            tile: Tile::default(),
            element: PhantomData,
        })
    }

    /// The same with another tile. Only the dynamic variant's is chosen at launch; the others keep theirs.
    #[must_use]
    pub fn with_tile(self, tile: Tile) -> Self {
        Self { tile, ..self }
    }

    /// The device that it runs on.
    pub fn device(&self) -> &Device {
        self.kernel.device()
    }

    /// Shared memory of a block, static and dynamic, in bytes.
    pub fn shared_bytes(&self) -> u64 {
        let dynamic = if self.variant.dynamic {
            self.tile.shared::<T>().get()
        } else {
            0
        };
        self.kernel.static_shared() + dynamic
    }

    /// How many blocks fit on a multiprocessor of the card, for their threads, shared memory and, on a GPU, registers.
    pub fn occupancy(&self, card: &Card) -> Occupancy {
        let threads = self.variant.block(T::KERNEL).iter().product();
        let shared = u32::try_from(self.shared_bytes()).unwrap_or(u32::MAX);
        occupancy(card, threads, self.kernel.registers().unwrap_or(0), 0, shared)
    }

    /// Transposes (or copies, if that is the variant) `rows` x `cols` elements from the start of `input` to the start of
    /// `output`. Waits for the end.
    ///
    /// # Errors
    /// When a buffer is too short or on another device; nothing has run then. When the device fails.
    pub fn run(
        &self,
        input: &DeviceBuffer<T>,
        output: &mut DeviceBuffer<T>,
        rows: usize,
        cols: usize,
    ) -> Result<Run, TransposeError> {
        let mut launches = Record::default();
        self.start(input, output, rows, cols, &mut launches)?;
        Ok(launches.0.remove(0).run)
    }

    /// Launches it, once, in a way that may or may not wait.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub(crate) fn start(
        &self,
        input: &DeviceBuffer<T>,
        output: &mut DeviceBuffer<T>,
        rows: usize,
        cols: usize,
        way: &mut impl Way,
    ) -> Result<(), TransposeError> {
        let count = elements(rows, cols)?;
        for (which, given) in [("input", input.len()), ("output", output.len())] {
            if given < count {
                return Err(TransposeError::Buffer {
                    which,
                    given,
                    rows,
                    cols,
                });
            }
        }
        let config = self.config(rows, cols)?;
        let (rows, cols) = (rows as u32, cols as u32);
        let Tile { side, pitch } = self.tile;
        // SAFETY: the kernel reads and writes `rows * cols` elements of the two, which are distinct and long enough.
        unsafe {
            if self.variant.dynamic {
                way.go(&self.kernel, &config, args![input, output, rows, cols, side, pitch])?;
            } else {
                way.go(&self.kernel, &config, args![input, output, rows, cols])?;
            }
        }
        Ok(())
    }

    /// Grid, block and dynamic shared memory for a matrix.
    ///
    /// # Errors
    /// When the matrix is empty or larger than the kernels count.
    fn config(&self, rows: usize, cols: usize) -> Result<LaunchConfig, TransposeError> {
        elements(rows, cols)?;
        let (rows, cols) = (rows as u32, cols as u32);
        let block = self.variant.block(T::KERNEL);
        Ok(if self.variant.dynamic {
            LaunchConfig::new(grid(rows, cols, self.tile.side), block).with_dynamic_shared(self.tile.shared::<T>())
        } else {
            LaunchConfig::new(grid(rows, cols, self.variant.side(T::KERNEL)), block)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_moved_where_rows_start_at_them_and_a_tile_is_whole() {
        let best = |rows, cols| best::<f32>(rows, cols).name;
        assert_eq!(best(64, 64), "vectorized");
        assert_eq!(best(1000, 68), "vectorized");
        assert_eq!(best(1000, 66), "padded");
        assert_eq!(best(999, 64), "padded");
        assert_eq!(best(60, 1000), "padded");
        assert!(suits_vectors::<u8>(128, 144) && !suits_vectors::<u8>(128, 136));
        assert!(suits_vectors::<[f64; 2]>(17, 16) && !suits_vectors::<[f64; 2]>(15, 16));
    }
}
