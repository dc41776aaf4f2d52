//! Where variables live: shared memory of a block, local frames of a function, the constant bank of a module.

use std::collections::{BTreeMap, BTreeSet};

use tile33_ptx::{AddressBase, FuncId, Function, Module, Operand, Space, SymbolRef, VarId, Variable};

use crate::memory::SHARED_BASE;

/// A variable of a function or (`None`) of the module.
pub(crate) type Key = (Option<FuncId>, u32);

/// A named range of a space.
#[derive(Clone, Debug)]
pub(crate) struct Symbol {
    pub(crate) name: String,
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
}

/// A block's shared memory: the kernel's static variables by falling alignment, then the dynamic part.
#[derive(Debug, Default)]
pub(crate) struct SharedPlaces {
    pub(crate) offsets: BTreeMap<Key, u64>,
    /// Bytes of static variables, from [`SHARED_BASE`].
    pub(crate) static_bytes: u64,
    /// Where dynamic shared memory starts.
    pub(crate) dynamic: u64,
    /// Name of the dynamic array, if the kernel has one.
    pub(crate) dynamic_name: Option<String>,
    /// By offset; the dynamic array, whose length the launch gives, is not among them.
    pub(crate) symbols: Vec<Symbol>,
}

impl SharedPlaces {
    /// Places what `functions` use.
    pub(crate) fn new(module: &Module, functions: &[FuncId]) -> Self {
        let mut variables: Vec<(Key, &Variable)> = Vec::new();
        let mut used = BTreeSet::new();
        for &id in functions {
            let Some(body) = module.functions.get(id.0 as usize).and_then(|f| f.body.as_ref()) else {
                continue;
            };
            for inst in &body.instructions {
                inst.operands.iter().for_each(|o| module_variables(o, &mut used));
            }
            for (i, v) in (0u32..).zip(&body.variables) {
                if v.space == Space::Shared {
                    variables.push(((Some(id), i), v));
                }
            }
        }
        for (i, v) in (0u32..).zip(&module.variables) {
            if v.space == Space::Shared && used.contains(&i) {
                variables.push(((None, i), v));
            }
        }
        // Module variables in the order of the file come before the functions' own of equal alignment.
        variables.sort_by_key(|((f, i), v)| (std::cmp::Reverse(v.align), f.map(|f| f.0 + 1), *i));
        let mut places = Self::default();
        let mut at = SHARED_BASE;
        let mut dynamic_align = 16;
        for (key, v) in &variables {
            if v.bytes() == 0 {
                dynamic_align = dynamic_align.max(v.align);
                places.dynamic_name.get_or_insert_with(|| v.name.clone());
                continue;
            }
            at = at.next_multiple_of(u64::from(v.align.max(1)));
            places.offsets.insert(*key, at);
            places.symbols.push(Symbol {
                name: v.name.clone(),
                offset: at,
                bytes: v.bytes(),
            });
            at += v.bytes();
        }
        places.static_bytes = at - SHARED_BASE;
        places.dynamic = at.next_multiple_of(u64::from(dynamic_align));
        for (key, v) in variables {
            if v.bytes() == 0 {
                places.offsets.insert(key, places.dynamic);
            }
        }
        places
    }
}

fn module_variables(operand: &Operand, used: &mut BTreeSet<u32>) {
    match operand {
        Operand::Symbol(SymbolRef::Variable(VarId::Module(i)), _)
        | Operand::Address {
            base: AddressBase::Symbol(SymbolRef::Variable(VarId::Module(i))),
            ..
        } => {
            used.insert(*i);
        }
        Operand::Vector(all) | Operand::List(all) | Operand::Bracketed(all) => {
            all.iter().for_each(|o| module_variables(o, used));
        }
        _ => {}
    }
}

/// Local memory of one call of a function: parameters, returns, variables.
#[derive(Debug, Default)]
pub(crate) struct Frame {
    pub(crate) params: Vec<u32>,
    pub(crate) returns: Vec<u32>,
    pub(crate) variables: Vec<Option<u32>>,
    pub(crate) bytes: u32,
    pub(crate) symbols: Vec<Symbol>,
}

impl Frame {
    pub(crate) fn new(function: &Function) -> Self {
        let mut frame = Self::default();
        let mut at = 0u64;
        let mut place = |v: &Variable, symbols: &mut Vec<Symbol>| {
            // At least word alignment: rows of 32-bit words hold local memory.
            at = at.next_multiple_of(u64::from(v.align.max(4)));
            let offset = at;
            symbols.push(Symbol {
                name: v.name.clone(),
                offset,
                bytes: v.bytes(),
            });
            at += v.bytes();
            offset as u32
        };
        // A kernel's parameters are not in a frame: they are the launch's.
        if !function.is_kernel {
            frame.params = function.params.iter().map(|v| place(v, &mut frame.symbols)).collect();
            frame.returns = function.returns.iter().map(|v| place(v, &mut frame.symbols)).collect();
        }
        if let Some(body) = &function.body {
            frame.variables = body
                .variables
                .iter()
                .map(|v| matches!(v.space, Space::Local | Space::Param).then(|| place(v, &mut frame.symbols)))
                .collect();
        }
        frame.bytes = at.next_multiple_of(16).try_into().unwrap_or(u32::MAX);
        frame
    }
}

/// The constant bank of a module.
#[derive(Debug, Default)]
pub(crate) struct ConstPlaces {
    /// By key: offset in the bank.
    pub(crate) offsets: BTreeMap<Key, u64>,
    pub(crate) symbols: Vec<Symbol>,
    pub(crate) bytes: u64,
}

impl ConstPlaces {
    pub(crate) fn new(module: &Module) -> Self {
        let mut places = Self::default();
        for (key, v) in variables_in(module, Space::Const) {
            let at = places.bytes.next_multiple_of(u64::from(v.align.max(1)));
            places.offsets.insert(key, at);
            places.symbols.push(Symbol {
                name: v.name.clone(),
                offset: at,
                bytes: v.bytes(),
            });
            places.bytes = at + v.bytes();
        }
        places
    }
}

/// Every variable of a space, of the module and of its functions.
pub(crate) fn variables_in(module: &Module, space: Space) -> Vec<(Key, &Variable)> {
    let own = (0u32..).zip(&module.variables).map(|(i, v)| ((None, i), v));
    let inner = (0u32..).zip(&module.functions).flat_map(|(f, function)| {
        let variables = function.body.as_ref().map_or(&[][..], |b| &b.variables);
        (0u32..).zip(variables).map(move |(i, v)| ((Some(FuncId(f)), i), v))
    });
    own.chain(inner).filter(|(_, v)| v.space == space).collect()
}
