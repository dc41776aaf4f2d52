//! Matrices and vectors without tensor cores, and small programs of floats.

use super::Case;
use super::run::{Run, close, same_bits};

pub(crate) const CASES: &[Case] = &[
    ("matmul_naive", |run| product(run, 13, 37, 21)),
    ("matmul_tiled", |run| product(run, 13, 37, 21)),
    ("matmul_registers", |run| product(run, 128, 64, 32)),
    ("kernels_softmax", |run| softmax(run, 75)),
    ("triton_softmax", |run| softmax(run, 200)),
    ("kernels_spmv", sparse),
    ("kernels_life", life),
    ("kernels_mandelbrot", mandelbrot),
    ("triton_add", |run| {
        let (a, b) = (run.input::<f32>(0), run.input::<f32>(1));
        same_bits(
            &run.output::<f32>(2),
            &a.iter().zip(&b).map(|(a, b)| a + b).collect::<Vec<_>>(),
        );
    }),
];

/// `n x k` times `k x m`, in f64.
pub(crate) fn multiply(a: &[f64], b: &[f64], n: usize, m: usize, k: usize) -> Vec<f64> {
    (0..n * m)
        .map(|i| (0..k).map(|j| a[i / m * k + j] * b[j * m + i % m]).sum())
        .collect()
}

fn wide(values: Vec<f32>) -> Vec<f64> {
    values.into_iter().map(f64::from).collect()
}

fn product(run: &Run, n: usize, m: usize, k: usize) {
    let expected = multiply(&wide(run.input(0)), &wide(run.input(1)), n, m, k);
    close(&run.output::<f32>(2), &expected, 1e-5, 0.0);
}

fn softmax(run: &Run, columns: usize) {
    let mut expected = Vec::new();
    for row in wide(run.input(0)).chunks(columns) {
        let sum: f64 = row.iter().map(|x| x.exp()).sum();
        expected.extend(row.iter().map(|x| x.exp() / sum));
    }
    close(&run.output::<f32>(1), &expected, 1e-5, 0.0);
}

fn sparse(run: &Run) {
    let (starts, columns) = (run.input::<i32>(0), run.input::<i32>(1));
    let (values, x) = (wide(run.input(2)), wide(run.input(3)));
    let row = |range: &[i32]| {
        (range[0] as usize..range[1] as usize)
            .map(|i| values[i] * x[columns[i] as usize])
            .sum()
    };
    let expected: Vec<f64> = starts.windows(2).map(row).collect();
    close(&run.output::<f32>(4), &expected, 1e-5, 1e-6);
}

fn life(run: &Run) {
    let boards: Vec<u8> = run.input(0);
    let mut expected = Vec::new();
    for board in boards.chunks(400) {
        for y in 0..20 {
            for x in 0..20 {
                let cell = |dx: usize, dy: usize| board[(y + dy + 19) % 20 * 20 + (x + dx + 19) % 20];
                let sum: u8 = (0..9).map(|i| cell(i % 3, i / 3)).sum();
                expected.push(u8::from(sum == 3 || sum == 4 && cell(1, 1) == 1));
            }
        }
    }
    assert_eq!(run.output::<u8>(1), expected);
}

fn mandelbrot(run: &Run) {
    let mut expected = Vec::new();
    for py in 0..30 {
        for px in 0..40 {
            let cx = (px - 20) as f32 * 0.09 + -0.5;
            let cy = (py - 15) as f32 * 0.09;
            let (mut x, mut y, mut steps) = (0.0f32, 0.0f32, 0u16);
            while x * x + y * y < 4.0 && steps < 200 {
                (x, y) = (x * x + -(y * y) + cx, 2.0 * x * y + cy);
                steps += 1;
            }
            expected.push(steps);
        }
    }
    assert_eq!(run.output::<u16>(0), expected);
}
