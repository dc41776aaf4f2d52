//! Masks and rows of 32 lanes.

/// The lanes of a mask, ascending.
#[inline]
pub(crate) fn lanes(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (mask != 0).then(|| {
            let lane = mask.trailing_zeros() as usize;
            mask &= mask - 1;
            lane
        })
    })
}

/// The lowest lane of a mask.
#[inline]
pub(crate) fn lowest(mask: u32) -> usize {
    mask.trailing_zeros() as usize & 31
}

/// Copies the lanes of `mask`.
#[inline]
pub(crate) fn blend<T: Copy>(into: &mut [T; 32], values: &[T; 32], mask: u32) {
    if mask == u32::MAX {
        *into = *values;
    } else {
        for lane in lanes(mask) {
            into[lane] = values[lane];
        }
    }
}

/// The lanes for which `test` holds, as a mask.
#[inline]
pub(crate) fn select(mask: u32, mut test: impl FnMut(usize) -> bool) -> u32 {
    let mut chosen = 0;
    for lane in 0..32 {
        chosen |= u32::from(test(lane)) << lane;
    }
    chosen & mask
}
