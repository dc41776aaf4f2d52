//! The transpose by vectors of 16 bytes.
//!
//! A thread takes a square of elements, as high as a vector is long: 4x4 for 4-byte elements. It reads the square's rows,
//! each by one instruction, exchanges rows and columns in its registers, and writes the rows of the turned square into the
//! turned tile in shared memory, from where vectors go to `y`. No access moves less than 16 bytes a lane.
//!
//! | elements | square | exchanged by | tile | threads | shared memory |
//! |---|---|---|---|---|---|
//! | 1 byte | 16x16 | 128 byte permutations | 128x128 | 8x8 | 16 KiB |
//! | 2 bytes | 8x8 | 32 byte permutations | 128x128 | 16x16 | 32 KiB |
//! | 4 bytes | 4x4 | nothing: other registers | 64x64 | 16x16 | 16 KiB |
//! | 8 bytes | 2x2 | nothing: other registers | 32x32 | 16x8 | 8 KiB |
//! | 16 bytes | 1x1 | nothing | 16x16 | 16x8 | 4 KiB |
//!
//! # Shared memory
//!
//! Eight lanes at a time write 16 bytes each, one row of squares apart and in the same column of vectors: all in the same
//! four banks. So the tile is swizzled: the vectors of a row are permuted by the number of the row's square (CuTe's
//! `Swizzle<3, M, S>`, where 2^M is a vector's length and 2^S the tile's side). Reading a row is conflict-free with and
//! without it.
//!
//! # Alignment
//!
//! Every row has to start at a multiple of 16 bytes, of `x` and of `y`. Where one does not, the kernel moves single elements
//! through the same shared memory, [`TILE`] rows and columns at a time, at the cost of [`swizzled`](super::swizzled).

use core::array;

use cuda_std::layout::{Pitched, RowMajor, StaticLayout, Swizzled, VECTOR_BYTES};
use cuda_std::math::byte_permute;
use cuda_std::prelude::*;
use cuda_std::unrolled;
use cuda_std::vector::{U32x4, Vector};

use super::{TILE, for_each_tile, turn};
use crate::tile::Permuted;

/// How a block's threads share a tile of elements of a type.
pub trait Vectors: Copy + Default {
    /// Where the elements of the turned tile lie in shared memory. The tile is square.
    type Tile: StaticLayout;

    /// Elements of a vector.
    const LANES: u32 = (VECTOR_BYTES / size_of::<Self>()) as u32;

    /// Vectors of a row of the tile, and threads along x.
    const WIDTH: u32 = Self::Tile::COLS as u32 / Self::LANES;

    /// Threads along y.
    const HEIGHT: u32;

    /// Squares of a thread.
    const SQUARES: u32 = Self::WIDTH / Self::HEIGHT;

    /// The transpose by vectors, or by elements where rows do not start at vectors.
    ///
    /// # Safety
    /// As [`vectorized`]; no other thread of the block uses the tile otherwise.
    unsafe fn transpose(tile: SharedTile<Self, Self::Tile>, x: *const Self, y: *mut Self, rows: u32, cols: u32);
}

macro_rules! vectors {
    ($($ty:ident: $tile:ty, $height:literal;)*) => {$(
        impl Vectors for $ty {
            type Tile = $tile;
            const HEIGHT: u32 = $height;

            #[inline(always)]
            unsafe fn transpose(tile: SharedTile<$ty, $tile>, x: *const $ty, y: *mut $ty, rows: u32, cols: u32) {
                const LANES: usize = <$ty as Vectors>::LANES as usize;
                const SQUARES: usize = <$ty as Vectors>::SQUARES as usize;
                const THREADS: u32 = <$ty as Vectors>::WIDTH * <$ty as Vectors>::HEIGHT;
                const PER_THREAD: usize = (TILE * TILE / THREADS) as usize;
                // SAFETY: the caller's promise; vectors are moved only where rows start at them.
                unsafe {
                    if starts_at_vectors(x, y, rows, cols) {
                        by_vectors::<$ty, LANES, SQUARES>(tile, x, y, rows, cols);
                    } else {
                        by_elements::<$ty, PER_THREAD>(tile, x, y, rows, cols);
                    }
                }
            }
        }
    )*};
}

vectors! {
    u8: Swizzled<RowMajor<128, 128>, 3, 4, 7>, 8;
    u16: Swizzled<RowMajor<128, 128>, 3, 3, 7>, 16;
    f32: Swizzled<RowMajor<64, 64>, 3, 2, 6>, 16;
    f64: Swizzled<RowMajor<32, 32>, 3, 1, 5>, 8;
    u128: Swizzled<RowMajor<16, 16>, 3, 0, 4>, 8;
}

/// A vector as words.
type Words = U32x4;

/// An element type of which a thread exchanges rows and columns in registers, `LANES` of each.
///
/// Written out word by word, so that it never becomes a loop whose index the registers could not be addressed with.
pub trait Square<const LANES: usize>: Vectors {
    /// The turned square: element i of row j is element j of row i before.
    fn turned(rows: [Words; LANES]) -> [Words; LANES];
}

/// Calls a macro for each pair of a number from 0 to 3 and a word of a vector.
macro_rules! for_each_pair {
    ($macro:ident) => {
        $macro!(0 0, 0 1, 0 2, 0 3, 1 0, 1 1, 1 2, 1 3, 2 0, 2 1, 2 2, 2 3, 3 0, 3 1, 3 2, 3 3)
    };
}

impl Square<16> for u8 {
    #[inline(always)]
    fn turned(rows: [Words; 16]) -> [Words; 16] {
        let mut turned = [Words::default(); 16];
        macro_rules! squares {
            ($($i:literal $word:literal),*) => {$({
                let four = array::from_fn(|k| rows[4 * $i + k].0[$word]);
                let [a, b, c, d] = bytes_turned(four);
                turned[4 * $word].0[$i] = a;
                turned[4 * $word + 1].0[$i] = b;
                turned[4 * $word + 2].0[$i] = c;
                turned[4 * $word + 3].0[$i] = d;
            })*};
        }
        for_each_pair!(squares);
        turned
    }
}

/// Rows and columns exchanged of 4x4 bytes, a row a word.
#[inline(always)]
fn bytes_turned([a, b, c, d]: [u32; 4]) -> [u32; 4] {
    // Bytes 0 and 1, then 2 and 3, of each of two rows side by side.
    let (ab, ab_high) = (byte_permute::<0x5140>(a, b), byte_permute::<0x7362>(a, b));
    let (cd, cd_high) = (byte_permute::<0x5140>(c, d), byte_permute::<0x7362>(c, d));
    [
        byte_permute::<0x5410>(ab, cd),
        byte_permute::<0x7632>(ab, cd),
        byte_permute::<0x5410>(ab_high, cd_high),
        byte_permute::<0x7632>(ab_high, cd_high),
    ]
}

impl Square<8> for u16 {
    #[inline(always)]
    fn turned(rows: [Words; 8]) -> [Words; 8] {
        let mut turned = [Words::default(); 8];
        macro_rules! squares {
            ($($i:literal $word:literal),*) => {$({
                let (a, b) = (rows[2 * $i].0[$word], rows[2 * $i + 1].0[$word]);
                turned[2 * $word].0[$i] = byte_permute::<0x5410>(a, b);
                turned[2 * $word + 1].0[$i] = byte_permute::<0x7632>(a, b);
            })*};
        }
        for_each_pair!(squares);
        turned
    }
}

impl Square<4> for f32 {
    #[inline(always)]
    fn turned(rows: [Words; 4]) -> [Words; 4] {
        let mut turned = [Words::default(); 4];
        macro_rules! words {
            ($($i:literal $word:literal),*) => {$(
                turned[$word].0[$i] = rows[$i].0[$word];
            )*};
        }
        for_each_pair!(words);
        turned
    }
}

impl Square<2> for f64 {
    #[inline(always)]
    fn turned([U32x4([a, b, c, d]), U32x4([e, f, g, h])]: [Words; 2]) -> [Words; 2] {
        [U32x4([a, b, e, f]), U32x4([c, d, g, h])]
    }
}

impl Square<1> for u128 {
    #[inline(always)]
    fn turned(rows: [Words; 1]) -> [Words; 1] {
        rows
    }
}

/// Moves vectors of 16 bytes where every row starts at a multiple of 16 bytes, else elements.
///
/// With vectors, each access of a warp to global memory is 16 sectors, all used, in pieces of 256 bytes that lie together
/// (128 bytes for 1-byte elements), and each to shared memory 4 wavefronts, which 512 bytes need at least.
///
/// # Safety
/// As [`copy`](super::copy); the block is [`Vectors::WIDTH`] x [`Vectors::HEIGHT`], the grid as for tiles of that side.
#[kernel(prefix = "transpose", max_threads = 256, types = [f32, f64, u16, u8, u128])]
pub unsafe fn vectorized<T: Vectors>(x: *const T, y: *mut T, rows: u32, cols: u32) {
    let tile = shared_tile!(T, <T as Vectors>::Tile);
    // SAFETY: the caller's promise; the tile is this kernel's own.
    unsafe { T::transpose(tile, x, y, rows, cols) }
}

/// Whether every row of both matrices starts at a multiple of 16 bytes.
#[inline(always)]
fn starts_at_vectors<T: Vectors>(x: *const T, y: *mut T, rows: u32, cols: u32) -> bool {
    // Elements of 16 bytes always do.
    T::LANES == 1 || ((rows | cols).is_multiple_of(T::LANES) && (x.addr() | y.addr()).is_multiple_of(VECTOR_BYTES))
}

/// The transpose by vectors.
///
/// # Safety
/// As [`vectorized`], and rows start at multiples of 16 bytes.
#[inline(always)]
unsafe fn by_vectors<T: Square<LANES>, const LANES: usize, const SQUARES: usize>(
    tile: SharedTile<T, T::Tile>,
    x: *const T,
    y: *mut T,
    rows: u32,
    cols: u32,
) {
    let x = GlobalMatrix::new(x, Pitched::unchecked(rows, cols, cols));
    let y = GlobalMatrixMut::new(y, Pitched::unchecked(cols, rows, rows));
    // First element of a vector, and first row of each square, in the tile.
    let vector = thread_idx_x() * T::LANES;
    let square = |i: usize| (thread_idx_y() + i as u32 * T::HEIGHT) * T::LANES;
    for_each_tile(rows, T::Tile::ROWS as u32, |row, col| {
        // SAFETY: the caller's promise; a square is inside the matrix or outside, but never in part, and what is read of the
        // tile was written; the barrier parts these, `for_each_tile` the reads from the next writes.
        unsafe {
            let mut squares = [[Words::default(); LANES]; SQUARES];
            for (i, rows) in squares.iter_mut().enumerate() {
                let from = x.column(row + square(i), col + vector, 1);
                if from.contains(0) {
                    unrolled::<LANES>(|k| {
                        rows[k] = Words::read(from.at(k as u32).cast()); // lane = vector: a row of x
                    });
                }
            }
            for (i, rows) in squares.iter().enumerate() {
                let turned = T::turned(*rows);
                unrolled::<LANES>(|k| {
                    let to = tile.at(vector + k as u32, square(i)); // lane = row of squares: a column of vectors
                    turned[k].write(to.cast());
                });
            }
            sync_threads();
            for i in 0..SQUARES {
                let to = y.column(col + square(i), row + vector, 1);
                if to.contains(0) {
                    unrolled::<LANES>(|k| {
                        let words = Words::read(tile.at(square(i) + k as u32, vector).cast()); // lane = vector: a row
                        words.write(to.at(k as u32).cast()); // lane = vector: a row of y
                    });
                }
            }
        }
    });
}

/// The transpose by elements, `N` a thread of each [`TILE`] rows and columns.
///
/// # Safety
/// As [`vectorized`].
#[inline(always)]
unsafe fn by_elements<T: Vectors, const N: usize>(
    tile: SharedTile<T, T::Tile>,
    x: *const T,
    y: *mut T,
    rows: u32,
    cols: u32,
) {
    let x = GlobalMatrix::new(x, Pitched::unchecked(rows, cols, cols));
    let y = GlobalMatrixMut::new(y, Pitched::unchecked(cols, rows, rows));
    let side = T::Tile::ROWS as u32;
    let index = thread_idx_y() * T::WIDTH + thread_idx_x();
    let thread = (index % TILE, index / TILE);
    for_each_tile(rows, side, |row, col| {
        for i in (0..side).step_by(TILE as usize) {
            for j in (0..side).step_by(TILE as usize) {
                if i + j > 0 {
                    sync_threads();
                }
                // SAFETY: the caller's promise; the vectors' tile has room for this one.
                unsafe {
                    let part = SharedTile::from_raw(tile.at(0, 0), Permuted::new());
                    turn::<T, _, N>(part, x, y, (row + i, col + j), thread);
                }
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Element `col` of row `row`, in `BYTES` bytes.
    fn number(row: usize, col: usize) -> [u8; 16] {
        (0x0101 * row as u128 + (col as u128) * 16).to_le_bytes()
    }

    fn turns<T: Square<LANES>, const LANES: usize>() {
        let bytes = size_of::<T>();
        let square = |transposed: bool| -> [Words; LANES] {
            array::from_fn(|row| {
                let mut vector = [0; 16];
                for col in 0..LANES {
                    let number = if transposed { number(col, row) } else { number(row, col) };
                    vector[col * bytes..][..bytes].copy_from_slice(&number[..bytes]);
                }
                U32x4(array::from_fn(|word| {
                    u32::from_le_bytes(vector[4 * word..][..4].try_into().unwrap())
                }))
            })
        };
        assert_eq!(T::turned(square(false)), square(true));
    }

    #[test]
    fn every_square_is_turned_in_registers() {
        turns::<u8, 16>();
        turns::<u16, 8>();
        turns::<f32, 4>();
        turns::<f64, 2>();
        turns::<u128, 1>();
    }

    #[test]
    fn blocks_are_whole_warps_and_tiles_have_room_for_the_elements_fallback() {
        fn fits<T: Vectors>() {
            let threads = T::WIDTH * T::HEIGHT;
            assert!(threads.is_multiple_of(32) && threads <= 256);
            assert_eq!(T::SQUARES * T::HEIGHT, T::WIDTH);
            assert_eq!(T::Tile::ROWS, T::Tile::COLS);
            assert!(T::LANES == 1 || T::Tile::STORAGE as u32 >= TILE * TILE);
        }
        fits::<u8>();
        fits::<u16>();
        fits::<f32>();
        fits::<f64>();
        fits::<u128>();
    }
}
