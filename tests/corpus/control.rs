//! Control flow, calls, local memory, the runtime in kernels, global atomics.

use super::Case;
use super::run::{Run, same_bits};

pub(crate) const CASES: &[Case] = &[
    ("control_switch", |run| {
        let expected: Vec<i32> = run
            .input::<i32>(0)
            .into_iter()
            .zip(0..)
            .map(|(x, t)| switch(x, t))
            .collect();
        assert_eq!(run.output::<i32>(1), expected);
    }),
    ("control_table", |run| {
        let row = |(x, t): (u32, u32)| match x {
            0 => t + 100,
            2 => t * t,
            _ => t.wrapping_sub(x),
        };
        assert_eq!(
            run.output::<u32>(1),
            run.input::<u32>(0).into_iter().zip(0..).map(row).collect::<Vec<_>>()
        );
    }),
    ("control_local", |run| {
        let mut expected: Vec<i32> = run.input(0);
        expected.chunks_mut(8).for_each(<[i32]>::sort_unstable);
        assert_eq!(run.output::<i32>(1), expected);
    }),
    ("control_bytes", bytes),
    ("control_loops", loops),
    ("calls_table", |run| {
        let expected: Vec<f32> = (0..64u8)
            .map(f32::from)
            .zip(0..)
            .map(|(x, t)| [x * 2.0, x + 10.0, x * x][t % 3])
            .collect();
        same_bits(&run.output::<f32>(1), &expected);
    }),
    ("calls_virtual", |run| {
        let area = |t: u8| {
            if t % 2 == 1 {
                2.0 * f32::from(t) * f32::from(t)
            } else {
                12.0 * f32::from(t)
            }
        };
        same_bits(&run.output::<f32>(0), &(0..64).map(area).collect::<Vec<_>>());
    }),
    ("calls_recursive", |run| {
        let numbers = [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89];
        assert_eq!(
            run.output::<i32>(0),
            (0..64).map(|t| numbers[t % 12]).collect::<Vec<_>>()
        );
    }),
    ("calls_structures", structures),
    ("device_printf", printf),
    ("device_heap", |run| {
        let expected: Vec<i32> = (0..64)
            .map(|t| {
                (0..5)
                    .rev()
                    .zip(0..)
                    .map(|(i, n)| if n % 2 == 0 { i * t } else { -i * t })
                    .sum()
            })
            .collect();
        assert_eq!(run.output::<i32>(0), expected);
    }),
    ("device_assert", |run| {
        assert_eq!(run.output::<i32>(1), (1..65).collect::<Vec<_>>());
    }),
    ("atomics_all", atomics),
    ("atomics_cas", |run| {
        let tickets: Vec<u32> = run.output(0);
        assert_eq!(tickets[0], 64);
        let mut drawn = tickets[1..].to_vec();
        drawn.sort_unstable();
        assert_eq!(drawn, (0..64).collect::<Vec<_>>());
        assert_eq!(run.output::<u32>(1), [(0..64).fold(1u32, |x, _| x.wrapping_mul(3))]);
        assert_eq!(run.output::<u32>(2), [1; 64]);
    }),
    ("atomics_lock", |run| {
        assert_eq!(run.output::<i32>(0), [0]);
        assert_eq!(run.output::<i32>(1), [96, 0]);
    }),
    ("atomics_flag", |run| {
        let expected: Vec<i32> = (0..128).map(|t| 3 * ((t + 1) % 64) + 1).collect();
        assert_eq!(run.output::<i32>(2), expected);
    }),
];

fn switch(x: i32, t: i32) -> i32 {
    match x {
        0 => t * 5 + 1,
        1 => t / 3,
        2 => (t % 7) ^ 3,
        3 => t ^ 3,
        4 => -t,
        5 => t.count_ones() as i32,
        6 => t.leading_zeros() as i32,
        7 => t << 3,
        8 => !t,
        9 => t * t,
        _ => 1000,
    }
}

fn bytes(run: &Run) {
    let input: Vec<u8> = run.input(0);
    let thread = |t: usize| {
        let mut bytes = [0u8; 16];
        for i in 0..16 {
            bytes[(i * 5 + t) % 16] = input[i].wrapping_add(t as u8);
        }
        let word = |i: usize| u32::from_le_bytes(bytes[4 * i..4 * i + 4].try_into().expect("four bytes"));
        let half = |i: usize| i16::from_le_bytes([bytes[2 * i], bytes[2 * i + 1]]);
        let sum = (0..4).fold(0u32, |sum, i| sum.wrapping_mul(31).wrapping_add(word((i + t) % 4)));
        (0..8).fold(sum, |sum, i| sum ^ i32::from(half((i + t) % 8)) as u32)
    };
    assert_eq!(run.output::<u32>(1), (0..64).map(thread).collect::<Vec<_>>());
}

fn loops(run: &Run) {
    let input: Vec<i32> = run.input(0);
    let thread = |t: i32| {
        let starts = (0..40).filter(|&i| (input[i] + t) % 3 != 0);
        let pairs = starts.flat_map(|i| (i..40).map(move |j| (i, j)));
        pairs
            .into_iter()
            .find(|&(i, j)| input[i] * input[j] % 64 == t)
            .map_or(-1, |(i, j)| (i * 1000 + j) as i32)
    };
    assert_eq!(run.output::<i32>(1), (0..64).map(thread).collect::<Vec<_>>());
}

/// Three f64, an f32, an i16, a u8 and a byte of padding that nobody writes.
fn structures(run: &Run) {
    for (t, particle) in run.output::<u8>(1).chunks(32).enumerate() {
        let by = t as f64 * 0.5;
        let double = |i: usize| f64::from_le_bytes(particle[8 * i..8 * i + 8].try_into().expect("eight bytes"));
        assert_eq!(
            [double(0), double(1), double(2)],
            [1.0 + by, -2.0 + 2.0 * by, 0.5 + 3.0 * by]
        );
        assert_eq!(
            f32::from_le_bytes(particle[24..28].try_into().expect("four bytes")),
            3.0 * t as f32
        );
        assert_eq!(
            (i16::from_le_bytes([particle[28], particle[29]]), particle[30]),
            (7, 201)
        );
    }
}

fn printf(run: &Run) {
    let x: Vec<f32> = run.input(0);
    let line = |t: usize| {
        format!(
            "thread {t}: {:.6} text {} {:x} -1099511627776 %\n",
            x[t],
            (b'a' + t as u8) as char,
            255 << t
        )
    };
    let output = String::from_utf8(run.report.output.clone()).expect("it prints text");
    let mut lines: Vec<String> = output.split_inclusive('\n').map(str::to_owned).collect();
    let mut expected: Vec<String> = (0..3).map(line).chain(["no arguments\n".to_owned()]).collect();
    // Which lane prints first is not defined.
    lines.sort_unstable();
    expected.sort_unstable();
    assert_eq!(lines, expected);
}

/// The results of atomics that do not depend on their order.
fn atomics(run: &Run) {
    let threads = 0..256u32;
    let u: Vec<u32> = run.output(0);
    assert_eq!(u[0], 1 + threads.clone().sum::<u32>());
    assert_eq!(u[1], 1u32.wrapping_sub(512));
    assert_eq!(u[2], 1);
    assert_eq!(u[3], threads.clone().map(|t| t * 7 % 251).max().unwrap_or(0));
    assert_eq!(u[4], 0);
    assert_eq!(u[5], 0xff_ffff);
    assert_eq!(u[6], 1 ^ threads.clone().fold(0, |a, b| a ^ b));
    // Counts 1 .. 9, 0, 1 .. : 256 steps from 1 modulo 10.
    assert_eq!(u[7], (1 + 256) % 10);
    // 1, 0, 6, 5 .. : 256 steps down from 1 modulo 7.
    assert_eq!(u[8], (1i32 - 256).rem_euclid(7) as u32);
    assert_eq!(
        run.output::<i32>(1),
        [50 - 255, 0, -(threads.clone().sum::<u32>() as i32)]
    );
    let xor = threads.clone().fold(0u64, |a, t| a ^ u64::from(t) << 20);
    assert_eq!(run.output::<u64>(2), [1 + (256 << 33), 255 << 40, 1 ^ xor]);
    assert_eq!(run.output::<f32>(3), [128.0]);
    assert_eq!(run.output::<f64>(4), [64.0]);
}
