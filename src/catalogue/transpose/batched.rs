//! Many matrices of one shape.

use std::marker::PhantomData;

use kernels_gpu::transpose::batched_grid;
use tile33_host::{DeviceBuffer, Kernel, LaunchConfig, args};

use super::entry;
use crate::Kernels;
use crate::catalogue::Way;
use crate::transpose::{Element, TransposeError, Variant, elements};

/// A kernel for an element type, on a device.
pub(super) struct Batched<T> {
    kernel: Kernel,
    /// The variant that it transposes each matrix like.
    like: &'static Variant,
    element: PhantomData<T>,
}

/// The kernel's function, and the variant that it transposes each matrix like.
pub(super) fn named(vectors: bool) -> (&'static str, &'static Variant) {
    let (name, like) = if vectors {
        ("batched_vectorized", "vectorized")
    } else {
        ("batched", "padded")
    };
    (name, Variant::named(like).expect("the kernels have it"))
}

impl<T: Element> Batched<T> {
    pub(super) fn new(kernels: &Kernels, vectors: bool) -> Result<Self, TransposeError> {
        let (name, like) = named(vectors);
        Ok(Self {
            kernel: kernels.kernel(&entry::<T>(name))?,
            like,
            element: PhantomData,
        })
    }

    pub(super) fn start(
        &self,
        input: &DeviceBuffer<T>,
        output: &mut DeviceBuffer<T>,
        batch: usize,
        rows: usize,
        cols: usize,
        way: &mut impl Way,
    ) -> Result<(), TransposeError> {
        let each = elements(rows, cols)?;
        let matrices = u32::try_from(batch).ok().filter(|&batch| batch > 0);
        let matrices = matrices.ok_or(TransposeError::Batch { batch })?;
        for (which, given) in [("input", input.len()), ("output", output.len())] {
            if each.checked_mul(batch).is_none_or(|all| given < all) {
                return Err(TransposeError::BatchBuffer {
                    which,
                    given,
                    batch,
                    rows,
                    cols,
                });
            }
        }
        let (rows, cols) = (rows as u32, cols as u32);
        let grid = batched_grid(matrices, rows, cols, self.like.side(T::KERNEL));
        let config = LaunchConfig::new(grid, self.like.block(T::KERNEL));
        // SAFETY: the kernel reads and writes `batch * rows * cols` elements of the two, which are distinct and long enough.
        unsafe { way.go(&self.kernel, &config, args![input, output, matrices, rows, cols])? };
        Ok(())
    }
}
