//! Matrix products.
//!
//! ```
//! use tile33::prelude::*;
//!
//! let device = Device::open();
//! let a = device.upload(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?; // 2 rows, 3 columns
//! let b = device.upload(&[1.0f32, 0.0, 0.0, 1.0, 1.0, 1.0])?; // 3 rows, 2 columns
//! let mut c = device.uninit(4)?;
//! device.matmul(&a, &b, &mut c, Sizes { m: 2, n: 2, k: 3 })?;
//! assert_eq!(c.to_vec()?, [4.0, 5.0, 10.0, 11.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Gemm`] adds what BLAS's `gemm` has: factors, transposes, leading dimensions.
//!
//! | A and B | C, alpha and beta | a result differs from the exact one by at most |
//! |---|---|---|
//! | `f32`, `f64` | the same | γ(k + 2)·(\|alpha\|·Σ\|a·b\| + \|beta·c\|) |
//! | `f16`, `bf16` (of the crate `half`) | `f32` | γ(4k + 8)·(\|alpha\|·Σ\|a·b\| + \|beta·c\|), with γ of `f32` |
//!
//! ([`host::reference`](mod@crate::host::reference) has the notation.) **Deterministic**: of `f32` and `f64`, an element of C is
//! a chain of fused multiply-adds along k, in this order, with every kernel, so that all give the same bits on every device.
//! `f16` and `bf16` are multiplied by the tensor cores, from `sm_80` on; their sums are the same on every run, but round as
//! the card does.
//!
//! m, n and k are less than 2^31, and may be 0: of a k of 0 the product is zero, and C becomes beta·C.

mod claims;
mod gemm;
mod kernel;
mod steps;
mod trial;

use std::sync::Arc;

use bytemuck::Pod;
use half::{bf16, f16};
use kernels_gpu::matmul::{SIDE, blocks};
use tile33_host::{Device, DeviceBuffer};

use super::Enqueue;
use crate::Kernels;

pub use gemm::{Gemm, MatmulError, Scalar, Stored};
pub use kernel::{MatmulKernel, Variant};
pub use steps::steps;
pub use tile33_host::reference::matmul::Sizes;
pub use trial::{Judged, trial, trial_with};

/// An element type of A and B.
pub trait Element: Pod + Send + Sync {
    /// Rust's name of the type.
    const NAME: &'static str;

    /// The element type of C, and what products are summed up in.
    type Sum: Scalar;

    /// Whether they are multiplied by the tensor cores.
    const TENSOR_CORES: bool;

    /// The same number, exactly.
    fn widen(self) -> Self::Sum;
}

macro_rules! elements {
    ($($ty:ident: $sum:ident, $tensor_cores:literal, $widen:expr;)*) => {$(
        impl Element for $ty {
            const NAME: &'static str = stringify!($ty);
            type Sum = $sum;
            const TENSOR_CORES: bool = $tensor_cores;

            fn widen(self) -> $sum {
                $widen(self)
            }
        }
    )*};
}
elements! {
    f32: f32, false, |x| x;
    f64: f64, false, |x| x;
    f16: f32, true, f16::to_f32;
    bf16: f32, true, bf16::to_f32;
}

/// Matrix products, as methods of [`Device`].
pub trait Matmul {
    /// C = A·B of dense row-major matrices: A is m x k, B is k x n, C is m x n. Buffers may be longer.
    ///
    /// # Errors
    /// [`MatmulError`]: when a size is 2^31 or more, a buffer does not hold its matrix, or the card is too old for `f16` and
    /// `bf16`; nothing has run then. When the device fails.
    fn matmul<T: Element>(
        &self,
        a: &DeviceBuffer<T>,
        b: &DeviceBuffer<T>,
        c: &mut DeviceBuffer<T::Sum>,
        sizes: Sizes,
    ) -> Result<(), MatmulError> {
        self.gemm(&Gemm::new(sizes), a, b, c)
    }

    /// C = alpha·A·B + beta·C with the options of a [`Gemm`]. The padding beyond a leading dimension is neither read nor
    /// written.
    ///
    /// # Errors
    /// As [`matmul`](Self::matmul), and for a leading dimension that is less than a row.
    fn gemm<T: Element>(
        &self,
        gemm: &Gemm<T::Sum>,
        a: &DeviceBuffer<T>,
        b: &DeviceBuffer<T>,
        c: &mut DeviceBuffer<T::Sum>,
    ) -> Result<(), MatmulError>;
}

impl Matmul for Device {
    fn gemm<T: Element>(
        &self,
        gemm: &Gemm<T::Sum>,
        a: &DeviceBuffer<T>,
        b: &DeviceBuffer<T>,
        c: &mut DeviceBuffer<T::Sum>,
    ) -> Result<(), MatmulError> {
        let kernels = Kernels::of(self);
        let kept: Arc<Kept<T>> = self.extension(|_| Kept::new(&kernels))?;
        kept.best(gemm.sizes()).start(gemm, a, b, c, &mut Enqueue)
    }
}

/// The kernels for an element type, of which a call takes one.
struct Kept<T> {
    small: MatmulKernel<T>,
    large: MatmulKernel<T>,
}

impl<T: Element> Kept<T> {
    fn new(kernels: &Kernels) -> Result<Self, MatmulError> {
        let (small, large) = match T::TENSOR_CORES {
            false => (Variant::TiledPadded, Variant::DoubleBuffered),
            true => (Variant::Tensor, Variant::Tensor),
        };
        Ok(Self {
            small: MatmulKernel::new(kernels, small)?,
            large: MatmulKernel::new(kernels, large)?,
        })
    }

    /// The kernel with tiles of 128 x 128 where there are enough of them to keep the multiprocessors of a card busy.
    fn best(&self, sizes: Sizes) -> &MatmulKernel<T> {
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        if blocks(number(sizes.m), number(sizes.n), SIDE, SIDE) < FEW_BLOCKS {
            &self.small
        } else {
            &self.large
        }
    }
}

/// Fewer blocks leave most multiprocessors of a card without work: its 32 x 32 tiles are sixteen times as many.
///
/// On an H200 (driver 580, 2026-11-30), tiles of 32 and of 128: 36 and 56 µs for 256 x 256 `f32` (4 blocks), 59 and 83 for 512
/// (16 blocks), 355 and 141 for 1024 (64 blocks).
const FEW_BLOCKS: u64 = 32;
