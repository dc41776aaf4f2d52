//! The block of threads whose warps access the tile.

use std::fmt;

use crate::TextError;
use crate::language::Span;

/// Threads of a block along x, y and z.
///
/// ```
/// use tile33_explain::Block;
/// let block = Block::parse("32x8")?;
/// assert_eq!((block.threads(), block.warps()), (256, 8));
/// assert_eq!(block.thread(1, 3), Some([3, 1, 0])); // warp 1, lane 3
/// assert_eq!(Block::parse("16")?.thread(0, 16), None); // a warp of 16 lanes
/// assert!(Block::parse("32x33").is_err()); // 1,056 threads
/// # Ok::<(), tile33_explain::TextError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    dims: [u32; 3],
}

const MAX_THREADS: u32 = tile33_layout::occupancy::MAX_BLOCK_THREADS;
const MAX_DIMS: [u32; 3] = [1024, 1024, 64];

impl Block {
    /// Parses `32`, `32x8`, `8x8x4`; commas do, too.
    ///
    /// # Errors
    ///
    /// What is no such thing, and what no GPU launches: more than 1,024 threads, or 64 along z.
    ///
    /// ```
    /// use tile33_explain::Block;
    /// assert_eq!(Block::parse("8x8x4")?, Block::parse("8,8,4")?);
    /// assert_eq!(Block::parse("32xtwo").unwrap_err().column(), 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn parse(source: &str) -> Result<Self, TextError> {
        let mut dims = [1; 3];
        let mut at = 0;
        for (index, part) in source.split(['x', 'X', ',']).enumerate() {
            let span = Span {
                start: at,
                end: at + part.len(),
            };
            let error = |message: String| {
                Err(TextError::new(source, span, message, "here")
                    .with_help("a block looks like `256`, `32x8` or `8x8x4`"))
            };
            at = span.end + 1;
            if index == 3 {
                return error("a block has at most three dimensions".into());
            }
            dims[index] = match part.trim().parse::<u32>() {
                Ok(length) if (1..=MAX_DIMS[index]).contains(&length) => length,
                Ok(length) => {
                    return error(format!(
                        "{length} threads along {}: possible are 1 to {}",
                        ["x", "y", "z"][index],
                        MAX_DIMS[index]
                    ));
                }
                Err(_) => return error(format!("`{}` is no number of threads", part.trim())),
            };
        }
        let block = Self { dims };
        if block.threads() > MAX_THREADS {
            let message = format!(
                "{block} is {} threads; a block has at most {MAX_THREADS}",
                block.threads()
            );
            return Err(TextError::new(
                source,
                Span {
                    start: 0,
                    end: source.len(),
                },
                message,
                "too many",
            ));
        }
        Ok(block)
    }

    /// Threads along x, y and z.
    ///
    /// ```
    /// use tile33_explain::Block;
    /// assert_eq!(Block::parse("32x8")?.dims(), [32, 8, 1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn dims(&self) -> [u32; 3] {
        self.dims
    }

    /// Threads in all.
    ///
    /// ```
    /// use tile33_explain::Block;
    /// assert_eq!(Block::parse("32x8")?.threads(), 256);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn threads(&self) -> u32 {
        self.dims.iter().product()
    }

    /// Warps, the last perhaps partial.
    ///
    /// ```
    /// use tile33_explain::Block;
    /// assert_eq!(Block::parse("33")?.warps(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn warps(&self) -> u32 {
        self.threads().div_ceil(32)
    }

    /// The thread of a warp's lane, `None` past the block's end.
    ///
    /// ```
    /// use tile33_explain::Block;
    /// assert_eq!(Block::parse("16x16")?.thread(1, 17), Some([1, 3, 0]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn thread(&self, warp: u32, lane: u32) -> Option<[u32; 3]> {
        let linear = warp.checked_mul(32)?.checked_add(lane)?;
        let [x, y, _] = self.dims;
        (linear < self.threads()).then(|| [linear % x, linear / x % y, linear / (x * y)])
    }
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.dims {
            [x, 1, 1] => write!(f, "{x}"),
            [x, y, 1] => write!(f, "{x}x{y}"),
            [x, y, z] => write!(f, "{x}x{y}x{z}"),
        }
    }
}
