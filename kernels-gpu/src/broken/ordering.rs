//! Barriers that are missing, or that not everybody reaches.

use cuda_std::layout::Strided;
use cuda_std::prelude::*;
use cuda_std::warp::FULL_WARP;

/// Threads of a block, two warps.
const THREADS: u32 = 64;

/// Adds the rows of a matrix 64 wide, each column's element from the other half of the row. **Broken**: the next row is
/// loaded while others still read this one.
///
/// # Safety
/// `x` holds `64 * rows` elements, `y` 64; they do not overlap; one block of 64 threads.
#[kernel(prefix = "broken", max_threads = 64)]
pub unsafe fn tile_loop(x: *const f32, y: *mut f32, rows: u32) {
    let tile = shared_array!(f32, Strided<64>);
    let t = thread_idx_x();
    let mut sum = 0.0;
    // SAFETY: the caller's promise; that nothing parts the reads from the next writes is the mistake.
    unsafe {
        for row in 0..rows {
            tile.write(t, *x.add((row * THREADS + t) as usize));
            sync_threads();
            sum += tile.read(t ^ 32);
        }
        *y.add(t as usize) = sum;
    }
}

/// As [`tile_loop`], with a second barrier behind the use.
///
/// # Safety
/// As [`tile_loop`].
#[kernel(prefix = "broken", max_threads = 64)]
pub unsafe fn tile_loop_repaired(x: *const f32, y: *mut f32, rows: u32) {
    let tile = shared_array!(f32, Strided<64>);
    let t = thread_idx_x();
    let mut sum = 0.0;
    // SAFETY: the caller's promise; barriers part writes from reads and reads from writes.
    unsafe {
        for row in 0..rows {
            tile.write(t, *x.add((row * THREADS + t) as usize));
            sync_threads();
            sum += tile.read(t ^ 32);
            sync_threads();
        }
        *y.add(t as usize) = sum;
    }
}

/// Reverses `len` elements. **Broken**: threads without an element are gone before the barrier.
///
/// # Safety
/// `x` and `y` hold `len` elements and do not overlap; one block of 64 threads, `len` at most 64.
#[kernel(prefix = "broken", max_threads = 64)]
pub unsafe fn early_return(x: *const f32, y: *mut f32, len: u32) {
    let tile = shared_array!(f32, Strided<64>);
    let t = thread_idx_x();
    if t >= len {
        return;
    }
    // SAFETY: the caller's promise.
    unsafe {
        tile.write(t, *x.add(t as usize));
        sync_threads();
        *y.add(t as usize) = tile.read(len - 1 - t);
    }
}

/// As [`early_return`]; everybody comes to the barrier, whether there is an element or not.
///
/// # Safety
/// As [`early_return`].
#[kernel(prefix = "broken", max_threads = 64)]
pub unsafe fn early_return_repaired(x: *const f32, y: *mut f32, len: u32) {
    let tile = shared_array!(f32, Strided<64>);
    let t = thread_idx_x();
    // SAFETY: the caller's promise.
    unsafe {
        if t < len {
            tile.write(t, *x.add(t as usize));
        }
        sync_threads();
        if t < len {
            *y.add(t as usize) = tile.read(len - 1 - t);
        }
    }
}

/// Adds 32 elements. **Broken**: takes it that the lanes of a warp do everything together, which no GPU since Volta
/// promises.
///
/// # Safety
/// `x` holds 32 elements, `y` one; one block of 32 threads.
#[kernel(prefix = "broken", max_threads = 32)]
pub unsafe fn warp_sum(x: *const f32, y: *mut f32) {
    let cells = shared_array!(f32, Strided<32>);
    let lane = thread_idx_x();
    // SAFETY: the caller's promise; that nothing parts the steps is the mistake.
    unsafe {
        cells.write(lane, *x.add(lane as usize));
        let mut half = 16;
        while half > 0 {
            if lane < half {
                cells.write(lane, cells.read(lane) + cells.read(lane + half));
            }
            half /= 2;
        }
        if lane == 0 {
            *y = cells.read(0);
        }
    }
}

/// As [`warp_sum`], with a [`sync_warp`] behind each step.
///
/// # Safety
/// As [`warp_sum`].
#[kernel(prefix = "broken", max_threads = 32)]
pub unsafe fn warp_sum_repaired(x: *const f32, y: *mut f32) {
    let cells = shared_array!(f32, Strided<32>);
    let lane = thread_idx_x();
    // SAFETY: the caller's promise; each step is parted from the next.
    unsafe {
        cells.write(lane, *x.add(lane as usize));
        sync_warp(FULL_WARP);
        let mut half = 16;
        while half > 0 {
            if lane < half {
                cells.write(lane, cells.read(lane) + cells.read(lane + half));
            }
            sync_warp(FULL_WARP);
            half /= 2;
        }
        if lane == 0 {
            *y = cells.read(0);
        }
    }
}
