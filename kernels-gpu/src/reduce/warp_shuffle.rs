//! The tree in registers.

use cuda_std::prelude::*;
use cuda_std::warp::{LANES, lane_id};

use super::operation::across_warp;
use super::tree::element_or_zero;
use super::{Number, Operation, WARPS, WarpCells};

/// Lanes exchange registers; shared memory only carries one number from each warp to the first.
///
/// 8 lanes store one word each, 1 wavefront for each of the 8 requests, and one warp loads the 8 words: 1 wavefront.
/// One barrier instead of nine. Deterministic.
///
/// # Safety
/// As [`interleaved`](super::interleaved).
#[kernel(prefix = "reduce", max_threads = 256, types = [f32, f64, i32, u32, i64])]
pub unsafe fn warp_shuffle<T: Number>(input: *const T, output: *mut T, len: u64) {
    let cells = shared_array!(T, WarpCells);
    // SAFETY: the caller's promise; the cells are this call's.
    unsafe {
        let total = across_block::<T, super::operation::Sum>(cells, element_or_zero(input, len));
        if thread_idx_x() == 0 {
            *output.add(block_idx_x() as usize) = total;
        }
    }
}

/// Combines the partials of a block's threads. The first warp has the result.
///
/// Stores of one lane in each warp and one load of 8 lanes, each 1 wavefront for partials of up to 8 bytes.
///
/// # Safety
/// Nothing else uses the cells until the next barrier.
#[inline(always)]
pub(super) unsafe fn across_block<T, O: Operation<T>>(
    cells: SharedArray<O::Partial, WarpCells>,
    partial: O::Partial,
) -> O::Partial {
    let (warp, lane) = (thread_idx_x() / LANES, lane_id());
    let of_warp = across_warp::<T, O>(partial);
    // SAFETY: each warp writes its own cell; the barrier parts the writes from the reads.
    unsafe {
        if lane == 0 {
            cells.write(warp, of_warp);
        }
        sync_threads();
        if warp > 0 {
            return O::NOTHING;
        }
        let of_one_warp = if lane < WARPS as u32 {
            cells.read(lane)
        } else {
            O::NOTHING
        };
        across_warp::<T, O>(of_one_warp)
    }
}
