//! A module in a memory: its variables have addresses and hold what earlier launches left in them.

use std::collections::BTreeMap;

use tile33_ptx::{Module, Relocation, Space, SymbolRef, VarId};

use crate::decode::place::{ConstPlaces, Key, variables_in};
use crate::memory::{CODE_WINDOW, CONST_WINDOW, Memory, MemoryError};

/// See the module's docs.
#[derive(Debug, Default)]
pub(crate) struct Instance {
    /// Addresses of `.global` variables.
    pub(crate) globals: BTreeMap<Key, u64>,
    /// The constant bank.
    pub(crate) constants: Vec<u8>,
}

impl Instance {
    /// Allocates and initialises a module's variables.
    pub(crate) fn new(module: &Module, places: &ConstPlaces, memory: &mut Memory) -> Result<Self, MemoryError> {
        let mut instance = Self {
            globals: BTreeMap::new(),
            constants: vec![0; places.bytes as usize],
        };
        let globals = variables_in(module, Space::Global);
        for (key, v) in &globals {
            let address = memory.alloc_named(v.bytes(), &v.name)?;
            // What has no initialiser is zero.
            memory.fill(address, 0, v.bytes())?;
            instance.globals.insert(*key, address);
        }
        for (key, v) in globals {
            let (Some(init), Some(&address)) = (&v.init, instance.globals.get(&key)) else {
                continue;
            };
            let mut bytes = init.bytes.clone();
            bytes.truncate(v.bytes() as usize);
            instance.relocate(&mut bytes, &init.relocations, v.bytes(), places, key);
            memory.write(address, &bytes)?;
        }
        for (key, v) in variables_in(module, Space::Const) {
            let (Some(init), Some(&at)) = (&v.init, places.offsets.get(&key)) else {
                continue;
            };
            let mut bytes = init.bytes.clone();
            bytes.truncate(v.bytes() as usize);
            instance.relocate(&mut bytes, &init.relocations, v.bytes(), places, key);
            let at = at as usize;
            instance.constants[at..at + bytes.len()].copy_from_slice(&bytes);
        }
        Ok(instance)
    }

    fn relocate(&self, bytes: &mut Vec<u8>, all: &[Relocation], size: u64, places: &ConstPlaces, within: Key) {
        for r in all {
            let value = self.address(r, places, within).wrapping_add_signed(r.addend) >> r.shift;
            let end = r.offset + u64::from(r.width);
            if end > size {
                continue;
            }
            if bytes.len() < end as usize {
                bytes.resize(end as usize, 0);
            }
            let width = usize::from(r.width).min(8);
            bytes[r.offset as usize..r.offset as usize + width].copy_from_slice(&value.to_le_bytes()[..width]);
        }
    }

    fn address(&self, r: &Relocation, places: &ConstPlaces, within: Key) -> u64 {
        let key = match r.target {
            SymbolRef::Function(f) => return CODE_WINDOW + 16 * u64::from(f.0),
            SymbolRef::Variable(VarId::Module(i)) => (None, i),
            SymbolRef::Variable(VarId::Local(i)) => (within.0, i),
            SymbolRef::Variable(VarId::Param(_) | VarId::Return(_)) => return 0,
        };
        if let Some(address) = self.globals.get(&key) {
            return *address;
        }
        let offset = places.offsets.get(&key).copied().unwrap_or(0);
        if r.generic { CONST_WINDOW + offset } else { offset }
    }
}
