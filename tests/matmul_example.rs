//! The example of matrix products as a user runs it: the tables, arrays in and out, exit codes.

mod common;

use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::Path;
use std::process::Output;

use common::words;
use npyz::{NpyFile, Order, WriterBuilder};

fn run(args: &[&str]) -> Output {
    common::run_example("matmul", &[args, &["--backend", "emulator"]].concat())
}

/// A matrix as a file, in this order of its elements.
fn write(path: &Path, shape: [u64; 2], order: Order, elements: &[f64]) {
    let mut file = BufWriter::new(File::create(path).unwrap());
    let options = npyz::WriteOptions::new().default_dtype().order(order).shape(&shape);
    let mut writer = options.writer(&mut file).begin_nd().unwrap();
    writer.extend(elements).unwrap();
    writer.finish().unwrap();
}

/// The product of two files, as the example writes it.
fn product(folder: &Path, element: &str) -> (Vec<u64>, Vec<f32>) {
    let [a, b, c] = ["a.npy", "b.npy", "c.npy"].map(|name| folder.join(name).to_str().unwrap().to_owned());
    let output = run(&["--a", &a, "--b", &b, "--output", &c, "--element", element]);
    assert_eq!(output.status.code(), Some(0), "{}", words(&output.stderr));
    let file = NpyFile::new(BufReader::new(File::open(c).unwrap())).unwrap();
    let shape = file.shape().to_vec();
    (shape, file.into_vec().unwrap())
}

#[test]
fn arrays_of_either_order_are_multiplied_and_the_product_written() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = ["a.npy", "b.npy"].map(|name| folder.path().join(name));
    let expected = (vec![2, 2], vec![4.0, 5.0, 10.0, 11.0]);
    write(&a, [2, 3], Order::C, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    write(&b, [3, 2], Order::C, &[1.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
    assert_eq!(product(folder.path(), "f32"), expected);
    // The same matrices, their columns one after the other.
    write(&a, [2, 3], Order::Fortran, &[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    assert_eq!(product(folder.path(), "f16"), expected);
    write(&b, [3, 2], Order::Fortran, &[1.0, 0.0, 1.0, 0.0, 1.0, 1.0]);
    assert_eq!(product(folder.path(), "f32"), expected);
}

#[test]
fn the_tables_show_what_a_transposed_operand_costs_the_plain_tile() {
    let output = run(&["--m", "64", "--n", "32"]);
    assert_eq!(output.status.code(), Some(0), "{}", words(&output.stderr));
    let tables = String::from_utf8(output.stdout).unwrap();
    let cells = |step: &str| -> Vec<Vec<String>> {
        let lines = tables.lines().filter(|line| line.starts_with(&format!("│ {step} ")));
        let cells = |line: &str| line.split(['│', '┆']).map(|cell| cell.trim().to_owned()).collect();
        lines.map(cells).collect()
    };
    // A row is 1 wavefront, a column of the plain tile 32; half of the stores are of A's tile.
    for (step, stores) in [("tiled", ["1", "16.50"]), ("tiled_padded", ["1", "1"])] {
        let both = cells(step);
        assert_eq!(both.len(), 2, "{tables}");
        for (cells, wavefronts) in both.iter().zip(stores) {
            assert_eq!((&*cells[2], &*cells[4]), ("yes", wavefronts), "{tables}");
        }
    }
}

#[test]
fn what_cannot_be_multiplied_is_an_error_with_exit_code_2() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = ["a.npy", "b.npy"].map(|name| folder.path().join(name));
    let (a, b) = (a.to_str().unwrap(), b.to_str().unwrap());
    write(Path::new(a), [2, 3], Order::C, &[0.0; 6]);
    write(Path::new(b), [2, 3], Order::C, &[0.0; 6]);
    for (args, message) in [
        (["--a", a, "--b", b], "A is 2 x 3, B is 2 x 3"),
        (["--a", a, "--b", "missing.npy"], "cannot read missing.npy"),
        (["--m", "0", "--n", "5"], "m, n and k are at least 1"),
        (["--m", "5", "--b", b], "cannot be used with"),
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
