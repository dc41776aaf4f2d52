//! What stands after the `=` of a variable: bytes, and the addresses to be filled in.

use crate::error::{ParseError, Result};
use crate::expressions::Constant;
use crate::lexer::Kind;
use crate::module::{Global, Parser};
use crate::{Initializer, Relocation, SymbolRef, Type, VarId, Variable};

/// Where the next value goes.
struct Place {
    /// The element type.
    ty: Type,
    /// Its size in bytes.
    width: u64,
    /// Elements inside one value of each level of braces, outermost first: `[2][3]` has `[6, 3, 1]`.
    inside: Vec<u64>,
}

impl<'a> Parser<'a> {
    /// Reads the value of a variable, the equals sign already stepped over, and completes an unsized dimension.
    pub(crate) fn initializer(&mut self, variable: &mut Variable) -> Result<()> {
        let mut init = Initializer::default();
        if matches!(variable.ty, Type::TexRef | Type::SamplerRef | Type::SurfRef) {
            self.opaque()?;
            variable.init = Some(init);
            return Ok(());
        }
        let mut lengths: Vec<Option<u64>> = variable.dims.clone();
        if variable.vector > 1 {
            lengths.push(Some(variable.vector.into()));
        }
        let mut inside = vec![1u64];
        for length in lengths.iter().skip(1).rev() {
            inside.push(inside.last().map_or(1, |n| n.saturating_mul(length.unwrap_or(1))));
        }
        inside.reverse();
        let place = Place {
            ty: variable.ty,
            width: variable.ty.bytes().into(),
            inside,
        };
        let mut at = 0;
        if lengths.is_empty() {
            // A scalar may stand in braces, as in C.
            let braces = self.cursor.accept(Kind::LBrace)?;
            self.value(&place, &mut init, 0)?;
            if braces {
                self.cursor.expect(Kind::RBrace, "`}`")?;
            }
        } else {
            let count = self.level(&place, &lengths, 0, &mut init, &mut at)?;
            if lengths[0].is_none() {
                variable.dims[0] = Some(count);
            }
        }
        variable.init = Some(init);
        Ok(())
    }

    /// One pair of braces. Returns how many values it has.
    fn level(
        &mut self,
        place: &Place,
        lengths: &[Option<u64>],
        depth: usize,
        init: &mut Initializer,
        at: &mut u64,
    ) -> Result<u64> {
        self.cursor.expect(Kind::LBrace, "`{` around the values")?;
        let inside = place.inside[depth];
        let (start, mut count) = (*at, 0u64);
        while self.cursor.kind() != Kind::RBrace {
            if lengths[depth].is_some_and(|length| count >= length) {
                return Err(self
                    .cursor
                    .error(format!("more values than the {count} elements of this dimension")));
            }
            *at = start.saturating_add(count.saturating_mul(inside));
            if depth + 1 < lengths.len() {
                self.cursor.deepen()?;
                self.level(place, lengths, depth + 1, init, at)?;
                self.cursor.surface();
            } else {
                self.value(place, init, at.saturating_mul(place.width))?;
            }
            count += 1;
            if !self.cursor.accept(Kind::Comma)? {
                break;
            }
        }
        self.cursor.expect(Kind::RBrace, "`,` or `}` after the value")?;
        Ok(count)
    }

    /// One value at a byte offset.
    fn value(&mut self, place: &Place, init: &mut Initializer, offset: u64) -> Result<()> {
        let padding = offset.saturating_sub(init.bytes.len() as u64);
        self.padding_left = self
            .padding_left
            .checked_sub(padding)
            .ok_or_else(|| self.cursor.error("the values of this initialiser lie too far apart"))?;
        init.bytes.resize(offset as usize, 0);
        let (pos, text) = (self.cursor.pos(), self.cursor.text());
        if self.cursor.kind() == Kind::Word && text != "WARP_SZ" {
            return self.relocation(place, init, 0);
        }
        let constant = self.cursor.constant()?;
        // `0xFF00(symbol)`: one byte of an address.
        if let (Constant::Integer(mask, _), Kind::LParen) = (constant, self.cursor.kind()) {
            let shift = mask.trailing_zeros();
            if shift > 56 || shift % 8 != 0 || mask >> shift != 0xff || place.width != 1 {
                return Err(ParseError::new(
                    pos,
                    "a mask before a symbol must be 0xff shifted by whole bytes",
                    text,
                ));
            }
            self.cursor.bump()?;
            self.relocation(place, init, shift as u8)?;
            return self
                .cursor
                .expect(Kind::RParen, "`)` after the masked symbol")
                .map(drop);
        }
        let bytes = encode(place.ty, constant).ok_or_else(|| {
            ParseError::new(
                pos,
                format!("a value of this kind cannot initialise a `.{}`", place.ty),
                text,
            )
        })?;
        init.bytes.extend_from_slice(&bytes[..place.width as usize]);
        Ok(())
    }

    /// `symbol`, `symbol + 4`, `generic(symbol) - 4`
    fn relocation(&mut self, place: &Place, init: &mut Initializer, shift: u8) -> Result<()> {
        let generic = self.cursor.text() == "generic" && !self.globals.contains_key("generic");
        if generic {
            self.cursor.bump()?;
            self.cursor.expect(Kind::LParen, "`(` after `generic`")?;
        }
        let target = match self.globals.get(self.cursor.text()) {
            Some(&Global::Variable(at)) => SymbolRef::Variable(VarId::Module(at)),
            Some(&Global::Function(id)) => SymbolRef::Function(id),
            None => return Err(self.cursor.error("this symbol is not declared before")),
        };
        self.cursor.bump()?;
        if generic {
            self.cursor.expect(Kind::RParen, "`)` after the symbol")?;
        }
        let addend = match self.cursor.kind() {
            Kind::Plus | Kind::Minus => self.cursor.integer("an offset")? as i64,
            _ => 0,
        };
        let width = place.width.min(8) as u8;
        if !matches!(width, 1 | 4 | 8) || place.ty == Type::F32 || place.ty == Type::F64 {
            return Err(self
                .cursor
                .error(format!("an address does not fit into a `.{}`", place.ty)));
        }
        init.relocations.push(Relocation {
            offset: init.bytes.len() as u64,
            width,
            shift,
            target,
            addend,
            generic,
        });
        init.bytes.resize(init.bytes.len() + place.width as usize, 0);
        Ok(())
    }

    /// `{ addr_mode_0 = wrap, filter_mode = linear }`, one pair of braces for each element of an array.
    fn opaque(&mut self) -> Result<()> {
        self.cursor.expect(Kind::LBrace, "`{`")?;
        while !self.cursor.accept(Kind::RBrace)? {
            if self.cursor.kind() == Kind::LBrace {
                self.cursor.deepen()?;
                self.opaque()?;
                self.cursor.surface();
            } else {
                self.cursor.word("a property of the sampler or texture")?;
                self.cursor.expect(Kind::Equal, "`=`")?;
                match self.cursor.kind() {
                    Kind::Word => self.cursor.bump().map(drop)?,
                    _ => self.cursor.integer("the value of the property").map(drop)?,
                }
            }
            if !self.cursor.accept(Kind::Comma)? {
                self.cursor.expect(Kind::RBrace, "`,` or `}`")?;
                break;
            }
        }
        Ok(())
    }
}

/// The little-endian bytes of a constant as a value of the type; the first `ty.bytes()` count.
fn encode(ty: Type, constant: Constant) -> Option<[u8; 16]> {
    let bits: u128 = match (ty, constant) {
        (Type::F32, Constant::Single(bits)) => bits.into(),
        (Type::F32, Constant::Double(value)) => (value as f32).to_bits().into(),
        (Type::F64, Constant::Single(bits)) => f64::from(f32::from_bits(bits)).to_bits().into(),
        (Type::F64, Constant::Double(value)) => value.to_bits().into(),
        (Type::B32, Constant::Single(bits)) => bits.into(),
        (Type::B64, Constant::Double(value)) => value.to_bits().into(),
        (Type::F32 | Type::F64, Constant::Integer(..)) => return None,
        (_, Constant::Integer(bits, true)) => i128::from(bits as i64) as u128,
        (_, Constant::Integer(bits, false)) => bits.into(),
        _ => return None,
    };
    Some(bits.to_le_bytes())
}
