//! What instructions work on.

use crate::cursor::DEEPEST;
use crate::error::{ParseError, Result};
use crate::expressions::Constant;
use crate::lexer::Kind;
use crate::module::{Global, Parser, SPECIAL};
use crate::names::Meaning;
use crate::{AddressBase, Opcode, Operand, SpecialRegister, SymbolRef, VarId};

/// What a word in an operand stands for.
enum Named {
    Meaning(Meaning),
    Special(SpecialRegister, Option<u8>),
    Nothing,
}

impl<'a> Parser<'a> {
    /// An operand, with what follows a `|`.
    pub(crate) fn operand(&mut self, opcode: Opcode) -> Result<Operand> {
        let first = self.single(opcode)?;
        if !self.cursor.accept(Kind::Pipe)? {
            return Ok(first);
        }
        let second = self.single(opcode)?;
        Ok(Operand::Pair(Box::new(first), Box::new(second)))
    }

    fn single(&mut self, opcode: Opcode) -> Result<Operand> {
        match self.cursor.kind() {
            Kind::Word => self.named(opcode),
            Kind::LBracket => self.address(opcode),
            Kind::LBrace => {
                let parts = self.list(opcode, Kind::RBrace, "`,` or `}` after the element")?;
                Ok(Operand::Vector(parts))
            }
            Kind::LParen if opcode == Opcode::Call => {
                let parts = self.list(opcode, Kind::RParen, "`,` or `)` after the argument")?;
                Ok(Operand::List(parts))
            }
            Kind::Bang => {
                let bang = self.cursor.bump()?;
                if self.cursor.kind() != Kind::Word {
                    // `!0`: step back into the expression by folding the operator here.
                    return match self.cursor.integer("a predicate or a constant after `!`")? {
                        0 => Ok(Operand::Integer(1)),
                        _ => Ok(Operand::Integer(0)),
                    };
                }
                match self.named(opcode)? {
                    Operand::Register(register, None) => Ok(Operand::NotPredicate(register)),
                    _ => Err(ParseError::new(
                        bang.pos,
                        "expected a predicate register after `!`",
                        "!",
                    )),
                }
            }
            Kind::Minus => self.minus(opcode),
            _ => self.constant(),
        }
    }

    fn constant(&mut self) -> Result<Operand> {
        let wanted = matches!(
            self.cursor.kind(),
            Kind::Integer
                | Kind::Float
                | Kind::Plus
                | Kind::Minus
                | Kind::Tilde
                | Kind::LParen
                | Kind::Dotted
                | Kind::Word
        );
        if !wanted {
            return Err(self.cursor.expected("an operand"));
        }
        Ok(match self.cursor.constant()? {
            Constant::Integer(bits, _) => Operand::Integer(bits as i64),
            Constant::Single(bits) => Operand::Float32(bits),
            Constant::Double(value) => Operand::Float64(value.to_bits()),
        })
    }

    /// `-4`, or `-%r1` of a video instruction.
    fn minus(&mut self, opcode: Opcode) -> Result<Operand> {
        let pos = self.cursor.pos();
        if !matches!(self.cursor.byte_after(), b'%' | b'_' | b'$') {
            return self.constant();
        }
        self.cursor.bump()?;
        match self.named(opcode)? {
            Operand::Register(register, None) => Ok(Operand::Video {
                register,
                negated: true,
                part: None,
            }),
            Operand::Video { register, part, .. } => Ok(Operand::Video {
                register,
                negated: true,
                part,
            }),
            _ => Err(ParseError::new(pos, "expected a register or a constant after `-`", "-")),
        }
    }

    /// What stands between a pair of brackets, separated by commas.
    fn list(&mut self, opcode: Opcode, close: Kind, what: &str) -> Result<Vec<Operand>> {
        self.cursor.deepen()?;
        self.cursor.bump()?;
        let mut parts = Vec::new();
        if !self.cursor.accept(close)? {
            loop {
                parts.push(self.operand(opcode)?);
                if !self.cursor.accept(Kind::Comma)? {
                    break;
                }
            }
            self.cursor.expect(close, what)?;
        }
        self.cursor.surface();
        Ok(parts)
    }

    /// What a word means, in the order in which scopes are searched.
    fn find(&mut self, text: &'a str) -> Named {
        if let Some(meaning) = self.function.names.find(text, &mut self.function.body.registers) {
            return Named::Meaning(meaning);
        }
        match self.globals.get(text) {
            Some(&Global::Variable(index)) => Named::Meaning(Meaning::Variable(VarId::Module(index))),
            Some(&Global::Function(id)) => Named::Meaning(Meaning::Function(id)),
            None => special(text).map_or(Named::Nothing, |(register, number)| Named::Special(register, number)),
        }
    }

    #[cold]
    fn unknown(&self, text: &str) -> Box<ParseError> {
        let message = match self.function.names.too_short(text, &self.function.body.declared) {
            Some(range) => format!("this register is past the end of the declared `{range}`"),
            None => "this is no register, variable or function known here".into(),
        };
        self.cursor.error(message)
    }

    /// An operand that begins with a word.
    fn named(&mut self, opcode: Opcode) -> Result<Operand> {
        let text = self.cursor.text();
        if text == "_" {
            self.cursor.bump()?;
            return Ok(Operand::Sink);
        }
        match self.find(text) {
            Named::Meaning(Meaning::Register(register)) => {
                self.cursor.bump()?;
                let Some(word) = self.cursor.dotted() else {
                    return Ok(Operand::Register(register, None));
                };
                self.cursor.bump()?;
                Ok(match component(word) {
                    Some(component) => Operand::Register(register, Some(component)),
                    None => Operand::Video {
                        register,
                        negated: false,
                        part: Some(self.shared_word(word)),
                    },
                })
            }
            Named::Meaning(Meaning::Variable(id)) => {
                self.cursor.bump()?;
                self.symbol(SymbolRef::Variable(id), opcode)
            }
            Named::Meaning(Meaning::Function(id)) => {
                self.cursor.bump()?;
                self.symbol(SymbolRef::Function(id), opcode)
            }
            Named::Special(SpecialRegister::WarpSz, _) => {
                if matches!(self.cursor.byte_after(), b',' | b';' | b'}' | b']' | b')') {
                    self.cursor.bump()?;
                    return Ok(Operand::Special {
                        register: SpecialRegister::WarpSz,
                        component: None,
                    });
                }
                self.constant()
            }
            Named::Special(register, number) => {
                self.cursor.bump()?;
                let component = match self.cursor.dotted() {
                    Some(word) => {
                        let component = component(word)
                            .filter(|_| number.is_none())
                            .ok_or_else(|| self.cursor.expected("`.x`, `.y`, `.z` or `.w`"))?;
                        self.cursor.bump()?;
                        Some(component)
                    }
                    None => number,
                };
                Ok(Operand::Special { register, component })
            }
            Named::Nothing => Err(self.unknown(text)),
        }
    }

    /// `symbol`, `symbol + 4`, `symbol[2]`.
    fn symbol(&mut self, symbol: SymbolRef, opcode: Opcode) -> Result<Operand> {
        match self.cursor.kind() {
            Kind::Plus | Kind::Minus => Ok(Operand::Symbol(symbol, self.cursor.integer("an offset")? as i64)),
            Kind::LBracket => {
                self.cursor.bump()?;
                let index = self.cursor.integer("an index")? as i64;
                self.cursor.expect(Kind::RBracket, "`]` after the index")?;
                let offset = index.wrapping_mul(self.element_bytes(symbol) as i64);
                // `mov` takes the address of the element, everything else what is there.
                Ok(if opcode == Opcode::Mov {
                    Operand::Symbol(symbol, offset)
                } else {
                    Operand::Address {
                        base: AddressBase::Symbol(symbol),
                        offset,
                    }
                })
            }
            _ => Ok(Operand::Symbol(symbol, 0)),
        }
    }

    /// Bytes from one element of the outermost dimension to the next.
    fn element_bytes(&self, symbol: SymbolRef) -> u64 {
        let variable = match symbol {
            SymbolRef::Variable(VarId::Module(index)) => self.module.variables.get(index as usize),
            SymbolRef::Variable(VarId::Local(index)) => self.function.body.variables.get(index as usize),
            _ => None,
        };
        variable.map_or(1, |v| {
            let element = u64::from(v.ty.bytes()) * u64::from(v.vector);
            v.dims
                .iter()
                .skip(1)
                .fold(element, |n, d| n.saturating_mul(d.unwrap_or(1)))
        })
    }

    /// `[base + offset]`, or `[base, {coordinates}]`.
    fn address(&mut self, opcode: Opcode) -> Result<Operand> {
        self.cursor.bump()?;
        let base = match self.cursor.kind() {
            Kind::Word => {
                let text = self.cursor.text();
                match self.find(text) {
                    Named::Meaning(Meaning::Register(id)) => Some(AddressBase::Register(id)),
                    Named::Meaning(Meaning::Variable(id)) => Some(AddressBase::Symbol(SymbolRef::Variable(id))),
                    Named::Meaning(Meaning::Function(id)) => Some(AddressBase::Symbol(SymbolRef::Function(id))),
                    Named::Special(SpecialRegister::WarpSz, _) => None,
                    Named::Special(..) => {
                        return Err(self
                            .cursor
                            .error("a special register cannot be an address; copy it with `mov` first"));
                    }
                    Named::Nothing => return Err(self.unknown(text)),
                }
            }
            _ => None,
        };
        let address = match base {
            Some(base) => {
                self.cursor.bump()?;
                let offset = match self.cursor.kind() {
                    Kind::Plus | Kind::Minus => self.cursor.integer("an offset in bytes")? as i64,
                    _ => 0,
                };
                Operand::Address { base, offset }
            }
            None => {
                let offset = self.cursor.integer("an address: a register, a symbol or an integer")? as i64;
                Operand::Address {
                    base: AddressBase::Absolute,
                    offset,
                }
            }
        };
        if self.cursor.kind() != Kind::Comma {
            self.cursor
                .expect(Kind::RBracket, "`+ offset` or `]` after the address")?;
            return Ok(address);
        }
        let mut parts = vec![address];
        while self.cursor.accept(Kind::Comma)? {
            parts.push(self.operand(opcode)?);
        }
        self.cursor.expect(Kind::RBracket, "`,` or `]` after the coordinates")?;
        Ok(Operand::Bracketed(parts))
    }
}

/// `x` to `w`, and `r` to `a`, as 0 to 3.
fn component(word: &str) -> Option<u8> {
    Some(match word {
        "x" | "r" => 0,
        "y" | "g" => 1,
        "z" | "b" => 2,
        "w" | "a" => 3,
        _ => return None,
    })
}

/// A special register from its name as written; the number of those that are numbered.
fn special(text: &str) -> Option<(SpecialRegister, Option<u8>)> {
    if text == "WARP_SZ" {
        return Some((SpecialRegister::WarpSz, None));
    }
    let name = text.strip_prefix('%')?;
    if let Some(&register) = SPECIAL.get(name) {
        let unnumbered = !matches!(
            register,
            SpecialRegister::EnvReg | SpecialRegister::Pm | SpecialRegister::WarpSz
        );
        return unnumbered.then_some((register, None));
    }
    let number = |digits: &str, most: u8| {
        let plain = !digits.starts_with('+') && (digits.len() == 1 || !digits.starts_with('0'));
        digits.parse::<u8>().ok().filter(|&n| plain && n <= most)
    };
    if let Some(digits) = name.strip_prefix("envreg") {
        return Some((SpecialRegister::EnvReg, Some(number(digits, 31)?)));
    }
    let digits = name.strip_prefix("pm")?;
    match digits.strip_suffix("_64") {
        Some(digits) => Some((SpecialRegister::Pm, Some(8 + number(digits, 7)?))),
        None => Some((SpecialRegister::Pm, Some(number(digits, 7)?))),
    }
}

const _: () = assert!(
    DEEPEST <= 256,
    "the recursion over operands and expressions must fit a small stack"
);
