//! Device code on the host: it type-checks, and says what is wrong when it is called.

use std::panic::catch_unwind;

use cuda_std::atomic::{self, Block};
use cuda_std::layout::RowMajor;
use cuda_std::prelude::*;
use cuda_std::{math, sync, warp};
use tile33_cuda_std as cuda_std;

/// A kernel, called as if it were a function.
///
/// # Safety
/// `x` has an element for each thread.
#[kernel(max_threads = 32)]
pub unsafe fn fill(x: *mut f32, value: f32) {
    // SAFETY: the launch promises an element for each thread.
    unsafe { *x.add(thread_idx_x() as usize) = value }
}

macro_rules! discarding {
    ($call:expr) => {
        || {
            let _ = $call;
        }
    };
}

fn message(call: fn()) -> String {
    let panic = catch_unwind(call).expect_err("device code cannot run here");
    panic.downcast_ref::<String>().expect("a message").clone()
}

#[test]
fn every_device_function_panics_on_the_host_with_its_name_and_the_way_out() {
    let calls: [(&str, fn()); 10] = [
        ("thread::thread_idx_x", discarding!(thread_idx_x())),
        ("thread::grid_dim_z", discarding!(grid_dim_z())),
        ("sync::sync_threads", sync_threads),
        ("sync::fence_device", sync::fence_device),
        (
            "warp::shuffle_xor",
            discarding!(warp::shuffle_xor(warp::FULL_WARP, 1.0f32, 1)),
        ),
        ("warp::ballot", discarding!(warp::ballot(warp::FULL_WARP, true))),
        ("math::fma_f32", discarding!(math::fma_f32(1.0, 2.0, 3.0))),
        ("shared", discarding!(shared_tile!(f32, RowMajor<8, 8, 9>))),
        ("shared::dynamic_shared", discarding!(dynamic_shared())),
        ("atomic::add", || {
            let mut x = 1u32;
            // SAFETY: the address is valid.
            let _ = unsafe { atomic::add::<Block, u32>(&mut x, 1) };
        }),
    ];
    for (name, call) in calls {
        let message = message(call);
        assert!(
            message.starts_with(&format!("cuda_std::{name} was called on the host")),
            "{message}"
        );
        assert!(message.contains("the emulator"), "{message}");
    }
}

#[test]
fn a_kernel_is_an_ordinary_function_on_the_host() {
    let mut x = 0.0;
    let _: unsafe fn(*mut f32, f32) = fill;
    // SAFETY: it panics before the address is used.
    let call = std::panic::AssertUnwindSafe(|| unsafe { fill(&mut x, 1.0) });
    assert!(catch_unwind(call).is_err());
}
