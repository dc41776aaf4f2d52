//! What a block publishes about its tile, for the blocks after it to find.

use cuda_std::atomic::{self, Device};

/// How far a tile's sum is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Known {
    /// Not at all. The state of every tile at first: all bits zero.
    Nothing = 0,
    /// The sum of the tile.
    Sum = 1,
    /// The sum of the tile and all before it.
    Prefix = 2,
}

impl Known {
    #[inline(always)]
    fn from_number(number: u32) -> Self {
        match number {
            0 => Self::Nothing,
            1 => Self::Sum,
            _ => Self::Prefix,
        }
    }
}

/// A type whose sums can be published.
pub trait State: Copy {
    /// Words of 8 bytes that a tile's state takes.
    const WORDS: usize;

    /// Publishes what is known of tile `tile`.
    ///
    /// # Safety
    /// There are states at `states` for more than `tile` tiles, and no other thread publishes this one.
    unsafe fn publish(states: *mut u64, tile: u32, known: Known, sum: Self);

    /// What is known of tile `tile`, and the sum, where something is.
    ///
    /// # Safety
    /// There are states at `states` for more than `tile` tiles.
    unsafe fn look(states: *const u64, tile: u32) -> (Known, Self);
}

/// Sums of 4 bytes: sum and state are one word, written and read at once, so that nothing else needs an order.
macro_rules! one_word {
    ($($ty:ty: $to_bits:expr, $from_bits:expr;)*) => {$(
        impl State for $ty {
            const WORDS: usize = 1;

            #[inline(always)]
            unsafe fn publish(states: *mut u64, tile: u32, known: Known, sum: Self) {
                let word = u64::from(known as u32) << 32 | u64::from($to_bits(sum));
                // SAFETY: the caller's promise.
                unsafe { atomic::store::<Device, u64>(states.add(tile as usize), word) };
            }

            #[inline(always)]
            unsafe fn look(states: *const u64, tile: u32) -> (Known, Self) {
                // SAFETY: the caller's promise.
                let word = unsafe { atomic::load::<Device, u64>(states.add(tile as usize)) };
                (Known::from_number((word >> 32) as u32), $from_bits(word as u32))
            }
        }
    )*};
}

/// Sums of 8 bytes: the state is a word of its own, released after the sum and acquired before it. The tile's sum and the
/// sum with all before it have different places, so that whoever saw the first state is not overtaken by the second.
macro_rules! three_words {
    ($($ty:ty: $to_bits:expr, $from_bits:expr;)*) => {$(
        impl State for $ty {
            const WORDS: usize = 3;

            #[inline(always)]
            unsafe fn publish(states: *mut u64, tile: u32, known: Known, sum: Self) {
                // SAFETY: the caller's promise.
                unsafe {
                    let state = states.add(3 * tile as usize);
                    atomic::store::<Device, u64>(state.add(known as usize), $to_bits(sum));
                    atomic::store_release::<Device, u64>(state, u64::from(known as u32));
                }
            }

            #[inline(always)]
            unsafe fn look(states: *const u64, tile: u32) -> (Known, Self) {
                // SAFETY: the caller's promise. Where nothing is known the sum is the state itself, and nobody uses it.
                unsafe {
                    let state = states.add(3 * tile as usize);
                    let number = atomic::load_acquire::<Device, u64>(state) as u32;
                    let sum = atomic::load::<Device, u64>(state.add(number as usize));
                    (Known::from_number(number), $from_bits(sum))
                }
            }
        }
    )*};
}

one_word! {
    f32: f32::to_bits, f32::from_bits;
    i32: |sum| sum as u32, |bits| bits as i32;
    u32: |sum| sum, |bits| bits;
}
three_words! {
    f64: f64::to_bits, f64::from_bits;
    i64: |sum| sum as u64, |bits| bits as i64;
}
