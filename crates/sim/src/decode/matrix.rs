//! `ldmatrix`, `stmatrix`: 8x8 matrices between shared memory and a warp's registers.

use tile33_ptx::{Instruction, Opcode, Operand, Type};

use super::access::address;
use super::operands::Resolver;
use super::ops::{Matrix, MemSpace, Op};
use super::words::{Result, Words};
use crate::alu::{Operands, Unsupported};

/// `ldmatrix`, `stmatrix`
pub(crate) fn matrix(at: &mut Resolver<'_>, inst: &Instruction) -> Result<Op> {
    let store = inst.opcode == Opcode::Stmatrix;
    let mut words = Words::new(inst);
    words.take("sync");
    words.take("aligned");
    if !words.take("m8n8") {
        return Err(Unsupported::because("a shape other than m8n8"));
    }
    let Some(count) = words.choice(&[("x1", 1), ("x2", 2), ("x4", 4)]) else {
        return Err(Unsupported::because("a number of matrices other than x1, x2 and x4"));
    };
    let transposed = words.take("trans");
    let space = words.space()?;
    match words.ty()? {
        Type::B16 => {}
        other => return Err(Unsupported::because(format!("type `.{other}`"))),
    }
    let (registers, place) = if store { (1, 0) } else { (0, 1) };
    let cells = match words.operand(registers)? {
        Operand::Vector(all) => all.clone(),
        one => vec![one.clone()],
    };
    if cells.len() != count {
        return Err(Unsupported::because(format!(
            "{} registers for {count} matrices",
            cells.len()
        )));
    }
    let cells = cells
        .iter()
        .map(|operand| {
            if store {
                at.source(operand, Type::B32)
            } else {
                at.dest(operand, Type::B32)
            }
        })
        .collect::<Result<_>>()?;
    let space = if space == MemSpace::Generic {
        MemSpace::Generic
    } else {
        MemSpace::Shared
    };
    let addr = address(at, words.operand(place)?, space)?;
    words.done(2, 2)?;
    Ok(Op::Matrix {
        matrix: Box::new(Matrix {
            addr,
            cells,
            transposed,
        }),
        store,
    })
}
