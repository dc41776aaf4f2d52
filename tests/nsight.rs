//! The emulator counts, for whole kernels, what Nsight Compute counted for the same launches on an H200.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde::Deserialize;
use serde_json::Value;

/// A line of `ground-truth/nsight-h200.jsonl`.
#[derive(Deserialize)]
struct Measured {
    kernel: String,
    size: String,
    launch: usize,
    shared_load: u64,
    shared_store: u64,
    global_load: u64,
    global_store: u64,
}

/// Kernels in which the assembler makes wider shared accesses of neighbouring ones, see the data's README.
const MERGED_BY_THE_ASSEMBLER: [&str; 6] = [
    "reduce_argmin_f64",
    "reduce_argmax_f64",
    "reduce_argmin_i64",
    "reduce_argmax_i64",
    "scan_work_efficient_f32",
    "scan_work_efficient_u32",
];

#[test]
fn whole_kernels_cost_on_the_emulator_what_an_h200_counted() {
    let lines = include_str!("ground-truth/nsight-h200.jsonl").lines();
    let measured: Vec<Measured> = lines
        .map(|line| serde_json::from_str(line).expect("a launch"))
        .collect();
    assert!(measured.len() >= 60);

    let runs: BTreeSet<(&str, &str)> = measured.iter().map(|m| (m.kernel.as_str(), m.size.as_str())).collect();
    let counted: BTreeMap<&str, Vec<Value>> = runs
        .into_iter()
        .map(|(kernel, size)| (kernel, launches(kernel, size)))
        .collect();
    for expected in &measured {
        let counters = &counted[expected.kernel.as_str()][expected.launch]["report"]["counters"];
        let count = |counter: &str, what: &str| counters[counter][what].as_u64().expect("a count");
        let name = format!("{} launch {}", expected.kernel, expected.launch);
        assert_eq!(
            count("global_load", "sectors"),
            expected.global_load,
            "sectors loaded by {name}"
        );
        assert_eq!(
            count("global_store", "sectors"),
            expected.global_store,
            "sectors stored by {name}"
        );
        let load = count("shared_load", "wavefronts");
        let store = count("shared_store", "wavefronts");
        if MERGED_BY_THE_ASSEMBLER.contains(&expected.kernel.as_str()) {
            assert!(
                load >= expected.shared_load && store >= expected.shared_store,
                "{name}: {load}, {store}"
            );
        } else {
            assert_eq!(load, expected.shared_load, "wavefronts of shared loads of {name}");
            assert_eq!(store, expected.shared_store, "wavefronts of shared stores of {name}");
        }
    }
}

/// The launches of `kernel` itself in `tile33 run kernel --size size`, as JSON.
fn launches(kernel: &str, size: &str) -> Vec<Value> {
    let output = Command::new(env!("CARGO_BIN_EXE_tile33"))
        .args(["run", kernel, "--size", size, "--backend", "emulator", "--json"])
        .output()
        .expect("tile33 starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // Kernels whose name begins like this one's run too, and a kernel may need others.
    let objects = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>();
    let run = objects
        .map(|object| object.expect("JSON"))
        .find(|object| object["kernel"] == kernel);
    let all = run.expect("the kernel ran")["launches"]
        .as_array()
        .expect("launches")
        .clone();
    all.into_iter().filter(|launch| launch["kernel"] == kernel).collect()
}
