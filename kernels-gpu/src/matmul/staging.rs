//! How a block's threads bring an operand's tiles from global to shared memory, 16 bytes at a time.

use cuda_std::layout::Layout;
use cuda_std::prelude::*;
use cuda_std::unrolled;
use cuda_std::vector::Vector16;

use super::operand::{Float, Operand};
use super::shape::{SIDE, THREADS};

/// One thread's part: `VECTORS` vectors of every tile. A tile is `DEPTH` rows, along k, of [`SIDE`] columns.
///
/// | k is, in memory | a warp reads | sectors | and stores | wavefronts `f32`, `f64` |
/// |---|---|---|---|---|
/// | between rows | 512 bytes of one row | 16 | 512 bytes of one row | 4, 4 |
/// | along rows | 32 bytes each of 16 rows | 16 | 16 neighbours each of 2 rows, as often as a vector has elements | 1, 2 |
#[derive(Clone, Copy)]
pub(super) struct Staging<T, const VECTORS: usize> {
    /// The thread's first vector in the first tile; its others, and those of the next tiles, lie at equal distances.
    start: *const T,
    vector_step: u64,
    row_step: u64,
    /// Rows of the operand, k.
    rows: u32,
    /// Elements from the first vector on to the operand's last column, itself included.
    cols_left: u32,
    /// Whether k is along the rows in memory.
    along_k: bool,
    is_aligned: bool,
    /// Whether all columns of the tiles are there, and vectors are aligned.
    is_whole: bool,
}

impl<T: Float, const VECTORS: usize> Staging<T, VECTORS> {
    const LANES: u32 = T::LANES as u32;

    /// Rows of a tile: what the threads' vectors fill.
    pub(super) const DEPTH: u32 = VECTORS as u32 * Self::LANES * THREADS / SIDE;

    /// Whether all columns of the tiles are there and vectors are aligned, so that [`fetch_whole`](Self::fetch_whole) may
    /// be called.
    #[inline(always)]
    pub(super) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Whether k is along the rows in memory.
    #[inline(always)]
    pub(super) fn is_along_k(&self) -> bool {
        self.along_k
    }

    /// The same with a constant for [`is_along_k`](Self::is_along_k), which has this value.
    #[inline(always)]
    pub(super) fn along_k(self, along_k: bool) -> Self {
        Self { along_k, ..self }
    }

    /// Address of a vector of the tile from row `first` on.
    #[inline(always)]
    fn at(&self, first: u32, v: usize) -> *const T {
        let start = self.start.wrapping_add(first as usize * self.row_step as usize);
        start.wrapping_add(v * self.vector_step as usize)
    }

    /// Reads the tile from row `first` on, all of which is there.
    ///
    /// # Safety
    /// As [`fetch`](Self::fetch); [`is_whole`](Self::is_whole), and there are all rows.
    #[inline(always)]
    pub(super) unsafe fn fetch_whole(&self, first: u32) -> [Vector16<T>; VECTORS] {
        // SAFETY: the caller's promise.
        filled(|v| unsafe { *self.at(first, v).cast() })
    }

    /// Of the tiles from column `first_col` on of an operand whose rows go along k.
    #[inline(always)]
    pub(super) fn new(from: Operand<T>, first_col: u32) -> Self {
        let along_k = from.row_step() == 1;
        let (row, col) = place::<T>(along_k, 0);
        let (next_row, _) = place::<T>(along_k, 1);
        let is_aligned = from.is_aligned();
        Self {
            start: from.at(row, first_col + col),
            vector_step: from.row_step() * u64::from(next_row - row),
            row_step: from.row_step(),
            rows: from.rows(),
            cols_left: from.cols().saturating_sub(first_col + col),
            along_k,
            is_aligned,
            is_whole: is_aligned && first_col + SIDE <= from.cols(),
        }
    }

    /// Reads the tile from row `first` on, zeros where there is nothing.
    ///
    /// # Safety
    /// The operand is what was said when it was made, and nobody writes it.
    #[inline(always)]
    pub(super) unsafe fn fetch(&self, first: u32) -> [Vector16<T>; VECTORS] {
        // SAFETY: all of the tile is inside and its vectors are aligned, or it is looked at; the rest is the caller's promise.
        unsafe {
            if self.is_whole && first + Self::DEPTH <= self.rows {
                self.fetch_whole(first)
            } else {
                filled(|v| self.fetch_guarded(self.at(first, v), self.inside(first, v as u32)))
            }
        }
    }

    /// How many elements there are from the first of vector `v` on, in the direction of memory.
    #[inline(always)]
    fn inside(&self, first: u32, v: u32) -> u32 {
        let rows_left = self.rows.saturating_sub(first + place::<T>(self.along_k, v).0);
        let (ahead, across) = if self.along_k {
            (rows_left, self.cols_left)
        } else {
            (self.cols_left, rows_left)
        };
        if across > 0 { ahead } else { 0 }
    }

    /// A vector of which the first `inside` elements are there.
    ///
    /// # Safety
    /// As [`fetch`](Self::fetch).
    #[inline(always)]
    unsafe fn fetch_guarded(&self, at: *const T, inside: u32) -> Vector16<T> {
        let mut vector = Vector16::ZERO;
        // SAFETY: each element is inside, and the vector, where it is read as one, aligned.
        unsafe {
            if self.is_aligned && inside >= Self::LANES {
                return *at.cast();
            }
            Vector16::<T>::ZERO.for_each(|lane, _| {
                if (lane as u32) < inside {
                    vector.set(lane, *at.wrapping_add(lane));
                }
            });
        }
        vector
    }

    /// Writes the vectors to the tile that starts at row `first` of shared memory.
    ///
    /// # Safety
    /// The tile is there, and no other thread accesses it between the same two barriers, except through this.
    #[inline(always)]
    pub(super) unsafe fn put<L: Layout>(&self, tile: SharedTile<T, L>, first: u32, vectors: [Vector16<T>; VECTORS]) {
        unrolled::<VECTORS>(|v| {
            let vector = vectors[v];
            let (row, col) = place::<T>(self.along_k, v as u32);
            let row = first + row;
            // SAFETY: each thread has its own places; the rest is the caller's promise.
            unsafe {
                if self.along_k {
                    // lanes: 16 neighbours of a row, and of the row LANES below
                    vector.for_each(|lane, element| tile.write(row + lane as u32, col, element));
                } else {
                    *tile.at(row, col).cast() = vector; // lanes: a row
                }
            }
        });
    }
}

/// An array of what `get` gives for each place, in registers.
#[inline(always)]
fn filled<T: Float, const N: usize>(mut get: impl FnMut(usize) -> Vector16<T>) -> [Vector16<T>; N] {
    let mut array = [Vector16::ZERO; N];
    unrolled::<N>(|i| array[i] = get(i));
    array
}

/// Row and column in a tile of vector number `v` of this thread; along k it goes down the column.
#[inline(always)]
fn place<T: Float>(along_k: bool, v: u32) -> (u32, u32) {
    let (t, lanes) = (thread_idx_x(), T::LANES as u32);
    if along_k {
        ((t % 2 + 2 * v) * lanes, t / 2)
    } else {
        let across = SIDE / lanes;
        (t / across + v * (THREADS / across), t % across * lanes)
    }
}
