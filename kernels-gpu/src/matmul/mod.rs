//! Matrix products, C = alpha·A·B + beta·C, row-major: the problem in which shared memory saves arithmetic from waiting.
//!
//! An element of C needs a row of A and a column of B. Whoever fetches them for one element fetches 2 numbers for each
//! multiplication; who keeps a tile of both in shared memory, and in registers a smaller one, uses each number often:
//!
//! | kernel | a block makes | a thread makes | numbers from global memory per multiplication | from shared memory |
//! |---|---|---|---|---|
//! | [`naive`] | 8 x 32 of C | 1 | 2 | none |
//! | [`tiled`] | 32 x 32 | 1 | 1/16 | 2 |
//! | [`tiled_padded`] | 32 x 32 | 1 | 1/16 | 2 |
//! | [`register_tiled_f32`] | 128 x 128 | 8 x 8 | 1/64 | 1/4 |
//! | [`double_buffered_f32`] | 128 x 128 | 8 x 8 | 1/64 | 1/4 |
//! | [`tensor_f16`] | 128 x 128 | a warp 64 x 64, with the tensor cores | 1/64 | 1/32 |
//!
//! `tiled_padded` differs from `tiled` where an operand is transposed: its tile is read from global memory along its rows
//! there, and so written to shared memory by columns, which in `[32][32]` are one bank each. `double_buffered` fetches the
//! next tiles while it multiplies the present ones, with one barrier where `register_tiled` has two.
//!
//! `tensor` takes `f16` or `bf16` and sums in `f32`; it needs `sm_80`. The others are for `f32` and `f64`.
//!
//! # Parameters
//!
//! Those of BLAS, row-major: A is m x k, B is k x n, C is m x n; the rows of a matrix in memory are its leading dimension
//! apart. `transposed` is the sum of [`TRANSPOSED_A`], if A lies in memory as k rows of m, and [`TRANSPOSED_B`], if B does
//! as n rows of k. Every size from 0 works, each less than 2^31; padding beyond a leading dimension is neither read nor
//! written. C is not read where beta is 0, as in BLAS.
//!
//! # Launch
//!
//! Blocks of [`SIMPLE_BLOCK`], [`TILE_BLOCK`], [`THREADS`] or [`TENSOR_THREADS`] threads, as many as [`blocks`] says, in one row: a grid is
//! higher along x than along y.

/// Repeats a block with each of the numbers as a constant. Written out, so that arrays indexed by it stay in registers: the
/// closure that `unrolled` takes may stay a function where it is as large as a product of fragments.
macro_rules! written_out {
    ($i:ident in [$($number:literal)*] => $body:block) => { written_out!(@ $i $body $($number)*) };
    (@ $i:ident $body:block $($number:literal)*) => {$(
        {
            #[allow(non_upper_case_globals)]
            const $i: usize = $number;
            $body
        }
    )*};
}

mod operand;
mod register_tiled;
mod shape;
mod staging;
mod tensor;
mod tiled;

pub use operand::{Float, TRANSPOSED_A, TRANSPOSED_B};
pub use register_tiled::*;
pub use shape::*;
pub use tensor::*;
pub use tiled::*;

pub use crate::tile::TILE;
