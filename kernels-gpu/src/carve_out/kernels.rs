//! The kernels.

use cuda_std::layout::{Layout, Strided};
use cuda_std::prelude::*;

use super::{THREADS, plan};

/// One for each thread.
type PerThread = Strided<THREADS>;

/// Takes the mean of a row's valid elements off them and sets the others to zero; reads the row twice.
///
/// Each time a warp reads 128 bytes of values (4 sectors) and 32 of marks (1 sector), and once it writes 128 bytes, where
/// rows start at sectors. In shared memory are only the threads' sums, 2 wavefronts for the `f64` of 32 threads, and counts,
/// 1 wavefront.
///
/// # Safety
/// `values`, `valid` and `centred` hold `rows * cols` elements each, and `centred` overlaps none; blocks of 256 threads.
#[kernel(prefix = "carve_out", max_threads = 256)]
pub unsafe fn streamed_f32(values: *const f32, valid: *const u8, centred: *mut f32, rows: u32, cols: u32) {
    let (sums, counts) = (shared_array!(f64, PerThread), shared_array!(u32, PerThread));
    for_each_row(rows, cols, |start| {
        // SAFETY: the caller's promise; `mean` has barriers between the uses of its arrays.
        unsafe {
            let (mut sum, mut count) = (0.0, 0);
            for i in (thread_idx_x()..cols).step_by(THREADS) {
                let at = start + i as usize;
                add(&mut sum, &mut count, *values.add(at), *valid.add(at)); // lane = i % 32: neighbours
            }
            let mean = mean(sums, counts, sum, count);
            for i in (thread_idx_x()..cols).step_by(THREADS) {
                let at = start + i as usize;
                *centred.add(at) = without(mean, *values.add(at), *valid.add(at));
            }
        }
    });
}

/// As [`streamed_f32`], with the row in shared memory between the two times: read once.
///
/// The row's values cost 1 wavefront for 32 of them, written and read, and the marks, a byte each, too.
///
/// # Safety
/// As [`streamed_f32`]; the launch provides the memory of [`plan`].
#[kernel(prefix = "carve_out", max_threads = 256)]
pub unsafe fn carved_f32(values: *const f32, valid: *const u8, centred: *mut f32, rows: u32, cols: u32) {
    let (memory, plan) = (dynamic_shared(), plan(cols));
    // SAFETY: the launch provides the plan's memory, whose parts do not overlap; each is used once.
    let (sums, marks, counts, row) = unsafe {
        (
            memory.carved(plan.sums),
            memory.carved(plan.valid),
            memory.carved(plan.counts),
            memory.carved(plan.values),
        )
    };
    for_each_row(rows, cols, |start| {
        // SAFETY: as in `streamed_f32`; of the row, a thread reads what it wrote itself.
        unsafe {
            let (mut sum, mut count) = (0.0, 0);
            for i in (thread_idx_x()..cols).step_by(THREADS) {
                let at = start + i as usize;
                let (value, mark) = (*values.add(at), *valid.add(at));
                row.write(i, value); // lane = i % 32: 32 words
                marks.write(i, mark); // lane = i % 32: 8 words of 4 bytes each
                add(&mut sum, &mut count, value, mark);
            }
            let mean = mean(sums, counts, sum, count);
            for i in (thread_idx_x()..cols).step_by(THREADS) {
                *centred.add(start + i as usize) = without(mean, row.read(i), marks.read(i));
            }
        }
    });
}

#[inline(always)]
fn add(sum: &mut f64, count: &mut u32, value: f32, mark: u8) {
    if mark != 0 {
        *sum += f64::from(value);
        *count += 1;
    }
}

#[inline(always)]
fn without(mean: f64, value: f32, mark: u8) -> f32 {
    let centred = (f64::from(value) - mean) as f32;
    if mark != 0 { centred } else { 0.0 }
}

/// The mean of what the block's threads have, for every one of them; zero of nothing. Adds them in a tree, the first half
/// the second half to itself.
///
/// # Safety
/// All threads of the block call this; nothing else uses the arrays, and a barrier is between two calls.
#[inline(always)]
unsafe fn mean<L: Layout, M: Layout>(
    sums: SharedArray<f64, L>,
    counts: SharedArray<u32, M>,
    sum: f64,
    count: u32,
) -> f64 {
    let t = thread_idx_x();
    // SAFETY: the caller's promise; a barrier parts each step's accesses from the next step's, and within a step no thread's
    // elements are another's.
    unsafe {
        sums.write(t, sum); // 32 lanes of 8 bytes: 2 wavefronts
        counts.write(t, count);
        sync_threads();
        let mut distance = THREADS as u32 / 2;
        while distance > 0 {
            if t < distance {
                sums.write(t, sums.read(t) + sums.read(t + distance));
                counts.write(t, counts.read(t) + counts.read(t + distance));
            }
            sync_threads();
            distance /= 2;
        }
        let (sum, count) = (sums.read(0), counts.read(0)); // all lanes one element: 1 wavefront
        if count > 0 { sum / f64::from(count) } else { 0.0 }
    }
}

/// Calls `body` with the first element of each row of this block, with a barrier between rows.
#[inline(always)]
fn for_each_row(rows: u32, cols: u32, body: impl Fn(usize)) {
    let mut row = block_idx_x();
    loop {
        body(row as usize * cols as usize);
        // Not `row + grid_dim_x()`, which may be more than 32 bits hold.
        if rows - row <= grid_dim_x() {
            break;
        }
        row += grid_dim_x();
        sync_threads();
    }
}
