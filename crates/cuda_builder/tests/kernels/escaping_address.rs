//! The address of shared memory leaves the kernel, so that the function that gets it cannot know what it is.
#![no_std]
use cuda_std::prelude::*;

#[kernel]
pub unsafe fn careless(x: *mut u32) {
    let shared = shared_array![u32; 64];
    // SAFETY: never runs.
    unsafe {
        fill(shared.at(thread_idx_x()), *x);
        sync_threads();
        fill(x, shared.read(0));
    }
}

/// # Safety
/// `to` can be written to.
#[inline(never)]
unsafe fn fill(to: *mut u32, value: u32) {
    // SAFETY: the caller's promise.
    unsafe { *to = value }
}
