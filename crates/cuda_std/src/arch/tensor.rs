//! Tensor cores: a warp multiplies small matrices together, from `sm_80` on.
//!
//! `D = A B + C` with A of 16x16, B of 16x8 and C, D of 16x8 elements. Each lane holds a *fragment*: 8 elements of A, 4
//! of B and 4 of C, two 16-bit elements a register. [`ldmatrix_x4`] and its kin bring fragments from shared memory: they
//! load 8x8 matrices of 16-bit elements, of which each of eight lanes names a row's address (16 bytes, aligned).
//!
//! With lane = `4 g + t`, a lane's elements are, by row and column:
//!
//! | fragment | register 0 | register 1 | register 2 | register 3 |
//! |---|---|---|---|---|
//! | [`FragmentA`] | (g, 2t), (g, 2t+1) | (g+8, 2t), .. | (g, 2t+8), .. | (g+8, 2t+8), .. |
//! | [`FragmentB`] | (2t, g), (2t+1, g) | (2t+8, g), .. | | |
//! | [`Accumulator`] | (g, 2t) | (g, 2t+1) | (g+8, 2t) | (g+8, 2t+1) |
//!
//! So the rows that lanes name to fill a fragment from a tile in shared memory are:
//!
//! | fragment | tile in shared memory | load | lane `l` names the row that starts at |
//! |---|---|---|---|
//! | A | `a[m][k]` | [`ldmatrix_x4`] | `a[l % 16][l / 16 * 8]` |
//! | B | `b[k][n]` | [`ldmatrix_x2_transposed`] | `b[l % 16][0]` |
//! | B | `b[n][k]` | [`ldmatrix_x2`] | `b[l % 8][l / 8 % 2 * 8]` |

use crate::host::device;

/// A lane's part of A.
pub type FragmentA = [u32; 4];

/// A lane's part of B.
pub type FragmentB = [u32; 2];

/// A lane's part of C and D.
pub type Accumulator = [f32; 4];

/// Rows of A and of the accumulator.
pub const M: u32 = 16;

/// Columns of B and of the accumulator.
pub const N: u32 = 8;

/// Columns of A, rows of B.
pub const K: u32 = 16;

/// Row and column of element `i` of a lane's accumulator.
///
/// ```
/// use tile33_cuda_std::arch::tensor::accumulator_place;
/// assert_eq!(accumulator_place(0, 0), (0, 0));
/// assert_eq!(accumulator_place(5, 3), (9, 3));
/// assert_eq!(accumulator_place(31, 3), (15, 7));
/// ```
#[inline(always)]
#[must_use]
pub const fn accumulator_place(lane: u32, i: u32) -> (u32, u32) {
    (lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2)
}

macro_rules! ldmatrix {
    ($($(#[$doc:meta])* $name:ident -> $count:literal: $template:literal, ($($register:ident)*);)*) => {$(
        $(#[$doc])*
        ///
        /// Lane `l` of the first eight for each matrix names its row `l % 8`; the other lanes' addresses are not used.
        /// The lanes of the warp call this together.
        ///
        /// # Safety
        /// The rows are 16 bytes of shared memory each, aligned to 16 bytes, and nothing writes them at the same time.
        #[inline(always)]
        #[track_caller]
        #[must_use]
        pub unsafe fn $name(row: *const u16) -> [u32; $count] {
            device!(concat!("arch::tensor::", stringify!($name)), [row], {
                $(let $register: u32;)*
                // SAFETY: the caller's promise.
                unsafe {
                    core::arch::asm!(
                        $template,
                        $(out(reg32) $register,)*
                        in(reg32) super::shared_address(row),
                        options(readonly, nostack)
                    );
                }
                [$($register),*]
            })
        }
    )*};
}

ldmatrix! {
    /// Loads one 8x8 matrix.
    ldmatrix_x1 -> 1: "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{{}}}, [{}];", (a);
    /// Loads two 8x8 matrices.
    ldmatrix_x2 -> 2: "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {{{}, {}}}, [{}];", (a b);
    /// Loads four 8x8 matrices.
    ldmatrix_x4 -> 4: "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{{}, {}, {}, {}}}, [{}];", (a b c d);
    /// Loads one 8x8 matrix, transposed.
    ldmatrix_x1_transposed -> 1: "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {{{}}}, [{}];", (a);
    /// Loads two 8x8 matrices, each transposed.
    ldmatrix_x2_transposed -> 2: "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {{{}, {}}}, [{}];", (a b);
    /// Loads four 8x8 matrices, each transposed.
    ldmatrix_x4_transposed -> 4: "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {{{}, {}, {}, {}}}, [{}];", (a b c d);
}

macro_rules! mma {
    ($($(#[$doc:meta])* $name:ident: $instruction:literal;)*) => {$(
        $(#[$doc])*
        ///
        /// Gives `A B + C`. All lanes of the warp call this together.
        #[inline(always)]
        #[track_caller]
        #[must_use]
        pub fn $name(a: FragmentA, b: FragmentB, c: Accumulator) -> Accumulator {
            device!(concat!("arch::tensor::", stringify!($name)), [a, b, c], {
                let [c0, c1, c2, c3] = c.map(f32::to_bits);
                let (d0, d1, d2, d3): (u32, u32, u32, u32);
                // SAFETY: computes with registers only.
                unsafe {
                    core::arch::asm!(
                        concat!(
                            "mma.sync.aligned.m16n8k16.row.col.", $instruction,
                            " {{{}, {}, {}, {}}}, {{{}, {}, {}, {}}}, {{{}, {}}}, {{{}, {}, {}, {}}};"
                        ),
                        out(reg32) d0, out(reg32) d1, out(reg32) d2, out(reg32) d3,
                        in(reg32) a[0], in(reg32) a[1], in(reg32) a[2], in(reg32) a[3],
                        in(reg32) b[0], in(reg32) b[1],
                        in(reg32) c0, in(reg32) c1, in(reg32) c2, in(reg32) c3,
                        options(nomem, nostack)
                    );
                }
                [d0, d1, d2, d3].map(f32::from_bits)
            })
        }
    )*};
}

mma! {
    /// Multiplies `f16` matrices, sums in `f32`.
    mma_f16: "f32.f16.f16.f32";
    /// Multiplies `bf16` matrices, sums in `f32`.
    mma_bf16: "f32.bf16.bf16.f32";
}
