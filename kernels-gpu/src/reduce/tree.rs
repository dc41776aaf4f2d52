//! The trees in shared memory.

use cuda_std::prelude::*;

use super::{Cells, Number, THREADS};

/// Pairs that move apart: the textbook's mistake.
///
/// In step s a thread t adds element 2dt + d to element 2dt, d = 2^s. Neighbouring threads are 2d words apart, so a warp's
/// 32 words lie in 32 / 2d of the banks (one of them from d = 16 on), until fewer than 32 threads are left:
///
/// | d | 1 | 2 | 4 | 8 | 16 | 32 | 64 | 128 |
/// |---|---|---|---|---|---|---|---|---|
/// | threads at work | 128 | 64 | 32 | 16 | 8 | 4 | 2 | 1 |
/// | wavefronts of each load and store | 2 | 4 | 8 | 8 | 8 | 4 | 2 | 1 |
///
/// Elements of 8 bytes are two words each, and half a warp's take turns with the other half's: 4, 8, 16, 16, 8, 4, 2, 1.
///
/// Deterministic.
///
/// # Safety
/// `input` holds `len` elements, `output` one for each block, of which there are `len` / 256 rounded up; they do not
/// overlap; blocks of 256 threads.
#[kernel(prefix = "reduce", max_threads = 256, types = [f32, f64, i32, u32, i64])]
pub unsafe fn interleaved<T: Number>(input: *const T, output: *mut T, len: u64) {
    let cells = shared_array!(T, Cells);
    let t = thread_idx_x();
    // SAFETY: the caller's promise; a barrier parts each step's accesses from the next step's, and within a step no
    // thread's elements are another's.
    unsafe {
        cells.write(t, element_or_zero(input, len));
        sync_threads();
        let mut distance = 1;
        while distance < THREADS as u32 {
            let i = 2 * distance * t;
            if i < THREADS as u32 {
                cells.write(i, cells.read(i).plus(cells.read(i + distance)));
            }
            sync_threads();
            distance *= 2;
        }
        if t == 0 {
            *output.add(block_idx_x() as usize) = cells.read(0);
        }
    }
}

/// Pairs that move together: the first half adds the second half to itself.
///
/// A warp's words are neighbours in every step: 1 wavefront for each load and store, 2 for 32 elements of 8 bytes.
/// Deterministic.
///
/// # Safety
/// As [`interleaved`].
#[kernel(prefix = "reduce", max_threads = 256, types = [f32, f64, i32, u32, i64])]
pub unsafe fn sequential<T: Number>(input: *const T, output: *mut T, len: u64) {
    let cells = shared_array!(T, Cells);
    let t = thread_idx_x();
    // SAFETY: as in `interleaved`.
    unsafe {
        cells.write(t, element_or_zero(input, len));
        sync_threads();
        let mut distance = THREADS as u32 / 2;
        while distance > 0 {
            if t < distance {
                cells.write(t, cells.read(t).plus(cells.read(t + distance)));
            }
            sync_threads();
            distance /= 2;
        }
        if t == 0 {
            *output.add(block_idx_x() as usize) = cells.read(0);
        }
    }
}

/// The element of this thread's number in the grid.
///
/// # Safety
/// `input` holds `len` elements.
#[inline(always)]
pub(super) unsafe fn element_or_zero<T: Number>(input: *const T, len: u64) -> T {
    let i = global_index_x();
    if i < len {
        // SAFETY: the caller's promise.
        unsafe { *input.add(i as usize) }
    } else {
        T::ZERO
    }
}
