//! One kernel for each part of cuda_std; blocks of 64 threads unless it says otherwise.
#![no_std]

use cuda_std::atomic::{self, Block, Device, System};
use cuda_std::layout::{CarveOut, RowMajor, Skewed};
use cuda_std::prelude::*;
use cuda_std::vector::*;
use cuda_std::{math, sync, warp};

/// Where each thread is: 12 numbers a thread.
#[kernel]
pub unsafe fn indices(out: *mut u32) {
    let numbers = [
        thread_idx_x(), thread_idx_y(), thread_idx_z(),
        block_idx_x(), block_idx_y(), block_idx_z(),
        block_dim_x(), block_dim_y(), block_dim_z(),
        grid_dim_x(), grid_dim_y(), grid_dim_z(),
    ];
    let block = (block_idx_z() * grid_dim_y() + block_idx_y()) * grid_dim_x() + block_idx_x();
    let threads = block_dim_x() * block_dim_y() * block_dim_z();
    let at = (block * threads + linear_index()) as usize * numbers.len();
    for (i, number) in numbers.into_iter().enumerate() {
        unsafe { *out.add(at + i) = number };
    }
}

/// 64-bit index and size along x.
#[kernel]
pub unsafe fn wide_indices(out: *mut u64) {
    unsafe {
        *out.add(2 * global_index_x() as usize) = global_index_x();
        *out.add(2 * global_index_x() as usize + 1) = global_size_x();
    }
}

/// Each warp's four shuffles of 32-bit values: idx by 3, up by 1, down by 2, xor with 5.
#[kernel(types = [u32, i32, f32, u64, i64, f64])]
pub unsafe fn shuffles<T: warp::Shuffle>(x: *const T, out: *mut T) {
    unsafe {
        let i = thread_idx_x() as usize;
        let value = *x.add(i);
        *out.add(4 * i) = warp::shuffle(warp::FULL_WARP, value, 3);
        *out.add(4 * i + 1) = warp::shuffle_up(warp::FULL_WARP, value, 1);
        *out.add(4 * i + 2) = warp::shuffle_down(warp::FULL_WARP, value, 2);
        *out.add(4 * i + 3) = warp::shuffle_xor(warp::FULL_WARP, value, 5);
    }
}

/// Votes and matches on `x`: all, any, ballot (of x > 2), match_any, match_all, active mask, lane, lanes before.
#[kernel]
pub unsafe fn votes(x: *const u32, out: *mut u32) {
    unsafe {
        let i = thread_idx_x() as usize;
        let value = *x.add(i);
        let numbers = [
            u32::from(warp::all(warp::FULL_WARP, value > 2)),
            u32::from(warp::any(warp::FULL_WARP, value > 2)),
            warp::ballot(warp::FULL_WARP, value > 2),
            warp::match_any(warp::FULL_WARP, value),
            u32::from(warp::match_all(warp::FULL_WARP, value)),
            warp::active_mask(),
            warp::lane_id(),
            warp::lanes_before(),
        ];
        for (j, number) in numbers.into_iter().enumerate() {
            *out.add(8 * i + j) = number;
        }
    }
}

/// Every integer atomic on its own location, in shared memory and in global memory.
#[kernel(types = [u32, i32, u64, i64])]
pub unsafe fn integer_atomics<T>(x: *const T, out: *mut T) {
    unsafe {
        let shared = shared_array![T; 8];
        let i = thread_idx_x();
        if i < 8 {
            shared.write(i, *out.add(i as usize));
        }
        sync_threads();
        let value = *x.add(i as usize);
        atomic::add::<Block, T>(shared.at(0), value);
        atomic::min::<Block, T>(shared.at(1), value);
        atomic::max::<Block, T>(shared.at(2), value);
        atomic::and::<Block, T>(shared.at(3), value);
        atomic::or::<Block, T>(shared.at(4), value);
        atomic::xor::<Block, T>(shared.at(5), value);
        atomic::exchange::<Block, T>(shared.at(6), 7);
        atomic::compare_exchange::<Block, T>(shared.at(7), 0, 9);
        atomic::add::<Device, T>(out.add(8), value);
        atomic::min::<Device, T>(out.add(9), value);
        atomic::max::<Device, T>(out.add(10), value);
        atomic::and::<Device, T>(out.add(11), value);
        atomic::or::<Device, T>(out.add(12), value);
        atomic::xor::<Device, T>(out.add(13), value);
        atomic::exchange::<System, T>(out.add(14), 7);
        atomic::compare_exchange::<System, T>(out.add(15), 0, 9);
        sync_threads();
        if i < 8 {
            *out.add(i as usize) = shared.read(i);
        }
    }
}

/// Sums in shared and in global memory; the exchanged value.
#[kernel(types = [f32, f64])]
pub unsafe fn float_atomics<T>(x: *const T, out: *mut T) {
    unsafe {
        let shared = shared_array![T; 1];
        let i = thread_idx_x();
        if i == 0 {
            shared.write(0, 0.0);
        }
        sync_threads();
        atomic::add::<Block, T>(shared.at(0), *x.add(i as usize));
        atomic::add::<Device, T>(out.add(1), *x.add(i as usize));
        atomic::exchange::<Device, T>(out.add(2), 2.5);
        sync_threads();
        if i == 0 {
            *out = shared.read(0);
        }
    }
}

/// Warp 0 produces, warp 1 consumes, over named barriers; fences of all three kinds.
#[kernel(max_threads = 64)]
pub unsafe fn named_barriers(x: *const u32, out: *mut u32) {
    unsafe {
        let buffer = shared_array!(u32, Skewed<32, 32>);
        let i = thread_idx_x();
        if i < 32 {
            buffer.write(i, *x.add(i as usize) + 1);
            sync::fence_block();
            sync::arrive_named::<1>(64);
        } else {
            sync::sync_named::<1>(64);
            *out.add(i as usize - 32) = buffer.read(63 - i);
            sync::fence_device();
            sync::fence_system();
        }
    }
}

/// A warp's sum in shared memory, with warp barriers between the steps.
#[kernel]
pub unsafe fn warp_sum(x: *const u32, out: *mut u32) {
    unsafe {
        let values = shared_array![u32; 32];
        let i = thread_idx_x();
        values.write(i, *x.add(i as usize));
        let mut step = 16;
        while step > 0 {
            sync_warp(warp::FULL_WARP);
            let other = if i < step { values.read(i + step) } else { 0 };
            sync_warp(warp::FULL_WARP);
            if i < step {
                values.write(i, values.read(i) + other);
            }
            step /= 2;
        }
        if i == 0 {
            *out = values.read(0);
        }
    }
}

/// a * b + c rounded once, and square roots.
#[kernel]
pub unsafe fn arithmetic(x: *const f32, y: *const f64, out32: *mut f32, out64: *mut f64) {
    unsafe {
        let i = thread_idx_x() as usize;
        *out32.add(2 * i) = math::fma_f32(*x.add(i), *x.add(i), -1.0);
        *out32.add(2 * i + 1) = math::sqrt_f32(*x.add(i));
        *out64.add(2 * i) = math::fma_f64(*y.add(i), *y.add(i), -1.0);
        *out64.add(2 * i + 1) = math::sqrt_f64(*y.add(i));
    }
}

/// 16 bytes from global memory through a shared tile and back, by vector instructions.
#[kernel]
pub unsafe fn vectors(x: *const f32, out: *mut f32) {
    unsafe {
        let tile = shared_tile!(f32, RowMajor<8, 32, 36>);
        let (row, col) = (thread_idx_x() / 8, thread_idx_x() % 8 * 4);
        tile.write_vector(row, col, F32x4::read(x.add(4 * thread_idx_x() as usize)));
        sync_threads();
        let turned: F32x4 = tile.read_vector(7 - row, col);
        turned.write(out.add(4 * thread_idx_x() as usize));
    }
}

/// 8 bytes the same way.
#[kernel]
pub unsafe fn small_vectors(x: *const u16, out: *mut u16) {
    unsafe { U16x4::read(x.add(4 * thread_idx_x() as usize)).write(out.add(4 * thread_idx_x() as usize)) }
}

/// Three arrays in dynamic shared memory, planned: f64, u8, f32; the number of bytes.
#[kernel]
pub unsafe fn dynamic(out: *mut f64, bytes: *mut u8, singles: *mut f32, size: *mut u32) {
    let (i, n) = (thread_idx_x(), block_dim_x());
    let mut plan = CarveOut::new();
    let (wide, narrow, single) = (plan.array::<f64>(n), plan.array::<u8>(n), plan.array::<f32>(n));
    unsafe {
        let memory = dynamic_shared();
        let (wide, narrow, single) = (memory.carved(wide), memory.carved(narrow), memory.carved(single));
        wide.write(i, f64::from(i) * 0.5);
        narrow.write(i, i as u8);
        single.write(i, i as f32 * 0.25);
        sync_threads();
        *out.add(i as usize) = wide.read(n - 1 - i);
        *bytes.add(i as usize) = narrow.read(n - 1 - i);
        *singles.add(i as usize) = single.read(n - 1 - i);
        if i == 0 {
            *size = memory.len();
        }
    }
}

/// Launch bounds reach the PTX.
#[kernel(max_threads = 256, min_blocks = 2)]
pub unsafe fn bounded(out: *mut u32) {
    unsafe { *out = 1 };
}

/// An array of arrays: the trap that a panic inside a kernel is.
#[kernel]
pub unsafe fn panics(out: *mut u32, n: u32) {
    let values = [1, 2, 3];
    unsafe { *out = values[n as usize] };
}
