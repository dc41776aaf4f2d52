//! The example as a user runs it: exit codes, the table, files in and out.

mod common;

use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};
use std::process::Output;

use image::{DynamicImage, GrayImage, ImageBuffer, Luma, RgbImage, RgbaImage};
use npyz::{NpyFile, Order, WriterBuilder};
use tile33::Device;

fn run(args: &[&str]) -> Output {
    common::run_example("transpose", args)
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    common::words(&output.stderr)
}

/// The cells of a variant's row.
fn row(table: &str, variant: &str) -> Vec<String> {
    let line = table
        .lines()
        .find(|line| line.trim_start_matches(['│', ' ']).starts_with(variant));
    let line = line.unwrap_or_else(|| panic!("no row {variant} in\n{table}"));
    line.split(['│', '┆'])
        .map(str::trim)
        .filter(|cell| !cell.is_empty())
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_table_shows_32_wavefronts_a_load_for_tiled_and_1_for_padded_and_swizzled() {
    let output = run(&["--rows", "100", "--cols", "77", "--backend", "emulator"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let table = stdout(&output);
    for (variant, load) in [
        ("tiled", "32"),
        ("padded", "1"),
        ("swizzled", "1"),
        ("dynamic", "1"),
        ("vectorized", "4"),
        ("copy", "-"),
    ] {
        let cells = row(&table, variant);
        assert_eq!((cells[1].as_str(), cells[2].as_str()), ("yes", load), "{table}");
    }
}

#[test]
fn variants_can_be_chosen_and_unknown_ones_are_listed() {
    let output = run(&[
        "--rows",
        "40",
        "--cols",
        "40",
        "--variant",
        "naive,padded",
        "--backend",
        "emulator",
    ]);
    assert_eq!(output.status.code(), Some(0));
    assert!(stdout(&output).contains("naive") && !stdout(&output).contains("swizzled"));
    let output = run(&["--variant", "pedded"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("there is copy, naive, tiled, padded, swizzled, dynamic, vectorized"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn every_element_type_can_be_generated() {
    for element in ["f32", "f64", "u16", "u8", "u128"] {
        let output = run(&[
            "--rows",
            "33",
            "--cols",
            "65",
            "--element",
            element,
            "--backend",
            "emulator",
        ]);
        assert_eq!(output.status.code(), Some(0), "{element}: {}", stderr(&output));
    }
}

#[test]
fn asking_for_cuda_without_a_device_is_an_error_with_exit_code_2() {
    let output = run(&["--rows", "64", "--cols", "64", "--backend", "cuda"]);
    if Device::cuda(0).is_ok() {
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        return;
    }
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("needs a CUDA device"), "{}", stderr(&output));
    assert!(stderr(&output).contains("no CUDA device: "), "{}", stderr(&output));
}

#[test]
fn sizes_of_zero_or_beyond_memory_are_errors_with_exit_code_2() {
    for (rows, cols) in [
        ("0", "5"),
        ("5", "0"),
        ("18446744073709551615", "2"),
        ("4294967296", "1"),
    ] {
        let output = run(&["--rows", rows, "--cols", cols, "--backend", "emulator"]);
        assert_eq!(output.status.code(), Some(2), "{rows} x {cols}: {}", stderr(&output));
        assert!(
            stderr(&output).contains("at least 1 and at most 4294967295"),
            "{}",
            stderr(&output)
        );
    }
}

#[test]
fn a_kernel_that_writes_nothing_is_wrong_with_exit_code_1() {
    let folder = tempfile::tempdir().unwrap();
    let idle = folder.path().join("idle.ptx");
    let parameters = ".param .u64 x, .param .u64 y, .param .u32 rows, .param .u32 cols";
    let text = format!(
        ".version 6.4\n.target sm_75\n.address_size 64\n.visible .entry transpose_padded_f32({parameters})\n{{\n\tret;\n}}\n"
    );
    std::fs::write(&idle, text).unwrap();
    let against = idle.to_str().unwrap();
    let output = run(&[
        "--rows",
        "40",
        "--cols",
        "50",
        "--backend",
        "emulator",
        "--against",
        against,
    ]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let table = stdout(&output);
    assert!(
        table.contains("element 0 (row 0, column 0) is") && table.contains("2000 of 2000 elements differ"),
        "{table}"
    );
}

/// Transposes a file and says where the result is.
fn transpose_file(folder: &Path, input: &str, output: &str) -> PathBuf {
    let (from, to) = (folder.join(input), folder.join(output));
    let (from, to_text) = (from.to_str().unwrap(), to.to_str().unwrap());
    let output = run(&[
        "--input",
        from,
        "--output",
        to_text,
        "--variant",
        "padded",
        "--backend",
        "emulator",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    to
}

#[test]
fn pictures_come_back_transposed_with_the_same_pixels() {
    let folder = tempfile::tempdir().unwrap();
    let save = |picture: &DynamicImage, name: &str| picture.save(folder.path().join(name)).unwrap();
    let (width, height) = (37, 21);
    let rgb = RgbImage::from_fn(width, height, |x, y| [x as u8, y as u8, (x * y) as u8].into());
    let rgba = RgbaImage::from_fn(width, height, |x, y| [x as u8, y as u8, 7, (x + y) as u8].into());
    let grey = GrayImage::from_fn(width, height, |x, y| Luma([(x * 5 + y) as u8]));
    let grey16: ImageBuffer<Luma<u16>, _> = ImageBuffer::from_fn(width, height, |x, y| Luma([(x * 1000 + y) as u16]));
    let rgb16 = ImageBuffer::from_fn(width, height, |x, y| {
        image::Rgb([(x * 999) as u16, (y * 777) as u16, 65_535])
    });
    let pictures = [
        rgb.into(),
        rgba.into(),
        grey.into(),
        grey16.into(),
        DynamicImage::ImageRgb16(rgb16),
    ];
    for (index, picture) in pictures.iter().enumerate() {
        save(picture, &format!("{index}.png"));
        let transposed = transpose_file(folder.path(), &format!("{index}.png"), &format!("{index}.out.png"));
        let transposed = image::open(transposed).unwrap();
        assert_eq!(transposed.color(), picture.color());
        // A transpose is a quarter turn and a mirroring.
        assert_eq!(transposed, picture.rotate90().fliph());
    }
}

#[test]
fn jpeg_is_read_and_written() {
    let folder = tempfile::tempdir().unwrap();
    RgbImage::from_fn(40, 24, |x, _| [(x * 6) as u8, 128, 200].into())
        .save(folder.path().join("in.jpg"))
        .unwrap();
    let transposed = image::open(transpose_file(folder.path(), "in.jpg", "out.jpeg")).unwrap();
    assert_eq!((transposed.width(), transposed.height()), (24, 40));
    // The gradient now runs down.
    let red = |y| i32::from(transposed.to_rgb8().get_pixel(12, y)[0]);
    assert!(red(38) - red(1) > 150, "{} {}", red(1), red(38));
}

fn write_npy(path: &Path, shape: &[u64], order: Order, elements: &[f64]) {
    let mut file = BufWriter::new(File::create(path).unwrap());
    let options = npyz::WriteOptions::new().default_dtype().shape(shape).order(order);
    let mut writer = options.writer(&mut file).begin_nd().unwrap();
    writer.extend(elements).unwrap();
    writer.finish().unwrap();
}

#[test]
fn numpy_matrices_of_either_order_come_back_transposed() {
    let folder = tempfile::tempdir().unwrap();
    let (rows, cols) = (3u64, 5u64);
    let value = |row: u64, col: u64| (10 * row + col) as f64;
    let by_rows: Vec<f64> = (0..15).map(|i| value(i / cols, i % cols)).collect();
    let by_columns: Vec<f64> = (0..15).map(|i| value(i % rows, i / rows)).collect();
    write_npy(&folder.path().join("c.npy"), &[rows, cols], Order::C, &by_rows);
    write_npy(&folder.path().join("f.npy"), &[rows, cols], Order::Fortran, &by_columns);
    for input in ["c.npy", "f.npy"] {
        let path = transpose_file(folder.path(), input, "out.npy");
        let transposed = NpyFile::new(BufReader::new(File::open(path).unwrap())).unwrap();
        assert_eq!((transposed.shape(), transposed.order()), (&[cols, rows][..], Order::C));
        assert_eq!(transposed.into_vec::<f64>().unwrap(), by_columns);
    }
}

#[test]
fn files_that_cannot_be_transposed_are_errors_with_exit_code_2() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("text.png"), "no picture").unwrap();
    std::fs::write(path("text.npy"), "no matrix").unwrap();
    write_npy(Path::new(&path("cube.npy")), &[2, 2, 2], Order::C, &[0.0; 8]);
    for (name, message) in [
        ("missing.png", "cannot read"),
        ("text.png", "as a picture"),
        ("text.npy", "cannot read"),
        ("cube.npy", "shape [2, 2, 2]"),
    ] {
        let output = run(&["--input", &path(name), "--backend", "emulator"]);
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(stderr(&output).contains(message), "{name}: {}", stderr(&output));
    }
    let output = run(&[
        "--rows",
        "4",
        "--cols",
        "4",
        "--backend",
        "emulator",
        "--output",
        &path("numbers.png"),
    ]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains(".npy"), "{}", stderr(&output));
}
