//! What `cuda_std`'s functions do: their kernels, compiled and run on the emulator with every check on.

mod common;

use bytemuck::Pod;
use common::{Kernels, read};
use tile33_sim::{Buffer, Emulator, Launch, Report};

/// The kernels of `tests/kernels/NAME.rs`.
struct Device {
    emulator: Emulator,
}

impl Device {
    fn new(name: &str, arch: &str) -> Option<Device> {
        let built = Kernels::new("kernels")?.builder(name).arch(arch).build().unwrap();
        Some(Device {
            emulator: Emulator::load(&read(&built.ptx)).unwrap(),
        })
    }

    fn buffer<T: Pod>(&mut self, elements: &[T]) -> Buffer<T> {
        self.emulator.buffer(elements).unwrap()
    }

    fn read<T: Pod>(&mut self, buffer: Buffer<T>) -> Vec<T> {
        self.emulator.read(buffer).unwrap()
    }

    /// Runs a launch that must be without findings.
    fn run(&mut self, launch: Launch) -> Report {
        let report = self
            .emulator
            .launch(&launch)
            .unwrap_or_else(|error| panic!("{}: {error}", launch.entry));
        assert!(report.is_clean(), "{}: {:#?}", launch.entry, report.findings);
        report
    }
}

fn std_kernels() -> Option<Device> {
    Device::new("device_std", "sm_75")
}

fn block(entry: &str, threads: u32) -> Launch {
    Launch::new(entry, [1, 1, 1], [threads, 1, 1])
}

#[test]
fn every_thread_knows_where_it_is() {
    let Some(mut device) = std_kernels() else { return };
    let (grid, size) = ([2, 3, 2], [4, 2, 5]);
    let threads = grid.iter().chain(&size).product::<u32>() as usize;
    let out = device.buffer(&vec![u32::MAX; threads * 12]);
    device.run(Launch::new("indices", grid, size).arg(out));
    let mut expected = Vec::new();
    for [bz, by, bx] in coordinates(grid) {
        for [tz, ty, tx] in coordinates(size) {
            expected.extend([tx, ty, tz, bx, by, bz]);
            expected.extend(size.iter().chain(&grid));
        }
    }
    assert_eq!(device.read(out), expected);
}

/// Every `[z, y, x]` below the dimensions, x fastest.
fn coordinates([x, y, z]: [u32; 3]) -> Vec<[u32; 3]> {
    (0..x * y * z).map(|i| [i / (x * y), i / x % y, i % x]).collect()
}

#[test]
fn indices_of_the_whole_grid_are_64_bit() {
    let Some(mut device) = std_kernels() else { return };
    let out = device.buffer(&[0u64; 2 * 96]);
    device.run(Launch::new("wide_indices", [3, 1, 1], [32, 1, 1]).arg(out));
    let expected: Vec<u64> = (0..96).flat_map(|i| [i, 96]).collect();
    assert_eq!(device.read(out), expected);
}

/// Lane `l` of a warp's values, shuffled by idx 3, up 1, down 2, xor 5.
fn shuffled<T: Copy>(x: &[T]) -> Vec<T> {
    let lanes = |warp: &[T]| -> Vec<T> {
        let from = |l: usize| {
            [
                3,
                if l < 1 { l } else { l - 1 },
                if l + 2 > 31 { l } else { l + 2 },
                l ^ 5,
            ]
        };
        (0..32).flat_map(|l| from(l).map(|source| warp[source])).collect()
    };
    x.chunks(32).flat_map(lanes).collect()
}

fn check_shuffles<T: Pod + PartialEq + std::fmt::Debug>(ty: &str, value: impl Fn(u32) -> T) {
    let Some(mut device) = std_kernels() else { return };
    let x: Vec<T> = (0..64).map(value).collect();
    let (input, out) = (device.buffer(&x), device.buffer(&[T::zeroed(); 256]));
    device.run(block(&format!("shuffles_{ty}"), 64).arg(input).arg(out));
    assert_eq!(device.read(out), shuffled(&x), "{ty}");
}

#[test]
fn shuffles_move_values_of_32_and_64_bits_between_lanes() {
    check_shuffles("u32", |i| i * 0x0101_0101);
    check_shuffles("i32", |i| -(i as i32));
    check_shuffles("f32", |i| i as f32 * -0.5);
    check_shuffles("u64", |i| u64::from(i) << 40 | u64::from(i));
    check_shuffles("i64", |i| -i64::from(i) << 33);
    check_shuffles("f64", |i| f64::from(i) * 1e300);
}

#[test]
fn votes_and_matches_see_the_lanes_of_their_warp() {
    let Some(mut device) = std_kernels() else { return };
    // The first warp differs, the second agrees.
    let x: Vec<u32> = (0..32).map(|i| i % 5).chain([7; 32]).collect();
    let (input, out) = (device.buffer(&x), device.buffer(&[0u32; 512]));
    device.run(block("votes", 64).arg(input).arg(out));
    let mut expected = Vec::new();
    for warp in x.chunks(32) {
        let mask = |holds: &dyn Fn(u32) -> bool| (0..32).filter(|l| holds(warp[*l])).map(|l| 1u32 << l).sum::<u32>();
        for (lane, value) in warp.iter().enumerate() {
            let large = mask(&|x| x > 2);
            let same = mask(&|x| x == *value);
            expected.extend([u32::from(large == u32::MAX), u32::from(large != 0), large, same]);
            expected.extend([u32::from(same == u32::MAX), u32::MAX, lane as u32, (1u32 << lane) - 1]);
        }
    }
    assert_eq!(device.read(out), expected);
}

macro_rules! check_integer_atomics {
    ($($ty:ident)*) => {$({
        let Some(mut device) = std_kernels() else { return };
        let x: Vec<$ty> = (0..64).map(|i: i32| (i * 37 % 64 - 20) as $ty).collect();
        let start: [$ty; 8] = [5, 3, 4, !0, 0, 9, 1, 0];
        let (input, out) = (device.buffer(&x), device.buffer(&[start, start].concat()));
        device.run(block(concat!("integer_atomics_", stringify!($ty)), 64).arg(input).arg(out));
        let expected = [
            x.iter().fold(start[0], |a, b| a.wrapping_add(*b)),
            x.iter().fold(start[1], |a, b| a.min(*b)),
            x.iter().fold(start[2], |a, b| a.max(*b)),
            x.iter().fold(start[3], |a, b| a & b),
            x.iter().fold(start[4], |a, b| a | b),
            x.iter().fold(start[5], |a, b| a ^ b),
            7,
            9,
        ];
        assert_eq!(device.read(out), [expected, expected].concat(), stringify!($ty));
    })*};
}

#[test]
fn integer_atomics_lose_no_thread_in_shared_and_in_global_memory() {
    check_integer_atomics!(u32 i32 u64 i64);
}

#[test]
fn float_atomics_add_up_and_exchange() {
    let Some(mut device) = std_kernels() else { return };
    // Sums of these are exact in any order.
    let x: Vec<f32> = (0..64).map(|i| i as f32 * 0.25 - 3.0).collect();
    let (input, out) = (device.buffer(&x), device.buffer(&[0f32; 3]));
    device.run(block("float_atomics_f32", 64).arg(input).arg(out));
    let sum: f32 = x.iter().sum();
    assert_eq!(device.read(out), [sum, sum, 2.5]);
    let x: Vec<f64> = x.into_iter().map(f64::from).collect();
    let (input, out) = (device.buffer(&x), device.buffer(&[0f64; 3]));
    device.run(block("float_atomics_f64", 64).arg(input).arg(out));
    assert_eq!(device.read(out), [f64::from(sum), f64::from(sum), 2.5]);
}

#[test]
fn a_named_barrier_orders_the_warps_that_use_it() {
    let Some(mut device) = std_kernels() else { return };
    let x: Vec<u32> = (100..132).collect();
    let (input, out) = (device.buffer(&x), device.buffer(&[0u32; 32]));
    device.run(block("named_barriers", 64).arg(input).arg(out));
    let expected: Vec<u32> = x.iter().rev().map(|x| x + 1).collect();
    assert_eq!(device.read(out), expected);
}

#[test]
fn a_warp_barrier_orders_the_lanes_of_a_warp() {
    let Some(mut device) = std_kernels() else { return };
    let x: Vec<u32> = (1..=32).collect();
    let (input, out) = (device.buffer(&x), device.buffer(&[0u32; 1]));
    device.run(block("warp_sum", 32).arg(input).arg(out));
    assert_eq!(device.read(out), [528]);
}

#[test]
fn fused_multiply_add_rounds_once_and_roots_are_correctly_rounded() {
    let Some(mut device) = std_kernels() else { return };
    let x: Vec<f32> = (0..32).map(|i| 1.0 + i as f32 * f32::EPSILON * 1001.0).collect();
    let y: Vec<f64> = (0..32).map(|i| 1.0 + f64::from(i) * f64::EPSILON * 1001.0).collect();
    let (x_in, y_in) = (device.buffer(&x), device.buffer(&y));
    let (x_out, y_out) = (device.buffer(&[0f32; 64]), device.buffer(&[0f64; 64]));
    device.run(block("arithmetic", 32).arg(x_in).arg(y_in).arg(x_out).arg(y_out));
    assert_eq!(
        device.read(x_out),
        x.iter()
            .flat_map(|x| [x.mul_add(*x, -1.0), x.sqrt()])
            .collect::<Vec<_>>()
    );
    assert_eq!(
        device.read(y_out),
        y.iter()
            .flat_map(|y| [y.mul_add(*y, -1.0), y.sqrt()])
            .collect::<Vec<_>>()
    );
}

#[test]
fn vectors_move_whole_and_cost_four_wavefronts_for_512_bytes() {
    let Some(mut device) = std_kernels() else { return };
    let x: Vec<f32> = (0..256).map(|i| i as f32).collect();
    let (input, out) = (device.buffer(&x), device.buffer(&[0f32; 256]));
    let report = device.run(block("vectors", 64).arg(input).arg(out));
    let expected: Vec<f32> = x.chunks(32).rev().flatten().copied().collect();
    assert_eq!(device.read(out), expected);
    let counters = report.counters;
    for access in [counters.shared_load, counters.shared_store] {
        assert_eq!((access.requests, access.wavefronts), (2, 8));
    }
    assert_eq!((counters.global_load.requests, counters.global_load.sectors), (2, 32));

    let x: Vec<u16> = (0..256).collect();
    let (input, out) = (device.buffer(&x), device.buffer(&[0u16; 256]));
    let report = device.run(block("small_vectors", 64).arg(input).arg(out));
    assert_eq!(device.read(out), x);
    assert_eq!(report.counters.global_store.requests, 2);
}

#[test]
fn arrays_carved_from_dynamic_shared_memory_stay_apart() {
    let Some(mut device) = std_kernels() else { return };
    // An odd number of bytes in the middle.
    let n = 33;
    let (out, bytes) = (device.buffer(&vec![0f64; n]), device.buffer(&vec![0u8; n]));
    let (singles, size) = (device.buffer(&vec![0f32; n]), device.buffer(&[0u32]));
    let launch = block("dynamic", n as u32).arg(out).arg(bytes).arg(singles).arg(size);
    device.run(launch.dynamic_shared(432));
    assert_eq!(
        device.read(out),
        (0..n).rev().map(|i| i as f64 * 0.5).collect::<Vec<_>>()
    );
    assert_eq!(device.read(bytes), (0..n).rev().map(|i| i as u8).collect::<Vec<_>>());
    assert_eq!(
        device.read(singles),
        (0..n).rev().map(|i| i as f32 * 0.25).collect::<Vec<_>>()
    );
    assert_eq!(device.read(size), [432]);
}

#[test]
fn a_panic_in_a_kernel_ends_the_launch_with_an_error() {
    let Some(mut device) = std_kernels() else { return };
    let out = device.buffer(&[0u32]);
    device.run(block("panics", 1).arg(out).arg(2u32));
    assert_eq!(device.read(out), [3]);
    let outcome = device.emulator.launch(&block("panics", 1).arg(out).arg(3u32));
    match outcome {
        Ok(report) => assert!(!report.is_clean(), "an index out of bounds went unnoticed"),
        Err(error) => assert!(error.to_string().contains("trap"), "{error}"),
    }
    assert_eq!(device.read(out), [3]);
}

fn arch_kernels() -> Option<Device> {
    Device::new("device_arch", "sm_80")
}

/// Small integers, exact in every format and in every order of summation.
fn small(i: usize) -> f32 {
    ((i * 7 + i / 16 * 3) % 9) as f32 - 4.0
}

fn check_product(entry: &str, bits: impl Fn(f32) -> u16) {
    let Some(mut device) = arch_kernels() else { return };
    let a: Vec<f32> = (0..256).map(small).collect();
    let b: Vec<f32> = (0..128).map(|i| small(i + 5)).collect();
    let c: Vec<f32> = (0..128).map(|i| i as f32 / 4.0).collect();
    let encode = |values: &[f32]| values.iter().map(|value| bits(*value)).collect::<Vec<u16>>();
    let (a_in, b_in, c_in) = (
        device.buffer(&encode(&a)),
        device.buffer(&encode(&b)),
        device.buffer(&c),
    );
    let d = device.buffer(&[0f32; 128]);
    device.run(block(entry, 32).arg(a_in).arg(b_in).arg(c_in).arg(d));
    let product = |row: usize, col: usize| (0..16).map(|k| a[row * 16 + k] * b[k * 8 + col]).sum::<f32>();
    let expected: Vec<f32> = (0..128).map(|i| product(i / 8, i % 8) + c[i]).collect();
    assert_eq!(device.read(d), expected, "{entry}");
}

#[test]
fn tensor_cores_multiply_what_ldmatrix_loads() {
    check_product("product_f16", |value| half::f16::from_f32(value).to_bits());
    check_product("product_bf16", |value| half::bf16::from_f32(value).to_bits());
}

#[test]
fn asynchronous_copies_arrive_when_waited_for_and_fill_with_zeros() {
    let Some(mut device) = arch_kernels() else { return };
    let x: Vec<u32> = (1000..1224).collect();
    let (input, out) = (device.buffer(&x), device.buffer(&[0u32; 224]));
    device.run(block("copies", 32).arg(input).arg(out));
    let expected: Vec<u32> = x
        .iter()
        .enumerate()
        .map(|(i, x)| if i < 208 { *x } else { 0 })
        .collect();
    assert_eq!(device.read(out), expected);
}
