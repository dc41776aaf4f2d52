//! A shared static with a value.
#![no_std]
use core::cell::UnsafeCell;
use cuda_std::prelude::*;

#[repr(transparent)]
struct Cell(UnsafeCell<u32>);
// SAFETY: never runs.
unsafe impl Sync for Cell {}

#[cfg_attr(target_os = "cuda", unsafe(link_section = ".shared"))]
static COUNTER: Cell = Cell(UnsafeCell::new(7));

#[kernel]
pub unsafe fn counts(x: *mut u32) {
    // SAFETY: never runs.
    unsafe { *x = *COUNTER.0.get() }
}
