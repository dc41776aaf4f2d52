//! `tile33 run`, as it is called.

use std::process::{Command, Output};

use serde_json::Value;
use tile33::Device;

fn run(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tile33"))
        .arg("run")
        .args(args)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn without_a_kernel_it_lists_them() {
    let output = run(&[]);
    assert_eq!(output.status.code(), Some(0));
    let list = text(&output.stdout);
    for name in ["transpose_copy_f32", "transpose_padded_f64", "transpose_dynamic_u8"] {
        assert!(
            list.lines().any(|line| line.split_whitespace().next() == Some(name)),
            "{list}"
        );
    }
}

#[test]
fn a_problem_s_name_runs_all_of_its_kernels() {
    let output = run(&["transpose", "--size", "33x40", "--backend", "emulator"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let text = text(&output.stdout);
    for name in ["transpose_copy_f32", "transpose_padded_f64", "transpose_dynamic_u8"] {
        let line = text.lines().find(|line| line.starts_with(name));
        assert!(line.is_some_and(|line| line.ends_with("correct")), "{text}");
    }
}

#[test]
fn json_has_the_counters_under_the_names_of_tile33_check() {
    let output = run(&[
        "transpose_tiled_f32",
        "--size",
        "64x32",
        "--backend",
        "emulator",
        "--json",
    ]);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let launch = &json["launches"][0];
    assert_eq!(
        (&json["correct"], &launch["shared_bytes"]),
        (&Value::from(true), &Value::from(4096))
    );
    let loads = &launch["report"]["counters"]["shared_load"];
    assert_eq!(
        (&loads["requests"], &loads["wavefronts"]),
        (&Value::from(64), &Value::from(2048))
    );
    assert_eq!(launch["report"]["findings"], Value::Array(Vec::new()));
}

#[test]
fn what_cannot_run_is_an_error_with_exit_code_2() {
    let unknown = run(&["transpose_pedded_f32"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(
        text(&unknown.stderr).contains("transpose_pedded_f32"),
        "{}",
        text(&unknown.stderr)
    );
    for size in ["0x5", "5x0", "5", "fivexfive"] {
        let output = run(&["transpose_padded_f32", "--backend", "emulator", "--size", size]);
        assert_eq!(output.status.code(), Some(2), "{size}: {}", text(&output.stderr));
    }
    if Device::cuda(0).is_err() {
        let output = run(&["transpose_copy_f32", "--backend", "cuda"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(
            text(&output.stderr).contains("needs a CUDA device"),
            "{}",
            text(&output.stderr)
        );
    }
}

#[test]
fn kernels_with_sizes_of_one_and_of_two_numbers_run_at_one_size() {
    for size in ["1", "1000", "31x7"] {
        let output = run(&["histogram", "--size", size, "--backend", "emulator"]);
        assert_eq!(output.status.code(), Some(0), "{size}: {}", text(&output.stderr));
    }
    let output = run(&["histogram", "--size", "1x2x3", "--backend", "emulator"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
}
