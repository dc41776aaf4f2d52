//! The examples as a user runs them, with NumPy arrays of their own: what they print is about these numbers. And the
//! mistakes, each with what the emulator finds.

mod common;

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use common::{run_example, words};
use npyz::{AutoSerialize, NpyFile, Order, WriterBuilder};

fn write<T: AutoSerialize + Copy>(path: &Path, shape: &[u64], order: Order, elements: &[T]) {
    let mut file = BufWriter::new(File::create(path).unwrap());
    let options = npyz::WriteOptions::new().default_dtype().shape(shape).order(order);
    let mut writer = options.writer(&mut file).begin_nd().unwrap();
    writer.extend(elements.iter().copied()).unwrap();
    writer.finish().unwrap();
}

/// Runs an example on a file of these numbers; what it prints.
#[track_caller]
fn with_input<T: AutoSerialize + Copy>(
    example: &'static str,
    shape: &[u64],
    elements: &[T],
    further: &[&str],
) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.npy");
    write(&path, shape, Order::C, elements);
    let args = [&["--input", path.to_str().unwrap(), "--backend", "emulator"], further].concat();
    let output = run_example(example, &args);
    assert_eq!(output.status.code(), Some(0), "{}", words(&output.stderr));
    words(&output.stdout)
}

#[test]
fn numbers_of_an_array_are_added_up() {
    let mut numbers = vec![0.5f32; 1000];
    numbers[700] = -3.0;
    numbers[900] = 8.0;
    let printed = with_input("reduce", &[1000], &numbers, &[]);
    assert!(printed.contains("1000 numbers of 32 bits"), "{printed}");
    assert!(
        printed.contains("sum 504, with the rounding errors 504; smallest -3 at 700, largest 8 at 900"),
        "{printed}"
    );
    // Of any type and shape.
    let printed = with_input("reduce", &[3, 2], &[1i16, 2, 3, 4, 5, -6], &[]);
    assert!(
        printed.contains("6 numbers of 32 bits") && printed.contains("sum 9,"),
        "{printed}"
    );
    assert!(printed.contains("smallest -6 at 5, largest 5 at 4"), "{printed}");
}

#[test]
fn prefix_sums_of_an_array_are_written_to_one() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out.npy");
    let numbers: Vec<u8> = (0..5000u32).map(|i| (i % 7) as u8).collect();
    with_input("scan", &[5000], &numbers, &["--output", output.to_str().unwrap()]);
    let sums: Vec<f32> = NpyFile::new(File::open(output).unwrap()).unwrap().into_vec().unwrap();
    let mut sum = 0.0;
    let expected: Vec<f32> = numbers
        .iter()
        .map(|&number| {
            sum += f32::from(number);
            sum
        })
        .collect();
    assert_eq!(sums, expected);
}

#[test]
fn greys_of_an_array_are_counted() {
    let greys: Vec<u8> = (0..600).map(|i| if i % 3 == 0 { 200 } else { 10 }).collect();
    let printed = with_input("histogram", &[20, 30], &greys, &[]);
    assert!(printed.contains("30 x 20 pixels"), "{printed}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.npy");
    write(&path, &[2], Order::C, &[3.0f32, 256.0]);
    let refused = run_example("histogram", &["--input", path.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        words(&refused.stderr).contains("whole numbers from 0 to 255"),
        "{}",
        words(&refused.stderr)
    );
}

#[test]
fn rows_of_an_array_are_centred_and_its_nans_are_gaps() {
    let mut numbers: Vec<f64> = (0..35).map(f64::from).collect();
    numbers[8] = f64::NAN;
    let printed = with_input("carve_out", &[5, 7], &numbers, &[]);
    assert!(
        printed.contains("5 x 7 numbers") && printed.contains("a row of 7"),
        "{printed}"
    );
    // 2048 bytes, 7 more, a gap of 1, 1024 and 28.
    assert!(printed.contains("3108 bytes"), "{printed}");
}

#[test]
fn a_row_that_shared_memory_has_no_room_for_is_told_with_both_numbers_and_streamed() {
    let output = run_example(
        "carve_out",
        &["--rows", "1", "--columns", "45876", "--backend", "emulator"],
    );
    assert_eq!(output.status.code(), Some(0), "{}", words(&output.stderr));
    let printed = words(&output.stdout);
    assert!(
        printed.contains("asks for 232452 bytes") && printed.contains("at most 232448"),
        "{printed}"
    );
    assert!(
        printed.contains("streamed ┆ yes") && !printed.contains("carved ┆"),
        "{printed}"
    );
}

#[test]
fn arrays_that_cannot_be_read_are_errors_with_exit_code_2() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("text.npy"), "no array").unwrap();
    write(Path::new(&path("fortran.npy")), &[2, 3], Order::Fortran, &[1.0f32; 6]);
    write(Path::new(&path("wide.npy")), &[2], Order::C, &[1u64, 2]);
    write(Path::new(&path("none.npy")), &[0], Order::C, &[0.0f32; 0]);
    for example in ["reduce", "scan", "carve_out"] {
        for (name, message) in [
            ("missing.npy", "cannot read"),
            ("text.npy", "cannot read"),
            ("fortran.npy", "Fortran order"),
            ("wide.npy", "elements of type `u8`"),
            ("none.npy", "no elements"),
        ] {
            let output = run_example(example, &["--input", &path(name), "--backend", "emulator"]);
            assert_eq!(output.status.code(), Some(2), "{example} of {name}");
            let error = words(&output.stderr);
            assert!(error.contains(message), "{example} of {name}: {error}");
        }
    }
}

#[test]
fn every_mistake_has_its_finding_and_no_cure_has_one() {
    let output = run_example("broken", &[]);
    let printed = words(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{printed}");
    for (kernel, found) in [
        ("edge_tile", "out-of-bounds"),
        ("reverse", "out-of-bounds"),
        ("carve", "misaligned"),
        ("tile_loop", "race"),
        ("early_return", "divergent-barrier"),
        ("warp_sum", "race"),
        ("tail", "uninitialized-shared"),
        ("stencil_origin", "nothing, but 304 results are wrong"),
        ("stencil_halo", "uninitialized-shared"),
        ("pairs", "misaligned"),
    ] {
        let told = printed.split_once(&format!("{kernel}: ")).unwrap().1;
        let told = told.split_once("found ").unwrap().1;
        assert!(told.starts_with(found), "{kernel}: {told}");
    }
    assert_eq!(printed.matches(": nothing found").count(), 10, "{printed}");
}

#[test]
fn one_mistake_is_shown_with_both_lines_of_its_source() {
    let output = run_example("broken", &["tile_loop"]);
    let printed = words(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{printed}");
    assert!(printed.contains("sum += tile.read(t ^ 32);"), "{printed}");
    assert!(
        printed.contains("tile.write(t, *x.add((row * THREADS + t) as usize));"),
        "{printed}"
    );
    let unknown = run_example("broken", &["tile_lop"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(words(&unknown.stderr).contains("there is edge_tile, reverse"));
}
