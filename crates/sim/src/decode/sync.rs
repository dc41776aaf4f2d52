//! Barriers, fences and mbarriers.

use tile33_ptx::{Instruction, Opcode, Operand, Type};

use super::access::{address, membar_scope, word};
use super::operands::Resolver;
use super::ops::{Barrier, BarrierKind, Mbarrier, MbarrierOp, Op, Order, Scope};
use super::words::{Result, Words};
use crate::alu::{Operands, Unsupported};

/// `bar`, `barrier`
pub(crate) fn barrier(at: &mut Resolver<'_>, inst: &Instruction) -> Result<Op> {
    let mut words = Words::new(inst);
    if words.take("warp") {
        words.take("sync");
        let members = word(at, words.operand(0)?)?;
        words.done(1, 1)?;
        return Ok(Op::WarpBarrier { members });
    }
    if words.rest().contains(&"cluster") {
        return Err(Unsupported::because("clusters of blocks are not formed"));
    }
    words.take("cta");
    // `bar` is `barrier.aligned`.
    let aligned = words.take("aligned") || inst.opcode == Opcode::Bar;
    if words.take("red") {
        let op = words.choice(&[("popc", 0), ("and", 1), ("or", 2)]);
        let ty = words.ty()?;
        let n = words.operands.len();
        let dest = words.operand(0)?;
        let id = word(at, words.operand(1)?)?;
        let count = if n == 4 {
            Some(word(at, words.operand(2)?)?)
        } else {
            None
        };
        let source = at.pred_source(words.operand(n.max(1) - 1)?)?;
        let kind = match (op, ty) {
            (Some(0), Type::U32 | Type::S32 | Type::B32) => BarrierKind::Popc {
                dest: at.dest(dest, ty)?,
                source,
            },
            (Some(1), Type::Pred) => BarrierKind::And {
                dest: at.pred_dest(dest)?,
                source,
            },
            (Some(2), Type::Pred) => BarrierKind::Or {
                dest: at.pred_dest(dest)?,
                source,
            },
            _ => return Err(Unsupported::because("a reduction of this kind")),
        };
        words.done(3, 4)?;
        return Ok(Op::Barrier(Box::new(Barrier {
            id,
            count,
            kind,
            aligned,
        })));
    }
    let kind = match words.choice(&[("sync", BarrierKind::Sync), ("arrive", BarrierKind::Arrive)]) {
        Some(kind) => kind,
        None => return Err(Unsupported::because("it neither waits nor arrives")),
    };
    let id = match words.operands.first() {
        Some(operand) => word(at, operand)?,
        None => at.constant(0, Type::U32),
    };
    let count = words.operands.get(1).map(|operand| word(at, operand)).transpose()?;
    if matches!(kind, BarrierKind::Arrive) && count.is_none() {
        return Err(Unsupported::because("an arrival without a number of threads"));
    }
    words.done(0, 2)?;
    Ok(Op::Barrier(Box::new(Barrier {
        id,
        count,
        kind,
        aligned,
    })))
}

/// `membar`, `fence`
pub(crate) fn fence(inst: &Instruction) -> Result<Op> {
    let mut words = Words::new(inst);
    if inst.opcode == Opcode::Membar {
        let scope = membar_scope(&mut words);
        words.done(0, 0)?;
        // `membar` is `fence.sc`, says the PTX ISA of sm_70 and later.
        return Ok(Op::Fence {
            scope,
            sequential: true,
        });
    }
    if words.rest().contains(&"proxy") {
        if words.rest().iter().any(|w| w.starts_with("tensormap")) {
            return Err(Unsupported::because("tensor maps"));
        }
        // Every access here goes through one path, so proxies agree.
        return Ok(Op::Nop);
    }
    if words.take("mbarrier_init") {
        words.take("release");
        words.take("cluster");
        words.done(0, 0)?;
        return Ok(Op::Fence {
            scope: Scope::Block,
            sequential: false,
        });
    }
    let sequential = words.rest().contains(&"sc");
    let (_, scope) = words.order(Order::AcqRel);
    words.rest();
    // `.sync_restrict::..` limits the fence; a whole fence orders more.
    if words.rest().iter().any(|w| w.starts_with("sync_restrict")) {
        return Ok(Op::Fence { scope, sequential });
    }
    words.done(0, 0)?;
    Ok(Op::Fence { scope, sequential })
}

/// `mbarrier.*`
pub(crate) fn mbarrier(at: &mut Resolver<'_>, inst: &Instruction) -> Result<Op> {
    let mut words = Words::new(inst);
    let actions = [
        ("init", Action::Init),
        ("inval", Action::Invalidate),
        ("expect_tx", Action::ExpectTx),
        ("complete_tx", Action::CompleteTx),
        ("arrive", Action::Arrive { drop: false }),
        ("arrive_drop", Action::Arrive { drop: true }),
        ("test_wait", Action::Test),
        ("try_wait", Action::Test),
        ("pending_count", Action::PendingCount),
    ];
    // `arrive.expect_tx`: the first word is what it is.
    let first = words.rest().first().copied().unwrap_or_default();
    let Some(action) = actions.iter().find(|(w, _)| *w == first).map(|(_, a)| *a) else {
        return Err(Unsupported::because("an mbarrier operation of this form"));
    };
    words.take(first);
    let (order, _) = words.order(match action {
        Action::Test => Order::Acquire,
        _ => Order::Release,
    });
    if words.spaces.contains(&tile33_ptx::Space::SharedCluster) && matches!(action, Action::Arrive { .. }) {
        // An address in this block's own window works the same; there is no other block to name.
        words.spaces = vec![tile33_ptx::Space::Shared];
    }
    let space = words.space()?;
    words.types.retain(|ty| *ty != Type::B64);
    let n = words.operands.len();
    let (addr, op) = match action {
        Action::Init => {
            let addr = address(at, words.operand(0)?, space)?;
            (
                Some(addr),
                MbarrierOp::Init {
                    count: word(at, words.operand(1)?)?,
                },
            )
        }
        Action::Invalidate => (Some(address(at, words.operand(0)?, space)?), MbarrierOp::Invalidate),
        Action::ExpectTx => {
            let addr = address(at, words.operand(0)?, space)?;
            (
                Some(addr),
                MbarrierOp::ExpectTx {
                    bytes: word(at, words.operand(1)?)?,
                },
            )
        }
        Action::CompleteTx => {
            let addr = address(at, words.operand(0)?, space)?;
            (
                Some(addr),
                MbarrierOp::CompleteTx {
                    bytes: word(at, words.operand(1)?)?,
                },
            )
        }
        Action::Arrive { drop } => {
            let expects = words.take("expect_tx");
            let complete = !words.take("noComplete");
            // The state is left out, or sunk, where nobody wants it.
            let has_state = !matches!(words.operand(0)?, Operand::Address { .. });
            let state = match words.operand(0)? {
                Operand::Register(..) if has_state => Some(at.dest(words.operand(0)?, Type::B64)?),
                _ => None,
            };
            let k = usize::from(has_state);
            let addr = address(at, words.operand(k)?, space)?;
            let value = words.operands.get(k + 1).map(|operand| word(at, operand)).transpose()?;
            let (count, expect) = if expects { (None, value) } else { (value, None) };
            (
                Some(addr),
                MbarrierOp::Arrive {
                    state,
                    count,
                    expect,
                    drop,
                    complete,
                },
            )
        }
        Action::Test => {
            let parity = words.take("parity");
            let done = at.pred_dest(words.operand(0)?)?;
            let addr = address(at, words.operand(1)?, space)?;
            let phase = at.source(words.operand(2)?, if parity { Type::U32 } else { Type::B64 })?;
            (Some(addr), MbarrierOp::Test { done, phase, parity })
        }
        Action::PendingCount => {
            let dest = at.dest(words.operand(0)?, Type::U32)?;
            (
                None,
                MbarrierOp::PendingCount {
                    dest,
                    state: at.source(words.operand(1)?, Type::B64)?,
                },
            )
        }
    };
    words.done(1, n.min(4))?;
    Ok(Op::Mbarrier(Box::new(Mbarrier { addr, op, order })))
}

#[derive(Clone, Copy)]
enum Action {
    Init,
    Invalidate,
    ExpectTx,
    CompleteTx,
    Arrive { drop: bool },
    Test,
    PendingCount,
}
