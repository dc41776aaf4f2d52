//! The calls that users make: what they give, and what they refuse before anything runs.

mod common;

use common::devices;
use tile33::catalogue::reduce::depth;
use tile33::catalogue::stride::Experiment;
use tile33::host::reference;
use tile33::prelude::*;
use tile33::sim::Options;

#[test]
fn extremes_skip_nan_and_prefer_the_first_of_equal_elements() {
    for device in devices() {
        let nan = f32::NAN;
        let values = device.upload(&[nan, 2.0, -1.0, 7.0, nan, -1.0, 7.0]).unwrap();
        assert_eq!(device.reduce(&values, Min).unwrap(), -1.0);
        assert_eq!(device.reduce(&values, Max).unwrap(), 7.0);
        assert_eq!(device.reduce(&values, ArgMin).unwrap(), Some((2, -1.0)));
        assert_eq!(device.reduce(&values, ArgMax).unwrap(), Some((3, 7.0)));
    }
}

#[test]
fn of_nothing_but_nan_there_is_no_place_and_the_extreme_is_nan() {
    for device in devices() {
        let values = device.upload(&[f64::NAN; 1000]).unwrap();
        assert_eq!(device.reduce(&values, ArgMin).unwrap(), None);
        assert_eq!(device.reduce(&values, ArgMax).unwrap(), None);
        assert!(device.reduce(&values, Min).unwrap().is_nan());
        assert!(device.reduce(&values, Max).unwrap().is_nan());
        assert!(device.reduce(&values, Sum).unwrap().is_nan());
    }
}

#[test]
fn the_extremes_of_infinities_and_of_the_ends_of_a_type_have_places_too() {
    for device in devices() {
        let infinite = device.upload(&[f32::INFINITY; 300]).unwrap();
        assert_eq!(device.reduce(&infinite, ArgMin).unwrap(), Some((0, f32::INFINITY)));
        let least = device.upload(&[i64::MIN, i64::MAX, i64::MIN]).unwrap();
        assert_eq!(device.reduce(&least, ArgMin).unwrap(), Some((0, i64::MIN)));
        assert_eq!(device.reduce(&least, ArgMax).unwrap(), Some((1, i64::MAX)));
        let zeros = device.upload(&[0u32; 40]).unwrap();
        assert_eq!(device.reduce(&zeros, ArgMax).unwrap(), Some((0, 0)));
    }
}

#[test]
fn integers_wrap() {
    for device in devices() {
        let values = device.upload(&[i32::MAX, 1, 1]).unwrap();
        assert_eq!(device.reduce(&values, Sum).unwrap(), i32::MIN + 1);
    }
}

/// On the emulator a part of it; on a GPU all 2^28.
#[test]
fn the_sum_of_many_tenths_is_within_the_stated_bound_and_compensated_it_is_exact() {
    for device in devices() {
        let count = if device.is_cuda() { 1 << 28 } else { 1 << 20 };
        let tenths = vec![0.1f32; count];
        let values = device.upload(&tenths).unwrap();
        let sum = device.reduce(&values, Sum).unwrap();
        let estimate = reference::reduce::sum(&tenths, depth::<f32>(count));
        assert!(estimate.admits(sum), "{sum} is not within {estimate:?} on {device}");
        assert!(
            estimate.bound < 1e-4 * estimate.value,
            "the bound says nothing: {estimate:?}"
        );
        // 0.1f32 times a power of two is a number of the type.
        assert_eq!(device.reduce(&values, CompensatedSum).unwrap(), 0.1 * count as f32);
    }
}

#[test]
fn a_sum_has_the_same_bits_on_every_device_and_with_any_number_of_host_threads() {
    let values: Vec<f32> = (0..100_003).map(|i| ((i * 7919) % 1009) as f32 / 97.0 - 5.0).collect();
    let sum = |device: Device| device.reduce(&device.upload(&values).unwrap(), Sum).unwrap().to_bits();
    let alone = sum(Device::emulator_with(Options {
        threads: Some(1),
        ..Options::default()
    }));
    for device in devices() {
        assert_eq!(sum(device), alone);
    }
}

#[test]
fn reductions_of_nothing_are_refused() {
    for device in devices() {
        let nothing = device.upload::<f32>(&[]).unwrap();
        let error = device.reduce(&nothing, Sum).unwrap_err();
        assert_eq!(error.to_string(), "reduce of no elements: values holds none");
    }
}

#[test]
fn a_scan_of_another_length_is_refused_and_nothing_is_written() {
    for device in devices() {
        let values = device.upload(&[1u32, 2, 3]).unwrap();
        let mut sums = device.upload(&[9u32, 9]).unwrap();
        let error = device.scan(&values, &mut sums, Inclusive).unwrap_err();
        assert_eq!(error.to_string(), "scan: sums holds 2 elements, 3 are needed");
        assert_eq!(sums.to_vec().unwrap(), [9, 9]);
        let nothing = device.upload::<u32>(&[]).unwrap();
        assert!(matches!(
            device.scan(&nothing, &mut sums, Exclusive),
            Err(CatalogueError::Empty { .. })
        ));
    }
}

#[test]
fn scans_of_every_length_follow_each_other_on_one_device() {
    for device in devices() {
        for len in [9_000usize, 1, 4096, 20_000, 5] {
            let values: Vec<i64> = (0..len as i64).map(|i| i * i - 1000).collect();
            let mut sums = device.uninit(len).unwrap();
            device
                .scan(&device.upload(&values).unwrap(), &mut sums, Exclusive)
                .unwrap();
            assert_eq!(sums.to_vec().unwrap(), reference::scan::wrapping_exclusive(&values));
        }
    }
}

#[test]
fn histograms_count_with_every_kernel_that_a_number_of_values_calls_for() {
    for device in devices() {
        let values: Vec<u32> = (0..40_000u32).map(|i| i.wrapping_mul(2_654_435_761) >> 15).collect();
        let input = device.upload(&values).unwrap();
        // In shared memory; in more of it than a launch gets without asking; in global memory.
        for number in [1, 256, 20_000, 100_000] {
            let mut counts = device.upload(&vec![7u32; number]).unwrap();
            device.histogram(&input, &mut counts).unwrap();
            assert_eq!(
                counts.to_vec().unwrap(),
                reference::histogram::histogram(&values, number),
                "{number}"
            );
        }
        let bytes: Vec<u8> = values.iter().map(|&value| value as u8).collect();
        let mut counts = device.uninit(256).unwrap();
        device.histogram(&device.upload(&bytes).unwrap(), &mut counts).unwrap();
        assert_eq!(counts.to_vec().unwrap(), reference::histogram::histogram(&bytes, 256));
    }
}

#[test]
fn histograms_of_nothing_or_into_nothing_are_refused() {
    for device in devices() {
        let mut none = device.upload::<u32>(&[]).unwrap();
        let values = device.upload(&[1u8]).unwrap();
        assert!(matches!(
            device.histogram(&values, &mut none),
            Err(CatalogueError::Empty { what: "counts", .. })
        ));
        let nothing = device.upload::<u8>(&[]).unwrap();
        let mut counts = device.upload(&[5u32; 4]).unwrap();
        assert!(matches!(
            device.histogram(&nothing, &mut counts),
            Err(CatalogueError::Empty { what: "values", .. })
        ));
        assert_eq!(counts.to_vec().unwrap(), [5; 4]);
    }
}

#[test]
fn a_transpose_that_does_not_fit_is_refused_and_nothing_is_written() {
    for device in devices() {
        let matrix = device.upload(&[1u16, 2, 3, 4, 5, 6]).unwrap();
        let mut transposed = device.upload(&[0u16; 6]).unwrap();
        assert!(device.transpose(&matrix, &mut transposed, 2, 4).is_err());
        assert!(device.transpose(&matrix, &mut transposed, 0, 6).is_err());
        assert!(device.transpose(&matrix, &mut transposed, usize::MAX, 2).is_err());
        assert_eq!(transposed.to_vec().unwrap(), [0; 6]);
        device.transpose(&matrix, &mut transposed, 2, 3).unwrap();
        assert_eq!(transposed.to_vec().unwrap(), [1, 4, 2, 5, 3, 6]);
    }
}

#[test]
fn the_laboratory_refuses_what_would_race_and_what_does_not_fit() {
    for device in devices() {
        let refused = |experiment, stride, offset| {
            device
                .stride::<f32>(experiment, stride, offset)
                .unwrap_err()
                .to_string()
        };
        assert!(refused(Experiment::Store, 0, 0).contains("race"));
        assert!(refused(Experiment::Load, 100_000, 0).contains("fit into the shared memory"));
        assert!(refused(Experiment::GlobalLoad, u32::MAX, 0).contains("at most 2^32 - 1"));
        assert!(device.stride::<u8>(Experiment::AtomicAdd, 1, 0).is_err());
        let loaded = device.stride::<u16>(Experiment::Load, 3, 2).unwrap().elements;
        assert_eq!(loaded, (0..32).map(|lane| 3 * lane + 2).collect::<Vec<u16>>());
    }
}
