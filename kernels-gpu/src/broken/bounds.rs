//! Accesses outside of what there is, and reads of what nobody wrote.

use cuda_std::layout::Strided;
use cuda_std::prelude::*;

/// Edge of a tile, and of a block.
const TILE: u32 = 16;

/// Copies a matrix through shared memory. **Broken**: at a partial tile the load is not guarded, only the store.
///
/// # Safety
/// `x` and `y` hold `rows * cols` elements and do not overlap; blocks of 16x16 threads.
#[kernel(prefix = "broken", max_threads = 256)]
pub unsafe fn edge_tile(x: *const f32, y: *mut f32, rows: u32, cols: u32) {
    let tile = shared_array![f32; (TILE * TILE) as usize];
    let (row, col) = (
        block_idx_y() * TILE + thread_idx_y(),
        block_idx_x() * TILE + thread_idx_x(),
    );
    let at = row as usize * cols as usize + col as usize;
    // SAFETY: none for the load of a thread whose element is not in the matrix: that is the mistake.
    unsafe {
        tile.write(thread_idx_y() * TILE + thread_idx_x(), *x.add(at));
        sync_threads();
        if row < rows && col < cols {
            *y.add(at) = tile.read(thread_idx_y() * TILE + thread_idx_x());
        }
    }
}

/// As [`edge_tile`], both sides guarded.
///
/// # Safety
/// As [`edge_tile`].
#[kernel(prefix = "broken", max_threads = 256)]
pub unsafe fn edge_tile_repaired(x: *const f32, y: *mut f32, rows: u32, cols: u32) {
    let tile = shared_array![f32; (TILE * TILE) as usize];
    let (row, col) = (
        block_idx_y() * TILE + thread_idx_y(),
        block_idx_x() * TILE + thread_idx_x(),
    );
    let at = row as usize * cols as usize + col as usize;
    let inside = row < rows && col < cols;
    // SAFETY: the caller's promise; only elements of the matrix are accessed.
    unsafe {
        if inside {
            tile.write(thread_idx_y() * TILE + thread_idx_x(), *x.add(at));
        }
        sync_threads();
        if inside {
            *y.add(at) = tile.read(thread_idx_y() * TILE + thread_idx_x());
        }
    }
}

/// Reverses a block of elements through dynamic shared memory. Right; the mistake is a launch with as many *bytes* as
/// there are elements, which the typed launches of this project do not let through.
///
/// # Safety
/// `x` and `y` hold as many elements as the block has threads; the launch provides that many elements of dynamic shared
/// memory.
#[kernel(prefix = "broken", max_threads = 256)]
pub unsafe fn reverse(x: *const f32, y: *mut f32) {
    let (t, n) = (thread_idx_x(), block_dim_x());
    // SAFETY: the caller's promise; the barrier parts writes and reads.
    unsafe {
        let elements = dynamic_shared().array::<f32>(0, n);
        elements.write(t, *x.add(t as usize));
        sync_threads();
        *y.add(t as usize) = elements.read(n - 1 - t);
    }
}

/// Adds 64 elements in a tree. **Broken**: where there are fewer, the rest of the array is never written, but the tree
/// reads it.
///
/// # Safety
/// `x` holds `len` elements, `y` one; one block of 64 threads.
#[kernel(prefix = "broken", max_threads = 64)]
pub unsafe fn tail(x: *const f32, y: *mut f32, len: u32) {
    let cells = shared_array!(f32, Strided<64>);
    let t = thread_idx_x();
    // SAFETY: the caller's promise; that cells are read unwritten is the mistake.
    unsafe {
        if t < len {
            cells.write(t, *x.add(t as usize));
        }
        sync_threads();
        let mut half = 32;
        while half > 0 {
            if t < half {
                cells.write(t, cells.read(t) + cells.read(t + half));
            }
            sync_threads();
            half /= 2;
        }
        if t == 0 {
            *y = cells.read(0);
        }
    }
}

/// As [`tail`]: who has no element writes zero.
///
/// # Safety
/// As [`tail`].
#[kernel(prefix = "broken", max_threads = 64)]
pub unsafe fn tail_repaired(x: *const f32, y: *mut f32, len: u32) {
    let cells = shared_array!(f32, Strided<64>);
    let t = thread_idx_x();
    // SAFETY: the caller's promise; every cell is written before the barrier.
    unsafe {
        cells.write(t, if t < len { *x.add(t as usize) } else { 0.0 });
        sync_threads();
        let mut half = 32;
        while half > 0 {
            if t < half {
                cells.write(t, cells.read(t) + cells.read(t + half));
            }
            sync_threads();
            half /= 2;
        }
        if t == 0 {
            *y = cells.read(0);
        }
    }
}
