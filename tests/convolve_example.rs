//! The example of convolutions as a user runs it: the table, pictures and arrays in and out, exit codes.

mod common;

use std::path::{Path, PathBuf};
use std::process::Output;

use common::words;
use image::{GrayImage, Luma, RgbImage};
use npyz::WriterBuilder;

fn run(args: &[&str]) -> Output {
    common::run_example("convolve", &[args, &["--backend", "emulator"]].concat())
}

/// Filters a file; what it wrote.
fn filtered(folder: &Path, image: &str, out: &str, further: &[&str]) -> PathBuf {
    let (from, to) = (folder.join(image), folder.join(out));
    let mut args = vec!["--image", from.to_str().unwrap(), "--out", to.to_str().unwrap()];
    args.extend(further);
    let output = run(&args);
    assert_eq!(output.status.code(), Some(0), "{}", words(&output.stderr));
    to
}

#[test]
fn the_table_shows_the_column_pass_lose_its_conflicts() {
    let folder = tempfile::tempdir().unwrap();
    // Whole tiles, so that every request has all of its lanes.
    GrayImage::from_fn(64, 56, |x, y| Luma([(3 * x + y) as u8]))
        .save(folder.path().join("in.png"))
        .unwrap();
    let image = folder.path().join("in.png");
    let output = run(&["--image", image.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", words(&output.stderr));
    let table = String::from_utf8(output.stdout).unwrap();
    let cells = |step: &str| -> Vec<String> {
        let line = table.lines().find(|line| line.starts_with(&format!("│ {step} ")));
        let line = line.unwrap_or_else(|| panic!("no row {step} in\n{table}"));
        line.split(['│', '┆']).map(|cell| cell.trim().to_owned()).collect()
    };
    for (step, wavefronts) in [
        ("separable", "32"),
        ("separable_padded", "4"),
        ("separable_swizzled", "4"),
    ] {
        let cells = cells(step);
        assert_eq!(cells[2], "yes", "{table}");
        assert_eq!(cells[3..5], [wavefronts, wavefronts], "{table}");
    }
}

#[test]
fn a_blur_keeps_what_is_flat_and_every_colour_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    RgbImage::from_pixel(37, 21, [200, 7, 90].into())
        .save(folder.path().join("flat.png"))
        .unwrap();
    for filter in ["gaussian", "box"] {
        let further = ["--filter", filter, "--radius", "2"];
        let blurred = image::open(filtered(folder.path(), "flat.png", "out.png", &further)).unwrap();
        assert_eq!(
            blurred.to_rgb8(),
            RgbImage::from_pixel(37, 21, [200, 7, 90].into()),
            "{filter}"
        );
    }
}

#[test]
fn a_picture_is_repeated_or_cut_off_to_the_size_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let grey = |x: u32, y: u32| Luma([(40 * (x % 3) + 5 * (y % 4)) as u8]);
    GrayImage::from_fn(3, 4, grey)
        .save(folder.path().join("small.png"))
        .unwrap();
    // A box of radius 0 changes nothing.
    let further = ["--filter", "box", "--radius", "0", "--width", "7", "--height", "3"];
    let out = image::open(filtered(folder.path(), "small.png", "out.png", &further)).unwrap();
    assert_eq!(out.to_luma8(), GrayImage::from_fn(7, 3, grey));
}

#[test]
fn sobel_finds_an_edge_and_says_in_which_direction() {
    let folder = tempfile::tempdir().unwrap();
    // Dark to the left, light to the right of column 10.
    GrayImage::from_fn(20, 12, |x, _| Luma([if x < 10 { 0 } else { 40 }]))
        .save(folder.path().join("step.png"))
        .unwrap();
    let at = |filter: &str, x: u32| {
        let out = filtered(folder.path(), "step.png", "out.png", &["--filter", filter]);
        image::open(out).unwrap().to_luma8().get_pixel(x, 6).0[0]
    };
    // (1 + 2 + 1) * 40 on both sides of the edge.
    assert_eq!(
        ["sobel", "sobel-x", "sobel-y"].map(|filter| at(filter, 9)),
        [160, 128 + 20, 128]
    );
    assert_eq!(
        ["sobel", "sobel-x", "sobel-y"].map(|filter| at(filter, 5)),
        [0, 128, 128]
    );
}

#[test]
fn arrays_are_filtered_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let numbers: Vec<f64> = (0..15).map(|i| f64::from(i) * 1000.0).collect();
    let mut file = std::fs::File::create(folder.path().join("in.npy")).unwrap();
    let options = npyz::WriteOptions::new().default_dtype().shape(&[3, 5]);
    let mut writer = options.writer(&mut file).begin_nd().unwrap();
    writer.extend(&numbers).unwrap();
    writer.finish().unwrap();
    let further = ["--filter", "sobel-x", "--border", "wrap"];
    let out = filtered(folder.path(), "in.npy", "out.npy", &further);
    let out = npyz::NpyFile::new(std::fs::File::open(out).unwrap()).unwrap();
    assert_eq!(out.shape(), [3, 5]);
    // Columns are 1000 apart, and the first and the last are 4000 apart the other way round.
    let row = [-12_000.0, 8000.0, 8000.0, 8000.0, -12_000.0];
    assert_eq!(out.into_vec::<f32>().unwrap(), row.repeat(3));
}

#[test]
fn what_cannot_be_filtered_is_an_error_with_exit_code_2() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("text.png"), "no picture").unwrap();
    GrayImage::new(4, 4).save(path("black.png")).unwrap();
    for (args, message) in [
        (vec!["--image", &path("missing.png")], "cannot read"),
        (vec!["--image", &path("text.png")], "as a picture"),
        (
            vec![
                "--image",
                &path("black.png"),
                "--radius",
                "9999",
                "--out",
                &path("out.png"),
            ],
            "at most 1024 is possible",
        ),
        (
            vec!["--image", &path("black.png"), "--sigma", "0", "--out", &path("out.png")],
            "standard deviation 0",
        ),
    ] {
        let output = run(&args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(
            words(&output.stderr).contains(message),
            "{args:?}: {}",
            words(&output.stderr)
        );
    }
}
