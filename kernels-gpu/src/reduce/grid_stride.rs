//! What to use: any number of elements in one launch, each thread with many of its own.

use cuda_std::atomic::{self, Device};
use cuda_std::layout::Strided;
use cuda_std::prelude::*;
use cuda_std::sync::fence_device;
use cuda_std::vector::Vector16;

use super::operation::{ArgBest, Best, Compensated, CompensatedSum, Largest, Max, Min, Smallest, Sum};
use super::warp_shuffle::across_block;
use super::{IN_FLIGHT, Number, Operation, THREADS, WarpCells};

/// One word, in which a block's threads learn whether theirs is the last block.
type Flag = Strided<1>;

/// Sums what falls to each block and adds it to `total`, which holds zero, by one atomic addition.
///
/// Loads as [`sum`]. The blocks' additions come in any order: for floating-point elements the result differs in the last
/// bits from run to run. **Not deterministic.**
///
/// # Safety
/// `input` holds `len` elements and is aligned to 16 bytes; `total` is one element and not among them; blocks of 256
/// threads.
#[kernel(prefix = "reduce", max_threads = 256, types = [f32, f64, i32, u32, i64])]
pub unsafe fn grid_stride_atomic<T: Number + atomic::Add<Device>>(input: *const T, len: u64, total: *mut T) {
    let cells = shared_array!(T, WarpCells);
    // SAFETY: the caller's promise; the cells are this kernel's own.
    unsafe {
        let of_block = across_block::<T, Sum>(cells, of_thread::<T, Sum>(input, len));
        if thread_idx_x() == 0 {
            atomic::add::<Device, T>(total, of_block);
        }
    }
}

macro_rules! kernels {
    ($($(#[$doc:meta])* $name:ident: $operation:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// Deterministic. Loads of 32 vectors of 16 bytes that lie together: 16 sectors a request, all used. Accesses to
        /// shared memory cost 1 wavefront each.
        ///
        /// # Safety
        /// `input` holds `len` elements and is aligned to 16 bytes; `partials` has room for one a block; `ticket` is zero
        /// (and is again afterwards); `result` is one element; none overlap; blocks of 256 threads.
        #[kernel(prefix = "reduce", max_threads = 256, types = [f32, f64, i32, u32, i64])]
        pub unsafe fn $name<T: Number>(input: *const T, len: u64, partials: *mut T, ticket: *mut u32, result: *mut T) {
            let (cells, last) = (shared_array!(T, WarpCells), shared_array!(u32, Flag));
            // SAFETY: the caller's promise; the shared arrays are this kernel's own.
            unsafe {
                let of_grid = across_grid::<T, $operation>(cells, last, input, len, partials, ticket);
                if let Some(of_grid) = of_grid {
                    *result = of_grid;
                }
            }
        }
    )*};
}

kernels! {
    /// The sum; integers wrap.
    sum: Sum;
    /// The smallest element. NaN is skipped: only of nothing but NaN is NaN the minimum.
    min: Min;
    /// The largest element. NaN is skipped: only of nothing but NaN is NaN the maximum.
    max: Max;
}

macro_rules! arg_kernels {
    ($($(#[$doc:meta])* $name:ident: $preference:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// Of equal elements the first counts; NaN is skipped, and of nothing but NaN the place is [`Best::NOWHERE`].
        /// Deterministic. Accesses as in [`sum`]; of each partial the index and the element are moved one after the other,
        /// 1 wavefront each.
        ///
        /// # Safety
        /// As [`sum`]; `index` is one more number.
        #[kernel(prefix = "reduce", max_threads = 256, types = [f32, f64, i32, u32, i64])]
        pub unsafe fn $name<T: Number>(
            input: *const T, len: u64, partials: *mut Best<T>, ticket: *mut u32, result: *mut T, index: *mut u64,
        ) {
            let (cells, last) = (shared_array!(Best<T>, WarpCells), shared_array!(u32, Flag));
            // SAFETY: the caller's promise; the shared arrays are this kernel's own.
            unsafe {
                let best = across_grid::<T, ArgBest<$preference>>(cells, last, input, len, partials, ticket);
                if let Some(best) = best {
                    *result = best.value;
                    *index = best.index;
                }
            }
        }
    )*};
}

arg_kernels! {
    /// The smallest element and its place.
    argmin: Smallest;
    /// The largest element and its place.
    argmax: Largest;
}

/// The sum, carrying the rounding error of every addition along: as if added with twice the precision.
///
/// Deterministic. Accesses as in [`sum`]; the warps' results are 8 bytes each.
///
/// # Safety
/// As [`sum`].
#[kernel(prefix = "reduce", max_threads = 256)]
pub unsafe fn compensated_sum_f32(
    input: *const f32,
    len: u64,
    partials: *mut Compensated,
    ticket: *mut u32,
    result: *mut f32,
) {
    let (cells, last) = (shared_array!(Compensated, WarpCells), shared_array!(u32, Flag));
    // SAFETY: the caller's promise; the shared arrays are this kernel's own.
    unsafe {
        let total = across_grid::<f32, CompensatedSum>(cells, last, input, len, partials, ticket);
        if let Some(total) = total {
            *result = total.sum + total.error;
        }
    }
}

/// The partial of the elements that fall to this thread when the whole grid goes through the input.
///
/// A warp loads 32 vectors that lie together. The [`IN_FLIGHT`] loads of a round do not wait for each other. The elements
/// after the last whole vector fall to the first threads of the grid.
///
/// # Safety
/// `input` holds `len` elements and is aligned to 16 bytes.
#[inline(always)]
unsafe fn of_thread<T: Number, O: Operation<T>>(input: *const T, len: u64) -> O::Partial {
    let vectors: *const Vector16<T> = input.cast();
    let whole = len / T::LANES as u64;
    let (start, step) = (global_index_x(), global_size_x());
    let mut partials = [O::NOTHING; IN_FLIGHT];
    let mut i = start;
    // SAFETY: vectors before `whole` and elements before `len` are the caller's promise.
    unsafe {
        while i + (IN_FLIGHT as u64 - 1) * step < whole {
            let [a, b, c, d] = core::array::from_fn(|k| *vectors.add((i + k as u64 * step) as usize));
            append::<T, O>(&mut partials[0], a, i);
            append::<T, O>(&mut partials[1], b, i + step);
            append::<T, O>(&mut partials[2], c, i + 2 * step);
            append::<T, O>(&mut partials[3], d, i + 3 * step);
            i += IN_FLIGHT as u64 * step;
        }
        while i < whole {
            append::<T, O>(&mut partials[0], *vectors.add(i as usize), i);
            i += step;
        }
        let rest = whole * T::LANES as u64 + start;
        if rest < len {
            partials[0] = O::append(partials[0], *input.add(rest as usize), rest);
        }
    }
    let [a, b, c, d] = partials;
    O::combine(O::combine(a, b), O::combine(c, d))
}

/// Appends the elements of vector `i` of the input.
#[inline(always)]
fn append<T: Number, O: Operation<T>>(partial: &mut O::Partial, vector: Vector16<T>, i: u64) {
    vector.for_each(|lane, value| *partial = O::append(*partial, value, i * T::LANES as u64 + lane as u64));
}

/// Combines what falls to all threads of the grid. The first thread of the block that finishes last has the result.
///
/// Each block leaves its partial and takes a ticket; who takes the last one knows that all partials are there. They are
/// combined in their order, whichever block that is.
///
/// # Safety
/// As the kernels that call it.
#[inline(always)]
unsafe fn across_grid<T: Number, O: Operation<T>>(
    cells: SharedArray<O::Partial, WarpCells>,
    last: SharedArray<u32, Flag>,
    input: *const T,
    len: u64,
    partials: *mut O::Partial,
    ticket: *mut u32,
) -> Option<O::Partial> {
    let (t, blocks) = (thread_idx_x(), grid_dim_x());
    // SAFETY: the caller's promise. A barrier lies between the uses of the shared arrays; the fences order the partials
    // and the tickets, so that the last block sees what the others left.
    unsafe {
        let of_block = across_block::<T, O>(cells, of_thread::<T, O>(input, len));
        if t == 0 {
            *partials.add(block_idx_x() as usize) = of_block;
            fence_device();
            let taken = atomic::add::<Device, u32>(ticket, 1);
            fence_device();
            last.write(0, u32::from(taken == blocks - 1));
        }
        sync_threads();
        if last.read(0) == 0 {
            return None;
        }
        let mut partial = O::NOTHING;
        for block in (t..blocks).step_by(THREADS) {
            partial = O::combine(partial, *partials.add(block as usize));
        }
        let of_grid = across_block::<T, O>(cells, partial);
        if t > 0 {
            return None;
        }
        atomic::store::<Device, u32>(ticket, 0);
        Some(of_grid)
    }
}
