//! `setp`, `set`, `slct`, `testp`.
//!
//! One loop a (type, comparison) makes a mask of lanes; what becomes of the mask (predicates, combined with a third, or
//! values) is a handful of operations on 32 bits.

use std::cmp::Ordering;

use tile33_ptx::ast::{Opcode, Operand, Type};

use super::float::by_flag;
use super::float::half::{Bf16, F16, Half};
use super::float::single::{enter, flush};
use super::form::Form;
use super::rows::{Raw, Value, fast, load_pred, mask, store, store_pred, ternary};
use super::{Alu, Result, Unsupported};
use crate::registers::{PredSlot, Registers, Slot};

/// The comparisons. Those from `Equ` on are true of NaNs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cmp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Equ,
    Neu,
    Ltu,
    Leu,
    Gtu,
    Geu,
    Num,
    Nan,
}

const WORDS: [&str; 18] = [
    "eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan", "lo", "ls", "hi", "hs",
];

impl Cmp {
    /// Takes the comparison; `true` if it is one of the names for unsigned operands only.
    fn take(form: &mut Form) -> Result<(Self, bool)> {
        let Some(word) = form.choice(&WORDS) else {
            return Err(Unsupported::because("it names no comparison"));
        };
        Ok(match word {
            "eq" => (Self::Eq, false),
            "ne" => (Self::Ne, false),
            "lt" => (Self::Lt, false),
            "le" => (Self::Le, false),
            "gt" => (Self::Gt, false),
            "ge" => (Self::Ge, false),
            "equ" => (Self::Equ, false),
            "neu" => (Self::Neu, false),
            "ltu" => (Self::Ltu, false),
            "leu" => (Self::Leu, false),
            "gtu" => (Self::Gtu, false),
            "geu" => (Self::Geu, false),
            "num" => (Self::Num, false),
            "nan" => (Self::Nan, false),
            "lo" => (Self::Lt, true),
            "ls" => (Self::Le, true),
            "hi" => (Self::Gt, true),
            _ => (Self::Ge, true),
        })
    }

    /// Of any two values. `Ne` is false of NaNs.
    fn holds(self, a: f32, b: f32) -> bool {
        let (relation, swapped, negated) = self.relation();
        let (a, b) = if swapped { (b, a) } else { (a, b) };
        let holds = match relation {
            Relation::Equal => a == b,
            Relation::Less => a < b,
            Relation::LessOrEqual => a <= b,
            Relation::Apart => a.partial_cmp(&b).is_some_and(Ordering::is_ne),
            Relation::Ordered => !a.is_nan() && !b.is_nan(),
        };
        holds != negated
    }
}

/// The five relations that the others are the opposite of, or the same with the operands swapped.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Relation {
    Equal,
    Less,
    LessOrEqual,
    /// Less or greater.
    Apart,
    /// No NaN among them.
    Ordered,
}

impl Cmp {
    /// The relation, whether its operands are swapped, and whether it is negated.
    fn relation(self) -> (Relation, bool, bool) {
        match self {
            Self::Eq => (Relation::Equal, false, false),
            Self::Neu => (Relation::Equal, false, true),
            Self::Lt => (Relation::Less, false, false),
            Self::Geu => (Relation::Less, false, true),
            Self::Gt => (Relation::Less, true, false),
            Self::Leu => (Relation::Less, true, true),
            Self::Le => (Relation::LessOrEqual, false, false),
            Self::Gtu => (Relation::LessOrEqual, false, true),
            Self::Ge => (Relation::LessOrEqual, true, false),
            Self::Ltu => (Relation::LessOrEqual, true, true),
            Self::Ne => (Relation::Apart, false, false),
            Self::Equ => (Relation::Apart, false, true),
            Self::Num => (Relation::Ordered, false, false),
            Self::Nan => (Relation::Ordered, false, true),
        }
    }
}

/// How the outcome is combined with a third predicate.
#[derive(Clone, Copy)]
enum Combine {
    Plain,
    And((PredSlot, bool)),
    Or((PredSlot, bool)),
    Xor((PredSlot, bool)),
}

impl Combine {
    /// `.and`, `.or` or `.xor` with the predicate that operand 3 is.
    fn take(form: &mut Form) -> Result<Self> {
        Ok(match form.choice(&["and", "or", "xor"]) {
            Some("and") => Self::And(form.pred_source(3)?),
            Some("or") => Self::Or(form.pred_source(3)?),
            Some(_) => Self::Xor(form.pred_source(3)?),
            None => Self::Plain,
        })
    }

    fn operands(self) -> usize {
        if matches!(self, Self::Plain) { 3 } else { 4 }
    }

    #[inline(always)]
    fn apply(self, regs: &Registers, t: u32) -> u32 {
        match self {
            Self::Plain => t,
            Self::And(c) => t & load_pred(regs, c),
            Self::Or(c) => t | load_pred(regs, c),
            Self::Xor(c) => t ^ load_pred(regs, c),
        }
    }
}

/// Where the outcome goes.
#[derive(Clone, Copy)]
enum Target {
    /// `p`, and `q` for the opposite.
    Predicates(PredSlot, Option<PredSlot>),
    /// `yes` or zero.
    Value { d: Slot, yes: u32 },
}

impl Target {
    #[inline(always)]
    fn put(self, regs: &mut Registers, active: u32, combine: Combine, t: u32) {
        let yes = combine.apply(regs, t);
        match self {
            Self::Predicates(p, None) => store_pred(regs, p, active, yes),
            Self::Predicates(p, Some(q)) => {
                let no = combine.apply(regs, !t);
                store_pred(regs, p, active, yes);
                store_pred(regs, q, active, no);
            }
            Self::Value { d, yes: value } => {
                let out = std::array::from_fn(|i| if yes >> i & 1 == 1 { value } else { 0 });
                store::<u32>(regs, d, active, out);
            }
        }
    }
}

/// The loop of one relation.
fn relation<T: Value>(
    [a, b]: [Slot; 2],
    flip: u32,
    combine: Combine,
    target: Target,
    holds: impl Fn(T, T) -> bool + Send + Sync + 'static,
) -> Alu {
    fast(move |regs, active| {
        let (x, y) = (T::Raw::row(regs, a), T::Raw::row(regs, b));
        let t = mask(|i| holds(T::from_raw(x[i]), T::from_raw(y[i]))) ^ flip;
        target.put(regs, active, combine, t);
    })
}

/// The comparison of a type whose values are all comparable.
fn integers<T: Value + Ord>(cmp: Cmp, [a, b]: [Slot; 2], combine: Combine, target: Target) -> Result<Alu> {
    // Without NaNs, `a <= b` is not `b < a`, and to differ is not to be equal.
    let (equal, swapped, negated) = match cmp {
        Cmp::Eq => (true, false, false),
        Cmp::Ne => (true, false, true),
        Cmp::Lt => (false, false, false),
        Cmp::Ge => (false, false, true),
        Cmp::Gt => (false, true, false),
        Cmp::Le => (false, true, true),
        _ => return Err(Unsupported::because("this comparison is for floats")),
    };
    let ab = if swapped { [b, a] } else { [a, b] };
    let flip = if negated { u32::MAX } else { 0 };
    Ok(if equal {
        relation::<T>(ab, flip, combine, target, |a, b| a == b)
    } else {
        relation::<T>(ab, flip, combine, target, |a, b| a < b)
    })
}

/// The comparison of floats, which `enter` may flush.
fn floats<T: Value + PartialOrd>(
    cmp: Cmp,
    [a, b]: [Slot; 2],
    combine: Combine,
    target: Target,
    enter: impl Fn(T) -> T + Copy + Send + Sync + 'static,
) -> Alu {
    let (which, swapped, negated) = cmp.relation();
    let ab = if swapped { [b, a] } else { [a, b] };
    let flip = if negated { u32::MAX } else { 0 };
    match which {
        Relation::Equal => relation::<T>(ab, flip, combine, target, move |a, b| enter(a) == enter(b)),
        Relation::Less => relation::<T>(ab, flip, combine, target, move |a, b| enter(a) < enter(b)),
        Relation::LessOrEqual => relation::<T>(ab, flip, combine, target, move |a, b| enter(a) <= enter(b)),
        Relation::Apart => relation::<T>(ab, flip, combine, target, move |a, b| {
            (enter(a) < enter(b)) | (enter(a) > enter(b))
        }),
        // A NaN is the only value that is neither less than, equal to nor greater than itself.
        Relation::Ordered => relation::<T>(ab, flip, combine, target, |a, b| {
            a.partial_cmp(&a).is_some() & b.partial_cmp(&b).is_some()
        }),
    }
}

/// The comparison of two operands of `ty` by type.
fn of_type(
    form: &Form,
    (cmp, unsigned_only): (Cmp, bool),
    ftz: bool,
    ty: Type,
    ab: [Slot; 2],
    combine: Combine,
    target: Target,
) -> Result<Alu> {
    use Type::{B16, B32, B64, F16 as Half16, F32, F64, S16, S32, S64, U16, U32, U64};
    if matches!(ty, B16 | B32 | B64) && !matches!(cmp, Cmp::Eq | Cmp::Ne) {
        return Err(Unsupported::because(format!(
            "an order of type `.{ty}`, which has only `.eq` and `.ne`"
        )));
    }
    if unsigned_only && !matches!(ty, U16 | U32 | U64) {
        return Err(Unsupported::because(
            "`.lo`, `.ls`, `.hi` and `.hs` are for unsigned types",
        ));
    }
    if ftz && !matches!(ty, F32 | Half16) {
        return Err(Unsupported::because(format!("`.ftz` with type `.{ty}`")));
    }
    Ok(match ty {
        U16 | B16 => integers::<u16>(cmp, ab, combine, target)?,
        S16 => integers::<i16>(cmp, ab, combine, target)?,
        U32 | B32 => integers::<u32>(cmp, ab, combine, target)?,
        S32 => integers::<i32>(cmp, ab, combine, target)?,
        U64 | B64 => integers::<u64>(cmp, ab, combine, target)?,
        S64 => integers::<i64>(cmp, ab, combine, target)?,
        F32 => by_flag!(ftz, FTZ => floats::<f32>(cmp, ab, combine, target, enter::<FTZ>)),
        F64 => floats::<f64>(cmp, ab, combine, target, |x| x),
        Half16 => halves::<F16>(cmp, ftz, ab, combine, target),
        Type::Bf16 => halves::<Bf16>(cmp, ftz, ab, combine, target),
        _ => return form.bad_type(ty),
    })
}

fn halves<H: Half>(cmp: Cmp, ftz: bool, [a, b]: [Slot; 2], combine: Combine, target: Target) -> Alu {
    Alu::new(move |regs, active| {
        let (x, y) = (regs.r32(a), regs.r32(b));
        let t = mask(|i| half::<H>(cmp, ftz, x[i] as u16, y[i] as u16));
        target.put(regs, active, combine, t);
    })
}

fn half<H: Half>(cmp: Cmp, ftz: bool, a: u16, b: u16) -> bool {
    let [a, b] = [a, b].map(|x| H::widen(if ftz { H::flush(x) } else { x }));
    cmp.holds(a, b)
}

/// `setp`
pub(super) fn setp(form: &mut Form) -> Result<Alu> {
    let cmp = Cmp::take(form)?;
    let combine = Combine::take(form)?;
    let ftz = form.flag("ftz");
    let ty = form.ty()?;
    form.done(combine.operands())?;
    let (p, q) = match form.operand(0)? {
        Operand::Pair(p, q) => (form.at.pred_dest(p)?, Some(form.at.pred_dest(q)?)),
        p => (form.at.pred_dest(p)?, None),
    };
    let ab = [form.source(1, ty)?, form.source(2, ty)?];
    if let Type::F16x2 | Type::Bf16x2 = ty {
        // The two halves' outcomes, not one and its opposite.
        let Some(q) = q else {
            return Err(Unsupported::because("with a packed type its destination is `p|q`"));
        };
        let holds = packed(form, cmp.0, ftz, ty)?;
        return Ok(Alu::new(move |regs, active| {
            let (low, high) = {
                let [a, b] = ab.map(|slot| regs.r32(slot));
                (
                    mask(|i| holds(a[i] as u16, b[i] as u16)),
                    mask(|i| holds((a[i] >> 16) as u16, (b[i] >> 16) as u16)),
                )
            };
            let (low, high) = (combine.apply(regs, low), combine.apply(regs, high));
            store_pred(regs, p, active, low);
            store_pred(regs, q, active, high);
        }));
    }
    of_type(form, cmp, ftz, ty, ab, combine, Target::Predicates(p, q))
}

type HalfTest = Box<dyn Fn(u16, u16) -> bool + Send + Sync>;

/// The comparison of one half of a packed type.
fn packed(form: &Form, cmp: Cmp, ftz: bool, ty: Type) -> Result<HalfTest> {
    match ty {
        Type::F16x2 => Ok(Box::new(move |a, b| half::<F16>(cmp, ftz, a, b))),
        Type::Bf16x2 if !ftz => Ok(Box::new(move |a, b| half::<Bf16>(cmp, false, a, b))),
        _ => form.bad_type(ty),
    }
}

/// `set`: 1.0 of a float type, all ones of an integer type, or zero.
pub(super) fn set(form: &mut Form) -> Result<Alu> {
    let cmp = Cmp::take(form)?;
    let combine = Combine::take(form)?;
    let ftz = form.flag("ftz");
    let (to, ty) = (form.ty()?, form.ty()?);
    form.done(combine.operands())?;
    let d = form.dest(0, to)?;
    let ab = [form.source(1, ty)?, form.source(2, ty)?];
    let yes = match to {
        Type::U16 | Type::S16 => 0xffff,
        Type::U32 | Type::S32 => u32::MAX,
        Type::F32 => 1.0f32.to_bits(),
        Type::F16 => 0x3c00,
        Type::Bf16 => 0x3f80,
        Type::F16x2 => 0x3c00_3c00,
        Type::Bf16x2 => 0x3f80_3f80,
        _ => return form.bad_type(to),
    };
    if let Type::F16x2 | Type::Bf16x2 = ty {
        if !matches!(to, Type::U32 | Type::S32) && to != ty {
            return form.bad_type(to);
        }
        let holds = packed(form, cmp.0, ftz, ty)?;
        return Ok(Alu::new(move |regs, active| {
            let (low, high) = {
                let [a, b] = ab.map(|slot| regs.r32(slot));
                (
                    mask(|i| holds(a[i] as u16, b[i] as u16)),
                    mask(|i| holds((a[i] >> 16) as u16, (b[i] >> 16) as u16)),
                )
            };
            let (low, high) = (combine.apply(regs, low), combine.apply(regs, high));
            let out = std::array::from_fn(|i| {
                let low = if low >> i & 1 == 1 { yes & 0xffff } else { 0 };
                let high = if high >> i & 1 == 1 { yes & 0xffff_0000 } else { 0 };
                low | high
            });
            store::<u32>(regs, d, active, out);
        }));
    }
    if matches!(to, Type::F16x2 | Type::Bf16x2) {
        return form.bad_type(to);
    }
    of_type(form, cmp, ftz, ty, ab, combine, Target::Value { d, yes })
}

/// `slct d, a, b, c`: `a` where `c >= 0`, else `b`; NaN is not.
pub(super) fn slct(form: &mut Form) -> Result<Alu> {
    let ftz = form.flag("ftz");
    let (ty, by) = (form.ty()?, form.ty()?);
    form.done(4)?;
    let d = form.dest(0, ty)?;
    let abc = [form.source(1, ty)?, form.source(2, ty)?, form.source(3, by)?];
    if ftz && by != Type::F32 {
        return Err(Unsupported::because("`.ftz` with an integer selector"));
    }
    Ok(match (ty.bytes(), by) {
        (2 | 4, Type::S32) => ternary(d, abc, |a: u32, b: u32, c: i32| if c >= 0 { a } else { b }),
        (2 | 4, Type::F32) => by_flag!(ftz, FTZ => {
            ternary(d, abc, |a: u32, b: u32, c: f32| if enter::<FTZ>(c) >= 0.0 { a } else { b })
        }),
        (8, Type::S32) => ternary(d, abc, |a: u64, b: u64, c: i32| if c >= 0 { a } else { b }),
        (8, Type::F32) => by_flag!(ftz, FTZ => {
            ternary(d, abc, |a: u64, b: u64, c: f32| if enter::<FTZ>(c) >= 0.0 { a } else { b })
        }),
        _ => return form.bad_type(by),
    })
}

/// `testp`: zeros count as normal.
pub(super) fn testp(form: &mut Form) -> Result<Alu> {
    let Some(what) = form.choice(&["finite", "infinite", "number", "notanumber", "normal", "subnormal"]) else {
        return Err(Unsupported::because("it names no property"));
    };
    let ty = form.ty()?;
    form.done(2)?;
    debug_assert_eq!(form.opcode, Opcode::Testp);
    let (p, a) = (form.pred_dest(0)?, form.source(1, ty)?);
    let property = move |finite: bool, infinite: bool, subnormal: bool| match what {
        "finite" => finite,
        "infinite" => infinite,
        "number" => finite | infinite,
        "notanumber" => !(finite | infinite),
        "normal" => finite & !subnormal,
        _ => subnormal,
    };
    Ok(match ty {
        Type::F32 => Alu::new(move |regs, active| {
            let a = regs.r32(a).map(f32::from_bits);
            let bits = mask(|i| property(a[i].is_finite(), a[i].is_infinite(), a[i] != 0.0 && flush(a[i]) == 0.0));
            store_pred(regs, p, active, bits);
        }),
        Type::F64 => Alu::new(move |regs, active| {
            let a = regs.r64(a).map(f64::from_bits);
            let bits = mask(|i| property(a[i].is_finite(), a[i].is_infinite(), a[i].is_subnormal()));
            store_pred(regs, p, active, bits);
        }),
        _ => return form.bad_type(ty),
    })
}
