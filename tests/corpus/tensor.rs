//! Tensor cores. Inputs are such that products and sums are exact, or the bound is that of the format.

use half::{bf16, f16};

use super::Case;
use super::linear::multiply;
use super::run::{Run, close, close64};

pub(crate) const CASES: &[Case] = &[
    ("wmma_f16", |run| {
        let product = multiply(&f16s(run, 0, 256), &turned(&f16s(run, 1, 256), 16), 16, 16, 16);
        let expected: Vec<f64> = product.iter().zip(0..).map(|(x, i)| 2.0 * (x + f64::from(i))).collect();
        close(&run.output::<f32>(2), &expected, 0.0, 0.0);
    }),
    ("wmma_f16_accumulate", wmma_f16_accumulate),
    ("wmma_s8", |run| {
        let input = |argument| run.input::<i8>(argument).into_iter().map(f64::from).collect::<Vec<_>>();
        let expected = multiply(&input(0), &turned(&input(1), 16), 16, 16, 16);
        let found: Vec<f64> = run.output::<i32>(2).into_iter().map(f64::from).collect();
        close64(&found, &expected, 0.0, 0.0);
    }),
    ("wmma_tiled", |run| {
        let expected = multiply(&f16s(run, 0, 1024), &f16s(run, 1, 1024), 32, 32, 32);
        close(&run.output::<f32>(2), &expected, 0.0, 0.0);
    }),
    ("wmma_bf16", |run| {
        let input = |argument| {
            run.input::<u16>(argument)
                .into_iter()
                .map(|x| bf16::from_bits(x).to_f64())
                .collect::<Vec<_>>()
        };
        let expected = multiply(&input(0), &turned(&input(1), 16), 16, 16, 16);
        close(&run.output::<f32>(2), &expected, 1e-6, 0.0);
    }),
    ("wmma_tf32", |run| {
        // Ten bits of the fraction remain, rounded to the nearest.
        let tf32 = |x: f32| f64::from(f32::from_bits((x.to_bits() + 0x1000) & !0x1fff));
        let input = |argument| run.input::<f32>(argument).into_iter().map(tf32).collect::<Vec<_>>();
        let expected = multiply(&input(0), &turned(&input(1), 16), 16, 16, 8);
        close(&run.output::<f32>(2), &expected, 1e-6, 0.0);
    }),
    ("wmma_f64", |run| {
        let expected = multiply(&run.input::<f64>(0), &turned(&run.input::<f64>(1), 8), 8, 8, 4);
        close64(&run.output::<f64>(2), &expected, 1e-15, 0.0);
    }),
    ("mma_ldmatrix", by_transpose),
    ("mma_ldmatrix_sm80", by_transpose),
    ("mma_trans", by_rows),
    ("mma_trans_sm80", by_rows),
    ("mma_s8", |run| {
        let input = |argument| run.input::<i8>(argument).into_iter().map(f64::from).collect::<Vec<_>>();
        let expected = multiply(&input(0), &turned(&input(1), 8), 16, 8, 32);
        let found: Vec<f64> = run.output::<i32>(2).into_iter().map(f64::from).collect();
        close64(&found, &expected, 0.0, 0.0);
    }),
    ("triton_matmul", |run| {
        let expected = multiply(&f16s(run, 0, 30 * 31), &f16s(run, 1, 31 * 33), 30, 33, 31);
        close(&run.output::<f32>(2), &expected, 0.0, 0.0);
    }),
];

/// The first elements of an f16 buffer.
fn f16s(run: &Run, argument: usize, length: usize) -> Vec<f64> {
    run.input::<u16>(argument)[..length]
        .iter()
        .map(|&x| f16::from_bits(x).to_f64())
        .collect()
}

/// The transpose of a matrix with this many rows.
fn turned(matrix: &[f64], rows: usize) -> Vec<f64> {
    let columns = matrix.len() / rows;
    (0..matrix.len())
        .map(|i| matrix[i % rows * columns + i / rows])
        .collect()
}

/// A column-major 32x16, B row-major 16x8, C column-major, all f16, C starts as ones.
fn wmma_f16_accumulate(run: &Run) {
    let a = turned(&f16s(run, 0, 512), 16);
    let product = multiply(&a, &f16s(run, 1, 128), 32, 8, 16);
    let expected: Vec<f64> = turned(&product, 32).iter().map(|x| x + 1.0).collect();
    let found: Vec<f64> = run
        .output::<u16>(2)
        .into_iter()
        .map(|x| f16::from_bits(x).to_f64())
        .collect();
    close64(&found, &expected, 0.0, 0.02);
}

fn by_transpose(run: &Run) {
    let expected = multiply(&f16s(run, 0, 256), &turned(&f16s(run, 1, 128), 8), 16, 8, 16);
    close(&run.output::<f32>(2), &expected, 0.0, 0.0);
}

fn by_rows(run: &Run) {
    let expected = multiply(&f16s(run, 0, 256), &f16s(run, 1, 128), 16, 8, 16);
    close(&run.output::<f32>(2), &expected, 0.0, 0.0);
}
