//! One of two modules whose shared statics have the same names.
#![no_std]
use cuda_std::prelude::*;

#[inline(always)]
unsafe fn turn(x: *mut u32) {
    let tile = shared_array![u32; 64];
    let i = thread_idx_x();
    // SAFETY: the launch promises 64 elements and 64 threads.
    unsafe {
        tile.write(i, *x.add(i as usize));
        sync_threads();
        *x.add(i as usize) = tile.read(63 - i);
    }
}

#[kernel]
pub unsafe fn turn_one(x: *mut u32) {
    // SAFETY: the caller's promise.
    unsafe { turn(x) }
}

#[kernel]
pub unsafe fn turn_twice_one(x: *mut u32) {
    // SAFETY: the caller's promise; the barrier parts the two.
    unsafe {
        turn(x);
        sync_threads();
        turn(x);
    }
}

/// Only with the feature.
#[cfg(feature = "extra")]
#[kernel]
pub unsafe fn extra_one(x: *mut u32) {
    // SAFETY: the caller's promise.
    unsafe { *x = 1 }
}
