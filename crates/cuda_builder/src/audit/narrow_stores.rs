//! Stores of the low bits of a number that a floating-point instruction made.
//!
//! `st.b8 [a], %r` stores the lowest byte of a register of 32 bits. Where `%r` is the result of `add.f32`, the assembler
//! of CUDA 13.0 (driver 580, on `sm_90`) takes the store for one of a number: it converts to an integer first, and
//! saturates. `(x + 8388608.0).to_bits() as u8` then is 255, whatever x is.

use std::collections::HashSet;

use tile33_ptx::{Body, Instruction, Modifier, Module, Opcode, Operand, RegId, Type};

use super::{functions, instructions, kernels_reaching, place};

/// One line for each such store.
pub(super) fn findings(module: &Module) -> Vec<String> {
    let mut findings = Vec::new();
    for (id, function) in functions(module) {
        let Some(body) = &function.body else { continue };
        let floats = floats(body);
        for store in instructions(function).filter(|instruction| instruction.opcode == Opcode::St) {
            let Some(stored) = types(store).last() else { continue };
            let narrow = store
                .operands
                .iter()
                .skip(1)
                .flat_map(super::flatten)
                .any(|operand| match operand {
                    Operand::Register(register, _) => {
                        floats.contains(register) && stored.bytes() < body.registers[register.0 as usize].ty.bytes()
                    }
                    _ => false,
                });
            if narrow {
                findings.push(format!(
                    "{} stores the low bits of a floating-point number ({}), which the assembler takes for a conversion: \
                     let an integer operation make them, `(x.to_bits() - 2) as u8` of an x that is 2 units larger",
                    kernels_reaching(module, id),
                    place(module, store)
                ));
            }
        }
    }
    findings.dedup();
    findings
}

/// The registers that hold a result of a floating-point instruction, moved or chosen or not.
fn floats(body: &Body) -> HashSet<RegId> {
    let mut floats = HashSet::new();
    loop {
        let before = floats.len();
        for instruction in &body.instructions {
            let Some(Operand::Register(to, _)) = instruction.operands.first() else {
                continue;
            };
            // A comparison's result is no number.
            if body.registers[to.0 as usize].ty == Type::Pred {
                continue;
            }
            let passed_on = matches!(instruction.opcode, Opcode::Mov | Opcode::Selp)
                && instruction.operands[1..]
                    .iter()
                    .any(|operand| matches!(operand, Operand::Register(from, _) if floats.contains(from)));
            let copies = matches!(
                instruction.opcode,
                Opcode::Ld | Opcode::Ldu | Opcode::Mov | Opcode::Selp
            );
            if passed_on || !copies && types(instruction).next().is_some_and(is_float) {
                floats.insert(*to);
            }
        }
        if floats.len() == before {
            return floats;
        }
    }
}

fn is_float(ty: Type) -> bool {
    matches!(
        ty,
        Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2 | Type::Tf32 | Type::F32 | Type::F32x2 | Type::F64
    )
}

fn types(instruction: &Instruction) -> impl Iterator<Item = Type> {
    instruction.modifiers.iter().filter_map(|modifier| match modifier {
        Modifier::Type(ty) => Some(*ty),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn audit(body: &str) -> Vec<String> {
        let ptx = format!(
            ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p) {{
             .reg .b16 %h<3>; .reg .b32 %r<5>; .reg .b64 %rd<3>; .reg .pred %p<2>;\n{body} ret; }}"
        );
        findings(&tile33_ptx::parse(&ptx).unwrap_or_else(|error| panic!("{error}")))
    }

    #[test]
    fn the_low_bits_of_a_floating_point_result_are_found_and_moves_do_not_hide_it() {
        let made = "add.f32 %r1, %r2, 0f4B000000;";
        for store in [
            "st.global.b8 [%rd1], %r1;",
            "st.global.b16 [%rd1], %r1;",
            "st.global.v2.b8 [%rd1], {%r2, %r1};",
            "mov.b32 %r3, %r1; st.shared.u8 [%rd1], %r3;",
            "selp.b32 %r3, %r2, %r1, %p1; st.b8 [%rd1], %r3;",
        ] {
            let findings = audit(&format!("{made} {store}"));
            assert_eq!(findings.len(), 1, "{store}");
            assert!(
                findings[0].starts_with("kernel `k` stores the low bits"),
                "{}",
                findings[0]
            );
        }
    }

    #[test]
    fn whole_numbers_and_results_of_integer_operations_are_sound() {
        for sound in [
            "add.f32 %r1, %r2, 0f4B000000; st.global.b32 [%rd1], %r1;",
            "add.f32 %r1, %r2, 0f4B000000; add.s32 %r3, %r1, -2; st.global.b8 [%rd1], %r3;",
            "add.f32 %r1, %r2, 0f4B000000; cvt.u16.u32 %h1, %r1; st.global.b8 [%rd1], %h1;",
            "cvt.rzi.u32.f32 %r1, %r2; st.global.b8 [%rd1], %r1;",
            "ld.global.f32 %r1, [%rd1]; st.global.b8 [%rd1], %r1;",
            "setp.gt.f32 %p1, %r2, 0f00000000; selp.b32 %r1, 1, 0, %p1; st.shared.b8 [%rd1], %r1;",
            "add.f16 %h1, %h2, %h2; st.global.b16 [%rd1], %h1;",
        ] {
            assert_eq!(audit(sound), [""; 0], "{sound}");
        }
    }
}
