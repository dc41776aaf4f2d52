//! Arrays of different types in one block of dynamic shared memory: where they lie, how large they may be, and what is
//! refused before anything runs.

mod common;

use common::devices;
use kernels_gpu::carve_out::{THREADS, plan};
use proptest::prelude::*;
use tile33::catalogue::{CatalogueError, step};
use tile33::host::{Error, LaunchConfig, SharedBytes, args};
use tile33::prelude::*;
use tile33::{DeviceBuffer, Kernels};

/// Of a card like the H200, which the emulator is.
const MOST_OF_A_BLOCK: u64 = 227 * 1024;

/// The longest rows that take 48 KiB and 227 KiB. Both take them to the byte.
const ROW_OF_48_KIB: usize = 9_216;
const ROW_OF_227_KIB: usize = 45_875;

proptest! {
    #[test]
    fn every_array_of_the_plan_is_aligned_behind_the_one_before_and_inside(cols in 1u32..100_000) {
        let plan = plan(cols);
        let parts = [
            (plan.sums.offset(), plan.sums.bytes(), 8 * THREADS as u32, 8),
            (plan.valid.offset(), plan.valid.bytes(), cols, 1),
            (plan.counts.offset(), plan.counts.bytes(), 4 * THREADS as u32, 4),
            (plan.values.offset(), plan.values.bytes(), 4 * cols, 4),
        ];
        let mut end = 0;
        for (offset, bytes, expected, alignment) in parts {
            prop_assert_eq!((bytes, offset % alignment), (expected, 0));
            prop_assert!(offset >= end && offset - end < alignment);
            end = offset + bytes;
        }
        prop_assert_eq!(SharedBytes::from(plan.memory).get(), u64::from(end));
    }
}

#[test]
fn rows_of_exactly_48_and_227_kib_and_one_element_more_are_what_they_are_said_to_be() {
    let bytes = |cols: usize| plan(cols as u32).memory.bytes();
    assert_eq!((bytes(ROW_OF_48_KIB), bytes(ROW_OF_48_KIB + 1)), (49_152, 49_160));
    assert_eq!((bytes(ROW_OF_227_KIB), bytes(ROW_OF_227_KIB + 1)), (232_448, 232_452));
}

/// Centres one row and says what is wrong, if anything.
fn centre(kernels: &Kernels, name: &str, cols: usize) -> Result<Option<String>, CatalogueError> {
    let mut trial = step(name).unwrap().prepare(kernels, &[1, cols], 5)?;
    let launches = trial.launch()?;
    Ok(launches
        .iter()
        .find_map(|launched| launched.finding())
        .or(trial.difference()?))
}

#[test]
fn launches_of_more_and_less_shared_memory_follow_each_other() {
    for device in devices() {
        let kernels = Kernels::new(&device);
        let most = device.limits().shared_per_block;
        for cols in [
            ROW_OF_48_KIB + 1,
            ROW_OF_48_KIB,
            ROW_OF_48_KIB - 1,
            15_000,
            1,
            ROW_OF_227_KIB,
            9_999,
            ROW_OF_227_KIB,
        ] {
            if SharedBytes::from(plan(cols as u32).memory).get() <= most {
                assert_eq!(
                    centre(&kernels, "carve_out_carved_f32", cols).unwrap(),
                    None,
                    "{cols} on {device}"
                );
            }
        }
    }
}

#[test]
fn a_row_that_a_block_has_no_room_for_is_an_error_with_what_was_asked_and_what_there_is() {
    let device = Device::emulator();
    let kernels = Kernels::new(&device);
    let error = centre(&kernels, "carve_out_carved_f32", ROW_OF_227_KIB + 1).unwrap_err();
    let CatalogueError::Device(Error::SharedMemory {
        static_shared: 0,
        dynamic: 232_452,
        available,
        ..
    }) = &error
    else {
        panic!("{error}");
    };
    assert_eq!(*available, MOST_OF_A_BLOCK);
    let message = error.to_string();
    assert!(
        message.contains("asks for 232452 bytes") && message.contains("at most 232448"),
        "{message}"
    );
}

#[test]
fn one_byte_more_than_a_block_has_is_refused_and_so_is_none_and_static_memory_asked_for_again() {
    for device in devices() {
        let kernels = Kernels::new(&device);
        let (carved, streamed) = (
            kernels.kernel("carve_out_carved_f32").unwrap(),
            kernels.kernel("carve_out_streamed_f32").unwrap(),
        );
        let (values, valid) = (device.zeros::<f32>(1).unwrap(), device.zeros::<u8>(1).unwrap());
        let mut centred = device.zeros::<f32>(1).unwrap();
        let config = LaunchConfig::new(1, THREADS as u32);
        let most = device.limits().shared_per_block;
        let arguments = args![&values, &valid, &mut centred, 1u32, 1u32];
        let with = |bytes| config.with_dynamic_shared(SharedBytes::bytes(bytes));
        carved.check(&with(most), arguments).unwrap();
        assert!(matches!(
            carved.check(&with(most + 1), arguments),
            Err(Error::SharedMemory { dynamic, available, .. }) if dynamic == most + 1 && available == most
        ));
        assert!(matches!(
            carved.check(&config, arguments),
            Err(Error::DynamicSharedMissing { .. })
        ));
        let again = streamed.static_shared();
        assert_eq!(again, 3072);
        assert!(matches!(
            streamed.check(&with(again), arguments),
            Err(Error::DynamicSharedUnused {
                static_shared: 3072,
                dynamic: 3072,
                ..
            })
        ));
    }
}

fn upload(device: &Device, values: &[f32], valid: &[u8]) -> (DeviceBuffer<f32>, DeviceBuffer<u8>) {
    (device.upload(values).unwrap(), device.upload(valid).unwrap())
}

#[test]
fn rows_too_long_for_shared_memory_are_centred_all_the_same() {
    for device in devices() {
        let cols = ROW_OF_227_KIB + 2;
        // Every other element is valid, and their mean is 3.
        let values: Vec<f32> = (0..cols).map(|i| [2.0, f32::INFINITY, 4.0, f32::NAN][i % 4]).collect();
        let marks: Vec<u8> = (0..cols).map(|i| if i % 2 == 0 { 7 } else { 0 }).collect();
        let (values, valid) = upload(&device, &values[..cols - 1], &marks[..cols - 1]);
        let mut centred = device.uninit(cols - 1).unwrap();
        device.centre(&values, &valid, &mut centred, 1, cols - 1).unwrap();
        let expected: Vec<f32> = (0..cols - 1).map(|i| [-1.0, 0.0, 1.0, 0.0][i % 4]).collect();
        assert_eq!(centred.to_vec().unwrap(), expected, "on {device}");
    }
}

#[test]
fn a_row_without_a_valid_element_is_zero() {
    for device in devices() {
        let (values, valid) = upload(&device, &[f32::NAN, 5.0, 1.0, 2.0], &[0, 0, 1, 1]);
        let mut centred = device.uninit(4).unwrap();
        device.centre(&values, &valid, &mut centred, 2, 2).unwrap();
        assert_eq!(centred.to_vec().unwrap(), [0.0, 0.0, -0.5, 0.5]);
    }
}

#[test]
fn a_grid_shorter_than_the_rows_centres_all_of_them() {
    for device in devices() {
        let kernels = Kernels::new(&device);
        let (rows, cols) = (7u32, 301u32);
        let values: Vec<f32> = (0..rows * cols).map(|i| (i / cols + i % cols % 3) as f32).collect();
        let (values, valid) = upload(&device, &values, &vec![1; (rows * cols) as usize]);
        let once = |name: &str, config: LaunchConfig| {
            let mut centred = device.uninit::<f32>((rows * cols) as usize).unwrap();
            // SAFETY: `rows * cols` elements each, and the plan's memory.
            unsafe {
                let arguments = args![&values, &valid, &mut centred, rows, cols];
                kernels
                    .kernel(name)
                    .unwrap()
                    .launch(&config, arguments)
                    .unwrap()
                    .clean()
                    .unwrap();
            }
            centred.to_vec().unwrap()
        };
        let of = |blocks: u32| LaunchConfig::new(blocks, THREADS as u32);
        let expected = once("carve_out_streamed_f32", of(rows));
        assert!(expected.iter().all(|x| x.abs() < 1.1) && expected[0] != 0.0);
        for blocks in [1, 2, 3] {
            assert_eq!(once("carve_out_streamed_f32", of(blocks)), expected);
            let carved = of(blocks).with_dynamic_shared(plan(cols).memory);
            assert_eq!(once("carve_out_carved_f32", carved), expected);
        }
    }
}

#[test]
fn wrong_lengths_are_refused_and_nothing_is_written() {
    for device in devices() {
        let (values, valid) = upload(&device, &[1.0; 6], &[1; 6]);
        let mut centred = device.upload(&[9.0f32; 6]).unwrap();
        let mut refused = |rows, cols| {
            device
                .centre(&values, &valid, &mut centred, rows, cols)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(refused(2, 4), "carve_out: values holds 6 elements, 8 are needed");
        assert_eq!(refused(0, 6), "carve_out of no elements: rows holds none");
        assert!(refused(1 << 32, 1).contains("4294967296 rows, at most 4294967295"));
        assert!(refused(1 << 31, usize::MAX).contains("columns"));
        let short = device.upload(&[1u8; 5]).unwrap();
        let error = device.centre(&values, &short, &mut centred, 2, 3).unwrap_err();
        assert_eq!(error.to_string(), "carve_out: valid holds 5 elements, 6 are needed");
        assert_eq!(centred.to_vec().unwrap(), [9.0; 6]);
    }
}
