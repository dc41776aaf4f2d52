//! Nested scopes: what shadows what, and which label a branch means.

use tile33_ptx::{Body, LabelId, Operand, RegId, Type};

use crate::common::{body, body_error};

/// Type of the register that each `mov` writes.
fn written(body: &Body) -> Vec<Type> {
    let register = |operand: &Operand| match operand {
        Operand::Register(RegId(id), _) => body.registers[*id as usize].ty,
        other => panic!("{other:?} is no register"),
    };
    body.instructions.iter().map(|i| register(&i.operands[0])).collect()
}

#[test]
fn an_inner_register_shadows_an_outer_one_until_its_scope_ends() {
    let body = body(
        ".reg .b32 t; mov.b32 t, 0;
         { mov.b32 t, 0; .reg .b64 t; mov.b64 t, 0; { .reg .f32 t; mov.f32 t, 0f00000000; } mov.b64 t, 0; }
         mov.b32 t, 0;",
    );
    assert_eq!(
        written(&body),
        [Type::B32, Type::B32, Type::B64, Type::F32, Type::B64, Type::B32]
    );
    assert_eq!(body.instructions[0].operands[0], body.instructions[5].operands[0]);
}

#[test]
fn an_inner_range_shadows_the_members_that_it_has() {
    let body = body(
        ".reg .b32 %r<10>; mov.b32 %r3, 0; mov.b32 %r7, 0;
         { .reg .f32 %r<5>; mov.f32 %r3, 0f00000000; mov.b32 %r7, 0; }
         { .reg .f64 %r7; mov.f64 %r7, 0d0000000000000000; mov.b32 %r3, 0; }
         mov.b32 %r3, 0;",
    );
    use Type::*;
    assert_eq!(written(&body), [B32, B32, F32, B32, F64, B32, B32]);
    assert_eq!(body.instructions[1].operands[0], body.instructions[3].operands[0]);
    assert_eq!(body.instructions[0].operands[0], body.instructions[6].operands[0]);
}

#[test]
fn a_prefix_may_end_in_a_digit() {
    let body = body(".reg .b32 %r<3>; .reg .f32 %r1<5>; mov.b32 %r2, 0; mov.f32 %r12, 0f00000000; mov.b32 %r1, 0;");
    assert_eq!(written(&body), [Type::B32, Type::F32, Type::B32]);
    assert_eq!(body_error(".reg .b32 %x<20>; mov.b32 %x07, 0;").found, "%x07");
}

#[test]
fn two_scopes_may_declare_the_same_names() {
    let call = "{ .reg .b32 temp; .param .b64 param0; st.param.b64 [param0], 1; }";
    let body = body(&format!("{call}\n{call}"));
    assert_eq!((body.registers.len(), body.variables.len()), (2, 2));
    assert_ne!(body.instructions[0].operands[0], body.instructions[1].operands[0]);
}

#[test]
fn a_branch_means_the_innermost_label_even_when_it_comes_later() {
    let body = body(
        "wait: { wait: bra wait; bra out; { bra wait; wait: } }
         { bra wait; bra out; { bra out; } out: }
         out: ret;",
    );
    let labels: Vec<_> = body.labels.iter().map(|l| (l.name.as_str(), l.target)).collect();
    assert_eq!(labels, [("wait", 0), ("wait", 0), ("wait", 3), ("out", 6), ("out", 6)]);
    let targets: Vec<_> = body.instructions[..6].iter().map(|i| i.operands[0].clone()).collect();
    assert_eq!(targets, [1, 4, 2, 0, 3, 3].map(|id| Operand::Label(LabelId(id))));
}

#[test]
fn a_label_inside_a_scope_is_not_seen_outside() {
    let error = body_error("bra inner; { inner: ret; }");
    assert_eq!((error.line, error.column, error.found.as_str()), (6, 5, "inner"));
}

#[test]
fn a_name_may_not_be_declared_twice_in_one_scope() {
    assert_eq!(body_error(".reg .b32 t, t;").found, "t");
    assert_eq!(body_error(".reg .b32 %q<3>; .reg .f32 %q<4>;").found, "%q");
    assert_eq!(body_error(".shared .b32 s; .local .b32 s;").found, "s");
    assert_eq!(body_error("l: ret; l: ret;").found, "l");
}
