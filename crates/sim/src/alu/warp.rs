//! Instructions that look at other lanes: shuffles, votes, matches, reductions, elections, `movmatrix`.
//!
//! The lanes that take part are those that run the instruction now and that the lane's own member mask names. A shuffle
//! from a lane that does not take part gives what that lane's register holds, which PTX leaves open.

use tile33_ptx::ast::{Opcode, Operand, Type};

use super::float::single;
use super::form::Form;
use super::rows::{load_pred, mask, store, store_pred};
use super::{Alu, Result, Sync, Unsupported};
use crate::registers::{LANES, PredSlot, Registers, Slot};

/// A value for every lane from the lanes that take part with it. Lanes mostly share one member mask, so it is asked once
/// a mask, not once a lane.
fn per_group<T: Copy>(active: u32, members: &[u32; LANES], none: T, mut f: impl FnMut(u32) -> T) -> [T; LANES] {
    let mut out = [none; LANES];
    let mut left = active;
    while left != 0 {
        let leader = left.trailing_zeros() as usize;
        let same = mask(|i| members[i] == members[leader]) & left;
        let value = f(active & members[leader]);
        for lane in lanes(same) {
            out[lane] = value;
        }
        left &= !same;
    }
    out
}

/// The lanes of a mask.
fn lanes(mut bits: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = bits.trailing_zeros() as usize;
        bits &= bits.wrapping_sub(1);
        (lane < LANES).then_some(lane)
    })
}

/// The member mask that operand `i` is, or every lane for the forms before `.sync`.
#[derive(Clone, Copy)]
struct Members(Option<Slot>);

impl Members {
    fn take(form: &mut Form, sync: bool, i: usize) -> Result<Self> {
        Ok(Self(if sync { Some(form.source(i, Type::B32)?) } else { None }))
    }

    fn of(self, regs: &Registers) -> [u32; LANES] {
        self.0.map_or([u32::MAX; LANES], |slot| *regs.r32(slot))
    }

    fn sync(self) -> Sync {
        self.0.map_or(Sync::None, Sync::Members)
    }
}

impl Alu {
    fn with(mut self, sync: Sync) -> Self {
        self.sync = sync;
        self
    }

    /// Runs only once the whole warp has arrived.
    pub(super) fn aligned(self) -> Self {
        self.with(Sync::Warp)
    }
}

/// `d` or `d|p`.
fn result_and_predicate(form: &mut Form, ty: Type) -> Result<(Slot, Option<PredSlot>)> {
    Ok(match form.operand(0)? {
        Operand::Pair(d, p) => (form.write(d, ty)?, Some(form.at.pred_dest(p)?)),
        _ => (form.dest(0, ty)?, None),
    })
}

/// `shfl`, `shfl.sync`
pub(super) fn shfl(form: &mut Form) -> Result<Alu> {
    let sync = form.flag("sync");
    let Some(mode) = form.choice(&["up", "down", "bfly", "idx"]) else {
        return Err(Unsupported::because("it needs `.up`, `.down`, `.bfly` or `.idx`"));
    };
    let ty = form.ty()?;
    form.done(if sync { 5 } else { 4 })?;
    if ty != Type::B32 {
        return form.bad_type(ty);
    }
    let (d, p) = result_and_predicate(form, ty)?;
    let [a, b, c] = [form.source(1, ty)?, form.source(2, ty)?, form.source(3, ty)?];
    let members = Members::take(form, sync, 4)?;
    /// Source lane, and whether it is in range.
    #[inline(always)]
    fn source(mode: &str, lane: u32, b: u32, c: u32) -> (u32, bool) {
        let (lane, b) = (lane as i32, (b & 31) as i32);
        let (clamp, segment) = ((c & 31) as i32, (c >> 8 & 31) as i32);
        let max = (lane & segment) | (clamp & !segment);
        let min = lane & segment;
        let (j, valid) = match mode {
            "up" => (lane - b, lane - b >= max),
            "down" => (lane + b, lane + b <= max),
            "bfly" => (lane ^ b, lane ^ b <= max),
            _ => {
                let j = min | (b & !segment);
                (j, j <= max)
            }
        };
        (if valid { j as u32 } else { lane as u32 }, valid)
    }
    macro_rules! shuffle {
        ($mode:literal) => {
            Alu::new(move |regs, active| {
                let mut valid = 0;
                let values = regs.r32(a);
                let (b, c) = (regs.r32(b), regs.r32(c));
                let out = std::array::from_fn(|lane| {
                    let (j, ok) = source($mode, lane as u32, b[lane], c[lane]);
                    valid |= u32::from(ok) << lane;
                    values[j as usize & 31]
                });
                store::<u32>(regs, d, active, out);
                if let Some(p) = p {
                    store_pred(regs, p, active, valid);
                }
            })
        };
    }
    let alu = match mode {
        "up" => shuffle!("up"),
        "down" => shuffle!("down"),
        "bfly" => shuffle!("bfly"),
        _ => shuffle!("idx"),
    };
    Ok(alu.with(members.sync()))
}

/// `vote`, `vote.sync`
pub(super) fn vote(form: &mut Form) -> Result<Alu> {
    let sync = form.flag("sync");
    let Some(mode) = form.choice(&["all", "any", "uni", "ballot"]) else {
        return Err(Unsupported::because("it needs `.all`, `.any`, `.uni` or `.ballot`"));
    };
    let ty = form.ty()?;
    form.done(if sync { 3 } else { 2 })?;
    if ty != if mode == "ballot" { Type::B32 } else { Type::Pred } {
        return form.bad_type(ty);
    }
    let a = form.pred_source(1)?;
    let members = Members::take(form, sync, 2)?;
    let alu = if mode == "ballot" {
        let d = form.dest(0, ty)?;
        Alu::new(move |regs, active| {
            let votes = load_pred(regs, a);
            let out = per_group(active, &members.of(regs), 0, |group| votes & group);
            store(regs, d, active, out);
        })
    } else {
        let p = form.pred_dest(0)?;
        Alu::new(move |regs, active| {
            let votes = load_pred(regs, a);
            let out = per_group(active, &members.of(regs), false, |group| match mode {
                "all" => votes & group == group,
                "any" => votes & group != 0,
                _ => votes & group == group || votes & group == 0,
            });
            store_pred(regs, p, active, mask(|i| out[i]));
        })
    };
    Ok(alu.with(members.sync()))
}

/// `match.any.sync`, `match.all.sync`
pub(super) fn matches(form: &mut Form) -> Result<Alu> {
    let mode = form.choice(&["any", "all"]);
    let sync = form.flag("sync");
    let ty = form.ty()?;
    form.done(3)?;
    let (Some(mode), true) = (mode, sync) else {
        return Err(Unsupported::because("it needs `.any.sync` or `.all.sync`"));
    };
    if !matches!(ty, Type::B32 | Type::B64) {
        return form.bad_type(ty);
    }
    let (d, p) = result_and_predicate(form, Type::B32)?;
    if p.is_some() && mode == "any" {
        return Err(Unsupported::because("a predicate beside the result of `.any`"));
    }
    let a = form.source(1, ty)?;
    let members = Members::take(form, true, 2)?;
    let wide = ty == Type::B64;
    let alu = Alu::new(move |regs, active| {
        let values: [u64; LANES] = if wide { *regs.r64(a) } else { regs.r32(a).map(u64::from) };
        let members = members.of(regs);
        let equal: [u32; LANES] = std::array::from_fn(|lane| {
            let group = active & members[lane];
            mask(|i| values[i] == values[lane]) & group
        });
        if mode == "any" {
            store(regs, d, active, equal);
            return;
        }
        let all = mask(|lane| equal[lane] == active & members[lane]);
        store(
            regs,
            d,
            active,
            std::array::from_fn(|lane| if all >> lane & 1 == 1 { equal[lane] } else { 0 }),
        );
        if let Some(p) = p {
            store_pred(regs, p, active, all);
        }
    });
    Ok(alu.with(members.sync()))
}

/// `activemask`
pub(super) fn activemask(form: &mut Form) -> Result<Alu> {
    let ty = form.ty()?;
    form.done(1)?;
    let d = form.dest(0, ty)?;
    Ok(Alu::new(move |regs, active| store(regs, d, active, [active; LANES])))
}

/// `redux.sync`
pub(super) fn redux(form: &mut Form) -> Result<Alu> {
    let sync = form.flag("sync");
    let op = form.choice(&["add", "min", "max", "and", "or", "xor"]);
    let (abs, nan) = (form.flag("abs"), form.flag("NaN"));
    let ty = form.ty()?;
    form.done(3)?;
    let (Some(op), true) = (op, sync) else {
        return Err(Unsupported::because("it needs `.sync` and an operation"));
    };
    let (d, a) = (form.dest(0, ty)?, form.source(1, ty)?);
    let members = Members::take(form, true, 2)?;
    if (abs || nan) && ty != Type::F32 {
        return Err(Unsupported::because("`.abs` and `.NaN` are for type `.f32`"));
    }
    let combine: fn(u32, u32) -> u32 = match (op, ty) {
        ("add", Type::U32 | Type::S32) => u32::wrapping_add,
        ("min", Type::U32) => u32::min,
        ("max", Type::U32) => u32::max,
        ("min", Type::S32) => |a, b| (a as i32).min(b as i32) as u32,
        ("max", Type::S32) => |a, b| (a as i32).max(b as i32) as u32,
        ("and", Type::B32) => |a, b| a & b,
        ("or", Type::B32) => |a, b| a | b,
        ("xor", Type::B32) => |a, b| a ^ b,
        ("min" | "max", Type::F32) => {
            let max = op == "max";
            let alu = Alu::new(move |regs, active| {
                let values = *regs.r32(a);
                let out = per_group(active, &members.of(regs), 0, |group| {
                    extreme(lanes(group).map(|lane| values[lane]), max, abs, nan)
                });
                store(regs, d, active, out);
            });
            return Ok(alu.with(members.sync()));
        }
        _ => return form.bad_type(ty),
    };
    let alu = Alu::new(move |regs, active| {
        let values = *regs.r32(a);
        let out = per_group(active, &members.of(regs), 0, |group| {
            lanes(group).map(|lane| values[lane]).reduce(combine).unwrap_or(0)
        });
        store(regs, d, active, out);
    });
    Ok(alu.with(members.sync()))
}

/// The least or greatest of some f32, as bits; -0 is less than +0.
fn extreme(values: impl Iterator<Item = u32>, max: bool, abs: bool, nan: bool) -> u32 {
    let mut best: Option<f32> = None;
    for bits in values {
        let x = f32::from_bits(if abs { bits & 0x7fff_ffff } else { bits });
        if x.is_nan() {
            if nan {
                return single::NAN.to_bits();
            }
            continue;
        }
        let wins = best.is_none_or(|best| {
            if max {
                x.total_cmp(&best).is_gt()
            } else {
                x.total_cmp(&best).is_lt()
            }
        });
        if wins {
            best = Some(x);
        }
    }
    best.unwrap_or(single::NAN).to_bits()
}

/// `elect.sync`: the lowest lane leads.
pub(super) fn elect(form: &mut Form) -> Result<Alu> {
    let sync = form.flag("sync");
    form.done(2)?;
    let Operand::Pair(d, p) = form.operand(0)? else {
        return Err(Unsupported::because("its destination is `d|p`"));
    };
    if !sync {
        return Err(Unsupported::because("it needs `.sync`"));
    }
    let (d, p) = (form.write(d, Type::B32)?, form.at.pred_dest(p)?);
    let members = Members::take(form, true, 1)?;
    let alu = Alu::new(move |regs, active| {
        let leaders = per_group(active, &members.of(regs), 0, |group| group.trailing_zeros());
        store(regs, d, active, leaders);
        store_pred(regs, p, active, mask(|lane| leaders[lane] == lane as u32));
    });
    Ok(alu.with(members.sync()))
}

/// `movmatrix.sync.aligned.m8n8.trans.b16`: lane l holds columns 2 (l % 4) and the next of row l / 4.
pub(super) fn movmatrix(form: &mut Form) -> Result<Alu> {
    let words = ["sync", "aligned", "m8n8", "trans"].map(|word| form.flag(word));
    let ty = form.ty()?;
    form.done(2)?;
    if words.contains(&false) || ty != Type::B16 {
        return Err(Unsupported::because("it needs `.sync.aligned.m8n8.trans.b16`"));
    }
    debug_assert_eq!(form.opcode, Opcode::Movmatrix);
    let (d, a) = (form.dest(0, Type::B32)?, form.source(1, Type::B32)?);
    let alu = Alu::new(move |regs, active| {
        let a = regs.r32(a);
        let element = |row: usize, column: usize| a[4 * row + column / 2] >> (16 * (column % 2)) & 0xffff;
        let out = std::array::from_fn(|lane| {
            let (row, column) = (lane / 4, 2 * (lane % 4));
            element(column, row) | element(column + 1, row) << 16
        });
        store(regs, d, active, out);
    });
    Ok(alu.aligned())
}
