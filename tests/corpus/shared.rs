//! Shared memory: reductions, scans, histograms, sorts, convolutions, transposes, pipelines, barriers.

use super::Case;
use super::run::{Run, close, same_bits};

pub(crate) const CASES: &[Case] = &[
    ("reduce_tree", |run| sums_of_blocks(run, 128)),
    ("reduce_tree_sm90", |run| sums_of_blocks(run, 128)),
    ("reduce_interleaved", |run| {
        sums_of_blocks(run, 256);
        // Its point: at stride s, 2 s lanes meet in a bank.
        assert!(run.report.counters.shared_load.wavefronts > run.report.counters.shared_load.ideal);
    }),
    ("reduce_last_warp", |run| sums_of_blocks(run, 256)),
    ("reduce_shuffle", reduce_shuffle),
    ("reduce_last_block", |run| {
        assert_eq!(run.output::<i32>(2), [run.input::<i32>(0).iter().sum::<i32>()]);
    }),
    ("scan_hillis_steele", |run| {
        assert_eq!(run.output::<i32>(1), inclusive(&run.input::<i32>(0), 256));
    }),
    ("scan_blelloch", |run| {
        let input = run.input::<i32>(0);
        let expected: Vec<i32> = inclusive(&input, 512)
            .iter()
            .zip(&input)
            .map(|(sum, x)| sum - x)
            .collect();
        assert_eq!(run.output::<i32>(1), expected);
    }),
    ("scan_warps", |run| {
        let input: Vec<i32> = run.input(0);
        assert_eq!(run.output::<i32>(1), inclusive(&input, 320));
    }),
    ("histogram_block", |run| {
        assert_eq!(
            run.output::<u32>(1),
            counts(run.input::<u8>(0).into_iter().map(usize::from), 256)
        );
    }),
    ("histogram_warps", |run| {
        let bins = run.input::<u8>(0).into_iter().map(|x| usize::from(x >> 2));
        assert_eq!(run.output::<u32>(1), counts(bins, 64));
    }),
    ("histogram_aggregated", |run| {
        let bins = run.input::<u32>(0).into_iter().map(|x| x as usize % 16);
        assert_eq!(run.output::<u32>(1), counts(bins, 16));
    }),
    ("sort_bitonic", |run| {
        assert_eq!(run.output::<i32>(0), sorted::<i32>(run, 512));
    }),
    ("sort_warp", |run| {
        assert_eq!(run.output::<u32>(0), sorted::<u32>(run, 32));
    }),
    ("sort_radix", sort_radix),
    ("convolve_rows", |run| convolve(run, 75, 10, (1, 0))),
    ("convolve_columns", |run| convolve(run, 45, 19, (0, 1))),
    ("convolve_range", convolve_range),
    ("transpose_naive", transpose),
    ("transpose_32", |run| {
        transpose(run);
        assert!(run.report.counters.shared_load.wavefronts > run.report.counters.shared_load.ideal);
    }),
    ("transpose_33", |run| {
        transpose(run);
        assert_eq!(
            run.report.counters.shared_load.wavefronts,
            run.report.counters.shared_load.ideal
        );
    }),
    ("triton_transpose", transpose),
    ("pipeline_double_buffer", double_buffer),
    ("pipeline_zero_fill", |run| {
        let expected: Vec<i32> = (0..64).map(|t| if 63 - t < 41 { 63 - t } else { 0 }).collect();
        assert_eq!(run.output::<i32>(1), expected);
    }),
    ("pipeline_barrier", ring),
    ("pipeline_barrier_sm90", ring),
    ("pipeline_producer", producer),
    ("pipeline_producer_sm90", producer),
    ("barriers_named", |run| {
        let input: Vec<i32> = run.input(0);
        let after: Vec<i32> = (0..128)
            .map(|t| input[t / 64 * 64 + 63 - t % 64] * (t as i32 / 64 + 1))
            .collect();
        assert_eq!(run.output::<i32>(1), after.into_iter().rev().collect::<Vec<_>>());
    }),
    ("barriers_arrive", |run| {
        let expected: Vec<i32> = run.input::<i32>(0)[..32].iter().rev().map(|x| x * 3).collect();
        assert_eq!(run.output::<i32>(1), expected);
    }),
    ("barriers_reduce", |run| {
        let input = &run.input::<i32>(0)[..96];
        let odd = input.iter().filter(|&&x| x & 1 != 0).count() as i32;
        let all = i32::from(input.iter().all(|&x| x >= 0));
        let any = i32::from(input.contains(&5));
        assert_eq!(run.output::<i32>(1), [odd * 4 + all * 2 + any; 96]);
    }),
    ("barriers_exited", |run| {
        assert_eq!(
            run.output::<i32>(0),
            (0..32).map(|t| (31 - t) * (31 - t)).collect::<Vec<_>>()
        );
    }),
    ("kernels_nbody", nbody),
    ("triton_cumsum", |run| {
        assert_eq!(run.output::<i32>(1), inclusive(&run.input::<i32>(0), 512));
    }),
    ("triton_histogram", |run| {
        let bins = run.input::<i32>(0).into_iter().map(|x| x as usize);
        assert_eq!(run.output::<u32>(1), counts(bins, 64));
    }),
];

fn sums_of_blocks(run: &Run, block: usize) {
    let expected: Vec<f64> = run
        .input::<f32>(0)
        .chunks(block)
        .map(|chunk| chunk.iter().map(|&x| f64::from(x)).sum())
        .collect();
    close(&run.output::<f32>(1), &expected, 1e-5, 0.0);
}

/// Three blocks of 192 threads walk over quads in turn.
fn reduce_shuffle(run: &Run) {
    let mut expected = [0.0; 3];
    for (quad, values) in run.input::<f32>(0).chunks(4).enumerate() {
        expected[quad / 192 % 3] += values.iter().map(|&x| f64::from(x)).sum::<f64>();
    }
    close(&run.output::<f32>(1), &expected, 1e-5, 0.0);
}

/// Prefix sums that start again with every block.
fn inclusive(input: &[i32], block: usize) -> Vec<i32> {
    let scan = |sum: &mut i32, &x: &i32| {
        *sum = sum.wrapping_add(x);
        Some(*sum)
    };
    input
        .chunks(block)
        .flat_map(|chunk| chunk.iter().scan(0, scan))
        .collect()
}

fn counts(bins: impl Iterator<Item = usize>, length: usize) -> Vec<u32> {
    let mut counts = vec![0; length];
    bins.for_each(|bin| counts[bin] += 1);
    counts
}

/// Every block's keys in order.
fn sorted<T: bytemuck::Pod + Ord>(run: &Run, block: usize) -> Vec<T> {
    let mut keys: Vec<T> = run.input(0);
    keys.chunks_mut(block).for_each(<[T]>::sort_unstable);
    keys
}

/// Sixteen passes: sorted by the lower half of the key, and stable.
fn sort_radix(run: &Run) {
    let mut keys: Vec<u32> = run.input(0);
    keys.sort_by_key(|key| key & 0xffff);
    assert_eq!(run.output::<u32>(0), keys);
}

const WEIGHTS: [f64; 7] = [0.03125, 0.109375, 0.21875, 0.28125, 0.21875, 0.109375, 0.03125];

/// An element of an image, clamped at the edges.
fn clamped(image: &[f32], width: i64, x: i64, y: i64) -> f64 {
    let height = image.len() as i64 / width;
    image[(y.clamp(0, height - 1) * width + x.clamp(0, width - 1)) as usize].into()
}

fn convolve(run: &Run, width: i64, height: i64, (dx, dy): (i64, i64)) {
    let image: Vec<f32> = run.input(0);
    let mut expected = Vec::new();
    for y in 0..height {
        for x in 0..width {
            let at = |i: i64| clamped(&image, width, x + dx * (i - 3), y + dy * (i - 3));
            expected.push(WEIGHTS.iter().zip(0..).map(|(weight, i)| weight * at(i)).sum());
        }
    }
    close(&run.output::<f32>(1), &expected, 1e-5, 0.0);
}

fn convolve_range(run: &Run) {
    let image: Vec<f32> = run.input(0);
    let mut expected = Vec::new();
    for y in 0..19 {
        for x in 0..21 {
            let around: Vec<f64> = (0..9)
                .map(|i| clamped(&image, 21, x + i % 3 - 1, y + i / 3 - 1))
                .collect();
            let most = around.iter().copied().fold(f64::MIN, f64::max);
            expected.push((most - around.iter().copied().fold(f64::MAX, f64::min)) as f32);
        }
    }
    same_bits(&run.output::<f32>(1), &expected);
}

/// 37 rows of 50.
fn transpose(run: &Run) {
    let matrix: Vec<f32> = run.input(0);
    let expected: Vec<f32> = (0..50 * 37).map(|i| matrix[i % 37 * 50 + i / 37]).collect();
    same_bits(&run.output::<f32>(1), &expected);
}

fn double_buffer(run: &Run) {
    let input: Vec<f32> = run.input(0);
    let mut expected = Vec::new();
    for tile in input.chunks(128) {
        for t in 0..32 {
            let v = &tile[4 * t..4 * t + 4];
            expected.push(v[0] + v[1] + v[2] + v[3] - tile[4 * (31 - t)]);
        }
    }
    same_bits(&run.output::<f32>(1), &expected);
}

/// Four times, every thread adds what its neighbour has.
fn ring(run: &Run) {
    let mut values: Vec<i32> = run.input(0);
    for _ in 0..4 {
        values = (0..128).map(|t| values[t] + values[(t + 1) % 128]).collect();
    }
    assert_eq!(run.output::<i32>(0), values);
}

fn producer(run: &Run) {
    let input: Vec<i32> = run.input(0);
    let expected: Vec<i32> = (0..32)
        .map(|lane| input.chunks(32).map(|round| round[31 - lane]).sum())
        .collect();
    assert_eq!(run.output::<i32>(1), expected);
}

fn nbody(run: &Run) {
    let bodies: Vec<f32> = run.input(0);
    let bodies: Vec<[f64; 4]> = bodies
        .chunks(4)
        .map(|b| [b[0], b[1], b[2], b[3]].map(f64::from))
        .collect();
    let mut expected = Vec::new();
    for me in &bodies {
        let mut force = [0.0; 4];
        for other in &bodies {
            let d = [other[0] - me[0], other[1] - me[1], other[2] - me[2]];
            let inverse = 1.0 / (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.01).sqrt();
            for axis in 0..3 {
                force[axis] += other[3] * inverse.powi(3) * d[axis];
            }
        }
        expected.extend(force);
    }
    close(&run.output::<f32>(1), &expected, 1e-4, 1e-3);
}
