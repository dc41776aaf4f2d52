//! The memory instructions of a kernel as the race checks number them.

use super::ops::{Atomic, Inst, MbarrierOp, MemSpace, Op, Order, Scope};
use crate::check::{self, AccessKind, Site, SiteId, Sites};
use crate::exec::commutes;

/// Numbers of the instructions that access memory.
#[derive(Debug, Default)]
pub(crate) struct SiteTable {
    pub(crate) sites: Sites,
    /// By pc.
    of: Vec<Option<SiteId>>,
    /// By pc: the reading side of a copy.
    sources: Vec<Option<SiteId>>,
}

impl SiteTable {
    pub(crate) fn new(code: &[Inst]) -> Self {
        let mut table = Self::default();
        for (pc, inst) in (0u32..).zip(code) {
            let site = |kind, order, scope| Site {
                pc,
                kind,
                order: checked_order(order),
                scope: checked_scope(scope),
            };
            use AccessKind::{Read, Write};
            let (own, source) = match &inst.op {
                Op::Load(l) => (Some(site(Read, l.order, l.scope)), None),
                Op::Store(s) => (Some(site(Write, s.order, s.scope)), None),
                Op::Atomic(a) if !a.observes => (Some(site(AccessKind::Reduction, a.order, a.scope)), None),
                Op::Atomic(a) => (Some(site(AccessKind::Atomic, a.order, a.scope)), None),
                Op::AsyncCopy(_) => (Some(Site::store(pc)), Some(Site::load(pc))),
                Op::Mbarrier(m) => match m.op {
                    MbarrierOp::Init { .. } => (Some(Site::store(pc)), None),
                    _ => (Some(site(AccessKind::Atomic, Order::Relaxed, Scope::Block)), None),
                },
                Op::Matrix { store: true, .. } => (Some(Site::store(pc)), None),
                Op::Matrix { store: false, .. } => (Some(Site::load(pc)), None),
                Op::Fragment(f) if f.store => (Some(Site::store(pc)), None),
                Op::Fragment(_) => (Some(Site::load(pc)), None),
                _ => (None, None),
            };
            let mut add = |site: Option<Site>| site.and_then(|s| table.sites.add(s));
            let (own, source) = (add(own), add(source));
            table.of.push(own);
            table.sources.push(source);
        }
        table
    }

    #[inline]
    pub(crate) fn of(&self, pc: u32) -> Option<SiteId> {
        self.of[pc as usize]
    }

    #[inline]
    pub(crate) fn source(&self, pc: u32) -> Option<SiteId> {
        self.sources[pc as usize]
    }
}

fn checked_order(order: Order) -> check::Order {
    match order {
        Order::Weak => check::Order::Weak,
        Order::Volatile | Order::Relaxed => check::Order::Relaxed,
        Order::Acquire => check::Order::Acquire,
        Order::Release => check::Order::Release,
        Order::AcqRel | Order::SeqCst => check::Order::AcquireRelease,
    }
}

pub(crate) fn checked_scope(scope: Scope) -> check::Scope {
    match scope {
        Scope::Block | Scope::Cluster => check::Scope::Block,
        Scope::Device | Scope::System => check::Scope::Device,
    }
}

/// Whether blocks of this code can tell in which order they run: through atomics whose result is used or depends on
/// the order, through strong accesses and fences that reach beyond a block, or through the device's heap.
pub(crate) fn blocks_communicate(code: &[Inst]) -> bool {
    use super::ops::{Builtin, Callee};
    let global = |space: MemSpace| matches!(space, MemSpace::Generic | MemSpace::Global);
    let wide = |scope: Scope| matches!(scope, Scope::Device | Scope::System);
    let ordered =
        |a: &Atomic| global(a.addr.space) && (!commutes(a) || !matches!(a.order, Order::Relaxed | Order::Weak));
    code.iter().any(|inst| match &inst.op {
        Op::Load(l) => global(l.addr.space) && l.order != Order::Weak && wide(l.scope),
        Op::Store(s) => global(s.addr.space) && s.order != Order::Weak && wide(s.scope),
        Op::Atomic(a) => ordered(a),
        Op::Fence { scope, .. } => wide(*scope),
        Op::Call(c) => matches!(c.callee, Callee::Builtin(Builtin::Malloc | Builtin::Free)),
        _ => false,
    })
}
