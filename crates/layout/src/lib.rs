//! How data is laid out in a GPU's memory, and what a warp pays for it. `no_std`, no dependencies, `const`.
//!
//! A warp of 32 lanes reads a column of a 32 x 32 tile of `f32`. What does that cost in shared memory?
//!
//! | layout | type | words asked of one bank | wavefronts |
//! |---|---|---|---|
//! | rows one after the other | [`RowMajor<32, 32>`](RowMajor) | 32 | 32 |
//! | one unused column at the end of each row | [`RowMajor<32, 32, 33>`](RowMajor) | 1 | 1 |
//! | columns permuted within their row | [`XorColumns<32, 32>`](XorColumns) | 1 | 1 |
//!
//! ```
//! use tile33_layout::{RowMajor, Typed, WarpAccess, XorColumns, Layout};
//!
//! fn column<L: Layout>(tile: Typed<f32, L>) -> u32 {
//!     WarpAccess::shared_load(4, |lane| Some(tile.byte_offset(lane, 5).into())).unwrap().wavefronts()
//! }
//! assert_eq!(column(Typed::<f32, RowMajor<32, 32>>::new()), 32);
//! assert_eq!(column(Typed::<f32, RowMajor<32, 32, 33>>::new()), 1);
//! assert_eq!(column(Typed::<f32, XorColumns<32, 32>>::new()), 1);
//! ```
//!
//! The crate is the single source of both halves of that table: kernels index with its layouts and hosts size buffers
//! with them, the emulator and the command-line tools count with its bank model.
//!
//! # Layouts
//!
//! A [`Layout`] maps a row and a column to an offset in elements and back. Those whose shape is a type
//! ([`StaticLayout`]) are zero-sized, and a shape that cannot work does not compile:
//! [`RowMajor`], [`XorColumns`], [`Swizzled`] (CuTe's `Swizzle<B, M, S>` on any layout), [`Strided`] and [`Skewed`] (one
//! dimension), [`Blocked`] (a tile of tiles). [`Pitched`] has its pitch chosen at run time, for tiles in dynamic shared
//! memory and matrices in global memory. [`Typed`] adds the element type and speaks in bytes; [`Shape`] is any of them
//! as a value, for tools and for `const` evaluation.
//!
//! # The model
//!
//! [`WarpAccess`] is one memory instruction of one warp. It answers [`wavefronts`](WarpAccess::wavefronts),
//! [`ideal`](WarpAccess::ideal), [`excess`](WarpAccess::excess), [`sectors`](WarpAccess::sectors) and, through
//! [`breakdown`](WarpAccess::breakdown), why. [`banks`] states the rules; they give exactly what an H200's counters
//! give for every one of the single-warp accesses in `tests/ground-truth`. [`banks::wavefronts`] and
//! [`sectors::sectors`] are the same answers without building an access, for inner loops.
//!
//! # Occupancy
//!
//! [`occupancy::occupancy`] says how many blocks of a kernel a [`Card`](occupancy::Card)'s multiprocessor holds, which
//! is what bytes of shared memory are paid with.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

mod access;
pub mod banks;
mod blocked;
mod breakdown;
mod carve_out;
mod layout;
pub mod occupancy;
mod one_dimensional;
mod pitched;
mod row_major;
pub mod sectors;
mod shape;
mod swizzle;
mod typed;
mod xor_columns;

pub use access::{AccessError, Op, Space, WarpAccess};
pub use blocked::Blocked;
pub use breakdown::{BankUse, Breakdown, Group, WordUse};
pub use carve_out::{CarveOut, Carved};
pub use layout::{Layout, StaticLayout};
pub use one_dimensional::{Skewed, Strided};
pub use pitched::Pitched;
pub use row_major::RowMajor;
pub use shape::{Shape, ShapeError};
pub use swizzle::{Swizzle, Swizzled, XorBits};
pub use typed::Typed;
pub use xor_columns::XorColumns;

/// Lanes of a warp.
///
/// ```
/// assert_eq!(tile33_layout::LANES, u32::BITS as usize); // a mask of lanes is a u32
/// ```
pub const LANES: usize = 32;

/// Bytes of the widest access of a lane, a vector: it starts at a multiple of them.
///
/// ```
/// use tile33_layout::{Op, Space, VECTOR_BYTES, WarpAccess};
/// let of_width = |bytes: usize| WarpAccess::from_fn(Space::Shared, Op::Load, bytes as u32, |lane| Some((lane as usize * bytes) as u64));
/// assert!(of_width(VECTOR_BYTES).is_ok() && of_width(2 * VECTOR_BYTES).is_err());
/// ```
pub const VECTOR_BYTES: usize = 16;
