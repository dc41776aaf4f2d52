//! Errors in a launch file point at their line.

use tile33::launch_file::LaunchFileError;

use crate::folder::{Folder, REVERSE};

/// Line and message of the error.
fn error(folder: &Folder, text: &str) -> (usize, String) {
    match folder.prepare(text) {
        Err(LaunchFileError::Invalid { line, message, .. }) => (line, message),
        Err(other) => panic!("{other} does not point at a line:\n{text}"),
        Ok(_) => panic!("this is accepted:\n{text}"),
    }
}

#[test]
fn every_mistake_is_reported_with_its_line() {
    let folder = Folder::new();
    folder.write("short.npy", &b"\x93NUMPY\x01\x00"[..]);
    for (from, to, line, says) in [
        ("ptx = \"reverse.ptx\"", "", 1, "missing field `ptx`"),
        ("\"reverse.ptx\"", "\"missing.ptx\"", 1, "missing.ptx"),
        ("\"reverse.ptx\"", "reverse.ptx", 1, ""),
        (
            "entry = \"reverse\"",
            "entry = \"reverze\"",
            2,
            "no kernel `reverze`: it has `reverse`, `reverse_racy`",
        ),
        ("entry = \"reverse\"", "entry = 7", 2, "invalid type"),
        ("entry = \"reverse\"", "entri = \"reverse\"", 2, "unknown field `entri`"),
        ("[1, 1, 1]", "[1, 1, 1, 1]", 3, "expected one to three sizes, found 4"),
        ("[1, 1, 1]", "[]", 3, "expected one to three sizes, found 0"),
        ("[1, 1, 1]", "[-1]", 3, "-1"),
        ("[64, 1, 1]", "\"64\"", 4, "invalid type"),
        ("shared_bytes = 256", "shared_bytes = 4294967296", 5, "4294967296"),
        ("\"f32\", len", "\"f31\", len", 7, "unknown variant `f31`"),
        ("len = 64, ", "", 7, "needs a `len`"),
        ("type = \"f32\", ", "", 7, "needs a `type`"),
        ("len = 64", "len = 9223372036854775807", 7, "larger than"),
        ("len = 64", "shape = [4294967296, 4294967296, 2]", 7, "larger than"),
        (
            "len = 64",
            "len = 64, shape = [8, 9]",
            7,
            "`len` is 64, the shape is [8, 9]",
        ),
        ("\"iota\"", "\"iotas\"", 7, "`iotas` is no way to initialise a buffer"),
        ("\"iota\"", "\"random:x\"", 7, "`x` is no seed"),
        ("\"iota\"", "\"random:18446744073709551616\"", 7, "is no seed"),
        ("\"iota\"", "\"missing.npy\"", 7, "cannot read"),
        ("\"iota\"", "\"short.npy\"", 7, "is no .npy file"),
        ("\"iota\"", "\"launch.toml\"", 7, "is no way to initialise"),
        (
            "type = \"u32\"",
            "type = \"u8\"",
            9,
            "argument 1 is a u8, but the kernel takes reverse_param_1 (.u32)",
        ),
        (
            "type = \"u32\", value = 64",
            "type = \"f32\", value = 64.0",
            9,
            "argument 1 is a f32",
        ),
        ("value = 64 }", "value = -1 }", 9, "-1 does not fit into a u32"),
        (
            "value = 64 }",
            "value = 4294967296 }",
            9,
            "4294967296 does not fit into a u32",
        ),
        ("value = 64 }", "value = 1.5 }", 9, "`1.5` is no u32"),
        ("value = 64 }", "value = \"many\" }", 9, "is no u32"),
        (
            "value = { type = \"u32\", value = 64 }",
            "bytes = \"00\"",
            9,
            "argument 1 is 1 bytes",
        ),
        (
            "value = { type = \"u32\", value = 64 }",
            "bytes = \"0 1 x\"",
            9,
            "hexadecimal",
        ),
        (
            "value = { type = \"u32\", value = 64 }",
            "",
            8,
            "one of `buffer`, `value` and `bytes`",
        ),
        (
            "value = { type = \"u32\", value = 64 }",
            "buffer = { type = \"u32\", len = 1, init = \"ones\" }",
            9,
            "argument 1 is a buffer",
        ),
        (
            "[[arg]]\nvalue = { type = \"u32\", value = 64 }\n",
            "",
            6,
            "takes 2 arguments, 1 are given",
        ),
        (
            "[dump]",
            "[[arg]]\nvalue = { type = \"u32\", value = 1 }\n[dump]",
            10,
            "takes 2 arguments, 3 are given",
        ),
        ("0 = \"out.npy\"", "1 = \"out.npy\"", 11, "argument `1` is no buffer"),
        ("0 = \"out.npy\"", "x = \"out.npy\"", 11, "argument `x` is no buffer"),
        ("0 = \"out.npy\"", "9 = \"out.npy\"", 11, "argument `9` is no buffer"),
        (
            "[dump]",
            "[[shared]]\nname = \"a\"\noffset = 0\nbytes = 257\n[dump]",
            10,
            "`a` ends at byte 257 of 256 bytes",
        ),
        (
            "[dump]",
            "[[shared]]\nname = \"a\"\noffset = 0\n[dump]",
            10,
            "missing field `bytes`",
        ),
        ("shared_bytes = 256", "card = \"sm_33\"", 5, "no card `sm_33` is known"),
    ] {
        assert_eq!(REVERSE.matches(from).count(), 1, "`{from}` must stand once");
        let text = REVERSE.replace(from, to);
        let (found, message) = error(&folder, &text);
        assert_eq!(found, line, "{message}\n{text}");
        assert!(message.contains(says), "`{says}` is missing in `{message}`");
    }
}

#[test]
fn a_launch_that_cannot_run_is_blamed_on_its_line() {
    let folder = Folder::new();
    for (from, to, line, says) in [
        ("grid = [1, 1, 1]", "grid = [0]", 3, "grid x is 0"),
        ("grid = [1, 1, 1]", "grid = [1, 65536]", 3, "grid y is 65536"),
        (
            "grid = [1, 1, 1]",
            "grid = [100000]\ncooperative = true",
            3,
            "100000 blocks; sm_90 holds 4224 of them",
        ),
        ("block = [64, 1, 1]", "block = [1025]", 4, "block x is 1025"),
        ("block = [64, 1, 1]", "block = [1, 1, 65]", 4, "block z is 65"),
        ("block = [64, 1, 1]", "block = [33, 32]", 4, "a block of 1056 threads"),
        ("shared_bytes = 256", "shared_bytes = 232449", 5, "232449 dynamic bytes"),
        (
            "shared_bytes = 256",
            "registers = 256",
            5,
            "256 registers a thread are asked for; sm_90 takes at most 255",
        ),
        ("shared_bytes = 256", "registers = -1", 5, "-1"),
        ("len = 64", "len = 100000000000", 7, "out of memory: 400000000000 bytes"),
    ] {
        assert_eq!(REVERSE.matches(from).count(), 1, "`{from}` must stand once");
        let output = folder.check(&REVERSE.replace(from, to), &[]);
        assert_eq!(output.status.code(), Some(2), "{to}");
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        let flat = err.replace('│', "").split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            flat.contains(&format!("launch.toml:{line}:")) && flat.contains(says),
            "`{to}`: {err}"
        );
    }
}

#[test]
fn a_dump_that_cannot_be_written_is_found_before_the_launch() {
    let folder = Folder::new();
    folder.write("other.npy", b"kept");
    std::fs::create_dir(folder.path("folder.npy")).unwrap();
    for (dump, line, says) in [
        ("0 = \"no/such/out.npy\"", 11, "no/such/out.npy: its folder"),
        ("0 = \"folder.npy\"", 11, "it is a folder"),
        ("0 = \"\"", 11, "it is a folder"),
        (
            "0 = \"reverse.ptx\"",
            11,
            "would overwrite what the launch is made from",
        ),
        (
            "0 = \"./launch.toml\"",
            11,
            "would overwrite what the launch is made from",
        ),
        ("00 = \"out.npy\"", 11, "argument `00` is no buffer"),
        ("\"+0\" = \"out.npy\"", 11, "argument `+0` is no buffer"),
    ] {
        let text = REVERSE.replace("0 = \"out.npy\"", dump);
        let (found, message) = error(&folder, &text);
        assert!(
            found == line && message.contains(says),
            "line {found}: {message}\n{dump}"
        );
    }
    // Two buffers, one file.
    let text = "ptx = \"two.ptx\"\nentry = \"two\"\ngrid = [1]\nblock = [1]\n\
                [[arg]]\nbuffer = { type = \"u8\", len = 1, init = \"ones\" }\n\
                [[arg]]\nbuffer = { type = \"u8\", len = 1, init = \"ones\" }\n\
                [dump]\n0 = \"out.npy\"\n1 = \"../";
    folder.write(
        "two.ptx",
        ".version 8.0\n.target sm_90\n.address_size 64\n.entry two(.param .u64 a, .param .u64 b) { ret; }",
    );
    let name = folder.path("").canonicalize().unwrap();
    let name = name.file_name().unwrap().to_string_lossy().into_owned();
    let (line, message) = error(&folder, &format!("{text}{name}/out.npy\"\n"));
    assert_eq!(line, 11, "{message}");
    assert!(message.contains("two arguments are written to"), "{message}");
}

#[test]
fn overlapping_arrays_are_reported() {
    let arrays = "[[shared]]\nname = \"a\"\noffset = 0\nbytes = 64\n[[shared]]\nname = \"b\"\noffset = 60\nbytes = 8\n";
    let (line, message) = error(&Folder::new(), &REVERSE.replace("[dump]", &format!("{arrays}[dump]")));
    assert_eq!((line, message.as_str()), (14, "`b` overlaps `a`"));
}

#[test]
fn a_file_that_is_not_text_or_not_there_is_an_error_and_no_panic() {
    let folder = Folder::new();
    for contents in [&b"\xff\xfe\x00"[..], b"\0\0\0", b"[[[[", b"= = ="] {
        let path = folder.write("launch.toml", contents);
        assert!(tile33::launch_file::LaunchFile::read(&path).is_err());
    }
    assert!(tile33::launch_file::LaunchFile::read(&folder.path("missing.toml")).is_err());
    folder.write("reverse.ptx", b"\xff\xfe");
    assert_eq!(error(&folder, REVERSE).0, 1);
}
