//! The emulator counts, for whole kernels, what Nsight Compute counted for the same launches on an H200.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde::Deserialize;
use serde_json::Value;

/// A line of `ground-truth/nsight-h200.jsonl`.
#[derive(Deserialize)]
struct Measured {
    run: String,
    kernel: String,
    size: String,
    launch: usize,
    shared_load: u64,
    shared_store: u64,
    global_load: u64,
    global_store: u64,
}

/// Kernels in which the assembler makes fewer or wider shared accesses of neighbouring ones, see the data's README.
const MERGED_BY_THE_ASSEMBLER: [&str; 6] = [
    "convolve_rows_",
    "convolve_tiled_r1_",
    "histogram_per_warp_u8",
    "matmul_tiled_f32",
    "reduce_arg",
    "scan_work_efficient_",
];

/// The kernel of which an H200 runs a warp's lanes in more parts than the emulator, see the data's README.
const DIVIDED_BY_THE_CARD: &str = "carve_out_carved_f32";

#[test]
fn whole_kernels_cost_on_the_emulator_what_an_h200_counted() {
    let lines = include_str!("ground-truth/nsight-h200.jsonl").lines();
    let measured: Vec<Measured> = lines
        .map(|line| serde_json::from_str(line).expect("a launch"))
        .collect();
    assert!(measured.len() >= 250);

    let runs: BTreeSet<(&str, &str)> = measured.iter().map(|m| (m.run.as_str(), m.size.as_str())).collect();
    let counted: BTreeMap<_, _> = runs.into_iter().map(|run| (run, launches(run))).collect();
    let mut exact = 0;
    for expected in &measured {
        let run = &counted[&(expected.run.as_str(), expected.size.as_str())];
        let report = &run[&expected.kernel][expected.launch]["report"];
        let count = |counter: &str, what: &str| report["counters"][counter][what].as_u64().expect("a count");
        let ours = [
            count("shared_load", "wavefronts"),
            count("shared_store", "wavefronts"),
            count("global_load", "sectors"),
            count("global_store", "sectors"),
        ];
        let theirs = [
            expected.shared_load,
            expected.shared_store,
            expected.global_load,
            expected.global_store,
        ];
        let name = format!(
            "{} of {}, launch {}: shared wavefronts loaded and stored, global sectors loaded and stored",
            expected.kernel, expected.size, expected.launch
        );
        let merged = MERGED_BY_THE_ASSEMBLER
            .iter()
            .any(|begin| expected.kernel.starts_with(begin) && !expected.kernel.contains("skewed"));
        if merged {
            assert!(
                ours[0] >= theirs[0] && ours[1] >= theirs[1],
                "{name}: {ours:?} {theirs:?}"
            );
            assert_eq!(ours[2..], theirs[2..], "{name}");
        } else if expected.kernel == DIVIDED_BY_THE_CARD {
            let within = |(ours, theirs): (&u64, &u64)| ours <= theirs && theirs - ours <= theirs / 50;
            assert!(ours.iter().zip(&theirs).all(within), "{name}: {ours:?} {theirs:?}");
        } else {
            assert_eq!(ours, theirs, "{name}");
            exact += 1;
        }
    }
    assert!(exact >= 200, "only {exact} launches are held to equality");
}

/// The launches of `tile33 run NAME --size SIZE`, as JSON, by kernel in their order.
fn launches((name, size): (&str, &str)) -> BTreeMap<String, Vec<Value>> {
    let output = Command::new(env!("CARGO_BIN_EXE_tile33"))
        .args(["run", name, "--size", size, "--backend", "emulator", "--json"])
        .output()
        .expect("tile33 starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut launches = BTreeMap::<String, Vec<Value>>::new();
    for object in serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>() {
        let object = object.expect("JSON");
        for launch in object["launches"].as_array().expect("launches") {
            let kernel = launch["kernel"].as_str().expect("a name").to_owned();
            launches.entry(kernel).or_default().push(launch.clone());
        }
    }
    launches
}
