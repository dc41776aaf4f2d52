//! Inputs made from a seed.

use bytemuck::Pod;
use half::{bf16, f16};

/// The same pseudo-random numbers for the same seed (SplitMix64).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Numbers for a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// A number from -1 to 1, uniformly, a multiple of 2^-52.
    pub fn signed_unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// An element that inputs are made of.
pub trait Sample: Pod {
    /// A number of the type: integers over their whole range, floating-point numbers from -1 to 1.
    fn sample(random: &mut Random) -> Self;

    /// So many of them.
    fn samples(seed: u64, count: usize) -> Vec<Self> {
        let mut random = Random::new(seed);
        (0..count).map(|_| Self::sample(&mut random)).collect()
    }
}

macro_rules! integers {
    ($($ty:ty)*) => {$(
        impl Sample for $ty {
            fn sample(random: &mut Random) -> Self {
                random.bits() as Self
            }
        }
    )*};
}
integers!(u8 i8 u16 i16 u32 i32 u64 i64);

impl Sample for u128 {
    fn sample(random: &mut Random) -> Self {
        u128::from(random.bits()) << 64 | u128::from(random.bits())
    }
}

impl Sample for f32 {
    fn sample(random: &mut Random) -> Self {
        random.signed_unit() as f32
    }
}

impl Sample for f64 {
    fn sample(random: &mut Random) -> Self {
        random.signed_unit()
    }
}

impl Sample for f16 {
    fn sample(random: &mut Random) -> Self {
        f16::from_f64(random.signed_unit())
    }
}

impl Sample for bf16 {
    fn sample(random: &mut Random) -> Self {
        bf16::from_f64(random.signed_unit())
    }
}

/// What outputs hold before a kernel runs: as a number it is far from every result, and what keeps it was not written.
pub const POISON: u8 = 0xa5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_numbers_again_and_another_seed_others() {
        assert_eq!(u32::samples(7, 100), u32::samples(7, 100));
        assert_ne!(u32::samples(7, 100), u32::samples(8, 100));
    }

    #[test]
    fn floating_point_samples_fill_the_range_and_stay_in_it() {
        let samples = f32::samples(1, 1_000_000);
        assert!(samples.iter().all(|x| (-1.0..=1.0).contains(x)));
        assert!(samples.iter().any(|x| *x < -0.99) && samples.iter().any(|x| *x > 0.99));
        // The mean of a million uniform samples has a standard deviation of 0.0006.
        let mean = samples.iter().map(|x| f64::from(*x)).sum::<f64>() / 1e6;
        assert!(mean.abs() < 0.003, "{mean}");
    }
}
