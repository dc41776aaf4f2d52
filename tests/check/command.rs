//! The command: its exit code, its JSON, its text.

use std::process::Output;
use std::thread;

use serde_json::Value;

use crate::folder::{Folder, REVERSE};

fn racy() -> String {
    REVERSE.replace("entry = \"reverse\"", "entry = \"reverse_racy\"")
}

fn text(output: &Output) -> (Option<i32>, String, String) {
    let utf8 = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), utf8(&output.stdout), utf8(&output.stderr))
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).expect("one JSON object and nothing else")
}

#[test]
fn a_clean_kernel_exits_with_0_and_its_dump_holds_the_result() {
    let folder = Folder::new();
    let (code, out, err) = text(&folder.check(REVERSE, &[]));
    assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
    assert!(out.contains("reverse: nothing found"), "{out}");
    let dump = std::fs::read(folder.path("out.npy")).expect("it is dumped");
    let elements: Vec<f32> = npyz::NpyFile::new(&dump[..])
        .and_then(npyz::NpyFile::into_vec)
        .expect("it is a .npy of f32");
    assert_eq!(elements, (0..64u8).rev().map(f32::from).collect::<Vec<_>>());
}

#[test]
fn the_json_has_the_documented_fields_and_the_exact_counts() {
    let folder = Folder::new();
    let output = folder.check(REVERSE, &["--json"]);
    assert_eq!(output.status.code(), Some(0));
    let report = json(&output);
    assert_eq!(report["entry"], "reverse");
    assert_eq!(report["findings"], serde_json::json!([]));
    let counters = &report["counters"];
    let shared = serde_json::json!({"requests": 2, "wavefronts": 2, "ideal": 2});
    let none = serde_json::json!({"requests": 0, "wavefronts": 0, "ideal": 0});
    let global = serde_json::json!({"requests": 2, "sectors": 8, "ideal_sectors": 8});
    assert_eq!(
        [&counters["shared_load"], &counters["shared_store"]],
        [&shared, &shared]
    );
    assert_eq!(counters["shared_atomic"], none);
    assert_eq!(
        [&counters["global_load"], &counters["global_store"]],
        [&global, &global]
    );
    assert_eq!(counters["barriers"], 1);
    let (instructions, lanes) = (
        counters["instructions"].as_u64(),
        counters["lane_instructions"].as_u64(),
    );
    let each = report["per_instruction"].as_array().expect("a list");
    let sum = |field: &str| each.iter().map(|i| i[field].as_u64().unwrap_or(0)).sum::<u64>();
    assert_eq!(
        (instructions, lanes),
        (Some(sum("instructions")), Some(sum("lane_instructions")))
    );
    let load = each
        .iter()
        .find(|i| i["shared_load"]["requests"] == 2)
        .expect("the shared load");
    assert_eq!(
        (load["line"].as_u64(), load["source"]["line"].as_u64()),
        (Some(59), Some(7))
    );
    assert_eq!(load["source"]["file"], "reverse.cu");
}

#[test]
fn a_race_exits_with_1_and_names_both_threads_and_lines() {
    let folder = Folder::new();
    let output = folder.check(&racy(), &["--json", "--checks=races"]);
    assert_eq!(output.status.code(), Some(1));
    let report = json(&output);
    let findings = report["findings"].as_array().expect("a list");
    assert_eq!(
        findings.len(),
        1,
        "once for the pair of instructions, not once for each lane"
    );
    let race = &findings[0];
    assert_eq!(race["kind"], "race");
    for field in ["message", "instruction", "line", "block", "thread", "address"] {
        assert!(!race[field].is_null(), "{field} is missing");
    }
    assert!(
        race["address"]
            .as_str()
            .is_some_and(|address| address.starts_with("tile+")),
        "{race}"
    );
    let (this, other) = (race["thread"][0].as_u64(), race["other"]["thread"][0].as_u64());
    assert_eq!(
        this.zip(other).map(|(this, other)| this + other),
        Some(63),
        "the two threads of one element"
    );
    let mut instructions = [race["instruction"].as_str(), race["other"]["instruction"].as_str()].map(Option::unwrap);
    instructions.sort_unstable();
    assert!(instructions[0].starts_with("ld.shared.f32") && instructions[1].starts_with("st.shared.f32"));
    let mut lines = [
        race["source"]["line"].as_u64(),
        race["other"]["source"]["line"].as_u64(),
    ];
    lines.sort_unstable();
    assert_eq!(lines, [Some(13), Some(14)]);
}

#[test]
fn the_report_quotes_the_source_with_a_caret_and_says_what_to_do() {
    let folder = Folder::new();
    let (code, out, _) = text(&folder.check(&racy(), &["--checks=races"]));
    assert_eq!(code, Some(1));
    for line in [
        "error[race]: thread ",
        " --> reverse.cu:1",
        "13 |     if (t < n) tile[t] = data[t];",
        "14 |     if (t < n) data[t] = tile[n - 1 - t];",
        "^^ thread (",
        "-- the other: thread (",
        "= note: address tile+",
        "= help: ",
        "reverse_racy: 1 finding",
    ] {
        assert!(out.contains(line), "`{line}` is missing in\n{out}");
    }
}

#[test]
fn without_the_source_the_ptx_is_quoted() {
    let folder = Folder::new();
    std::fs::remove_file(folder.path("reverse.cu")).expect("it is removed");
    let (code, out, _) = text(&folder.check(&racy(), &["--checks=races"]));
    assert_eq!(code, Some(1));
    assert!(out.contains(" --> reverse.ptx:"), "{out}");
    assert!(
        out.contains("st.shared.f32 \t[%r5], %f1;") || out.contains("st.shared.f32     [%r5], %f1;"),
        "{out}"
    );
    assert!(out.contains("at reverse.cu:13"), "{out}");
}

#[test]
fn a_declared_carve_out_makes_the_neighbour_out_of_bounds() {
    let launch = r#"ptx = "reverse.ptx"
entry = "spill"
grid = [1]
block = [32]
shared_bytes = 256
[[arg]]
buffer = { type = "f32", len = 32, init = "uninit" }
"#;
    let arrays = "[[shared]]\nname = \"first\"\noffset = 0\nbytes = 128\n[[shared]]\nname = \"second\"\noffset = 128\nbytes = 128\n";
    let folder = Folder::new();
    assert_eq!(folder.check(launch, &[]).status.code(), Some(0));
    let output = folder.check(&format!("{launch}{arrays}"), &["--json"]);
    assert_eq!(output.status.code(), Some(1));
    let report = json(&output);
    let kinds: Vec<_> = report["findings"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|f| f["kind"].as_str())
        .collect();
    assert_eq!(kinds, [Some("out-of-bounds"); 2]);
    assert_eq!(report["findings"][0]["thread"], serde_json::json!([31, 0, 0]));
}

/// One thread, with two integers that are zero.
const ENDLESS: &str = r#"ptx = "reverse.ptx"
entry = "endless"
grid = [1]
block = [1]
max_steps = 10000
[[arg]]
buffer = { type = "i32", len = 2, init = "zeros" }
"#;

#[test]
fn an_endless_loop_is_an_error_that_points_at_its_line() {
    let (code, out, err) = text(&Folder::new().check(ENDLESS, &[]));
    assert_eq!((code, out.as_str()), (Some(2), ""));
    assert!(err.contains("10000"), "{err}");
    assert!(err.contains("reverse.ptx:"), "{err}");
}

#[test]
fn waiting_for_what_nobody_does_is_a_deadlock() {
    let output = Folder::new().check(
        &ENDLESS.replace("endless", "waiting").replace("10000", "1000000"),
        &["--json"],
    );
    assert_eq!(output.status.code(), Some(1));
    let report = json(&output);
    let kinds: Vec<_> = report["findings"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|f| f["kind"].as_str())
        .collect();
    assert_eq!(kinds, [Some("deadlock")]);
}

#[test]
fn the_trace_shows_the_lanes_of_one_warp() {
    let launch = REVERSE.replace("value = 64 }", "value = 40 }");
    let folder = Folder::new();
    let (code, out, _) = text(&folder.check(&launch, &["--trace=0,1"]));
    assert_eq!(code, Some(0), "{out}");
    // Lanes 0 to 7 of the second warp are threads 32 to 39.
    let store = out
        .lines()
        .find(|line| line.contains("st.shared"))
        .expect("the store is traced");
    assert!(store.contains("........................########"), "{store}");
    let (_, first, _) = text(&folder.check(&launch, &["--trace"]));
    assert!(
        first
            .lines()
            .any(|line| line.contains("st.shared") && line.contains(&"#".repeat(32))),
        "{first}"
    );
    for wrong in ["--trace=1", "--trace=a,b", "--trace=0,-1", "--trace=1,0", "--trace=0,2"] {
        assert_eq!(folder.check(&launch, &[wrong]).status.code(), Some(2), "{wrong}");
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let folder = Folder::new();
    let all = folder.check(&racy(), &["--json"]);
    for threads in ["1", "2", "7"] {
        assert_eq!(
            folder.check(&racy(), &["--json", "--threads", threads]).stdout,
            all.stdout,
            "{threads} threads"
        );
    }
}

#[test]
fn two_processes_at_once_leave_a_whole_dump() {
    let folder = Folder::new();
    folder.write("launch.toml", REVERSE);
    thread::scope(|scope| {
        let runs: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| folder.tile33(&["check", "launch.toml"])))
            .collect();
        for run in runs {
            assert_eq!(run.join().expect("it does not panic").status.code(), Some(0));
        }
    });
    let dump = std::fs::read(folder.path("out.npy")).expect("it is dumped");
    let elements: Vec<f32> = npyz::NpyFile::new(&dump[..])
        .and_then(npyz::NpyFile::into_vec)
        .expect("it is whole");
    assert_eq!((elements.len(), elements[0]), (64, 63.0));
    let left: Vec<_> = std::fs::read_dir(folder.path(""))
        .expect("it can be listed")
        .flatten()
        .map(|e| e.file_name())
        .collect();
    assert_eq!(left.len(), 4, "no temporary file stays: {left:?}");
}

#[test]
fn what_cannot_run_exits_with_2_and_prints_nothing_on_the_standard_output() {
    let folder = Folder::new();
    let broken_ptx = folder.path("broken.ptx");
    std::fs::write(
        &broken_ptx,
        ".version 8.0\n.target sm_90\n.entry k() {\n  frobnicate;\n}\n",
    )
    .expect("it is written");
    for (launch, says) in [
        ("ptx = ", "launch.toml:1:"),
        (&REVERSE.replace("reverse.ptx", "missing.ptx"), "missing.ptx"),
        (&REVERSE.replace("reverse.ptx", "broken.ptx"), "broken.ptx:4:3"),
        (&REVERSE.replace("[64, 1, 1]", "[2048, 1, 1]"), "2048"),
        (&REVERSE.replace("= 256", "= 1000000"), "1000000"),
        (&REVERSE.replace("out.npy", "no/such/folder/out.npy"), "no/such/folder"),
    ] {
        for arguments in [&[][..], &["--json"][..]] {
            let (code, out, err) = text(&folder.check(launch, arguments));
            assert_eq!((code, out.as_str()), (Some(2), ""), "{err}");
            let flat: String = err.split_whitespace().collect();
            assert!(flat.contains(&says.replace(' ', "")), "`{says}` is missing in\n{err}");
        }
    }
    assert_eq!(folder.tile33(&["check", "missing.toml"]).status.code(), Some(2));
    assert_eq!(folder.tile33(&["check", "."]).status.code(), Some(2));
    assert_eq!(folder.tile33(&["check"]).status.code(), Some(2));
    assert_eq!(folder.check(REVERSE, &["--bogus"]).status.code(), Some(2));
}
