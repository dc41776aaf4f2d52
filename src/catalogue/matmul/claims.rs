//! What the kernels' accesses cost.

use kernels_gpu::matmul::{AcrossK, AlongK, DEPTH, MICRO, Panel, SIDE, TENSOR_DEPTH, TENSOR_THREADS, THREADS};
use kernels_gpu::tile::{Padded, Plain, TILE};
use tile33_layout::{LANES, Op, Shape, StaticLayout, VECTOR_BYTES};

use super::{Sizes, Variant};
use crate::catalogue::{Access, Kind, cost};

/// The product that the claims are counted on: whole tiles of every kernel.
pub(super) const CLAIMED: Sizes = Sizes { m: 128, n: 128, k: 32 };

/// Every access of a kernel that multiplies matrices of [`CLAIMED`] sizes, elements of `bytes` bytes, A and B both
/// transposed or neither.
pub(super) fn accesses(variant: Variant, bytes: u64, transposed: bool) -> Vec<Access> {
    match variant {
        Variant::Naive => naive(bytes, transposed),
        Variant::Tiled => tiled(<Plain as StaticLayout>::SHAPE, bytes, transposed),
        Variant::TiledPadded => tiled(<Padded as StaticLayout>::SHAPE, bytes, transposed),
        Variant::RegisterTiled | Variant::DoubleBuffered => register_tiled(bytes, transposed),
        Variant::Tensor => tensor(transposed),
    }
}

/// Wavefronts of a warp's access to vectors of `width` elements of `bytes` bytes, lane l's from element `place(l)` on.
fn wavefronts(op: Op, bytes: u64, width: u64, place: impl Fn(u32) -> u32) -> u64 {
    // The bank model takes what a lane moves for an element, and the layouts number elements.
    let place = |lane| Some(place(lane) / width as u32);
    cost::wavefronts(op, (bytes * width) as usize, place).unwrap_or(0)
}

fn warps(threads: usize) -> u64 {
    (threads / LANES) as u64
}

fn naive(bytes: u64, transposed: bool) -> Vec<Access> {
    let Sizes { m, n, k } = CLAIMED;
    let all = warps(m * n);
    let each = all * k as u64;
    vec![
        Access::new(Kind::GlobalLoad, "the same element of A", each, 1),
        if transposed {
            Access::new(Kind::GlobalLoad, "a column of B in memory", each, 32)
        } else {
            Access::new(Kind::GlobalLoad, "a row of B", each, bytes)
        },
        Access::new(Kind::GlobalStore, "a row of C", all, bytes),
    ]
}

fn tiled(tile: Shape<'_>, bytes: u64, transposed: bool) -> Vec<Access> {
    let Sizes { m, n, k } = CLAIMED;
    let all = warps(m * n);
    let tiles = all * (k as u64).div_ceil(TILE.into());
    let stored = if transposed {
        let cost = wavefronts(Op::Store, bytes, 1, |lane| tile.offset(lane, 0));
        Access::new(Kind::SharedStore, "a column of a tile", 2 * tiles, cost)
    } else {
        let cost = wavefronts(Op::Store, bytes, 1, |lane| tile.offset(0, lane));
        Access::new(Kind::SharedStore, "a row of a tile", 2 * tiles, cost)
    };
    let row = wavefronts(Op::Load, bytes, 1, |lane| tile.offset(0, lane));
    vec![
        Access::new(Kind::GlobalLoad, "a row of A or B in memory", 2 * tiles, bytes),
        stored,
        Access::new(Kind::SharedLoad, "the same element of A's tile", all * k as u64, 1),
        Access::new(Kind::SharedLoad, "a row of B's tile", all * k as u64, row),
        Access::new(Kind::GlobalStore, "a row of C", all, bytes),
    ]
}

fn register_tiled(bytes: u64, transposed: bool) -> Vec<Access> {
    let Sizes { m, n, k } = CLAIMED;
    let lanes = VECTOR_BYTES as u64 / bytes;
    let blocks = (m / SIDE as usize * (n / SIDE as usize)) as u64;
    let all = blocks * warps(THREADS as usize);
    let vectors = all * k as u64 / u64::from(DEPTH) * (u64::from(DEPTH * SIDE) / lanes / u64::from(THREADS));
    let tile = Panel::SHAPE;
    let turned = wavefronts(Op::Store, bytes, 1, |lane| {
        tile.offset(lane % 2 * lanes as u32, lane / 2)
    });
    let whole = wavefronts(Op::Store, bytes, lanes, |lane| tile.offset(0, lane * lanes as u32));
    let of_a = wavefronts(Op::Load, bytes, lanes, |lane| {
        tile.offset(0, (lane / 16 * 2 + lane % 2) * lanes as u32)
    });
    let of_b = wavefronts(Op::Load, bytes, lanes, |lane| {
        tile.offset(0, lane / 2 % 8 * lanes as u32)
    });
    let pieces = all * k as u64 * MICRO as u64 / lanes;
    let (turned_operand, whole_operand) = if transposed { ('B', 'A') } else { ('A', 'B') };
    vec![
        Access::new(
            Kind::GlobalLoad,
            "32 bytes of 16 rows of an operand along k",
            vectors,
            16,
        ),
        Access::new(Kind::GlobalLoad, "512 bytes of a row of the other", vectors, 16),
        Access::new(
            Kind::SharedStore,
            format!("16 neighbours of 2 rows of {turned_operand}'s tile"),
            vectors * lanes,
            turned,
        ),
        Access::new(
            Kind::SharedStore,
            format!("512 bytes of a row of {whole_operand}'s tile"),
            vectors,
            whole,
        ),
        Access::new(Kind::SharedLoad, "4 vectors of A's tile", pieces, of_a),
        Access::new(Kind::SharedLoad, "8 vectors of B's tile", pieces, of_b),
        Access::new(
            Kind::GlobalStore,
            "128 bytes of 4 rows of C",
            all * (MICRO * MICRO) as u64 / lanes,
            16,
        ),
    ]
}

fn tensor(transposed: bool) -> Vec<Access> {
    let Sizes { m, n, k } = CLAIMED;
    let blocks = (m / SIDE as usize * (n / SIDE as usize)) as u64;
    let all = blocks * warps(TENSOR_THREADS as usize);
    let tiles = (k as u64).div_ceil(TENSOR_DEPTH.into());
    // Pieces of 16 bytes, 8 elements, that a thread copies of a tile.
    let pieces = all * tiles * u64::from(SIDE * TENSOR_DEPTH / 8 / TENSOR_THREADS);
    let (along, across) = (AlongK::SHAPE, AcrossK::SHAPE);
    let stored_along = wavefronts(Op::Store, 2, 8, |lane| along.offset(lane / 4, lane % 4 * 8));
    let stored_across = wavefronts(Op::Store, 2, 8, |lane| across.offset(lane / 16, lane % 16 * 8));
    // `ldmatrix` takes 8 rows of 16 bytes at a time, four times; here those of one, by lanes of which each four are alike.
    let matrix_along = wavefronts(Op::Load, 2, 8, |lane| along.offset(lane % 8, 0));
    let matrix_across = wavefronts(Op::Load, 2, 8, |lane| across.offset(lane % 8, 0));
    let (of_a, of_b, [turned, whole]) = if transposed {
        (matrix_across, matrix_along, ['B', 'A'])
    } else {
        (matrix_along, matrix_across, ['A', 'B'])
    };
    // For each of two steps of 16 along k, four loads of A and four of B.
    let loads = all * tiles * 2 * 4;
    vec![
        Access::new(Kind::GlobalLoad, format!("64 bytes of 8 rows of {turned}"), pieces, 16),
        Access::new(Kind::GlobalLoad, format!("256 bytes of 2 rows of {whole}"), pieces, 16),
        Access::new(
            Kind::SharedStore,
            format!("the same to {turned}'s tile"),
            pieces,
            stored_along,
        ),
        Access::new(
            Kind::SharedStore,
            format!("the same to {whole}'s tile"),
            pieces,
            stored_across,
        ),
        Access::new(Kind::SharedLoad, "four 8 x 8 matrices of A's tile", loads, of_a),
        Access::new(Kind::SharedLoad, "four 8 x 8 matrices of B's tile", loads, of_b),
        Access::new(
            Kind::GlobalStore,
            "32 bytes of 8 rows of C",
            (m * n / 2 / LANES) as u64,
            8,
        ),
    ]
}
