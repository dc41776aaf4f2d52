//! Where a thread is.
//!
//! A launch starts a grid of blocks of threads, each with up to three dimensions. A block's threads form warps of 32
//! lanes in the order of [`linear_index`]: with a block 32 wide, a warp is one row, and a thread's lane is its
//! [`thread_idx_x`].

use crate::host::device;

macro_rules! special_registers {
    ($($(#[$doc:meta])* $name:ident => $intrinsic:ident;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[track_caller]
        #[must_use]
        pub fn $name() -> u32 {
            // SAFETY: reads a special register.
            device!(concat!("thread::", stringify!($name)), [], unsafe { core::arch::nvptx::$intrinsic() as u32 })
        }
    )*};
}

special_registers! {
    /// Column of this thread in its block, less than [`block_dim_x`].
    thread_idx_x => _thread_idx_x;
    /// Row of this thread in its block, less than [`block_dim_y`].
    thread_idx_y => _thread_idx_y;
    /// Plane of this thread in its block, less than [`block_dim_z`].
    thread_idx_z => _thread_idx_z;
    /// Column of this block in the grid, less than [`grid_dim_x`].
    block_idx_x => _block_idx_x;
    /// Row of this block in the grid, less than [`grid_dim_y`].
    block_idx_y => _block_idx_y;
    /// Plane of this block in the grid, less than [`grid_dim_z`].
    block_idx_z => _block_idx_z;
    /// Threads of a block along x, at most 1024.
    block_dim_x => _block_dim_x;
    /// Threads of a block along y, at most 1024.
    block_dim_y => _block_dim_y;
    /// Threads of a block along z, at most 64.
    block_dim_z => _block_dim_z;
    /// Blocks of the grid along x, at most 2^31 - 1.
    grid_dim_x => _grid_dim_x;
    /// Blocks of the grid along y, at most 65,535.
    grid_dim_y => _grid_dim_y;
    /// Blocks of the grid along z, at most 65,535.
    grid_dim_z => _grid_dim_z;
}

/// Number of this thread in its block, x fastest: lanes of a warp have consecutive ones.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn linear_index() -> u32 {
    (thread_idx_z() * block_dim_y() + thread_idx_y()) * block_dim_x() + thread_idx_x()
}

/// Number of this thread along x in the whole grid, in 64 bits: a grid can have more than 2^32 threads.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn global_index_x() -> u64 {
    u64::from(block_idx_x()) * u64::from(block_dim_x()) + u64::from(thread_idx_x())
}

/// Number of threads along x in the whole grid: the step of a loop in which the grid goes through an array.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn global_size_x() -> u64 {
    u64::from(grid_dim_x()) * u64::from(block_dim_x())
}
