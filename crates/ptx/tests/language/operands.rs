//! Every form of an operand, each with the exact tree it becomes.

use crate::common::{REGISTERS, body, body_error, instruction, module};
use tile33_ptx::Operand::{self, *};
use tile33_ptx::{
    AddressBase, FuncId, Guard, LabelId, Modifier, Opcode, RegId, Space, SpecialRegister, SymbolRef, Type, VarId,
};

fn operands(text: &str) -> Vec<Operand> {
    instruction(text).operands
}

fn register(id: u32) -> Operand {
    Register(RegId(id), None)
}

fn special(register: SpecialRegister, component: Option<u8>) -> Operand {
    Special { register, component }
}

#[test]
fn an_instruction_keeps_its_guard_and_its_modifiers_in_order() {
    let found = instruction("@!%p1 ld.global.nc.L1::no_allocate.L2::128B.v4.f32 {%f0,%f1,%f2,%f3}, [%rd1+16];");
    assert_eq!(found.opcode, Opcode::Ld);
    assert_eq!(
        found.guard,
        Some(Guard {
            register: RegId(0),
            negated: true
        })
    );
    let word = |word: &str| Modifier::Word(word.into());
    assert_eq!(
        found.modifiers[..],
        [
            Modifier::Space(Space::Global),
            word("nc"),
            word("L1::no_allocate"),
            word("L2::128B"),
            Modifier::Vector(4),
            Modifier::Type(Type::F32)
        ]
    );
    assert_eq!(
        found.operands,
        [
            Vector(vec![register(1), register(2), register(3), register(4)]),
            Address {
                base: AddressBase::Register(RegId(5)),
                offset: 16
            }
        ]
    );
}

#[test]
fn state_spaces_with_a_scope_are_spaces() {
    let modifiers = instruction("ld.shared::cluster.b32 %r1, [%r2];").modifiers;
    assert_eq!(
        modifiers[..],
        [Modifier::Space(Space::SharedCluster), Modifier::Type(Type::B32)]
    );
    let modifiers = instruction("st.shared::cta.b32 [%r2], %r1;").modifiers;
    assert_eq!(modifiers[0], Modifier::Space(Space::Shared));
    let modifiers = instruction("ld.param::func.b32 %r1, [%r2];").modifiers;
    assert_eq!(modifiers[0], Modifier::Space(Space::Param));
}

#[test]
fn addresses_take_offsets_of_either_sign_and_constant_expressions() {
    for (text, offset) in [
        ("%rd1", 0),
        ("%rd1+8", 8),
        ("%rd1+-8", -8),
        ("%rd1-8", -8),
        ("%rd1+4*4", 16),
        ("%rd1 + (2<<3)", 16),
        ("%rd1+0x10", 16),
    ] {
        let found = operands(&format!("ld.b32 %r1, [{text}];")).remove(1);
        assert_eq!(
            found,
            Address {
                base: AddressBase::Register(RegId(1)),
                offset
            },
            "{text}"
        );
    }
    let absolute = operands("ld.shared.b32 %r1, [64];").remove(1);
    assert_eq!(
        absolute,
        Address {
            base: AddressBase::Absolute,
            offset: 64
        }
    );
}

#[test]
fn a_symbol_is_an_address_in_brackets_and_a_value_without() {
    let tile = SymbolRef::Variable(VarId::Local(0));
    let found = |text: &str| operands(&format!(".shared .f32 tile[8][4]; {text}")).remove(1);
    assert_eq!(
        found("ld.shared.f32 %f0, [tile+4];"),
        Address {
            base: AddressBase::Symbol(tile),
            offset: 4
        }
    );
    assert_eq!(found("mov.u64 %rd0, tile;"), Symbol(tile, 0));
    assert_eq!(found("mov.u64 %rd0, tile+12;"), Symbol(tile, 12));
    assert_eq!(found("mov.u64 %rd0, tile-12;"), Symbol(tile, -12));
    // An index counts elements of the outermost dimension: rows of 16 bytes.
    assert_eq!(found("mov.u64 %rd0, tile[2];"), Symbol(tile, 32));
    assert_eq!(
        found("ld.shared.f32 %f0, tile[2];"),
        Address {
            base: AddressBase::Symbol(tile),
            offset: 32
        }
    );
}

#[test]
fn special_registers_keep_their_component_or_number() {
    let found = |text: &str| operands(&format!("mov.u32 %r1, {text};")).remove(1);
    assert_eq!(found("%tid.x"), special(SpecialRegister::Tid, Some(0)));
    assert_eq!(found("%nctaid.z"), special(SpecialRegister::NCtaId, Some(2)));
    assert_eq!(
        found("%cluster_ctaid.y"),
        special(SpecialRegister::ClusterCtaId, Some(1))
    );
    assert_eq!(found("%laneid"), special(SpecialRegister::LaneId, None));
    assert_eq!(found("%clock64"), special(SpecialRegister::Clock64, None));
    assert_eq!(found("%envreg3"), special(SpecialRegister::EnvReg, Some(3)));
    assert_eq!(found("%envreg31"), special(SpecialRegister::EnvReg, Some(31)));
    assert_eq!(found("%pm2"), special(SpecialRegister::Pm, Some(2)));
    assert_eq!(found("%pm2_64"), special(SpecialRegister::Pm, Some(10)));
    assert_eq!(found("WARP_SZ"), special(SpecialRegister::WarpSz, None));
    assert_eq!(found("WARP_SZ-1"), Integer(31));
}

#[test]
fn every_special_register_of_the_table_can_be_named() {
    for &register in SpecialRegister::ALL {
        let name = match register {
            SpecialRegister::WarpSz => "WARP_SZ".into(),
            SpecialRegister::EnvReg | SpecialRegister::Pm => format!("%{register}0"),
            _ => format!("%{register}"),
        };
        match operands(&format!("mov.u32 %r1, {name};")).remove(1) {
            Special { register: found, .. } => assert_eq!(found, register),
            other => panic!("{name} became {other:?}"),
        }
    }
}

#[test]
fn every_opcode_of_the_table_begins_an_instruction() {
    for &opcode in Opcode::ALL {
        assert_eq!(instruction(&format!("{opcode};")).opcode, opcode);
    }
}

#[test]
fn results_come_in_pairs_vectors_and_sinks() {
    let pair = |a: Operand, b: Operand| Pair(Box::new(a), Box::new(b));
    assert_eq!(
        operands("setp.lt.s32 %p0|%p1, %r0, %r1;")[0],
        pair(register(0), register(1))
    );
    assert_eq!(
        operands("shfl.sync.down.b32 %r0|%p0, %r1, 4, 31, -1;")[0],
        pair(register(0), register(1))
    );
    assert_eq!(operands("setp.lt.s32 _|%p1, %r0, %r1;")[0], pair(Sink, register(0)));
    assert_eq!(operands("mov.b64 {%r0, _}, %rd0;")[0], Vector(vec![register(0), Sink]));
    assert_eq!(operands("mbarrier.arrive.shared.b64 _, [%r0], 1;")[0], Sink);
    assert_eq!(
        operands("setp.lt.and.s32 %p0, %r0, %r1, !%p1;")[3],
        NotPredicate(RegId(3))
    );
    assert_eq!(operands("mov.pred %p0, !0;")[1], Integer(1));
    assert_eq!(operands("add.s32 %r0, %r1, -7;")[2], Integer(-7));
}

#[test]
fn register_vectors_are_named_whole_and_by_component() {
    let body = body(".reg .v4 .f32 %v; .reg .v2 .b32 %w<3>; .reg .f32 %f; mov.f32 %f, %v.z; mov.b32 %w2.y, %w0.r;");
    assert_eq!((body.registers[0].vector, body.registers[0].ty), (4, Type::F32));
    assert_eq!(
        body.instructions[0].operands,
        [register(1), Register(RegId(0), Some(2))]
    );
    assert_eq!(
        body.instructions[1].operands,
        [Register(RegId(2), Some(1)), Register(RegId(3), Some(0))]
    );
    assert_eq!((body.registers[2].name.as_str(), body.registers[2].vector), ("%w2", 2));
}

#[test]
fn texture_and_tensor_addresses_carry_their_coordinates() {
    let address = |id| Address {
        base: AddressBase::Register(RegId(id)),
        offset: 0,
    };
    assert_eq!(
        operands("tex.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%rd1, {%f4, %f5}];")[1],
        Bracketed(vec![address(4), Vector(vec![register(5), register(6)])])
    );
    assert_eq!(
        operands("tex.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}|%p0, [%rd1, %rd2, {%f4, %f5}], {%r0, %r1}, %f6;")[1],
        Bracketed(vec![address(5), register(6), Vector(vec![register(7), register(8)])])
    );
    let bulk = operands(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster \
         [%r0], [%rd0, {%r1, %r2}], [%r3+8], %rs0;",
    );
    assert_eq!(
        bulk[1],
        Bracketed(vec![address(1), Vector(vec![register(2), register(3)])])
    );
    assert_eq!(
        bulk[2],
        Address {
            base: AddressBase::Register(RegId(4)),
            offset: 8
        }
    );
}

#[test]
fn video_operands_keep_their_sign_and_their_part() {
    assert_eq!(
        operands("vmad.s32.s32.u32.sat %r0, -%r1.h0, %r2.b3, %r3;")[1..3],
        [
            Video {
                register: RegId(1),
                negated: true,
                part: Some("h0".into())
            },
            Video {
                register: RegId(2),
                negated: false,
                part: Some("b3".into())
            }
        ]
    );
}

#[test]
fn branches_name_labels_before_and_after_them() {
    let body = body(&format!("{REGISTERS} top: @%p0 bra end; bra.uni top; end: ret;"));
    let label = |i: usize| body.instructions[i].operands.clone();
    assert_eq!(label(0), [Label(LabelId(1))]);
    assert_eq!(label(1), [Label(LabelId(0))]);
    let targets: Vec<_> = body.labels.iter().map(|l| (l.name.as_str(), l.target)).collect();
    assert_eq!(targets, [("top", 0), ("end", 2)]);
}

#[test]
fn a_branch_table_lists_labels_and_brx_names_it() {
    let body = body(&format!(
        "{REGISTERS} table: .branchtargets b, a, b; brx.idx %r0, table; a: exit; b: ret;"
    ));
    assert_eq!(body.branch_tables[0].name, "table");
    assert_eq!(body.branch_tables[0].targets, [LabelId(1), LabelId(0), LabelId(1)]);
    assert_eq!(body.instructions[0].operands, [register(0), BranchTable(0)]);
}

#[test]
fn calls_list_results_and_arguments_and_may_go_through_a_prototype() {
    let module = module(
        ".func (.param .b32 r) f (.param .b64 a, .param .align 8 .b8 b[12]);
         .func g;
         .visible .entry k() { .reg .b64 %rd<2>; .reg .b32 %r<2>;
           .param .b32 ret; .param .b64 p0;
           call.uni (ret), f, (p0, 5);
           call g;
           proto: .callprototype (.param .b32 _) _ (.param .b64 _) .noreturn;
           list: .calltargets f, g;
           call (ret), %rd0, (p0), proto;
           call (ret), %rd0, (p0), list;
         }",
    );
    let body = module.kernel("k").and_then(|k| k.body.as_ref()).expect("k is defined");
    let local = |id| Symbol(SymbolRef::Variable(VarId::Local(id)), 0);
    let function = |id| Symbol(SymbolRef::Function(FuncId(id)), 0);
    assert_eq!(
        body.instructions[0].operands,
        [List(vec![local(0)]), function(0), List(vec![local(1), Integer(5)])]
    );
    assert_eq!(body.instructions[1].operands, [function(1)]);
    assert_eq!(
        body.instructions[2].operands,
        [List(vec![local(0)]), register(0), List(vec![local(1)]), Prototype(0)]
    );
    assert_eq!(body.instructions[3].operands[3], CallTargets(0));
    assert_eq!(
        (body.prototypes[0].returns.len(), body.prototypes[0].params.len()),
        (1, 1)
    );
    assert!(body.prototypes[0].noreturn);
    assert_eq!(body.call_targets[0].targets, [FuncId(0), FuncId(1)]);
}

#[test]
fn modifiers_are_the_same_however_they_are_written() {
    let body = body(&format!(
        "{REGISTERS} ld.global.v2.f32 {{%f1, %f2}}, [%rd1]; ld .global\n.v2 .f32 {{%f1, %f2}}, [%rd1];
         ld.global/**/.v2.f32 {{%f1, %f2}}, [%rd1]; ld.global.v2.f32 {{%f1, %f2}}, [%rd1];"
    ));
    let first = &body.instructions[0];
    assert_eq!(first.modifiers.len(), 3);
    for other in &body.instructions[1..] {
        assert_eq!(
            (other.opcode, &other.modifiers, &other.operands),
            (first.opcode, &first.modifiers, &first.operands)
        );
    }
    // A mistake in the middle is found, and its place.
    let error = body_error("ld.global.v2..f32 %f1, [%rd1];");
    assert_eq!(
        (error.message.as_str(), error.column),
        ("expected a word after the dot", 13)
    );
}
