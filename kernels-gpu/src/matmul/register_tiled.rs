//! Tiles in registers: every number that comes from shared memory is used eight times.

use cuda_std::layout::Layout;
use cuda_std::prelude::*;
use cuda_std::unrolled;
use cuda_std::vector::Vector16;
use cuda_std::warp::LANES;

use super::operand::{Float, Operand, TRANSPOSED_A, TRANSPOSED_B, Target};
use super::shape::{FourPanels, MICRO, Panel, SIDE, TwoPanels};
use super::staging::Staging;

/// The part of the block's tile of C that is a thread's: [`MICRO`] rows and columns, in pieces of a vector's length.
///
/// A warp makes 32 rows and 64 columns. Its threads stand in 4 rows and 8 columns, so that at each step along k it reads, of
/// A and of B each, 4 or 8 vectors that lie together. Lanes whose numbers differ in the lowest bit have the same vector of
/// B, those with different second bits the same of A: the hardware then takes half as many wavefronts, 2 a request.
#[derive(Clone, Copy)]
struct Place {
    row: u32,
    col: u32,
}

impl Place {
    #[inline(always)]
    fn of_thread<T: Float>() -> Self {
        let (warp, lane) = (thread_idx_x() / LANES, thread_idx_x() % LANES);
        let lanes = T::LANES as u32;
        Self {
            row: warp / 2 * 32 + (lane / 16 * 2 + lane % 2) * lanes,
            col: warp % 2 * 64 + lane / 2 % 8 * lanes,
        }
    }

    /// Rows from a piece to the next.
    #[inline(always)]
    fn row_step<T: Float>() -> u32 {
        4 * T::LANES as u32
    }

    /// Columns from a piece to the next.
    #[inline(always)]
    fn col_step<T: Float>() -> u32 {
        8 * T::LANES as u32
    }
}

/// [`MICRO`] elements of row `row` of a tile, in pieces of a vector.
///
/// # Safety
/// As [`SharedTile::read`] for each.
#[inline(always)]
unsafe fn fragment<T: Float, L: Layout>(tile: SharedTile<T, L>, row: u32, first: u32, step: u32) -> [T; MICRO] {
    let mut elements = [T::ZERO; MICRO];
    unrolled::<8>(|i| {
        if i.is_multiple_of(T::LANES) {
            let piece = (i / T::LANES) as u32;
            // SAFETY: the caller's promise.
            let vector: Vector16<T> = unsafe { *tile.at(row, first + piece * step).cast() };
            vector.for_each(|lane, element| elements[i + lane] = element);
        }
    });
    elements
}

/// The tiles of A and B in shared memory.
type Tiles<T, L> = (SharedTile<T, L>, SharedTile<T, L>);

/// A thread's sums.
type Sums<T> = [[T; MICRO]; MICRO];

/// Adds the products of `STEPS` columns of A's tile and rows of B's, from row `first` on.
///
/// # Safety
/// The tiles were written, and nobody writes them at the same time.
#[inline(always)]
unsafe fn multiply<T: Float, L: Layout, const STEPS: usize>(
    (tile_a, tile_b): Tiles<T, L>,
    first: u32,
    place: Place,
    sums: &mut Sums<T>,
) {
    unrolled::<STEPS>(|step| {
        let row = first + step as u32;
        // SAFETY: the caller's promise.
        let (x, y) = unsafe {
            (
                fragment(tile_a, row, place.row, Place::row_step::<T>()), // lanes: 4 vectors side by side
                fragment(tile_b, row, place.col, Place::col_step::<T>()), // lanes: 8 vectors side by side
            )
        };
        unrolled::<8>(|i| {
            unrolled::<8>(|j| {
                sums[i][j] = x[i].fma(y[j], sums[i][j]);
            });
        });
    });
}

/// The same for `depth` rows, in a loop of `STEPS` at a time: less code.
///
/// # Safety
/// As [`multiply`].
#[inline(always)]
unsafe fn multiply_in_steps<T: Float, L: Layout, const STEPS: usize>(
    tiles: Tiles<T, L>,
    first: u32,
    depth: u32,
    place: Place,
    sums: &mut Sums<T>,
) {
    let mut step = 0;
    while step < depth {
        // SAFETY: the caller's promise.
        unsafe { multiply::<T, L, STEPS>(tiles, first + step, place, sums) };
        step += STEPS as u32;
    }
}

/// All products, a tile after the other.
///
/// # Safety
/// The tiles are the block's alone, with [`Staging::DEPTH`] rows at least.
#[inline(always)]
unsafe fn one_by_one<T: Float, L: Layout, const VECTORS: usize>(
    tiles: Tiles<T, L>,
    k: u32,
    (a, b): (Staging<T, VECTORS>, Staging<T, VECTORS>),
    place: Place,
    sums: &mut Sums<T>,
) {
    let depth = Staging::<T, VECTORS>::DEPTH;
    let mut first = 0;
    while first < k {
        // SAFETY: the caller's promise; a barrier parts the tiles' writes from their reads, and these from the next writes.
        unsafe {
            a.put(tiles.0, 0, a.fetch(first));
            b.put(tiles.1, 0, b.fetch(first));
            sync_threads();
            multiply_in_steps::<T, L, 8>(tiles, 0, depth, place, sums);
            sync_threads();
        }
        first += depth;
    }
}

/// All products, with the next tile on its way while the present one is multiplied.
///
/// Only for operands that are whole across, with `along_k` known when compiling: nothing but loads, stores and products is
/// then in the loop, and the assembler can mix them.
///
/// # Safety
/// The tiles are the block's alone, with twice [`Staging::DEPTH`] rows.
#[inline(always)]
unsafe fn overlapped<T: Float, L: Layout, const VECTORS: usize, const STEPS: usize>(
    tiles: Tiles<T, L>,
    k: u32,
    (a, b): (Staging<T, VECTORS>, Staging<T, VECTORS>),
    place: Place,
    sums: &mut Sums<T>,
) {
    let depth = const {
        assert!(Staging::<T, VECTORS>::DEPTH == STEPS as u32);
        STEPS as u32
    };
    // SAFETY: the caller's promise. Between two barriers one of the tiles is read and the other written.
    unsafe {
        let put = |tile, fetched: (_, _)| {
            a.put(tiles.0, tile, fetched.0);
            b.put(tiles.1, tile, fetched.1);
            sync_threads();
        };
        put(0, (a.fetch(0), b.fetch(0)));
        let (mut next, mut present) = (depth, 0);
        while next + depth <= k {
            let fetched = (a.fetch_whole(next), b.fetch_whole(next));
            multiply::<T, L, STEPS>(tiles, present, place, sums);
            present = depth - present;
            put(present, fetched);
            next += depth;
        }
        // What is left of k is no whole tile.
        if next < k {
            let fetched = (a.fetch(next), b.fetch(next));
            multiply_in_steps::<T, L, 2>(tiles, present, depth, place, sums);
            present = depth - present;
            put(present, fetched);
        }
        multiply_in_steps::<T, L, 2>(tiles, present, depth, place, sums);
    }
}

/// Writes a thread's part of C.
///
/// # Safety
/// As [`Target::store`].
#[inline(always)]
unsafe fn finish<T: Float>(c: Target<T>, (row, col): (u32, u32), place: Place, sums: &[[T; MICRO]; MICRO]) {
    unrolled::<8>(|i| {
        let row = row + place.row + (i / T::LANES) as u32 * Place::row_step::<T>() + (i % T::LANES) as u32;
        unrolled::<8>(|j| {
            if j.is_multiple_of(T::LANES) {
                let col = col + place.col + (j / T::LANES) as u32 * Place::col_step::<T>();
                let mut piece = Vector16::ZERO;
                Vector16::<T>::ZERO.for_each(|lane, _| piece.set(lane, sums[i][j + lane]));
                // SAFETY: the caller's promise.
                unsafe { c.store_vector(row, col, piece) }; // lanes: 128 bytes each of 4 rows
            }
        });
    });
}

/// First row and column of this block's tile of C.
///
/// Blocks that run at the same time have tiles of few rows and few columns: eight rows of tiles are gone through column by
/// column. What they read of A and B is then often still in the second-level cache.
#[inline(always)]
pub(super) fn tile_of_block(m: u32, n: u32) -> (u32, u32) {
    const TOGETHER: u32 = 8;
    let (down, across) = (m.div_ceil(SIDE), n.div_ceil(SIDE));
    let (group, number) = (block_idx_x() / (TOGETHER * across), block_idx_x() % (TOGETHER * across));
    let height = (down - group * TOGETHER).min(TOGETHER);
    ((group * TOGETHER + number % height) * SIDE, number / height * SIDE)
}

macro_rules! kernels {
    ($ty:ident: $vectors:literal vectors, $deep:literal vectors of $steps:literal steps in $panels:ty, min_blocks = $min_blocks:literal, $register_tiled:ident, $double_buffered:ident) => {
        /// Every thread makes 8 x 8 of C: of two vectors of eight, 64 products.
        ///
        /// Global memory is read and written 16 bytes a lane, 16 sectors a request, all used; where a leading dimension is
        /// no multiple of 16 bytes, and at the edges, element by element. In shared memory the tiles of A and B go along k,
        /// so that both are read in vectors: 2 wavefronts a request. [`Panel`] keeps the stores free of conflicts: 4 for a
        /// vector, and where it is turned 1 an element of `f32`, 2 of `f64`.
        ///
        /// # Safety
        /// As [`naive`](super::naive), with blocks of [`THREADS`](super::THREADS) threads.
        #[kernel(prefix = "matmul", max_threads = 256, min_blocks = $min_blocks)]
        #[allow(clippy::too_many_arguments, reason = "BLAS's")]
        pub unsafe fn $register_tiled(
            m: u32,
            n: u32,
            k: u32,
            alpha: $ty,
            a: *const $ty,
            lda: u32,
            b: *const $ty,
            ldb: u32,
            beta: $ty,
            c: *mut $ty,
            ldc: u32,
            transposed: u32,
        ) {
            let (tile_a, tile_b) = (shared_tile!($ty, Panel), shared_tile!($ty, Panel));
            let a = Operand::new(a, m, k, lda, transposed & TRANSPOSED_A > 0).transpose();
            let b = Operand::new(b, k, n, ldb, transposed & TRANSPOSED_B > 0);
            let (row, col) = tile_of_block(m, n);
            let (a, b) = (
                Staging::<$ty, $vectors>::new(a, row),
                Staging::<$ty, $vectors>::new(b, col),
            );
            let place = Place::of_thread::<$ty>();
            let mut sums = [[0.0; MICRO]; MICRO];
            // SAFETY: the caller's promise; the tiles are this kernel's own.
            unsafe {
                one_by_one((tile_a, tile_b), k, (a, b), place, &mut sums);
                finish(Target::new(c, m, n, ldc, alpha, beta), (row, col), place, &sums);
            }
        }

        /// As the one with a tile in registers, but the next tiles are on their way while it multiplies: from global memory
        /// into registers, and from there to the second of two tiles in shared memory.
        ///
        /// The same accesses; one barrier for each tile, not two. At the edges of C, and where vectors of 16 bytes cannot be
        /// read, a block fetches each tile when it needs it.
        ///
        /// # Safety
        /// As [`naive`](super::naive), with blocks of [`THREADS`](super::THREADS) threads.
        #[kernel(prefix = "matmul", max_threads = 256, min_blocks = $min_blocks)]
        #[allow(clippy::too_many_arguments, reason = "BLAS's")]
        pub unsafe fn $double_buffered(
            m: u32,
            n: u32,
            k: u32,
            alpha: $ty,
            a: *const $ty,
            lda: u32,
            b: *const $ty,
            ldb: u32,
            beta: $ty,
            c: *mut $ty,
            ldc: u32,
            transposed: u32,
        ) {
            let (tiles_a, tiles_b) = (shared_tile!($ty, $panels), shared_tile!($ty, $panels));
            let a = Operand::new(a, m, k, lda, transposed & TRANSPOSED_A > 0).transpose();
            let b = Operand::new(b, k, n, ldb, transposed & TRANSPOSED_B > 0);
            let (row, col) = tile_of_block(m, n);
            let (a, b) = (
                Staging::<$ty, $deep>::new(a, row),
                Staging::<$ty, $deep>::new(b, col),
            );
            let place = Place::of_thread::<$ty>();
            let mut sums = [[0.0; MICRO]; MICRO];
            let tiles = (tiles_a, tiles_b);
            // SAFETY: the caller's promise; the tiles are this kernel's own.
            unsafe {
                macro_rules! overlapped {
                    ($a:literal, $b:literal) => {
                        overlapped::<_, _, _, $steps>(tiles, k, (a.along_k($a), b.along_k($b)), place, &mut sums)
                    };
                }
                match (a.is_whole() && b.is_whole(), a.is_along_k(), b.is_along_k()) {
                    (false, ..) => one_by_one(tiles, k, (a, b), place, &mut sums),
                    (true, false, false) => overlapped!(false, false),
                    (true, false, true) => overlapped!(false, true),
                    (true, true, false) => overlapped!(true, false),
                    (true, true, true) => overlapped!(true, true),
                }
                finish(Target::new(c, m, n, ldc, alpha, beta), (row, col), place, &sums);
            }
        }
    };
}

kernels!(f32: 1 vectors, 2 vectors of 16 steps in FourPanels, min_blocks = 2, register_tiled_f32, double_buffered_f32);
kernels!(f64: 2 vectors, 2 vectors of 8 steps in TwoPanels, min_blocks = 1, register_tiled_f64, double_buffered_f64);
