//! Scans of a tile in shared memory.

use cuda_std::layout::Layout;
use cuda_std::prelude::*;

use super::{Buffers, HILLIS_STEELE_TILE, Offset, Plain, THREADS, TREE_TILE};
use crate::reduce::Number;

/// Each thread adds the element d = 1, 2, 4, .. places before its own (Hillis and Steele).
///
/// Neighbouring threads access neighbouring words: 1 wavefront for each load and store (2 for 32 elements of 8 bytes). But
/// every step adds all elements.
///
/// # Safety
/// `input` and `output` hold `len` elements each, `sums` one for each block, of which there are `len` / 256 rounded up;
/// they do not overlap, but `input` may be `output`; blocks of 256 threads.
#[kernel(prefix = "scan", max_threads = 256, types = [f32, f64, i32, u32, i64])]
pub unsafe fn hillis_steele<T: Number>(input: *const T, output: *mut T, sums: *mut T, len: u64, inclusive: u32) {
    let buffers = shared_tile!(T, Buffers);
    let (t, i) = (thread_idx_x(), global_index_x());
    // SAFETY: the caller's promise; a barrier parts the writes to a buffer from its reads, and these from the next writes.
    unsafe {
        let mut sum = if i < len { *input.add(i as usize) } else { T::ZERO };
        let mut buffer = 0;
        let mut distance = 1;
        while distance < HILLIS_STEELE_TILE as u32 {
            buffers.write(buffer, t, sum);
            sync_threads();
            if t >= distance {
                sum = buffers.read(buffer, t - distance).plus(sum);
            }
            buffer ^= 1;
            distance *= 2;
        }
        buffers.write(buffer, t, sum);
        sync_threads();
        let before = if t > 0 { buffers.read(buffer, t - 1) } else { T::ZERO };
        if i < len {
            *output.add(i as usize) = if inclusive > 0 { sum } else { before };
        }
        if t == THREADS as u32 - 1 {
            *sums.add(block_idx_x() as usize) = sum;
        }
    }
}

/// Up a tree of sums and down again (Blelloch): no more additions than needed, but strides that double.
///
/// In step s of the way up, thread t adds element 2d(t + 1) - d - 1 to element 2d(t + 1) - 1, d = 2^s; the way down does
/// the same in reverse. A warp's words lie 2d apart:
///
/// | d | 1 | 2 | 4 | 8 | 16 | 32 | 64 | 128 | 256 |
/// |---|---|---|---|---|---|---|---|---|---|
/// | threads at work | 256 | 128 | 64 | 32 | 16 | 8 | 4 | 2 | 1 |
/// | wavefronts of each load and store, 4 bytes | 2 | 4 | 8 | 16 | 16 | 8 | 4 | 2 | 1 |
/// | 8 bytes | 4 | 8 | 16 | 32 | 16 | 8 | 4 | 2 | 1 |
///
/// # Safety
/// As [`hillis_steele`], with a block for every 512 elements.
#[kernel(prefix = "scan", max_threads = 256, types = [f32, f64, i32, u32, i64])]
pub unsafe fn work_efficient<T: Number>(input: *const T, output: *mut T, sums: *mut T, len: u64, inclusive: u32) {
    let cells = shared_array!(T, Plain);
    // SAFETY: the caller's promise; the cells are this kernel's own.
    unsafe { tree(cells, input, output, sums, len, inclusive) }
}

/// As [`work_efficient`], with one place left free after every 32 elements.
///
/// Words that lay in one bank, 32 or a multiple of it apart, now move on by one bank for every 32 words: 1 wavefront for
/// each load and store of every step. Of elements of 8 bytes, whose
/// halves of a warp take turns, two still meet: 4 wavefronts as long as whole warps are at work, where 2 are the least, then 1.
///
/// # Safety
/// As [`work_efficient`].
#[kernel(prefix = "scan", max_threads = 256, types = [f32, f64, i32, u32, i64])]
pub unsafe fn work_efficient_skewed<T: Number>(
    input: *const T,
    output: *mut T,
    sums: *mut T,
    len: u64,
    inclusive: u32,
) {
    let cells = shared_array!(T, Offset);
    // SAFETY: the caller's promise; the cells are this kernel's own.
    unsafe { tree(cells, input, output, sums, len, inclusive) }
}

/// The scan of [`work_efficient`] and [`work_efficient_skewed`]: only where the tree's elements lie differs.
///
/// # Safety
/// As these; nothing else uses the cells.
#[inline(always)]
unsafe fn tree<T: Number, L: Layout>(
    cells: SharedArray<T, L>,
    input: *const T,
    output: *mut T,
    sums: *mut T,
    len: u64,
    inclusive: u32,
) {
    let t = thread_idx_x();
    let first = u64::from(block_idx_x()) * TREE_TILE as u64;
    // SAFETY: the caller's promise; barriers part the steps, and within a step no thread's elements are another's.
    unsafe {
        let own = [t, t + THREADS as u32].map(|cell| {
            let i = first + u64::from(cell);
            let element = if i < len { *input.add(i as usize) } else { T::ZERO };
            cells.write(cell, element); // lane = cell % 32: neighbouring words
            (cell, i, element)
        });

        let mut distance = 1;
        while distance < TREE_TILE as u32 {
            sync_threads();
            let right = 2 * distance * (t + 1) - 1;
            if right < TREE_TILE as u32 {
                cells.write(right, cells.read(right - distance).plus(cells.read(right)));
            }
            distance *= 2;
        }

        if t == 0 {
            let root = TREE_TILE as u32 - 1;
            *sums.add(block_idx_x() as usize) = cells.read(root);
            cells.write(root, T::ZERO);
        }
        distance = TREE_TILE as u32 / 2;
        while distance > 0 {
            sync_threads();
            let right = 2 * distance * (t + 1) - 1;
            if right < TREE_TILE as u32 {
                let (left, before) = (cells.read(right - distance), cells.read(right));
                cells.write(right - distance, before);
                cells.write(right, before.plus(left));
            }
            distance /= 2;
        }
        sync_threads();

        for (cell, i, element) in own {
            if i < len {
                let before = cells.read(cell); // lane = cell % 32: neighbouring words
                *output.add(i as usize) = if inclusive > 0 { before.plus(element) } else { before };
            }
        }
    }
}

/// Adds to each element of a tile what lies before the tile.
///
/// Neighbouring threads have neighbouring elements; all of a warp have the same offset, one sector.
///
/// # Safety
/// `output` holds `len` elements, `offsets` one for every `tile` of them; they do not overlap; at least as many threads
/// as elements.
#[kernel(prefix = "scan", max_threads = 256, types = [f32, f64, i32, u32, i64])]
pub unsafe fn add_offsets<T: Number>(output: *mut T, offsets: *const T, len: u64, tile: u32) {
    let i = global_index_x();
    if i < len {
        // SAFETY: the caller's promise, and no other thread has this element.
        unsafe {
            let element = output.add(i as usize);
            *element = (*offsets.add((i / u64::from(tile)) as usize)).plus(*element);
        }
    }
}
