//! Branches and calls. Targets are indices of PTX instructions until the whole kernel is decoded.

use tile33_ptx::{FuncId, Instruction, Module, Operand, RegId, Space, SymbolRef, Type, VarId, Variable};

use super::operands::Resolver;
use super::ops::{Base, Builtin, Call, Callee, Cell, Op, Passed};
use super::words::{Result, Words};
use crate::alu::{Operands, Unsupported};

/// `bra`
pub(crate) fn branch(at: &Resolver<'_>, inst: &Instruction, reconverge: u32) -> Result<Op> {
    let mut words = Words::new(inst);
    words.take("uni");
    let Operand::Label(id) = words.operand(0)? else {
        return Err(Unsupported::because("a target that is no label"));
    };
    let target = at.body.labels.get(id.0 as usize).map(|l| l.target);
    let target = target.ok_or_else(|| Unsupported::because("a label that stands nowhere"))?;
    words.done(1, 1)?;
    Ok(Op::Branch { target, reconverge })
}

/// `brx.idx`
pub(crate) fn table(at: &mut Resolver<'_>, inst: &Instruction, reconverge: u32) -> Result<Op> {
    let mut words = Words::new(inst);
    words.take("idx");
    words.take("uni");
    let index = at.source(words.operand(0)?, Type::U32)?;
    let Operand::BranchTable(table) = words.operand(1)? else {
        return Err(Unsupported::because("a target that is no branch table"));
    };
    let table = at.body.branch_tables.get(*table as usize);
    let table = table.ok_or_else(|| Unsupported::because("a branch table that stands nowhere"))?;
    let targets = table
        .targets
        .iter()
        .filter_map(|id| at.body.labels.get(id.0 as usize))
        .map(|l| l.target)
        .collect();
    words.done(2, 2)?;
    Ok(Op::BranchTable {
        index,
        targets,
        reconverge,
    })
}

/// What the decoder of calls must know of the rest of the kernel.
pub(crate) trait CallGraph {
    /// Index of a function among those of the kernel.
    fn index(&self, id: FuncId) -> Option<usize>;
    /// Whether calling `callee` (anything whose address is taken, for `None`) can lead back to the caller.
    fn returns_to_caller(&self, callee: Option<FuncId>) -> bool;
}

/// `call`
pub(crate) fn call(at: &mut Resolver<'_>, inst: &Instruction, module: &Module, graph: &dyn CallGraph) -> Result<Op> {
    let mut words = Words::new(inst);
    words.take("uni");
    let mut operands = words.operands.iter().peekable();
    let mut lists = [&[][..], &[][..]];
    if let Some(Operand::List(returns)) = operands.peek() {
        lists[0] = returns;
        operands.next();
    }
    let target = operands
        .next()
        .ok_or_else(|| Unsupported::because("it names no function"))?;
    let mut signature: Option<(&[Variable], &[Variable])> = None;
    for operand in operands {
        match operand {
            Operand::List(args) => lists[1] = args,
            Operand::Prototype(p) => {
                signature = at
                    .body
                    .prototypes
                    .get(*p as usize)
                    .map(|p| (&p.returns[..], &p.params[..]));
            }
            Operand::CallTargets(t) => {
                let first = at.body.call_targets.get(*t as usize).and_then(|t| t.targets.first());
                signature = first
                    .and_then(|f| module.functions.get(f.0 as usize))
                    .map(|f| (&f.returns[..], &f.params[..]));
            }
            _ => return Err(Unsupported::because("an operand of a call that is no list")),
        }
    }
    let mut called = None;
    let callee = match target {
        Operand::Symbol(SymbolRef::Function(id), 0) => {
            let id = module.resolve_alias(*id);
            let function = &module.functions[id.0 as usize];
            signature = Some((&function.returns, &function.params));
            called = Some(id);
            if function.is_kernel {
                return Err(Unsupported::because(format!(
                    "`{}` is a kernel, which can be launched but not called",
                    function.name
                )));
            }
            match (graph.index(id), function.body.is_some()) {
                (Some(index), true) => Callee::Function(index),
                _ => Callee::Builtin(builtin(&function.name)?),
            }
        }
        Operand::Register(id, None) => {
            let wide = at.body.registers.get(id.0 as usize).is_some_and(|r| r.ty.bytes() == 8);
            let slot = at.register(*id, None)?;
            Callee::Indirect {
                target: if wide { Base::Wide(slot) } else { Base::Narrow(slot) },
            }
        }
        _ => return Err(Unsupported::because("a target that is no function")),
    };
    let (returns, params) = signature.ok_or_else(|| Unsupported::because("a call without a prototype"))?;
    let args = passed(at, lists[1], params, false)?;
    let returns = passed(at, lists[0], returns, true)?;
    let mut call = Call {
        callee,
        args,
        returns,
        save_rows: Vec::new(),
        save_predicates: Vec::new(),
    };
    let is_builtin = matches!(callee, Callee::Builtin(_));
    if !is_builtin && graph.returns_to_caller(called) {
        let row = at.places.row;
        call.save_rows.push((row, at.places.allocation.rows));
        call.save_predicates = at.places.predicates.values().copied().collect();
        call.save_predicates.push(at.places.carry);
        call.save_predicates.sort_by_key(|p| p.0);
    }
    Ok(Op::Call(Box::new(call)))
}

fn passed(at: &mut Resolver<'_>, given: &[Operand], formal: &[Variable], returns: bool) -> Result<Vec<Passed>> {
    if given.len() != formal.len() {
        return Err(Unsupported::because(format!(
            "{} {} where the function has {}",
            given.len(),
            if returns { "return values" } else { "arguments" },
            formal.len()
        )));
    }
    given
        .iter()
        .zip(formal)
        .map(|(operand, formal)| match operand {
            Operand::Symbol(SymbolRef::Variable(VarId::Local(i)), 0)
                if at
                    .body
                    .variables
                    .get(*i as usize)
                    .is_some_and(|v| v.space == Space::Param) =>
            {
                let given = &at.body.variables[*i as usize];
                frame(
                    at.places.frame.variables.get(*i as usize).copied().flatten(),
                    given,
                    formal,
                )
            }
            Operand::Symbol(SymbolRef::Variable(VarId::Param(i)), 0) if !at.function.is_kernel => {
                let given = &at.function.params[*i as usize];
                frame(at.places.frame.params.get(*i as usize).copied(), given, formal)
            }
            Operand::Symbol(SymbolRef::Variable(VarId::Return(i)), 0) => {
                let given = &at.function.returns[*i as usize];
                frame(at.places.frame.returns.get(*i as usize).copied(), given, formal)
            }
            Operand::Sink => Ok(Passed::Nothing),
            operand => Ok(Passed::Register(at.cell(operand, formal.ty, returns)?)),
        })
        .collect()
}

fn frame(offset: Option<u32>, given: &Variable, formal: &Variable) -> Result<Passed> {
    let offset = offset.ok_or_else(|| Unsupported::because("a parameter that has no place"))?;
    if given.bytes() != formal.bytes() {
        return Err(Unsupported::because(format!(
            "`{}` has {} bytes where the function has {}",
            given.name,
            given.bytes(),
            formal.bytes()
        )));
    }
    Ok(Passed::Frame {
        offset,
        bytes: formal.bytes().try_into().unwrap_or(u32::MAX),
    })
}

/// Where a function's own parameters and returns are, seen from inside.
pub(crate) fn formals(at: &Resolver<'_>) -> (Vec<Passed>, Vec<Passed>) {
    if at.function.is_kernel {
        return (Vec::new(), Vec::new());
    }
    let mut register = 0u32;
    let mut side = |variables: &[Variable], offsets: &[u32]| -> Vec<Passed> {
        let place = |(v, &offset): (&Variable, &u32)| {
            if v.space != Space::Reg {
                return Passed::Frame {
                    offset,
                    bytes: v.bytes().try_into().unwrap_or(u32::MAX),
                };
            }
            let id = RegId(register);
            register += 1;
            match at.register(id, None) {
                Ok(slot) => Passed::Register(Cell {
                    slot,
                    bytes: v.ty.bytes(),
                }),
                Err(_) => Passed::Nothing,
            }
        };
        variables.iter().zip(offsets).map(place).collect()
    };
    // Registers of returns come first in the body, then those of parameters.
    let returns = side(&at.function.returns, &at.places.frame.returns);
    let params = side(&at.function.params, &at.places.frame.params);
    (params, returns)
}

fn builtin(name: &str) -> Result<Builtin> {
    Ok(match name {
        "vprintf" => Builtin::Printf,
        "malloc" => Builtin::Malloc,
        "free" => Builtin::Free,
        "__assertfail" => Builtin::AssertFail,
        _ => return Err(Unsupported::because(format!("`{name}` is declared but not defined"))),
    })
}
