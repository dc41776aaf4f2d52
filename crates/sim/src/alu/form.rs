//! An instruction being lowered: its types and words are taken one by one, and whatever nobody took is refused.

use tile33_ptx::ast::{Instruction, Modifier, Opcode, Operand, Type};

use super::{Operands, Result, Unsupported};
use crate::registers::{PredSlot, Slot};

/// See the module's docs.
pub(super) struct Form<'a> {
    /// The first word.
    pub(super) opcode: Opcode,
    /// All operands, destination first.
    pub(super) operands: &'a [Operand],
    /// Where they live.
    pub(super) at: &'a mut dyn Operands,
    types: Vec<Type>,
    words: Vec<&'a str>,
    vector: u8,
}

impl<'a> Form<'a> {
    pub(super) fn new(instruction: &'a Instruction, at: &'a mut dyn Operands) -> Self {
        let mut form = Self {
            opcode: instruction.opcode,
            operands: &instruction.operands,
            at,
            types: Vec::new(),
            words: Vec::new(),
            vector: 1,
        };
        for modifier in instruction.modifiers.iter() {
            match modifier {
                Modifier::Type(ty) => form.types.push(*ty),
                Modifier::Word(word) => form.words.push(word),
                Modifier::Vector(n) => form.vector = *n,
                // No register-only instruction names a state space.
                Modifier::Space(_) => form.words.push("a state space"),
            }
        }
        form
    }

    /// Takes `.word` if it is there.
    pub(super) fn flag(&mut self, word: &str) -> bool {
        match self.words.iter().position(|w| *w == word) {
            Some(at) => {
                self.words.remove(at);
                true
            }
            None => false,
        }
    }

    /// Whether `.word` is there; not taken.
    pub(super) fn has(&self, word: &str) -> bool {
        self.words.contains(&word)
    }

    /// The first type that is not taken yet.
    pub(super) fn peek_type(&self) -> Option<Type> {
        self.types.first().copied()
    }

    /// Takes the one of `words` that is there.
    pub(super) fn choice(&mut self, words: &[&'static str]) -> Option<&'static str> {
        let found = words.iter().find(|w| self.words.contains(w))?;
        self.flag(found);
        Some(found)
    }

    /// Takes the first word that is one of `words`.
    pub(super) fn next_of(&mut self, words: &[&str]) -> Option<&'a str> {
        let at = self.words.iter().position(|w| words.contains(w))?;
        Some(self.words.remove(at))
    }

    /// Takes the first word that `f` understands.
    pub(super) fn find<T>(&mut self, f: impl Fn(&str) -> Option<T>) -> Option<T> {
        let (at, found) = self.words.iter().enumerate().find_map(|(at, w)| Some((at, f(w)?)))?;
        self.words.remove(at);
        Some(found)
    }

    /// `.v2` / `.v4`, or 1; taken.
    pub(super) fn vector(&mut self) -> u8 {
        std::mem::replace(&mut self.vector, 1)
    }

    /// Takes the next type.
    pub(super) fn ty(&mut self) -> Result<Type> {
        if self.types.is_empty() {
            return Err(Unsupported::because("it names no type"));
        }
        Ok(self.types.remove(0))
    }

    /// Takes the next type if there is one.
    pub(super) fn ty_if_any(&mut self) -> Option<Type> {
        if self.types.is_empty() {
            None
        } else {
            Some(self.types.remove(0))
        }
    }

    /// Fails if a modifier is left, or the number of operands is not `operands`.
    pub(super) fn done(&mut self, operands: usize) -> Result<()> {
        if let Some(word) = self.words.first() {
            return Err(Unsupported::because(format!("modifier `.{word}`")));
        }
        if let Some(ty) = self.types.first() {
            return Err(Unsupported::because(format!("type `.{ty}` in this place")));
        }
        if self.vector != 1 {
            return Err(Unsupported::because(format!("modifier `.v{}`", self.vector)));
        }
        if self.operands.len() != operands {
            return Err(Unsupported::because(format!(
                "it has {} operands, {operands} are expected",
                self.operands.len()
            )));
        }
        Ok(())
    }

    /// "This type is not supported here".
    pub(super) fn bad_type<T>(&self, ty: Type) -> Result<T> {
        Err(Unsupported::because(format!("type `.{ty}`")))
    }

    /// Operand `i`, or an error.
    pub(super) fn operand(&self, i: usize) -> Result<&'a Operand> {
        let all = self.operands;
        all.get(i)
            .ok_or_else(|| Unsupported::because(format!("operand {} is missing", i + 1)))
    }

    /// Rows of operand `i` read as `ty`.
    pub(super) fn source(&mut self, i: usize, ty: Type) -> Result<Slot> {
        let operand = self.operand(i)?;
        self.read(operand, ty)
    }

    /// Rows of `operand` read as `ty`; it must be as wide as the type.
    pub(super) fn read(&mut self, operand: &Operand, ty: Type) -> Result<Slot> {
        self.check_width(operand, ty)?;
        self.at.source(operand, ty)
    }

    /// Rows of operand `i` to write as `ty`.
    pub(super) fn dest(&mut self, i: usize, ty: Type) -> Result<Slot> {
        let operand = self.operand(i)?;
        self.write(operand, ty)
    }

    /// Rows of `operand` to write as `ty`; it must be as wide as the type.
    pub(super) fn write(&mut self, operand: &Operand, ty: Type) -> Result<Slot> {
        self.check_width(operand, ty)?;
        self.at.dest(operand, ty)
    }

    /// The destination predicate that operand `i` is.
    pub(super) fn pred_dest(&mut self, i: usize) -> Result<PredSlot> {
        let operand = self.operand(i)?;
        self.at.pred_dest(operand)
    }

    /// The source predicate that operand `i` is, and whether it is negated.
    pub(super) fn pred_source(&mut self, i: usize) -> Result<(PredSlot, bool)> {
        let operand = self.operand(i)?;
        self.at.pred_source(operand)
    }

    /// PTX wants a register as wide as the instruction's type; a narrower or wider one would make a row be read as two,
    /// or half a row be read, so it is refused here for every instruction that has no rule of its own.
    fn check_width(&self, operand: &Operand, ty: Type) -> Result<()> {
        let Some(declared) = self.at.declared(operand) else {
            return Ok(());
        };
        if declared.bytes() != ty.bytes() || declared == Type::Pred {
            return Err(Unsupported::because(format!(
                "a `.{declared}` register where `.{ty}` is wanted"
            )));
        }
        Ok(())
    }
}
