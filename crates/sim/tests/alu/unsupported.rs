//! What is not supported says so, by name; it never runs as something else.

use crate::harness::Op;

fn refused(outs: &str, ins: &str, code: &str) -> String {
    match Op::lowered(outs, ins, code) {
        Ok(_) => panic!("{code} was accepted"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_modifier_that_an_instruction_does_not_take_is_an_error_that_names_it() {
    let refusals = [
        ("b32 d", "b32 a, b32 b", "add.sat.u32 d, a, b;", "add.sat.u32"),
        ("f64 d", "f64 a, f64 b", "add.rn.ftz.f64 d, a, b;", "add.rn.ftz.f64"),
        ("f64 d", "f64 a, f64 b", "mul.sat.f64 d, a, b;", "mul.sat.f64"),
        ("b16 d", "b16 a, b16 b", "add.rz.f16 d, a, b;", "add.rz.f16"),
        ("b16 d", "b16 a, b16 b", "add.sat.bf16 d, a, b;", "add.sat.bf16"),
        ("b16 d", "b16 a, b16 b", "mul.relu.f16 d, a, b;", "mul.relu.f16"),
        (
            "b16 d",
            "b16 a, b16 b, b16 c",
            "fma.rn.oob.f16 d, a, b, c;",
            "fma.rn.oob.f16",
        ),
        ("f32 d", "f32 a, f32 b, f32 c", "fma.f32 d, a, b, c;", "fma.f32"),
        ("f32 d", "f32 a, f32 b", "div.f32 d, a, b;", "div.f32"),
        ("f64 d", "f64 a", "sqrt.approx.f64 d, a;", "sqrt.approx.f64"),
        ("f32 d", "f32 a", "sin.f32 d, a;", "sin.f32"),
        ("f64 d", "f64 a", "ex2.approx.f64 d, a;", "ex2.approx.f64"),
        ("b32 d", "b32 a, b32 b", "mul.u32 d, a, b;", "mul.u32"),
        ("b64 d", "b64 a, b64 b", "mul.wide.u64 d, a, b;", "mul.wide.u64"),
        ("b32 d", "b32 a, b32 b", "and.s32 d, a, b;", "and.s32"),
        ("b32 d", "b32 a, b32 n", "shl.u32 d, a, n;", "shl.u32"),
        ("b32 d", "f32 a", "cvt.s32.f32 d, a;", "cvt.s32.f32"),
        ("f32 d", "b32 a", "cvt.f32.s32 d, a;", "cvt.f32.s32"),
        ("b16 d", "f32 a", "cvt.f16.f32 d, a;", "cvt.f16.f32"),
        ("f32 d", "f32 a", "cvt.rni.f32.f64 d, a;", "cvt.rni.f32.f64"),
        (
            "b32 d",
            "f32 a, f32 b, b32 r",
            "cvt.rs.f16x2.f32 d, a, b, r;",
            "cvt.rs.f16x2.f32",
        ),
        (
            "b16 d",
            "f32 a, f32 b",
            "cvt.rn.e4m3x2.f32 d, a, b;",
            "cvt.rn.e4m3x2.f32",
        ),
        ("pred p", "b32 a, b32 b", "setp.lt.b32 p, a, b;", "setp.lt.b32"),
        ("pred p", "b32 a, b32 b", "setp.lo.s32 p, a, b;", "setp.lo.s32"),
        ("pred p", "b32 a, b32 b", "setp.ltu.s32 p, a, b;", "setp.ltu.s32"),
        (
            "b32 d",
            "b32 a, b32 b, b32 c",
            "prmt.b32.xyz d, a, b, c;",
            "prmt.b32.xyz",
        ),
        (
            "b32 d",
            "b32 a, b32 m",
            "redux.sync.add.b32 d, a, m;",
            "redux.sync.add.b32",
        ),
        ("b32 d", "b32 a, b32 m", "match.any.b32 d, a, m;", "match.any.b32"),
        ("b32 d", "b32 a", "popc.u32 d, a;", "popc.u32"),
    ];
    for (outs, ins, code, name) in refusals {
        let message = refused(outs, ins, code);
        assert!(
            message.starts_with(&format!("`{name}` is not supported: ")),
            "{code}: {message}"
        );
    }
}

#[test]
fn a_register_of_another_width_is_an_error() {
    for (outs, ins, code) in [
        ("b32 d", "b64 a, b32 b", "add.u32 d, a, b;"),
        ("b64 d", "b32 a, b32 b", "add.u32 d, a, b;"),
        ("b16 d", "b32 a, b32 b", "add.u32 d, a, b;"),
        ("b32 d", "b32 a, b64 n", "shl.b32 d, a, n;"),
        ("f64 d", "f32 a", "mov.f64 d, a;"),
        ("b16 d", "b32 a", "cvt.u32.u32 d, a;"),
        ("b64 d", "f32 a", "cvt.rn.f32.f32 d, a;"),
    ] {
        let message = refused(outs, ins, code);
        assert!(message.contains("register"), "{code}: {message}");
    }
}

#[test]
fn products_that_the_emulator_does_not_have_are_errors() {
    let four = "b32 a0, b32 a1, b32 a2, b32 a3, b32 b0, b32 b1, f32 c0, f32 c1, f32 c2, f32 c3, b32 e";
    let ds = "f32 d0, f32 d1, f32 d2, f32 d3";
    let operands = "{d0, d1, d2, d3}, {a0, a1, a2, a3}, {b0, b1}, {c0, c1, c2, c3}";
    for code in [
        format!("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {operands}, e, 0;"),
        format!("mma.sync.aligned.m16n8k16.col.row.f32.f16.f16.f32 {operands};"),
        format!("mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {operands};"),
        format!("mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32 {operands};"),
        format!("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {operands};"),
    ] {
        let message = refused(ds, four, &code);
        assert!(message.starts_with("`mma."), "{message}");
    }
}
