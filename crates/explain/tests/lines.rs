//! Files of accesses.

use tile33_explain::lines::{access_of_line, cost_of_line};

fn ground_truth(file: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../layout/tests/ground-truth")
        .join(file);
    std::fs::read_to_string(path).expect("part of the repository")
}

#[test]
fn every_measured_line_costs_what_the_hardware_counted() {
    for (file, field) in [
        ("shared-wavefronts.jsonl", "wavefronts"),
        ("global-sectors.jsonl", "sectors"),
    ] {
        for (number, line) in ground_truth(file).lines().enumerate() {
            let measured: serde_json::Value = serde_json::from_str(line).expect("JSON");
            let cost = cost_of_line(line.as_bytes()).expect("an access");
            assert_eq!(
                Some(u64::from(cost)),
                measured[field].as_u64(),
                "{file}, line {}",
                number + 1
            );
        }
    }
}

fn line(changes: &[(&str, &str)]) -> String {
    let mut fields = vec![
        ("space", "\"shared\"".to_owned()),
        ("op", "\"ld\"".to_owned()),
        ("width", "4".to_owned()),
        ("mask", "\"0xffffffff\"".to_owned()),
        (
            "addrs",
            format!("{:?}", (0..32).map(|lane| 128 * lane).collect::<Vec<u32>>()),
        ),
    ];
    for (name, value) in changes {
        fields.retain(|(known, _)| known != name);
        if !value.is_empty() {
            fields.push((name, (*value).to_owned()));
        }
    }
    let fields: Vec<_> = fields
        .iter()
        .map(|(name, value)| format!("\"{name}\":{value}"))
        .collect();
    format!("{{{}}}", fields.join(","))
}

#[test]
fn fields_may_be_written_in_several_ways() {
    let cost = |changes: &[(&str, &str)]| cost_of_line(line(changes).as_bytes()).expect("an access");
    assert_eq!(cost(&[]), 32);
    assert_eq!(cost(&[("mask", "\"0x0000000F\"")]), 4);
    assert_eq!(cost(&[("mask", "15")]), 4);
    assert_eq!(cost(&[("mask", "\"15\"")]), 4);
    assert_eq!(cost(&[("mask", "0")]), 0);
    assert_eq!(cost(&[("name", "\"anything\""), ("more", "[{}]")]), 32);
    assert_eq!(cost(&[("space", "\"global\"")]), 32);
    assert_eq!(cost(&[("op", "\"cas\"")]), 64);
    // The addresses of idle lanes may be misaligned.
    let odd = format!(
        "{:?}",
        (0..32)
            .map(|lane| if lane == 0 { 0 } else { 2 * lane + 1 })
            .collect::<Vec<u32>>()
    );
    assert_eq!(cost(&[("mask", "1"), ("addrs", &odd)]), 1);
    let far = format!("{:?}", [u64::MAX - 3; 32]);
    assert_eq!(cost(&[("addrs", &far)]), 1);
}

#[test]
fn what_is_no_access_is_named() {
    let short = format!("{:?}", [0; 31]);
    let long = format!("{:?}", [0; 33]);
    let odd = format!("{:?}", [6; 32]);
    for (changes, part) in [
        (vec![("space", "")], "missing field `space`"),
        (
            vec![("space", "\"local\"")],
            "unknown variant `local`, expected `shared` or `global`",
        ),
        (vec![("op", "\"load\"")], "unknown variant `load`"),
        (vec![("width", "3")], "cannot access 3 bytes"),
        (vec![("width", "-4")], "expected u32"),
        (vec![("width", "\"4\"")], "expected u32"),
        (vec![("mask", "\"0x1ffffffff\"")], "a mask of 32 lanes"),
        (vec![("mask", "4294967296")], "a mask of 32 lanes"),
        (vec![("mask", "-1")], "a mask of 32 lanes"),
        (vec![("mask", "null")], "a mask of 32 lanes"),
        (vec![("addrs", &*short)], "expected 32 byte addresses"),
        (vec![("addrs", &*long)], "more than 32 byte addresses"),
        (vec![("addrs", "[-1]")], "expected u64"),
        (vec![("addrs", "[0.5]")], "expected u64"),
        (vec![("addrs", &*odd)], "lane 0 accesses 4 bytes at address 6"),
    ] {
        let error = cost_of_line(line(&changes).as_bytes()).expect_err(part);
        assert!(error.to_string().contains(part), "{changes:?}: {error}");
        assert!(!error.help().is_empty());
    }
    for text in ["", "[]", "{", "null", "{}", "\u{feff}{}", "{\"space\":\"shared\"} x"] {
        assert!(access_of_line(text.as_bytes()).is_err(), "{text:?}");
    }
    assert!(access_of_line(&[0xff, 0xfe, b'{']).is_err());
}

#[test]
fn an_error_names_its_column() {
    let text = line(&[("op", "\"load\"")]);
    let column = cost_of_line(text.as_bytes())
        .expect_err("no operation")
        .column()
        .expect("a place");
    let value = text.find("\"load\"").expect("it is there") + 1;
    assert!((value..=value + 7).contains(&column), "column {column} of {text}");
}
