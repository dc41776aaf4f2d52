//! A barrier between two conditions that are the same: rustc's JumpThreading would copy it into both branches.
#![no_std]
use cuda_std::prelude::*;

#[kernel(max_threads = 1024)]
pub unsafe fn reverse(values: *mut f32, len: u32) {
    let i = thread_idx_x();
    // SAFETY: the launch promises `len` elements at `values` and as many in dynamic shared memory.
    unsafe {
        let shared = dynamic_shared().array::<f32>(0, len);
        if i < len {
            shared.write(i, *values.add(i as usize));
        }
        sync_threads();
        if i < len {
            *values.add(i as usize) = shared.read(len - 1 - i);
        }
    }
}
