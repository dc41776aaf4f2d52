//! A square matrix transposed where it lies.

use std::marker::PhantomData;

use kernels_gpu::transpose::{BLOCK, pairs_grid};
use tile33_host::{DeviceBuffer, Kernel, LaunchConfig, args};

use super::entry;
use crate::Kernels;
use crate::catalogue::Way;
use crate::transpose::{Element, TransposeError, elements};

/// The kernel's function.
pub(super) const NAME: &str = "in_place";

/// The kernel for an element type, on a device.
pub(super) struct InPlace<T> {
    kernel: Kernel,
    element: PhantomData<T>,
}

impl<T: Element> InPlace<T> {
    pub(super) fn new(kernels: &Kernels) -> Result<Self, TransposeError> {
        Ok(Self {
            kernel: kernels.kernel(&entry::<T>(NAME))?,
            element: PhantomData,
        })
    }

    pub(super) fn start(
        &self,
        matrix: &mut DeviceBuffer<T>,
        side: usize,
        way: &mut impl Way,
    ) -> Result<(), TransposeError> {
        if matrix.len() < elements(side, side)? {
            return Err(TransposeError::Buffer {
                which: "matrix",
                given: matrix.len(),
                rows: side,
                cols: side,
            });
        }
        let side = side as u32;
        let config = LaunchConfig::new(pairs_grid(side), BLOCK);
        // SAFETY: the kernel reads and writes the `side * side` elements that the buffer holds.
        unsafe { way.go(&self.kernel, &config, args![matrix, side])? };
        Ok(())
    }
}
