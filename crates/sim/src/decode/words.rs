//! The dotted words of an instruction, taken one by one; what nobody takes makes the instruction unsupported.

use tile33_ptx::{Instruction, Modifier, Operand, Space, Type};

use super::ops::{MemSpace, Order, Scope};
use crate::alu::Unsupported;

/// Result of decoding one instruction.
pub(crate) type Result<T> = std::result::Result<T, Unsupported>;

/// Modifiers and operands of an instruction being decoded.
pub(crate) struct Words<'a> {
    pub(crate) operands: &'a [Operand],
    pub(crate) types: Vec<Type>,
    pub(crate) spaces: Vec<Space>,
    pub(crate) vector: u8,
    words: Vec<&'a str>,
}

impl<'a> Words<'a> {
    pub(crate) fn new(inst: &'a Instruction) -> Self {
        let mut all = Self {
            operands: &inst.operands,
            types: Vec::new(),
            spaces: Vec::new(),
            vector: 1,
            words: Vec::new(),
        };
        for modifier in inst.modifiers.iter() {
            match modifier {
                Modifier::Type(ty) => all.types.push(*ty),
                Modifier::Space(space) => all.spaces.push(*space),
                Modifier::Vector(n) => all.vector = *n,
                Modifier::Word(word) => all.words.push(word),
            }
        }
        all
    }

    /// Takes a word if it is there.
    pub(crate) fn take(&mut self, word: &str) -> bool {
        let at = self.words.iter().position(|w| *w == word);
        at.map(|i| self.words.remove(i)).is_some()
    }

    /// Takes whichever of the words is there.
    pub(crate) fn choice<T: Copy>(&mut self, choices: &[(&str, T)]) -> Option<T> {
        choices
            .iter()
            .find(|(word, _)| self.take(word))
            .map(|(_, value)| *value)
    }

    /// The words that are left; for forms that are told by them.
    pub(crate) fn rest(&self) -> &[&'a str] {
        &self.words
    }

    /// Takes hints on caching, which change no result.
    pub(crate) fn cache_hints(&mut self) {
        self.words.retain(|w| {
            !matches!(*w, "ca" | "cg" | "cs" | "lu" | "cv" | "wb" | "wt" | "unified")
                && !w.starts_with("L1::")
                && !w.starts_with("L2::")
                && !w.starts_with("level::")
        });
    }

    /// `.volatile`, `.relaxed.gpu` ..; `default` where the instruction says nothing.
    pub(crate) fn order(&mut self, default: Order) -> (Order, Scope) {
        let orders = [
            ("weak", Order::Weak),
            ("volatile", Order::Volatile),
            ("relaxed", Order::Relaxed),
            ("acquire", Order::Acquire),
            ("release", Order::Release),
            ("acq_rel", Order::AcqRel),
            ("sc", Order::SeqCst),
        ];
        let mmio = self.take("mmio");
        let order = self
            .choice(&orders)
            .unwrap_or(if mmio { Order::Relaxed } else { default });
        (order, self.scope())
    }

    /// `.cta` to `.sys`; the device where nothing is said.
    pub(crate) fn scope(&mut self) -> Scope {
        let scopes = [
            ("cta", Scope::Block),
            ("cluster", Scope::Cluster),
            ("gpu", Scope::Device),
            ("sys", Scope::System),
        ];
        self.choice(&scopes).unwrap_or(Scope::Device)
    }

    /// The one state space; generic where none is named.
    pub(crate) fn space(&mut self) -> Result<MemSpace> {
        let space = match self.spaces.as_slice() {
            [] => return Ok(MemSpace::Generic),
            [space] => *space,
            [_, second, ..] => return Err(Unsupported::because(format!("state space {second:?} in this place"))),
        };
        self.spaces.clear();
        mem_space(space)
    }

    /// Takes the next type.
    pub(crate) fn ty(&mut self) -> Result<Type> {
        if self.types.is_empty() {
            return Err(Unsupported::because("it names no type"));
        }
        Ok(self.types.remove(0))
    }

    /// Operand `i`.
    pub(crate) fn operand(&self, i: usize) -> Result<&'a Operand> {
        self.operands
            .get(i)
            .ok_or_else(|| Unsupported::because(format!("operand {} is missing", i + 1)))
    }

    /// Fails if anything is left, or if there are not `from` to `to` operands.
    pub(crate) fn done(self, from: usize, to: usize) -> Result<()> {
        if let Some(word) = self.words.first() {
            return Err(Unsupported::because(format!("modifier `.{word}`")));
        }
        if let Some(ty) = self.types.first() {
            return Err(Unsupported::because(format!("type `.{ty}` in this place")));
        }
        if let Some(space) = self.spaces.first() {
            return Err(Unsupported::because(format!("state space {space:?} in this place")));
        }
        if !(from..=to).contains(&self.operands.len()) {
            return Err(Unsupported::because(format!("{} operands", self.operands.len())));
        }
        Ok(())
    }
}

/// The space of an access, if it is one that the emulator has.
pub(crate) fn mem_space(space: Space) -> Result<MemSpace> {
    Ok(match space {
        Space::Generic => MemSpace::Generic,
        Space::Global => MemSpace::Global,
        // A cluster is one block here, so its shared memory is the block's.
        Space::Shared | Space::SharedCluster => MemSpace::Shared,
        Space::Local => MemSpace::Local,
        Space::Const => MemSpace::Const,
        Space::Param => MemSpace::Param,
        Space::Reg | Space::Sreg | Space::Tex => {
            return Err(Unsupported::because(format!("state space {space:?}")));
        }
    })
}
