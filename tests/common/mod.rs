//! What the tests of the kernels share.

// Each test is a program of its own and uses its part of this.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;

use tile33::Device;

/// The emulator with all checks, and the first CUDA device where there is one. Says so where there is none.
pub(crate) fn devices() -> Vec<Device> {
    let mut devices = vec![Device::emulator()];
    match Device::cuda(0) {
        Ok(device) => devices.push(device),
        Err(reason) => println!("skipped on CUDA: {reason}"),
    }
    devices
}

/// `count` bit patterns that repeat nothing for a long time. The first are those that arithmetic would not leave alone:
/// NaNs with a payload, infinities, subnormals and -0.0, of `f32` and of `f64`.
pub(crate) fn bits(count: usize) -> impl Iterator<Item = u64> {
    const SPECIAL: [u64; 8] = [
        0x7fc0_1234_ffa0_0001,
        0x7ff8_0000_0000_beef,
        0x7ff0_0000_7f80_0000,
        0xfff0_0000_ff80_0000,
        0x8000_0000_8000_0000,
        0x0000_0000_0000_0001,
        0x000f_ffff_007f_ffff,
        0x7ff0_0000_0000_0001,
    ];
    let mixed = |i: usize| (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    (0..count).map(move |i| SPECIAL.get(i).copied().unwrap_or_else(|| mixed(i)))
}

/// Runs an example.
pub(crate) fn run_example(name: &'static str, args: &[&str]) -> Output {
    static BINARIES: Mutex<BTreeMap<&str, PathBuf>> = Mutex::new(BTreeMap::new());
    let binary = BINARIES
        .lock()
        .unwrap()
        .entry(name)
        .or_insert_with(|| example(name))
        .clone();
    Command::new(binary).args(args).output().unwrap()
}

/// What a program printed, with its white space made alike: reports are wrapped to the terminal's width.
pub(crate) fn words(printed: &[u8]) -> String {
    let text = String::from_utf8(printed.to_vec()).unwrap();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// An example's binary. `cargo test` builds it; asked for one test alone it does not, so ask cargo.
fn example(name: &str) -> PathBuf {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--example", name]);
    if !cfg!(debug_assertions) {
        cargo.arg("--release");
    }
    cargo.current_dir(env!("CARGO_MANIFEST_DIR"));
    assert!(cargo.status().unwrap().success());
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(Path::parent).unwrap();
    let binary = profile.join("examples").join(name);
    binary.with_extension(std::env::consts::EXE_EXTENSION)
}
