//! What an access to shared memory costs.
//!
//! Shared memory is 32 banks, each 4 bytes wide: the byte at address a lies in bank `(a / 4) % 32`. A *wavefront* is one
//! pass: each bank delivers one 4-byte word, to any number of lanes. An instruction is cut into *groups* of lanes which
//! do not share a pass, and each group costs the largest number of different words that it asks of one bank.
//!
//! | instruction | groups |
//! |---|---|
//! | 1, 2, 4 bytes per lane | the warp |
//! | 8 bytes | two half-warps |
//! | 16 bytes | four quarter-warps |
//! | **loads** of 8 or 16 bytes whose lanes pair up | 8 bytes: the warp; 16 bytes: two half-warps |
//!
//! *Lanes pair up* when for x = 1, or for x = 2, every active lane l of the whole warp has lane `l ^ x` inactive or at
//! the same address. A half-warp that does so alone changes nothing. A group without active lanes is free.
//!
//! **Atomics** use the groups of stores, but there a bank's cost is the number of *lanes* that want it, since even lanes
//! at one word wait for each other; `cas` costs twice as much.
//!
//! The *ideal* is one wavefront for each group that has active lanes (two for `cas`).
//!
//! The rules were found by fitting the counter `l1tex__data_pipe_lsu_wavefronts_mem_shared` of an H200 (compute
//! capability 9.0); `tests/ground-truth` holds the measurements, and the tests demand each number.
//!
//! The functions here take what an emulator has at hand, allocate nothing, and are quick when there is no conflict.
//! Addresses are taken as multiples of the width (a GPU traps otherwise).

use crate::{LANES, Op};

/// Banks of shared memory.
///
/// ```
/// assert_eq!(tile33_layout::banks::BANKS, 32);
/// ```
pub const BANKS: usize = 32;

/// Bytes that a bank delivers per wavefront.
///
/// ```
/// use tile33_layout::banks::{BANKS, BANK_BYTES};
/// assert_eq!(BANKS * BANK_BYTES, 128); // bytes of a wavefront
/// ```
pub const BANK_BYTES: usize = 4;

/// The bank of a byte address.
///
/// ```
/// assert_eq!(tile33_layout::banks::bank_of(132), 1);
/// ```
#[inline(always)]
pub const fn bank_of(address: u64) -> u32 {
    (address / BANK_BYTES as u64 % BANKS as u64) as u32
}

/// How an instruction's lanes are cut into groups.
///
/// ```
/// use tile33_layout::Op;
/// use tile33_layout::banks::Grouping;
/// let row: [u64; 32] = core::array::from_fn(|lane| 8 * lane as u64);
/// let grouping = Grouping::new(Op::Load, 8, u32::MAX, &row);
/// assert_eq!((grouping.lanes, grouping.pair), (16, None));
/// let pairs: [u64; 32] = core::array::from_fn(|lane| 8 * (lane as u64 / 2));
/// let grouping = Grouping::new(Op::Load, 8, u32::MAX, &pairs);
/// assert_eq!((grouping.lanes, grouping.pair), (32, Some(1)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grouping {
    /// Lanes of a group: 8, 16 or 32, consecutive.
    pub lanes: u32,
    /// The x for which all active lanes l agree with lane `l ^ x`, if that made groups twice as large.
    pub pair: Option<u32>,
}

impl Grouping {
    /// The groups of an instruction.
    ///
    /// ```
    /// use tile33_layout::{Op, banks::Grouping};
    /// assert_eq!(Grouping::new(Op::Store, 8, u32::MAX, &[0; 32]), Grouping { lanes: 16, pair: None });
    /// assert_eq!(Grouping::new(Op::Load, 8, u32::MAX, &[0; 32]), Grouping { lanes: 32, pair: Some(1) });
    /// ```
    pub const fn new(op: Op, width: u32, mask: u32, addresses: &[u64; LANES]) -> Self {
        let lanes = unmerged(width);
        if width <= 4 || !matches!(op, Op::Load) {
            return Self { lanes, pair: None };
        }
        match pair_u64(mask, addresses) {
            Some(pair) => Self {
                lanes: 2 * lanes,
                pair: Some(pair),
            },
            None => Self { lanes, pair: None },
        }
    }

    /// How many groups a warp has.
    ///
    /// ```
    /// use tile33_layout::{Op, banks::Grouping};
    /// assert_eq!(Grouping::new(Op::Store, 16, u32::MAX, &[0; 32]).count(), 4);
    /// ```
    pub const fn count(self) -> u32 {
        LANES as u32 / self.lanes
    }

    /// The active lanes of group `index`.
    ///
    /// ```
    /// use tile33_layout::{Op, banks::Grouping};
    /// assert_eq!(Grouping::new(Op::Store, 16, 0xffff_0fff, &[0; 32]).mask(1, 0xffff_0fff), 0x0000_0f00);
    /// ```
    pub const fn mask(self, index: u32, mask: u32) -> u32 {
        group_mask(self.lanes, index * self.lanes) & mask
    }
}

/// Lanes of a group that did not merge.
#[inline(always)]
const fn unmerged(width: u32) -> u32 {
    if width <= 4 { 32 } else { 128 / width }
}

#[inline(always)]
const fn group_mask(lanes: u32, first: u32) -> u32 {
    (u32::MAX >> (32 - lanes)) << first
}

/// Wavefronts per unit of a bank's load: `cas` reads and writes.
#[inline(always)]
const fn passes(op: Op) -> u32 {
    if matches!(op, Op::Cas) { 2 } else { 1 }
}

/// Bit l, for lane l: what lets the compiler build lane masks in vector registers.
const BIT: [u32; LANES] = {
    let mut bits = [0; LANES];
    let mut lane = 0;
    while lane < LANES {
        bits[lane] = 1 << lane;
        lane += 1;
    }
    bits
};

/// The lanes whose neighbour `l ^ x` (x = 1 or 2) is active, too.
#[inline(always)]
const fn with_neighbour(mask: u32, x: u32) -> u32 {
    let low = if x == 1 { 0x5555_5555 } else { 0x3333_3333 };
    mask & ((mask >> x & low) | (mask & low) << x)
}

macro_rules! model {
    ($address:ty, $signed:ty, $wavefronts:ident, $ideal:ident, $pair:ident, $step:ident, $cost:ident, $crowd:ident, $queue:ident, $equal:ident) => {
        /// Wavefronts of one instruction: `width` bytes (1, 2, 4, 8, 16) at the byte addresses of the lanes in `mask`.
        ///
        /// ```
        #[doc = concat!("use tile33_layout::{Op, banks::", stringify!($wavefronts), "};")]
        #[doc = concat!("let column = core::array::from_fn(|lane| 128 * lane as ", stringify!($address), ");")]
        #[doc = concat!("assert_eq!(", stringify!($wavefronts), "(Op::Load, 4, u32::MAX, &column), 32);")]
        #[doc = concat!("assert_eq!(", stringify!($wavefronts), "(Op::Load, 4, 0x0000_00ff, &column), 8);")]
        /// ```
        #[inline]
        pub const fn $wavefronts(op: Op, width: u32, mask: u32, addresses: &[$address; LANES]) -> u32 {
            if mask == 0 {
                return 0;
            }
            let mut lanes = unmerged(width);
            // Aligned accesses of 8 bytes fall on pairs of banks, those of 16 on quadruples: count in such units.
            let shift = if width <= 4 { 2 } else { width.trailing_zeros() };
            // Most accesses are a constant distance apart, and then arithmetic answers.
            if let Some(step) = $step(mask, addresses) {
                if step != 0 && step.trailing_zeros() >= shift {
                    let shared = (step >> shift).trailing_zeros();
                    let all = lanes.trailing_zeros();
                    let ways = 1 << if shared < all { shared } else { all };
                    if ways == 1 {
                        return groups(lanes, mask) * passes(op);
                    }
                    if mask == u32::MAX {
                        return ways * (LANES as u32 / lanes) * passes(op);
                    }
                } else if step == 0 && !op.is_atomic() {
                    // Loads of one address merge.
                    let merged = if width > 4 && matches!(op, Op::Load) {
                        2 * lanes
                    } else {
                        lanes
                    };
                    return groups(merged, mask);
                }
            }
            if width > 4 && matches!(op, Op::Load) && $pair(mask, addresses).is_some() {
                lanes *= 2;
            }
            let mut units = [0; LANES];
            let mut lane = 0;
            while lane < LANES {
                units[lane] = addresses[lane] >> shift;
                lane += 1;
            }
            let banks = (128 >> shift) as $address - 1;
            let mut total = 0;
            let mut first = 0;
            while first < LANES as u32 {
                let group = group_mask(lanes, first) & mask;
                if group != 0 {
                    total += $cost(op.is_atomic(), banks, group, &units);
                }
                first += lanes;
            }
            total * passes(op)
        }

        /// Wavefronts of the same lanes and width without conflicts: one per group with active lanes, two for `cas`.
        ///
        /// ```
        #[doc = concat!("use tile33_layout::{Op, banks::", stringify!($ideal), "};")]
        #[doc = concat!("let column = core::array::from_fn(|lane| 256 * lane as ", stringify!($address), ");")]
        #[doc = concat!("assert_eq!(", stringify!($ideal), "(Op::Load, 8, u32::MAX, &column), 2);")]
        #[doc = concat!("assert_eq!(", stringify!($ideal), "(Op::Load, 8, 0x0000_00ff, &column), 1);")]
        /// ```
        #[inline]
        pub const fn $ideal(op: Op, width: u32, mask: u32, addresses: &[$address; LANES]) -> u32 {
            let mut lanes = unmerged(width);
            if width > 4 && matches!(op, Op::Load) && $pair(mask, addresses).is_some() {
                lanes *= 2;
            }
            groups(lanes, mask) * passes(op)
        }

        /// The x, 1 or 2, for which every active lane l has lane `l ^ x` inactive or at the same address.
        #[inline]
        const fn $pair(mask: u32, addresses: &[$address; LANES]) -> Option<u32> {
            if with_neighbour(mask, 1) & !$equal::<1>(addresses) == 0 {
                Some(1)
            } else if with_neighbour(mask, 2) & !$equal::<2>(addresses) == 0 {
                Some(2)
            } else {
                None
            }
        }

        /// The lanes l that hold the same value as lane `l ^ X`.
        #[inline]
        const fn $equal<const X: usize>(values: &[$address; LANES]) -> u32 {
            let mut equal = 0;
            let mut lane = 0;
            while lane < LANES {
                equal |= if values[lane] == values[lane ^ X] {
                    BIT[lane]
                } else {
                    0
                };
                lane += 1;
            }
            equal
        }

        /// The distance from each lane to the next, if the active lanes are neighbours in a row and it is
        /// the same between all of them; negative ones wrapped.
        #[inline]
        pub(crate) const fn $step(mask: u32, addresses: &[$address; LANES]) -> Option<$address> {
            let first = mask.trailing_zeros() as usize;
            let run = mask >> first;
            if run & run.wrapping_add(1) != 0 {
                return None;
            }
            if run == 1 {
                return Some(0);
            }
            let step = addresses[first + 1].wrapping_sub(addresses[first]);
            // Only steps that never wrap around, so that addresses rise or fall throughout.
            let signed = step as $signed;
            let last = 31 - mask.leading_zeros() as usize;
            if signed > <$signed>::MAX >> 6 || signed < <$signed>::MIN >> 6 {
                return None;
            }
            match addresses[first].checked_add_signed(signed * (last - first) as $signed) {
                Some(end) if end == addresses[last] => {}
                _ => return None,
            }
            let mut off = 0;
            let mut lane = 1;
            while lane < LANES {
                off |= if addresses[lane].wrapping_sub(addresses[lane - 1]) == step {
                    0
                } else {
                    BIT[lane]
                };
                lane += 1;
            }
            if off & mask & mask << 1 == 0 {
                Some(step)
            } else {
                None
            }
        }

        /// The cost of one group: over the banks, the most lanes (`by_lane`) or different units. `banks` is the number of
        /// banks of a unit's size, less one.
        #[inline]
        const fn $cost(by_lane: bool, banks: $address, group: u32, units: &[$address; LANES]) -> u32 {
            let banks = banks & (BANKS as $address - 1);
            if by_lane {
                return $crowd(banks, group, units);
            }
            // What the hardware does: in a round, each bank serves the unit of the lowest lane that waits for it, and
            // with it all that want the same. Long queues are counted instead.
            let mut served = [0; BANKS];
            let mut waiting = group;
            let mut rounds = 0;
            while waiting != 0 {
                if rounds == 2 {
                    return rounds + $queue(banks, waiting, units);
                }
                rounds += 1;
                let mut busy = 0u32;
                let mut rest = waiting;
                waiting = 0;
                while rest != 0 {
                    let lane = rest.trailing_zeros();
                    rest &= rest - 1;
                    let unit = units[lane as usize];
                    let bank = (unit & banks) as usize;
                    let idle = busy >> bank & 1 == 0;
                    busy |= 1 << bank;
                    let serves = if idle { unit } else { served[bank] };
                    served[bank] = serves;
                    waiting |= ((serves != unit) as u32) << lane;
                }
            }
            rounds
        }

        /// The most lanes at one bank.
        #[inline]
        const fn $crowd(banks: $address, group: u32, units: &[$address; LANES]) -> u32 {
            let mut lanes_of = [0u8; BANKS];
            let mut most = 0;
            let mut rest = group;
            while rest != 0 {
                let bank = (units[rest.trailing_zeros() as usize] & banks) as usize;
                rest &= rest - 1;
                lanes_of[bank] += 1;
                if lanes_of[bank] > most {
                    most = lanes_of[bank];
                }
            }
            most as u32
        }

        /// The most different units at one bank.
        const fn $queue(banks: $address, group: u32, units: &[$address; LANES]) -> u32 {
            // Strictly rising or falling units are all different, and then lanes and units are the same number.
            let (mut rising, mut falling) = (true, true);
            let mut previous = units[group.trailing_zeros() as usize];
            let mut rest = group & (group - 1);
            while rest != 0 {
                let unit = units[rest.trailing_zeros() as usize];
                rest &= rest - 1;
                rising &= unit > previous;
                falling &= unit < previous;
                previous = unit;
            }
            if rising || falling {
                return $crowd(banks, group, units);
            }
            // Per bank, the chain of its different units, newest first; 32 ends a chain.
            let mut newest = [LANES as u8; BANKS];
            let mut older = [LANES as u8; LANES];
            let mut first_of_its_unit = 0u32;
            rest = group;
            while rest != 0 {
                let lane = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                let bank = (units[lane] & banks) as usize;
                let mut known = newest[bank] as usize;
                while known < LANES && units[known] != units[lane] {
                    known = older[known] as usize;
                }
                if known == LANES {
                    older[lane] = newest[bank];
                    newest[bank] = lane as u8;
                    first_of_its_unit |= 1 << lane;
                }
            }
            $crowd(banks, first_of_its_unit, units)
        }
    };
}

/// Groups of so many lanes that have active ones.
#[inline(always)]
const fn groups(lanes: u32, mask: u32) -> u32 {
    match lanes {
        32 => (mask != 0) as u32,
        16 => (mask & 0xffff != 0) as u32 + (mask >> 16 != 0) as u32,
        _ => groups(16, fold_bytes(mask)) + groups(16, fold_bytes(mask >> 8)),
    }
}

/// The first and the third byte, each in a half of its own.
#[inline(always)]
const fn fold_bytes(mask: u32) -> u32 {
    mask & 0x00ff_00ff
}

model!(
    u32, i32, wavefronts, ideal, pair_u32, step_u32, cost_u32, crowd_u32, queue_u32, equal_u32
);
model!(
    u64,
    i64,
    wavefronts_u64,
    ideal_u64,
    pair_u64,
    step_u64,
    cost_u64,
    crowd_u64,
    queue_u64,
    equal_u64
);
