//! Names in nested scopes: one hash table each for names, register ranges and labels, with a log that undoes what a
//! scope declared when it ends. A name is found in constant time however deep the scopes are.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::{FuncId, LabelId, RegId, Register, RegisterRange, Type, VarId};

pub(crate) type Map<K, V> = HashMap<K, V, RandomState>;

/// What a name in a function's body means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    Register(RegId),
    Variable(VarId),
    Function(FuncId),
}

/// What the name before a colon means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LabelMeaning {
    Label(LabelId),
    BranchTable(u32),
    Prototype(u32),
    CallTargets(u32),
}

/// A table whose entries end with the scope that made them.
struct Scoped<'a, T> {
    table: Map<&'a str, (u32, T)>,
    /// What each declaration replaced.
    log: Vec<(&'a str, Option<(u32, T)>)>,
}

impl<T> Default for Scoped<'_, T> {
    fn default() -> Self {
        Self {
            table: Map::default(),
            log: Vec::new(),
        }
    }
}

impl<'a, T: Copy> Scoped<'a, T> {
    fn get(&self, name: &str) -> Option<(u32, T)> {
        self.table.get(name).copied()
    }

    /// Declares a name at a depth; false if that depth already has it.
    fn declare(&mut self, name: &'a str, depth: u32, value: T) -> bool {
        let before = self.table.insert(name, (depth, value));
        let fresh = before.as_ref().is_none_or(|(at, _)| *at < depth);
        self.log.push((name, before));
        fresh
    }

    /// Ends the scope of this depth.
    fn end(&mut self, length: usize) {
        for (name, before) in self.log.drain(length..).rev() {
            match before {
                Some(entry) => self.table.insert(name, entry),
                None => self.table.remove(name),
            };
        }
    }
}

/// A `.reg` declaration with a count.
struct Range {
    count: u32,
    ty: Type,
    vector: u8,
    /// The range with the same prefix in an outer scope.
    outer: Option<(u32, u32)>,
}

/// Names of one function.
#[derive(Default)]
pub(crate) struct Names<'a> {
    meanings: Scoped<'a, Meaning>,
    prefixes: Scoped<'a, u32>,
    labels: Scoped<'a, LabelMeaning>,
    ranges: Vec<Range>,
    /// Members of ranges that something has named.
    members: Map<(u32, u32), RegId>,
    /// Whether a range's prefix ends in a digit, so that a name can be split in more than one way.
    digit_prefix: bool,
    /// Registers found since the last declaration, or begin or end of a scope: what they mean until the next.
    found: Map<&'a str, RegId>,
    /// Lengths of the three logs where each open scope began.
    scopes: Vec<[usize; 3]>,
}

impl<'a> Names<'a> {
    fn depth(&self) -> u32 {
        self.scopes.len() as u32
    }

    pub(crate) fn open(&mut self) {
        self.found.clear();
        self.scopes
            .push([self.meanings.log.len(), self.prefixes.log.len(), self.labels.log.len()]);
    }

    pub(crate) fn close(&mut self) {
        self.found.clear();
        if let Some([meanings, prefixes, labels]) = self.scopes.pop() {
            self.meanings.end(meanings);
            self.prefixes.end(prefixes);
            self.labels.end(labels);
        }
    }

    /// Declares a name in the innermost scope; false if the scope already has it.
    pub(crate) fn declare(&mut self, name: &'a str, meaning: Meaning) -> bool {
        self.found.clear();
        self.meanings.declare(name, self.depth(), meaning)
    }

    /// Declares a label in the innermost scope; false if the scope already has it.
    pub(crate) fn declare_label(&mut self, name: &'a str, meaning: LabelMeaning) -> bool {
        self.labels.declare(name, self.depth(), meaning)
    }

    /// The label that the innermost scope itself declares.
    pub(crate) fn own_label(&self, name: &str) -> Option<LabelMeaning> {
        self.labels
            .get(name)
            .filter(|&(depth, _)| depth == self.depth())
            .map(|(_, meaning)| meaning)
    }

    /// Declares `prefix<count>`; false if the scope already has that prefix.
    pub(crate) fn declare_range(&mut self, prefix: &'a str, count: u32, ty: Type, vector: u8) -> bool {
        self.found.clear();
        self.digit_prefix |= prefix.ends_with(|c: char| c.is_ascii_digit());
        let outer = self.prefixes.get(prefix);
        self.ranges.push(Range {
            count,
            ty,
            vector,
            outer,
        });
        self.prefixes
            .declare(prefix, self.depth(), self.ranges.len() as u32 - 1)
    }

    /// What a name means; a member of a range becomes a register when it is first named.
    pub(crate) fn find(&mut self, name: &'a str, registers: &mut Vec<Register>) -> Option<Meaning> {
        if let Some(&id) = self.found.get(name) {
            return Some(Meaning::Register(id));
        }
        let meaning = self.search(name, registers);
        if let Some(Meaning::Register(id)) = meaning {
            self.found.insert(name, id);
        }
        meaning
    }

    fn search(&mut self, name: &str, registers: &mut Vec<Register>) -> Option<Meaning> {
        let member = self.member(name);
        let exact = self.meanings.get(name);
        let Some((depth, range, number)) = member else {
            return exact.map(|(_, meaning)| meaning);
        };
        if let Some((_, meaning)) = exact.filter(|&(at, _)| at >= depth) {
            return Some(meaning);
        }
        let Range { ty, vector, .. } = self.ranges[range as usize];
        let id = *self.members.entry((range, number)).or_insert_with(|| {
            registers.push(Register {
                name: name.into(),
                ty,
                vector,
            });
            RegId(registers.len() as u32 - 1)
        });
        Some(Meaning::Register(id))
    }

    /// The innermost range that declares `name`: its depth, its index, and the member's number.
    fn member(&self, name: &str) -> Option<(u32, u32, u32)> {
        let bytes = name.as_bytes();
        let digits = bytes.iter().rev().take_while(|b| b.is_ascii_digit()).take(10).count();
        let mut best: Option<(u32, u32, u32)> = None;
        for split in bytes.len() - digits..bytes.len() {
            if bytes[split] == b'0' && split + 1 < bytes.len() {
                continue;
            }
            let mut entry = self.prefixes.get(&name[..split]);
            if let (Some(_), Ok(number)) = (entry, name[split..].parse::<u32>()) {
                while let Some((depth, index)) = entry {
                    let range = &self.ranges[index as usize];
                    if number < range.count {
                        if best.is_none_or(|(at, ..)| at < depth) {
                            best = Some((depth, index, number));
                        }
                        break;
                    }
                    entry = range.outer;
                }
            }
            if !self.digit_prefix {
                break;
            }
        }
        best
    }

    /// The range whose member `name` would be if it had more of them, for an error message.
    pub(crate) fn too_short(&self, name: &str, declared: &[RegisterRange]) -> Option<String> {
        let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let (_, index) = self.prefixes.get(prefix).filter(|_| prefix.len() < name.len())?;
        let count = self.ranges[index as usize].count;
        declared
            .iter()
            .any(|range| range.prefix == prefix)
            .then(|| format!("{prefix}<{count}>"))
    }
}
