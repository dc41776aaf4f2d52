//! How the execution core describes one memory instruction of a warp.

use super::site::SiteId;
use crate::registers::LANES;

/// One execution of a memory instruction by a warp.
#[derive(Clone, Copy, Debug)]
pub struct Touch<'a> {
    /// Which instruction.
    pub site: SiteId,
    /// Warp of the block.
    pub warp: u32,
    /// Lanes that access memory; out-of-bounds and misaligned ones are not among them.
    pub active: u32,
    /// Address of each active lane: an offset in the block's shared window, a device address, or an offset in the
    /// thread's local memory. The others may hold anything.
    pub addresses: &'a [u64; LANES],
    /// Bytes that each lane accesses: 1, 2, 4, 8, 16 or 32, all elements of a vector together.
    pub bytes: u32,
}

/// What a store writes. Two ordinary stores of the same bytes to one place are no finding (see the module's docs), so
/// the values count.
pub trait Stored {
    /// Bytes `offset..offset + count` of what a lane stores, little-endian in the low bits; `count` is 1, 2 or 4.
    fn bytes(&self, lane: usize, offset: u32, count: u32) -> u32;

    /// Whether the lane wrote: a compare-and-swap that failed did not.
    fn wrote(&self, _lane: usize) -> bool {
        true
    }
}

/// For loads, and for atomics that always write.
impl Stored for () {
    fn bytes(&self, _: usize, _: u32, _: u32) -> u32 {
        0
    }
}

/// A 32-bit (or narrower) store.
impl Stored for [u32; LANES] {
    #[inline]
    fn bytes(&self, lane: usize, offset: u32, _: u32) -> u32 {
        self[lane] >> (8 * offset)
    }
}

/// A 64-bit store.
impl Stored for [u64; LANES] {
    #[inline]
    fn bytes(&self, lane: usize, offset: u32, _: u32) -> u32 {
        (self[lane] >> (8 * offset)) as u32
    }
}

/// A 128-bit store.
impl Stored for [u128; LANES] {
    #[inline]
    fn bytes(&self, lane: usize, offset: u32, _: u32) -> u32 {
        (self[lane] >> (8 * offset)) as u32
    }
}

/// Lanes of a mask.
pub(crate) fn lanes(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (mask != 0).then(|| {
            let lane = mask.trailing_zeros() as usize;
            mask &= mask - 1;
            lane
        })
    })
}
