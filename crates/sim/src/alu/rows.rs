//! Loops over the 32 lanes of rows: the one place that knows lanes, masks and aliasing.
//!
//! The result of a whole row is computed before any of it is written, so a destination may be a source too, or share only
//! some of a source's rows: registers whose lives do not overlap live in the same ones. On x86-64
//! each loop exists twice, for the baseline and for AVX2 with FMA; which one runs is decided when the instruction is
//! lowered. That makes code, and compiling it takes time: what programs seldom run goes through [`rare`] instead, which
//! calls a function for each lane.

use super::Alu;
use crate::registers::{LANES, PredSlot, Registers, Slot};

/// How a lane sits in its rows.
pub(super) trait Raw: Copy + Default + 'static {
    fn row(regs: &Registers, slot: Slot) -> &[Self; LANES];
    fn row_mut(regs: &mut Registers, slot: Slot) -> &mut [Self; LANES];
    /// `new` if `bit` is 1, `old` if it is 0: without a branch, so that a loop of it is vectorised.
    fn pick(bit: u32, new: Self, old: Self) -> Self;
    /// Zero-extended or cut to 64 bits.
    fn to_u64(self) -> u64;
    fn from_u64(x: u64) -> Self;
}

impl Raw for u32 {
    #[inline(always)]
    fn row(regs: &Registers, slot: Slot) -> &[Self; LANES] {
        regs.r32(slot)
    }
    #[inline(always)]
    fn row_mut(regs: &mut Registers, slot: Slot) -> &mut [Self; LANES] {
        regs.r32_mut(slot)
    }
    #[inline(always)]
    fn pick(bit: u32, new: Self, old: Self) -> Self {
        old ^ ((old ^ new) & 0u32.wrapping_sub(bit))
    }
    #[inline(always)]
    fn to_u64(self) -> u64 {
        self as u64
    }
    #[inline(always)]
    fn from_u64(x: u64) -> Self {
        x as Self
    }
}

impl Raw for u64 {
    #[inline(always)]
    fn row(regs: &Registers, slot: Slot) -> &[Self; LANES] {
        regs.r64(slot)
    }
    #[inline(always)]
    fn row_mut(regs: &mut Registers, slot: Slot) -> &mut [Self; LANES] {
        regs.r64_mut(slot)
    }
    #[inline(always)]
    fn pick(bit: u32, new: Self, old: Self) -> Self {
        old ^ ((old ^ new) & 0u64.wrapping_sub(u64::from(bit)))
    }
    #[inline(always)]
    fn to_u64(self) -> u64 {
        self
    }
    #[inline(always)]
    fn from_u64(x: u64) -> Self {
        x as Self
    }
}

impl Raw for u128 {
    #[inline(always)]
    fn row(regs: &Registers, slot: Slot) -> &[Self; LANES] {
        regs.r128(slot)
    }
    #[inline(always)]
    fn row_mut(regs: &mut Registers, slot: Slot) -> &mut [Self; LANES] {
        regs.r128_mut(slot)
    }
    #[inline(always)]
    fn pick(bit: u32, new: Self, old: Self) -> Self {
        old ^ ((old ^ new) & 0u128.wrapping_sub(u128::from(bit)))
    }
    #[inline(always)]
    fn to_u64(self) -> u64 {
        self as u64
    }
    #[inline(always)]
    fn from_u64(x: u64) -> Self {
        x as Self
    }
}

/// A type that a lane's bits are read and written as.
pub(super) trait Value: Copy + 'static {
    type Raw: Raw;
    fn from_raw(raw: Self::Raw) -> Self;
    fn raw(self) -> Self::Raw;
}

macro_rules! value {
    ($($ty:ty => $raw:ty, $from:expr, $into:expr;)*) => {$(
        impl Value for $ty {
            type Raw = $raw;
            #[inline(always)]
            fn from_raw(raw: $raw) -> Self { ($from)(raw) }
            #[inline(always)]
            fn raw(self) -> $raw { ($into)(self) }
        }
    )*};
}

value! {
    u8 => u32, |r| r as u8, u32::from;
    i8 => u32, |r| r as i8, |v: i8| u32::from(v as u8);
    u16 => u32, |r| r as u16, u32::from;
    i16 => u32, |r| r as i16, |v: i16| u32::from(v as u16);
    u32 => u32, |r| r, |v| v;
    i32 => u32, |r| r as i32, |v| v as u32;
    u64 => u64, |r| r, |v| v;
    i64 => u64, |r| r as i64, |v| v as u64;
    u128 => u128, |r| r, |v| v;
    f32 => u32, f32::from_bits, f32::to_bits;
    f64 => u64, f64::from_bits, f64::to_bits;
}

const FULL: u32 = u32::MAX;

/// Writes `out` to the active lanes of a row.
#[inline(always)]
pub(super) fn store<R: Raw>(regs: &mut Registers, slot: Slot, active: u32, out: [R; LANES]) {
    let row = R::row_mut(regs, slot);
    if active == FULL {
        *row = out;
    } else {
        for lane in 0..LANES {
            row[lane] = R::pick((active >> lane) & 1, out[lane], row[lane]);
        }
    }
}

/// Replaces the active lanes' bits of a predicate.
#[inline(always)]
pub(super) fn store_pred(regs: &mut Registers, slot: PredSlot, active: u32, bits: u32) {
    let p = regs.pred_mut(slot);
    *p = (*p & !active) | (bits & active);
}

/// A predicate source with its negation applied.
#[inline(always)]
pub(super) fn load_pred(regs: &Registers, (slot, negated): (PredSlot, bool)) -> u32 {
    regs.pred(slot) ^ if negated { u32::MAX } else { 0 }
}

/// One bit per lane.
#[inline(always)]
pub(super) fn mask(f: impl Fn(usize) -> bool) -> u32 {
    let mut bits = 0;
    for lane in 0..LANES {
        bits |= u32::from(f(lane)) << lane;
    }
    bits
}

/// Makes an [`Alu`] of a loop, in the variant that the processor at hand runs best. `run` must be `#[inline(always)]`
/// material: it is instantiated once for each variant.
#[inline(always)]
pub(super) fn fast(run: impl Fn(&mut Registers, u32) + Send + Sync + 'static) -> Alu {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,fma,bmi1,bmi2,popcnt,lzcnt,f16c")]
        fn wide(run: &impl Fn(&mut Registers, u32), regs: &mut Registers, active: u32) {
            run(regs, active);
        }
        if wide_vectors() {
            // SAFETY: `wide_vectors` has found every feature that `wide` is compiled for.
            return Alu::new(move |regs, active| unsafe { wide(&run, regs, active) });
        }
    }
    Alu::new(run)
}

#[cfg(target_arch = "x86_64")]
fn wide_vectors() -> bool {
    use std::arch::is_x86_feature_detected as has;
    has!("avx2") && has!("fma") && has!("bmi1") && has!("bmi2") && has!("popcnt") && has!("lzcnt") && has!("f16c")
}

/// `d = f(a)` in every active lane.
pub(super) fn unary<A: Value, D: Value>(d: Slot, a: Slot, f: impl Fn(A) -> D + Send + Sync + 'static) -> Alu {
    fast(move |regs, active| {
        let x = A::Raw::row(regs, a);
        let out = std::array::from_fn(|i| f(A::from_raw(x[i])).raw());
        store(regs, d, active, out);
    })
}

/// `d = f(a, b)` in every active lane.
pub(super) fn binary<A: Value, B: Value, D: Value>(
    d: Slot,
    a: Slot,
    b: Slot,
    f: impl Fn(A, B) -> D + Send + Sync + 'static,
) -> Alu {
    fast(move |regs, active| {
        let (x, y) = (A::Raw::row(regs, a), B::Raw::row(regs, b));
        let out = std::array::from_fn(|i| f(A::from_raw(x[i]), B::from_raw(y[i])).raw());
        store(regs, d, active, out);
    })
}

/// `d = f(a, b, c)` in every active lane.
pub(super) fn ternary<A: Value, B: Value, C: Value, D: Value>(
    d: Slot,
    [a, b, c]: [Slot; 3],
    f: impl Fn(A, B, C) -> D + Send + Sync + 'static,
) -> Alu {
    fast(move |regs, active| {
        let (x, y, z) = (A::Raw::row(regs, a), B::Raw::row(regs, b), C::Raw::row(regs, c));
        let out = std::array::from_fn(|i| f(A::from_raw(x[i]), B::from_raw(y[i]), C::from_raw(z[i])).raw());
        store(regs, d, active, out);
    })
}

/// The same for what programs seldom run: one loop for all of them, which calls a function for each active lane.
pub(super) mod rare {
    use super::{Alu, LANES, Raw, Slot, Value};

    /// Of the raw bits of up to three operands.
    type Function = Box<dyn Fn([u64; 3]) -> u64 + Send + Sync>;

    /// A row, and whether it is one of 64-bit lanes.
    type Row = (Slot, bool);

    pub(crate) fn run(d: Row, sources: [Row; 3], f: Function) -> Alu {
        Alu::new(move |regs, active| {
            let lanes = || (0..LANES).filter(|lane| active >> lane & 1 == 1);
            let mut out = [0; LANES];
            for lane in lanes() {
                out[lane] = f(sources.map(|(slot, wide)| {
                    if wide {
                        regs.r64(slot)[lane]
                    } else {
                        regs.r32(slot)[lane].into()
                    }
                }));
            }
            for lane in lanes() {
                if d.1 {
                    regs.r64_mut(d.0)[lane] = out[lane];
                } else {
                    regs.r32_mut(d.0)[lane] = out[lane] as u32;
                }
            }
        })
    }

    fn row<T: Value>(slot: Slot) -> Row {
        (slot, size_of::<T::Raw>() == 8)
    }

    fn read<T: Value>(x: u64) -> T {
        T::from_raw(T::Raw::from_u64(x))
    }

    /// `d = f(a)` in every active lane.
    pub(crate) fn unary<A: Value, D: Value>(d: Slot, a: Slot, f: impl Fn(A) -> D + Send + Sync + 'static) -> Alu {
        run(
            row::<D>(d),
            [row::<A>(a); 3],
            Box::new(move |[a, ..]| f(read(a)).raw().to_u64()),
        )
    }

    /// `d = f(a, b)` in every active lane.
    pub(crate) fn binary<A: Value, B: Value, D: Value>(
        d: Slot,
        a: Slot,
        b: Slot,
        f: impl Fn(A, B) -> D + Send + Sync + 'static,
    ) -> Alu {
        let sources = [row::<A>(a), row::<B>(b), row::<B>(b)];
        run(
            row::<D>(d),
            sources,
            Box::new(move |[a, b, _]| f(read(a), read(b)).raw().to_u64()),
        )
    }

    /// `d = f(a, b, c)` in every active lane.
    pub(crate) fn ternary<A: Value, B: Value, C: Value, D: Value>(
        d: Slot,
        [a, b, c]: [Slot; 3],
        f: impl Fn(A, B, C) -> D + Send + Sync + 'static,
    ) -> Alu {
        let sources = [row::<A>(a), row::<B>(b), row::<C>(c)];
        run(
            row::<D>(d),
            sources,
            Box::new(move |[a, b, c]| f(read(a), read(b), read(c)).raw().to_u64()),
        )
    }
}
