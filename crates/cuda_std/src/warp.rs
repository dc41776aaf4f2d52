//! Lanes of a warp talk to each other without memory.
//!
//! Every function takes a mask of the lanes that take part: each of them must call it, with the same mask, and the
//! calling lane must be one of them. What lanes outside the mask receive, or from a lane that does not take part, is
//! unspecified.

use crate::host::device;

/// All 32 lanes.
pub const FULL_WARP: u32 = u32::MAX;

/// Lanes of a warp.
pub const LANES: u32 = crate::layout::LANES as u32;

macro_rules! registers {
    ($($(#[$doc:meta])* $name:ident => $instruction:literal;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[track_caller]
        #[must_use]
        pub fn $name() -> u32 {
            device!(concat!("warp::", stringify!($name)), [], {
                let value: u32;
                // SAFETY: reads a special register.
                unsafe { core::arch::asm!($instruction, out(reg32) value, options(nomem, nostack)) };
                value
            })
        }
    )*};
}

registers! {
    /// Number of this thread in its warp, 0 to 31.
    lane_id => "mov.u32 {}, %laneid;";
    /// The lanes before this one, as a mask.
    lanes_before => "mov.u32 {}, %lanemask_lt;";
    /// The lanes that run this instruction together, as a mask. Others may come later: this is no barrier.
    active_mask => "activemask.b32 {};";
}

/// A value that lanes can exchange: 32 or 64 bits.
pub trait Shuffle: Copy + private::Bits {}

impl<T: Copy + private::Bits> Shuffle for T {}

mod private {
    /// A value as one or two 32-bit registers.
    pub trait Bits {
        /// Applies `exchange` to every register.
        fn exchange(self, exchange: impl Fn(u32) -> u32) -> Self;
    }

    macro_rules! bits {
        ($($ty:ty: $to:expr, $from:expr;)*) => {$(
            impl Bits for $ty {
                #[inline(always)]
                fn exchange(self, exchange: impl Fn(u32) -> u32) -> Self {
                    $from(exchange($to(self)))
                }
            }
        )*};
    }

    macro_rules! two_registers {
        ($($ty:ty: $to:expr, $from:expr;)*) => {$(
            impl Bits for $ty {
                #[inline(always)]
                fn exchange(self, exchange: impl Fn(u32) -> u32) -> Self {
                    let bits: u64 = $to(self);
                    let (low, high) = (exchange(bits as u32), exchange((bits >> 32) as u32));
                    $from(u64::from(high) << 32 | u64::from(low))
                }
            }
        )*};
    }

    bits! {
        u32: |value| value, |bits| bits;
        i32: |value| value as u32, |bits| bits as i32;
        f32: f32::to_bits, f32::from_bits;
    }
    two_registers! {
        u64: |value| value, |bits| bits;
        i64: |value| value as u64, |bits| bits as i64;
        f64: f64::to_bits, f64::from_bits;
    }
}

macro_rules! shuffles {
    ($($(#[$doc:meta])* $name:ident($operand:ident) => $instruction:literal;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[track_caller]
        #[must_use]
        pub fn $name<T: Shuffle>(mask: u32, value: T, $operand: u32) -> T {
            device!(concat!("warp::", stringify!($name)), [mask, value, $operand], value.exchange(|register| {
                let result: u32;
                // SAFETY: exchanges registers; which lanes take part is the caller's promise, and affects values only.
                unsafe {
                    core::arch::asm!(
                        $instruction,
                        out(reg32) result, in(reg32) register, in(reg32) $operand, in(reg32) mask,
                        options(nomem, nostack)
                    );
                }
                result
            }))
        }
    )*};
}

shuffles! {
    /// The value of lane `lane % 32`.
    shuffle(lane) => "shfl.sync.idx.b32 {}, {}, {}, 31, {};";
    /// The value of the lane `delta` before this one; the first `delta` lanes keep their own.
    shuffle_up(delta) => "shfl.sync.up.b32 {}, {}, {}, 0, {};";
    /// The value of the lane `delta` after this one; the last `delta` lanes keep their own.
    shuffle_down(delta) => "shfl.sync.down.b32 {}, {}, {}, 31, {};";
    /// The value of the lane whose number differs in the bits of `bits`: lanes exchange in pairs.
    shuffle_xor(bits) => "shfl.sync.bfly.b32 {}, {}, {}, 31, {};";
}

macro_rules! votes {
    ($($(#[$doc:meta])* $name:ident -> $ty:ty, $template:literal, $convert:expr;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[track_caller]
        #[must_use]
        pub fn $name(mask: u32, predicate: bool) -> $ty {
            device!(concat!("warp::", stringify!($name)), [mask, predicate], {
                let result: u32;
                // SAFETY: combines registers; which lanes take part is the caller's promise, and affects values only.
                unsafe {
                    core::arch::asm!(
                        $template,
                        out(reg32) result, in(reg32) u32::from(predicate), in(reg32) mask,
                        options(nomem, nostack)
                    );
                }
                $convert(result)
            })
        }
    )*};
}

votes! {
    /// Whether the predicate holds in every lane of the mask.
    all -> bool,
        "{{ .reg .pred p; setp.ne.u32 p, {1}, 0; vote.sync.all.pred p, p, {2}; selp.u32 {0}, 1, 0, p; }}",
        |result: u32| result != 0;
    /// Whether the predicate holds in any lane of the mask.
    any -> bool,
        "{{ .reg .pred p; setp.ne.u32 p, {1}, 0; vote.sync.any.pred p, p, {2}; selp.u32 {0}, 1, 0, p; }}",
        |result: u32| result != 0;
    /// The lanes of the mask in which the predicate holds.
    ballot -> u32,
        "{{ .reg .pred p; setp.ne.u32 p, {1}, 0; vote.sync.ballot.b32 {0}, p, {2}; }}",
        |result: u32| result;
}

/// The lanes of the mask whose value has the same bits as this one's.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn match_any(mask: u32, value: u32) -> u32 {
    device!("warp::match_any", [mask, value], {
        let result: u32;
        // SAFETY: compares registers; which lanes take part is the caller's promise, and affects values only.
        unsafe {
            core::arch::asm!(
                "match.any.sync.b32 {}, {}, {};",
                out(reg32) result, in(reg32) value, in(reg32) mask,
                options(nomem, nostack)
            );
        }
        result
    })
}

/// Whether all lanes of the mask have a value of the same bits.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn match_all(mask: u32, value: u32) -> bool {
    device!("warp::match_all", [mask, value], {
        let result: u32;
        // SAFETY: compares registers; which lanes take part is the caller's promise, and affects values only.
        unsafe {
            core::arch::asm!(
                "{{ .reg .pred p; .reg .b32 t; match.all.sync.b32 t|p, {1}, {2}; selp.u32 {0}, 1, 0, p; }}",
                out(reg32) result, in(reg32) value, in(reg32) mask,
                options(nomem, nostack)
            );
        }
        result != 0
    })
}
