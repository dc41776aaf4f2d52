//! A product on a device, launched and compared with the CPU's.

use bytemuck::{bytes_of, cast_slice_mut};
use half::{bf16, f16};
use tile33_host::reference::Estimate;
use tile33_host::reference::matmul::{Matrix, matmul as reference, matmul_tensor};
use tile33_host::{DeviceBuffer, Error};

use super::{Element, Gemm, MatmulError, MatmulKernel, Scalar, Sizes, Stored, Variant};
use crate::Kernels;
use crate::catalogue::data::{POISON, Random, Sample};
use crate::catalogue::{CatalogueError, Launched, Record, Trial};

/// An element type whose results the CPU can judge.
pub trait Judged: Element<Sum: Sample> + Sample {
    /// No number.
    #[doc(hidden)]
    const NAN: Self;

    /// alpha·A·B + beta·C for each element of C, and how far from it a correct result can be.
    #[doc(hidden)]
    fn estimates(
        sizes: Sizes,
        factors: (Self::Sum, Self::Sum),
        a: Wide<'_, Self>,
        b: Wide<'_, Self>,
        c: Wide<'_, Self>,
    ) -> Vec<Estimate>;
}

/// A matrix of the type that products are summed up in.
type Wide<'a, T> = Matrix<'a, <T as Element>::Sum>;

macro_rules! judged {
    ($($ty:ident: $sum:ident, $reference:ident;)*) => {$(
        impl Judged for $ty {
            const NAN: Self = $ty::NAN;

            fn estimates(
                sizes: Sizes, (alpha, beta): ($sum, $sum), a: Wide<'_, Self>, b: Wide<'_, Self>, c: Wide<'_, Self>,
            ) -> Vec<Estimate> {
                $reference(sizes, alpha, a, b, beta, c)
            }
        }
    )*};
}
judged! {
    f32: f32, reference;
    f64: f64, reference;
    f16: f32, matmul_tensor;
    bf16: f32, matmul_tensor;
}

/// A kernel with a product of generated matrices, from -1 to 1. What lies between the rows of A and of B is NaN.
///
/// # Errors
/// As [`trial_with`].
pub fn trial<T: Judged>(
    kernels: &Kernels,
    variant: Variant,
    gemm: &Gemm<T::Sum>,
    seed: u64,
) -> Result<Box<dyn Trial>, MatmulError> {
    // Before the samples, which impossible sizes would make very many of.
    gemm.check(usize::MAX, usize::MAX, usize::MAX)?;
    countable::<T>(gemm.stored_a())?;
    countable::<T>(gemm.stored_b())?;
    countable::<T::Sum>(gemm.stored_c())?;
    let generated = |stored: Stored, seed| {
        let mut elements = T::samples(seed, stored.len() as usize);
        for row in elements.chunks_mut(stored.leading) {
            let gap = row.len().min(stored.cols);
            row[gap..].fill(T::NAN);
        }
        elements
    };
    let a = generated(gemm.stored_a(), seed);
    let b = generated(gemm.stored_b(), seed.wrapping_add(1));
    let c = T::Sum::samples(seed.wrapping_add(2), gemm.stored_c().len() as usize);
    trial_with(kernels, variant, gemm, a, b, c)
}

/// Refuses a matrix with more bytes than an address space.
fn countable<T>(stored: Stored) -> Result<(), MatmulError> {
    let most = isize::MAX as u64 / size_of::<T>() as u64;
    if stored.len() <= most {
        return Ok(());
    }
    let (elements, element_bytes) = (stored.len() as usize, size_of::<T>());
    Err(Error::TooLarge {
        elements,
        element_bytes,
    }
    .into())
}

/// A kernel with a product of your own matrices. C's elements are what it starts from where beta is not 0; what lies
/// between its rows, and otherwise all of it, is poisoned before every launch.
///
/// # Errors
/// [`MatmulError`]: when there is no such kernel for the elements, or a matrix is not what the product asks for; when the
/// device fails.
pub fn trial_with<T: Judged>(
    kernels: &Kernels,
    variant: Variant,
    gemm: &Gemm<T::Sum>,
    a: Vec<T>,
    b: Vec<T>,
    c: Vec<T::Sum>,
) -> Result<Box<dyn Trial>, MatmulError> {
    let stored = gemm.stored_c();
    gemm.check(a.len(), b.len(), if gemm.reads_c() { c.len() } else { usize::MAX })?;
    let kernel = MatmulKernel::new(kernels, variant)?;
    let mut before = vec![T::Sum::ZERO; stored.len() as usize];
    cast_slice_mut::<_, u8>(&mut before).fill(POISON);
    if gemm.reads_c() {
        for (row, from) in before.chunks_mut(stored.leading).zip(c.chunks(stored.leading)) {
            let cols = row.len().min(stored.cols);
            row[..cols].copy_from_slice(&from[..cols]);
        }
    }
    let device = kernels.device();
    Ok(Box::new(MatmulTrial {
        kernel,
        gemm: *gemm,
        buffers: (device.upload(&a)?, device.upload(&b)?, device.upload(&before)?),
        a: a.into_iter().map(T::widen).collect(),
        b: b.into_iter().map(T::widen).collect(),
        before,
    }))
}

struct MatmulTrial<T: Element> {
    kernel: MatmulKernel<T>,
    gemm: Gemm<T::Sum>,
    buffers: (DeviceBuffer<T>, DeviceBuffer<T>, DeviceBuffer<T::Sum>),
    a: Vec<T::Sum>,
    b: Vec<T::Sum>,
    before: Vec<T::Sum>,
}

impl<T: Judged> MatmulTrial<T> {
    /// What element (`row`, `col`) of C should be.
    fn expected(&self, row: usize, col: usize) -> Estimate {
        let (of_a, of_b, of_c) = (self.gemm.stored_a(), self.gemm.stored_b(), self.gemm.stored_c());
        // The row of A and the column of B alone, of which there is nothing if k is 0.
        let first_of_row = if of_a.transposed { row } else { row * of_a.leading };
        let first_of_col = if of_b.transposed { col * of_b.leading } else { col };
        let a = of_a.view(self.a.get(first_of_row..).unwrap_or_default());
        let b = of_b.view(self.b.get(first_of_col..).unwrap_or_default());
        let c = of_c.view(&self.before[row * of_c.leading + col..]);
        let sizes = Sizes {
            m: 1,
            n: 1,
            k: self.gemm.sizes().k,
        };
        T::estimates(sizes, self.gemm.factors(), a, b, c)[0]
    }

    /// The elements of C that are compared with the CPU's: all, or of large products the corners and a sample.
    fn compared(&self) -> Box<dyn Iterator<Item = (usize, usize)>> {
        let Sizes { m, n, k } = self.gemm.sizes();
        let most = COMPARED_PRODUCTS / k.max(1);
        if m * n <= most {
            return Box::new((0..m).flat_map(move |row| (0..n).map(move |col| (row, col))));
        }
        let mut random = Random::new(m as u64 ^ (n as u64) << 20 ^ (k as u64) << 40);
        let sample = (0..most.max(64)).map(move |_| {
            let place = (random.bits() % (m * n) as u64) as usize;
            (place / n, place % n)
        });
        Box::new(
            [(0, 0), (0, n - 1), (m - 1, 0), (m - 1, n - 1)]
                .into_iter()
                .chain(sample),
        )
    }
}

/// Products that the CPU makes to compare with: about a second's.
const COMPARED_PRODUCTS: usize = 1 << 24;

impl<T: Judged> Trial for MatmulTrial<T> {
    fn launch(&mut self) -> Result<Vec<Launched>, CatalogueError> {
        let (a, b, c) = &mut self.buffers;
        c.write(&self.before)?;
        let mut launches = Record::default();
        self.kernel.start(&self.gemm, a, b, c, &mut launches)?;
        Ok(launches.0)
    }

    /// All elements have to be written, nothing between the rows may be, and of products of more than 2^24 multiplications a sample
    /// of the elements is compared.
    fn difference(&self) -> Result<Option<String>, CatalogueError> {
        let (after, Stored { leading, cols, .. }) = (self.buffers.2.to_vec()?, self.gemm.stored_c());
        for (i, (after, before)) in after.iter().zip(&self.before).enumerate() {
            let (row, col) = (i / leading, i % leading);
            let is_same = bytes_of(after) == bytes_of(before);
            if col >= cols && !is_same {
                return Ok(Some(format!(
                    "{after:?} was written to the padding of row {row}, {} behind its end",
                    col - cols
                )));
            }
            if col < cols && !self.gemm.reads_c() && is_same {
                return Ok(Some(format!("nothing was written to row {row}, column {col}")));
            }
        }
        for (row, col) in self.compared() {
            let (got, expected) = (after[row * leading + col], self.expected(row, col));
            if !expected.admits(got) {
                let Estimate { value, bound } = expected;
                return Ok(Some(format!(
                    "row {row}, column {col} is {got:?}; {value} within {bound:e} was expected"
                )));
            }
        }
        Ok(None)
    }

    fn bytes(&self) -> u64 {
        let Sizes { m, n, k } = self.gemm.sizes();
        let of_c = if self.gemm.reads_c() { 2 } else { 1 };
        ((m * k + k * n) * size_of::<T>() + of_c * m * n * size_of::<T::Sum>()) as u64
    }
}
