//! The mistakes that people make with shared memory, each beside its cure.
//!
//! | kernel | mistake | what the emulator finds | cure |
//! |---|---|---|---|
//! | [`edge_tile`] | only the store is guarded at a partial tile | out of bounds | [`edge_tile_repaired`] |
//! | [`reverse`] | launched with a number of elements where bytes are asked for | out of bounds | the same kernel, all its bytes |
//! | [`carve`] | slices of different types one after another, an odd length between | misaligned | [`carve_repaired`] |
//! | [`tile_loop`] | one barrier where a loop over tiles needs two | race | [`tile_loop_repaired`] |
//! | [`early_return`] | threads return before a barrier | divergent barrier | [`early_return_repaired`] |
//! | [`warp_sum`] | lanes are taken to step together | race | [`warp_sum_repaired`] |
//! | [`tail`] | the end of a partial block is never written | uninitialised read | [`tail_repaired`] |
//! | [`stencil_origin`] | tiles advance by tile and halo | nothing: the result is wrong | [`stencil`] |
//! | [`stencil_halo`] | the right column of the halo is not loaded | uninitialised read | [`stencil`] |
//! | [`pairs`] | rows of odd length read two elements at a time | misaligned | [`pairs_repaired`] |
//!
//! Behind the feature `broken`, and not in the PTX that libraries embed.

mod arithmetic;
mod bounds;
mod ordering;
mod stencil;

pub use arithmetic::*;
pub use bounds::*;
pub use ordering::*;
pub use stencil::*;
