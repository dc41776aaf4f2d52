//! What stands between the braces of a function: scopes, declarations, labels and instructions.

use std::mem;
use std::sync::Arc;

use crate::declarations::{space, vector};
use crate::error::{ParseError, Result};
use crate::lexer::Kind;
use crate::module::{OPCODES, Parser};
use crate::names::{LabelMeaning, Meaning};
use crate::{
    BranchTable, CallTargets, Guard, Instruction, Label, LabelId, Linkage, Modifier, Opcode, Operand, Pos, RegId, Type,
    VarId,
};

/// A label that was named before its scope was read to the end.
pub(crate) struct Pending<'a> {
    name: &'a str,
    pos: Pos,
    place: Place,
}

/// Where the label belongs once it is known.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    /// Operand of an instruction.
    Operand { instruction: u32, operand: u32 },
    /// Entry of a `.branchtargets` list.
    Table { table: u32, entry: u32 },
}

/// Stands for a label until it is known.
const UNKNOWN: LabelId = LabelId(u32::MAX);

impl<'a> Parser<'a> {
    /// The body of a function, from `{` to the matching `}`. The outermost scope, with the parameters, is already open.
    pub(crate) fn statements(&mut self) -> Result<()> {
        self.cursor.expect(Kind::LBrace, "`{`")?;
        // Where the labels pending in each open scope begin.
        let mut scopes = vec![0usize];
        while let Some(&pending) = scopes.last() {
            match self.cursor.kind() {
                Kind::LBrace => {
                    self.cursor.deepen()?;
                    self.cursor.bump()?;
                    self.function.names.open();
                    scopes.push(self.function.pending.len());
                }
                Kind::RBrace => {
                    self.resolve_labels(pending)?;
                    self.function.names.close();
                    self.cursor.bump()?;
                    if scopes.len() > 1 {
                        self.cursor.surface();
                    }
                    scopes.pop();
                }
                _ => self.statement()?,
            }
        }
        match self.function.pending.first() {
            Some(unknown) => {
                let message = "this is no register, variable, function or label known here";
                Err(ParseError::new(unknown.pos, message, unknown.name))
            }
            None => Ok(()),
        }
    }

    fn statement(&mut self) -> Result<()> {
        match self.cursor.kind() {
            Kind::Word => {
                let token = self.cursor.token;
                let word = self.cursor.text();
                self.cursor.bump()?;
                if self.cursor.accept(Kind::Colon)? {
                    return self.label(word, token.pos);
                }
                self.instruction(None, word, token.pos)
            }
            Kind::At => {
                self.cursor.bump()?;
                let negated = self.cursor.accept(Kind::Bang)?;
                let register = self.predicate()?;
                let (word, pos) = self.cursor.word("an instruction after the predicate")?;
                self.instruction(Some(Guard { register, negated }), word, pos)
            }
            Kind::Dotted => self.directive(),
            Kind::Semicolon => self.cursor.bump().map(drop),
            Kind::End => Err(self.cursor.expected("`}` at the end of the function")),
            _ => Err(self.cursor.expected("an instruction, a label or a directive")),
        }
    }

    /// A predicate register.
    fn predicate(&mut self) -> Result<RegId> {
        let text = self.cursor.text();
        let meaning = match self.cursor.kind() {
            Kind::Word => self.function.names.find(text, &mut self.function.body.registers),
            _ => None,
        };
        match meaning {
            Some(Meaning::Register(id)) if self.function.body.registers[id.0 as usize].ty == Type::Pred => {
                self.cursor.bump()?;
                Ok(id)
            }
            Some(Meaning::Register(_)) => Err(self.cursor.error("a guard must be a predicate register (`.reg .pred`)")),
            _ => Err(self.cursor.expected("a declared predicate register")),
        }
    }

    fn directive(&mut self) -> Result<()> {
        match self.cursor.dotted().unwrap_or("") {
            "reg" => self.registers(),
            "loc" => self.loc(),
            "file" => self.file(),
            "section" => self.section(),
            "pragma" => {
                let pragmas = self.pragma()?;
                self.function.pragmas.extend(pragmas);
                Ok(())
            }
            "visible" | "extern" | "weak" | "common" => {
                let linkage = self.linkage()?;
                self.local_variables(linkage)
            }
            word if space(word).is_some() => self.local_variables(Linkage::Internal),
            _ => Err(self
                .cursor
                .expected("an instruction, a label or a directive of a function's body")),
        }
    }

    fn local_variables(&mut self, linkage: Linkage) -> Result<()> {
        for (name, variable) in self.variables(linkage)? {
            let id = VarId::Local(self.function.body.variables.len() as u32);
            if !self.function.names.declare(name, Meaning::Variable(id)) {
                return Err(ParseError::new(
                    variable.pos,
                    "this name is already declared in the same scope",
                    name,
                ));
            }
            self.function.body.variables.push(variable);
        }
        Ok(())
    }

    /// What follows `name:`.
    fn label(&mut self, name: &'a str, pos: Pos) -> Result<()> {
        let body = &mut self.function.body;
        let meaning = match self.cursor.dotted() {
            Some("branchtargets") => {
                let table = body.branch_tables.len() as u32;
                let targets = self.branch_targets(table)?;
                self.function.body.branch_tables.push(BranchTable {
                    name: name.into(),
                    targets,
                });
                LabelMeaning::BranchTable(table)
            }
            Some("callprototype") => {
                let index = body.prototypes.len() as u32;
                let prototype = self.prototype(name)?;
                self.function.body.prototypes.push(prototype);
                LabelMeaning::Prototype(index)
            }
            Some("calltargets") => {
                let index = body.call_targets.len() as u32;
                let targets = self.call_targets()?;
                self.function.body.call_targets.push(CallTargets {
                    name: name.into(),
                    targets,
                });
                LabelMeaning::CallTargets(index)
            }
            _ => {
                let id = LabelId(body.labels.len() as u32);
                body.labels.push(Label {
                    name: name.into(),
                    target: body.instructions.len() as u32,
                    pos,
                });
                LabelMeaning::Label(id)
            }
        };
        if self.function.names.declare_label(name, meaning) {
            Ok(())
        } else {
            Err(ParseError::new(
                pos,
                "this label is already declared in the same scope",
                name,
            ))
        }
    }

    fn branch_targets(&mut self, table: u32) -> Result<Vec<LabelId>> {
        self.cursor.bump()?;
        let mut targets = Vec::new();
        loop {
            let (name, pos) = self.cursor.word("the label of a target")?;
            let place = Place::Table {
                table,
                entry: targets.len() as u32,
            };
            self.function.pending.push(Pending { name, pos, place });
            targets.push(UNKNOWN);
            if !self.cursor.accept(Kind::Comma)? {
                break;
            }
        }
        self.cursor.expect(Kind::Semicolon, "`,` or `;` after the target")?;
        Ok(targets)
    }

    fn call_targets(&mut self) -> Result<Vec<crate::FuncId>> {
        self.cursor.bump()?;
        let mut targets = Vec::new();
        loop {
            targets.push(self.function_name("a function declared before")?);
            if !self.cursor.accept(Kind::Comma)? {
                break;
            }
        }
        self.cursor.expect(Kind::Semicolon, "`,` or `;` after the function")?;
        Ok(targets)
    }

    /// Fills in the labels that the scope about to end declares; the others wait for the scope around it.
    fn resolve_labels(&mut self, from: usize) -> Result<()> {
        let function = &mut self.function;
        let mut kept = from;
        for index in from..function.pending.len() {
            let Pending { name, pos, place } = function.pending[index];
            let Some(meaning) = function.names.own_label(name) else {
                function.pending.swap(kept, index);
                kept += 1;
                continue;
            };
            match (place, meaning) {
                (Place::Operand { instruction, operand }, meaning) => {
                    let instruction = &mut function.body.instructions[instruction as usize];
                    instruction.operands[operand as usize] = match meaning {
                        LabelMeaning::Label(id) => Operand::Label(id),
                        LabelMeaning::BranchTable(table) => Operand::BranchTable(table),
                        LabelMeaning::Prototype(prototype) => Operand::Prototype(prototype),
                        LabelMeaning::CallTargets(targets) => Operand::CallTargets(targets),
                    };
                }
                (Place::Table { table, entry }, LabelMeaning::Label(id)) => {
                    function.body.branch_tables[table as usize].targets[entry as usize] = id;
                }
                _ => return Err(ParseError::new(pos, "expected the label of an instruction", name)),
            }
        }
        function.pending.truncate(kept);
        Ok(())
    }

    /// An instruction, its opcode already stepped over.
    fn instruction(&mut self, guard: Option<Guard>, word: &'a str, pos: Pos) -> Result<()> {
        let Some(&opcode) = OPCODES.get(word) else {
            return Err(ParseError::new(
                pos,
                "expected an instruction or a label; this opcode is not known",
                word,
            ));
        };
        let modifiers = self.instruction_modifiers()?;
        let mut operands = mem::take(&mut self.operand_scratch);
        if self.cursor.kind() != Kind::Semicolon {
            loop {
                if let Some((name, pos)) = self.label_operand(opcode)? {
                    let instruction = self.function.body.instructions.len() as u32;
                    let place = Place::Operand {
                        instruction,
                        operand: operands.len() as u32,
                    };
                    self.function.pending.push(Pending { name, pos, place });
                    operands.push(Operand::Label(UNKNOWN));
                } else {
                    operands.push(self.operand(opcode)?);
                }
                if !self.cursor.accept(Kind::Comma)? {
                    break;
                }
            }
        }
        self.cursor.expect(Kind::Semicolon, "`,` or `;` after the operand")?;
        self.operand_scratch = operands;
        let operands = self.operand_scratch.drain(..).collect();
        let (loc, inlined_at) = (self.function.loc, None);
        self.function.body.instructions.push(Instruction {
            guard,
            opcode,
            modifiers,
            operands,
            pos,
            loc,
            inlined_at,
        });
        Ok(())
    }

    /// Steps over a word that can only be a label: one that means nothing else here.
    fn label_operand(&mut self, opcode: Opcode) -> Result<Option<(&'a str, Pos)>> {
        if self.cursor.kind() != Kind::Word || !matches!(opcode, Opcode::Bra | Opcode::Brx | Opcode::Call) {
            return Ok(None);
        }
        let (text, pos) = (self.cursor.text(), self.cursor.pos());
        if text == "_"
            || self
                .function
                .names
                .find(text, &mut self.function.body.registers)
                .is_some()
            || self.globals.contains_key(text) && opcode == Opcode::Call
        {
            return Ok(None);
        }
        self.cursor.bump()?;
        Ok(Some((text, pos)))
    }

    /// The dotted words after an opcode.
    fn instruction_modifiers(&mut self) -> Result<Arc<[Modifier]>> {
        let tail = self.cursor.dotted_tail();
        if let Some(known) = self.tails.get(tail) {
            let known = known.clone();
            self.cursor.skip_tail(tail)?;
            return Ok(known);
        }
        let end = self.cursor.token.start as usize + tail.len();
        let mut last = self.cursor.token.start as usize;
        self.modifier_scratch.clear();
        while let Some(word) = self.cursor.dotted() {
            let modifier = self.modifier(word);
            self.modifier_scratch.push(modifier);
            last = self.cursor.bump()?.end as usize;
        }
        let modifiers: Arc<[Modifier]> = self.modifier_scratch.drain(..).collect();
        if last == end {
            self.tails.insert(tail, modifiers.clone());
        }
        Ok(modifiers)
    }

    /// A dotted word after an opcode.
    fn modifier(&mut self, word: &'a str) -> Modifier {
        if let Some(known) = self.modifiers.get(word) {
            return known.clone();
        }
        let modifier = if let Some(ty) = Type::from_word(word) {
            Modifier::Type(ty)
        } else if let Some(space) = space(word) {
            Modifier::Space(space)
        } else if let Some(size) = vector(word) {
            Modifier::Vector(size)
        } else {
            Modifier::Word(word.into())
        };
        self.modifiers.insert(word, modifier.clone());
        modifier
    }
}
