//! One pass over the input, however long.

use cuda_std::atomic::{self, Device};
use cuda_std::layout::Strided;
use cuda_std::prelude::*;
use cuda_std::unrolled;
use cuda_std::vector::Vector16;
use cuda_std::warp::{FULL_WARP, LANES, ballot, lane_id, shuffle, shuffle_up, shuffle_xor};

use super::state::{Known, State};
use super::{LOOK_BACK_WARPS as WARPS, ROUNDS, look_back_tile};
use crate::reduce::Number;

/// The sum of each warp's elements; later the sum of all that lies before them.
type WarpSums = Strided<WARPS>;

/// The number of the block's tile.
type Ticket = Strided<1>;

macro_rules! kernels {
    ($($(#[$doc:meta])* $name:ident: $inclusive:literal;)*) => {$(
        $(#[$doc])*
        ///
        /// A tile is 512 threads x 8 vectors of 16 bytes. A warp's loads and stores are 32 vectors that lie together: 16
        /// sectors a request, all used. Lanes exchange registers; through shared memory go one number from each warp, the
        /// tile's number, and the sum before each warp: 1 wavefront for each access.
        ///
        /// Integers wrap and are deterministic; floating-point results may differ in the last bits from run to run.
        ///
        /// # Safety
        /// `input` and `output` hold `len` elements each and are aligned to 16 bytes; `output` is `input` or does not
        /// overlap it; `states` holds zeros, [`State::WORDS`] words of 8 bytes for each block; `ticket` is zero; a block of
        /// 512 threads for each tile.
        #[kernel(prefix = "scan", max_threads = 512, min_blocks = 2, types = [f32, f64, i32, u32, i64])]
        pub unsafe fn $name<T: Number + State>(
            input: *const T, output: *mut T, len: u64, states: *mut u64, ticket: *mut u32,
        ) {
            let (sums, number) = (shared_array!(T, WarpSums), shared_array!(u32, Ticket));
            // SAFETY: the caller's promise; the shared arrays are this kernel's own.
            unsafe { look_back::<T, $inclusive>(sums, number, input, output, len, states, ticket) }
        }
    )*};
}

kernels! {
    /// The sum of the elements before each element.
    exclusive: false;
    /// The sum of the elements up to each element.
    inclusive: true;
}

/// # Safety
/// As the kernels.
#[inline(always)]
unsafe fn look_back<T: Number + State, const INCLUSIVE: bool>(
    sums: SharedArray<T, WarpSums>,
    number: SharedArray<u32, Ticket>,
    input: *const T,
    output: *mut T,
    len: u64,
    states: *mut u64,
    ticket: *mut u32,
) {
    let (warp, lane) = (thread_idx_x() / LANES, lane_id());
    // SAFETY: the caller's promise; barriers part the writes to shared memory from the reads.
    unsafe {
        // Blocks start in any order. With tiles given out in the order of their start, whoever waits for a tile knows that
        // its block is running.
        if thread_idx_x() == 0 {
            number.write(0, atomic::add::<Device, u32>(ticket, 1));
        }
        sync_threads();
        let tile = number.read(0);

        let lanes = T::LANES as u64;
        let of_block = look_back_tile(size_of::<T>()) as u64;
        let first = u64::from(tile) * of_block + u64::from(warp * LANES) * ROUNDS as u64 * lanes;
        let place = |round: usize| first + u64::from(round as u32 * LANES + lane) * lanes;
        let full = (u64::from(tile) + 1) * of_block <= len;
        let mut vectors = [Vector16::<T>::ZERO; ROUNDS];
        if full {
            unrolled::<ROUNDS>(|round| vectors[round] = *input.add(place(round) as usize).cast());
        } else {
            unrolled::<ROUNDS>(|round| vectors[round] = load(input, len, place(round)));
        }

        // Scanned before the wait for the tiles before, and on top of each other: no sums of rounds need registers.
        let mut sum = T::ZERO;
        unrolled::<ROUNDS>(|round| {
            let (before_lane, of_round) = before_lane(vectors[round]);
            vectors[round] = scan::<T, INCLUSIVE>(vectors[round], sum.plus(before_lane));
            sum = sum.plus(of_round);
        });
        if lane == 0 {
            sums.write(warp, sum);
        }
        sync_threads();
        if warp == 0 {
            before_warps(sums, states, tile);
        }
        sync_threads();
        let before_warp = sums.read(warp);

        unrolled::<ROUNDS>(|round| {
            let scanned = vectors[round].map(|sum| before_warp.plus(sum));
            if full {
                *output.add(place(round) as usize).cast() = scanned;
            } else {
                store(output, len, place(round), scanned);
            }
        });
    }
}

/// The vector at element `first`; zeros beyond the end.
///
/// # Safety
/// `input` holds `len` elements and is aligned to 16 bytes.
#[inline(always)]
unsafe fn load<T: Number>(input: *const T, len: u64, first: u64) -> Vector16<T> {
    // SAFETY: the caller's promise, and the comparisons.
    unsafe {
        if first + T::LANES as u64 <= len {
            return *input.add(first as usize).cast();
        }
        let mut vector = Vector16::ZERO;
        Vector16::<T>::ZERO.for_each(|lane, _| {
            if first + (lane as u64) < len {
                vector.set(lane, *input.add(first as usize + lane));
            }
        });
        vector
    }
}

/// Writes what of the vector lies before the end.
///
/// # Safety
/// `output` holds `len` elements and is aligned to 16 bytes.
#[inline(always)]
unsafe fn store<T: Number>(output: *mut T, len: u64, first: u64, vector: Vector16<T>) {
    // SAFETY: the caller's promise, and the comparisons.
    unsafe {
        if first + T::LANES as u64 <= len {
            *output.add(first as usize).cast() = vector;
            return;
        }
        vector.for_each(|lane, value| {
            if first + (lane as u64) < len {
                *output.add(first as usize + lane) = value;
            }
        });
    }
}

/// The sums within a vector, on top of what lies before it.
#[inline(always)]
fn scan<T: Number, const INCLUSIVE: bool>(vector: Vector16<T>, before: T) -> Vector16<T> {
    let mut sum = before;
    let mut scanned = Vector16::ZERO;
    vector.for_each(|lane, value| {
        let with = sum.plus(value);
        scanned.set(lane, if INCLUSIVE { with } else { sum });
        sum = with;
    });
    scanned
}

/// The sum of the vectors of the lanes before this one, and of all lanes.
#[inline(always)]
fn before_lane<T: Number>(vector: Vector16<T>) -> (T, T) {
    let mut sum = T::ZERO;
    vector.for_each(|_, value| sum = sum.plus(value));
    before_and_all(sum, LANES)
}

/// The sum of the values of the lanes before this one, and of the first `lanes` lanes.
#[inline(always)]
fn before_and_all<T: Number>(value: T, lanes: u32) -> (T, T) {
    let lane = lane_id();
    let mut sum = value;
    let mut distance = 1;
    while distance < lanes {
        let before = shuffle_up(FULL_WARP, sum, distance);
        if lane >= distance {
            sum = before.plus(sum);
        }
        distance *= 2;
    }
    let before = shuffle_up(FULL_WARP, sum, 1);
    let before = if lane == 0 { T::ZERO } else { before };
    (before, shuffle(FULL_WARP, sum, lanes - 1))
}

/// Replaces the sum of each warp's elements by the sum of everything before them, in this tile and all before it.
///
/// # Safety
/// As [`look_back`]; called by one warp, between barriers.
#[inline(always)]
unsafe fn before_warps<T: Number + State>(sums: SharedArray<T, WarpSums>, states: *mut u64, tile: u32) {
    let lane = lane_id();
    let has_warp = lane < WARPS as u32;
    // SAFETY: the caller's promise.
    unsafe {
        let of_warp = if has_warp { sums.read(lane) } else { T::ZERO };
        let (before_warp, of_tile) = before_and_all(of_warp, WARPS as u32);
        let mut before = T::ZERO;
        if tile > 0 {
            if lane == 0 {
                T::publish(states, tile, Known::Sum, of_tile);
            }
            before = before_tile(states, tile);
        }
        if lane == 0 {
            T::publish(states, tile, Known::Prefix, before.plus(of_tile));
        }
        if has_warp {
            sums.write(lane, before.plus(before_warp));
        }
    }
}

/// The sum of all tiles before `tile`, which is not the first. Lane l looks at the tile l + 1 places before. What lies
/// beyond the nearest tile that knows everything before itself is not waited for; while none of the 32 does, they move on
/// to the 32 tiles before these.
///
/// Looking at more tiles at once, at only the unknown ones again, and pausing between looks were measured: none is faster.
///
/// # Safety
/// As [`look_back`]; called by one warp.
#[inline(always)]
unsafe fn before_tile<T: Number + State>(states: *const u64, tile: u32) -> T {
    let lane = lane_id();
    let mut total = T::ZERO;
    let mut end = tile;
    loop {
        let (sum, nearest) = loop {
            // Before the first tile there is nothing, and that is known.
            let mut looked = (Known::Prefix, T::ZERO);
            if lane < end {
                // SAFETY: the tile is before this one.
                looked = unsafe { T::look(states, end - 1 - lane) };
            }
            let (known, sum) = looked;
            let unknown = ballot(FULL_WARP, known == Known::Nothing).trailing_zeros();
            let complete = ballot(FULL_WARP, known == Known::Prefix).trailing_zeros();
            // Equal only where both are 32: every sum is known, and none is that of everything before.
            if complete <= unknown {
                break (sum, complete);
            }
        };
        let mut counted = if lane <= nearest { sum } else { T::ZERO };
        let mut bits = LANES / 2;
        while bits > 0 {
            counted = counted.plus(shuffle_xor(FULL_WARP, counted, bits));
            bits /= 2;
        }
        total = counted.plus(total);
        if nearest < LANES {
            return total;
        }
        end -= LANES;
    }
}
