//! What the register-only instructions do: arithmetic, logic, conversions, warp shuffles and votes, matrix products.
//!
//! [`lower`] turns one PTX instruction into an [`Alu`]: a closure made for exactly its opcode, types, rounding and
//! modifiers, over whole rows of 32 lanes, so that running it is one indirect call and a loop which the compiler has
//! vectorised. The decoder says where operands live by implementing [`Operands`].
//!
//! Every modifier is either honoured or refused: a word that nobody asked for makes [`lower`] return [`Unsupported`],
//! never an approximation of the instruction.

mod bits;
mod carry;
mod compare;
mod convert;
mod dot;
mod float;
mod form;
mod integer;
mod logic;
mod mov;
mod rows;
mod tensor;
mod warp;

use std::fmt;

use tile33_ptx::ast::{Instruction, Modifier, Opcode, Operand, Type};

pub use self::tensor::{Fragment, Shape, wmma_element, wmma_registers};
use crate::registers::{PredSlot, Registers, Slot};

/// An instruction, or a form of it, that the emulator does not run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{instruction}` is not supported: {reason}")]
pub struct Unsupported {
    /// The instruction as spelt, with its modifiers and without its operands.
    pub instruction: String,
    /// What about it is not supported, and what would be where that helps.
    pub reason: String,
}

impl Unsupported {
    /// For use inside an [`Operands`] implementation, which does not know the instruction: [`lower`] fills it in.
    pub fn because(reason: impl Into<String>) -> Self {
        Self {
            instruction: String::new(),
            reason: reason.into(),
        }
    }

    /// The same, naming `instruction` unless one is named already.
    pub fn of(mut self, instruction: &Instruction) -> Self {
        if self.instruction.is_empty() {
            self.instruction = spelling(instruction);
        }
        self
    }
}

/// What this part returns.
pub type Result<T> = std::result::Result<T, Unsupported>;

/// Where the operands of an instruction live; implemented by the decoder.
///
/// Rows hold values as [`crate::registers`] says: 8- and 16-bit values zero-extended in a 32-bit row, 64-bit ones in two
/// rows, 128-bit ones in four. Every method is called once per operand while lowering and never while running.
pub trait Operands {
    /// The rows that hold `operand`, which the instruction reads as `ty`.
    ///
    /// A register gives its own rows, whatever type it was declared with: a caller that allows a register wider than
    /// `ty` (`cvt` does) asks [`Operands::declared`] first. Immediates and special registers give rows that hold the
    /// value in every lane; [`immediate`] has the bits.
    fn source(&mut self, operand: &Operand, ty: Type) -> Result<Slot>;

    /// The rows to write. The sink `_` gives scratch rows, enough for `ty`, that nobody reads.
    fn dest(&mut self, operand: &Operand, ty: Type) -> Result<Slot>;

    /// A predicate to read, and whether it is negated (`!p`). A constant predicate is a slot too.
    fn pred_source(&mut self, operand: &Operand) -> Result<(PredSlot, bool)>;

    /// A predicate to write; scratch for the sink `_`.
    fn pred_dest(&mut self, operand: &Operand) -> Result<PredSlot>;

    /// Type that the register was declared with; of its element, for a component of a vector register. `None` for what
    /// is no register.
    fn declared(&self, operand: &Operand) -> Option<Type>;

    /// Number of elements of a vector register named without a component (`.reg .v4 .f32 %v`); 1 for anything else.
    fn vector_len(&self, operand: &Operand) -> u8;

    /// Rows that hold the same bits in every lane, enough for `ty`.
    fn constant(&mut self, bits: u128, ty: Type) -> Slot;

    /// The condition-code register `CC.CF` that `add.cc`, `addc` and their kin share: one predicate for the thread.
    fn carry(&mut self) -> PredSlot;
}

/// The bits that an immediate operand has when it is read as `ty`: integers truncated, decimal floats rounded to the type.
/// `None` for what is no immediate.
pub fn immediate(operand: &Operand, ty: Type) -> Option<u128> {
    let bits = match (operand, ty) {
        (Operand::Integer(v), _) => *v as i128 as u128,
        (Operand::Float32(bits), Type::F64) => u128::from(f64::from(f32::from_bits(*bits)).to_bits()),
        (Operand::Float32(bits), _) => u128::from(*bits),
        (Operand::Float64(bits), Type::F32) => u128::from((f64::from_bits(*bits) as f32).to_bits()),
        (Operand::Float64(bits), _) => u128::from(*bits),
        _ => return None,
    };
    Some(match ty.bytes() {
        16 => bits,
        n => bits & ((1 << (8 * n)) - 1),
    })
}

/// Which lanes must arrive at an instruction before any of them may run it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// It runs for whatever lanes are there.
    None,
    /// Those that the member mask in this row names; each lane has the same mask, or the program is wrong.
    Members(Slot),
    /// All lanes that have not exited (`.sync.aligned`).
    Warp,
}

/// What runs: over the warp's registers, for the lanes of a mask.
type Run = Box<dyn Fn(&mut Registers, u32) + Send + std::marker::Sync>;

/// A lowered instruction.
pub struct Alu {
    run: Run,
    sync: Sync,
}

impl Alu {
    fn new(run: impl Fn(&mut Registers, u32) + Send + std::marker::Sync + 'static) -> Self {
        Self {
            run: Box::new(run),
            sync: Sync::None,
        }
    }

    /// Runs it for the lanes in `active`; the registers of other lanes keep their values.
    #[inline]
    pub fn execute(&self, regs: &mut Registers, active: u32) {
        (self.run)(regs, active);
    }

    /// Which lanes must be together before it runs.
    pub fn sync(&self) -> Sync {
        self.sync
    }
}

impl fmt::Debug for Alu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Alu").field("sync", &self.sync).finish_non_exhaustive()
    }
}

/// Lowers `instruction`; its guard is the caller's business. `None` if it is none of the register-only instructions.
///
/// # Errors
/// [`Unsupported`] names the instruction if it, one of its modifiers or one of its operands is not supported.
pub fn lower(instruction: &Instruction, operands: &mut dyn Operands) -> Result<Option<Alu>> {
    let mut form = form::Form::new(instruction, operands);
    let form = &mut form;
    let floats = form.peek_type().is_some_and(float::is_float);
    let alu = match instruction.opcode {
        _ if carry::concerns(form) => carry::lower(form),
        Opcode::Add | Opcode::Sub if floats => float::add(form),
        Opcode::Add | Opcode::Sub => integer::add(form),
        Opcode::Mul if floats => float::mul(form),
        Opcode::Mul => integer::mul(form),
        Opcode::Fma => float::fma(form),
        Opcode::Mad if floats => float::fma(form),
        Opcode::Mad => integer::mad(form),
        Opcode::Mul24 | Opcode::Mad24 => integer::mul24(form),
        Opcode::Sad => integer::sad(form),
        Opcode::Div if floats => float::div(form),
        Opcode::Div | Opcode::Rem => integer::div(form),
        Opcode::Abs | Opcode::Neg if floats => float::order::sign(form),
        Opcode::Abs | Opcode::Neg => integer::sign(form),
        Opcode::Min | Opcode::Max if floats => float::order::min_max(form),
        Opcode::Min | Opcode::Max => integer::min_max(form),
        Opcode::Copysign => float::order::copysign(form),
        Opcode::Rcp => float::approx::rcp(form),
        Opcode::Sqrt => float::approx::sqrt(form),
        Opcode::Rsqrt => float::approx::rsqrt(form),
        Opcode::Sin | Opcode::Cos | Opcode::Lg2 | Opcode::Ex2 | Opcode::Tanh => float::approx::transcendental(form),
        Opcode::Mov => mov::mov(form),
        Opcode::Cvt => convert::cvt(form),
        Opcode::Setp => compare::setp(form),
        Opcode::Set => compare::set(form),
        Opcode::Slct => compare::slct(form),
        Opcode::Testp => compare::testp(form),
        Opcode::Selp => logic::selp(form),
        Opcode::And | Opcode::Or | Opcode::Xor => logic::bitwise(form),
        Opcode::Not | Opcode::Cnot => logic::not(form),
        Opcode::Lop3 => logic::lop3(form),
        Opcode::Shl | Opcode::Shr => logic::shift(form),
        Opcode::Shf => logic::funnel(form),
        Opcode::Prmt => bits::prmt(form),
        Opcode::Bfe => bits::bfe(form),
        Opcode::Bfi => bits::bfi(form),
        Opcode::Bmsk => bits::bmsk(form),
        Opcode::Szext => bits::szext(form),
        Opcode::Popc | Opcode::Clz => bits::count(form),
        Opcode::Brev => bits::brev(form),
        Opcode::Bfind => bits::bfind(form),
        Opcode::Fns => bits::fns(form),
        Opcode::Dp4a | Opcode::Dp2a => dot::dot(form),
        Opcode::Vabsdiff2 | Opcode::Vabsdiff4 => dot::differences(form),
        Opcode::Shfl => warp::shfl(form),
        Opcode::Vote => warp::vote(form),
        Opcode::Match => warp::matches(form),
        Opcode::Activemask => warp::activemask(form),
        Opcode::Redux => warp::redux(form),
        Opcode::Elect => warp::elect(form),
        Opcode::Movmatrix => warp::movmatrix(form),
        Opcode::Createpolicy => mov::policy(form),
        Opcode::Mma => tensor::mma(form),
        // Its loads and stores are memory's business.
        Opcode::Wmma if form.flag("mma") => tensor::wmma(form),
        _ => return Ok(None),
    };
    alu.map(Some).map_err(|e| e.of(instruction))
}

/// `opcode.modifier.modifier`, as it was written.
pub fn spelling(instruction: &Instruction) -> String {
    let mut text = instruction.opcode.to_string();
    for modifier in instruction.modifiers.iter() {
        text.push('.');
        match modifier {
            Modifier::Type(ty) => text.push_str(ty.as_str()),
            Modifier::Space(space) => text.push_str(&format!("{space:?}").to_lowercase()),
            Modifier::Vector(n) => text.push_str(&format!("v{n}")),
            Modifier::Word(word) => text.push_str(word),
        }
    }
    text
}
