//! Every transpose against the CPU's, bit by bit, running the real PTX on every device of this machine.

mod common;

use std::fmt::Debug;

use common::{bits, devices};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use tile33::host::{Checks, LaunchConfig, Options, args, compare, reference};
use tile33::sim::FindingKind;
use tile33::transpose::{ALL, Element, Tile, TransposeError, TransposeKernel, Variant};
use tile33::{Device, Kernels};

/// Shapes at which transposes go wrong: single elements, rows and columns, a column less or more than a tile, partial tiles
/// at both edges, whole tiles along one axis only.
const SHAPES: [(usize, usize); 11] = [
    (1, 1),
    (1, 1000),
    (1000, 1),
    (31, 33),
    (33, 31),
    (32, 32),
    (40, 70),
    (462, 1024),
    (1000, 777),
    // Rows that start at vectors, with parts of the vector kernel's tiles.
    (144, 208),
    (256, 16),
];

/// Elements behind the output that nothing may touch.
const GUARD: usize = 64;
const POISON: u8 = 0xa5;

trait Bits: Element + Debug + Send + Sync {
    fn from_low_bits(bits: u64) -> Self;
}
macro_rules! bits {
    ($($ty:ty => $from:expr),*) => {$(impl Bits for $ty { fn from_low_bits(bits: u64) -> Self { $from(bits) } })*};
}
bits!(
    f32 => |b| f32::from_bits(b as u32), f64 => f64::from_bits, u16 => |b| b as u16, u8 => |b| b as u8,
    u128 => |b: u64| u128::from(b) << 64 | u128::from(!b)
);

/// Transposes a matrix of every bit pattern and says what is wrong with the result.
fn check<T: Bits>(
    kernel: &TransposeKernel<T>,
    device: &Device,
    variant: &Variant,
    rows: usize,
    cols: usize,
) -> Result<(), String> {
    let input: Vec<T> = bits(rows * cols).map(T::from_low_bits).collect();
    let x = device.upload(&input).unwrap();
    let mut y = device.uninit(input.len() + GUARD).unwrap();
    y.fill_bytes(POISON).unwrap();
    let run = kernel.run(&x, &mut y, rows, cols).and_then(|run| Ok(run.clean()?));
    run.map_err(|error| error.to_string())?;
    let output = y.to_vec().unwrap();
    let (written, guard) = output.split_at(input.len());
    let (expected, width) = if variant.transposes {
        (reference::transpose(&input, rows, cols), rows)
    } else {
        (input.clone(), cols)
    };
    compare::identical(written, &expected).map_err(|error| error.in_matrix(width).to_string())?;
    compare::identical(
        bytemuck::cast_slice::<T, u8>(guard),
        &vec![POISON; GUARD * size_of::<T>()],
    )
    .map_err(|error| format!("behind the output, {error}"))?;
    compare::identical(&x.to_vec().unwrap(), &input).map_err(|error| format!("in the input, {error}"))
}

fn check_shapes<T: Bits>() {
    for device in devices() {
        let kernels = Kernels::new(&device);
        for variant in ALL {
            let kernel = TransposeKernel::<T>::of(&kernels, variant).unwrap();
            for (rows, cols) in SHAPES {
                check(&kernel, &device, variant, rows, cols).unwrap_or_else(|error| {
                    panic!("{} of {rows} x {cols} on {device}: {error}", variant.entry(T::KERNEL))
                });
            }
        }
    }
}

#[test]
fn every_variant_of_f32_is_right_at_every_shape() {
    check_shapes::<f32>();
}

#[test]
fn every_variant_of_f64_is_right_at_every_shape() {
    check_shapes::<f64>();
}

#[test]
fn every_variant_of_u16_is_right_at_every_shape() {
    check_shapes::<u16>();
}

#[test]
fn every_variant_of_u8_is_right_at_every_shape() {
    check_shapes::<u8>();
}

#[test]
fn every_variant_of_u128_is_right_at_every_shape() {
    check_shapes::<u128>();
}

#[test]
fn every_variant_is_right_at_random_shapes() {
    for device in devices() {
        let kernels = Kernels::new(&device);
        fn one<T: Bits>(
            kernels: &Kernels,
            device: &Device,
            variant: &Variant,
            [rows, cols]: [usize; 2],
        ) -> Result<(), String> {
            let kernel = TransposeKernel::<T>::of(kernels, variant).unwrap();
            check(&kernel, device, variant, rows, cols)
        }
        let by_element = [one::<f32>, one::<f64>, one::<u16>, one::<u8>, one::<u128>];
        // Half of them multiples of a vector, which `vectorized` moves by vectors.
        let cases = (
            0..ALL.len(),
            0..by_element.len(),
            1usize..150,
            1usize..150,
            any::<bool>(),
        );
        TestRunner::new(ProptestConfig::with_cases(64))
            .run(&cases, |(variant, element, rows, cols, whole)| {
                let shape = [rows, cols].map(|n| if whole { n.next_multiple_of(16) } else { n });
                by_element[element](&kernels, &device, &ALL[variant], shape).map_err(TestCaseError::fail)
            })
            .unwrap();
    }
}

#[test]
fn the_dynamic_variant_is_right_with_every_tile() {
    for device in devices() {
        let kernels = Kernels::new(&device);
        let dynamic = Variant::named("dynamic").unwrap();
        // The last takes more than 48 KiB.
        for (side, pitch) in [(1, 1), (5, 7), (32, 32), (32, 34), (33, 40), (64, 65), (120, 121)] {
            let tile = Tile::new(side, pitch).unwrap();
            let kernel = TransposeKernel::<f32>::of(&kernels, dynamic).unwrap().with_tile(tile);
            assert_eq!(kernel.shared_bytes(), u64::from(side * pitch * 4));
            check(&kernel, &device, dynamic, 131, 77).unwrap_or_else(|error| panic!("{tile:?} on {device}: {error}"));
        }
    }
}

/// A grid has at most 65,535 blocks along y. Blocks that take several tiles are tried with a grid far lower than the
/// matrix: what the kernel does then does not depend on how high it is.
#[test]
fn a_grid_lower_than_the_matrix_transposes_all_of_it() {
    for device in devices() {
        let kernels = Kernels::new(&device);
        // Rows that start at vectors and rows that do not.
        for (variant, rows) in ALL.iter().flat_map(|variant| [(variant, 205usize), (variant, 204)]) {
            let cols = 40usize;
            let input: Vec<f32> = bits(rows * cols).map(f32::from_low_bits).collect();
            let x = device.upload(&input).unwrap();
            let kernel = kernels.kernel(variant.entry(<f32 as Element>::KERNEL)).unwrap();
            for height in [1, 2, 3, 6] {
                let mut y = device.uninit::<f32>(input.len()).unwrap();
                let config = LaunchConfig::new((2, height), variant.block(<f32 as Element>::KERNEL));
                let run = if variant.dynamic {
                    let config = config.with_dynamic_shared(tile33::host::SharedBytes::of::<f32>(32 * 33));
                    // SAFETY: `rows * cols` elements each, and the tile's bytes.
                    unsafe { kernel.launch(&config, args![&x, &mut y, rows as u32, cols as u32, 32u32, 33u32]) }
                } else {
                    // SAFETY: `rows * cols` elements each.
                    unsafe { kernel.launch(&config, args![&x, &mut y, rows as u32, cols as u32]) }
                };
                run.unwrap().clean().unwrap();
                let expected = if variant.transposes {
                    reference::transpose(&input, rows, cols)
                } else {
                    input.clone()
                };
                compare::identical(&y.to_vec().unwrap(), &expected)
                    .unwrap_or_else(|error| panic!("{} with {height} blocks: {error}", variant.name));
            }
        }
    }
}

#[test]
fn more_than_65535_tiles_along_y_are_transposed() {
    let (rows, cols) = (2_097_153, 4);
    let mut all = devices();
    all[0] = Device::emulator_with(Options {
        checks: Checks::NONE,
        counters: false,
        ..Options::default()
    });
    for device in all {
        let kernels = Kernels::new(&device);
        let variant = Variant::named("padded").unwrap();
        let kernel = TransposeKernel::<u8>::of(&kernels, variant).unwrap();
        check(&kernel, &device, variant, rows, cols).unwrap();
    }
}

/// Row 2 of a matrix with 0x9000_0000 columns starts at element 0x1_2000_0000: past what 32 bits count, in elements and in
/// bytes. The buffer holds only the first elements, so the emulator reports where the kernel went instead.
#[test]
fn offsets_of_more_than_32_bits_do_not_wrap() {
    const COLS: u32 = 0x9000_0000;
    let device = Device::emulator();
    let kernels = Kernels::new(&device);
    let x = device.zeros::<f32>(1024).unwrap();
    let mut y = device.zeros::<f32>(1024).unwrap();
    for (name, rows) in [
        ("copy", 3u32),
        ("naive", 3),
        ("padded", 3),
        ("vectorized", 3),
        ("vectorized", 4),
    ] {
        let variant = Variant::named(name).unwrap();
        let kernel = kernels.kernel(variant.entry(<f32 as Element>::KERNEL)).unwrap();
        let config = LaunchConfig::new(1, variant.block(<f32 as Element>::KERNEL));
        // SAFETY: on the emulator an access outside of a buffer is a finding.
        let run = unsafe { kernel.launch(&config, args![&x, &mut y, rows, COLS]) }.unwrap();
        let findings = run.report.unwrap().findings;
        let mut strays: Vec<i64> = findings
            .iter()
            .filter(|finding| finding.kind == FindingKind::OutOfBounds)
            .filter_map(|finding| Some(finding.address.as_ref()?.offset))
            .collect();
        strays.sort_unstable();
        // Rows 1 and 2 of `x`, as bytes from its start; `copy` goes to the same places of `y`.
        let far = strays.iter().filter(|&&offset| offset >= i64::from(COLS) * 4).count();
        assert!(far >= 1, "{name}: {findings:?}");
        assert_eq!(far, strays.len(), "{name}: {findings:?}");
    }
}

#[test]
fn the_plain_call_transposes_every_element_type() {
    for device in devices() {
        let kernels = Kernels::new(&device);
        let (rows, cols) = (45, 67);
        macro_rules! transposes {
            ($($ty:ty),*) => {$({
                let input: Vec<$ty> = bits(rows * cols).map(|bits| bits as $ty).collect();
                let output = kernels.transpose(&input, rows, cols).unwrap();
                assert_eq!(output, reference::transpose(&input, rows, cols), "{} on {device}", stringify!($ty));
            })*};
        }
        transposes!(u8, i8, u16, i16, u32, i32, f32, u64, i64, f64, u128, i128);
    }
}

#[test]
fn wrong_shapes_are_errors_before_anything_runs() {
    let kernels = Kernels::new(&Device::emulator());
    let refuse = |input: &[f32], rows, cols| kernels.transpose(input, rows, cols).unwrap_err().to_string();
    assert_eq!(refuse(&[1.0; 6], 2, 2), "6 elements for a matrix of 2 x 2");
    assert_eq!(
        refuse(&[], 0, 5),
        "a matrix of 0 rows and 5 columns: both are at least 1 and at most 4294967295"
    );
    assert!(refuse(&[], usize::MAX, 2).starts_with("a matrix of"));
    let kernel = TransposeKernel::<f32>::of(&kernels, &ALL[0]).unwrap();
    let (x, mut y) = (kernels.device().zeros(12).unwrap(), kernels.device().zeros(11).unwrap());
    let error = kernel.run(&x, &mut y, 3, 4).unwrap_err();
    assert!(
        matches!(
            error,
            TransposeError::Buffer {
                which: "output",
                given: 11,
                ..
            }
        ),
        "{error}"
    );
    for (side, pitch) in [(0, 4), (5, 4), (70_000, 70_000)] {
        assert!(
            matches!(Tile::new(side, pitch), Err(TransposeError::Tile { .. })),
            "{side} {pitch}"
        );
    }
}

#[test]
fn a_tile_larger_than_a_block_can_have_is_an_error_with_both_numbers() {
    for device in devices() {
        let kernels = Kernels::new(&device);
        let dynamic = Variant::named("dynamic").unwrap();
        let kernel = TransposeKernel::<f64>::of(&kernels, dynamic)
            .unwrap()
            .with_tile(Tile::new(256, 257).unwrap());
        let (x, mut y) = (device.zeros(4).unwrap(), device.zeros(4).unwrap());
        let error = kernel.run(&x, &mut y, 2, 2).unwrap_err().to_string();
        let available = device.limits().shared_per_block;
        assert!(
            error.contains("asks for 526") && error.contains(&format!("at most {available}")),
            "{error}"
        );
    }
}

#[test]
fn a_launch_of_a_real_kernel_with_wrong_arguments_is_refused() {
    for device in devices() {
        let kernel = Kernels::new(&device).kernel("transpose_padded_f32").unwrap();
        let (x, y) = (device.zeros::<f32>(4).unwrap(), device.zeros::<f32>(4).unwrap());
        let config = LaunchConfig::new(1, (32, 8));
        let refuse =
            |config: &LaunchConfig, args: &[tile33::host::Arg<'_>]| kernel.check(config, args).unwrap_err().to_string();
        assert_eq!(
            refuse(&config, args![&x, &y, 2u32]),
            "`transpose_padded_f32` takes 4 arguments, 3 were given"
        );
        let swapped = refuse(&config, args![&x, 2u32, &y, 2u32]);
        assert!(swapped.contains("argument 1") && swapped.contains("is a pointer to device memory, but u32 was given"));
        assert!(refuse(&LaunchConfig::new(1, (32, 9)), args![&x, &y, 2u32, 2u32]).contains("a block of 288 threads"));
        kernel.check(&config, args![&x, &y, 2u32, 2u32]).unwrap();
    }
}
