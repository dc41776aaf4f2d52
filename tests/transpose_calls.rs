//! The transposes that are more than one matrix into another: in place, in batches, at odd addresses. And the calls.

mod common;

use std::fmt::Debug;

use bytemuck::{Pod, cast_slice};
use common::devices;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use tile33::Kernels;
use tile33::catalogue::data::Sample;
use tile33::host::{LaunchConfig, args, compare, reference};
use tile33::kernels::file_of;
use tile33::prelude::*;
use tile33::sim::{Emulator, Launch};
use tile33::transpose::{Element, TransposeError, Variant};

/// Elements behind the output that nothing may touch.
const GUARD: usize = 64;
const POISON: u8 = 0xa5;

trait Matrix: Element + Sample + Debug {}
impl<T: Element + Sample + Debug> Matrix for T {}

fn poisoned<T: Pod>(device: &Device, len: usize) -> DeviceBuffer<T> {
    let mut buffer = device.uninit(len).unwrap();
    buffer.fill_bytes(POISON).unwrap();
    buffer
}

fn untouched<T: Pod>(guard: &[T]) -> Result<(), String> {
    let intact = cast_slice::<T, u8>(guard).iter().all(|&byte| byte == POISON);
    intact
        .then_some(())
        .ok_or_else(|| "something behind the matrix was written".to_owned())
}

/// Transposes a square where it lies and says what is wrong with the result.
fn in_place<T: Matrix>(device: &Device, side: usize) -> Result<(), String> {
    let values = T::samples(side as u64, side * side);
    let guard = vec![bytemuck::pod_read_unaligned::<T>(&[POISON; 16][..size_of::<T>()]); GUARD];
    let mut matrix = device.upload(&[values.clone(), guard].concat()).unwrap();
    device
        .transpose_in_place(&mut matrix, side)
        .map_err(|error| error.to_string())?;
    let output = matrix.to_vec().unwrap();
    let (written, guard) = output.split_at(side * side);
    compare::identical(written, &reference::transpose(&values, side, side)).map_err(|error| error.to_string())?;
    untouched(guard)
}

/// Transposes a batch and says what is wrong with the result.
fn batch<T: Matrix>(device: &Device, [matrices, rows, cols]: [usize; 3]) -> Result<(), String> {
    let values = T::samples(7, matrices * rows * cols);
    let x = device.upload(&values).unwrap();
    let mut y = poisoned(device, values.len() + GUARD);
    device
        .transpose_batched(&x, &mut y, matrices, rows, cols)
        .map_err(|error| error.to_string())?;
    let output = y.to_vec().unwrap();
    let (written, guard) = output.split_at(values.len());
    compare::identical(written, &batch_reference(&values, rows, cols)).map_err(|error| error.to_string())?;
    compare::identical(&x.to_vec().unwrap(), &values).map_err(|error| format!("in the input, {error}"))?;
    untouched(guard)
}

fn batch_reference<T: Copy + Send + Sync>(values: &[T], rows: usize, cols: usize) -> Vec<T> {
    let matrices = values.chunks_exact(rows * cols);
    matrices
        .flat_map(|matrix| reference::transpose(matrix, rows, cols))
        .collect()
}

#[test]
fn a_square_of_any_side_is_transposed_where_it_lies() {
    for device in devices() {
        let by_element = [
            in_place::<u8>,
            in_place::<i16>,
            in_place::<f32>,
            in_place::<u64>,
            in_place::<u128>,
        ];
        for side in [1, 2, 31, 32, 33, 64, 65, 96] {
            for in_place in by_element {
                in_place(&device, side).unwrap_or_else(|error| panic!("{side} on {device}: {error}"));
            }
        }
        TestRunner::new(ProptestConfig::with_cases(32))
            .run(&(0..by_element.len(), 1usize..220), |(element, side)| {
                by_element[element](&device, side).map_err(TestCaseError::fail)
            })
            .unwrap();
    }
}

#[test]
fn every_matrix_of_a_batch_is_transposed_and_nothing_else_written() {
    for device in devices() {
        let by_element = [batch::<i8>, batch::<u16>, batch::<f32>, batch::<f64>, batch::<u128>];
        let shapes = (1usize..6, 1usize..150, 1usize..150, any::<bool>());
        TestRunner::new(ProptestConfig::with_cases(48))
            .run(
                &(0..by_element.len(), shapes),
                |(element, (matrices, rows, cols, whole))| {
                    let [rows, cols] = [rows, cols].map(|n| if whole { n.next_multiple_of(16) } else { n });
                    by_element[element](&device, [matrices, rows, cols]).map_err(TestCaseError::fail)
                },
            )
            .unwrap();
        // More matrices than a grid has blocks along z.
        batch::<i8>(&device, [65_537, 3, 1]).unwrap();
    }
}

/// The grid's limits are too high to reach with tiles that are more than a few elements: grids far lower than they could be
/// do the same.
#[test]
fn grids_lower_than_the_work_do_all_of_it() {
    for device in devices() {
        let kernels = Kernels::new(&device);
        let side = 5 * 32 + 1;
        let values = f32::samples(1, side * side);
        for height in [1, 2] {
            let mut matrix = device.upload(&values).unwrap();
            let kernel = kernels.kernel("transpose_in_place_f32").unwrap();
            let config = LaunchConfig::new((7, height), (32, 8));
            // SAFETY: `side * side` elements.
            unsafe { kernel.launch(&config, args![&mut matrix, side as u32]) }
                .unwrap()
                .clean()
                .unwrap();
            assert_eq!(matrix.to_vec().unwrap(), reference::transpose(&values, side, side));
        }
        for (name, like) in [("batched", "padded"), ("batched_vectorized", "vectorized")] {
            let like = Variant::named(like).unwrap();
            let (matrices, rows, cols) = (7usize, 72usize, 68usize);
            let values = f32::samples(2, matrices * rows * cols);
            let (x, mut y) = (device.upload(&values).unwrap(), poisoned::<f32>(&device, values.len()));
            let kernel = kernels.kernel(&format!("transpose_{name}_f32")).unwrap();
            let config = LaunchConfig::new((3, 1, 2), like.block(f32::KERNEL));
            let sizes = [matrices, rows, cols].map(|n| n as u32);
            // SAFETY: `matrices * rows * cols` elements each.
            unsafe { kernel.launch(&config, args![&x, &mut y, sizes[0], sizes[1], sizes[2]]) }
                .unwrap()
                .clean()
                .unwrap();
            assert_eq!(y.to_vec().unwrap(), batch_reference(&values, rows, cols), "{name}");
        }
    }
}

/// Matrices of a library that starts them anywhere. The emulator finds a vector at an address that is no multiple of 16
/// bytes misaligned.
#[test]
fn the_vector_kernel_moves_elements_where_a_matrix_starts_between_two_vectors() {
    let (rows, cols) = (96usize, 68usize);
    let variant = Variant::named("vectorized").unwrap();
    let file = file_of(variant.entry(f32::KERNEL), Device::emulator().limits().arch).unwrap();
    let mut emulator = Emulator::load(file.text).unwrap();
    for (x_skipped, y_skipped) in [(0, 0), (1, 0), (0, 3), (2, 2)] {
        let values = f32::samples(3, rows * cols + x_skipped);
        let x = emulator.buffer(&values).unwrap();
        let y = emulator.buffer(&vec![-7.0f32; rows * cols + 4]).unwrap();
        let launch = Launch::new(variant.entry(f32::KERNEL), [2, 2, 1], variant.block(f32::KERNEL))
            .pointer(x.address() + 4 * x_skipped as u64)
            .pointer(y.address() + 4 * y_skipped as u64)
            .arg(rows as u32)
            .arg(cols as u32);
        let report = emulator.launch(&launch).unwrap();
        assert!(report.is_clean(), "{:?}", report.findings);
        // 16 sectors a request are vectors, 4 single elements.
        let sectors = if x_skipped + y_skipped == 0 { 16 } else { 4 };
        assert!(report.counters.global_load.sectors <= (sectors + 1) * report.counters.global_load.requests);
        let output = emulator.read(y).unwrap();
        let written = y_skipped..y_skipped + rows * cols;
        assert_eq!(
            output[written.clone()],
            reference::transpose(&values[x_skipped..], rows, cols)
        );
        let outside = |(i, value): (usize, &f32)| written.contains(&i) || *value == -7.0;
        assert!(
            output.iter().enumerate().all(outside),
            "skipped {x_skipped} and {y_skipped}"
        );
    }
}

#[test]
fn pixels_complex_numbers_and_vectors_are_elements_too() {
    for device in devices() {
        let (rows, cols) = (70, 64);
        macro_rules! transposes {
            ($($ty:ty),*) => {$({
                let bytes = u8::samples(5, rows * cols * size_of::<$ty>());
                let input: Vec<$ty> = bytes.chunks_exact(size_of::<$ty>()).map(bytemuck::pod_read_unaligned).collect();
                let mut output = device.uninit(input.len()).unwrap();
                device.transpose(&device.upload(&input).unwrap(), &mut output, rows, cols).unwrap();
                let expected = reference::transpose(&input, rows, cols);
                assert_eq!(bytemuck::cast_slice::<_, u8>(&output.to_vec().unwrap()), bytemuck::cast_slice::<_, u8>(&expected));
            })*};
        }
        transposes!([u8; 2], [u8; 4], [u16; 4], [f32; 2], [f32; 4], [f64; 2], u128);
    }
}

#[test]
fn squares_and_batches_that_do_not_fit_are_refused_and_nothing_is_written() {
    for device in devices() {
        let mut matrix = device.upload(&[1u8, 2, 3, 4, 5]).unwrap();
        let refused = |result: Result<(), TransposeError>| result.unwrap_err().to_string();
        assert_eq!(
            refused(device.transpose_in_place(&mut matrix, 3)),
            "the matrix buffer holds 5 elements, and a matrix of 3 x 3 needs more"
        );
        assert!(refused(device.transpose_in_place(&mut matrix, 0)).contains("0 rows and 0 columns"));
        assert!(refused(device.transpose_in_place(&mut matrix, usize::MAX)).contains("at most 4294967295"));
        let mut output = device.upload(&[9u8; 8]).unwrap();
        let input = device.upload(&[1u8; 8]).unwrap();
        let mut batch = |batch, rows, cols| refused(device.transpose_batched(&input, &mut output, batch, rows, cols));
        assert_eq!(
            batch(0, 2, 2),
            "0 matrices: at least 1 and at most 4294967295 are possible"
        );
        assert_eq!(
            batch(3, 2, 2),
            "the input buffer holds 8 elements, and 3 matrices of 2 x 2 need more"
        );
        assert!(batch(1 << 31, 1 << 31, 1 << 31).contains("need more"));
        assert!(batch(usize::MAX, 1, 1).starts_with("18446744073709551615 matrices"));
        assert!(batch(2, 0, 2).contains("0 rows"));
        assert_eq!(matrix.to_vec().unwrap(), [1, 2, 3, 4, 5]);
        assert_eq!(output.to_vec().unwrap(), [9; 8]);
        device.transpose_in_place(&mut matrix, 2).unwrap();
        assert_eq!(matrix.to_vec().unwrap(), [1, 3, 2, 4, 5]);
    }
}

#[test]
fn a_transpose_of_a_transpose_is_the_matrix_again() {
    for device in devices() {
        let kernels = Kernels::of(&device);
        for (rows, cols) in [(128, 192), (129, 192)] {
            let values = u16::samples(9, rows * cols);
            let turned = kernels.transpose(&values, rows, cols).unwrap();
            assert_eq!(kernels.transpose(&turned, cols, rows).unwrap(), values);
        }
    }
}
