//! From a typed module to what a warp executes: one kernel with every function it can reach, decoded once into a flat
//! array of micro-operations.
//!
//! An instruction that the emulator does not know becomes [`ops::Op::Unsupported`]: it ends a launch that reaches it,
//! not one that does not.

mod access;
mod address;
mod control;
mod fragment;
mod graph;
mod liveness;
mod matrix;
pub(crate) mod operands;
pub(crate) mod ops;
pub(crate) mod place;
mod recorder;
mod sites;
mod sync;
mod words;

use std::collections::{BTreeSet, HashMap};

use tile33_ptx::{AddressBase, Body, FuncId, Function, Instruction, Module, Opcode, Operand, RegId, SymbolRef, Type};

use crate::alu::Unsupported;
use crate::registers::PredSlot;
use control::CallGraph;
use graph::Graph;
use operands::{FunctionPlaces, Pools, Resolver};
use ops::{FunctionCode, Guard, Inst, NOWHERE, Op, Origin};
use place::{ConstPlaces, Frame, SharedPlaces};

pub(crate) use sites::{blocks_communicate, checked_scope};

/// A kernel, ready to run.
#[derive(Debug)]
pub(crate) struct Kernel {
    pub(crate) id: FuncId,
    /// The micro-operations of every function, one after the other; the kernel's own first.
    pub(crate) code: Vec<Inst>,
    /// What each is made from.
    pub(crate) origins: Vec<Origin>,
    /// The kernel and what it calls.
    pub(crate) functions: Vec<FunctionCode>,
    /// Rows, predicates, constants and special registers.
    pub(crate) pools: Pools,
    /// Rows that must be zero when a block starts: something reads them before it writes them.
    pub(crate) zeroed: Vec<u32>,
    pub(crate) shared: SharedPlaces,
    /// Memory instructions, numbered for the checks.
    pub(crate) sites: sites::SiteTable,
    /// Whether its blocks can tell in which order they run.
    pub(crate) communicates: bool,
}

impl Kernel {
    /// Number of a memory instruction.
    #[inline]
    pub(crate) fn site(&self, pc: u32) -> Option<crate::check::SiteId> {
        self.sites.of(pc)
    }
}

/// The functions of a kernel and who can call whom.
struct Reach {
    order: Vec<FuncId>,
    index: HashMap<FuncId, usize>,
    /// Functions whose address is taken somewhere: an indirect call may go to any.
    indirect: Vec<FuncId>,
    callees: HashMap<FuncId, BTreeSet<FuncId>>,
}

impl Reach {
    fn new(module: &Module, kernel: FuncId) -> Self {
        let mut indirect = BTreeSet::new();
        for v in &module.variables {
            for r in v.init.iter().flat_map(|i| &i.relocations) {
                if let SymbolRef::Function(f) = r.target {
                    indirect.insert(module.resolve_alias(f));
                }
            }
        }
        let mut reach = Self {
            order: vec![kernel],
            index: HashMap::new(),
            indirect: Vec::new(),
            callees: HashMap::new(),
        };
        let mut calls_indirectly = BTreeSet::new();
        let mut next = 0;
        while next < reach.order.len() {
            let id = reach.order[next];
            next += 1;
            reach.index.insert(id, next - 1);
            let Some(body) = &module.functions[id.0 as usize].body else {
                continue;
            };
            let mut direct = BTreeSet::new();
            for inst in &body.instructions {
                for operand in &inst.operands {
                    if let Some(f) = function_in(operand) {
                        let f = module.resolve_alias(f);
                        if inst.opcode == Opcode::Call {
                            direct.insert(f);
                        } else {
                            indirect.insert(f);
                        }
                    }
                }
                if inst.opcode == Opcode::Call && inst.operands.iter().any(|o| matches!(o, Operand::Register(..))) {
                    calls_indirectly.insert(id);
                }
            }
            let mut found: Vec<FuncId> = direct.iter().copied().collect();
            reach.callees.insert(id, direct);
            if !calls_indirectly.is_empty() {
                found.extend(&indirect);
            }
            for f in found {
                if !reach.order.contains(&f) && module.functions[f.0 as usize].body.is_some() {
                    reach.order.push(f);
                }
            }
        }
        for id in calls_indirectly {
            if let Some(callees) = reach.callees.get_mut(&id) {
                callees.extend(&indirect);
            }
        }
        reach.indirect = indirect.into_iter().filter(|f| reach.index.contains_key(f)).collect();
        reach
    }

    fn leads_to(&self, from: impl IntoIterator<Item = FuncId>, to: FuncId) -> bool {
        let mut todo: Vec<FuncId> = from.into_iter().collect();
        let mut seen = BTreeSet::new();
        while let Some(id) = todo.pop() {
            if id == to {
                return true;
            }
            if seen.insert(id) {
                todo.extend(self.callees.get(&id).into_iter().flatten());
            }
        }
        false
    }
}

fn function_in(operand: &Operand) -> Option<FuncId> {
    match operand {
        Operand::Symbol(SymbolRef::Function(f), _)
        | Operand::Address {
            base: AddressBase::Symbol(SymbolRef::Function(f)),
            ..
        } => Some(*f),
        _ => None,
    }
}

struct Caller<'a> {
    reach: &'a Reach,
    id: FuncId,
}

impl CallGraph for Caller<'_> {
    fn index(&self, id: FuncId) -> Option<usize> {
        self.reach.index.get(&id).copied()
    }

    fn returns_to_caller(&self, callee: Option<FuncId>) -> bool {
        match callee {
            Some(id) => self.reach.leads_to([id], self.id),
            None => self.reach.leads_to(self.reach.indirect.iter().copied(), self.id),
        }
    }
}

/// Decodes a kernel and what it reaches.
pub(crate) fn kernel(module: &Module, id: FuncId, constants: &ConstPlaces) -> Kernel {
    let reach = Reach::new(module, id);
    let shared = SharedPlaces::new(module, &reach.order);
    let empty = Body::default();
    let mut pools = Pools::new();
    let mut zeroed = Vec::new();
    let mut graphs = Vec::new();
    let mut places = Vec::new();
    for &f in &reach.order {
        let function = &module.functions[f.0 as usize];
        let body = function.body.as_ref().unwrap_or(&empty);
        let graph = Graph::new(body, function.is_kernel);
        let place = function_places(function, f, body, &graph, &mut pools);
        for r in &place.allocation.read_first {
            let register = &body.registers[r.0 as usize];
            if register.ty != Type::Pred {
                let first = place.row + place.allocation.row[r.0 as usize];
                let rows = liveness::rows_of(register.ty) * u32::from(register.vector.max(1));
                zeroed.extend(first..first + rows);
            }
        }
        graphs.push(graph);
        places.push(place);
    }
    let mut kernel = Kernel {
        id,
        code: Vec::new(),
        origins: Vec::new(),
        functions: Vec::new(),
        pools,
        zeroed,
        shared,
        sites: sites::SiteTable::default(),
        communicates: false,
    };
    for (place, graph) in places.iter().zip(&graphs) {
        function(&mut kernel, module, place, graph, &reach, constants);
    }
    kernel.sites = sites::SiteTable::new(&kernel.code);
    kernel.communicates = blocks_communicate(&kernel.code);
    kernel.zeroed.sort_unstable();
    kernel.zeroed.dedup();
    kernel
}

fn function_places(function: &Function, id: FuncId, body: &Body, graph: &Graph, pools: &mut Pools) -> FunctionPlaces {
    let pinned = [&function.returns, &function.params]
        .into_iter()
        .flatten()
        .filter(|v| v.space == tile33_ptx::Space::Reg)
        .count();
    let allocation = liveness::allocate(body, graph, pinned);
    let row = pools.fresh(allocation.rows).0;
    let mut predicates = HashMap::new();
    for (i, r) in (0u32..).zip(&body.registers) {
        if r.ty == Type::Pred {
            predicates.insert(RegId(i), PredSlot(pools.predicates));
            pools.predicates += 1;
        }
    }
    let carry = PredSlot(pools.predicates);
    pools.predicates += 1;
    let params = function
        .parameter_layout()
        .parameters
        .iter()
        .map(|p| p.offset)
        .collect();
    FunctionPlaces {
        id,
        allocation,
        row,
        predicates,
        carry,
        frame: Frame::new(function),
        params,
    }
}

fn function(
    kernel: &mut Kernel,
    module: &Module,
    places: &FunctionPlaces,
    graph: &Graph,
    reach: &Reach,
    constants: &ConstPlaces,
) {
    let function = &module.functions[places.id.0 as usize];
    let empty = Body::default();
    let body = function.body.as_ref().unwrap_or(&empty);
    let entry = kernel.code.len() as u32;
    let meet = graph.meeting_points();
    let caller = Caller { reach, id: places.id };
    let mut resolver = Resolver {
        function,
        body,
        places,
        shared: &kernel.shared,
        constants,
        pools: &mut kernel.pools,
        variables: &module.variables,
        before: Vec::new(),
    };
    let mut starts = Vec::with_capacity(body.instructions.len() + 1);
    for (i, inst) in body.instructions.iter().enumerate() {
        starts.push(kernel.code.len() as u32);
        let op = one(&mut resolver, inst, module, &caller, graph, meet[i]);
        let op = op.unwrap_or_else(|e| Op::Unsupported(e.of(inst).reason.into()));
        let guard = guard(&resolver, inst);
        let origin = Origin {
            line: inst.pos.line,
            column: inst.pos.column,
            loc: inst.loc,
        };
        for step in resolver.before.drain(..) {
            kernel.code.push(Inst {
                guard: Guard::Always,
                counted: false,
                op: step,
            });
            kernel.origins.push(origin);
        }
        kernel.code.push(Inst {
            guard,
            counted: true,
            op,
        });
        kernel.origins.push(origin);
    }
    let (params, returns) = control::formals(&resolver);
    starts.push(kernel.code.len() as u32);
    let op = if function.is_kernel { Op::Exit } else { Op::Return };
    kernel.code.push(Inst {
        guard: Guard::Always,
        counted: false,
        op,
    });
    let line = body.instructions.last().map_or(function.pos.line, |i| i.pos.line);
    kernel.origins.push(Origin {
        line,
        column: 0,
        loc: None,
    });

    let place = |target: u32| starts.get(target as usize).copied().unwrap_or(NOWHERE);
    for inst in &mut kernel.code[entry as usize..] {
        match &mut inst.op {
            Op::Branch { target, reconverge } => {
                *target = place(*target);
                *reconverge = place(*reconverge);
            }
            Op::BranchTable {
                targets, reconverge, ..
            } => {
                targets.iter_mut().for_each(|t| *t = place(*t));
                *reconverge = place(*reconverge);
            }
            _ => {}
        }
    }
    kernel.functions.push(FunctionCode {
        id: places.id,
        name: function.name.clone(),
        entry,
        frame_bytes: places.frame.bytes,
        symbols: places.frame.symbols.clone(),
        params,
        returns,
    });
}

fn guard(at: &Resolver<'_>, inst: &Instruction) -> Guard {
    match inst.guard {
        None => Guard::Always,
        Some(g) => match at.predicate(g.register) {
            Ok(slot) if g.negated => Guard::Unless(slot),
            Ok(slot) => Guard::If(slot),
            // The parser gives guards predicates only; a register of another type is never true.
            Err(_) => Guard::If(operands::FALSE),
        },
    }
}

fn one(
    at: &mut Resolver<'_>,
    inst: &Instruction,
    module: &Module,
    caller: &Caller<'_>,
    graph: &Graph,
    meet: u32,
) -> Result<Op, Unsupported> {
    use Opcode as O;
    Ok(match inst.opcode {
        O::Bra => control::branch(at, inst, meet)?,
        O::Brx => control::table(at, inst, meet)?,
        // A kernel's `ret` is its `exit`.
        O::Ret if at.function.is_kernel => Op::Exit,
        O::Ret => Op::Branch {
            target: graph.end(),
            reconverge: meet,
        },
        O::Exit => Op::Exit,
        O::Trap | O::Brkpt => Op::Trap,
        O::Call => control::call(at, inst, module, caller)?,
        O::Ld | O::Ldu => access::load(at, inst)?,
        O::St => access::store(at, inst)?,
        O::Atom | O::Red => access::atomic(at, inst)?,
        O::Cp => access::copy(at, inst)?,
        O::Bar | O::Barrier => sync::barrier(at, inst)?,
        O::Membar | O::Fence => sync::fence(inst)?,
        O::Mbarrier => sync::mbarrier(at, inst)?,
        O::Cvta => address::convert(at, inst)?,
        O::Isspacep => address::is_space(at, inst)?,
        O::Ldmatrix | O::Stmatrix => matrix::matrix(at, inst)?,
        O::Nanosleep => Op::Sleep,
        // Hints, and events that only a profiler sees.
        O::Prefetch | O::Prefetchu | O::Applypriority | O::Discard | O::Pmevent | O::Setmaxnreg => Op::Nop,
        O::Griddepcontrol => Op::Nop,
        O::Wmma if let Some(op) = fragment::fragment(at, inst)? => op,
        _ => match recorder::lower(inst, at)? {
            Some(op) => op,
            None => return Err(Unsupported::because("the emulator does not have this instruction")),
        },
    })
}
