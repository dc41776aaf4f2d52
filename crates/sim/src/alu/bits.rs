//! Bit fields, byte permutations, counting and finding bits.

use tile33_ptx::ast::{Opcode, Type};

use super::form::Form;
use super::rows::{rare, ternary, unary};
use super::{Alu, Result, Unsupported};

/// `popc`, `clz`: a count as u32.
pub(super) fn count(form: &mut Form) -> Result<Alu> {
    let ty = form.ty()?;
    form.done(2)?;
    let (d, a) = (form.dest(0, Type::U32)?, form.source(1, ty)?);
    let clz = form.opcode == Opcode::Clz;
    Ok(match (ty, clz) {
        (Type::B32, false) => unary(d, a, u32::count_ones),
        (Type::B64, false) => unary(d, a, u64::count_ones),
        (Type::B32, true) => unary(d, a, u32::leading_zeros),
        (Type::B64, true) => unary(d, a, u64::leading_zeros),
        _ => return form.bad_type(ty),
    })
}

/// `brev`
pub(super) fn brev(form: &mut Form) -> Result<Alu> {
    let ty = form.ty()?;
    form.done(2)?;
    let (d, a) = (form.dest(0, ty)?, form.source(1, ty)?);
    Ok(match ty {
        Type::B32 => unary(d, a, u32::reverse_bits),
        Type::B64 => unary(d, a, u64::reverse_bits),
        _ => return form.bad_type(ty),
    })
}

/// `bfind`: the position of the highest bit that is not a sign bit, all ones if there is none.
pub(super) fn bfind(form: &mut Form) -> Result<Alu> {
    let shiftamt = form.flag("shiftamt");
    let ty = form.ty()?;
    form.done(2)?;
    let (d, a) = (form.dest(0, Type::U32)?, form.source(1, ty)?);
    let found = move |leading_zeros: u32, bits: u32| {
        if leading_zeros == bits {
            u32::MAX
        } else if shiftamt {
            leading_zeros
        } else {
            bits - 1 - leading_zeros
        }
    };
    Ok(match ty {
        Type::U32 => unary(d, a, move |a: u32| found(a.leading_zeros(), 32)),
        Type::U64 => rare::unary(d, a, move |a: u64| found(a.leading_zeros(), 64)),
        Type::S32 => unary(d, a, move |a: i32| found((a ^ a >> 31).leading_zeros(), 32)),
        Type::S64 => rare::unary(d, a, move |a: i64| found((a ^ a >> 63).leading_zeros(), 64)),
        _ => return form.bad_type(ty),
    })
}

/// Ones below bit `n`, all ones from 64 on.
#[inline(always)]
fn low_bits(n: u32) -> u64 {
    if n < 64 { (1 << n) - 1 } else { u64::MAX }
}

/// `x >> n`, 0 from 64 on.
#[inline(always)]
fn shr64(x: u64, n: u32) -> u64 {
    if n < 64 { x >> n } else { 0 }
}

/// `x << n`, 0 from 64 on.
#[inline(always)]
fn shl64(x: u64, n: u32) -> u64 {
    if n < 64 { x << n } else { 0 }
}

/// A position or a length. The manual takes 8 bits of them; for 64-bit fields an H200 takes all and stops at 255.
#[inline(always)]
fn place(x: u32, wide: bool) -> u32 {
    if wide { x.min(255) } else { x & 0xff }
}

/// The field of `len` bits from `pos` of a number of `bits` bits. Where the field reaches past the top, and where it ends,
/// the sign is repeated: the field's highest bit, or the number's if that is lower.
#[inline(always)]
fn extract(a: u64, pos: u32, len: u32, bits: u32, signed: bool) -> u64 {
    let (pos, len) = (place(pos, bits == 64), place(len, bits == 64));
    let taken = shr64(a, pos);
    // Position, within the field, from which on there is nothing but sign.
    let end = len.min(bits.saturating_sub(pos));
    let sign = if signed && len != 0 {
        a >> (pos + len - 1).min(bits - 1) & 1
    } else {
        0
    };
    let field = taken & low_bits(end);
    if sign == 1 { field | !low_bits(end) } else { field }
}

/// `bfe`
pub(super) fn bfe(form: &mut Form) -> Result<Alu> {
    let ty = form.ty()?;
    form.done(4)?;
    let d = form.dest(0, ty)?;
    let abc = [
        form.source(1, ty)?,
        form.source(2, Type::U32)?,
        form.source(3, Type::U32)?,
    ];
    Ok(match ty {
        Type::U32 => ternary(d, abc, |a: u32, b: u32, c: u32| {
            extract(a.into(), b, c, 32, false) as u32
        }),
        Type::S32 => ternary(d, abc, |a: u32, b: u32, c: u32| {
            extract(a.into(), b, c, 32, true) as u32
        }),
        Type::U64 => rare::ternary(d, abc, |a: u64, b: u32, c: u32| extract(a, b, c, 64, false)),
        Type::S64 => rare::ternary(d, abc, |a: u64, b: u32, c: u32| extract(a, b, c, 64, true)),
        _ => return form.bad_type(ty),
    })
}

/// `bfi d, a, b, pos, len`: the low bits of `a` into `b`.
pub(super) fn bfi(form: &mut Form) -> Result<Alu> {
    use super::rows::{Raw, fast, store};
    let ty = form.ty()?;
    form.done(5)?;
    let (d, a, b) = (form.dest(0, ty)?, form.source(1, ty)?, form.source(2, ty)?);
    let (pos, len) = (form.source(3, Type::U32)?, form.source(4, Type::U32)?);
    Ok(match ty {
        Type::B32 => fast(move |regs, active| {
            let [a, b, pos, len] = [a, b, pos, len].map(|slot| regs.r32(slot));
            let out: [u32; 32] = std::array::from_fn(|i| {
                let (pos, len) = (place(pos[i], false), place(len[i], false));
                let field = shl64(low_bits(len), pos) as u32;
                b[i] & !field | shl64(a[i].into(), pos) as u32 & field
            });
            store(regs, d, active, out);
        }),
        Type::B64 => Alu::new(move |regs, active| {
            let (a, b) = (u64::row(regs, a), u64::row(regs, b));
            let (pos, len) = (regs.r32(pos), regs.r32(len));
            let out: [u64; 32] = std::array::from_fn(|i| {
                let (pos, len) = (place(pos[i], true), place(len[i], true));
                let field = shl64(low_bits(len), pos);
                b[i] & !field | shl64(a[i], pos) & field
            });
            store(regs, d, active, out);
        }),
        _ => return form.bad_type(ty),
    })
}

/// `.clamp` or `.wrap`.
fn clamps(form: &mut Form) -> Result<bool> {
    match form.choice(&["clamp", "wrap"]) {
        Some(mode) => Ok(mode == "clamp"),
        None => Err(Unsupported::because("it needs `.clamp` or `.wrap`")),
    }
}

/// `bmsk d, pos, len`: that many ones from there.
pub(super) fn bmsk(form: &mut Form) -> Result<Alu> {
    let clamp = clamps(form)?;
    let ty = form.ty()?;
    form.done(3)?;
    if ty != Type::B32 {
        return form.bad_type(ty);
    }
    let (d, a, b) = (form.dest(0, ty)?, form.source(1, ty)?, form.source(2, ty)?);
    Ok(rare::binary(d, a, b, move |pos: u32, len: u32| {
        // A mode of `.clamp` lets both run past the end; `.wrap` takes them modulo 32. What passes bit 31 is cut off.
        let (pos, len) = if clamp {
            (pos.min(32), len.min(32))
        } else {
            (pos & 31, len & 31)
        };
        shl64(low_bits(len), pos) as u32
    }))
}

/// `szext`: a number of `n` bits, sign- or zero-extended.
pub(super) fn szext(form: &mut Form) -> Result<Alu> {
    let clamp = clamps(form)?;
    let ty = form.ty()?;
    form.done(3)?;
    if !matches!(ty, Type::U32 | Type::S32) {
        return form.bad_type(ty);
    }
    let signed = ty == Type::S32;
    let (d, a, b) = (form.dest(0, ty)?, form.source(1, ty)?, form.source(2, Type::U32)?);
    Ok(rare::binary(d, a, b, move |a: u32, n: u32| {
        let n = if clamp { n.min(32) } else { n & 31 };
        if n == 0 {
            0
        } else if signed {
            ((a << (32 - n)) as i32 >> (32 - n)) as u32
        } else {
            a << (32 - n) >> (32 - n)
        }
    }))
}

/// `fns`: the n-th set bit from a base, upwards or downwards.
pub(super) fn fns(form: &mut Form) -> Result<Alu> {
    fn find(mask: u32, base: u32, offset: i32) -> u32 {
        if base > 31 {
            return u32::MAX;
        }
        let mut left = match offset {
            0 => return if mask >> base & 1 == 1 { base } else { u32::MAX },
            n => n.unsigned_abs(),
        };
        let mut pos = base as i32;
        while (0..32).contains(&pos) {
            left -= mask >> pos & 1;
            if left == 0 {
                return pos as u32;
            }
            pos += offset.signum();
        }
        u32::MAX
    }
    let ty = form.ty()?;
    form.done(4)?;
    if ty != Type::B32 {
        return form.bad_type(ty);
    }
    let d = form.dest(0, ty)?;
    let abc = [form.source(1, ty)?, form.source(2, ty)?, form.source(3, Type::S32)?];
    Ok(rare::ternary(d, abc, find))
}

/// `prmt`, in its general mode and the six that fix the selection.
pub(super) fn prmt(form: &mut Form) -> Result<Alu> {
    // For each mode and each value of the selector's two low bits: the bytes of the result, highest first.
    let table: Option<[[u8; 4]; 4]> = match form.choice(&["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"]) {
        Some("f4e") => Some([[3, 2, 1, 0], [4, 3, 2, 1], [5, 4, 3, 2], [6, 5, 4, 3]]),
        Some("b4e") => Some([[5, 6, 7, 0], [6, 7, 0, 1], [7, 0, 1, 2], [0, 1, 2, 3]]),
        Some("rc8") => Some([[0; 4], [1; 4], [2; 4], [3; 4]]),
        Some("ecl") => Some([[3, 2, 1, 0], [3, 2, 1, 1], [3, 2, 2, 2], [3, 3, 3, 3]]),
        Some("ecr") => Some([[0, 0, 0, 0], [1, 1, 1, 0], [2, 2, 1, 0], [3, 2, 1, 0]]),
        Some(_) => Some([[1, 0, 1, 0], [3, 2, 3, 2], [1, 0, 1, 0], [3, 2, 3, 2]]),
        None => None,
    };
    let ty = form.ty()?;
    form.done(4)?;
    if ty != Type::B32 {
        return form.bad_type(ty);
    }
    let d = form.dest(0, ty)?;
    let abc = [form.source(1, ty)?, form.source(2, ty)?, form.source(3, ty)?];
    #[inline(always)]
    fn permute(a: u32, b: u32, selector: u32) -> u32 {
        let bytes = u64::from(b) << 32 | u64::from(a);
        let mut out = 0;
        for i in 0..4 {
            let select = selector >> (4 * i);
            let byte = (bytes >> (8 * (select & 7))) as u8;
            // Bit 3 asks for the byte's sign in all its bits.
            let byte = if select & 8 != 0 { (byte as i8 >> 7) as u8 } else { byte };
            out |= u32::from(byte) << (8 * i);
        }
        out
    }
    Ok(match table {
        None => ternary(d, abc, permute),
        Some(table) => {
            let selectors = table.map(|bytes| bytes.iter().fold(0, |s, b| s << 4 | u32::from(*b)));
            ternary(d, abc, move |a, b, c: u32| permute(a, b, selectors[c as usize & 3]))
        }
    })
}
