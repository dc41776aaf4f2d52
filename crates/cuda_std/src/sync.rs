//! Barriers and fences.
//!
//! A barrier makes the threads that take part wait for each other, and what each wrote before is seen by all after. A
//! fence only orders this thread's own accesses, as threads outside see them.

use crate::host::device;

/// Waits until every thread of the block is here. What they wrote to shared and global memory is then visible to all.
///
/// Every thread of the block must reach the same barrier: one inside a condition that not all take is an error of the
/// kernel (threads hang, or pass without waiting).
#[inline(always)]
#[track_caller]
pub fn sync_threads() {
    // SAFETY: has no effect besides waiting.
    device!("sync::sync_threads", [], unsafe { core::arch::nvptx::_syncthreads() });
}

/// Waits at barrier `BARRIER` (0 to 15; 0 is that of [`sync_threads`]) until `threads` threads of the block are here.
///
/// Whole warps take part, so `threads` is a multiple of 32. Warps with different tasks can wait for each other in groups.
#[inline(always)]
#[track_caller]
pub fn sync_named<const BARRIER: u32>(threads: u32) {
    const { assert!(BARRIER < 16, "a block has barriers 0 to 15") };
    // SAFETY: has no effect besides waiting.
    device!("sync::sync_named", [threads], unsafe {
        core::arch::asm!("bar.sync {}, {};", const BARRIER, in(reg32) threads, options(nostack));
    });
}

/// Arrives at barrier `BARRIER` without waiting: the threads that call [`sync_named`] with the same count wait for this one.
#[inline(always)]
#[track_caller]
pub fn arrive_named<const BARRIER: u32>(threads: u32) {
    const { assert!(BARRIER < 16, "a block has barriers 0 to 15") };
    // SAFETY: has no effect besides counting.
    device!("sync::arrive_named", [threads], unsafe {
        core::arch::asm!("bar.arrive {}, {};", const BARRIER, in(reg32) threads, options(nostack));
    });
}

/// Waits until the lanes of the warp in `mask` are here. What they wrote is then visible to each other.
///
/// Every lane in the mask must call this with the same mask, and the calling lane must be in it.
/// [`FULL_WARP`](crate::warp::FULL_WARP) is all of them.
#[inline(always)]
#[track_caller]
pub fn sync_warp(mask: u32) {
    // SAFETY: has no effect besides waiting.
    device!("sync::sync_warp", [mask], unsafe {
        core::arch::asm!("bar.warp.sync {};", in(reg32) mask, options(nostack));
    });
}

macro_rules! fences {
    ($($(#[$doc:meta])* $name:ident => $instruction:literal;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[track_caller]
        pub fn $name() {
            // SAFETY: has no effect besides ordering memory accesses.
            device!(concat!("sync::", stringify!($name)), [], unsafe {
                core::arch::asm!($instruction, options(nostack));
            });
        }
    )*};
}

fences! {
    /// Orders this thread's memory accesses before and after, as the threads of its block see them.
    fence_block => "membar.cta;";
    /// Orders this thread's memory accesses before and after, as all threads of the device see them.
    fence_device => "membar.gl;";
    /// Orders this thread's memory accesses before and after, as all devices and the host see them.
    fence_system => "membar.sys;";
}
