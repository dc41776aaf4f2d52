//! Several arrays of different types in one block of dynamic shared memory.
//!
//! The problem is a row of measurements with gaps: a value and a mark for each, and the mean of the valid ones is to be
//! taken off them all. Every element is needed twice, so a block keeps its row in shared memory, as long as the row is:
//!
//! | array | type | elements | starts at byte |
//! |---|---|---|---|
//! | each thread's sum | `f64` | 256 | 0 |
//! | the marks | `u8` | a row | 2048 |
//! | each thread's count | `u32` | 256 | the next multiple of 4 |
//! | the values | `f32` | a row | 1024 further |
//!
//! A row of odd length ends where no `u32` can start: read there, a GPU stops with an error. [`plan`] leaves the gap. It is
//! one function that host and kernel both call, so that they cannot disagree; the launch is given [`Plan::memory`], which is
//! neither a number of bytes nor one of elements.
//!
//! | kernel | a row is | shared memory | rows of at most |
//! |---|---|---|---|
//! | [`streamed_f32`] | read twice | 3 KiB, static | 2^32 - 1 elements |
//! | [`carved_f32`] | read once | what [`plan`] says, dynamic | what fits: 9,216 elements into 48 KiB, 45,875 into 227 KiB |
//!
//! More than 48 KiB is more than a launch gets without asking. The host asks by itself, up to what the card has.

mod kernels;

pub use kernels::*;

use cuda_std::layout::{CarveOut, Carved, Pitched};

/// Threads of a block.
pub const THREADS: usize = 256;

/// Most blocks of a grid. A block takes a row, and the rows a grid's length further.
const MOST_BLOCKS: u32 = 1 << 16;

/// Blocks of a grid for so many rows.
///
/// ```
/// use kernels_gpu::carve_out::blocks;
/// assert_eq!((blocks(3), blocks(1_000_000)), (3, 65_536));
/// ```
#[must_use]
pub const fn blocks(rows: u32) -> u32 {
    if rows < MOST_BLOCKS { rows } else { MOST_BLOCKS }
}

/// Where the arrays of [`carved_f32`] lie.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Each thread's sum.
    pub sums: Carved<f64, Pitched>,
    /// Of each element of the row, whether it is valid.
    pub valid: Carved<u8, Pitched>,
    /// Each thread's count.
    pub counts: Carved<u32, Pitched>,
    /// The row.
    pub values: Carved<f32, Pitched>,
    /// All of them: what the launch provides.
    pub memory: CarveOut,
}

/// The plan for rows of `cols` elements.
///
/// ```
/// use kernels_gpu::carve_out::plan;
/// let plan = plan(1001);
/// assert_eq!((plan.sums.offset(), plan.valid.offset()), (0, 2048));
/// assert_eq!(plan.counts.offset(), 3052); // not 3049
/// assert_eq!(plan.values.offset(), 3052 + 1024);
/// assert_eq!(plan.memory.bytes(), 3052 + 1024 + 4004);
/// ```
#[inline(always)]
#[must_use]
pub const fn plan(cols: u32) -> Plan {
    let mut memory = CarveOut::new();
    let sums = memory.array(THREADS as u32);
    let valid = memory.array(cols);
    let counts = memory.array(THREADS as u32);
    let values = memory.array(cols);
    Plan {
        sums,
        valid,
        counts,
        values,
        memory,
    }
}
