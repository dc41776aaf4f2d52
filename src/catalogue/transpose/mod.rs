//! The transpose.
//!
//! ```
//! use tile33::prelude::*;
//!
//! let device = Device::open();
//! let matrix = device.upload(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?; // 2 rows, 3 columns
//! let mut transposed = device.uninit(6)?;
//! device.transpose(&matrix, &mut transposed, 2, 3)?;
//! assert_eq!(transposed.to_vec()?, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
//!
//! // A square matrix needs no second buffer.
//! let mut square = device.upload(&[1u8, 2, 3, 4])?;
//! device.transpose_in_place(&mut square, 2)?;
//! assert_eq!(square.to_vec()?, [1, 3, 2, 4]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! For every element type of 1, 2, 4, 8 or 16 bytes, bit by bit: NaN keeps its payload. **Deterministic**.
//! [`tile33::transpose`](mod@crate::transpose) has the variants one by one.
//!
//! Which kernel runs is a matter of the shape: `vectorized`, which moves 16 bytes at a time, where every row starts at a
//! multiple of 16 bytes (rows and columns are multiples of 16 bytes' elements: 4 for `f32`) and there is a whole tile of its
//! own (64 x 64 `f32`); else `padded`.

mod batched;
mod in_place;
mod steps;

use std::sync::Arc;

use tile33_host::{Device, DeviceBuffer};

use super::Enqueue;
use crate::Kernels;
use crate::transpose::{Element, TransposeError, TransposeKernel, Variant, best, suits_vectors};

use batched::Batched;
use in_place::InPlace;

pub use steps::steps;

/// Transposes, as methods of [`Device`].
pub trait Transpose {
    /// Writes the transpose of the `rows` x `cols` matrix in `input` to `output`, both dense and row-major. Buffers may be
    /// longer than the matrix.
    ///
    /// # Errors
    /// When the matrix is empty, has more rows or columns than 2^32 - 1, or does not fit into a buffer; nothing has run
    /// then. When the device fails.
    fn transpose<T: Element>(
        &self,
        input: &DeviceBuffer<T>,
        output: &mut DeviceBuffer<T>,
        rows: usize,
        cols: usize,
    ) -> Result<(), TransposeError>;

    /// Transposes the square matrix of `side` rows and columns in `matrix`, dense and row-major, where it lies. The buffer
    /// may be longer than the matrix.
    ///
    /// # Errors
    /// As [`transpose`](Self::transpose).
    fn transpose_in_place<T: Element>(&self, matrix: &mut DeviceBuffer<T>, side: usize) -> Result<(), TransposeError>;

    /// Transposes each of `batch` matrices of `rows` x `cols`, which lie one after the other in `input`, to the same place
    /// in `output`. Buffers may be longer than that.
    ///
    /// ```
    /// use tile33::prelude::*;
    ///
    /// let device = Device::open();
    /// let matrices = device.upload(&[1u16, 2, 3, 4, 10, 20, 30, 40])?; // 2 matrices of 2 rows and 2 columns
    /// let mut transposed = device.uninit(8)?;
    /// device.transpose_batched(&matrices, &mut transposed, 2, 2, 2)?;
    /// assert_eq!(transposed.to_vec()?, [1, 3, 2, 4, 10, 30, 20, 40]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`transpose`](Self::transpose); and of no matrices, or more than 2^32 - 1.
    fn transpose_batched<T: Element>(
        &self,
        input: &DeviceBuffer<T>,
        output: &mut DeviceBuffer<T>,
        batch: usize,
        rows: usize,
        cols: usize,
    ) -> Result<(), TransposeError>;
}

/// The kernels of [`Transpose::transpose`].
struct Plain<T> {
    vectors: TransposeKernel<T>,
    elements: TransposeKernel<T>,
}

/// The kernels of [`Transpose::transpose_batched`].
struct ForBatches<T> {
    vectors: Batched<T>,
    elements: Batched<T>,
}

impl Transpose for Device {
    fn transpose<T: Element>(
        &self,
        input: &DeviceBuffer<T>,
        output: &mut DeviceBuffer<T>,
        rows: usize,
        cols: usize,
    ) -> Result<(), TransposeError> {
        let kernels = Kernels::of(self);
        let kernels: Arc<Plain<T>> = self.extension(|_| -> Result<_, TransposeError> {
            let find = |name| TransposeKernel::of(&kernels, Variant::named(name).expect("the kernels have it"));
            Ok(Plain {
                vectors: find("vectorized")?,
                elements: find("padded")?,
            })
        })?;
        let by_vectors = best::<T>(rows, cols).vectors;
        let kernel = if by_vectors {
            &kernels.vectors
        } else {
            &kernels.elements
        };
        kernel.start(input, output, rows, cols, &mut Enqueue)
    }

    fn transpose_in_place<T: Element>(&self, matrix: &mut DeviceBuffer<T>, side: usize) -> Result<(), TransposeError> {
        let kernels = Kernels::of(self);
        let kernel: Arc<InPlace<T>> = self.extension(|_| InPlace::new(&kernels))?;
        kernel.start(matrix, side, &mut Enqueue)
    }

    fn transpose_batched<T: Element>(
        &self,
        input: &DeviceBuffer<T>,
        output: &mut DeviceBuffer<T>,
        batch: usize,
        rows: usize,
        cols: usize,
    ) -> Result<(), TransposeError> {
        let kernels = Kernels::of(self);
        let kernels: Arc<ForBatches<T>> = self.extension(|_| -> Result<_, TransposeError> {
            Ok(ForBatches {
                vectors: Batched::new(&kernels, true)?,
                elements: Batched::new(&kernels, false)?,
            })
        })?;
        let kernel = if suits_vectors::<T>(rows, cols) {
            &kernels.vectors
        } else {
            &kernels.elements
        };
        kernel.start(input, output, batch, rows, cols, &mut Enqueue)
    }
}

/// The entry point of a kernel for an element type.
fn entry<T: Element>(kernel: &str) -> String {
    format!("transpose_{kernel}_{}", T::KERNEL.name())
}
