//! One kernel for each part of cuda_std::arch; a warp each.
#![no_std]

use cuda_std::arch::{copy, tensor};
use cuda_std::layout::RowMajor;
use cuda_std::prelude::*;

/// D = A B + C, `a[16][16]`, `b[16][8]`, `c` and `d[16][8]`.
///
/// # Safety
/// As many elements, one warp.
#[kernel]
pub unsafe fn product_f16(a: *const u16, b: *const u16, c: *const f32, d: *mut f32) {
    // SAFETY: the caller's promise.
    unsafe { product(tensor::mma_f16, a, b, c, d) }
}

/// As `product_f16`.
///
/// # Safety
/// As `product_f16`.
#[kernel]
pub unsafe fn product_bf16(a: *const u16, b: *const u16, c: *const f32, d: *mut f32) {
    // SAFETY: the caller's promise.
    unsafe { product(tensor::mma_bf16, a, b, c, d) }
}

#[inline(always)]
unsafe fn product(
    mma: impl Fn(tensor::FragmentA, tensor::FragmentB, tensor::Accumulator) -> tensor::Accumulator,
    a: *const u16,
    b: *const u16,
    c: *const f32,
    d: *mut f32,
) {
    let tile_a = shared_tile!(u16, RowMajor<16, 16, 24>);
    let tile_b = shared_tile!(u16, RowMajor<16, 8>);
    let lane = thread_idx_x();
    // SAFETY: one warp; the barrier parts writes from reads.
    unsafe {
        for i in (lane..256).step_by(32) {
            tile_a.write(i / 16, i % 16, *a.add(i as usize));
        }
        for i in (lane..128).step_by(32) {
            tile_b.write(i / 8, i % 8, *b.add(i as usize));
        }
        sync_threads();
        let fragment_a = tensor::ldmatrix_x4(tile_a.at(lane % 16, lane / 16 * 8));
        let fragment_b = tensor::ldmatrix_x2_transposed(tile_b.at(lane % 16, 0));
        let place = |i| {
            let (row, col) = tensor::accumulator_place(lane, i);
            (row * 8 + col) as usize
        };
        let sum = core::array::from_fn(|i| *c.add(place(i as u32)));
        let sum = mma(fragment_a, fragment_b, sum);
        for (i, value) in (0..).zip(sum) {
            *d.add(place(i)) = value;
        }
    }
}

/// 16, 8 and 4 bytes a lane, the last half zeros; two groups.
///
/// # Safety
/// 32 * 7 elements at both.
#[kernel]
pub unsafe fn copies(x: *const u32, out: *mut u32) {
    let wide = shared_array![u32; 128];
    let middle = shared_array![u32; 64];
    let narrow = shared_array![u32; 32];
    let lane = thread_idx_x();
    // SAFETY: the caller's promise; each lane reads what it copied.
    unsafe {
        copy::start::<16, u32>(wide.at(lane * 4), x.add(lane as usize * 4));
        copy::commit();
        copy::start::<8, u32>(middle.at(lane * 2), x.add(128 + lane as usize * 2));
        copy::start_or_zero::<4, u32>(narrow.at(lane), x.add(192 + lane as usize), lane < 16);
        copy::commit();
        copy::wait::<1>();
        for i in 0..4 {
            *out.add((lane * 4 + i) as usize) = wide.read(lane * 4 + i);
        }
        copy::wait::<0>();
        for i in 0..2 {
            *out.add((128 + lane * 2 + i) as usize) = middle.read(lane * 2 + i);
        }
        *out.add((192 + lane) as usize) = narrow.read(lane);
    }
}
