//! Where the operands of a function's instructions live: rows of registers, of constants and of special registers.

use std::collections::HashMap;

use tile33_ptx::{Body, FuncId, Function, Operand, RegId, Space, SpecialRegister, SymbolRef, Type, VarId};

use super::liveness::{Allocation, rows_of};
use super::ops::{Cell, ClockKind, Op};
use super::place::{ConstPlaces, Frame, Key, SharedPlaces};
use super::words::Result;
use crate::alu::{self, Operands, Unsupported};
use crate::memory::CODE_WINDOW;
use crate::registers::{PredSlot, Slot};

/// A value that is the same in every lane and known when a launch starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Constant {
    /// These bits.
    Bits(u128),
    /// Address of a `.global` variable, which depends on the memory that the module was loaded into.
    Global(Key, i64),
}

/// A special register that has a row of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Special {
    pub(crate) register: SpecialRegister,
    pub(crate) component: u8,
    /// Whether 64-bit rows are wanted.
    pub(crate) wide: bool,
}

/// Rows and predicates of a kernel beside its functions' registers.
#[derive(Debug, Default)]
pub(crate) struct Pools {
    pub(crate) rows: u32,
    pub(crate) predicates: u32,
    pub(crate) constants: Vec<(Slot, u32, Constant)>,
    pub(crate) specials: Vec<(Slot, Special)>,
    known_constants: HashMap<(Constant, u32), Slot>,
    known_specials: HashMap<Special, Slot>,
    sink: Option<Slot>,
}

/// Predicate that is always true.
pub(crate) const TRUE: PredSlot = PredSlot(0);
/// Predicate that is always false.
pub(crate) const FALSE: PredSlot = PredSlot(1);
/// Predicate that nobody reads.
pub(crate) const SINK: PredSlot = PredSlot(2);
/// First predicate of the functions.
const FIRST_PREDICATE: u32 = 3;

impl Pools {
    pub(crate) fn new() -> Self {
        Self {
            predicates: FIRST_PREDICATE,
            ..Self::default()
        }
    }

    pub(crate) fn fresh(&mut self, rows: u32) -> Slot {
        let slot = Slot(self.rows);
        self.rows += rows;
        slot
    }

    pub(crate) fn constant(&mut self, value: Constant, rows: u32) -> Slot {
        if let Some(slot) = self.known_constants.get(&(value, rows)) {
            return *slot;
        }
        let slot = self.fresh(rows);
        self.known_constants.insert((value, rows), slot);
        self.constants.push((slot, rows, value));
        slot
    }

    fn special(&mut self, special: Special) -> Slot {
        if let Some(slot) = self.known_specials.get(&special) {
            return *slot;
        }
        let slot = self.fresh(if special.wide { 2 } else { 1 });
        self.known_specials.insert(special, slot);
        self.specials.push((slot, special));
        slot
    }

    /// Rows that nobody reads, enough for any element.
    pub(crate) fn sink(&mut self) -> Slot {
        match self.sink {
            Some(slot) => slot,
            None => {
                let slot = self.fresh(4);
                self.sink = Some(slot);
                slot
            }
        }
    }
}

/// What the decoder knows of a function before it decodes its instructions.
#[derive(Debug)]
pub(crate) struct FunctionPlaces {
    pub(crate) id: FuncId,
    pub(crate) allocation: Allocation,
    /// First row of the function's registers.
    pub(crate) row: u32,
    /// First predicate: every register has a predicate slot of its own, used by those that are predicates.
    pub(crate) predicates: HashMap<RegId, PredSlot>,
    pub(crate) carry: PredSlot,
    pub(crate) frame: Frame,
    pub(crate) params: Vec<u64>,
}

/// The operands of one function.
pub(crate) struct Resolver<'a> {
    pub(crate) function: &'a Function,
    pub(crate) body: &'a Body,
    pub(crate) places: &'a FunctionPlaces,
    pub(crate) shared: &'a SharedPlaces,
    pub(crate) constants: &'a ConstPlaces,
    pub(crate) pools: &'a mut Pools,
    pub(crate) variables: &'a [tile33_ptx::Variable],
    /// Steps that must run before the instruction: reading a clock, an address in the frame.
    pub(crate) before: Vec<Op>,
}

/// Where a symbol's address comes from.
pub(crate) enum SymbolPlace {
    /// The same for every launch and lane.
    Fixed(Constant),
    /// An offset in the frame of the function that runs.
    Frame(i64),
    /// An offset in the launch's parameters.
    KernelParam(i64),
}

impl Resolver<'_> {
    /// Where a variable or function is.
    pub(crate) fn symbol(&self, symbol: SymbolRef, offset: i64) -> Result<SymbolPlace> {
        let bits = |v: u64| Constant::Bits(u128::from(v.wrapping_add_signed(offset)));
        let id = match symbol {
            SymbolRef::Function(f) => {
                return Ok(SymbolPlace::Fixed(bits(CODE_WINDOW + 16 * u64::from(f.0))));
            }
            SymbolRef::Variable(id) => id,
        };
        let missing = || Unsupported::because("a variable that has no place here");
        let (key, space): (Key, Space) = match id {
            VarId::Module(i) => ((None, i), self.variables.get(i as usize).ok_or_else(missing)?.space),
            VarId::Param(i) => {
                let at = i as usize;
                return Ok(match self.places.params.get(at) {
                    Some(&p) if self.function.is_kernel => SymbolPlace::KernelParam(p as i64 + offset),
                    _ => {
                        let at = self.places.frame.params.get(at).ok_or_else(missing)?;
                        SymbolPlace::Frame(i64::from(*at) + offset)
                    }
                });
            }
            VarId::Return(i) => {
                let at = self.places.frame.returns.get(i as usize).ok_or_else(missing)?;
                return Ok(SymbolPlace::Frame(i64::from(*at) + offset));
            }
            VarId::Local(i) => {
                let v = self.body.variables.get(i as usize).ok_or_else(missing)?;
                ((Some(self.places.id), i), v.space)
            }
        };
        match space {
            Space::Shared | Space::SharedCluster => {
                let at = self.shared.offsets.get(&key).ok_or_else(missing)?;
                Ok(SymbolPlace::Fixed(bits(*at)))
            }
            Space::Const => {
                let at = self.constants.offsets.get(&key).ok_or_else(missing)?;
                Ok(SymbolPlace::Fixed(bits(*at)))
            }
            Space::Global => Ok(SymbolPlace::Fixed(Constant::Global(key, offset))),
            Space::Local | Space::Param if key.0.is_some() => {
                let at = self
                    .places
                    .frame
                    .variables
                    .get(key.1 as usize)
                    .copied()
                    .flatten()
                    .ok_or_else(missing)?;
                Ok(SymbolPlace::Frame(i64::from(at) + offset))
            }
            other => Err(Unsupported::because(format!("a variable in state space {other:?}"))),
        }
    }

    /// Rows of a symbol's address, one or two.
    pub(crate) fn symbol_rows(&mut self, symbol: SymbolRef, offset: i64, rows: u32) -> Result<Slot> {
        Ok(match self.symbol(symbol, offset)? {
            SymbolPlace::Fixed(value) => self.pools.constant(value, rows),
            SymbolPlace::KernelParam(at) => self.pools.constant(Constant::Bits(at as u128), rows),
            SymbolPlace::Frame(at) => {
                let dest = self.pools.fresh(rows);
                self.before.push(Op::FrameAddress {
                    dest,
                    wide: rows == 2,
                    offset: at,
                });
                dest
            }
        })
    }

    /// Rows of a register or of one component of it.
    pub(crate) fn register(&self, id: RegId, component: Option<u8>) -> Result<Slot> {
        let register = self
            .body
            .registers
            .get(id.0 as usize)
            .ok_or_else(|| Unsupported::because("no such register"))?;
        if register.ty == Type::Pred {
            return Err(Unsupported::because(format!(
                "predicate {} where a value is wanted",
                register.name
            )));
        }
        let row = self.places.row + self.places.allocation.row[id.0 as usize];
        Ok(Slot(row + u32::from(component.unwrap_or(0)) * rows_of(register.ty)))
    }

    /// A register that a load or store names, with its own width.
    pub(crate) fn cell(&mut self, operand: &Operand, ty: Type, dest: bool) -> Result<Cell> {
        let bytes = self.declared(operand).map_or(ty.bytes().max(4), Type::bytes);
        let slot = if dest {
            self.dest(operand, ty)?
        } else {
            self.source(operand, ty)?
        };
        Ok(Cell { slot, bytes })
    }

    /// The registers of a vector operand, or the one operand.
    pub(crate) fn cells(&mut self, operand: &Operand, ty: Type, dest: bool) -> Result<Vec<Cell>> {
        match operand {
            Operand::Vector(all) => all.iter().map(|o| self.cell(o, ty, dest)).collect(),
            Operand::Register(id, None) if self.vector_len(operand) > 1 => {
                let n = self.vector_len(operand);
                (0..n)
                    .map(|c| self.cell(&Operand::Register(*id, Some(c)), ty, dest))
                    .collect()
            }
            one => Ok(vec![self.cell(one, ty, dest)?]),
        }
    }

    fn special(&mut self, register: SpecialRegister, component: Option<u8>, wide: bool) -> Slot {
        use SpecialRegister as S;
        let kind = match register {
            S::Clock => Some(ClockKind::Low32),
            S::ClockHi => Some(ClockKind::High32),
            S::Clock64 => Some(ClockKind::Full64),
            S::GlobalTimer => Some(ClockKind::Full64),
            S::GlobalTimerLo => Some(ClockKind::Low32),
            S::GlobalTimerHi => Some(ClockKind::High32),
            _ => None,
        };
        if let Some(kind) = kind {
            let dest = self.pools.fresh(2);
            self.before.push(Op::Clock { dest, kind, wide });
            return dest;
        }
        self.pools.special(Special {
            register,
            component: component.unwrap_or(0),
            wide,
        })
    }
}

impl Operands for Resolver<'_> {
    fn source(&mut self, operand: &Operand, ty: Type) -> Result<Slot> {
        if let Some(bits) = alu::immediate(operand, ty) {
            return Ok(self.constant(bits, ty));
        }
        match operand {
            Operand::Register(id, component) => self.register(*id, *component),
            Operand::Special { register, component } => Ok(self.special(*register, *component, ty.bytes() == 8)),
            Operand::Symbol(symbol, offset) => self.symbol_rows(*symbol, *offset, rows_of(ty)),
            // `mov.u64 %rd1, [sym]` does not exist; what is left are labels, lists and the sink.
            other => Err(Unsupported::because(format!(
                "{} where a value is wanted",
                describe(other)
            ))),
        }
    }

    fn dest(&mut self, operand: &Operand, _ty: Type) -> Result<Slot> {
        match operand {
            Operand::Register(id, component) => self.register(*id, *component),
            Operand::Sink => Ok(self.pools.sink()),
            other => Err(Unsupported::because(format!(
                "{} where a destination is wanted",
                describe(other)
            ))),
        }
    }

    fn pred_source(&mut self, operand: &Operand) -> Result<(PredSlot, bool)> {
        match operand {
            Operand::Register(id, None) => Ok((self.predicate(*id)?, false)),
            Operand::NotPredicate(id) => Ok((self.predicate(*id)?, true)),
            Operand::Integer(0) => Ok((FALSE, false)),
            Operand::Integer(_) => Ok((TRUE, false)),
            // The only predicate among the special registers; clusters are not formed.
            Operand::Special {
                register: SpecialRegister::IsExplicitCluster,
                ..
            } => Ok((FALSE, false)),
            other => Err(Unsupported::because(format!(
                "{} where a predicate is wanted",
                describe(other)
            ))),
        }
    }

    fn pred_dest(&mut self, operand: &Operand) -> Result<PredSlot> {
        match operand {
            Operand::Register(id, None) => self.predicate(*id),
            Operand::Sink => Ok(SINK),
            other => Err(Unsupported::because(format!(
                "{} where a predicate is wanted",
                describe(other)
            ))),
        }
    }

    fn declared(&self, operand: &Operand) -> Option<Type> {
        match operand {
            Operand::Register(id, _) | Operand::NotPredicate(id) => Some(self.body.registers.get(id.0 as usize)?.ty),
            _ => None,
        }
    }

    fn vector_len(&self, operand: &Operand) -> u8 {
        match operand {
            Operand::Register(id, None) => self.body.registers.get(id.0 as usize).map_or(1, |r| r.vector.max(1)),
            _ => 1,
        }
    }

    fn constant(&mut self, bits: u128, ty: Type) -> Slot {
        self.pools.constant(Constant::Bits(bits), rows_of(ty))
    }

    fn carry(&mut self) -> PredSlot {
        self.places.carry
    }
}

impl Resolver<'_> {
    /// The slot of a predicate register.
    pub(crate) fn predicate(&self, id: RegId) -> Result<PredSlot> {
        self.places.predicates.get(&id).copied().ok_or_else(|| {
            let name = self.body.registers.get(id.0 as usize).map_or("?", |r| &r.name);
            Unsupported::because(format!("{name} where a predicate is wanted"))
        })
    }
}

fn describe(operand: &Operand) -> &'static str {
    match operand {
        Operand::Register(..) => "a register",
        Operand::NotPredicate(_) => "a negated predicate",
        Operand::Special { .. } => "a special register",
        Operand::Integer(_) | Operand::Float32(_) | Operand::Float64(_) => "a constant",
        Operand::Symbol(..) => "a symbol",
        Operand::Address { .. } | Operand::Bracketed(_) => "an address",
        Operand::Vector(_) => "a vector",
        Operand::List(_) => "a list",
        Operand::Pair(..) => "a pair",
        Operand::Label(_) => "a label",
        Operand::BranchTable(_) => "a branch table",
        Operand::Prototype(_) => "a prototype",
        Operand::CallTargets(_) => "a list of call targets",
        Operand::Video { .. } => "part of a register",
        Operand::Sink => "the sink",
    }
}
