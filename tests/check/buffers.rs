//! What buffers hold before a launch, arguments of every kind, and `.npy` in and out.

use half::{bf16, f16};

use crate::folder::{Folder, REVERSE};

/// The bytes of a buffer as `init` fills it.
fn filled(ty: &str, len: usize, init: &str) -> Vec<u8> {
    let buffer = format!("type = \"{ty}\", len = {len}, init = \"{init}\"");
    let text = REVERSE.replace("type = \"f32\", len = 64, init = \"iota\"", &buffer);
    let (_, mut prepared) = Folder::new()
        .prepare(&text)
        .unwrap_or_else(|error| panic!("{ty} {init}: {error}"));
    match ty {
        "bool" | "u8" | "i8" => prepared.read::<u8>(0),
        "u16" | "i16" | "f16" | "bf16" => prepared.read::<[u8; 2]>(0).map(|v| v.concat()),
        "u32" | "i32" | "f32" => prepared.read::<[u8; 4]>(0).map(|v| v.concat()),
        _ => prepared.read::<[u8; 8]>(0).map(|v| v.concat()),
    }
    .expect("argument 0 is a buffer")
}

#[test]
fn zeros_ones_and_iota_are_numbers_of_the_type() {
    for ty in [
        "bool", "u8", "i8", "u16", "i16", "f16", "bf16", "u32", "i32", "f32", "u64", "i64", "f64",
    ] {
        assert!(filled(ty, 5, "zeros").iter().all(|&byte| byte == 0), "{ty}");
    }
    assert_eq!(filled("bool", 3, "ones"), [1, 1, 1]);
    assert_eq!(filled("i16", 2, "ones"), [1, 0, 1, 0]);
    assert_eq!(filled("f16", 1, "ones"), f16::ONE.to_le_bytes());
    assert_eq!(filled("bf16", 1, "ones"), bf16::ONE.to_le_bytes());
    assert_eq!(filled("f64", 1, "ones"), 1f64.to_le_bytes());
    assert_eq!(filled("u8", 258, "iota")[254..], [254, 255, 0, 1]);
    assert_eq!(
        filled("f32", 3, "iota"),
        [0f32.to_le_bytes(), 1f32.to_le_bytes(), 2f32.to_le_bytes()].concat()
    );
    assert_eq!(
        filled("u64", 2, "iota"),
        [0u64.to_le_bytes(), 1u64.to_le_bytes()].concat()
    );
    assert_eq!(filled("f16", 2050, "iota")[4098..], f16::from_f64(2049.0).to_le_bytes());
}

#[test]
fn random_elements_are_those_of_the_documented_sequence() {
    // SplitMix64 from seed 1234567.
    let first = [6_457_827_717_110_365_317u64, 3_203_168_211_198_807_973];
    assert_eq!(filled("u64", 2, "random:1234567"), first.map(u64::to_le_bytes).concat());
    assert_eq!(
        filled("u32", 2, "random:1234567"),
        first.map(|x| (x as u32).to_le_bytes()).concat()
    );
    assert_eq!(filled("i8", 2, "random:1234567"), first.map(|x| x as u8));
    let single = |x: u64| (x >> 40) as f32 / 16_777_216.0;
    assert_eq!(
        filled("f32", 2, "random:1234567"),
        first.map(|x| single(x).to_le_bytes()).concat()
    );
    let double = |x: u64| (x >> 11) as f64 / 9_007_199_254_740_992.0;
    assert_eq!(
        filled("f64", 2, "random:1234567"),
        first.map(|x| double(x).to_le_bytes()).concat()
    );
    assert_eq!(
        filled("f16", 1, "random:1234567"),
        f16::from_f32(single(first[0])).to_le_bytes()
    );
    assert_ne!(filled("f32", 2, "random:1"), filled("f32", 2, "random:2"));
}

#[test]
fn what_is_not_initialised_is_found_when_it_is_read() {
    let folder = Folder::new();
    let (file, mut prepared) = folder
        .prepare(&REVERSE.replace("\"iota\"", "\"uninit\""))
        .expect("it can run");
    let report = prepared.run(file.program()).expect("it runs");
    let kinds: Vec<_> = report.findings.iter().map(|finding| finding.kind.as_str()).collect();
    assert_eq!(kinds, ["uninitialized-global"]);
}

/// A `.npy` file, version 1.
fn npy(descr: &str, fortran: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}");
    while (header.len() + 11) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(data);
    file
}

#[test]
fn an_array_comes_in_with_its_type_and_shape_and_goes_out_with_them() {
    let folder = Folder::new();
    let data: Vec<u8> = (0..64u8).flat_map(|x| f32::from(x).to_le_bytes()).collect();
    folder.write("in.npy", npy("<f4", "False", "(4, 16)", &data));
    let text = REVERSE.replace("type = \"f32\", len = 64, init = \"iota\"", "init = \"in.npy\"");
    assert_eq!(folder.check(&text, &[]).status.code(), Some(0));
    let out = std::fs::read(folder.path("out.npy")).expect("it is dumped");
    let out = npyz::NpyFile::new(&out[..]).expect("it is a .npy file");
    assert_eq!(out.shape(), [4, 16]);
    let expected: Vec<f32> = (0..64u8).rev().map(f32::from).collect();
    assert_eq!(out.into_vec::<f32>().expect("of f32"), expected);
}

#[test]
fn big_endian_arrays_are_turned_and_other_byte_orders_of_one_byte_are_fine() {
    let folder = Folder::new();
    let data: Vec<u8> = (0..64u8).flat_map(|x| f32::from(x).to_be_bytes()).collect();
    folder.write("in.npy", npy(">f4", "False", "(64,)", &data));
    let text = REVERSE.replace("\"iota\"", "\"in.npy\"");
    let (_, mut prepared) = folder.prepare(&text).expect("it is read");
    assert_eq!(prepared.read::<f32>(0), Some((0..64u8).map(f32::from).collect()));
}

#[test]
fn arrays_that_do_not_fit_are_refused_with_the_reason() {
    let folder = Folder::new();
    let some = [0u8; 256];
    for (file, says) in [
        (npy("<f4", "False", "(64,)", &some[..255]), "is cut short"),
        (npy("<f4", "False", "(1000000000000,)", &some), "is cut short"),
        (
            npy("<f4", "False", "(4294967296, 4294967296, 4294967296)", &some),
            "is cut short",
        ),
        (npy("<f8", "False", "(32,)", &some), "the file holds f64, not f32"),
        (npy("<c8", "False", "(32,)", &some), "no kernel takes"),
        (npy("<f4", "True", "(8, 8)", &some), "Fortran order"),
        (npy("<f4", "False", "(63,)", &some), "`len` is 64, the shape is [63]"),
        (npy("<f4", "False", "(64", &some), "is no .npy file"),
        (b"\x93NUMPY\x01\x00\xff\xff".to_vec(), "is no .npy file"),
        (Vec::new(), "is no .npy file"),
    ] {
        folder.write("in.npy", file);
        let error = folder
            .prepare(&REVERSE.replace("\"iota\"", "\"in.npy\""))
            .expect_err("it is refused")
            .to_string();
        assert!(error.contains(says), "`{says}` is missing in `{error}`");
    }
}

#[test]
fn every_kind_of_argument_arrives() {
    // struct { int a; short b; } with two bytes of padding, then i8, u16, f64 and i64.
    let text = r#"ptx = "reverse.ptx"
entry = "arguments"
grid = [1]
block = [1]
[[arg]]
buffer = { type = "f64", len = 1, init = "uninit" }
[[arg]]
bytes = "e8 03 00 00 f6 ff 00 00"
[[arg]]
value = { type = "i8", value = -3 }
[[arg]]
value = { type = "u16", value = 65535 }
[[arg]]
value = { type = "f64", value = 0.25 }
[[arg]]
value = { type = "i64", value = "-0" }
"#;
    let folder = Folder::new();
    for (long, expected) in [
        ("\"-0\"", 0.0),
        ("-5", -5.0),
        ("\"0x10\"", 16.0),
        ("9007199254740992", 9_007_199_254_740_992.0),
    ] {
        let (file, mut prepared) = folder.prepare(&text.replace("\"-0\"", long)).expect("it can run");
        prepared.run(file.program()).expect("it runs");
        assert_eq!(
            prepared.read::<f64>(0),
            Some(vec![1000.0 - 10.0 - 3.0 + 65535.0 + 0.25 + expected]),
            "{long}"
        );
        assert_eq!(prepared.read::<f32>(0), None, "elements of another size");
        assert_eq!(prepared.read::<f64>(1), None, "no buffer");
    }
}

#[test]
fn sixteen_bit_results_go_out_as_their_type() {
    let folder = Folder::new();
    for (ty, descr) in [("u16", "u2"), ("bf16", "u2"), ("i16", "i2"), ("f16", "f2")] {
        let text = format!(
            "ptx = \"reverse.ptx\"\nentry = \"fill_u16\"\ngrid = [1]\nblock = [4]\n[[arg]]\n\
             buffer = {{ type = \"{ty}\", shape = [2, 2], init = \"zeros\" }}\n[dump]\n0 = \"{ty}.npy\"\n"
        );
        assert_eq!(folder.check(&text, &[]).status.code(), Some(0));
        let out = std::fs::read(folder.path(&format!("{ty}.npy"))).expect("it is dumped");
        let header = npyz::NpyFile::new(&out[..]).expect("it is a .npy file");
        assert!(
            header.dtype().descr().contains(descr),
            "{ty}: {}",
            header.dtype().descr()
        );
        assert_eq!(out[out.len() - 8..], [1, 0, 1, 0, 1, 0, 1, 0]);
    }
}
