//! Variables, parameters and registers.

use crate::error::{ParseError, Result};
use crate::lexer::Kind;
use crate::module::Parser;
use crate::names::Meaning;
use crate::{Linkage, PointerAttr, Pos, RegId, Register, RegisterRange, Space, Type, Variable};

/// The most registers that one declaration may have: the largest kernels of compilers have some ten thousand.
pub(crate) const MOST_REGISTERS: u32 = 1 << 20;

/// What stands before the names of a declaration.
#[derive(Clone, Copy)]
struct Attributes {
    space: Space,
    ty: Type,
    vector: u8,
    align: Option<u32>,
    pointer: Option<PointerAttr>,
}

/// The state space that a word names.
pub(crate) fn space(word: &str) -> Option<Space> {
    Some(match word {
        "global" => Space::Global,
        "shared" | "shared::cta" => Space::Shared,
        "shared::cluster" => Space::SharedCluster,
        "local" => Space::Local,
        "const" => Space::Const,
        "param" | "param::entry" | "param::func" => Space::Param,
        _ => return None,
    })
}

/// 2, 4, 8 of `v2`, `v4`, `v8`.
pub(crate) fn vector(word: &str) -> Option<u8> {
    match word {
        "v2" => Some(2),
        "v4" => Some(4),
        "v8" => Some(8),
        _ => None,
    }
}

/// Bytes of the largest variable: more than any GPU has, and few enough that the sizes of all variables of a file can be
/// added up.
const LARGEST: u64 = 1 << 40;

impl<'a> Parser<'a> {
    /// The space, and then types, alignment and attributes in any order.
    fn attributes(&mut self) -> Result<Attributes> {
        let word = self.cursor.dotted().unwrap_or("");
        let space = match word {
            "reg" => Space::Reg,
            "sreg" => Space::Sreg,
            "tex" => Space::Tex,
            _ => space(word).ok_or_else(|| self.cursor.expected("a state space like `.global` or `.param`"))?,
        };
        self.cursor.bump()?;
        if space == Space::Const && self.cursor.accept(Kind::LBracket)? {
            self.cursor.small("the number of the constant bank")?;
            self.cursor.expect(Kind::RBracket, "`]`")?;
        }
        let (mut ty, mut vector_size, mut align, mut pointer) = (None, 1, None, None);
        while let Some(word) = self.cursor.dotted() {
            match word {
                "align" => {
                    self.cursor.bump()?;
                    align = Some(self.alignment()?);
                }
                "ptr" => {
                    self.cursor.bump()?;
                    pointer = Some(self.pointer()?);
                }
                "attribute" => self.attribute()?,
                _ => {
                    if let Some(named) = Type::from_word(word) {
                        ty = Some(named);
                    } else if let Some(size) = vector(word) {
                        vector_size = size;
                    } else {
                        return Err(self.cursor.expected("a type, `.align`, or the name that is declared"));
                    }
                    self.cursor.bump()?;
                }
            }
        }
        let ty = ty.ok_or_else(|| self.cursor.expected("a type like `.u32` before the name"))?;
        Ok(Attributes {
            space,
            ty,
            vector: vector_size,
            align,
            pointer,
        })
    }

    fn alignment(&mut self) -> Result<u32> {
        let (pos, text) = (self.cursor.pos(), self.cursor.text());
        let align = self.cursor.small("an alignment in bytes")?;
        if !align.is_power_of_two() {
            return Err(ParseError::new(pos, "an alignment must be a power of two", text));
        }
        Ok(align)
    }

    /// What follows `.ptr`: the space pointed to, and the alignment there.
    fn pointer(&mut self) -> Result<PointerAttr> {
        let mut pointer = PointerAttr {
            space: Space::Generic,
            align: 4,
        };
        if let Some(space) = self.cursor.dotted().and_then(space) {
            pointer.space = space;
            self.cursor.bump()?;
        }
        if self.cursor.accept_dotted("align")? {
            pointer.align = self.alignment()?;
        }
        Ok(pointer)
    }

    /// `.attribute(.managed)`, `.attribute(.unified(1, 2))`: where the driver may put things, which nothing here needs.
    pub(crate) fn attribute(&mut self) -> Result<()> {
        self.cursor.bump()?;
        self.cursor.expect(Kind::LParen, "`(` after `.attribute`")?;
        loop {
            self.cursor.expect(Kind::Dotted, "an attribute like `.managed`")?;
            if self.cursor.accept(Kind::LParen)? {
                loop {
                    self.cursor.integer("an argument of the attribute")?;
                    if !self.cursor.accept(Kind::Comma)? {
                        break;
                    }
                }
                self.cursor.expect(Kind::RParen, "`)`")?;
            }
            if !self.cursor.accept(Kind::Comma)? {
                return self.cursor.expect(Kind::RParen, "`)`").map(drop);
            }
        }
    }

    /// Checks that what is declared has a size that can be computed with.
    fn sized(&self, variable: &Variable) -> Result<()> {
        let element = u64::from(variable.ty.bytes()) * u64::from(variable.vector);
        let bytes = variable
            .dims
            .iter()
            .try_fold(element, |n, d| n.checked_mul(d.unwrap_or(1)));
        if bytes.is_none_or(|bytes| bytes > LARGEST) {
            return Err(ParseError::new(
                variable.pos,
                "this array is larger than any address space",
                &variable.name,
            ));
        }
        Ok(())
    }

    fn variable(&mut self, found: Attributes, linkage: Linkage, name: &str, pos: Pos) -> Result<Variable> {
        let ty = found.ty;
        let mut dims = Vec::new();
        while self.cursor.accept(Kind::LBracket)? {
            dims.push(match self.cursor.kind() {
                Kind::RBracket if dims.is_empty() => None,
                Kind::RBracket => {
                    return Err(self
                        .cursor
                        .expected("a number: only the first dimension may be left open"));
                }
                _ => Some(self.cursor.integer("the number of elements")?),
            });
            self.cursor.expect(Kind::RBracket, "`]` after the number of elements")?;
        }
        let variable = Variable {
            name: name.into(),
            linkage,
            space: found.space,
            ty,
            vector: found.vector,
            dims,
            align: found.align.unwrap_or(ty.bytes() * u32::from(found.vector)),
            pointer: found.pointer,
            init: None,
            pos,
        };
        self.sized(&variable)?;
        Ok(variable)
    }

    /// `.global .align 4 .u32 a, b[4] = {1, 2};` with the names as they stand in the text.
    pub(crate) fn variables(&mut self, linkage: Linkage) -> Result<Vec<(&'a str, Variable)>> {
        let found = self.attributes()?;
        let mut variables = Vec::new();
        loop {
            let (name, pos) = self.cursor.word("the name of the variable")?;
            let mut variable = self.variable(found, linkage, name, pos)?;
            if self.cursor.accept(Kind::Equal)? {
                self.initializer(&mut variable)?;
                self.sized(&variable)?;
            }
            variables.push((name, variable));
            if !self.cursor.accept(Kind::Comma)? {
                break;
            }
        }
        self.cursor.expect(Kind::Semicolon, "`,` or `;` after the variable")?;
        Ok(variables)
    }

    /// `(.param .u64 a, .reg .b32 b, ..)`, the bracket already stepped over, with the names as they stand in the text.
    pub(crate) fn parameters(&mut self) -> Result<Vec<(&'a str, Variable)>> {
        let mut parameters = Vec::new();
        if self.cursor.accept(Kind::RParen)? {
            return Ok(parameters);
        }
        loop {
            let found = self.attributes()?;
            let (name, pos) = self.cursor.word("the name of the parameter")?;
            let name = if name == "_" { "" } else { name };
            parameters.push((name, self.variable(found, Linkage::Internal, name, pos)?));
            if !self.cursor.accept(Kind::Comma)? {
                break;
            }
        }
        self.cursor.expect(Kind::RParen, "`,` or `)` after the parameter")?;
        Ok(parameters)
    }

    /// `.reg .b32 %r<8>, %t, ..;`
    pub(crate) fn registers(&mut self) -> Result<()> {
        let found = self.attributes()?;
        let ty = found.ty;
        loop {
            let (name, pos) = self.cursor.word("the name of the register")?;
            let count = if self.cursor.accept(Kind::Less)? {
                Some(self.register_count()?)
            } else {
                None
            };
            let fresh = match count {
                Some(count) => self.function.names.declare_range(name, count, ty, found.vector),
                None => self.register(name, ty, found.vector),
            };
            if !fresh {
                return Err(ParseError::new(
                    pos,
                    "this register is already declared in the same scope",
                    name,
                ));
            }
            let range = RegisterRange {
                prefix: name.into(),
                count,
                ty,
                vector: found.vector,
                pos,
            };
            self.function.body.declared.push(range);
            if !self.cursor.accept(Kind::Comma)? {
                break;
            }
        }
        self.cursor.expect(Kind::Semicolon, "`,` or `;` after the register")?;
        Ok(())
    }

    fn register_count(&mut self) -> Result<u32> {
        let (pos, text) = (self.cursor.pos(), self.cursor.text());
        // Not an expression: the closing bracket would read as an operator.
        if self.cursor.kind() != Kind::Integer {
            return Err(self.cursor.expected("the number of registers"));
        }
        let digits = text.trim_end_matches(['U', 'u']);
        let count = digits.parse::<u32>().ok().filter(|&count| count <= MOST_REGISTERS);
        self.cursor.bump()?;
        self.cursor.expect(Kind::Greater, "`>` after the number of registers")?;
        count.ok_or_else(|| {
            ParseError::new(
                pos,
                format!("expected a count of at most {MOST_REGISTERS} registers"),
                text,
            )
        })
    }

    /// Declares one register; false if the scope already has it.
    pub(crate) fn register(&mut self, name: &'a str, ty: Type, vector: u8) -> bool {
        let registers = &mut self.function.body.registers;
        let id = RegId(registers.len() as u32);
        registers.push(Register {
            name: name.into(),
            ty,
            vector,
        });
        name.is_empty() || self.function.names.declare(name, Meaning::Register(id))
    }
}
