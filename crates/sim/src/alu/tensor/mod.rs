//! Matrix products: `mma.sync` and `wmma.mma`.
//!
//! PTX leaves the order and the precision of the sums inside a floating-point product open. Here the products of 16-bit
//! and narrower factors are exact, the accumulator and they are added up in f64 in the order of k, and the sum is rounded
//! once, to nearest, to the accumulator's type; as on an H200, a sum of nothing but negative zeros is +0. f64 products are
//! a chain of fused multiply-adds in the order of k.

mod layout;

use tile33_ptx::ast::{Operand, Type};

pub use self::layout::{Fragment, Shape, wmma_element, wmma_registers};
use self::layout::{position, volta_position};
use super::float::exact::Round;
use super::float::exact::{Format, Number};
use super::float::half::{Bf16, F16, Half};
use super::float::single::{self, double, narrow, narrow_to_odd};
use super::form::Form;
use super::{Alu, Result, Unsupported};
use crate::registers::{LANES, Registers, Slot};

/// How many bits an element of a factor has in a register; tf32 stands in 32.
fn bits(ty: Type) -> Option<u32> {
    Some(match ty {
        Type::B1 => 1,
        Type::U4 | Type::S4 => 4,
        Type::U8 | Type::S8 | Type::E4m3 | Type::E5m2 => 8,
        Type::F16 | Type::Bf16 => 16,
        Type::Tf32 | Type::F32 | Type::S32 => 32,
        Type::F64 => 64,
        _ => return None,
    })
}

/// One element of a factor as a number.
fn decode(ty: Type, raw: u64) -> f64 {
    match ty {
        Type::F16 => F16::widen(raw as u16).into(),
        Type::Bf16 => Bf16::widen(raw as u16).into(),
        // The hardware reads the upper 19 bits.
        Type::Tf32 => f32::from_bits(raw as u32 & !0x1fff).into(),
        Type::E4m3 => small(Format::E4M3, raw),
        Type::E5m2 => small(Format::E5M2, raw),
        Type::F32 => f32::from_bits(raw as u32).into(),
        Type::F64 => f64::from_bits(raw),
        Type::S4 => f64::from(((raw as i8) << 4) >> 4),
        Type::S8 => f64::from(raw as i8),
        Type::S32 => f64::from(raw as i32),
        _ => raw as f64,
    }
}

fn small(format: Format, raw: u64) -> f64 {
    match format.unpack(raw) {
        Number::Nan => f64::NAN,
        number => f64::from_bits(Format::F64.pack(number, Round::Nearest)),
    }
}

/// The registers of a fragment and what is in them.
#[derive(Clone, Debug)]
struct Rows {
    slots: Vec<Slot>,
    ty: Type,
}

impl Rows {
    /// Element `element` of lane `lane`, zero-extended.
    fn raw(&self, regs: &Registers, lane: usize, element: usize) -> u64 {
        let bits = bits(self.ty).unwrap_or(32);
        if bits == 64 {
            return regs.r64(self.slots[element])[lane];
        }
        let per = (32 / bits) as usize;
        let word = regs.r32(self.slots[element / per])[lane];
        let shifted = u64::from(word) >> (bits * (element % per) as u32);
        shifted & ((1 << bits) - 1)
    }
}

/// The registers of operand `i`, `count` of them.
fn rows(form: &mut Form, i: usize, count: usize, ty: Type, write: bool) -> Result<Rows> {
    let operand = form.operand(i)?;
    let single = [operand.clone()];
    let parts: &[Operand] = if let Operand::Vector(parts) = operand {
        parts
    } else {
        &single
    };
    if parts.len() != count {
        return Err(Unsupported::because(format!(
            "a fragment of {} registers where this shape has {count}",
            parts.len()
        )));
    }
    let register = match ty {
        Type::F64 => Type::F64,
        Type::F32 => Type::F32,
        _ => Type::B32,
    };
    let mut slots = Vec::new();
    for part in parts {
        slots.push(if write {
            form.write(part, register)?
        } else {
            form.read(part, register)?
        });
    }
    Ok(Rows { slots, ty })
}

/// How the numbers of a product are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Exact products, one rounding.
    Float,
    /// A chain of f64 fused multiply-adds.
    Double,
    /// Wrapping or saturating s32.
    Integer { saturate: bool },
    /// Counted bits of an exclusive or.
    XorPopc,
    /// Counted bits of an and.
    AndPopc,
}

/// A lowered product.
struct Product {
    shape: Shape,
    kind: Kind,
    d: Rows,
    a: Rows,
    b: Rows,
    c: Rows,
    /// Where element i of lane l stands in A, B and C, row-major, by `l * elements + i`.
    places: [Vec<u16>; 3],
}

/// Largest extents: m32n8k16 has 32 rows, m16n8k256 4096 elements of A.
const ACCUMULATORS: usize = 32 * 8;

impl Product {
    fn new(shape: Shape, kind: Kind, d: Rows, [a, b, c]: [Rows; 3]) -> Self {
        let places = [(Fragment::A, &a), (Fragment::B, &b), (Fragment::C, &c)].map(|(fragment, rows)| {
            let (height, width) = shape.extents(fragment);
            let per_block = match fragment {
                Fragment::C => 2,
                _ => (32 / bits(rows.ty).unwrap_or(32) as usize).max(1),
            };
            let elements = height * width / LANES;
            (0..LANES * elements)
                .map(|at| {
                    let (row, column) = position(fragment, shape, per_block, at / elements, at % elements);
                    (row * width + column) as u16
                })
                .collect()
        });
        Self {
            shape,
            kind,
            d,
            a,
            b,
            c,
            places,
        }
    }

    /// Calls `f` with the place and the raw bits of every element of a fragment.
    fn gather(&self, which: usize, rows: &Rows, regs: &Registers, mut f: impl FnMut(usize, u64)) {
        let places = &self.places[which];
        let elements = places.len() / LANES;
        for element in 0..elements {
            for lane in 0..LANES {
                f(places[lane * elements + element].into(), rows.raw(regs, lane, element));
            }
        }
    }

    fn run(&self, regs: &mut Registers, active: u32) {
        match self.kind {
            Kind::Float | Kind::Double => self.run_float(regs, active),
            _ => self.run_integer(regs, active),
        }
    }

    fn run_float(&self, regs: &mut Registers, active: u32) {
        let Shape { m, n, k } = self.shape;
        let mut a = vec![0.0f64; m * k];
        let mut b = vec![0.0f64; k * n];
        let mut sums = [0.0f64; ACCUMULATORS];
        self.gather(0, &self.a, regs, |at, raw| a[at] = decode(self.a.ty, raw));
        self.gather(1, &self.b, regs, |at, raw| b[at] = decode(self.b.ty, raw));
        let fused = self.kind == Kind::Double;
        self.gather(2, &self.c, regs, |at, raw| {
            let c = decode(self.c.ty, raw);
            sums[at] = if fused { c } else { c + 0.0 };
        });
        for row in 0..m {
            let sums = &mut sums[row * n..][..n];
            for (x, b) in a[row * k..][..k].iter().zip(b.chunks_exact(n)) {
                for (sum, y) in sums.iter_mut().zip(b) {
                    // Products of two factors narrower than f32 are exact, so this is the fused form too.
                    *sum = if fused {
                        double::settle(x.mul_add(*y, *sum), [*y, *sum, *x])
                    } else {
                        *sum + x * y
                    };
                }
            }
        }
        let ty = self.d.ty;
        self.scatter(regs, active, |at| match ty {
            Type::F64 => sums[at].to_bits(),
            Type::F16 => F16::narrow(narrow_to_odd(sums[at])).into(),
            _ => single::canonical(narrow(sums[at], Round::Nearest)).to_bits().into(),
        });
    }

    fn run_integer(&self, regs: &mut Registers, active: u32) {
        let Shape { m, n, k } = self.shape;
        let mut a = vec![0i32; m * k];
        let mut b = vec![0i32; k * n];
        let mut sums = [0i64; ACCUMULATORS];
        self.gather(0, &self.a, regs, |at, raw| a[at] = decode(self.a.ty, raw) as i32);
        self.gather(1, &self.b, regs, |at, raw| b[at] = decode(self.b.ty, raw) as i32);
        self.gather(2, &self.c, regs, |at, raw| sums[at] = (raw as i32).into());
        let kind = self.kind;
        for row in 0..m {
            let sums = &mut sums[row * n..][..n];
            for (x, b) in a[row * k..][..k].iter().zip(b.chunks_exact(n)) {
                for (sum, y) in sums.iter_mut().zip(b) {
                    *sum += i64::from(match kind {
                        Kind::XorPopc => x ^ y,
                        Kind::AndPopc => x & y,
                        _ => x * y,
                    });
                }
            }
        }
        self.scatter(regs, active, |at| match kind {
            Kind::Integer { saturate: true } => (sums[at].clamp(i32::MIN.into(), i32::MAX.into()) as i32 as u32).into(),
            _ => (sums[at] as u32).into(),
        });
    }

    /// Writes the result's fragment, element by element.
    fn scatter(&self, regs: &mut Registers, active: u32, value: impl Fn(usize) -> u64) {
        let places = &self.places[2];
        let elements = places.len() / LANES;
        let half = self.d.ty == Type::F16;
        for lane in (0..LANES).filter(|lane| active >> lane & 1 == 1) {
            let at = |element: usize| usize::from(places[lane * elements + element]);
            for (i, slot) in self.d.slots.iter().enumerate() {
                match self.d.ty {
                    Type::F64 => regs.r64_mut(*slot)[lane] = value(at(i)),
                    _ if half => {
                        regs.r32_mut(*slot)[lane] = (value(at(2 * i)) | value(at(2 * i + 1)) << 16) as u32;
                    }
                    _ => regs.r32_mut(*slot)[lane] = value(at(i)) as u32,
                }
            }
        }
    }
}

/// Takes `.mMnNkK`.
fn shape(form: &mut Form) -> Result<Shape> {
    form.find(Shape::from_word)
        .ok_or_else(|| Unsupported::because("it names no shape"))
}

/// The layouts of A and B; `true` is row-major.
fn layouts(form: &mut Form) -> Result<[bool; 2]> {
    let mut layout = || match form.next_of(&["row", "col"]) {
        Some(word) => Ok(word == "row"),
        None => Err(Unsupported::because("it needs `.row` or `.col` for both factors")),
    };
    Ok([layout()?, layout()?])
}

/// Number of registers that `elements` elements of a type take.
fn registers(elements: usize, ty: Type) -> usize {
    match bits(ty) {
        Some(64) | None => elements,
        Some(bits) => (elements * bits as usize).div_ceil(32),
    }
}

fn synchronous(form: &mut Form) -> Result<()> {
    let words = ["sync", "aligned"].map(|word| form.flag(word));
    if words.contains(&false) {
        return Err(Unsupported::because("it needs `.sync.aligned`"));
    }
    Ok(())
}

/// `mma.sync`
pub(super) fn mma(form: &mut Form) -> Result<Alu> {
    synchronous(form)?;
    for word in ["sp", "sp::ordered_metadata", "block_scale"] {
        if form.has(word) {
            return Err(Unsupported::because(format!("`.{word}`")));
        }
    }
    let shape = shape(form)?;
    let [a_row, b_row] = layouts(form)?;
    let saturate = form.flag("satfinite");
    let op = form.choice(&["xor", "and"]);
    if op.is_some() && !form.flag("popc") {
        return Err(Unsupported::because("`.xor` or `.and` without `.popc`"));
    }
    // The only kind that changes neither the layout nor the arithmetic.
    form.flag("kind::f8f6f4");
    let [d, a, b, c] = [form.ty()?, form.ty()?, form.ty()?, form.ty()?];
    form.done(4)?;
    let Shape { m, n, k } = shape;
    if (m, n, k) == (8, 8, 4) && a == Type::F16 {
        return volta(form, [a_row, b_row], d, [a, b, c]);
    }
    if !a_row || b_row {
        return Err(Unsupported::because("layouts other than `.row.col` with this shape"));
    }
    let kind = kind_of([d, a, b, c], op, saturate)?;
    let known = match (m, n, k) {
        (8, 8, 4) => a == Type::F64,
        (8, 8, 16) => bits(a) == Some(8) && kind != Kind::Float,
        (8, 8, 32) => bits(a) == Some(4),
        (8, 8, 128) | (16, 8, 128) | (16, 8, 256) => bits(a) == Some(1),
        (16, 8, 4) => matches!(a, Type::Tf32 | Type::F64),
        (16, 8, 8) => matches!(a, Type::Tf32 | Type::F16 | Type::Bf16 | Type::F64),
        (16, 8, 16) => matches!(bits(a), Some(8 | 16 | 64)),
        (16, 8, 32) => matches!(bits(a), Some(4 | 8)),
        (16, 8, 64) => bits(a) == Some(4),
        _ => false,
    };
    if !known {
        return Err(Unsupported::because(format!("shape m{m}n{n}k{k} with type `.{a}`")));
    }
    let count = |fragment, ty| {
        let (rows, columns) = shape.extents(fragment);
        registers(rows * columns / LANES, ty)
    };
    let d = rows(form, 0, count(Fragment::C, d), d, true)?;
    let a = rows(form, 1, count(Fragment::A, a), a, false)?;
    let b = rows(form, 2, count(Fragment::B, b), b, false)?;
    let c = rows(form, 3, count(Fragment::C, c), c, false)?;
    let product = Product::new(shape, kind, d, [a, b, c]);
    Ok(Alu::new(move |regs, active| product.run(regs, active)).aligned())
}

/// The arithmetic of a combination of types, if there is such a combination.
fn kind_of([d, a, b, c]: [Type; 4], op: Option<&str>, saturate: bool) -> Result<Kind> {
    use Type::{B1, Bf16, E4m3, E5m2, F16, F32, F64, S4, S8, S32, Tf32, U4, U8};
    let kind = match (d, a, b, c) {
        (F64, F64, F64, F64) => Kind::Double,
        (F16 | F32, F16, F16, F16 | F32) => Kind::Float,
        (F32, Bf16, Bf16, F32) | (F32, Tf32, Tf32, F32) => Kind::Float,
        (F16 | F32, E4m3 | E5m2, E4m3 | E5m2, F16 | F32) => Kind::Float,
        (S32, U8 | S8, U8 | S8, S32) | (S32, U4 | S4, U4 | S4, S32) => Kind::Integer { saturate },
        (S32, B1, B1, S32) => match op {
            Some("xor") => Kind::XorPopc,
            Some(_) => Kind::AndPopc,
            None => return Err(Unsupported::because("it needs `.xor.popc` or `.and.popc`")),
        },
        _ => return Err(Unsupported::because(format!("types `.{d}.{a}.{b}.{c}`"))),
    };
    if op.is_some() && a != B1 {
        return Err(Unsupported::because("`.xor` or `.and` of other types than `.b1`"));
    }
    if saturate && !matches!(kind, Kind::Integer { .. }) {
        return Err(Unsupported::because(format!("`.satfinite` with type `.{a}`")));
    }
    Ok(kind)
}

/// `mma.m8n8k4` of f16: four products, each by eight lanes.
fn volta(form: &mut Form, [a_row, b_row]: [bool; 2], d: Type, [a, b, c]: [Type; 3]) -> Result<Alu> {
    kind_of([d, a, b, c], None, false)?;
    let d = rows(form, 0, registers(8, d), d, true)?;
    let (a, b) = (rows(form, 1, 2, a, false)?, rows(form, 2, 2, b, false)?);
    let c = rows(form, 3, registers(8, c), c, false)?;
    let alu = Alu::new(move |regs, active| {
        let mut out = [[0u64; 8]; LANES];
        for quad in 0..4 {
            let lanes = [0, 1, 2, 3, 16, 17, 18, 19].map(|lane| lane + 4 * quad);
            let (mut left, mut right, mut sums) = ([[0.0; 4]; 8], [[0.0; 8]; 4], [[0.0; 8]; 8]);
            let wide = |ty| ty == Type::F32;
            for lane in lanes {
                for i in 0..4 {
                    let (row, column) = volta_position(Fragment::A, a_row, false, lane, i);
                    left[row][column] = decode(a.ty, a.raw(regs, lane, i));
                    let (row, column) = volta_position(Fragment::B, b_row, false, lane, i);
                    right[row][column] = decode(b.ty, b.raw(regs, lane, i));
                }
                for i in 0..8 {
                    let (row, column) = volta_position(Fragment::C, true, wide(c.ty), lane, i);
                    // On an H200 this shape alone, and with f16 results alone, keeps a negative zero.
                    let start = if wide(d.ty) { 0.0 } else { -0.0 };
                    sums[row][column] = decode(c.ty, c.raw(regs, lane, i)) + start;
                }
            }
            for (left, sums) in left.iter().zip(&mut sums) {
                for (x, right) in left.iter().zip(&right) {
                    for (y, sum) in right.iter().zip(sums.iter_mut()) {
                        *sum += x * y;
                    }
                }
            }
            for lane in lanes {
                for (i, out) in out[lane].iter_mut().enumerate() {
                    let (row, column) = volta_position(Fragment::C, true, wide(d.ty), lane, i);
                    let sum = sums[row][column];
                    *out = match d.ty {
                        Type::F16 => F16::narrow(narrow_to_odd(sum)).into(),
                        _ => single::canonical(narrow(sum, Round::Nearest)).to_bits().into(),
                    };
                }
            }
        }
        for lane in (0..LANES).filter(|lane| active >> lane & 1 == 1) {
            for (i, slot) in d.slots.iter().enumerate() {
                regs.r32_mut(*slot)[lane] = match d.ty {
                    Type::F16 => (out[lane][2 * i] | out[lane][2 * i + 1] << 16) as u32,
                    _ => out[lane][i] as u32,
                };
            }
        }
    });
    Ok(alu.aligned())
}

/// `wmma.mma.sync`. Fragments hold elements, not a layout, so the layouts of A and B change nothing here.
pub(super) fn wmma(form: &mut Form) -> Result<Alu> {
    synchronous(form)?;
    let shape = shape(form)?;
    layouts(form)?;
    let saturate = form.flag("satfinite");
    let op = form.choice(&["xor", "and"]);
    if op.is_some() && !form.flag("popc") {
        return Err(Unsupported::because("`.xor` or `.and` without `.popc`"));
    }
    let d = form.ty()?;
    // f16 products name the accumulators' types only.
    let second = form.ty()?;
    let (a, b, c) = match (form.ty_if_any(), form.ty_if_any()) {
        (Some(b), Some(c)) => (second, b, c),
        (None, None) => (Type::F16, Type::F16, second),
        _ => return Err(Unsupported::because("three types")),
    };
    // What f64 products do anyway; no other type has the word.
    if d == Type::F64 {
        form.flag("rn");
    }
    form.done(4)?;
    // The f16 form may saturate too: results past the finite range become the largest finite number.
    if saturate && bits(a) == Some(16) {
        return Err(Unsupported::because("`.satfinite` with floats"));
    }
    let kind = kind_of([d, a, b, c], op, saturate)?;
    let count = |fragment, ty| {
        wmma_registers(fragment, shape, bits(ty).unwrap_or(0), ty == Type::F16).ok_or_else(|| {
            let Shape { m, n, k } = shape;
            Unsupported::because(format!("shape m{m}n{n}k{k} with type `.{ty}`"))
        })
    };
    let d = rows(form, 0, count(Fragment::C, d)?, d, true)?;
    let a = rows(form, 1, count(Fragment::A, a)?, a, false)?;
    let b = rows(form, 2, count(Fragment::B, b)?, b, false)?;
    let c = rows(form, 3, count(Fragment::C, c)?, c, false)?;
    let product = Product::new(shape, kind, d, [a, b, c]);
    Ok(Alu::new(move |regs, active| product.run(regs, active)).aligned())
}
