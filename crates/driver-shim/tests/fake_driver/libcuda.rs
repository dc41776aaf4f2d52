//! A driver for the tests: three functions of the real signatures that fold every argument into what they answer.
//! Compiled by `forwards.rs` into a library whose soname is `libcuda.so.1`. Everything else is missing, as in an old driver.

#![allow(non_snake_case)]

use std::ffi::c_void;

#[unsafe(no_mangle)]
extern "C" fn cuInit(flags: u32) -> u32 {
    if flags == 0 { 0 } else { 1 }
}

#[unsafe(no_mangle)]
extern "C" fn cuLaunchKernel(
    function: *mut c_void,
    grid_x: u32,
    grid_y: u32,
    grid_z: u32,
    block_x: u32,
    block_y: u32,
    block_z: u32,
    shared: u32,
    stream: *mut c_void,
    params: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> u32 {
    let scalars = [grid_x, grid_y, grid_z, block_x, block_y, block_z, shared] == [2, 3, 4, 5, 6, 7, 8];
    let pointers = [function as usize, stream as usize, params as usize, extra as usize] == [1, 9, 10, 11];
    if scalars && pointers { 0 } else { 1 }
}

#[unsafe(no_mangle)]
extern "C" fn cuTexRefSetMipmapLevelClamp(reference: *mut c_void, low: f32, high: f32) -> u32 {
    if reference as usize == 1 && low == 2.5 && high == -3.5 { 0 } else { 1 }
}
