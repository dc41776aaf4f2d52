//! The cheapest layout for several accesses of one tile.

use serde::Serialize;
use tile33_layout::{Op, Space};

use crate::cures::{pitches, size, swizzles};
use crate::language::{Access, Span};
use crate::{Arrangement, Block, Budget, Instruction, Pattern, PatternError, Placement, TextError, Threads, Tile};

/// An access with its instruction: `st tile[ty][tx]`, `ld.v4 tile[ty][4 * tx]`.
///
/// ```
/// use tile33_explain::AccessSpec;
/// let spec = AccessSpec::parse("ld.v4 tile[ty][4 * tx]")?;
/// assert_eq!((spec.instruction.vector, spec.access.array.as_str()), (4, "tile"));
/// assert_eq!(AccessSpec::parse("st tile[tx").unwrap_err().column(), 11);
/// # Ok::<(), tile33_explain::TextError>(())
/// ```
#[derive(Clone, Debug)]
pub struct AccessSpec {
    /// As it was written.
    pub text: String,
    /// The instruction, on shared memory.
    pub instruction: Instruction,
    /// What each lane accesses.
    pub access: Access,
}

impl AccessSpec {
    /// Parses an access, a load of one element unless it says otherwise.
    ///
    /// # Errors
    ///
    /// What is no access, with the column.
    ///
    /// ```
    /// use tile33_explain::AccessSpec;
    /// use tile33_layout::Op;
    /// assert_eq!(AccessSpec::parse("st.v2 tile[ty][2 * tx]")?.instruction.op, Op::Store);
    /// assert_eq!(AccessSpec::parse("tile[ty][tx]")?.instruction.op, Op::Load);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn parse(source: &str) -> Result<Self, TextError> {
        let lead = source.len() - source.trim_start().len();
        let word_end = source[lead..]
            .find(char::is_whitespace)
            .map_or(source.len(), |end| lead + end);
        let word = &source[lead..word_end];
        let (name, vector) = word
            .split_once(".v")
            .map_or((word, None), |(name, vector)| (name, Some(vector)));
        let Some(op) = Op::parse(name) else {
            let instruction = Instruction {
                space: Space::Shared,
                op: Op::Load,
                vector: 1,
            };
            return Ok(Self {
                text: source.trim().to_owned(),
                instruction,
                access: Access::parse(source)?,
            });
        };
        let vector = match vector.map(str::parse::<u32>) {
            None => 1,
            Some(Ok(vector @ (1 | 2 | 4 | 8 | 16))) => vector,
            Some(_) => {
                let span = Span {
                    start: lead + name.len(),
                    end: word_end,
                };
                return Err(TextError::new(
                    source,
                    span,
                    "a vector has 1, 2, 4, 8 or 16 elements",
                    "here",
                ));
            }
        };
        // Blanks in place of the instruction keep the columns of errors.
        let blanked = format!("{}{}", " ".repeat(word_end), &source[word_end..]);
        let access = Access::parse(&blanked).map_err(|error| error.within(source))?;
        let instruction = Instruction {
            space: Space::Shared,
            op,
            vector,
        };
        Ok(Self {
            text: source.trim().to_owned(),
            instruction,
            access,
        })
    }
}

/// A tile and everything that is done with it.
///
/// ```
/// use tile33_explain::Plan;
/// let plan = Plan::new("f32[32][32]", &["ld tile[ty][tx]"], "32x8")?;
/// assert_eq!(plan.advise(false)?.best, 0); // do nothing
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Plan {
    /// The tile.
    pub tile: Tile,
    /// How it is laid out now.
    pub arrangement: Arrangement,
    /// The byte at which it starts.
    pub base: u32,
    /// The accesses, at least one.
    pub accesses: Vec<AccessSpec>,
    /// The threads and the parameters.
    pub threads: Threads,
    /// What bytes cost.
    pub budget: Budget,
}

/// What one access costs with one layout, over all warps of a block.
///
/// ```
/// use tile33_explain::Plan;
/// let plan = Plan::new("f32[32][32]", &["st tile[ty][tx]", "ld tile[tx][ty]"], "32x8")?;
/// let advice = plan.advise(false)?;
/// assert_eq!(advice.table[0].costs[1].cost().map(|cost| (cost.requests, cost.wavefronts)), Some((8, 256)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Cost {
    /// Warps that access anything.
    pub requests: u32,
    /// Wavefronts of all of them.
    pub wavefronts: u32,
    /// The same without conflicts.
    pub ideal: u32,
}

/// What one access costs, or why it cannot be made.
///
/// ```
/// use tile33_explain::{Plan, Served};
/// let plan = Plan::new("f32[32][33]", &["ld.v4 tile[ty][4 * tx] if tx < 8"], "32x8")?;
/// assert!(matches!(plan.advise(false)?.table[0].costs[0], Served::Problem { .. })); // pitch 33 misaligns
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Served {
    /// It can be made.
    Cost(Cost),
    /// It cannot.
    Problem {
        /// `misaligned`, or `torn apart`: the elements of a vector are not side by side.
        problem: String,
    },
}

impl Served {
    /// The cost, if it can be made.
    ///
    /// ```
    /// use tile33_explain::Served;
    /// assert_eq!(Served::Problem { problem: "misaligned".into() }.cost(), None);
    /// ```
    pub fn cost(&self) -> Option<&Cost> {
        match self {
            Self::Cost(cost) => Some(cost),
            Self::Problem { .. } => None,
        }
    }
}

/// One layout and what it costs.
///
/// ```
/// use tile33_explain::Plan;
/// let plan = Plan::new("f32[32][32]", &["st tile[ty][tx]", "ld tile[tx][ty]"], "32x8")?;
/// let advice = plan.advise(false)?;
/// assert_eq!((advice.table[0].layout.as_str(), advice.table[0].bytes), ("pitch 32", 4096));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Candidate {
    /// `pitch 33`, `swizzle 5,0,5`, ..
    pub layout: String,
    /// The type in `tile33-layout`.
    pub layout_type: String,
    /// For each access its cost, or why it cannot be made.
    pub costs: Vec<Served>,
    /// Wavefronts of all accesses of all warps of a block; `None` if one cannot be made.
    pub wavefronts: Option<u32>,
    /// Bytes of the tile.
    pub bytes: u64,
    /// The widest aligned access in bytes along a row that the layout allows everywhere.
    pub widest_access: u32,
    /// Resident blocks per multiprocessor.
    pub blocks_per_sm: u32,
    #[serde(skip)]
    pub(crate) arrangement: Arrangement,
}

/// The trade-off table, and what to take from it.
///
/// ```
/// use tile33_explain::Plan;
/// let plan = Plan::new("f32[32][32]", &["st tile[ty][tx]", "ld tile[tx][ty]"], "32x8")?;
/// let advice = plan.advise(false)?;
/// assert!(advice.remarks[0].starts_with("take "));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize)]
pub struct Advice {
    /// The array.
    pub tile: String,
    /// The accesses.
    pub accesses: Vec<String>,
    /// The block.
    pub block: String,
    /// The card that blocks are counted for.
    pub card: &'static str,
    /// Wavefronts of all accesses of a block without conflicts; `None` if the layout as it is cannot serve one.
    pub ideal: Option<u32>,
    /// The layout as it is first, then those worth looking at, the best first.
    pub table: Vec<Candidate>,
    /// Which of the table to take.
    pub best: usize,
    /// What to do and why, a sentence each.
    pub remarks: Vec<String>,
    /// How many layouts were tried.
    pub tried: usize,
}

/// Rows of each kind that the table shows.
const SHOWN: usize = 3;

impl Plan {
    /// A tile in rows without padding of their own, and its accesses; blocks are counted for sm_90. What is different is
    /// set afterwards.
    ///
    /// # Errors
    ///
    /// A tile, an access or a block that cannot be read, with the column.
    ///
    /// ```
    /// use tile33_explain::Plan;
    /// let plan = Plan::new("f32[32][32]", &["st tile[ty][tx]", "ld tile[tx][ty]"], "32x8")?;
    /// assert_eq!(plan.accesses.len(), 2);
    /// # Ok::<(), tile33_explain::TextError>(())
    /// ```
    pub fn new(tile: &str, accesses: &[&str], block: &str) -> Result<Self, TextError> {
        let tile = Tile::parse(tile)?;
        let threads = Threads::of(Block::parse(block)?);
        Ok(Self {
            arrangement: Arrangement::Pitch(tile.cols()),
            tile,
            base: 0,
            accesses: accesses
                .iter()
                .map(|access| AccessSpec::parse(access))
                .collect::<Result<_, _>>()?,
            budget: Budget::of(threads.block),
            threads,
        })
    }

    /// Tries every pitch of one period of the banks and every swizzle of the tile.
    ///
    /// # Errors
    ///
    /// A layout that cannot exist, an index that cannot be computed or leaves the array's reach.
    ///
    /// ```
    /// use tile33_explain::Plan;
    /// let plan = Plan::new("f32[32][32]", &["st tile[ty][tx]", "ld tile[tx][ty]"], "32x8")?;
    /// let advice = plan.advise(false)?;
    /// let best = &advice.table[advice.best];
    /// assert_eq!((best.wavefronts, advice.ideal), (Some(16), Some(16)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn advise(&self, all: bool) -> Result<Advice, PatternError> {
        let now = Placement::of(&self.tile, self.arrangement)?;
        let patterns = self.patterns()?;
        let vector = self
            .accesses
            .iter()
            .map(|spec| spec.instruction.vector)
            .max()
            .unwrap_or(1);
        let current = self.candidate(&now, &patterns);
        let mut candidates = Vec::new();
        for placement in self.placements(vector) {
            if placement.arrangement != self.arrangement {
                candidates.push(self.candidate(&placement, &patterns));
            }
        }
        let tried = candidates.len() + 1;
        candidates.sort_by_key(Candidate::rank);
        let remarks = self.remarks(&current, &candidates, vector);
        let better = candidates
            .first()
            .filter(|best| best.rank() < current.rank() && best.cheaper_than(&current));
        let better = better.map(|best| best.arrangement);
        let shown = if all {
            candidates
        } else {
            self.worth_showing(candidates)
        };
        let best = better
            .and_then(|best| shown.iter().position(|row| row.arrangement == best))
            .map_or(0, |row| row + 1);
        let ideal = current
            .costs
            .iter()
            .map(|cost| cost.cost().map(|cost| cost.ideal))
            .sum();
        Ok(Advice {
            tile: self.tile.to_string(),
            accesses: self.accesses.iter().map(|spec| spec.text.clone()).collect(),
            block: self.threads.block.to_string(),
            card: self.budget.card.name,
            ideal,
            table: std::iter::once(current).chain(shown).collect(),
            best,
            remarks,
            tried,
        })
    }

    /// Each access's pattern in each warp.
    fn patterns(&self) -> Result<Vec<Vec<Pattern>>, PatternError> {
        let warps = self.threads.block.warps();
        let of = |spec: &AccessSpec| {
            (0..warps)
                .map(|warp| Pattern::new(&self.tile, spec.instruction, &spec.access, &self.threads, warp))
                .collect()
        };
        self.accesses.iter().map(of).collect()
    }

    fn placements(&self, vector: u32) -> Vec<Placement> {
        let (rows, cols) = (self.tile.rows(), self.tile.cols());
        let flat = self.accesses.iter().all(|spec| spec.access.indices.len() == 1);
        if flat {
            // Nothing names a row: only the places of single elements can change.
            let len = rows.saturating_mul(cols);
            let skews = [32, 16, 8, 4, 2].map(|every| Arrangement::Skew { every });
            let skews = skews.map(|arrangement| Placement {
                rows: 1,
                cols: len,
                arrangement,
            });
            return skews
                .into_iter()
                .filter(|placement| placement.check().is_ok())
                .collect();
        }
        let padded = pitches(cols, self.tile.element.bytes).map(Arrangement::Pitch);
        let padded = padded.map(|arrangement| Placement {
            rows,
            cols,
            arrangement,
        });
        padded
            .filter(|placement| placement.check().is_ok())
            .chain(swizzles(rows, cols, vector))
            .collect()
    }

    fn candidate(&self, placement: &Placement, patterns: &[Vec<Pattern>]) -> Candidate {
        let costs: Vec<_> = patterns.iter().map(|warps| self.cost(placement, warps)).collect();
        let bytes = size(placement, self.tile.element.bytes);
        Candidate {
            layout: placement.arrangement.to_string(),
            layout_type: placement.layout_type(),
            wavefronts: costs.iter().map(|cost| cost.cost().map(|cost| cost.wavefronts)).sum(),
            costs,
            bytes,
            widest_access: placement.widest_access(self.tile.element.bytes),
            blocks_per_sm: self.budget.occupancy(bytes).blocks,
            arrangement: placement.arrangement,
        }
    }

    fn cost(&self, placement: &Placement, warps: &[Pattern]) -> Served {
        let mut cost = Cost {
            requests: 0,
            wavefronts: 0,
            ideal: 0,
        };
        for pattern in warps {
            let access = match pattern.access(placement, self.base) {
                Ok(access) => access,
                Err(PatternError::Access { .. }) => {
                    return Served::Problem {
                        problem: "misaligned".into(),
                    };
                }
                Err(PatternError::Torn { .. }) => {
                    return Served::Problem {
                        problem: "torn apart".into(),
                    };
                }
                Err(error) => {
                    return Served::Problem {
                        problem: error.to_string(),
                    };
                }
            };
            cost.requests += access.requests();
            cost.wavefronts += access.wavefronts();
            cost.ideal += access.ideal();
        }
        Served::Cost(cost)
    }

    /// Of each kind those that no other beats in wavefronts, bytes and width; and padding by one, which everybody tries.
    fn worth_showing(&self, candidates: Vec<Candidate>) -> Vec<Candidate> {
        let beaten = |one: &Candidate| {
            candidates.iter().any(|other| {
                let key = |row: &Candidate| {
                    (
                        row.wavefronts.unwrap_or(u32::MAX),
                        row.bytes,
                        u32::MAX - row.widest_access,
                    )
                };
                let ((a, b, c), (x, y, z)) = (key(other), key(one));
                other.kind() == one.kind() && a <= x && b <= y && c <= z && (a, b, c) != (x, y, z)
            })
        };
        let mut kept: Vec<Candidate> = Vec::new();
        for one in &candidates {
            let same_kind = kept.iter().filter(|other| other.kind() == one.kind());
            let twin = same_kind.clone().any(|other| {
                other.kind() > 0
                    && (other.wavefronts, other.bytes, other.widest_access)
                        == (one.wavefronts, one.bytes, one.widest_access)
            });
            let famous = one.arrangement == Arrangement::Pitch(self.tile.cols().saturating_add(1));
            let plain = one.arrangement == Arrangement::Pitch(self.tile.cols());
            if famous || plain || (one.wavefronts.is_some() && !beaten(one) && !twin && same_kind.count() < SHOWN) {
                kept.push(one.clone());
            }
        }
        kept
    }

    fn remarks(&self, current: &Candidate, candidates: &[Candidate], vector: u32) -> Vec<String> {
        let mut remarks = Vec::new();
        let per_warp = |row: &Candidate| row.wavefronts.map_or_else(|| "-".into(), |all| row.per_request(all));
        let best = candidates.first().filter(|best| best.wavefronts.is_some());
        let ideal: Option<u32> = current
            .costs
            .iter()
            .map(|cost| cost.cost().map(|cost| cost.ideal))
            .sum();
        let cheaper = best.filter(|best| best.cheaper_than(current));
        match cheaper {
            None if current.wavefronts.is_none() => {
                remarks
                    .push("no pitch and no swizzle serves every access: see the table for the one that fails".into());
            }
            None if current.wavefronts == ideal => remarks.push(format!(
                "do nothing: {} serves every access without conflicts ({} wavefronts a warp)",
                current.layout,
                per_warp(current)
            )),
            None => remarks.push(format!(
                "do nothing: no pitch and no swizzle costs less than {} ({} wavefronts a warp, conflicts included)",
                current.layout,
                per_warp(current)
            )),
            Some(best) => {
                let extra = best.bytes as i64 - current.bytes as i64;
                let blocks = match (current.blocks_per_sm, best.blocks_per_sm) {
                    (before, after) if before == after => format!("{after} blocks per SM as before"),
                    (before, after) => format!("{after} blocks per SM instead of {before}"),
                };
                remarks.push(format!(
                    "take {}, {}: {} wavefronts a warp instead of {}, {extra:+} bytes, {blocks}",
                    best.layout,
                    best.layout_type,
                    per_warp(best),
                    per_warp(current)
                ));
            }
        }
        let pitch = candidates.iter().find(|row| row.kind() == 0);
        if let (Some(pitch), Some(best)) = (pitch, cheaper)
            && best.kind() != 0
        {
            if pitch.cheaper_than(current) {
                remarks.push(format!(
                    "padding helps as well: {} costs {} wavefronts a warp",
                    pitch.layout,
                    per_warp(pitch)
                ));
            } else {
                remarks.push("padding does not help: no pitch costs less than the layout as it is".into());
            }
        }
        if vector > 1 {
            let lost = candidates.iter().find(|row| {
                row.arrangement == Arrangement::Pitch(self.tile.cols().saturating_add(1)) && row.wavefronts.is_none()
            });
            if let Some(lost) = lost {
                remarks.push(format!(
                    "{} would misalign accesses of {} bytes: with vectors a pitch is a multiple of {vector}",
                    lost.layout,
                    vector * self.tile.element.bytes
                ));
            }
        }
        remarks
    }
}

impl Candidate {
    /// 0 for pitches, 1 for `col ^ row`, 2 for CuTe's swizzles, 3 for skews.
    pub(crate) fn kind(&self) -> u32 {
        match self.arrangement {
            Arrangement::Pitch(_) => 0,
            Arrangement::Xor { .. } => 1,
            Arrangement::Swizzle { .. } => 2,
            Arrangement::Skew { .. } => 3,
        }
    }

    /// The better, the less: wavefronts, then resident blocks, then bytes, then what is lost for vectors, then simplicity.
    fn rank(&self) -> (u32, u32, u64, u32, u32) {
        let wavefronts = self.wavefronts.unwrap_or(u32::MAX);
        (
            wavefronts,
            u32::MAX - self.blocks_per_sm,
            self.bytes,
            u32::MAX - self.widest_access,
            self.kind(),
        )
    }

    fn cheaper_than(&self, other: &Self) -> bool {
        self.wavefronts.unwrap_or(u32::MAX) < other.wavefronts.unwrap_or(u32::MAX)
    }

    /// Wavefronts per warp: of all accesses together, each of which a warp makes once.
    pub(crate) fn per_request(&self, wavefronts: u32) -> String {
        let requests = self
            .costs
            .iter()
            .filter_map(Served::cost)
            .map(|cost| cost.requests)
            .max();
        ratio(wavefronts, requests.unwrap_or(0))
    }
}

/// "4" or "2.5"; "0" of nothing.
pub(crate) fn ratio(all: u32, of: u32) -> String {
    match of {
        0 => "0".into(),
        of if all.is_multiple_of(of) => (all / of).to_string(),
        of => format!("{:.2}", f64::from(all) / f64::from(of)),
    }
}
