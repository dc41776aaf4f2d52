//! Addresses as values: `cvta`, `isspacep`.

use tile33_ptx::{Instruction, Type};

use super::operands::Resolver;
use super::ops::{MemSpace, Op};
use super::words::{Result, Words, mem_space};
use crate::alu::{Operands, Unsupported};
use crate::memory::{CONST_WINDOW, LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW};

/// First generic address of a space: what `cvta` adds.
pub(crate) fn window(space: MemSpace) -> u64 {
    match space {
        MemSpace::Generic | MemSpace::Global => 0,
        MemSpace::Shared => SHARED_WINDOW,
        MemSpace::Local => LOCAL_WINDOW,
        MemSpace::Const => CONST_WINDOW,
        MemSpace::Param => PARAM_WINDOW,
    }
}

/// `cvta`, `cvta.to`
pub(crate) fn convert(at: &mut Resolver<'_>, inst: &Instruction) -> Result<Op> {
    let mut words = Words::new(inst);
    let to_space = words.take("to");
    let space = words.space()?;
    if space == MemSpace::Generic {
        return Err(Unsupported::because("it names no state space"));
    }
    let ty = words.ty()?;
    if !matches!(ty, Type::U64 | Type::U32 | Type::B64 | Type::B32) {
        return Err(Unsupported::because(format!("type `.{ty}`")));
    }
    let dest = at.dest(words.operand(0)?, ty)?;
    let source = at.source(words.operand(1)?, ty)?;
    words.done(2, 2)?;
    Ok(Op::Convert {
        dest,
        source,
        wide: ty.bytes() == 8,
        window: window(space),
        to_generic: !to_space,
    })
}

/// `isspacep`
pub(crate) fn is_space(at: &mut Resolver<'_>, inst: &Instruction) -> Result<Op> {
    let words = Words::new(inst);
    let Some(space) = words.spaces.first().copied() else {
        return Err(Unsupported::because("it names no state space"));
    };
    let dest = at.pred_dest(words.operand(0)?)?;
    let operand = words.operand(1)?;
    let wide = at.declared(operand).is_none_or(|ty| ty.bytes() == 8);
    let source = at.source(operand, if wide { Type::U64 } else { Type::U32 })?;
    Ok(Op::IsSpace {
        dest,
        source,
        wide,
        space: mem_space(space)?,
    })
}
