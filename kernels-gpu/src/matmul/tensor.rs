//! Tensor cores: a warp multiplies 16 x 16 by 16 x 8 in one instruction.

use cuda_std::arch::copy;
use cuda_std::arch::tensor::{
    Accumulator, FragmentA, FragmentB, ldmatrix_x4, ldmatrix_x4_transposed, mma_bf16, mma_f16,
};
use cuda_std::layout::{Layout, StaticLayout};
use cuda_std::prelude::*;
use cuda_std::vector::{U16x8, Vector};
use cuda_std::warp::LANES;

use super::operand::{Operand, TRANSPOSED_A, TRANSPOSED_B, Target};
use super::register_tiled::tile_of_block;
use super::shape::{AcrossK, AlongK, SIDE, STAGES, TENSOR_DEPTH, TENSOR_THREADS};

/// Rows and columns of C that a warp makes.
const WARP_SIDE: u32 = 64;

/// Elements of 16 bytes: what a copy moves, and a row of the matrices that `ldmatrix` loads.
const PIECE: u32 = U16x8::LANES;

/// Pieces of a tile that a thread copies.
const PIECES: u32 = SIDE * TENSOR_DEPTH / PIECE / TENSOR_THREADS;

/// A warp's sums: 4 x 8 of the tensor cores' tiles, 16 rows by 8 columns each.
type Sums = [[Accumulator; 8]; 4];

/// An operand's tiles in shared memory, [`STAGES`] of them: [`SIDE`] lines, rows of A or columns of B, of
/// [`TENSOR_DEPTH`] steps along k.
#[derive(Clone, Copy)]
struct Tiles<const ALONG_K: bool> {
    base: *mut u16,
}

impl<const ALONG_K: bool> Tiles<ALONG_K> {
    /// Address of an element.
    #[inline(always)]
    fn at(self, stage: u32, line: u32, k: u32) -> *mut u16 {
        let offset = if ALONG_K {
            AlongK::NEW.offset(stage * SIDE + line, k)
        } else {
            AcrossK::NEW.offset(stage * TENSOR_DEPTH + k, line)
        };
        self.base.wrapping_add(offset as usize)
    }

    /// Four 8 x 8 matrices, of the 16 lines from `line` on and the 16 steps from `k` on, as fragments have them: lines
    /// across the lanes. `second_is` says whether the second of the four is the next along the lines or along k.
    ///
    /// Each names eight rows of 16 bytes, all in different banks: 4 wavefronts for the four.
    ///
    /// # Safety
    /// They were written, and nobody writes them at the same time. The lanes of the warp call this together.
    #[inline(always)]
    unsafe fn load(self, stage: u32, line: u32, k: u32, second_is: Second) -> [u32; 4] {
        let lane = thread_idx_x() % LANES;
        let (second, third) = (lane / 8 % 2 * PIECE, lane / 16 * PIECE);
        let (line_of, k_of) = match second_is {
            Second::Line => (second, third),
            Second::K => (third, second),
        };
        // SAFETY: the caller's promise.
        unsafe {
            if ALONG_K {
                ldmatrix_x4(self.at(stage, line + line_of + lane % 8, k + k_of))
            } else {
                ldmatrix_x4_transposed(self.at(stage, line + line_of, k + k_of + lane % 8))
            }
        }
    }
}

/// The order of the four matrices of a load.
#[derive(Clone, Copy)]
enum Second {
    /// First all lines: fragments of A.
    Line,
    /// First all of k: two fragments of B.
    K,
}

/// How a thread copies its pieces of an operand's tiles.
#[derive(Clone, Copy)]
struct Copying<const ALONG_K: bool> {
    /// The thread's first piece in the first tile; the others, and those of the next tiles, lie at equal distances.
    start: *const u16,
    piece_step: u64,
    k_step: u64,
    /// Steps along k that the operand has.
    k: u32,
    /// Lines from the thread's first piece to the operand's end.
    lines_left: u32,
    is_aligned: bool,
    /// Whether all lines of the tiles are there, and pieces are aligned.
    is_whole: bool,
}

impl<const ALONG_K: bool> Copying<ALONG_K> {
    /// Of the tiles from line `first` on of an operand, lines by columns and k by rows.
    #[inline(always)]
    fn new(from: Operand<u16>, first: u32) -> Self {
        let (line, k) = Self::place(0);
        let (next_line, next_k) = Self::place(1);
        let is_aligned = from.is_aligned();
        Self {
            start: from.at(k, first + line),
            piece_step: u64::from(next_line - line) * from.col_step() + u64::from(next_k - k) * from.row_step(),
            k_step: from.row_step(),
            k: from.rows(),
            lines_left: from.cols().saturating_sub(first + line),
            is_aligned,
            is_whole: is_aligned && first + SIDE <= from.cols(),
        }
    }

    /// Line and step along k in a tile of the thread's piece number `i`.
    #[inline(always)]
    fn place(i: u32) -> (u32, u32) {
        let t = thread_idx_x();
        if ALONG_K {
            let across = TENSOR_DEPTH / PIECE;
            (t / across + i * (TENSOR_THREADS / across), t % across * PIECE)
        } else {
            let across = SIDE / PIECE;
            (t % across * PIECE, t / across + i * (TENSOR_THREADS / across))
        }
    }

    /// Starts to copy the tile from step `first` along k on to a stage, zeros where there is nothing.
    ///
    /// # Safety
    /// The operand is what was said when it was made, and nobody writes it; nobody accesses the stage until the copies are
    /// waited for and a barrier follows.
    #[inline(always)]
    unsafe fn begin(&self, to: Tiles<ALONG_K>, stage: u32, first: u32) {
        let start = self.start.wrapping_add(first as usize * self.k_step as usize);
        let from = |i: u32| start.wrapping_add(i as usize * self.piece_step as usize);
        let to = |i: u32| {
            let (line, k) = Self::place(i);
            to.at(stage, line, k)
        };
        // SAFETY: all of the tile is inside and aligned, or each piece is looked at; the rest is the caller's promise.
        unsafe {
            if self.is_whole && first + TENSOR_DEPTH <= self.k {
                for i in 0..PIECES {
                    copy::start::<16, u16>(to(i), from(i)); // lanes: 64 bytes each of 8 rows in memory, or 256 of 2
                }
            } else {
                for i in 0..PIECES {
                    self.begin_guarded(to(i), from(i), self.inside(first, i));
                }
            }
        }
    }

    /// How many elements of piece `i` there are.
    #[inline(always)]
    fn inside(&self, first: u32, i: u32) -> u32 {
        let (line, k) = Self::place(i);
        let lines_left = self.lines_left.saturating_sub(line - Self::place(0).0);
        let k_left = self.k.saturating_sub(first + k);
        let (ahead, across) = if ALONG_K {
            (k_left, lines_left)
        } else {
            (lines_left, k_left)
        };
        if across > 0 { ahead.min(PIECE) } else { 0 }
    }

    /// Copies a piece of which the first `inside` elements are there, at once where it is not aligned.
    ///
    /// # Safety
    /// As [`begin`](Self::begin).
    #[inline(always)]
    unsafe fn begin_guarded(&self, to: *mut u16, from: *const u16, inside: u32) {
        // SAFETY: only what is inside is read; the rest is the caller's promise.
        unsafe {
            if self.is_aligned {
                copy::start_first::<16, u16>(to, from, 2 * inside);
            } else {
                let mut piece = [0; PIECE as usize];
                written_out!(i in [0 1 2 3 4 5 6 7] => {
                    if (i as u32) < inside {
                        piece[i] = *from.wrapping_add(i);
                    }
                });
                U16x8(piece).write(to);
            }
        }
    }
}

/// A warp's sums of the block's tile of C from (`row`, `col`) on, of operands of which k is along the rows in memory or is
/// not.
///
/// # Safety
/// As [`tensor_f16`]; `base_a` and `base_b` are shared memory for [`STAGES`] tiles each, which no other thread uses
/// otherwise.
#[inline(always)]
unsafe fn product<const A_ALONG_K: bool, const B_ALONG_K: bool>(
    mma: impl Fn(FragmentA, FragmentB, Accumulator) -> Accumulator,
    (base_a, base_b): (*mut u16, *mut u16),
    (a, b): (Operand<u16>, Operand<u16>),
    (row, col): (u32, u32),
) -> Sums {
    let k = a.rows();
    let (tiles_a, tiles_b) = (Tiles::<A_ALONG_K> { base: base_a }, Tiles::<B_ALONG_K> { base: base_b });
    let (a, b) = (Copying::<A_ALONG_K>::new(a, row), Copying::<B_ALONG_K>::new(b, col));
    let (warp_row, warp_col) = place_of_warp();
    let mut sums: Sums = [[[0.0; 4]; 8]; 4];

    // SAFETY: the caller's promise. A stage is read after its copies were waited for and a barrier; it is copied to again
    // after the barrier that follows.
    unsafe {
        let mut ahead = 0;
        for stage in 0..STAGES - 1 {
            if ahead < k {
                a.begin(tiles_a, stage, ahead);
                b.begin(tiles_b, stage, ahead);
            }
            copy::commit();
            ahead += TENSOR_DEPTH;
        }
        let (mut first, mut stage) = (0, 0);
        while first < k {
            copy::wait::<{ STAGES - 2 }>();
            sync_threads();
            if ahead < k {
                let free = if stage == 0 { STAGES - 1 } else { stage - 1 };
                a.begin(tiles_a, free, ahead);
                b.begin(tiles_b, free, ahead);
            }
            copy::commit();
            written_out!(step in [0 1] => {
                let k = step as u32 * 16;
                let (mut x, mut y) = ([[0; 4]; 4], [[0; 4]; 4]);
                written_out!(i in [0 1 2 3] => {
                    x[i] = tiles_a.load(stage, warp_row + i as u32 * 16, k, Second::Line);
                    y[i] = tiles_b.load(stage, warp_col + i as u32 * 16, k, Second::K);
                });
                written_out!(i in [0 1 2 3] => {
                    written_out!(j in [0 1 2 3] => {
                        sums[i][2 * j] = mma(x[i], [y[j][0], y[j][1]], sums[i][2 * j]);
                        sums[i][2 * j + 1] = mma(x[i], [y[j][2], y[j][3]], sums[i][2 * j + 1]);
                    });
                });
            });
            stage = if stage == STAGES - 1 { 0 } else { stage + 1 };
            first += TENSOR_DEPTH;
            ahead += TENSOR_DEPTH;
        }
    }
    sums
}

/// Writes a warp's part of C.
///
/// # Safety
/// As [`Target::store_pair`].
#[inline(always)]
unsafe fn finish(c: Target<f32>, (row, col): (u32, u32), sums: &Sums) {
    let (warp_row, warp_col) = place_of_warp();
    let lane = thread_idx_x() % LANES;
    let (row, col) = (row + warp_row + lane / 4, col + warp_col + lane % 4 * 2);
    written_out!(i in [0 1 2 3] => {
        written_out!(j in [0 1 2 3 4 5 6 7] => {
            let (row, col) = (row + i as u32 * 16, col + j as u32 * 8);
            let [left, right, below_left, below_right] = sums[i][j];
            // SAFETY: the caller's promise.
            unsafe {
                c.store_pair(row, col, [left, right]); // lanes: 32 bytes each of 8 rows
                c.store_pair(row + 8, col, [below_left, below_right]);
            }
        });
    });
}

/// First row and column of this warp's part of the block's tile of C.
#[inline(always)]
fn place_of_warp() -> (u32, u32) {
    let warp = thread_idx_x() / LANES;
    (warp / 2 * WARP_SIDE, warp % 2 * WARP_SIDE)
}

macro_rules! kernels {
    ($($(#[$doc:meta])* $name:ident: $mma:ident;)*) => {$(
        $(#[$doc])*
        #[kernel(prefix = "matmul", max_threads = 128, min_blocks = 2)]
        #[allow(clippy::too_many_arguments, reason = "BLAS's")]
        pub unsafe fn $name(
            m: u32,
            n: u32,
            k: u32,
            alpha: f32,
            a: *const u16,
            lda: u32,
            b: *const u16,
            ldb: u32,
            beta: f32,
            c: *mut f32,
            ldc: u32,
            transposed: u32,
        ) {
            let (tiles_a, tiles_b) = (shared_tile!(u16, AlongK), shared_tile!(u16, AlongK));
            const { assert!(AlongK::STORAGE == AcrossK::STORAGE, "tiles lie in the same memory either way") };
            let tiles = (tiles_a.at(0, 0), tiles_b.at(0, 0));
            let (a_turned, b_turned) = (transposed & TRANSPOSED_A > 0, transposed & TRANSPOSED_B > 0);
            let operands = (
                Operand::new(a, m, k, lda, a_turned).transpose(),
                Operand::new(b, k, n, ldb, b_turned),
            );
            let place = tile_of_block(m, n);
            // SAFETY: the caller's promise; the tiles are this kernel's own.
            unsafe {
                let sums = match (a_turned, b_turned) {
                    (false, false) => product::<true, false>($mma, tiles, operands, place),
                    (false, true) => product::<true, true>($mma, tiles, operands, place),
                    (true, false) => product::<false, false>($mma, tiles, operands, place),
                    (true, true) => product::<false, true>($mma, tiles, operands, place),
                };
                finish(Target::new(c, m, n, ldc, alpha, beta), place, &sums);
            }
        }
    )*};
}

kernels! {
    /// `f16` by `f16`, summed up in `f32`.
    ///
    /// Each of the four warps makes 64 x 64 of C. Tiles come by `cp.async`, 16 bytes a lane, into the third of three stages
    /// while one is multiplied: 16 sectors a request, all used, and 4 wavefronts. Where a leading dimension is no multiple
    /// of 16 bytes, they are read element by element, and not ahead. `ldmatrix` takes them to registers, 4 wavefronts for
    /// four matrices of 8 x 8: [`AlongK`] and [`AcrossK`] spread the rows of each over all banks. C is written 8 bytes a lane, 8
    /// sectors a request.
    ///
    /// The tensor cores may truncate where others round: the bound of a result's error is four times as large.
    ///
    /// # Safety
    /// As [`naive`](super::naive), with blocks of [`TENSOR_THREADS`] threads.
    tensor_f16: mma_f16;
    /// As [`tensor_f16`], of `bf16`.
    ///
    /// # Safety
    /// As [`tensor_f16`].
    tensor_bf16: mma_bf16;
}
