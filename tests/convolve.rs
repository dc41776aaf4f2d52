//! Convolutions: the call for every border, radius and pixel type, what it refuses, and what kernels do with more tiles than a
//! grid has blocks.

mod common;

use std::fmt::Debug;

use common::devices;
use proptest::prelude::*;
use tile33::catalogue::CatalogueError;
use tile33::catalogue::data::{POISON, Sample};
use tile33::host::reference::convolve::{Image, convolve, separable};
use tile33::host::reference::{Estimate, first_outside};
use tile33::host::{LaunchConfig, args, compare};
use tile33::prelude::*;
use tile33::{Device, Kernels};

/// What the reference says of a filter on an image.
fn expected<P: tile33::host::reference::convolve::Pixel>(
    pixels: &[P],
    [rows, cols]: [usize; 2],
    filter: &Filter,
    border: Border,
) -> Vec<Estimate> {
    let image = Image { pixels, rows, cols };
    match filter.lines() {
        Some((across, down)) => separable(image, across, down, border),
        None => convolve(image, &filter.weights(), filter.radius(), border),
    }
}

/// Filters on a poisoned buffer.
fn filtered<P: tile33::catalogue::convolve::Pixel + Debug>(
    device: &Device,
    pixels: &[P],
    [rows, cols]: [usize; 2],
    filter: &Filter,
    border: Border,
) -> Vec<P> {
    let mut output = device.uninit(pixels.len()).unwrap();
    output.fill_bytes(POISON).unwrap();
    let image = device.upload(pixels).unwrap();
    device
        .convolve(&image, &mut output, rows, cols, filter, border)
        .unwrap();
    compare::identical(&image.to_vec().unwrap(), pixels).expect("the image is as it was");
    output.to_vec().unwrap()
}

fn first_wrong_byte(got: &[u8], expected: &[Estimate]) -> Option<String> {
    let index = got
        .iter()
        .zip(expected)
        .position(|(&got, expected)| !expected.admits_pixel(got))?;
    Some(format!("pixel {index} is {}, not {:?}", got[index], expected[index]))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn every_filter_is_right_on_every_image(
        (rows, cols) in (1usize..70, 1usize..100), radius in 0usize..12, is_separable: bool, border in 0usize..4, seed: u64,
    ) {
        let (sizes, border, side) = ([rows, cols], Border::ALL[border], 2 * radius + 1);
        let weights = f32::samples(!seed, side * side);
        let filter = |scale: f32| {
            let weights: Vec<f32> = weights.iter().map(|weight| scale * weight).collect();
            match is_separable {
                true => Filter::separable(&weights[..side], &weights[side * (side - 1)..]),
                false => Filter::square(&weights),
            }
            .unwrap()
        };
        let device = Device::emulator();
        let (pixels, plain) = (f32::samples(seed, rows * cols), filter(1.0));
        let got = filtered(&device, &pixels, sizes, &plain, border);
        prop_assert_eq!(first_outside(&got, &expected(&pixels, sizes, &plain, border)), None);
        // Of bytes, sums of which some saturate at either end.
        let (pixels, strong) = (u8::samples(seed, rows * cols), filter(0.7));
        let got = filtered(&device, &pixels, sizes, &strong, border);
        prop_assert_eq!(first_wrong_byte(&got, &expected(&pixels, sizes, &strong, border)), None);
    }
}

#[test]
fn filters_of_integers_are_exact() {
    let sizes @ [rows, cols] = [37, 52];
    for device in devices() {
        let bytes = u8::samples(5, rows * cols);
        let numbers: Vec<f32> = bytes.iter().map(|&byte| byte.into()).collect();
        for filter in [
            Filter::sobel_x(),
            Filter::sobel_y(),
            Filter::square(&[0.0, 1.0, 0.0, 1.0, -4.0, 1.0, 0.0, 1.0, 0.0]).unwrap(),
            Filter::separable(&[1.0; 9], &[1.0; 9]).unwrap(),
        ] {
            for border in Border::ALL {
                let exact: Vec<f64> = expected(&bytes, sizes, &filter, border)
                    .iter()
                    .map(|e| e.value)
                    .collect();
                let got = filtered(&device, &numbers, sizes, &filter, border);
                assert!(got.iter().map(|&number| f64::from(number)).eq(exact.iter().copied()));
                let got = filtered(&device, &bytes, sizes, &filter, border);
                assert!(got.iter().eq(&exact.iter().map(|&sum| sum as u8).collect::<Vec<u8>>()));
            }
        }
    }
}

#[test]
fn bytes_are_rounded_with_halves_to_even() {
    for device in devices() {
        let image: Vec<u8> = (0..=255).collect();
        let half = Filter::separable(&[0.0, 0.5, 0.0], &[0.0, 1.0, 0.0]).unwrap();
        let got = filtered(&device, &image, [16, 16], &half, Border::Zero);
        let even: Vec<u8> = image
            .iter()
            .map(|&byte| (f32::from(byte) / 2.0).round_ties_even() as u8)
            .collect();
        assert_eq!(got, even);
    }
}

#[test]
fn what_is_not_a_number_reaches_as_far_as_the_filter_and_no_further() {
    let sizes @ [rows, cols] = [40, 60];
    let place = 20 * cols + 31;
    for device in devices() {
        for (special, radii) in [(f32::NAN, [0, 1, 3, 9]), (f32::INFINITY, [2, 4, 5, 8])] {
            let mut pixels = vec![1.0f32; rows * cols];
            pixels[place] = special;
            for radius in radii {
                let side = 2 * radius + 1;
                for filter in [
                    Filter::box_blur(radius).unwrap(),
                    Filter::square(&vec![1.0; side * side]).unwrap(),
                ] {
                    let got = filtered(&device, &pixels, sizes, &filter, Border::Zero);
                    for (i, number) in got.iter().enumerate() {
                        let near = (i / cols).abs_diff(20) <= radius && (i % cols).abs_diff(31) <= radius;
                        assert_eq!(number.is_finite(), !near, "radius {radius}, pixel {i}");
                    }
                }
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_is_written() {
    for device in devices() {
        let image = device.upload(&[1u8; 12]).unwrap();
        let mut output = device.upload(&[7u8; 12]).unwrap();
        let mut short = device.upload(&[7u8; 11]).unwrap();
        let blur = Filter::box_blur(1).unwrap();
        let mut refused = |rows, cols| {
            let error = device.convolve(&image, &mut output, rows, cols, &blur, Border::Wrap);
            error.unwrap_err().to_string()
        };
        assert_eq!(refused(3, 5), "convolve: the image holds 12 elements, 15 are needed");
        assert_eq!(refused(0, 12), "convolve of no elements: rows holds none");
        assert_eq!(refused(12, 0), "convolve of no elements: columns holds none");
        assert!(refused(usize::MAX, 2).contains("at most 1073741824 are possible"));
        assert!(refused(1 << 30, 1 << 30).contains("1152921504606846976 are needed"));
        let error = device
            .convolve(&image, &mut short, 3, 4, &blur, Border::Wrap)
            .unwrap_err();
        assert!(matches!(
            error,
            CatalogueError::Length {
                what: "the filtered image",
                ..
            }
        ));
        assert_eq!(output.to_vec().unwrap(), [7; 12]);
        assert_eq!(short.to_vec().unwrap(), [7; 11]);
    }
}

#[test]
fn blocks_take_the_tiles_a_grid_s_height_below_their_own() {
    let sizes @ [rows, cols] = [150, 33];
    let kernels = Kernels::new(&Device::emulator());
    let device = kernels.device();
    let pixels = f32::samples(3, rows * cols);
    let image = device.upload(&pixels).unwrap();
    let filter = Filter::square(&f32::samples(4, 9)).unwrap();
    let lines = Filter::separable(&f32::samples(5, 3), &f32::samples(6, 3)).unwrap();
    let weights = device.upload(&filter.weights()).unwrap();
    let mut structure = [[0f32; 17]; 2];
    let (across, down) = lines.lines().unwrap();
    structure[0][..3].copy_from_slice(across);
    structure[1][..3].copy_from_slice(down);
    let structure = || tile33::host::Arg::structure(&structure);
    let config = |width: u32, height: u32| LaunchConfig::new((33u32.div_ceil(width), height), (32, 8));
    for height in [1, 2, 3] {
        let run = |name: &str, width, by_lines: bool| {
            let mut output = device.uninit::<f32>(rows * cols).unwrap();
            output.fill_bytes(POISON).unwrap();
            let kernel = kernels.kernel(name).unwrap();
            let filter = if by_lines { structure() } else { (&weights).into() };
            let arguments = args![&image, &mut output, rows as u32, cols as u32, 1u32, filter];
            // SAFETY: as the kernels ask, in a grid of fewer blocks than there are tiles.
            let run = unsafe { kernel.launch(&config(width, height), arguments) }.unwrap();
            assert!(run.report.unwrap().is_clean(), "{name}");
            output.to_vec().unwrap()
        };
        let square = expected(&pixels, sizes, &filter, Border::Clamp);
        for name in ["convolve_naive_r1_f32", "convolve_tiled_r1_f32"] {
            assert_eq!(first_outside(&run(name, 32, false), &square), None, "{name}");
        }
        let both = expected(&pixels, sizes, &lines, Border::Clamp);
        assert_eq!(first_outside(&run("convolve_fused_r1_f32", 128, true), &both), None);
        let one = [0.0, 1.0, 0.0];
        let by_rows = expected(&pixels, sizes, &Filter::separable(across, &one).unwrap(), Border::Clamp);
        assert_eq!(first_outside(&run("convolve_rows_r1_f32", 128, true), &by_rows), None);
        let by_columns = expected(&pixels, sizes, &Filter::separable(&one, down).unwrap(), Border::Clamp);
        for layout in ["", "_padded", "_swizzled"] {
            let name = format!("convolve_columns{layout}_r1_f32");
            assert_eq!(first_outside(&run(&name, 32, true), &by_columns), None, "{name}");
        }
    }
}

/// On a GPU only: an emulator has other things to do than 2 million rows.
#[test]
fn an_image_of_more_tiles_than_a_grid_has_blocks_is_filtered_to_its_end() {
    for device in devices().into_iter().filter(Device::is_cuda) {
        let (rows, cols) = (2_097_153, 4);
        let pixels = u8::samples(8, rows * cols);
        let got = filtered(
            &device,
            &pixels,
            [rows, cols],
            &Filter::box_blur(1).unwrap(),
            Border::Mirror,
        );
        let all = expected(&pixels, [rows, cols], &Filter::box_blur(1).unwrap(), Border::Mirror);
        assert_eq!(first_wrong_byte(&got, &all), None);
    }
}
