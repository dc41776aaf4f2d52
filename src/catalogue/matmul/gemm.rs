//! What a product is of, and whether the buffers hold it.

use kernels_gpu::matmul::{TRANSPOSED_A, TRANSPOSED_B};
use tile33_host::reference::Real;
use tile33_host::reference::matmul::{Matrix, Sizes};
use tile33_host::{Arch, Arg, Error};

/// Why a product was not made. Unless the device failed, nothing has run and nothing was written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MatmulError {
    /// A size that the kernels do not count to.
    #[error("matmul: {what} is {given}, at most {most} is possible")]
    Size {
        /// `m`, `n` or `k`; or the blocks of threads that C takes.
        what: &'static str,
        /// Asked for.
        given: u64,
        /// Largest.
        most: u64,
    },
    /// Rows that would overlap, or lie too far apart.
    #[error(
        "matmul: the leading dimension of {matrix} is {given}; its rows hold {cols} elements in memory, so it is at least \
         {}, and at most {}",
        cols.max(&1),
        u32::MAX
    )]
    LeadingDimension {
        /// `A`, `B` or `C`.
        matrix: char,
        /// Asked for.
        given: usize,
        /// Elements of a row in memory.
        cols: usize,
    },
    /// A buffer that does not hold its matrix.
    #[error(
        "matmul: the buffer of {matrix} holds {given} elements, {needed} are needed: {rows} rows of {cols} in memory, \
         {leading} apart"
    )]
    Buffer {
        /// `A`, `B` or `C`.
        matrix: char,
        /// Elements of the buffer.
        given: usize,
        /// Elements from the first to the last of the matrix.
        needed: u64,
        /// Rows in memory.
        rows: usize,
        /// Columns in memory.
        cols: usize,
        /// The leading dimension.
        leading: usize,
    },
    /// Another kernel for these elements has to be taken.
    #[error("matmul: there is no kernel `{kernel}` for elements of type {element}")]
    NoKernel {
        /// The kernel's function.
        kernel: &'static str,
        /// Rust's name of the element type.
        element: &'static str,
    },
    /// The card is too old for the instructions that the elements need.
    #[error(
        "matmul of {element} takes the tensor cores' instructions of {needed}; {device} is {found}. Convert the matrices to \
         f32"
    )]
    Architecture {
        /// Rust's name of the element type.
        element: &'static str,
        /// Needed at least.
        needed: Arch,
        /// The device's name.
        device: String,
        /// The device's.
        found: Arch,
    },
    /// The device.
    #[error(transparent)]
    Device(#[from] Error),
}

/// A type that products are summed up in.
pub trait Scalar: Real + bytemuck::Pod + Send + Sync {
    /// Zero.
    const ZERO: Self;
    /// One.
    const ONE: Self;

    /// The number as a kernel's argument.
    #[doc(hidden)]
    fn argument(self) -> Arg<'static>;
}

macro_rules! scalars {
    ($($ty:ty)*) => {$(
        impl Scalar for $ty {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;

            fn argument(self) -> Arg<'static> {
                self.into()
            }
        }
    )*};
}
scalars!(f32 f64);

/// A product C = alpha·A·B + beta·C of row-major matrices, with the options of BLAS's `gemm`: A is m x k, B is k x n, C is
/// m x n.
///
/// Without options alpha is 1, beta is 0, nothing is transposed, and rows lie one after the other.
///
/// ```
/// use tile33::prelude::*;
///
/// let device = Device::open();
/// // A is kept as its transpose: 2 rows of 3, which as A are 3 rows of 2. C is part of a matrix with rows of 4.
/// let a = device.upload(&[1.0f64, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// let b = device.upload(&[1.0f64, 0.0, 1.0, 1.0])?;
/// let mut c = device.upload(&[10.0f64; 12])?;
/// let gemm = Gemm::new(Sizes { m: 3, n: 2, k: 2 }).transposed_a().leading_c(4).alpha(2.0).beta(1.0);
/// device.gemm(&gemm, &a, &b, &mut c)?;
/// assert_eq!(c.to_vec()?, [20.0, 18.0, 10.0, 10.0, 24.0, 20.0, 10.0, 10.0, 28.0, 22.0, 10.0, 10.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use = "this describes a product: `device.gemm` makes it"]
pub struct Gemm<S> {
    sizes: Sizes,
    alpha: S,
    beta: S,
    transposed_a: bool,
    transposed_b: bool,
    leading_a: Option<usize>,
    leading_b: Option<usize>,
    leading_c: Option<usize>,
}

impl<S: Scalar> Gemm<S> {
    /// C = A·B of dense matrices.
    pub fn new(sizes: Sizes) -> Self {
        Self {
            sizes,
            alpha: S::ONE,
            beta: S::ZERO,
            transposed_a: false,
            transposed_b: false,
            leading_a: None,
            leading_b: None,
            leading_c: None,
        }
    }

    /// What the product is multiplied by. If it is 0, A and B are not read.
    pub fn alpha(self, alpha: S) -> Self {
        Self { alpha, ..self }
    }

    /// What C, as it was before, is multiplied by. If it is 0, C is not read, and may hold anything.
    pub fn beta(self, beta: S) -> Self {
        Self { beta, ..self }
    }

    /// A is the transpose of what is in memory: k rows of m.
    pub fn transposed_a(self) -> Self {
        Self {
            transposed_a: true,
            ..self
        }
    }

    /// B is the transpose of what is in memory: n rows of k.
    pub fn transposed_b(self) -> Self {
        Self {
            transposed_b: true,
            ..self
        }
    }

    /// Elements from a row of A to the next, in memory.
    pub fn leading_a(self, elements: usize) -> Self {
        Self {
            leading_a: Some(elements),
            ..self
        }
    }

    /// Elements from a row of B to the next, in memory.
    pub fn leading_b(self, elements: usize) -> Self {
        Self {
            leading_b: Some(elements),
            ..self
        }
    }

    /// Elements from a row of C to the next.
    pub fn leading_c(self, elements: usize) -> Self {
        Self {
            leading_c: Some(elements),
            ..self
        }
    }

    /// The sizes.
    pub fn sizes(&self) -> Sizes {
        self.sizes
    }

    /// How A lies in memory.
    pub fn stored_a(&self) -> Stored {
        let Sizes { m, k, .. } = self.sizes;
        Stored::new('A', m, k, self.transposed_a, self.leading_a)
    }

    /// How B lies in memory.
    pub fn stored_b(&self) -> Stored {
        let Sizes { n, k, .. } = self.sizes;
        Stored::new('B', k, n, self.transposed_b, self.leading_b)
    }

    /// How C lies in memory.
    pub fn stored_c(&self) -> Stored {
        let Sizes { m, n, .. } = self.sizes;
        Stored::new('C', m, n, false, self.leading_c)
    }

    /// Whether C is read.
    pub(super) fn reads_c(&self) -> bool {
        self.beta != S::ZERO
    }

    /// Checks the sizes, and that buffers of so many elements hold the matrices.
    pub(super) fn check(&self, a: usize, b: usize, c: usize) -> Result<Numbers<S>, MatmulError> {
        let Sizes { m, n, k } = self.sizes;
        for (what, given) in [("m", m), ("n", n), ("k", k)] {
            if given > MOST {
                let (given, most) = (given as u64, MOST as u64);
                return Err(MatmulError::Size { what, given, most });
            }
        }
        let [lda, ldb, ldc] =
            [(self.stored_a(), a), (self.stored_b(), b), (self.stored_c(), c)].map(|(stored, len)| stored.check(len));
        let flag = |set: bool, flag: u32| if set { flag } else { 0 };
        // Of nothing the product is zero, whatever it is multiplied by.
        let nothing = k == 0 || self.alpha == S::ZERO;
        Ok(Numbers {
            m: m as u32,
            n: n as u32,
            k: if nothing { 0 } else { k as u32 },
            alpha: if nothing { S::ZERO } else { self.alpha },
            beta: self.beta,
            lda: lda?,
            ldb: ldb?,
            ldc: ldc?,
            transposed: flag(self.transposed_a, TRANSPOSED_A) + flag(self.transposed_b, TRANSPOSED_B),
        })
    }

    /// The factors of alpha and beta, for references.
    pub(super) fn factors(&self) -> (S, S) {
        (self.alpha, self.beta)
    }
}

/// The largest m, n or k: BLAS's, and so that the kernels' sums with a tile's side stay within 32 bits.
const MOST: usize = i32::MAX as usize;

/// What the kernels take, checked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers<S> {
    pub(super) m: u32,
    pub(super) n: u32,
    pub(super) k: u32,
    pub(super) alpha: S,
    pub(super) beta: S,
    pub(super) lda: u32,
    pub(super) ldb: u32,
    pub(super) ldc: u32,
    pub(super) transposed: u32,
}

/// How a matrix lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    matrix: char,
    /// Rows in memory: of the transpose, if that is what is there.
    pub rows: usize,
    /// Elements of a row in memory.
    pub cols: usize,
    /// Elements from a row in memory to the next.
    pub leading: usize,
    /// Whether the matrix is the transpose of what is in memory.
    pub transposed: bool,
}

impl Stored {
    fn new(matrix: char, rows: usize, cols: usize, transposed: bool, leading: Option<usize>) -> Self {
        let (rows, cols) = if transposed { (cols, rows) } else { (rows, cols) };
        Self {
            matrix,
            rows,
            cols,
            // As in BLAS at least 1, even of a matrix without columns.
            leading: leading.unwrap_or(cols.max(1)),
            transposed,
        }
    }

    /// Elements from the first to the last, the padding between rows included: what a buffer has to hold.
    pub fn len(&self) -> u64 {
        if self.is_empty() {
            return 0;
        }
        (self.rows as u64 - 1) * self.leading as u64 + self.cols as u64
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.rows == 0 || self.cols == 0
    }

    /// The same for the CPU's reference.
    pub(super) fn view<'a, T: Copy>(&self, data: &'a [T]) -> Matrix<'a, T> {
        let matrix = Matrix::new(data, self.leading);
        if self.transposed { matrix.transposed() } else { matrix }
    }

    /// The leading dimension, where a buffer of `given` elements holds the matrix. Its sizes are at most [`MOST`].
    fn check(&self, given: usize) -> Result<u32, MatmulError> {
        let Self {
            matrix,
            rows,
            cols,
            leading,
            ..
        } = *self;
        let narrow = u32::try_from(leading).ok().filter(|_| leading >= cols.max(1));
        let Some(narrow) = narrow else {
            return Err(MatmulError::LeadingDimension {
                matrix,
                given: leading,
                cols,
            });
        };
        let needed = self.len();
        if (given as u64) < needed {
            return Err(MatmulError::Buffer {
                matrix,
                given,
                needed,
                rows,
                cols,
                leading,
            });
        }
        Ok(narrow)
    }
}
