//! Copies from global to shared memory that do not wait, from `sm_80` on.
//!
//! A thread starts copies, closes a group of them with [`commit`], and goes on; [`wait`] waits until only so many of its
//! latest groups may still be under way. Other threads see the data after a barrier that follows.
//!
//! ```
//! use cuda_std::arch::copy;
//! use cuda_std::prelude::*;
//! # use tile33_cuda_std as cuda_std;
//!
//! #[kernel]
//! pub unsafe fn reverse(x: *mut f32) {
//!     let buffer = shared_array![f32; 64];
//!     let i = thread_idx_x();
//!     // SAFETY: the launch promises 64 elements and 64 threads; the barrier makes all copies visible.
//!     unsafe {
//!         copy::start::<4, f32>(buffer.at(i), x.add(i as usize));
//!         copy::commit();
//!         copy::wait::<0>();
//!         sync_threads();
//!         *x.add(i as usize) = buffer.read(63 - i);
//!     }
//! }
//! ```

use crate::host::device;

/// Starts a copy of `BYTES` bytes (4, 8 or 16) from global to shared memory.
///
/// # Safety
/// Both addresses are valid for as many bytes and multiples of `BYTES`, `to` is in shared and `from` in global memory.
/// Until [`wait`] says that the copy is done, nothing accesses `to`, and nothing writes `from`.
#[inline(always)]
#[track_caller]
pub unsafe fn start<const BYTES: u32, T>(to: *mut T, from: *const T) {
    // SAFETY: the caller's promise.
    unsafe { start_or_zero::<BYTES, T>(to, from, true) }
}

/// As [`start`], but fills with zeros where `valid` is false: then nothing is read, and `from` may be anything.
///
/// # Safety
/// As [`start`] if `valid`; else only what concerns `to`.
#[inline(always)]
#[track_caller]
pub unsafe fn start_or_zero<const BYTES: u32, T>(to: *mut T, from: *const T, valid: bool) {
    // SAFETY: the caller's promise.
    unsafe { start_first::<BYTES, T>(to, from, if valid { BYTES } else { 0 }) }
}

/// As [`start`], but reads only the first `bytes` bytes and fills the others with zeros: for the end of a row.
///
/// # Safety
/// As [`start`] for as many bytes of `from`; of 0 it may be anything.
#[inline(always)]
#[track_caller]
pub unsafe fn start_first<const BYTES: u32, T>(to: *mut T, from: *const T, bytes: u32) {
    const { assert!(BYTES == 4 || BYTES == 8 || BYTES == 16, "a copy moves 4, 8 or 16 bytes") };
    device!("arch::copy::start", [to, from, bytes], {
        let (to, from) = (super::shared_address(to), super::global_address(from));
        // SAFETY: the caller's promise.
        unsafe {
            if BYTES == 16 {
                // Past the first-level cache: only the copy is read again.
                core::arch::asm!(
                    "cp.async.cg.shared.global [{}], [{}], 16, {};",
                    in(reg32) to, in(reg64) from, in(reg32) bytes, options(nostack)
                );
            } else {
                core::arch::asm!(
                    "cp.async.ca.shared.global [{}], [{}], {}, {};",
                    in(reg32) to, in(reg64) from, const BYTES, in(reg32) bytes, options(nostack)
                );
            }
        }
    });
}

/// Closes the group of the copies that this thread started since the last one.
#[inline(always)]
#[track_caller]
pub fn commit() {
    // SAFETY: has no effect on memory by itself.
    device!("arch::copy::commit", [], unsafe {
        core::arch::asm!("cp.async.commit_group;", options(nostack));
    });
}

/// Waits until all of this thread's groups are done, except for the `LATEST` latest.
#[inline(always)]
#[track_caller]
pub fn wait<const LATEST: u32>() {
    // SAFETY: has no effect besides waiting.
    device!("arch::copy::wait", [], unsafe {
        core::arch::asm!("cp.async.wait_group {};", const LATEST, options(nostack));
    });
}
