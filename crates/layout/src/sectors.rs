//! What an access to global memory costs.
//!
//! Global memory moves in *sectors* of 32 bytes. A warp's instruction is one request, and costs the different sectors
//! that its active lanes touch, whatever the width and the operation.

use crate::LANES;
use crate::banks::step_u64;

/// Bytes of a sector.
///
/// ```
/// assert_eq!(tile33_layout::sectors::SECTOR_BYTES, 32);
/// ```
pub const SECTOR_BYTES: usize = 32;

/// What an access costs, and what it could cost.
///
/// ```
/// use tile33_layout::sectors::{Sectors, count};
/// assert_eq!(count(4, 1, &[0; 32]), Sectors { sectors: 1, ideal: 1 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sectors {
    /// Different sectors touched.
    pub sectors: u32,
    /// Sectors that the different bytes touched would fill if they lay side by side.
    pub ideal: u32,
}

/// [`sectors`] and [`ideal_sectors`] at once.
///
/// ```
/// use tile33_layout::sectors::count;
/// let every_other = core::array::from_fn(|lane| 8 * lane as u64);
/// let answer = count(4, u32::MAX, &every_other);
/// assert_eq!((answer.sectors, answer.ideal), (8, 4));
/// ```
#[inline]
pub const fn count(width: u32, mask: u32, addresses: &[u64; LANES]) -> Sectors {
    if mask == 0 {
        return Sectors { sectors: 0, ideal: 0 };
    }
    // Most accesses are a constant distance apart, and then arithmetic answers.
    let (sectors, units) = match step_u64(mask, addresses) {
        Some(0) => (1, 1),
        Some(step) => {
            let lanes = mask.count_ones();
            let first = addresses[mask.trailing_zeros() as usize] / SECTOR_BYTES as u64;
            let last = addresses[31 - mask.leading_zeros() as usize] / SECTOR_BYTES as u64;
            // Steps of less than a sector leave none out.
            let short = (step as i64).unsigned_abs() < SECTOR_BYTES as u64;
            (if short { first.abs_diff(last) as u32 + 1 } else { lanes }, lanes)
        }
        None => {
            let units = distinct(width.trailing_zeros(), mask, addresses);
            (distinct(SECTOR_BYTES.trailing_zeros(), mask, addresses), units)
        }
    };
    Sectors {
        sectors,
        ideal: (units * width).div_ceil(SECTOR_BYTES as u32),
    }
}

/// Different sectors that the lanes in `mask` touch. Addresses are multiples of the width (a GPU traps otherwise), so
/// no lane reaches into a second sector.
///
/// ```
/// use tile33_layout::sectors::sectors;
/// let row = core::array::from_fn(|lane| 4 * lane as u64);
/// assert_eq!(sectors(u32::MAX, &row), 4);
/// let shifted = core::array::from_fn(|lane| 4 * lane as u64 + 4);
/// assert_eq!(sectors(u32::MAX, &shifted), 5);
/// ```
#[inline]
pub const fn sectors(mask: u32, addresses: &[u64; LANES]) -> u32 {
    count(1, mask, addresses).sectors
}

/// Sectors that the different bytes touched would fill if they lay side by side. Lanes at the same address share, so a
/// broadcast has an ideal of 1, and no access is better than its ideal.
///
/// ```
/// use tile33_layout::sectors::ideal_sectors;
/// let column = core::array::from_fn(|lane| 4096 * lane as u64);
/// assert_eq!(ideal_sectors(4, u32::MAX, &column), 4);
/// assert_eq!(ideal_sectors(16, u32::MAX, &column), 16);
/// assert_eq!(ideal_sectors(4, u32::MAX, &[64; 32]), 1);
/// ```
#[inline]
pub const fn ideal_sectors(width: u32, mask: u32, addresses: &[u64; LANES]) -> u32 {
    count(width, mask, addresses).ideal
}

/// Different values of `address >> shift` among the lanes in `mask`.
#[inline]
const fn distinct(shift: u32, mask: u32, addresses: &[u64; LANES]) -> u32 {
    if mask == 0 {
        return 0;
    }
    // Most accesses rise (or stay) from lane to lane: then a change is a new value.
    let mut rest = mask;
    let mut previous = addresses[mask.trailing_zeros() as usize] >> shift;
    let mut changes = 1;
    let mut rising = true;
    while rest != 0 {
        let value = addresses[rest.trailing_zeros() as usize] >> shift;
        rest &= rest - 1;
        changes += (value != previous) as u32;
        rising &= value >= previous;
        previous = value;
    }
    if rising {
        return changes;
    }
    // A table twice as large as the warp, open addressing; the multiplier spreads any stride.
    let mut table = [0u64; 2 * LANES];
    let mut used = 0u64;
    let mut count = 0;
    rest = mask;
    while rest != 0 {
        let value = addresses[rest.trailing_zeros() as usize] >> shift;
        rest &= rest - 1;
        let mut slot = (value.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize;
        while used >> slot & 1 == 1 && table[slot] != value {
            slot = (slot + 1) % (2 * LANES);
        }
        if used >> slot & 1 == 0 {
            used |= 1 << slot;
            table[slot] = value;
            count += 1;
        }
    }
    count
}
