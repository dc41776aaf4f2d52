//! The kernels.

use cuda_std::atomic::{self, Block, Device};
use cuda_std::layout::StaticLayout;
use cuda_std::prelude::*;
use cuda_std::vector::{Element, Vector16};
use cuda_std::warp::LANES;

use super::{BYTE_VALUES, BlockCounters, PaddedWarpCounters, THREADS, WarpCounters};

/// Adds every element to the counters in global memory.
///
/// A warp loads 512 bytes that lie together: 16 sectors a request, all used. Each of the 16 additions to the counters
/// touches as many sectors as the lanes' values are spread over, at most 32, and waits for every other warp that adds to
/// the same.
///
/// # Safety
/// `input` holds `len` elements and is aligned to 16 bytes; `counts` holds 256 counters, which start at zero; they do not
/// overlap; blocks of 256 threads.
#[kernel(prefix = "histogram", max_threads = 256, types = [u8])]
pub unsafe fn global<T: Value>(input: *const T, len: u64, counts: *mut u32) {
    // SAFETY: the caller's promise.
    unsafe {
        for_each(input, len, |value| {
            atomic::add::<Device, u32>(counts.add(value as usize), 1);
        });
    }
}

/// Adds to counters of the block, in shared memory, and these to the counters in global memory at the end.
///
/// Each of the 16 additions a warp makes for one load costs as many wavefronts as the most lanes whose values name one
/// bank, (value mod 32): 1 for 32 neighbouring values, 32 for equal ones. Clearing and reading the counters: 1 each.
///
/// # Safety
/// As [`global`].
#[kernel(prefix = "histogram", max_threads = 256, types = [u8])]
pub unsafe fn per_block<T: Value>(input: *const T, len: u64, counts: *mut u32) {
    let counters = shared_array!(u32, BlockCounters);
    let t = thread_idx_x();
    // SAFETY: the caller's promise; barriers part clearing, adding and reading.
    unsafe {
        counters.write(t, 0);
        sync_threads();
        for_each(input, len, |value| {
            atomic::add::<Block, u32>(counters.at(value), 1);
        });
        sync_threads();
        add_up(counts, t, counters.read(t));
    }
}

/// Adds to counters of the warp: no warp waits for another. A value's counters lie side by side, and the bank is
/// (8 value + warp) mod 32.
///
/// Neighbouring values use 4 banks: 8 wavefronts for an addition that costs [`per_block`] 1. Equal ones: 32. Clearing: 1.
/// Each of the 8 loads of a value's counters at the end: 8, for 32 words in 4 banks.
///
/// # Safety
/// As [`global`].
#[kernel(prefix = "histogram", max_threads = 256, types = [u8])]
pub unsafe fn per_warp<T: Value>(input: *const T, len: u64, counts: *mut u32) {
    let counters = shared_tile!(u32, WarpCounters);
    // SAFETY: the caller's promise; the counters are this kernel's own.
    unsafe { warps(counters, input, len, counts) }
}

/// As [`per_warp`], with one counter left free after the 8 of a value: the bank is (9 value + warp) mod 32.
///
/// Neighbouring values use all banks: 1 wavefront for an addition of 32 of them, 32 for equal ones. Clearing and each load
/// at the end: 1.
///
/// # Safety
/// As [`global`].
#[kernel(prefix = "histogram", max_threads = 256, types = [u8])]
pub unsafe fn per_warp_padded<T: Value>(input: *const T, len: u64, counts: *mut u32) {
    let counters = shared_tile!(u32, PaddedWarpCounters);
    // SAFETY: the caller's promise; the counters are this kernel's own.
    unsafe { warps(counters, input, len, counts) }
}

/// The histogram of [`per_warp`] and [`per_warp_padded`]: only where the counters lie differs.
///
/// # Safety
/// As these; nothing else uses the counters.
#[inline(always)]
unsafe fn warps<T: Value, L: StaticLayout>(counters: SharedTile<u32, L>, input: *const T, len: u64, counts: *mut u32) {
    let t = thread_idx_x();
    let warp = t / LANES;
    // SAFETY: the caller's promise; barriers part clearing, adding and reading.
    unsafe {
        for word in (t..L::STORAGE as u32).step_by(THREADS) {
            counters.at(0, 0).add(word as usize).write(0); // lane = word % 32: neighbouring words
        }
        sync_threads();
        for_each(input, len, |value| {
            atomic::add::<Block, u32>(counters.at(value, warp), 1);
        });
        sync_threads();
        let mut count = 0;
        for warp in 0..L::COLS as u32 {
            count += counters.read(t, warp); // lane = t % 32: a column
        }
        add_up(counts, t, count);
    }
}

/// The histogram of numbers from 0 to `values` - 1, others not counted, in dynamic shared memory of the block.
///
/// Costs as [`per_block`]; the bank is (number mod 32).
///
/// # Safety
/// As [`global`], with `values` counters; the launch provides dynamic shared memory for as many words of 4 bytes.
#[kernel(prefix = "histogram", max_threads = 256, types = [u8, u16, u32])]
pub unsafe fn dynamic<T: Value>(input: *const T, len: u64, counts: *mut u32, values: u32) {
    let t = thread_idx_x();
    // SAFETY: the caller's promise; barriers part clearing, adding and reading.
    unsafe {
        let counters = dynamic_shared().array::<u32>(0, values);
        for value in (t..values).step_by(THREADS) {
            counters.write(value, 0);
        }
        sync_threads();
        for_each(input, len, |value| {
            if value < values {
                atomic::add::<Block, u32>(counters.at(value), 1);
            }
        });
        sync_threads();
        for value in (t..values).step_by(THREADS) {
            add_up(counts, value, counters.read(value));
        }
    }
}

/// As [`global`], for numbers from 0 to `values` - 1, others not counted.
///
/// # Safety
/// As [`global`], with `values` counters.
#[kernel(prefix = "histogram", max_threads = 256, types = [u8, u16, u32])]
pub unsafe fn global_numbers<T: Value>(input: *const T, len: u64, counts: *mut u32, values: u32) {
    // SAFETY: the caller's promise.
    unsafe {
        for_each(input, len, |value| {
            if value < values {
                atomic::add::<Device, u32>(counts.add(value as usize), 1);
            }
        });
    }
}

/// A number that is counted.
pub trait Value: Element + Into<u32> {}
impl Value for u8 {}
impl Value for u16 {}
impl Value for u32 {}

/// Calls `body` with every value that falls to this thread when the whole grid goes through the input.
///
/// # Safety
/// `input` holds `len` elements and is aligned to 16 bytes.
#[inline(always)]
unsafe fn for_each<T: Value>(input: *const T, len: u64, body: impl Fn(u32)) {
    let vectors: *const Vector16<T> = input.cast();
    let whole = len / T::LANES as u64;
    let (start, step) = (global_index_x(), global_size_x());
    let mut i = start;
    // SAFETY: vectors before `whole` and elements before `len` are the caller's promise.
    unsafe {
        while i < whole {
            let vector = *vectors.add(i as usize); // 32 lanes: 512 bytes side by side
            vector.for_each(|_, value| body(value.into()));
            i += step;
        }
        let rest = whole * T::LANES as u64 + start;
        if rest < len {
            body((*input.add(rest as usize)).into());
        }
    }
}

/// Adds a block's count of `value` to the counters in global memory; most are zero for short or even-coloured inputs.
///
/// # Safety
/// There are more than `value` counters at `counts`.
#[inline(always)]
unsafe fn add_up(counts: *mut u32, value: u32, count: u32) {
    if count > 0 {
        // SAFETY: the caller's promise.
        unsafe { atomic::add::<Device, u32>(counts.add(value as usize), count) };
    }
}

const _: () = assert!(
    THREADS == BYTE_VALUES,
    "a thread clears and reads the counter of one value"
);
