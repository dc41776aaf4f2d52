//! Calls a function that is nowhere.
#![no_std]
use cuda_std::prelude::*;

unsafe extern "C" {
    fn of_another_world(x: u32) -> u32;
}

#[kernel]
pub unsafe fn caller(x: *mut u32) {
    // SAFETY: never runs.
    unsafe { *x = of_another_world(*x) }
}
