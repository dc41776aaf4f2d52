//! What is said of a text that is not PTX: where, what was expected, and what stands there.

use tile33_ptx::parse;

use crate::common::{body_error, error};

#[test]
fn an_error_shows_its_place_its_reason_and_the_text() {
    let found = body_error("  frobnicate.b32 %r1, %r2;");
    assert_eq!(
        found.to_string(),
        "line 6, column 3: expected an instruction or a label; this opcode is not known, found `frobnicate`"
    );
    assert_eq!(
        body_error("add.s32 %r1, %r99, 1;").to_string(),
        "line 6, column 14: this register is past the end of the declared `%r<16>`, found `%r99`"
    );
    assert_eq!(
        parse(".version 8.0\n.target sm_90\n.visible .entry k() {")
            .unwrap_err()
            .to_string(),
        "line 3, column 22: expected `}` at the end of the function, found the end of the file"
    );
}

/// Line, column and text of the error in a module's fourth line.
fn place(line: &str) -> (u32, u32, String) {
    let error = error(line);
    (error.line, error.column, error.found)
}

#[test]
fn the_column_counts_characters_and_not_bytes() {
    assert_eq!(place("/* ÄÖ漢字 */ nonsense"), (4, 12, "nonsense".into()));
    assert_eq!(place(".file 1 \"größe.cu\" nonsense"), (4, 20, "nonsense".into()));
    assert_eq!(place("// ä\r\n\tnonsense"), (5, 2, "nonsense".into()));
    assert_eq!(place("/* one\ntwo ä */ nonsense"), (5, 10, "nonsense".into()));
    assert_eq!(place("ä"), (4, 1, "ä".into()));
}

#[test]
fn a_long_text_is_cut() {
    let found = error(&"x".repeat(1000)).found;
    assert_eq!(found.chars().count(), 61);
    assert!(found.ends_with('…'));
}

/// Takes the mark out of a line, and says in which column it stood.
fn unmarked(line: &str) -> (String, u32) {
    let column = line.chars().position(|c| c == '«').expect("there is a mark");
    (line.replace('«', ""), column as u32 + 1)
}

#[test]
fn every_kind_of_mistake_is_pointed_at() {
    for (marked, found) in [
        (".global .u32 x«", ""),
        (".global «x;", "x"),
        (".global .u32 x[2] = {1, 2, «3};", "3"),
        (".global .u32 x = {«{1}};", "{"),
        (".global .u32 x = «1.5;", "1.5"),
        (".global .f32 x = «1;", "1"),
        (".global .u32 x = «y;", "y"),
        (".global .u32 x = 5«/0;", "/"),
        (".global .u32 x = «0x;", "0x"),
        (".global .u32 x = «0b12;", "0b12"),
        (".global .u32 x = «089;", "089"),
        (".global .u32 x = «12abc;", "12abc"),
        (".global .u32 x = «0f3F80;", "0f3F80"),
        (".global .u32 x = «0d3FF;", "0d3FF"),
        (".global .u64 x = «18446744073709551616;", "18446744073709551616"),
        (".global .align «3 .u32 x;", "3"),
        (".global .u32 «x[9223372036854775807];", "x"),
        (".global .u8 x[2][«];", "]"),
        (".global .u32 x; .global .u32 «x;", "x"),
        (".func f; .global .u32 «f;", "f"),
        (".global .u32 f; .func «f;", "f"),
        (".func f { ret; } .func «f { ret; }", "f"),
        (".func f; .entry «f { ret; }", "f"),
        (".entry k(.param .u32 a, .param .u32 «a) { ret; }", "a"),
        (".entry k() «.bogus 3 { ret; }", ".bogus"),
        (".entry k() .maxntid «x { ret; }", "x"),
        (".entry k() .maxntid «4294967296 { ret; }", "4294967296"),
        (".alias «f, g;", "f"),
        (".file 1 «path", "path"),
        (".pragma \"x\"«", ""),
        (".section x «3", "3"),
        ("«#include \"x\"", "#include \"x\""),
        ("«/* open", "/* open"),
        (".file 1 «\"open", "\"open"),
        (".visible «3", "3"),
        (".target «5", "5"),
        (".address_size «48", "48"),
        ("«. x", "."),
        ("«\u{1}", "\u{1}"),
    ] {
        let (lines, column) = unmarked(marked);
        let error = error(&lines);
        assert_eq!(
            (error.line, error.column, error.found.as_str()),
            (4, column, found),
            "{lines}: {error}"
        );
    }
}

#[test]
fn every_kind_of_mistake_in_a_body_is_pointed_at() {
    for (marked, found) in [
        ("add.s32 %r1, %r2 «}", "}"),
        ("add.s32 %r1 «%r2;", "%r2"),
        ("add.s32 %r1, «;", ";"),
        ("add.s32 %r1, «%q;", "%q"),
        ("ld.b32 %r1, [«%q];", "%q"),
        ("ld.b32 %r1, [%r1«;", ";"),
        ("ld.b32 %r1, [%r1+«%r2];", "%r2"),
        ("ld.b32 %r1, [«%tid.x];", "%tid"),
        ("mov.u32 %r1, %tid«.q;", ".q"),
        ("mov.u32 %r1, %envreg3«.x;", ".x"),
        ("mov.u32 %r1, «%envreg32;", "%envreg32"),
        ("mov.u32 %r1, «%envreg;", "%envreg"),
        ("mov.u32 %r1, «%pm8;", "%pm8"),
        ("mov.u32 %r1, «%WARP_SZ;", "%WARP_SZ"),
        ("bra «nowhere;", "nowhere"),
        ("t: .branchtargets «nowhere;", "nowhere"),
        ("t: .calltargets «nowhere;", "nowhere"),
        ("t: .branchtargets «u; u: .branchtargets v; v: ret;", "u"),
        ("@«%r1 ret;", "%r1"),
        ("@«%q ret;", "%q"),
        ("@%p1 «.reg .b32 x;", ".reg"),
        (".reg .b32 %x<«4000000000>;", "4000000000"),
        (".reg .b32 %x<«99999999999999999999>;", "99999999999999999999"),
        (".reg .b32 %x<«n>;", "n"),
        (".reg «%x;", "%x"),
        ("«]", "]"),
        ("«3;", "3"),
        ("«.bogus 3;", ".bogus"),
        ("mov.b32 %r1, {%r2, %r3«;", ";"),
        ("call (%r1, «f;", "f"),
        ("setp.eq.s32 %p1, %r1, %r2, !«7f;", "7f"),
    ] {
        let (statement, column) = unmarked(marked);
        let error = body_error(&statement);
        assert_eq!(
            (error.line, error.column, error.found.as_str()),
            (6, column, found),
            "{statement}: {error}"
        );
    }
}

#[test]
fn a_file_must_begin_with_its_version_and_target() {
    for (text, line, column, found) in [
        ("", 1, 1, ""),
        ("\n\n  .target sm_90", 3, 3, ".target"),
        (".version", 1, 9, ""),
        (".version 8", 1, 10, "8"),
        (".version 8.x", 1, 10, "8"),
        (".version 8.0 .entry k() { ret; }", 1, 14, ".entry"),
        ("#!/bin/sh", 1, 1, "#!/bin/sh"),
        ("\u{feff}.version 8.0", 1, 1, "\u{feff}"),
    ] {
        let error = parse(text).unwrap_err();
        assert_eq!(
            (error.line, error.column, error.found.as_str()),
            (line, column, found),
            "{text}: {error}"
        );
    }
}
