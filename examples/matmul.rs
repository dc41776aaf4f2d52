//! A matrix product in five ways: from two numbers fetched for each multiplication to 64 multiplications for 16 numbers.
//!
//! ```sh
//! cargo run --example matmul                                   # on the GPU, or on the emulator
//! cargo run --example matmul -- --m 200 --n 100 --k 50 --element f64 --backend emulator
//! cargo run --example matmul -- --element f16                  # with tensor cores
//! cargo run --example matmul -- --a left.npy --b right.npy --output product.npy
//! ```
//!
//! Two tables: A and B as they are, then A as its transpose, whose tiles are stored by columns: where `tiled` and
//! `tiled_padded` differ. Every result is compared with the CPU's, which has about twice the precision of `f64`, within the
//! bound that the sums' roundings allow. Exit code: 0 if all are correct, 1 if one is wrong, 2 if nothing could be run.

#[path = "common/mod.rs"]
mod common;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use half::{bf16, f16};
use miette::{IntoDiagnostic, Result, WrapErr, miette};
use npyz::AutoSerialize;
use tile33::Kernels;
use tile33::catalogue::matmul::{Judged, Variant, steps, trial_with};
use tile33::prelude::*;

/// Multiplies two matrices in every way and shows what each costs.
#[derive(Debug, Parser)]
struct Args {
    /// Rows of A and C [default: 128 on the emulator, 4096 on a GPU]
    #[arg(long, conflicts_with_all = ["a", "b"])]
    m: Option<usize>,
    /// Columns of B and C [default: as m]
    #[arg(long, conflicts_with_all = ["a", "b"])]
    n: Option<usize>,
    /// Columns of A, rows of B [default: as m]
    #[arg(long, conflicts_with_all = ["a", "b"])]
    k: Option<usize>,
    /// Type of the elements
    #[arg(long, value_enum, default_value = "f32")]
    element: Element,
    /// The matrix A, a two-dimensional .npy array
    #[arg(long, value_name = "FILE.npy", requires = "b")]
    a: Option<PathBuf>,
    /// The matrix B
    #[arg(long, value_name = "FILE.npy", requires = "a")]
    b: Option<PathBuf>,
    /// Where to write the product
    #[arg(long, value_name = "FILE.npy")]
    output: Option<PathBuf>,
    #[command(flatten)]
    place: common::Where,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Element {
    F32,
    F64,
    /// With tensor cores; C is f32
    F16,
    /// With tensor cores; C is f32
    Bf16,
}

fn main() -> ExitCode {
    let args = Args::parse();
    common::exit(match args.element {
        Element::F32 => run::<f32>(&args, |x| x as f32),
        Element::F64 => run::<f64>(&args, |x| x),
        Element::F16 => run::<f16>(&args, f16::from_f64),
        Element::Bf16 => run::<bf16>(&args, bf16::from_f64),
    })
}

/// A product of matrices that are there, without factors.
struct Product<T: Judged> {
    gemm: Gemm<T::Sum>,
    a: Vec<T>,
    b: Vec<T>,
}

impl<T: Judged> Product<T> {
    fn generated(args: &Args, usual: usize) -> Result<Self> {
        let m = args.m.unwrap_or(usual);
        let (n, k) = (args.n.unwrap_or(m), args.k.unwrap_or(m));
        if [m, n, k].contains(&0) {
            return Err(miette!("m, n and k are at least 1"));
        }
        let count = |rows: usize, cols: usize| {
            let elements = rows.checked_mul(cols).filter(|&count| count <= 1 << 40);
            elements.ok_or_else(|| miette!("a matrix of {rows} x {cols} elements"))
        };
        count(m, n)?;
        Ok(Self {
            gemm: Gemm::new(Sizes { m, n, k }),
            a: T::samples(1, count(m, k)?),
            b: T::samples(2, count(k, n)?),
        })
    }

    fn read(a: &Path, b: &Path, element: fn(f64) -> T) -> Result<Self> {
        let matrix = |path: &Path| {
            let array = common::input::read_array(path)?;
            match array.shape[..] {
                [rows, cols] if rows > 0 && cols > 0 => Ok((rows, cols, array)),
                _ => Err(miette!(
                    help = "a matrix has two dimensions, each at least 1",
                    "{} holds an array of shape {:?}",
                    path.display(),
                    array.shape
                )),
            }
        };
        let ((m, k, of_a), (rows, n, of_b)) = (matrix(a)?, matrix(b)?);
        if rows != k {
            return Err(miette!(
                help = "A has as many columns as B has rows",
                "A is {m} x {k}, B is {rows} x {n}"
            ));
        }
        let mut gemm = Gemm::new(Sizes { m, n, k });
        // In Fortran's order the transpose is in memory.
        if of_a.fortran {
            gemm = gemm.transposed_a();
        }
        if of_b.fortran {
            gemm = gemm.transposed_b();
        }
        let [a, b] = [of_a, of_b].map(|array| array.elements.into_iter().map(element).collect());
        Ok(Self { gemm, a, b })
    }

    /// The same product with the other one of A and its transpose in memory.
    fn with_a_turned(&self) -> Self {
        let stored = self.gemm.stored_a();
        let turned = (0..stored.cols).flat_map(|col| (0..stored.rows).map(move |row| row * stored.cols + col));
        let mut gemm = Gemm::new(self.gemm.sizes());
        if !stored.transposed {
            gemm = gemm.transposed_a();
        }
        if self.gemm.stored_b().transposed {
            gemm = gemm.transposed_b();
        }
        Self {
            gemm,
            a: turned.map(|place| self.a[place]).collect(),
            b: self.b.clone(),
        }
    }

    /// Runs all kernels and prints their table. Whether all were right.
    fn compare(&self, args: &Args, kernels: &Kernels) -> Result<bool> {
        let Sizes { m, n, k } = self.gemm.sizes();
        let a_is_turned = self.gemm.stored_a().transposed;
        let of_type = steps().into_iter().filter(|step| step.element == T::NAME);
        let contestants = of_type.filter_map(|mut step| {
            let variant = Variant::ALL.into_iter().find(|variant| variant.name() == step.name)?;
            if a_is_turned {
                // What is counted where a GPU cannot count.
                step.claims.reverse();
            }
            let trial = trial_with(kernels, variant, &self.gemm, self.a.clone(), self.b.clone(), Vec::new());
            Some(trial.map(|trial| (step, trial)))
        });
        let contestants = contestants.collect::<Result<Vec<_>, _>>().into_diagnostic()?;
        let rows = args.place.compare(kernels, contestants)?;
        let how = if a_is_turned { ", A transposed in memory" } else { "" };
        common::print(&format!(
            "{m} x {k} times {k} x {n} elements of {}{how}, on {}\n\n",
            T::NAME,
            kernels.device()
        ));
        common::print(&common::table::render(&rows, kernels.device().is_cuda()));
        for row in &rows {
            if let Some(time) = row.time {
                let operations = 2.0 * m as f64 * n as f64 * k as f64;
                let rate = operations / time.as_secs_f64() / 1e12;
                common::print(&format!("{}: {rate:.2} TFLOP/s\n", row.step.name));
            }
        }
        common::print("\n");
        Ok(rows.iter().all(|row| row.wrong.is_none()))
    }
}

fn run<T: Judged<Sum: AutoSerialize>>(args: &Args, element: fn(f64) -> T) -> Result<bool> {
    let kernels = args.place.kernels()?;
    let device = kernels.device();
    let product = match (&args.a, &args.b) {
        (Some(a), Some(b)) => Product::read(a, b, element)?,
        _ => Product::generated(args, if device.is_cuda() { 4096 } else { 128 })?,
    };
    let plain = product.compare(args, &kernels)?;
    let turned = product.with_a_turned().compare(args, &kernels)?;
    if let Some(path) = &args.output {
        let Sizes { m, n, .. } = product.gemm.sizes();
        let multiply = || -> Result<Vec<T::Sum>, Box<dyn std::error::Error + Send + Sync>> {
            let (a, b) = (device.upload(&product.a)?, device.upload(&product.b)?);
            let mut c = device.uninit(m * n)?;
            device.gemm(&product.gemm, &a, &b, &mut c)?;
            Ok(c.to_vec()?)
        };
        let c = multiply()
            .map_err(|error| miette!("{error}"))
            .wrap_err("the product could not be made")?;
        common::input::write_array(path, &[m as u64, n as u64], &c)?;
    }
    Ok(plain && turned)
}
