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
pub const BANKS: usize = 32;

/// Bytes that a bank delivers per wavefront.
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

macro_rules! model {
    ($address:ty, $wavefronts:ident, $ideal:ident, $pair:ident, $cost:ident) => {
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
            if width > 4 && matches!(op, Op::Load) && $pair(mask, addresses).is_some() {
                lanes *= 2;
            }
            // Aligned accesses of 8 bytes fall on pairs of banks, those of 16 on quadruples: count in such units.
            let shift = if width <= 4 { 2 } else { width.trailing_zeros() };
            let mut total = 0;
            let mut first = 0;
            while first < LANES as u32 {
                let group = group_mask(lanes, first) & mask;
                if group != 0 {
                    total += $cost(op.is_atomic(), shift, group, addresses);
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
            if width <= 4 {
                return (mask != 0) as u32 * passes(op);
            }
            let mut lanes = unmerged(width);
            if matches!(op, Op::Load) && $pair(mask, addresses).is_some() {
                lanes *= 2;
            }
            let mut groups = 0;
            let mut first = 0;
            while first < LANES as u32 {
                groups += (group_mask(lanes, first) & mask != 0) as u32;
                first += lanes;
            }
            groups * passes(op)
        }

        /// The x, 1 or 2, for which every active lane l has lane `l ^ x` inactive or at the same address.
        #[inline]
        const fn $pair(mask: u32, addresses: &[$address; LANES]) -> Option<u32> {
            let (mut by_one, mut by_two) = (true, true);
            let mut lane = 0;
            while lane < LANES && (by_one || by_two) {
                if mask >> lane & 1 == 1 {
                    if mask >> (lane ^ 1) & 1 == 1 && addresses[lane] != addresses[lane ^ 1] {
                        by_one = false;
                    }
                    if mask >> (lane ^ 2) & 1 == 1 && addresses[lane] != addresses[lane ^ 2] {
                        by_two = false;
                    }
                }
                lane += 1;
            }
            if by_one {
                Some(1)
            } else if by_two {
                Some(2)
            } else {
                None
            }
        }

        /// The cost of one group: over the banks (of `1 << shift` bytes, 128 bytes in all), the most lanes (`by_lane`)
        /// or different words.
        #[inline]
        const fn $cost(by_lane: bool, shift: u32, group: u32, addresses: &[$address; LANES]) -> u32 {
            let banks = (128 >> shift) as $address - 1;
            let mut lanes_of = [0u8; BANKS];
            let mut most = 0;
            // Strictly rising or falling words are all different, and then lanes and words are the same number.
            let (mut rising, mut falling, mut level) = (true, true, true);
            let mut rest = group;
            let mut previous = addresses[group.trailing_zeros() as usize] >> shift;
            let mut start = true;
            while rest != 0 {
                let word = addresses[rest.trailing_zeros() as usize] >> shift;
                rest &= rest - 1;
                rising &= start || word > previous;
                falling &= start || word < previous;
                level &= word == previous;
                previous = word;
                start = false;
                let bank = (word & banks) as usize;
                lanes_of[bank] += 1;
                if lanes_of[bank] > most {
                    most = lanes_of[bank];
                }
            }
            if by_lane || most == 1 || rising || falling {
                return most as u32;
            }
            if level {
                return 1;
            }
            // Per bank, the chain of its different words, newest first; 32 ends a chain.
            let mut newest = [LANES as u8; BANKS];
            let mut older = [LANES as u8; LANES];
            let mut words_of = [0u8; BANKS];
            most = 0;
            rest = group;
            while rest != 0 {
                let lane = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                let word = addresses[lane] >> shift;
                let bank = (word & banks) as usize;
                let mut seen = newest[bank] as usize;
                while seen < LANES && addresses[seen] >> shift != word {
                    seen = older[seen] as usize;
                }
                if seen == LANES {
                    older[lane] = newest[bank];
                    newest[bank] = lane as u8;
                    words_of[bank] += 1;
                    if words_of[bank] > most {
                        most = words_of[bank];
                    }
                }
            }
            most as u32
        }
    };
}

model!(u32, wavefronts, ideal, pair_u32, cost_u32);
model!(u64, wavefronts_u64, ideal_u64, pair_u64, cost_u64);
