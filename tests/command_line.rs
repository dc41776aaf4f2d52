//! The `tile33` command: what it prints, where, and its exit codes.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn tile33(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tile33"));
    command
        .args(args)
        .stdin(Stdio::null())
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR_FORCE")
        .env_remove("CLICOLOR");
    command
}

fn run(args: &[&str]) -> Output {
    tile33(args).output().expect("the command starts")
}

fn succeeds(args: &[&str]) -> String {
    let output = run(args);
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{args:?}: {stderr}");
    assert_eq!(stderr, "", "{args:?}");
    stdout
}

/// Exit code 2, nothing on the standard output, and the reason on the other.
fn fails(args: &[&str]) -> String {
    let output = run(args);
    assert_eq!(output.status.code(), Some(2), "{args:?}");
    assert_eq!(text(&output.stdout), "", "{args:?}");
    text(&output.stderr)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

fn ground_truth(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("crates/layout/tests/ground-truth")
        .join(file)
}

#[test]
fn explain_says_why_a_column_conflicts_and_what_cures_it() {
    let plain = succeeds(&["explain", "--tile", "f32[32][32]", "tile[tx][5]"]);
    assert!(
        plain.contains("32-way conflict: 32 lanes, 32 words, all in bank 5"),
        "{plain}"
    );
    assert!(plain.contains("(33 * lane + 5) mod 32 = (lane + 5) mod 32"), "{plain}");
    let padded = succeeds(&["explain", "--tile", "f32[32][33]", "tile[tx][ty]", "--block", "32x8"]);
    assert!(padded.contains("no conflict: 32 lanes, 32 words, 32 banks"), "{padded}");
    let doubles = succeeds(&["explain", "--tile", "f64[32][32]", "tile[ty][tx]"]);
    assert!(doubles.contains("2 wavefronts, as few as"), "{doubles}");
}

#[test]
fn explain_takes_the_options_of_its_help() {
    let swizzled = succeeds(&["explain", "--tile", "f32[32][32]", "tile[tx][5]", "--swizzle", "5,0,5"]);
    assert!(
        swizzled.contains("swizzle 5,0,5") && swizzled.contains("no conflict"),
        "{swizzled}"
    );
    let stored = succeeds(&["explain", "--tile", "f32[32][32]", "tile[tx][5]", "--op", "st"]);
    assert!(stored.starts_with("st.shared"), "{stored}");
    let vector = succeeds(&[
        "explain",
        "--tile",
        "f32[32][32]",
        "tile[ty][4 * lane] if lane < 8",
        "--vector",
        "4",
    ]);
    assert!(
        vector.contains("16 bytes per lane") && vector.contains("no conflict"),
        "{vector}"
    );
    let named = succeeds(&[
        "explain",
        "--array",
        "f32[1024]",
        "data[tx * s + o]",
        "--let",
        "s=2",
        "--let",
        "o=1",
    ]);
    assert!(named.contains("2-way conflict"), "{named}");
    let pitched = succeeds(&["explain", "--tile", "f32[32][32]", "--pitch", "33", "tile[tx][5]"]);
    assert!(pitched.contains("no conflict"), "{pitched}");
    let full = succeeds(&["explain", "--tile", "f32[32][32]", "tile[tx][5]", "--all-lanes"]);
    assert!((0..32).all(|lane| full.contains(&format!("tile[{lane}][5]"))), "{full}");
    let second = succeeds(&["explain", "--tile", "f32[32][32]", "tile[ty][tx]", "--warp", "3"]);
    assert!(second.contains("tile[3][31]"), "{second}");
    let sectors = succeeds(&["explain", "--array", "f32[4096]", "data[tx * 8]", "--space", "global"]);
    assert!(sectors.contains("32 sectors of 32 bytes where 4 would do"), "{sectors}");
}

#[test]
fn explain_sweeps_a_range() {
    let sweep = succeeds(&[
        "explain",
        "data[tx * stride]",
        "--array",
        "f32[1024]",
        "--stride",
        "1..=64",
    ]);
    assert!(sweep.contains("wavefronts = gcd(stride, 32)"), "{sweep}");
    let json = succeeds(&[
        "explain",
        "data[tx * stride]",
        "--array",
        "f32[1024]",
        "--stride",
        "1..=64",
        "--json",
    ]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["points"].as_array().map(Vec::len), Some(64));
    assert_eq!(
        (&json["points"][31]["value"], &json["points"][31]["cost"]),
        (&32.into(), &32.into())
    );
}

#[test]
fn explain_gives_the_same_as_data() {
    let json = succeeds(&["explain", "--tile", "f32[32][32]", "tile[tx][5]", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["wavefronts"], 32);
    assert_eq!(json["ideal"], 1);
    assert_eq!(json["excess"], 31);
    assert_eq!(json["verdict"], "32-way conflict: 32 lanes, 32 words, all in bank 5");
    assert_eq!(json["lanes"][31]["byte"], 3988);
    assert_eq!(json["lanes"][31]["bank"], 5);
    assert_eq!(
        json["groups"][0]["banks"][0]["words"].as_array().map(Vec::len),
        Some(32)
    );
    assert_eq!(json["cures"][0]["layout"], "pitch 33");
    assert_eq!(json["formula"]["bank_reduced"], "5");
}

#[test]
fn explain_points_at_the_column_of_what_it_cannot_read() {
    for (access, part) in [
        ("tile[tx][5", "(column 11)"),
        ("tile[tx / 0][5]", "(column 9)"),
        ("tile[tx][ty][0]", "2 dimensions"),
        ("tile[tx - 1][0]", "before the start"),
        ("tile[foo][0]", "--let foo=VALUE"),
    ] {
        let error = fails(&["explain", "--tile", "f32[32][32]", access]);
        assert!(error.contains(part), "{access}: {error}");
        assert!(!error.contains("panicked"), "{error}");
    }
    for (option, value, part) in [
        ("--tile", "f32[32][0]", "(column 9)"),
        ("--block", "33x33", "at most 1024"),
        ("--swizzle", "5,0", "no swizzle"),
        ("--swizzle", "5,0,4", "would overlap"),
        ("--pitch", "31", "less than the columns"),
        ("--let", "tx=1", "taken"),
        ("--let", "k=1", "does not use it"),
        ("--vector", "3", "1, 2, 4, 8 or 16"),
        ("--warp", "8", "does not exist"),
        ("--card", "sm_10", "no card known"),
        ("--op", "load2", "ld, st, atom"),
    ] {
        let mut args = vec!["explain", "tile[tx][0]", option, value];
        if option != "--tile" {
            args.extend(["--tile", "f32[32][32]"]);
        }
        let error = fails(&args).replace("\n  │ ", " ");
        assert!(error.contains(part), "{args:?}: {error}");
    }
}

#[test]
fn colours_are_for_terminals_and_no_color_is_respected() {
    let args = ["explain", "--tile", "f32[32][32]", "tile[tx][5]"];
    let coloured =
        |command: &mut Command| text(&command.output().expect("the command starts").stdout).contains('\u{1b}');
    assert!(!coloured(&mut tile33(&args)), "a pipe is no terminal");
    assert!(coloured(tile33(&args).env("CLICOLOR_FORCE", "1")));
    assert!(!coloured(tile33(&args).env("NO_COLOR", "1")));
}

#[test]
fn advise_finds_a_layout_for_all_accesses() {
    let advice = succeeds(&["advise", "--tile", "f32[32][32]", "st tile[ty][tx]", "ld tile[tx][ty]"]);
    assert!(advice.contains("2 wavefronts a warp instead of 33"), "{advice}");
    let json = succeeds(&[
        "advise",
        "--tile",
        "f32[32][32]",
        "st tile[ty][tx]",
        "ld tile[tx][ty]",
        "--json",
        "--all",
    ]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let rows = json["table"].as_array().expect("a table");
    assert_eq!(
        rows.len(),
        usize::try_from(json["tried"].as_u64().expect("a number")).expect("small")
    );
    let best = &rows[usize::try_from(json["best"].as_u64().expect("an index")).expect("small")];
    assert_eq!((&best["wavefronts"], &best["bytes"]), (&16.into(), &4096.into()));
    assert_eq!(best["costs"][1]["wavefronts"], 8);
}

#[test]
fn advise_refuses_what_it_cannot_advise_on() {
    let error = fails(&["advise", "--tile", "f32[32][32]", "st a[ty][tx]", "ld b[tx][ty]"]);
    assert!(error.contains("two arrays"), "{error}");
    let error = fails(&["advise", "--tile", "f32[32][32]", "ld.v3 tile[ty][tx]"]);
    assert!(error.contains("(column 3)"), "{error}");
    let error = fails(&[
        "advise",
        "--tile",
        "f32[32][32]",
        "ld tile[ty][k * tx]",
        "--let",
        "k=1..=2",
    ]);
    assert!(error.contains("range"), "{error}");
    assert!(fails(&["advise", "--tile", "f32[32][32]"]).contains("required"));
}

#[test]
fn wavefronts_gives_every_measured_number() {
    for (file, field) in [
        ("shared-wavefronts.jsonl", "wavefronts"),
        ("global-sectors.jsonl", "sectors"),
    ] {
        let path = ground_truth(file);
        let answers = succeeds(&["wavefronts", path.to_str().expect("UTF-8")]);
        let lines = std::fs::read_to_string(&path).expect("part of the repository");
        assert_eq!(answers.lines().count(), lines.lines().count());
        for (number, (answer, line)) in answers.lines().zip(lines.lines()).enumerate() {
            let measured: serde_json::Value = serde_json::from_str(line).expect("JSON");
            assert_eq!(answer, measured[field].to_string(), "{file}, line {}", number + 1);
        }
    }
}

#[test]
fn wavefronts_reads_the_standard_input_and_stops_at_the_line_that_is_no_access() {
    let good = r#"{"space":"shared","op":"ld","width":4,"mask":"0x3","addrs":[0,128,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]}"#;
    let from_stdin = |input: &str| {
        let mut child = tile33(&["wavefronts", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        child
            .stdin
            .take()
            .expect("piped")
            .write_all(input.as_bytes())
            .expect("read");
        let output = child.wait_with_output().expect("it ends");
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    assert_eq!(
        from_stdin(&format!("{good}\n{good}")),
        (Some(0), "2\n2\n".into(), String::new())
    );
    assert_eq!(
        from_stdin(&format!("{good}\r\n\r\n{good}\r\n")),
        (Some(0), "2\n2\n".into(), String::new())
    );
    assert_eq!(from_stdin(""), (Some(0), String::new(), String::new()));
    let (code, answers, error) = from_stdin(&format!("{good}\n\n{{\"space\":\"moon\"}}\n{good}\n"));
    assert_eq!((code, answers.as_str()), (Some(2), "2\n"));
    assert!(error.contains("line 3") && error.contains("moon"), "{error}");
}

#[test]
fn wavefronts_of_a_file_that_is_not_there_says_which() {
    let error = fails(&["wavefronts", "no-such-file.jsonl"]);
    assert!(error.contains("no-such-file.jsonl"), "{error}");
}

#[test]
fn wavefronts_streams() {
    // The first answers come while the input is still open, so memory does not grow with the file.
    use std::io::BufRead;
    let line = format!(
        r#"{{"space":"shared","op":"ld","width":4,"mask":1,"addrs":{:?}}}"#,
        [0; 32]
    );
    let mut child = tile33(&["wavefronts", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut input = child.stdin.take().expect("piped");
    let output = std::io::BufReader::new(child.stdout.take().expect("piped"));
    let (seen, first_was_seen) = std::sync::mpsc::channel();
    let writer = std::thread::spawn(move || {
        // More answers than any buffer on the way holds.
        for _ in 0..100_000 {
            input
                .write_all(line.as_bytes())
                .and_then(|()| input.write_all(b"\n"))
                .expect("read");
        }
        first_was_seen
            .recv()
            .expect("the first answer came before the end of the input");
    });
    let mut answers = output.lines();
    assert_eq!(answers.next().expect("an answer").expect("text"), "1");
    seen.send(()).expect("the writer waits");
    assert_eq!(answers.count(), 99_999);
    writer.join().expect("it wrote");
    assert!(child.wait().expect("it ends").success());
}
