//! What a warp does with a tile, before it is decided where the tile's elements lie.

use std::collections::BTreeMap;

use miette::{Diagnostic, SourceSpan};
use thiserror::Error;
use tile33_layout::{AccessError, LANES, Op, ShapeError, Space, WarpAccess};

use crate::language::{Access, Builtin, Scope, Span};
use crate::{Block, Placement, TextError, Tile};

/// The instruction, less its addresses.
///
/// ```
/// use tile33_explain::AccessSpec;
/// assert_eq!(AccessSpec::parse("st.v4 tile[4 * tx]")?.instruction.vector, 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// The memory.
    pub space: Space,
    /// What is done.
    pub op: Op,
    /// Elements per lane.
    pub vector: u32,
}

/// The threads, and the values of the names.
///
/// ```
/// use tile33_explain::{Block, Threads};
/// let mut threads = Threads::of(Block::parse("256")?);
/// threads.parameters.insert("stride".into(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Threads {
    /// The block's dimensions.
    pub block: Block,
    /// The block's place in the grid.
    pub block_index: [u32; 3],
    /// The named parameters.
    pub parameters: BTreeMap<String, i64>,
}

impl Threads {
    /// Block 0 of the grid, no parameters.
    ///
    /// ```
    /// use tile33_explain::{Block, Threads};
    /// let threads = Threads::of(Block::parse("32x8")?);
    /// assert_eq!((threads.block.warps(), threads.parameters.len()), (8, 0));
    /// # Ok::<(), tile33_explain::TextError>(())
    /// ```
    pub fn of(block: Block) -> Self {
        Self {
            block,
            block_index: [0; 3],
            parameters: BTreeMap::new(),
        }
    }

    /// What the names are worth in a lane, `None` past the block's end.
    pub(crate) fn scope<'a>(&'a self, source: &'a str, warp: u32, lane: u32) -> Option<Scope<'a>> {
        let [tx, ty, tz] = self.block.thread(warp, lane)?;
        let [bx, by, bz] = self.block_index;
        let [dx, dy, dz] = self.block.dims();
        let builtins = [tx, ty, tz, bx, by, bz, dx, dy, dz, lane, warp].map(i64::from);
        debug_assert_eq!(builtins.len(), Builtin::ALL.len());
        Some(Scope {
            builtins,
            parameters: &self.parameters,
            source,
        })
    }
}

/// Why there is no access to count.
///
/// ```
/// use tile33_explain::{PatternError, Question};
/// let error = Question::new("f32[32][32]", "tile[tx - 1][0]", "32")?.answer().unwrap_err();
/// assert!(matches!(error, PatternError::Text(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Diagnostic, Error)]
pub enum PatternError {
    /// The text has no meaning.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Text(#[from] TextError),
    /// No such layout.
    #[error("{tile} cannot be laid out with {layout}: {error}")]
    Layout {
        /// The tile.
        tile: String,
        /// The layout.
        layout: String,
        /// Why.
        error: ShapeError,
    },
    /// The addresses are none that a warp can use.
    #[error("{error} (column {column})")]
    #[diagnostic(help("{help}"))]
    Access {
        /// Why.
        error: AccessError,
        /// Where its indices start, in characters from 1.
        column: usize,
        /// The access.
        #[source_code]
        text: String,
        /// Its indices.
        #[label("this index")]
        span: SourceSpan,
        /// What to do.
        help: String,
    },
    /// A swizzle that separates the elements of a vector.
    #[error("with {layout}, {vector} elements side by side in a row are not side by side in memory")]
    #[diagnostic(help("a swizzle `B,M,S` keeps 2^M elements together: use M of at least {least}"))]
    Torn {
        /// The layout.
        layout: String,
        /// Elements per lane.
        vector: u32,
        /// log2 of them.
        least: u32,
    },
}

const FAR: &str = "more than 2^32 elements from the start";

/// The row and column that each lane of a warp accesses.
///
/// ```
/// use tile33_explain::{Pattern, Question};
/// let question = Question::new("f32[32][32]", "tile[tx][5] if tx < 9", "32x8")?;
/// let pattern = Pattern::new(&question.tile, question.instruction, &question.access, &question.threads, 0)?;
/// assert_eq!((pattern.mask, pattern.places[3]), (0x1ff, (3, 5)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Pattern {
    /// The instruction.
    pub instruction: Instruction,
    /// Bytes of an element.
    pub element_bytes: u32,
    /// Active lanes.
    pub mask: u32,
    /// What each lane's indices are worth; empty for inactive lanes.
    pub indices: [Vec<i64>; LANES],
    /// Row and column; (0, 0) for inactive lanes.
    pub places: [(i64, i64); LANES],
    /// The access, for errors.
    text: String,
    span: Span,
    array: String,
}

impl Pattern {
    /// What the lanes of a warp access.
    ///
    /// With an index per dimension, all but the last make the row. A single index of a tile with several dimensions
    /// counts elements; its row is 0.
    ///
    /// # Errors
    ///
    /// A wrong number of indices, or an index that cannot be computed.
    ///
    /// ```
    /// use tile33_explain::{Pattern, Question};
    /// let question = Question::new("f32[32][32]", "tile[tx][5] if tx < 9", "32x8")?;
    /// let pattern = Pattern::new(&question.tile, question.instruction, &question.access, &question.threads, 0)?;
    /// assert_eq!(pattern.indices[8], [8, 5]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(
        tile: &Tile,
        instruction: Instruction,
        access: &Access,
        threads: &Threads,
        warp: u32,
    ) -> Result<Self, PatternError> {
        let dimensions = tile.lengths.len();
        if access.indices.len() != dimensions && access.indices.len() != 1 {
            let indices = access.indices.len();
            let message = format!("{tile} has {dimensions} dimensions, and is indexed with {indices}");
            let error = TextError::new(&access.source, access.span(), message, format!("{indices} indices"));
            let help = "give one index per dimension, or a single one that counts elements from the start";
            return Err(error.with_help(help).into());
        }
        let mut pattern = Self {
            instruction,
            element_bytes: tile.element.bytes,
            mask: 0,
            indices: [const { Vec::new() }; LANES],
            places: [(0, 0); LANES],
            text: access.source.clone(),
            span: access.span(),
            array: access.array.clone(),
        };
        for lane in 0..LANES as u32 {
            let Some(scope) = threads.scope(&access.source, warp, lane) else {
                continue;
            };
            if let Some(guard) = &access.guard
                && scope.value(guard)? == 0
            {
                continue;
            }
            let indices = access
                .indices
                .iter()
                .map(|index| scope.value(index))
                .collect::<Result<Vec<_>, _>>()?;
            let place = place(tile, &indices).ok_or_else(|| pattern.outside(lane, &indices, FAR))?;
            pattern.mask |= 1 << lane;
            pattern.places[lane as usize] = place;
            pattern.indices[lane as usize] = indices;
        }
        Ok(pattern)
    }

    /// A lane's element, `tile[3][5]`.
    ///
    /// ```
    /// use tile33_explain::{Pattern, Question};
    /// let question = Question::new("f32[32][32]", "tile[tx][5] if tx < 9", "32x8")?;
    /// let pattern = Pattern::new(&question.tile, question.instruction, &question.access, &question.threads, 0)?;
    /// assert_eq!(pattern.element(3), "tile[3][5]");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn element(&self, lane: u32) -> String {
        self.element_of(&self.indices[lane as usize])
    }

    fn element_of(&self, indices: &[i64]) -> String {
        let indices: String = indices.iter().map(|index| format!("[{index}]")).collect();
        format!("{}{indices}", self.array)
    }

    fn outside(&self, lane: u32, indices: &[i64], place: &str) -> PatternError {
        let message = format!("lane {lane} accesses {}, {place}", self.element_of(indices));
        TextError::new(&self.text, self.span, message, "this index")
            .with_help("mask such lanes with a guard, such as `if tx < 16` after the access")
            .into()
    }

    /// Whether `lane` is active.
    ///
    /// ```
    /// use tile33_explain::{Pattern, Question};
    /// let question = Question::new("f32[32][32]", "tile[tx][5] if tx < 9", "32x8")?;
    /// let pattern = Pattern::new(&question.tile, question.instruction, &question.access, &question.threads, 0)?;
    /// assert!(pattern.is_active(8) && !pattern.is_active(9));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_active(&self, lane: u32) -> bool {
        self.mask >> lane & 1 == 1
    }

    /// Bytes per lane.
    ///
    /// ```
    /// use tile33_explain::{Pattern, Question};
    /// let question = Question::new("f32[32][32]", "tile[tx][5] if tx < 9", "32x8")?;
    /// let pattern = Pattern::new(&question.tile, question.instruction, &question.access, &question.threads, 0)?;
    /// assert_eq!(pattern.width(), 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn width(&self) -> u32 {
        self.instruction.vector.saturating_mul(self.element_bytes)
    }

    /// The access if the tile lies so, from byte `base` on.
    ///
    /// # Errors
    ///
    /// An element before the start or past 2^32 - 1, a misaligned vector, a swizzle that separates its elements.
    ///
    /// ```
    /// use tile33_explain::{Arrangement, Pattern, Placement, Question};
    /// let question = Question::new("f32[32][32]", "tile[tx][5] if tx < 9", "32x8")?;
    /// let pattern = Pattern::new(&question.tile, question.instruction, &question.access, &question.threads, 0)?;
    /// let padded = Placement::of(&question.tile, Arrangement::Pitch(33))?;
    /// assert_eq!(pattern.access(&padded, 0)?.wavefronts(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn access(&self, placement: &Placement, base: u32) -> Result<WarpAccess, PatternError> {
        let vector = self.instruction.vector;
        if !placement.keeps_vectors(vector) {
            let layout = placement.arrangement.to_string();
            return Err(PatternError::Torn {
                layout,
                vector,
                least: vector.ilog2(),
            });
        }
        let mut addresses = [0; LANES];
        for lane in 0..LANES as u32 {
            if !self.is_active(lane) {
                continue;
            }
            let (row, col) = self.places[lane as usize];
            let Some(offset) = placement.offset(row, col) else {
                let negative = i128::from(row) * i128::from(placement.pitch()) + i128::from(col) < 0;
                let place = if negative { "before the start of the array" } else { FAR };
                return Err(self.outside(lane, &self.indices[lane as usize], place));
            };
            addresses[lane as usize] = u64::from(base) + u64::from(offset) * u64::from(self.element_bytes);
        }
        let Instruction { space, op, .. } = self.instruction;
        WarpAccess::new(space, op, self.width(), self.mask, addresses).map_err(|error| {
            let help = match error {
                AccessError::Width { .. } => {
                    format!("{vector} elements of {} bytes are {}; choose a smaller `--vector`", self.element_bytes, self.width())
                }
                AccessError::Misaligned { .. } if vector > 1 => format!(
                    "an index counts elements, so {vector} at once start at a multiple of {vector}: write `{vector} * tx` \
                     for vector number tx, and give rows a pitch that is a multiple of {vector}"
                ),
                AccessError::Misaligned { .. } => "start the array at a multiple of the element's size".into(),
            };
            PatternError::Access {
                error,
                column: self.text[..self.span.start].chars().count() + 1,
                text: self.text.clone(),
                span: (self.span.start, self.span.end - self.span.start).into(),
                help,
            }
        })
    }
}

fn place(tile: &Tile, indices: &[i64]) -> Option<(i64, i64)> {
    let (col, outer) = indices.split_last()?;
    let mut row = 0i64;
    for (index, length) in outer.iter().zip(&tile.lengths) {
        row = row.checked_mul(i64::from(*length))?.checked_add(*index)?;
    }
    Some((row, *col))
}
