//! The kernels.

use cuda_std::atomic::{self, Block};
use cuda_std::prelude::*;

use super::THREADS;

/// Loads element `offset + stride * lane` of shared memory, which holds the first `len` elements of `input`.
///
/// # Safety
/// `input` holds `len` elements, which the lanes reach no further than, `output` 32; they do not overlap. The launch
/// provides dynamic shared memory for `len` elements. One block of 32 threads.
#[kernel(prefix = "stride", max_threads = 32, types = [u8, u16, u32, u64, u128])]
pub unsafe fn load<T: Copy>(input: *const T, output: *mut T, stride: u32, offset: u32, len: u32) {
    let lane = thread_idx_x();
    // SAFETY: the caller's promise; a barrier parts filling from loading.
    unsafe {
        let array = dynamic_shared().array::<T>(0, len);
        for_each_row(len, |i| array.write(i, *input.add(i as usize)));
        sync_threads();
        *output.add(lane as usize) = array.read(offset + stride * lane); // the access
    }
}

/// Stores element `lane` of `input` to element `offset + stride * lane` of shared memory, and gives back what is there.
///
/// # Safety
/// `input` and `output` hold 32 elements each and do not overlap; the launch provides dynamic shared memory for `len`
/// elements, which the lanes reach no further than; `stride` is not 0. One block of 32 threads.
#[kernel(prefix = "stride", max_threads = 32, types = [u8, u16, u32, u64, u128])]
pub unsafe fn store<T: Copy>(input: *const T, output: *mut T, stride: u32, offset: u32, len: u32) {
    let lane = thread_idx_x();
    // SAFETY: the caller's promise; no two lanes have the same element.
    unsafe {
        let array = dynamic_shared().array::<T>(0, len);
        array.write(offset + stride * lane, *input.add(lane as usize)); // the access
        sync_threads();
        *output.add(lane as usize) = array.read(offset + stride * lane);
    }
}

/// Adds element `lane` of `input` to element `offset + stride * lane` of shared memory, which holds zeros, and gives back
/// all `len` elements.
///
/// # Safety
/// `input` holds 32 elements, `output` `len`, which the lanes reach no further than; they do not overlap. The launch
/// provides dynamic shared memory for `len` elements. One block of 32 threads.
#[kernel(prefix = "stride", max_threads = 32, types = [u32, u64])]
pub unsafe fn atomic_add<T: atomic::Add<Block> + Default>(
    input: *const T,
    output: *mut T,
    stride: u32,
    offset: u32,
    len: u32,
) {
    let lane = thread_idx_x();
    // SAFETY: the caller's promise; barriers part filling, adding and reading.
    unsafe {
        let array = dynamic_shared().array::<T>(0, len);
        for_each_row(len, |i| array.write(i, T::default()));
        sync_threads();
        atomic::add::<Block, T>(array.at(offset + stride * lane), *input.add(lane as usize)); // the access
        sync_threads();
        for_each_row(len, |i| *output.add(i as usize) = array.read(i));
    }
}

/// Loads element `offset + stride * lane` of `input`.
///
/// # Safety
/// `input` holds as many elements as the lanes reach, `output` 32; they do not overlap. One block of 32 threads.
#[kernel(prefix = "stride", max_threads = 32, types = [u8, u16, u32, u64, u128])]
pub unsafe fn global_load<T: Copy>(input: *const T, output: *mut T, stride: u32, offset: u32) {
    let lane = thread_idx_x() as usize;
    // SAFETY: the caller's promise.
    unsafe { *output.add(lane) = *input.add(offset as usize + stride as usize * lane) }; // the access is the load
}

/// Stores element `lane` of `input` to element `offset + stride * lane` of `output`.
///
/// # Safety
/// `input` holds 32 elements, `output` as many as the lanes reach; they do not overlap; `stride` is not 0. One block of 32
/// threads.
#[kernel(prefix = "stride", max_threads = 32, types = [u8, u16, u32, u64, u128])]
pub unsafe fn global_store<T: Copy>(input: *const T, output: *mut T, stride: u32, offset: u32) {
    let lane = thread_idx_x() as usize;
    // SAFETY: the caller's promise; no two lanes have the same element.
    unsafe { *output.add(offset as usize + stride as usize * lane) = *input.add(lane) }; // the access is the store
}

/// Calls `body` with the numbers below `len`, 32 side by side at a time. All lanes go around the loop together.
#[inline(always)]
fn for_each_row(len: u32, body: impl Fn(u32)) {
    for row in (0..len).step_by(THREADS) {
        let i = row + thread_idx_x();
        if i < len {
            body(i);
        }
    }
}
