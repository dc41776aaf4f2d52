//! The cases as a PTX module, and their operands.

use std::fmt::Write;

use super::cases::{Group, Operands};
use super::operands::{Random, float_edges, float_shape, integer_edges, random_float};

/// Threads that run each group, an operand row each; whole warps.
pub(crate) const ROWS: usize = 1024;

/// Threads of a block.
pub(crate) const BLOCK: u32 = 128;

/// The rows of an approximation that are recorded.
pub(crate) fn sampled() -> impl Iterator<Item = usize> {
    (0..ROWS).step_by(16)
}

/// Bytes that a register takes in a buffer.
fn bytes(register: &str) -> usize {
    match register {
        "b16" => 2,
        "b64" | "f64" => 8,
        _ => 4,
    }
}

/// Bytes of a group's results.
pub(crate) fn result_bytes(group: &Group) -> usize {
    case_bytes(group) * group.cases.len()
}

/// Bytes of one case's results: all threads' first result, then all threads' second one.
pub(crate) fn case_bytes(group: &Group) -> usize {
    group.outs.iter().map(|(register, _)| bytes(register) * ROWS).sum()
}

/// The results of one row of a case.
pub(crate) fn row(group: &Group, case: &[u8], row: usize) -> Vec<u64> {
    let mut at = 0;
    group
        .outs
        .iter()
        .map(|(register, _)| {
            let width = bytes(register);
            let mut value = [0; 8];
            value[..width].copy_from_slice(&case[at + row * width..][..width]);
            at += width * ROWS;
            u64::from_le_bytes(value)
        })
        .collect()
}

/// The operands of one row.
pub(crate) fn operand_row(group: &Group, data: &[u8], row: usize) -> Vec<u64> {
    let mut at = 0;
    group
        .ins
        .iter()
        .map(|(register, _)| {
            let width = bytes(register);
            let mut value = [0; 8];
            value[..width].copy_from_slice(&data[at + row * width..][..width]);
            at += width * ROWS;
            u64::from_le_bytes(value)
        })
        .collect()
}

/// The buffer of a group's operands: all threads' first operand, then all threads' second one.
pub(crate) fn operands(group: &Group) -> Vec<u8> {
    let mut random = Random::of(&group.name);
    let rows: Vec<Vec<u64>> = (0..ROWS).map(|row| operand_values(group, row, &mut random)).collect();
    let mut data = Vec::new();
    for (k, (register, _)) in group.ins.iter().enumerate() {
        for row in &rows {
            data.extend_from_slice(&row[k].to_le_bytes()[..bytes(register)]);
        }
    }
    data
}

/// One row. The first rows walk through pairs of edges, the others are mostly random.
fn operand_values(group: &Group, row: usize, random: &mut Random) -> Vec<u64> {
    let mut last = None;
    let mut values = Vec::new();
    for (k, ((register, _), kind)) in group.ins.iter().zip(&group.operands).enumerate() {
        let bits = if *register == "pred" {
            1
        } else {
            8 * bytes(register) as u32
        };
        let value: u128 = match kind {
            Operands::Integers => integer(bits, row, k, random),
            Operands::Floats(ty) => {
                let one = |random: &mut Random, last| float(ty, row, k, last, random);
                let low = one(random, last);
                last = Some(low);
                let own = float_bits(ty);
                if own < bits {
                    one(random, last) << own | low
                } else {
                    low
                }
            }
            Operands::Whole(ty) => {
                let own = float_bits(ty);
                (0..bits / own).map(|i| whole(ty, random) << (own * i)).sum()
            }
        };
        values.push(value as u64);
    }
    values
}

fn float_bits(ty: &str) -> u32 {
    let (exponent, fraction) = float_shape(ty);
    1 + exponent + fraction
}

fn integer(bits: u32, row: usize, k: usize, random: &mut Random) -> u128 {
    let mask = (1u128 << bits) - 1;
    let edges = integer_edges(bits);
    let any = u128::from(random.next());
    let small = any & ((2 << random.below(u64::from(bits))) - 1);
    let edge = edges[random.below(edges.len() as u64) as usize];
    let value = match (row, random.below(4)) {
        (0..512, _) if k < 2 => edge,
        (_, 0) => edge,
        (_, 1) => small,
        (_, 2) => !small,
        _ => any,
    };
    value & mask
}

fn float(ty: &str, row: usize, k: usize, last: Option<u128>, random: &mut Random) -> u128 {
    let edges = float_edges(ty);
    let edge = edges[random.below(edges.len() as u64) as usize];
    match (row, random.below(5)) {
        (0..512, _) if k < 2 => edge,
        (_, 0) => edge,
        (_, 1) => random_float(ty, random, None),
        (_, 2) => random_float(ty, random, Some(one(ty))),
        _ => random_float(ty, random, Some(last.unwrap_or_else(|| one(ty)))),
    }
}

/// The bits of 1.
fn one(ty: &str) -> u128 {
    let (exponent, fraction) = float_shape(ty);
    ((1 << (exponent - 1)) - 1) << fraction
}

/// A whole number from -4 to 4, as a float.
fn whole(ty: &str, random: &mut Random) -> u128 {
    let (exponent, fraction) = float_shape(ty);
    let sign = u128::from(random.below(2)) << (exponent + fraction);
    // 1, 1.5 times 2, and so on: one bit of fraction at most.
    let place = 1 << (fraction - 1);
    sign | match random.below(5) {
        0 => 0,
        1 => one(ty),
        2 => one(ty) + (1 << fraction),
        3 => one(ty) + (1 << fraction) + place,
        _ => one(ty) + (2 << fraction),
    }
}

/// The module's text.
pub(crate) fn ptx(groups: &[Group]) -> String {
    let mut text = String::from(
        "// Every register-only instruction, type and modifier. Made by `cargo xtask-gpu differential --write`; do not edit.\n\
         .version 8.8\n.target sm_90\n.address_size 64\n",
    );
    for group in groups {
        kernel(&mut text, group).expect("writing to a string does not fail");
    }
    text
}

fn kernel(text: &mut String, group: &Group) -> std::fmt::Result {
    let name = &group.name;
    writeln!(
        text,
        "\n.visible .entry {name}(.param .u64 {name}_in, .param .u64 {name}_out)\n{{"
    )?;
    writeln!(
        text,
        ".reg .b32 %x, %n, %t, %i, %q;\n.reg .b64 %in, %out, %at, %in2, %in4, %in8, %out2, %out4, %out8;"
    )?;
    for (register, operand) in group.ins.iter().chain(&group.outs) {
        writeln!(text, ".reg .{register} {operand};")?;
    }
    text.push_str("mov.u32 %x, %ctaid.x;\nmov.u32 %n, %ntid.x;\nmov.u32 %t, %tid.x;\nmad.lo.s32 %i, %x, %n, %t;\n");
    for end in ["in", "out"] {
        writeln!(
            text,
            "ld.param.u64 %{end}, [{name}_{end}];\ncvta.to.global.u64 %{end}, %{end};"
        )?;
        for width in [2, 4, 8] {
            writeln!(
                text,
                "mul.wide.u32 %at, %i, {width};\nadd.s64 %{end}{width}, %{end}, %at;"
            )?;
        }
    }
    let mut at = 0;
    for (register, operand) in &group.ins {
        let width = bytes(register);
        if *register == "pred" {
            writeln!(text, "ld.global.u32 %q, [%in4+{at}];\nsetp.ne.u32 {operand}, %q, 0;")?;
        } else {
            writeln!(text, "ld.global.{register} {operand}, [%in{width}+{at}];")?;
        }
        at += width * ROWS;
    }
    let mut at = 0;
    for case in &group.cases {
        writeln!(text, "{}", case.code)?;
        for (register, result) in &group.outs {
            let width = bytes(register);
            if *register == "pred" {
                writeln!(text, "selp.u32 %q, 1, 0, {result};\nst.global.u32 [%out4+{at}], %q;")?;
            } else {
                writeln!(text, "st.global.{register} [%out{width}+{at}], {result};")?;
            }
            at += width * ROWS;
        }
    }
    text.push_str("ret;\n}\n");
    Ok(())
}
