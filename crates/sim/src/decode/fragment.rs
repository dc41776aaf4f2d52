//! `wmma.load` and `wmma.store`: which element of the matrix each lane's registers hold.

use tile33_ptx::{Instruction, Operand, Type};

use super::access::address;
use super::operands::Resolver;
use super::ops::{Fragment, Op};
use super::words::{Result, Words};
use crate::alu::{self, Operands, Shape, Unsupported, wmma_element, wmma_registers};

/// `wmma.load.{a,b,c}`, `wmma.store.d`. `None` for `wmma.mma`.
pub(crate) fn fragment(at: &mut Resolver<'_>, inst: &Instruction) -> Result<Option<Op>> {
    let mut words = Words::new(inst);
    let store = words.take("store");
    if !store && !words.take("load") {
        return Ok(None);
    }
    words.take("sync");
    words.take("aligned");
    let which = words.choice(&[
        ("a", alu::Fragment::A),
        ("b", alu::Fragment::B),
        ("c", alu::Fragment::C),
        ("d", alu::Fragment::C),
    ]);
    let which = which.ok_or_else(|| Unsupported::because("it names no fragment"))?;
    let column_major = match words.choice(&[("row", false), ("col", true)]) {
        Some(column_major) => column_major,
        None => return Err(Unsupported::because("it names no layout")),
    };
    let shape_word = words.rest().first().copied().unwrap_or_default();
    let shape = Shape::from_word(shape_word).ok_or_else(|| Unsupported::because("it names no shape"))?;
    words.take(shape_word);
    let space = words.space()?;
    let ty = words.ty()?;
    let bits = match ty {
        Type::B1 => 1,
        Type::U4 | Type::S4 => 4,
        Type::U8 | Type::S8 => 8,
        Type::F16 | Type::Bf16 => 16,
        Type::F32 | Type::S32 | Type::Tf32 => 32,
        Type::F64 => 64,
        other => return Err(Unsupported::because(format!("type `.{other}`"))),
    };
    let count = wmma_registers(which, shape, bits, ty == Type::F16)
        .ok_or_else(|| Unsupported::because(format!("shape {shape_word} of type `.{ty}`")))?;
    let (registers, place) = if store { (1, 0) } else { (0, 1) };
    let register_type = if bits == 64 { Type::F64 } else { Type::B32 };
    let cells = at.cells(words.operand(registers)?, register_type, !store)?;
    if cells.len() != count {
        return Err(Unsupported::because(format!(
            "{} registers for a fragment of {count}",
            cells.len()
        )));
    }
    let addr = address(at, words.operand(place)?, space)?;
    let (rows, columns) = shape.extents(which);
    // Without a stride the matrix is dense.
    let stride = match words.operands.get(2) {
        Some(operand @ (Operand::Register(..) | Operand::Integer(_))) => at.source(operand, Type::U32)?,
        _ => at.constant(if column_major { rows } else { columns } as u128, Type::U32),
    };
    words.done(2, 3)?;
    let elements = count * if bits == 64 { 1 } else { 32 / bits as usize };
    let places = (0..elements)
        .map(|element| {
            std::array::from_fn(|lane| {
                let (row, column) = wmma_element(which, shape, bits, lane, element);
                (row as u8, column as u8)
            })
        })
        .collect();
    let fragment = Fragment {
        addr,
        stride,
        places,
        column_major,
        element_bits: bits,
        cells,
        store,
    };
    Ok(Some(Op::Fragment(Box::new(fragment))))
}
