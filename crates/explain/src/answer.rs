//! The question that `tile33 explain` is asked, and the answer as data.

use serde::Serialize;
use tile33_layout::{LANES, Op, Space, WarpAccess, banks};

use crate::cures::{cures, row_wavefronts, size};
use crate::formula::Derivation;
use crate::language::Access;
use crate::verdict::{part, plural, reason, verdict, ways};
use crate::{
    Arrangement, Block, Budget, Cure, Formula, Instruction, Pattern, PatternError, Placement, TextError, Threads, Tile,
};

/// One access of one warp to one tile.
///
/// ```
/// use tile33_explain::Question;
/// let question = Question::new("f32[32][32]", "tile[tx][5]", "32x8")?;
/// assert_eq!(question.answer()?.excess, 31);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Question {
    /// The tile.
    pub tile: Tile,
    /// How it is laid out; rows and columns are the tile's.
    pub arrangement: Arrangement,
    /// The byte at which it starts.
    pub base: u32,
    /// The instruction.
    pub instruction: Instruction,
    /// What each lane accesses.
    pub access: Access,
    /// The threads and the parameters.
    pub threads: Threads,
    /// Which warp of the block.
    pub warp: u32,
    /// What bytes cost.
    pub budget: Budget,
}

/// What a lane does.
///
/// ```
/// use tile33_explain::Question;
/// let question = Question::new("f32[32][32]", "tile[tx][5]", "32x8")?;
/// let lane = &question.answer()?.lanes[3];
/// assert_eq!((lane.element.as_str(), lane.byte, lane.bank), ("tile[3][5]", 404, 5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Lane {
    /// 0 to 31.
    pub lane: u32,
    /// Its element, `tile[3][5]`.
    pub element: String,
    /// Row in the tile (all dimensions but the last).
    pub row: i64,
    /// Column in the tile.
    pub col: i64,
    /// Its place, in elements from the start of the array.
    pub index: u64,
    /// Byte address.
    pub byte: u64,
    /// 4-byte word.
    pub word: u64,
    /// Bank of the first byte.
    pub bank: u32,
    /// 32-byte sector.
    pub sector: u64,
}

/// A bank that several lanes or words meet in.
///
/// ```
/// use tile33_explain::Question;
/// let question = Question::new("f32[32][32]", "tile[tx][5]", "32x8")?;
/// let answer = question.answer()?;
/// assert_eq!((answer.groups[0].banks[0].bank, answer.groups[0].banks[0].words.len()), (5, 32));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bank {
    /// 0 to 31.
    pub bank: u32,
    /// Wavefronts that it needs.
    pub wavefronts: u32,
    /// The words wanted, and by which lanes.
    pub words: Vec<Word>,
}

/// A word and who wants it.
///
/// ```
/// use tile33_explain::Question;
/// let question = Question::new("f32[32][32]", "tile[tx][5]", "32x8")?;
/// let answer = question.answer()?;
/// assert_eq!(answer.groups[0].banks[0].words[1].lanes, [1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Word {
    /// Byte address divided by 4.
    pub word: u64,
    /// The lanes.
    pub lanes: Vec<u32>,
}

/// Lanes that are served together.
///
/// ```
/// use tile33_explain::Question;
/// let question = Question::new("f64[32][32]", "tile[tx][5]", "32x8")?;
/// assert_eq!(question.answer()?.groups.len(), 2); // two half-warps
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupAnswer {
    /// The active lanes.
    pub lanes: Vec<u32>,
    /// What they cost.
    pub wavefronts: u32,
    /// The banks that are used.
    pub banks: Vec<Bank>,
}

/// Everything that `tile33 explain` prints.
///
/// ```
/// use tile33_explain::Question;
/// let question = Question::new("f32[32][32]", "tile[tx][5]", "32x8")?;
/// let answer = question.answer()?;
/// assert_eq!((answer.wavefronts, answer.ideal, answer.tile_bytes), (32, 1, 4096));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// The access as it was asked.
    pub access: String,
    /// The array, `f32[32][32]`.
    pub tile: String,
    /// Its layout: `pitch 32`, ..
    pub layout: String,
    /// The layout's type in `tile33-layout`.
    pub layout_type: String,
    /// Bytes of the tile.
    pub tile_bytes: u64,
    /// `shared` or `global`.
    pub space: &'static str,
    /// `ld`, `st`, ..
    pub op: &'static str,
    /// Bytes per lane.
    pub width: u32,
    /// The block, `32x8`.
    pub block: String,
    /// The warp of the block.
    pub warp: u32,
    /// Active lanes, bit 0 = lane 0.
    pub mask: u32,
    /// The active lanes.
    pub lanes: Vec<Lane>,
    /// Wavefronts (shared memory).
    pub wavefronts: u32,
    /// Wavefronts without conflicts.
    pub ideal: u32,
    /// Wavefronts lost.
    pub excess: u32,
    /// The most that one bank is asked for at once.
    pub ways: u32,
    /// Sectors (global memory).
    pub sectors: u32,
    /// Sectors that would do.
    pub ideal_sectors: u32,
    /// The verdict in one line.
    pub verdict: String,
    /// Why, if the addresses rise regularly.
    pub reason: Option<String>,
    /// The derivation of the bank.
    pub formula: Option<Formula>,
    /// The x for which lanes l and l ^ x agreeing merged groups.
    pub merged_pair: Option<u32>,
    /// How the warp is served.
    pub groups: Vec<GroupAnswer>,
    /// Wavefronts of a warp that reads a row of the tile as it is.
    pub row_wavefronts: Option<u32>,
    /// The widest aligned access in bytes along a row that the layout allows everywhere.
    pub widest_access: u32,
    /// Layouts that cost less.
    pub cures: Vec<Cure>,
    /// The card that blocks are counted for.
    pub card: &'static str,
    /// Resident blocks per multiprocessor as it is.
    pub blocks_per_sm: u32,
    /// What else the reader should know.
    pub notes: Vec<String>,
    #[serde(skip)]
    pub(crate) warp_access: WarpAccess,
}

impl Question {
    /// A load of one element by warp 0 of a block, from rows without padding of their own; blocks are counted for sm_90.
    /// What is different is set afterwards.
    ///
    /// # Errors
    ///
    /// A tile, an access or a block that cannot be read, with the column.
    ///
    /// ```
    /// use tile33_explain::{Arrangement, Question};
    /// let mut question = Question::new("f32[32][32]", "tile[tx][5]", "32x8")?;
    /// assert_eq!(question.cost(0)?, (32, 1));
    /// question.arrangement = Arrangement::Xor { period: 32 };
    /// assert_eq!(question.cost(0)?, (1, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(tile: &str, access: &str, block: &str) -> Result<Self, TextError> {
        let tile = Tile::parse(tile)?;
        let threads = Threads::of(Block::parse(block)?);
        Ok(Self {
            arrangement: Arrangement::Pitch(tile.cols()),
            tile,
            base: 0,
            instruction: Instruction {
                space: Space::Shared,
                op: Op::Load,
                vector: 1,
            },
            access: Access::parse(access)?,
            budget: Budget::of(threads.block),
            threads,
            warp: 0,
        })
    }

    /// The answer.
    ///
    /// # Errors
    ///
    /// A layout that cannot exist, an index that cannot be computed, an address that no GPU accepts.
    ///
    /// ```
    /// use tile33_explain::Question;
    /// let question = Question::new("f32[32][32]", "tile[tx][5]", "32x8")?;
    /// let answer = question.answer()?;
    /// assert_eq!(answer.verdict, "32-way conflict: 32 lanes, 32 words, all in bank 5");
    /// assert_eq!((answer.cures[0].layout.as_str(), answer.cures[0].wavefronts), ("pitch 33", 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn answer(&self) -> Result<Answer, PatternError> {
        let placement = self.placement()?;
        let pattern = self.pattern(self.warp)?;
        let access = pattern.access(&placement, self.base)?;
        let derivation = Derivation {
            tile: &self.tile,
            access: &self.access,
            threads: &self.threads,
            warp: self.warp,
            base: self.base,
            pattern: &pattern,
        };
        let formula = if pattern.mask == 0 {
            None
        } else {
            derivation.formula(&placement)
        };
        let shared = self.instruction.space == Space::Shared;
        let mut found = match shared && access.excess() > 0 {
            true => cures(&pattern, &placement, self.base, self.is_flat(), &self.budget),
            false => Vec::new(),
        };
        for cure in &mut found {
            let Some(formula) = derivation.formula(&cure.placement) else {
                continue;
            };
            let cured = pattern.access(&cure.placement, self.base).ok();
            cure.reason = cured.and_then(|access| reason(&access, formula.step_bytes));
            cure.bank = Some(match formula.bank == formula.bank_reduced {
                true => formula.bank,
                false => format!("{} = {}", formula.bank, formula.bank_reduced),
            });
        }
        let breakdown = access.breakdown();
        let tile_bytes = size(&placement, self.tile.element.bytes);
        let step = formula.as_ref().and_then(|formula| formula.step_bytes);
        let reason = reason(&access, step);
        let notes = self.notes(&placement, &pattern, &access, tile_bytes, &found);
        Ok(Answer {
            access: self.access.source.trim().to_owned(),
            tile: self.tile.to_string(),
            layout: placement.arrangement.to_string(),
            layout_type: placement.layout_type(),
            tile_bytes,
            space: if shared { "shared" } else { "global" },
            op: self.instruction.op.name(),
            width: access.width(),
            block: self.threads.block.to_string(),
            warp: self.warp,
            mask: access.mask(),
            lanes: lanes(&pattern, &access, self.base),
            wavefronts: access.wavefronts(),
            ideal: access.ideal(),
            excess: access.excess(),
            ways: ways(&breakdown, access.op()),
            sectors: access.sectors(),
            ideal_sectors: access.ideal_sectors(),
            verdict: verdict(&access),
            reason,
            formula,
            merged_pair: if shared { breakdown.grouping().pair } else { None },
            groups: groups(&access),
            row_wavefronts: if shared && !self.is_flat() {
                row_wavefronts(&pattern, &placement, self.base)
            } else {
                None
            },
            widest_access: placement.widest_access(self.tile.element.bytes),
            cures: found,
            card: self.budget.card.name,
            blocks_per_sm: self.budget.occupancy(tile_bytes).blocks,
            notes,
            warp_access: access,
        })
    }

    /// The wavefronts (sectors in global memory) of one warp, and the ideal.
    ///
    /// # Errors
    ///
    /// As [`answer`](Self::answer).
    ///
    /// ```
    /// use tile33_explain::Question;
    /// let question = Question::new("f32[32][32]", "tile[tx][5]", "32x8")?;
    /// assert_eq!(question.cost(7)?, (32, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cost(&self, warp: u32) -> Result<(u32, u32), PatternError> {
        let access = self.pattern(warp)?.access(&self.placement()?, self.base)?;
        Ok(match self.instruction.space {
            Space::Shared => (access.wavefronts(), access.ideal()),
            Space::Global => (access.sectors(), access.ideal_sectors()),
        })
    }

    /// Whether the access counts elements instead of naming a row and a column.
    fn is_flat(&self) -> bool {
        self.access.indices.len() == 1
    }

    pub(crate) fn pattern(&self, warp: u32) -> Result<Pattern, PatternError> {
        Pattern::new(&self.tile, self.instruction, &self.access, &self.threads, warp)
    }

    pub(crate) fn placement(&self) -> Result<Placement, PatternError> {
        Placement::of(&self.tile, self.arrangement)
    }

    fn notes(
        &self,
        placement: &Placement,
        pattern: &Pattern,
        access: &WarpAccess,
        tile_bytes: u64,
        cures: &[Cure],
    ) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(note) = self.outside(placement, pattern) {
            notes.push(note);
        }
        let shared = self.instruction.space == Space::Shared;
        if shared && tile_bytes > u64::from(self.budget.card.block_bytes()) {
            let most = self.budget.card.block_bytes();
            notes.push(format!(
                "the array has {tile_bytes} bytes; a block on {} has at most {most}",
                self.budget.card.name
            ));
        }
        let grouping = access.breakdown().grouping();
        if shared && access.mask() != 0 && access.width() > 4 {
            notes.push(match grouping.pair {
                Some(pair) if access.mask().count_ones() > 1 => format!(
                    "{} bytes per lane are served by the {} here, because every lane l agrees with lane l ^ {pair} (or that one is idle)",
                    access.width(),
                    part(grouping.lanes)
                ),
                _ => format!("{} bytes per lane are served by the {}, each at least one wavefront", access.width(), part(grouping.lanes)),
            });
        }
        if shared && access.excess() > 0 && cures.is_empty() {
            notes.push(if access.op().is_atomic() {
                "no padding and no swizzle helps: lanes that want one word wait for each other wherever it lies; give each \
                 warp or lane its own copy, or combine within the warp first"
                    .into()
            } else if self.is_flat() {
                "no skew of the array helps; with a row and a column (`tile[row][col]`) pitches and swizzles are searched, too".into()
            } else {
                "no pitch and no swizzle of this tile costs less".into()
            });
        }
        if let Some(note) = self.other_warps(access) {
            notes.push(note);
        }
        notes
    }

    /// Lanes that leave the array, or a row.
    pub(crate) fn outside(&self, placement: &Placement, pattern: &Pattern) -> Option<String> {
        let vector = i64::from(self.instruction.vector);
        let active = (0..LANES as u32).filter(|lane| pattern.is_active(*lane));
        let total = i64::from(placement.rows) * i64::from(placement.cols);
        let beyond = |lane: &u32| {
            let (row, col) = pattern.places[*lane as usize];
            match self.is_flat() {
                true => col + vector > total,
                false => {
                    row < 0 || row >= i64::from(placement.rows) || col < 0 || col + vector > i64::from(placement.cols)
                }
            }
        };
        let out: Vec<u32> = active.filter(beyond).collect();
        let first = *out.first()?;
        let (lanes, verb) = if out.len() == 1 {
            ("lane", "is")
        } else {
            ("lanes", "are")
        };
        let list = crate::verdict::lane_list(out.iter().fold(0, |mask, lane| mask | 1 << lane));
        Some(format!(
            "{lanes} {list} {verb} outside of {}: lane {first} accesses {}; a real kernel would touch other memory there \
             (mask such lanes with `if`)",
            self.tile,
            pattern.element(first)
        ))
    }

    /// Whether other warps of the block pay something else.
    fn other_warps(&self, access: &WarpAccess) -> Option<String> {
        let warps = self.threads.block.warps();
        let cost = if access.space() == Space::Shared {
            access.wavefronts()
        } else {
            access.sectors()
        };
        let others: Vec<(u32, u32)> = (0..warps)
            .filter(|warp| *warp != self.warp)
            .filter_map(|warp| self.cost(warp).ok().map(|(cost, _)| (warp, cost)))
            .collect();
        if others.is_empty() {
            return None;
        }
        let unit = if access.space() == Space::Shared {
            "wavefront"
        } else {
            "sector"
        };
        let worst = others.iter().max_by_key(|(warp, cost)| (*cost, u32::MAX - warp))?;
        if others.iter().all(|(_, other)| *other == cost) && others.len() as u32 + 1 == warps {
            return (warps > 1).then(|| format!("the other {} of the block cost the same", plural(warps - 1, "warp")));
        }
        let low = others.iter().map(|(_, cost)| *cost).min()?.min(cost);
        let high = worst.1.max(cost);
        if low == high {
            return None;
        }
        Some(format!(
            "the block's warps cost {low} to {high} {unit}s; see `--warp {}` for the most expensive",
            if worst.1 > cost { worst.0 } else { self.warp }
        ))
    }
}

impl Placement {
    /// The tile, arranged so.
    ///
    /// # Errors
    ///
    /// A layout that cannot exist.
    ///
    /// ```
    /// use tile33_explain::{Arrangement, Placement, Tile};
    /// let tile = Tile::parse("f32[32][32]")?;
    /// assert_eq!(Placement::of(&tile, Arrangement::Pitch(33))?.storage(), 1056);
    /// assert!(Placement::of(&tile, Arrangement::Pitch(31)).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of(tile: &Tile, arrangement: Arrangement) -> Result<Self, PatternError> {
        let (rows, cols) = match arrangement {
            Arrangement::Skew { .. } => (1, tile.rows().saturating_mul(tile.cols())),
            _ => (tile.rows(), tile.cols()),
        };
        let placement = Self {
            rows,
            cols,
            arrangement,
        };
        placement.check().map_err(|error| PatternError::Layout {
            tile: tile.to_string(),
            layout: arrangement.to_string(),
            error,
        })?;
        Ok(placement)
    }
}

fn lanes(pattern: &Pattern, access: &WarpAccess, base: u32) -> Vec<Lane> {
    (0..LANES as u32)
        .filter(|lane| pattern.is_active(*lane))
        .map(|lane| {
            let byte = access.addresses()[lane as usize];
            let (row, col) = pattern.places[lane as usize];
            Lane {
                lane,
                element: pattern.element(lane),
                row,
                col,
                index: (byte - u64::from(base)) / u64::from(pattern.element_bytes),
                byte,
                word: byte / 4,
                bank: banks::bank_of(byte),
                sector: byte / 32,
            }
        })
        .collect()
}

fn groups(access: &WarpAccess) -> Vec<GroupAnswer> {
    let list = |mask: u32| (0..LANES as u32).filter(|lane| mask >> lane & 1 == 1).collect();
    let breakdown = access.breakdown();
    let group = |group: &tile33_layout::Group<'_>| GroupAnswer {
        lanes: list(group.lanes()),
        wavefronts: group.wavefronts(),
        banks: group
            .banks()
            .map(|bank| Bank {
                bank: bank.bank(),
                wavefronts: bank.wavefronts(),
                words: bank
                    .words()
                    .map(|word| Word {
                        word: word.word,
                        lanes: list(word.lanes),
                    })
                    .collect(),
            })
            .collect(),
    };
    breakdown.groups().iter().map(group).collect()
}
