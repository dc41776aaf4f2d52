//! The corpus of compiled kernels (see its README): everything parses, everything runs with all checks on and without a
//! finding, and every result is that of a reference written here.

mod arithmetic;
mod control;
#[path = "../../crates/sim/tests/support/hash.rs"]
mod hash;
mod linear;
mod run;
mod shared;
mod tensor;
mod warps;

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use run::{Run, folder};
use tile33_sim::{Launch, LaunchError, Memory, Program};

/// A kernel's launch file, and what must hold of its run.
type Case = (&'static str, fn(&Run));

fn cases() -> Vec<Case> {
    [
        shared::CASES,
        warps::CASES,
        linear::CASES,
        tensor::CASES,
        control::CASES,
        arithmetic::CASES,
    ]
    .concat()
}

/// The files of a folder of the corpus with this extension, sorted.
fn files(below: &str, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder().join(below)).expect("the folder is there");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|found| found == extension));
    paths.sort();
    paths
}

#[test]
fn every_file_of_the_corpus_parses() {
    let files = files("ptx", "ptx");
    assert!(files.len() >= 30, "the corpus has shrunk to {} files", files.len());
    for path in files {
        let text = fs::read_to_string(&path).expect("it can be read");
        match tile33_ptx::parse(&text) {
            Ok(module) => assert!(module.kernels().count() > 0, "{} has no kernel", path.display()),
            Err(error) => panic!("{}: {error}", path.display()),
        }
    }
}

#[test]
fn no_file_of_the_corpus_names_a_folder_of_the_machine_it_was_made_on() {
    for path in files("ptx", "ptx") {
        let text = fs::read_to_string(&path).expect("it can be read");
        let module = tile33_ptx::parse(&text).expect("it parses");
        assert!(!module.files.is_empty(), "{} has no source lines", path.display());
        for file in module.files {
            assert!(!file.path.starts_with('/'), "{}: {}", path.display(), file.path);
        }
    }
}

#[test]
fn every_launch_file_has_a_reference_and_every_reference_a_launch_file() {
    let mut launches: Vec<String> = files("launch", "toml")
        .iter()
        .map(|path| path.file_stem().unwrap_or_default().to_string_lossy().into())
        .collect();
    let mut known: Vec<String> = cases().iter().map(|(name, _)| (*name).to_owned()).collect();
    launches.sort();
    known.sort();
    assert_eq!(launches, known);
}

/// Results that an H200 and the emulator have in common, by launch file and argument.
fn of_the_h200() -> BTreeMap<(String, usize), u64> {
    let text = fs::read_to_string(folder().join("h200.txt")).expect("`cargo xtask-gpu corpus --record` makes it");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let of_line = |line: &str| {
        let mut words = line.split(' ');
        let name = words.next()?.to_owned();
        let argument = words.next()?.parse().ok()?;
        Some(((name, argument), u64::from_str_radix(words.next()?, 16).ok()?))
    };
    lines
        .map(|line| of_line(line).unwrap_or_else(|| panic!("`{line}` is no name, argument and hash")))
        .collect()
}

/// Buffers whose last bits PTX leaves open: approximations, and sums of floating-point products in tensor cores.
const NOT_EXACT: [&str; 8] = [
    "doubles 2",
    "floats_fast 1",
    "floats_library 1",
    "kernels_nbody 1",
    "kernels_softmax 1",
    "triton_softmax 1",
    "wmma_bf16 2",
    "wmma_tf32 2",
];

#[test]
fn every_kernel_runs_without_a_finding_and_equals_its_reference_and_the_h200() {
    let mut failed = Vec::new();
    let on_card = of_the_h200();
    for (name, check) in cases() {
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let run = run::run(name);
            check(&run);
            for (argument, bytes) in run.buffers() {
                let recorded = on_card.get(&(name.to_owned(), argument));
                if NOT_EXACT.contains(&&*format!("{name} {argument}")) {
                    assert_eq!(recorded, None, "argument {argument} is exact after all");
                } else {
                    assert_eq!(
                        recorded,
                        Some(&hash::hash(bytes)),
                        "argument {argument} differs from the H200's"
                    );
                }
            }
        }));
        if outcome.is_err() {
            failed.push(name);
        }
    }
    assert!(failed.is_empty(), "{} kernels fail: {failed:?}", failed.len());
}

#[test]
fn an_instruction_that_the_emulator_does_not_have_ends_the_launch_with_its_name_and_line() {
    let text = fs::read_to_string(folder().join("ptx/triton_matmul.sm_90.ptx")).expect("it can be read");
    let program = Program::load(&text).expect("it parses");
    let mut memory = Memory::new();
    let matrix = memory.alloc(64 * 64 * 4).expect("there is memory");
    memory.fill(matrix, 0, 64 * 64 * 4).expect("it is there");
    let mut launch = Launch::new("triton_matmul", [1, 1, 1], [128, 1, 1]).dynamic_shared(16_384);
    launch = (0..3).fold(launch, |launch, _| launch.pointer(matrix));
    launch = (0..3).fold(launch, |launch, _| launch.arg(64i32));
    launch = (0..2).fold(launch, |launch, _| launch.pointer(matrix));
    match program.launch(&mut memory, &launch) {
        Err(LaunchError::Unsupported { instruction, line, .. }) => {
            assert!(instruction.starts_with("wgmma."), "{instruction}");
            assert!(
                text.lines()
                    .nth(line as usize - 1)
                    .is_some_and(|text| text.contains("wgmma.")),
                "line {line}"
            );
        }
        other => panic!("{other:?}"),
    }
}
