//! The transpose, ready to use: `output[col][row] = input[row][col]`, dense and row-major.
//!
//! [`Kernels::transpose`] is the plain call. [`TransposeKernel`] is one variant on buffers that are on the device already:
//! what a program uses that keeps its data there, and what compares the variants.

use std::marker::PhantomData;

use kernels_gpu::transpose::{BLOCK, VARIANTS, grid};
use tile33_host::{Device, DeviceBuffer, Error, Kernel, LaunchConfig, Module, Run, SharedBytes, args};
use tile33_layout::Pitched;

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
    ($($ty:ty => $kernel:ident),* $(,)?) => {$(
        impl Element for $ty { const KERNEL: KernelElement = KernelElement::$kernel; }
    )*};
}
elements!(u8 => U8, i8 => U8, u16 => U16, i16 => U16, u32 => F32, i32 => F32, f32 => F32, u64 => F64, i64 => F64, f64 => F64);

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
        /// `input` or `output`.
        which: &'static str,
        /// Elements of the buffer.
        given: usize,
        /// The matrix's rows.
        rows: usize,
        /// The matrix's columns.
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
        let kernel = TransposeKernel::of(self, best())?;
        let input = self.device().upload(input)?;
        let mut output = self.device().uninit(input.len())?;
        kernel.run(&input, &mut output, rows, cols)?.clean()?;
        Ok(output.to_vec()?)
    }
}

/// The variant that [`Kernels::transpose`] uses.
pub(crate) fn best() -> &'static Variant {
    Variant::named("padded").expect("the kernels have it")
}

/// Elements of a matrix that the kernels can index.
fn elements(rows: usize, cols: usize) -> Result<usize, TransposeError> {
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
        let run = unsafe {
            if self.variant.dynamic {
                self.kernel
                    .launch(&config, args![input, output, rows, cols, side, pitch])
            } else {
                self.kernel.launch(&config, args![input, output, rows, cols])
            }
        };
        Ok(run?)
    }

    /// Grid, block and dynamic shared memory for a matrix.
    ///
    /// # Errors
    /// When the matrix is empty or larger than the kernels count.
    pub(crate) fn config(&self, rows: usize, cols: usize) -> Result<LaunchConfig, TransposeError> {
        elements(rows, cols)?;
        let (rows, cols) = (rows as u32, cols as u32);
        Ok(if self.variant.dynamic {
            LaunchConfig::new(grid(rows, cols, self.tile.side), BLOCK).with_dynamic_shared(self.tile.shared::<T>())
        } else {
            LaunchConfig::new(grid(rows, cols, TILE), BLOCK)
        })
    }

    /// Static shared memory of a block, in bytes.
    pub(crate) fn static_shared(&self) -> u64 {
        self.kernel.static_shared()
    }
}
