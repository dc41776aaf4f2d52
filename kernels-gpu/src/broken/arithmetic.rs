//! Addresses that are no multiple of what is accessed there.

use cuda_std::layout::{CarveOut, Carved, Pitched};
use cuda_std::prelude::*;
use cuda_std::vector::{F32x2, Vector};

/// Gives back what went through three arrays in one dynamic block. **Broken**: the third one starts where the second
/// ends, at any byte.
///
/// # Safety
/// `x` and `y` hold as many elements as the block has threads; the launch provides 13 bytes a thread and 3 besides.
#[kernel(prefix = "broken", max_threads = 256)]
pub unsafe fn carve(x: *const f32, y: *mut f32) {
    let (t, n) = (thread_idx_x(), block_dim_x());
    let memory = dynamic_shared();
    // SAFETY: the caller's promise, but for the alignment of the last array: that is the mistake.
    unsafe {
        let sums = memory.array::<f64>(0, n);
        let flags = memory.array::<u8>(8 * n, n);
        let values = memory.array::<f32>(8 * n + n, n);
        let value = *x.add(t as usize);
        sums.write(t, f64::from(value));
        flags.write(t, u8::from(value > 2.0));
        values.write(t, value);
        sync_threads();
        let from = n - 1 - t;
        *y.add(t as usize) = values.read(from) + f32::from(flags.read(from)) + sums.read(from) as f32;
    }
}

/// Where the arrays of [`carve_repaired`] lie, the same for host and kernel.
#[derive(Clone, Copy)]
pub struct Plan {
    sums: Carved<f64, Pitched>,
    flags: Carved<u8, Pitched>,
    values: Carved<f32, Pitched>,
    /// Bytes of dynamic shared memory.
    pub bytes: u32,
}

/// The plan for a number of threads.
#[inline(always)]
#[must_use]
pub const fn plan(threads: u32) -> Plan {
    let mut memory = CarveOut::new();
    let sums = memory.array(threads);
    let flags = memory.array(threads);
    let values = memory.array(threads);
    Plan {
        sums,
        flags,
        values,
        bytes: memory.bytes(),
    }
}

/// As [`carve`], the arrays placed by a plan that aligns each for its type.
///
/// # Safety
/// `x` and `y` hold as many elements as the block has threads; the launch provides the bytes of [`plan`].
#[kernel(prefix = "broken", max_threads = 256)]
pub unsafe fn carve_repaired(x: *const f32, y: *mut f32) {
    let (t, n) = (thread_idx_x(), block_dim_x());
    let (memory, plan) = (dynamic_shared(), plan(n));
    // SAFETY: the caller's promise; the plan's parts do not overlap.
    unsafe {
        let (sums, flags, values) = (
            memory.carved(plan.sums),
            memory.carved(plan.flags),
            memory.carved(plan.values),
        );
        let value = *x.add(t as usize);
        sums.write(t, f64::from(value));
        flags.write(t, u8::from(value > 2.0));
        values.write(t, value);
        sync_threads();
        let from = n - 1 - t;
        *y.add(t as usize) = values.read(from) + f32::from(flags.read(from)) + sums.read(from) as f32;
    }
}

/// Adds each row's elements, two at a time. **Broken**: with an odd number of columns every other row starts between two
/// pairs.
///
/// # Safety
/// `x` holds `rows * cols` elements and starts at a multiple of 8 bytes, `y` holds `rows`; a thread for each row.
#[kernel(prefix = "broken", max_threads = 256)]
pub unsafe fn pairs(x: *const f32, y: *mut f32, rows: u32, cols: u32) {
    let row = block_idx_x() * block_dim_x() + thread_idx_x();
    if row < rows {
        // SAFETY: the caller's promise, but for the alignment: that is the mistake.
        unsafe { *y.add(row as usize) = in_pairs(x.add(row as usize * cols as usize), cols) };
    }
}

/// As [`pairs`]; where rows do not start at pairs, one element at a time.
///
/// # Safety
/// As [`pairs`].
#[kernel(prefix = "broken", max_threads = 256)]
pub unsafe fn pairs_repaired(x: *const f32, y: *mut f32, rows: u32, cols: u32) {
    let row = block_idx_x() * block_dim_x() + thread_idx_x();
    if row >= rows {
        return;
    }
    // SAFETY: the caller's promise; pairs only where every row starts at one.
    unsafe {
        let start = x.add(row as usize * cols as usize);
        let sum = if cols.is_multiple_of(F32x2::LANES) {
            in_pairs(start, cols)
        } else {
            (0..cols).fold(0.0, |sum, i| sum + *start.add(i as usize))
        };
        *y.add(row as usize) = sum;
    }
}

/// The sum of a row, in the order of its elements.
///
/// # Safety
/// `cols` elements at `start`, which is a multiple of 8 bytes.
#[inline(always)]
unsafe fn in_pairs(start: *const f32, cols: u32) -> f32 {
    let (mut sum, mut i) = (0.0, 0);
    // SAFETY: the caller's promise.
    unsafe {
        while i + 1 < cols {
            let F32x2([a, b]) = F32x2::read(start.add(i as usize));
            sum = sum + a + b;
            i += 2;
        }
        if i < cols {
            sum += *start.add(i as usize);
        }
    }
    sum
}
