//! One kernel for one element type, ready to launch.

use std::marker::PhantomData;

use kernels_gpu::matmul::{SIDE, SIMPLE_BLOCK, TENSOR_THREADS, THREADS, TILE, TILE_BLOCK, blocks};
use tile33_host::{Arch, DeviceBuffer, Kernel, LaunchConfig, Run, args};

use super::gemm::Numbers;
use super::{Element, Gemm, MatmulError, Scalar};
use crate::Kernels;
use crate::catalogue::{Record, Way};

/// A matrix product's kernel, a step of the textbook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variant {
    /// Every thread fetches a row and a column from global memory.
    Naive,
    /// A block shares tiles of 32 x 32.
    Tiled,
    /// The same, with an unused column in each row of the tiles.
    TiledPadded,
    /// A thread makes 8 x 8 elements.
    RegisterTiled,
    /// The same, fetching the next tiles while it multiplies.
    DoubleBuffered,
    /// A warp makes 64 x 64 elements with the tensor cores.
    Tensor,
}

impl Variant {
    /// In the order in which they are taught.
    pub const ALL: [Self; 6] = [
        Self::Naive,
        Self::Tiled,
        Self::TiledPadded,
        Self::RegisterTiled,
        Self::DoubleBuffered,
        Self::Tensor,
    ];

    /// The kernel's function in [`kernels_gpu::matmul`], without the element type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Naive => "naive",
            Self::Tiled => "tiled",
            Self::TiledPadded => "tiled_padded",
            Self::RegisterTiled => "register_tiled",
            Self::DoubleBuffered => "double_buffered",
            Self::Tensor => "tensor",
        }
    }

    /// Whether there is a kernel for elements of type `T`.
    pub fn takes<T: Element>(self) -> bool {
        T::TENSOR_CORES == (self == Self::Tensor)
    }

    /// Those that there are for elements of type `T`.
    pub fn of<T: Element>() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|variant| variant.takes::<T>())
    }

    /// Rows and columns of C that a block makes.
    const fn tile(self) -> [u32; 2] {
        match self {
            Self::Naive => [SIMPLE_BLOCK[1], SIMPLE_BLOCK[0]],
            Self::Tiled | Self::TiledPadded => [TILE, TILE],
            Self::RegisterTiled | Self::DoubleBuffered | Self::Tensor => [SIDE, SIDE],
        }
    }

    const fn block(self) -> [u32; 3] {
        match self {
            Self::Naive => SIMPLE_BLOCK,
            Self::Tiled | Self::TiledPadded => TILE_BLOCK,
            Self::RegisterTiled | Self::DoubleBuffered => [THREADS, 1, 1],
            Self::Tensor => [TENSOR_THREADS, 1, 1],
        }
    }

    /// The entry point for elements of type `T`.
    pub(super) fn entry<T: Element>(self) -> String {
        format!("matmul_{}_{}", self.name(), T::NAME)
    }
}

/// What the instructions of [`Variant::Tensor`] need.
const TENSOR_ARCH: Arch = Arch::new(8, 0);

/// One kernel for one element type, on a device: what compares the kernels. [`Matmul`](super::Matmul) chooses by itself.
#[derive(Debug)]
pub struct MatmulKernel<T> {
    kernel: Kernel,
    variant: Variant,
    element: PhantomData<fn(T)>,
}

impl<T: Element> MatmulKernel<T> {
    /// Loads the kernel.
    ///
    /// # Errors
    /// [`MatmulError::NoKernel`] where there is none for the element type, [`MatmulError::Architecture`] where the device
    /// lacks the instructions; when the device cannot load it.
    pub fn new(kernels: &Kernels, variant: Variant) -> Result<Self, MatmulError> {
        if !variant.takes::<T>() {
            return Err(MatmulError::NoKernel {
                kernel: variant.name(),
                element: T::NAME,
            });
        }
        let limits = kernels.device().limits();
        if variant == Variant::Tensor && limits.arch < TENSOR_ARCH {
            return Err(MatmulError::Architecture {
                element: T::NAME,
                needed: TENSOR_ARCH,
                device: limits.name.clone(),
                found: limits.arch,
            });
        }
        Ok(Self {
            kernel: kernels.kernel(&variant.entry::<T>())?,
            variant,
            element: PhantomData,
        })
    }

    /// Makes the product and waits for it. `None` where there is nothing to do: no elements in C, or a C that stays as it is.
    ///
    /// # Errors
    /// As [`Matmul::gemm`](super::Matmul::gemm); what the emulator finds is in the run's report.
    pub fn run(
        &self,
        gemm: &Gemm<T::Sum>,
        a: &DeviceBuffer<T>,
        b: &DeviceBuffer<T>,
        c: &mut DeviceBuffer<T::Sum>,
    ) -> Result<Option<Run>, MatmulError> {
        let mut launches = Record::default();
        self.start(gemm, a, b, c, &mut launches)?;
        Ok(launches.0.pop().map(|launched| launched.run))
    }

    /// Launches it, where there is anything to do.
    pub(crate) fn start(
        &self,
        gemm: &Gemm<T::Sum>,
        a: &DeviceBuffer<T>,
        b: &DeviceBuffer<T>,
        c: &mut DeviceBuffer<T::Sum>,
        way: &mut impl Way,
    ) -> Result<(), MatmulError> {
        let numbers = gemm.check(a.len(), b.len(), c.len())?;
        let Numbers {
            m,
            n,
            k,
            alpha,
            beta,
            lda,
            ldb,
            ldc,
            transposed,
        } = numbers;
        if m == 0 || n == 0 || (k == 0 && beta == T::Sum::ONE) {
            return Ok(());
        }
        let [rows, cols] = self.variant.tile();
        let most = self.kernel.device().limits().grid.0[0];
        let needed = blocks(m, n, rows, cols);
        let Some(grid) = u32::try_from(needed).ok().filter(|&blocks| blocks <= most) else {
            return Err(MatmulError::Size {
                what: "the number of blocks of threads",
                given: needed,
                most: most.into(),
            });
        };
        let config = LaunchConfig::new(grid, self.variant.block());
        let (alpha, beta) = (alpha.argument(), beta.argument());
        // SAFETY: the kernel reads the elements of A and B, and reads and writes those of C: the buffers hold them, and C's
        // is borrowed alone.
        unsafe {
            let arguments = args![m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, transposed];
            way.go(&self.kernel, &config, arguments)?;
        }
        Ok(())
    }
}
