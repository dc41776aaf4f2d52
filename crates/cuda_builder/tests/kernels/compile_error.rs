//! Does not compile.
#![no_std]
use cuda_std::prelude::*;

#[kernel]
pub unsafe fn wrong(x: *mut f32) {
    let unused = 1;
    // SAFETY: never runs.
    unsafe { *x = "text" }
}
