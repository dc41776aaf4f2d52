//! What a buffer holds before the launch.

use std::path::Path;

use super::dtype::DType;

/// `init = ".."`
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Init<'a> {
    Zeros,
    Ones,
    Iota,
    Uninit,
    Random(u64),
    File(&'a Path),
}

impl<'a> Init<'a> {
    /// From its text.
    pub(super) fn parse(text: &'a str) -> Result<Self, String> {
        Ok(match text {
            "zeros" => Self::Zeros,
            "ones" => Self::Ones,
            "iota" => Self::Iota,
            "uninit" => Self::Uninit,
            _ => {
                if let Some(seed) = text.strip_prefix("random:") {
                    return seed
                        .parse()
                        .map(Self::Random)
                        .map_err(|_| format!("`{seed}` is no seed, a number below 2^64"));
                }
                let path = Path::new(text);
                if path.extension().is_none_or(|extension| extension != "npy") {
                    return Err(format!("`{text}` is no way to initialise a buffer"));
                }
                Self::File(path)
            }
        })
    }

    /// Fills memory with elements; `Uninit` and `File` have none of their own.
    pub(super) fn fill(&self, ty: DType, memory: &mut [u8]) {
        let width = ty.bytes() as usize;
        let each = |memory: &mut [u8], element: &mut dyn FnMut(u64) -> u64| {
            for (index, bytes) in memory.chunks_exact_mut(width).enumerate() {
                bytes.copy_from_slice(&element(index as u64).to_le_bytes()[..width]);
            }
        };
        match *self {
            Self::Zeros => memory.fill(0),
            Self::Ones => each(memory, &mut |_| ty.iota(1)),
            Self::Iota => each(memory, &mut |index| ty.iota(index)),
            Self::Random(seed) => {
                let mut sequence = SplitMix64(seed);
                each(memory, &mut |_| ty.random(sequence.next()));
            }
            Self::Uninit | Self::File(_) => {}
        }
    }
}

/// Steele, Lea and Flood's generator, so that a reference in any language can make the same numbers.
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_random_sequence_is_that_of_splitmix64() {
        // The first values of Vigna's splitmix64.c for seed 1234567.
        let mut sequence = SplitMix64(1_234_567);
        let values: Vec<u64> = (0..3).map(|_| sequence.next()).collect();
        assert_eq!(
            values,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }
}
