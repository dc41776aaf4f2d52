//! Loads, stores, atomics, asynchronous copies: their addresses, widths, registers and memory order.

use tile33_ptx::{AddressBase, Instruction, Opcode, Operand, Type};

use super::operands::{Resolver, SymbolPlace};
use super::ops::{
    Addr, AsyncCopy, Atomic, AtomicOp, AtomicType, Base, Element, Load, MemSpace, Op, Order, Scope, Store,
};
use super::words::{Result, Words};
use crate::alu::{Operands, Unsupported};
use crate::registers::Slot;

/// `[base + offset]` in a space.
pub(crate) fn address(at: &mut Resolver<'_>, operand: &Operand, space: MemSpace) -> Result<Addr> {
    let (base, offset) = match operand {
        Operand::Address { base, offset } => (*base, *offset),
        // `ld.param.u32 r, symbol` without brackets is not PTX; `mbarrier` forms take a register directly in no case.
        _ => {
            return Err(Unsupported::because(
                "an operand that is no address where one is wanted",
            ));
        }
    };
    Ok(match base {
        AddressBase::Register(id) => {
            let wide = at.body.registers.get(id.0 as usize).is_some_and(|r| r.ty.bytes() == 8);
            let slot = at.register(id, None)?;
            Addr {
                space,
                base: if wide { Base::Wide(slot) } else { Base::Narrow(slot) },
                offset,
            }
        }
        AddressBase::Absolute => {
            let zero = at.constant(0, Type::U64);
            Addr {
                space,
                base: Base::Wide(zero),
                offset,
            }
        }
        AddressBase::Symbol(symbol) => match at.symbol(symbol, offset)? {
            SymbolPlace::Fixed(value) => {
                let slot = at.pools.constant(value, 2);
                Addr {
                    space,
                    base: Base::Wide(slot),
                    offset: 0,
                }
            }
            SymbolPlace::Frame(offset) => {
                let space = if space == MemSpace::Param {
                    space
                } else {
                    MemSpace::Local
                };
                Addr {
                    space,
                    base: Base::Frame,
                    offset,
                }
            }
            SymbolPlace::KernelParam(offset) => Addr {
                space: MemSpace::Param,
                base: Base::KernelParam,
                offset,
            },
        },
    })
}

fn element(ty: Type) -> Result<Element> {
    let signed = matches!(ty, Type::S8 | Type::S16 | Type::S32 | Type::S64);
    match ty {
        Type::Pred | Type::U4 | Type::S4 | Type::B1 | Type::U2 | Type::S2 => {
            Err(Unsupported::because(format!("type `.{ty}` in memory")))
        }
        _ => Ok(Element {
            bytes: ty.bytes(),
            signed,
        }),
    }
}

/// `ld`, `ldu`
pub(crate) fn load(at: &mut Resolver<'_>, inst: &Instruction) -> Result<Op> {
    let mut words = Words::new(inst);
    words.cache_hints();
    words.take("nc");
    let (order, scope) = words.order(Order::Weak);
    let (space, vector, ty) = (words.space()?, words.vector, words.ty()?);
    let element = element(ty)?;
    let cells = at.cells(words.operand(0)?, ty, true)?;
    let addr = address(at, words.operand(1)?, space)?;
    check_vector(&cells.len(), vector)?;
    check_widths(&cells, element)?;
    // A cache policy may follow.
    words.done(2, 3)?;
    Ok(Op::Load(Box::new(Load {
        addr,
        element,
        cells,
        order,
        scope,
    })))
}

/// `st`
pub(crate) fn store(at: &mut Resolver<'_>, inst: &Instruction) -> Result<Op> {
    let mut words = Words::new(inst);
    words.cache_hints();
    if words.rest().contains(&"async") || words.rest().contains(&"bulk") {
        return Err(Unsupported::because("asynchronous stores to other blocks of a cluster"));
    }
    let (order, scope) = words.order(Order::Weak);
    let (space, vector, ty) = (words.space()?, words.vector, words.ty()?);
    let element = element(ty)?;
    let addr = address(at, words.operand(0)?, space)?;
    let cells = at.cells(words.operand(1)?, ty, false)?;
    check_vector(&cells.len(), vector)?;
    check_widths(&cells, element)?;
    words.done(2, 3)?;
    Ok(Op::Store(Box::new(Store {
        addr,
        element,
        cells,
        order,
        scope,
    })))
}

fn check_vector(cells: &usize, vector: u8) -> Result<()> {
    if *cells == usize::from(vector) {
        return Ok(());
    }
    Err(Unsupported::because(format!(
        "{cells} registers for a vector of {vector}"
    )))
}

/// PTX lets a load or store use a register wider than the element, never a narrower one.
fn check_widths(cells: &[super::ops::Cell], element: Element) -> Result<()> {
    match cells.iter().find(|c| c.bytes < element.bytes) {
        None => Ok(()),
        Some(c) => Err(Unsupported::because(format!(
            "a register of {} bytes for an element of {} bytes",
            c.bytes, element.bytes
        ))),
    }
}

/// `atom`, `red`
pub(crate) fn atomic(at: &mut Resolver<'_>, inst: &Instruction) -> Result<Op> {
    let mut words = Words::new(inst);
    words.cache_hints();
    if words.rest().contains(&"async") {
        return Err(Unsupported::because(
            "asynchronous reductions to other blocks of a cluster",
        ));
    }
    let returns = inst.opcode == Opcode::Atom;
    words.take("noftz");
    let (order, scope) = words.order(Order::Relaxed);
    let ops = [
        ("add", AtomicOp::Add),
        ("min", AtomicOp::Min),
        ("max", AtomicOp::Max),
        ("inc", AtomicOp::Inc),
        ("dec", AtomicOp::Dec),
        ("and", AtomicOp::And),
        ("or", AtomicOp::Or),
        ("xor", AtomicOp::Xor),
        ("exch", AtomicOp::Exch),
        ("cas", AtomicOp::Cas),
    ];
    let Some(op) = words.choice(&ops) else {
        return Err(Unsupported::because("it names no operation"));
    };
    let (space, vector, ty) = (words.space()?, words.vector, words.ty()?);
    let kind = atomic_type(op, ty)?;
    let mut next = 0;
    let mut dests = Vec::new();
    if returns {
        let operand = words.operand(0)?;
        dests = at.cells(operand, ty, true)?;
        let unread = |o: &Operand| match o {
            Operand::Sink => true,
            Operand::Register(id, _) => !at.places.allocation.read.get(id.0 as usize).copied().unwrap_or(true),
            _ => false,
        };
        let all_unread = match operand {
            Operand::Vector(all) => all.iter().all(unread),
            one => unread(one),
        };
        // Compilers write `atom` with a result that nobody reads where `red` would do.
        if all_unread {
            dests.clear();
        }
        next = 1;
    }
    let addr = address(at, words.operand(next)?, space)?;
    let sources = at.cells(words.operand(next + 1)?, ty, false)?;
    check_vector(&sources.len(), vector)?;
    let swap = match op {
        AtomicOp::Cas => Some(at.cell(words.operand(next + 2)?, ty, false)?),
        _ => None,
    };
    let last = next + if swap.is_some() { 3 } else { 2 };
    words.done(last, last + 1)?;
    Ok(Op::Atomic(Box::new(Atomic {
        addr,
        op,
        ty: kind,
        bytes: ty.bytes(),
        observes: returns,
        dests,
        sources,
        swap,
        order,
        scope,
    })))
}

fn atomic_type(op: AtomicOp, ty: Type) -> Result<AtomicType> {
    use AtomicOp as O;
    use AtomicType as T;
    let kind = match ty {
        Type::U32 | Type::U64 => T::Unsigned,
        Type::S32 | Type::S64 => T::Signed,
        Type::B16 | Type::B32 | Type::B64 | Type::B128 => T::Bits,
        Type::F16 => T::F16,
        Type::Bf16 => T::Bf16,
        Type::F16x2 => T::F16x2,
        Type::Bf16x2 => T::Bf16x2,
        Type::F32 => T::F32,
        Type::F64 => T::F64,
        other => return Err(Unsupported::because(format!("type `.{other}`"))),
    };
    let float = matches!(kind, T::F16 | T::Bf16 | T::F16x2 | T::Bf16x2 | T::F32 | T::F64);
    let fits = match op {
        O::Exch | O::Cas => !float,
        O::And | O::Or | O::Xor => kind == T::Bits,
        O::Inc | O::Dec => ty == Type::U32,
        O::Add => kind != T::Bits,
        O::Min | O::Max => kind != T::Bits && kind != T::F64,
    };
    if fits {
        return Ok(kind);
    }
    Err(Unsupported::because(format!("type `.{ty}` for this operation")))
}

/// `cp.async`, its groups, `cp.async.mbarrier.arrive`; not the bulk and tensor forms.
pub(crate) fn copy(at: &mut Resolver<'_>, inst: &Instruction) -> Result<Op> {
    let mut words = Words::new(inst);
    if !words.take("async") {
        return Err(Unsupported::because("a copy of this form"));
    }
    if words.rest().iter().any(|w| matches!(*w, "bulk" | "tensor" | "reduce")) {
        return Err(Unsupported::because("bulk and tensor copies (TMA) are not emulated"));
    }
    if words.take("commit_group") {
        words.done(0, 0)?;
        return Ok(Op::AsyncCommit);
    }
    if words.take("wait_all") {
        words.done(0, 0)?;
        return Ok(Op::AsyncWait { pending: None });
    }
    if words.take("wait_group") {
        let Operand::Integer(pending) = *words.operand(0)? else {
            return Err(Unsupported::because("a number of groups that is no constant"));
        };
        words.done(1, 1)?;
        return Ok(Op::AsyncWait {
            pending: Some(pending.clamp(0, i64::from(u32::MAX)) as u32),
        });
    }
    if words.take("mbarrier") {
        words.take("arrive");
        let no_increment = words.take("noinc");
        words.take("b64");
        words.types.clear();
        let space = words.space()?;
        let addr = address(at, words.operand(0)?, space)?;
        words.done(1, 1)?;
        return Ok(Op::Mbarrier(Box::new(super::ops::Mbarrier {
            addr: Some(addr),
            op: super::ops::MbarrierOp::ArriveAfterCopies { no_increment },
            order: Order::Release,
        })));
    }
    words.cache_hints();
    words.spaces.clear();
    let to = address(at, words.operand(0)?, MemSpace::Shared)?;
    let from = address(at, words.operand(1)?, MemSpace::Global)?;
    let bytes = match *words.operand(2)? {
        Operand::Integer(n @ (4 | 8 | 16)) => n as u32,
        _ => return Err(Unsupported::because("a size other than 4, 8 and 16 bytes")),
    };
    let (mut source_bytes, mut ignore) = (None, None);
    let count = words.operands.len();
    if let Some(operand) = words.operands.get(3) {
        let is_predicate = at.declared(operand) == Some(Type::Pred);
        if is_predicate {
            ignore = Some(at.pred_source(operand)?);
        } else if at.declared(operand).is_none_or(|ty| ty.bytes() == 4) {
            source_bytes = Some(at.source(operand, Type::U32)?);
        }
    }
    words.done(3, count.min(5))?;
    Ok(Op::AsyncCopy(Box::new(AsyncCopy {
        to,
        from,
        bytes,
        source_bytes,
        ignore,
    })))
}

/// Rows of a 32-bit operand.
pub(crate) fn word(at: &mut Resolver<'_>, operand: &Operand) -> Result<Slot> {
    at.source(operand, Type::U32)
}

/// Scope of a fence.
pub(crate) fn membar_scope(words: &mut Words<'_>) -> Scope {
    // `membar` has names of its own: cta, gl, sys.
    if words.take("gl") {
        return Scope::Device;
    }
    words.scope()
}
