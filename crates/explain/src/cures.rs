//! Other layouts for one access that conflicts: the smallest padding, and the swizzle.

use serde::Serialize;
use tile33_layout::XorBits;
use tile33_layout::occupancy::{CARDS, Card, Occupancy, occupancy};

use crate::{Arrangement, Block, Pattern, Placement};

/// The kernel around the tile, as far as it decides what bytes cost.
///
/// ```
/// use tile33_explain::Budget;
/// use tile33_layout::occupancy::Card;
/// let budget = Budget { card: Card::find("T4").unwrap(), block_threads: 64, registers: 32, other_bytes: 1024 };
/// assert_eq!(budget.occupancy(4096).blocks, 12);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// The card.
    pub card: &'static Card,
    /// Threads of a block.
    pub block_threads: u32,
    /// Registers per thread.
    pub registers: u32,
    /// Bytes of shared memory that the block has besides the tile.
    pub other_bytes: u32,
}

impl Budget {
    /// On sm_90, with 32 registers per thread, and the tile all the shared memory.
    ///
    /// ```
    /// use tile33_explain::{Block, Budget};
    /// let budget = Budget::of(Block::parse("32x8")?);
    /// assert_eq!((budget.card.name, budget.occupancy(4224).blocks), ("sm_90", 8));
    /// # Ok::<(), tile33_explain::TextError>(())
    /// ```
    pub fn of(block: Block) -> Self {
        // A card of the table, found when compiling.
        const CARD: &Card = &CARDS[6];
        const _: () = assert!(matches!(CARD.name.as_bytes(), b"sm_90"));
        Self {
            card: CARD,
            block_threads: block.threads(),
            registers: 32,
            other_bytes: 0,
        }
    }

    /// Blocks that fit on a multiprocessor next to each other if the tile has so many bytes.
    ///
    /// ```
    /// use tile33_explain::Budget;
    /// use tile33_layout::occupancy::Card;
    /// let budget = Budget { card: Card::find("sm_86").unwrap(), block_threads: 128, registers: 32, other_bytes: 0 };
    /// assert_eq!(budget.occupancy(8192).blocks, 11);
    /// ```
    pub fn occupancy(&self, bytes: u64) -> Occupancy {
        let bytes = u32::try_from(bytes.saturating_add(u64::from(self.other_bytes))).unwrap_or(u32::MAX);
        occupancy(self.card, self.block_threads, self.registers, 0, bytes)
    }
}

/// A layout that serves the access better.
///
/// ```
/// use tile33_explain::Question;
/// let question = Question::new("f32[32][32]", "tile[tx][5]", "32x8")?;
/// let cure = &question.answer()?.cures[0];
/// assert_eq!((cure.layout.as_str(), cure.wavefronts, cure.extra_bytes), ("pitch 33", 1, 128));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cure {
    /// `pitch 33`, `swizzle 5,0,5`, ..
    pub layout: String,
    /// The type in `tile33-layout`.
    pub layout_type: String,
    /// Wavefronts of the access with it.
    pub wavefronts: u32,
    /// Wavefronts of a warp that reads a row with it, for tiles that have rows.
    pub row_wavefronts: Option<u32>,
    /// Bytes of the tile.
    pub bytes: u64,
    /// Bytes more (or fewer) than now.
    pub extra_bytes: i64,
    /// Resident blocks per multiprocessor.
    pub blocks_per_sm: u32,
    /// The widest aligned access in bytes along a row that the layout allows everywhere.
    pub widest_access: u32,
    /// The first bank with it.
    pub bank: Option<String>,
    /// Why that is better, if the addresses rise regularly.
    pub reason: Option<String>,
    #[serde(skip)]
    pub(crate) placement: Placement,
}

/// Pitches that may differ in cost, the smallest first: from the columns on, one period of the banks.
pub(crate) fn pitches(cols: u32, element_bytes: u32) -> impl Iterator<Item = u32> {
    cols..=cols.saturating_add(128 / element_bytes)
}

/// Swizzles without padding that exist for a tile, the simplest first.
pub(crate) fn swizzles(rows: u32, cols: u32, vector: u32) -> Vec<Placement> {
    let mut found = Vec::new();
    let mut consider = |arrangement| {
        let placement = Placement {
            rows,
            cols,
            arrangement,
        };
        if placement.check().is_ok() && placement.keeps_vectors(vector) {
            found.push(placement);
        }
    };
    for log in (1..=5).rev() {
        consider(Arrangement::Xor { period: 1 << log });
    }
    for bits in 1..=5 {
        for base in vector.ilog2()..=4 {
            for shift in bits as i32..=12 {
                consider(Arrangement::Swizzle {
                    pitch: cols,
                    bits: XorBits { bits, base, shift },
                });
            }
        }
    }
    found
}

/// The cheapest padding and the cheapest swizzle, if they cost the access less than it costs now.
pub(crate) fn cures(pattern: &Pattern, now: &Placement, base: u32, flat: bool, budget: &Budget) -> Vec<Cure> {
    let cost = |placement: &Placement| {
        placement.check().ok()?;
        pattern.access(placement, base).ok().map(|access| access.wavefronts())
    };
    let Some(current) = cost(now) else { return Vec::new() };
    let Placement { rows, cols, .. } = *now;
    let (padded, swizzled): (Vec<Placement>, Vec<Placement>) = if flat {
        let len = rows.saturating_mul(cols);
        let skews = [32, 16, 8, 4, 2].map(|every| Arrangement::Skew { every });
        (
            skews
                .into_iter()
                .map(|arrangement| Placement {
                    rows: 1,
                    cols: len,
                    arrangement,
                })
                .collect(),
            Vec::new(),
        )
    } else {
        let padded = pitches(cols, pattern.element_bytes).map(Arrangement::Pitch);
        let padded = padded
            .map(|arrangement| Placement {
                rows,
                cols,
                arrangement,
            })
            .collect();
        (padded, swizzles(rows, cols, pattern.instruction.vector))
    };
    let best = |candidates: Vec<Placement>| {
        // min_by_key keeps the first of equals: the smallest padding, the simplest swizzle.
        let costs = candidates
            .into_iter()
            .filter_map(|placement| cost(&placement).map(|cost| (cost, placement)));
        costs.min_by_key(|(cost, _)| *cost).filter(|(cost, _)| *cost < current)
    };
    let describe = |(wavefronts, placement): (u32, Placement)| {
        let bytes = size(&placement, pattern.element_bytes);
        Cure {
            layout: placement.arrangement.to_string(),
            layout_type: placement.layout_type(),
            wavefronts,
            row_wavefronts: row_wavefronts(pattern, &placement, base),
            bytes,
            extra_bytes: bytes as i64 - size(now, pattern.element_bytes) as i64,
            blocks_per_sm: budget.occupancy(bytes).blocks,
            widest_access: placement.widest_access(pattern.element_bytes),
            bank: None,
            reason: None,
            placement,
        }
    };
    best(padded).into_iter().chain(best(swizzled)).map(describe).collect()
}

/// Bytes of the tile.
pub(crate) fn size(placement: &Placement, element_bytes: u32) -> u64 {
    u64::from(placement.storage()) * u64::from(element_bytes)
}

/// What the same instruction costs when the warp runs along row 0.
pub(crate) fn row_wavefronts(pattern: &Pattern, placement: &Placement, base: u32) -> Option<u32> {
    if placement.rows < 2 || placement.cols < 2 {
        return None;
    }
    let mut row = pattern.clone();
    row.mask = 0;
    for lane in 0..32u32 {
        let col = u64::from(lane) * u64::from(pattern.instruction.vector);
        if col + u64::from(pattern.instruction.vector) <= u64::from(placement.cols) {
            row.mask |= 1 << lane;
            row.places[lane as usize] = (0, col as i64);
        }
    }
    row.access(placement, base).ok().map(|access| access.wavefronts())
}
