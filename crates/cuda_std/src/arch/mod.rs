//! Instructions of particular architectures.
//!
//! | module | instructions | from |
//! |---|---|---|
//! | [`tensor`] | `ldmatrix`, `mma` | `sm_80` |
//! | [`copy`] | `cp.async` | `sm_80` |
//!
//! A kernel that uses them belongs into PTX for that architecture or a later one.

pub mod copy;
pub mod tensor;

/// Address of shared memory, counted in bytes from the start of the block's: what these instructions take.
#[cfg(target_os = "cuda")]
#[inline(always)]
fn shared_address<T>(pointer: *const T) -> u32 {
    unsafe extern "C" {
        #[link_name = "__cuda_std_shared_address"]
        fn shared_address(pointer: *const u8) -> u32;
    }
    // SAFETY: computes with the address only.
    unsafe { shared_address(pointer.cast()) }
}

/// Address of global memory as the instructions with `.global` take it.
#[cfg(target_os = "cuda")]
#[inline(always)]
fn global_address<T>(pointer: *const T) -> u64 {
    unsafe extern "C" {
        #[link_name = "__cuda_std_global_address"]
        fn global_address(pointer: *const u8) -> u64;
    }
    // SAFETY: computes with the address only.
    unsafe { global_address(pointer.cast()) }
}
