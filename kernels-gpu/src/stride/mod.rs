//! The laboratory of one dimension: one warp, one access at stride s and offset o, for elements of 1 to 16 bytes.
//!
//! Lane l names element `o + s * l` of an array in shared or global memory:
//!
//! | kernel | the access |
//! |---|---|
//! | [`load`] | one load from shared memory |
//! | [`store`] | one store to shared memory |
//! | [`atomic_add`] | one atomic addition to shared memory |
//! | [`global_load`] | one load from global memory |
//! | [`global_store`] | one store to global memory |
//!
//! What is well known is a choice of s and o. For elements of 4 bytes:
//!
//! | name | s | o | shared load, store | atomic | global sectors |
//! |---|---|---|---|---|---|
//! | neighbours | 1 | 0 | 1 wavefront | 1 | 4 |
//! | neighbours, shifted | 1 | 1 | 1 | 1 | 5 |
//! | two-way conflict | 2 | 0 | 2 | 2 | 8 |
//! | odd stride | 33 | 0 | 1 | 1 | 32 |
//! | same bank | 32 | 0 | 32 | 32 | 32 |
//! | broadcast; same word | 0 | 0 | 1 (load) | 32 | 1 (load) |
//!
//! Lanes that store to one element race, so the stores need a stride of at least 1.
//!
//! 8 and 16 bytes a lane take 2 and 4 wavefronts at best; each half or quarter of the warp is a group of its own. That is
//! no conflict: a wavefront moves 128 bytes.
//!
//! A launch has one block of one warp. Besides the access itself, each kernel accesses shared memory by another
//! instruction only (a load's array is filled by stores, and so on), so that the counters of the launch tell them apart.

mod kernels;

pub use kernels::*;

/// Threads of the block: one warp.
pub const THREADS: usize = cuda_std::layout::LANES;

/// Elements of the array that lanes at this stride and offset reach.
#[must_use]
pub const fn reach(stride: u32, offset: u32) -> u64 {
    (THREADS as u64 - 1) * stride as u64 + offset as u64 + 1
}
