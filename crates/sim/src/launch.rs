//! What to launch: entry, grid, arguments, options; and why a launch can fail.

use tile33_layout::occupancy::{CARDS, Card};

use crate::memory::MemoryError;

/// A kernel argument.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Arg {
    U8(u8),
    U16(u16),
    U32(u32),
    U64(u64),
    I8(i8),
    I16(i16),
    I32(i32),
    I64(i64),
    F32(f32),
    F64(f64),
    /// A device address from [`crate::Memory::alloc`].
    Pointer(u64),
    /// The bytes of a structure passed by value.
    Bytes(Vec<u8>),
}

impl Arg {
    /// The bytes as the kernel's parameter space holds them.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::U8(v) => v.to_le_bytes().to_vec(),
            Self::U16(v) => v.to_le_bytes().to_vec(),
            Self::U32(v) => v.to_le_bytes().to_vec(),
            Self::U64(v) | Self::Pointer(v) => v.to_le_bytes().to_vec(),
            Self::I8(v) => v.to_le_bytes().to_vec(),
            Self::I16(v) => v.to_le_bytes().to_vec(),
            Self::I32(v) => v.to_le_bytes().to_vec(),
            Self::I64(v) => v.to_le_bytes().to_vec(),
            Self::F32(v) => v.to_le_bytes().to_vec(),
            Self::F64(v) => v.to_le_bytes().to_vec(),
            Self::Bytes(v) => v.clone(),
        }
    }

    /// As an error names it: `u32`, `pointer`, `12 bytes`.
    pub fn describe(&self) -> String {
        match self {
            Self::U8(_) => "u8".into(),
            Self::U16(_) => "u16".into(),
            Self::U32(_) => "u32".into(),
            Self::U64(_) => "u64".into(),
            Self::I8(_) => "i8".into(),
            Self::I16(_) => "i16".into(),
            Self::I32(_) => "i32".into(),
            Self::I64(_) => "i64".into(),
            Self::F32(_) => "f32".into(),
            Self::F64(_) => "f64".into(),
            Self::Pointer(_) => "pointer".into(),
            Self::Bytes(b) => format!("{} bytes", b.len()),
        }
    }
}

macro_rules! arg_from {
    ($($t:ty => $v:ident),*) => {$(
        impl From<$t> for Arg { fn from(v: $t) -> Self { Self::$v(v) } }
    )*};
}
arg_from!(u8 => U8, u16 => U16, u32 => U32, u64 => U64, i8 => I8, i16 => I16, i32 => I32, i64 => I64, f32 => F32, f64 => F64);

/// Which checks run. Bounds, alignment, barriers and deadlocks are always checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    /// Data races in shared and global memory, by happens-before.
    pub races: bool,
    /// Shared, local and global memory read before it was written.
    pub uninitialized: bool,
}

impl Checks {
    /// All of them.
    pub const ALL: Self = Self {
        races: true,
        uninitialized: true,
    };
    /// Only those that cost nothing.
    pub const NONE: Self = Self {
        races: false,
        uninitialized: false,
    };
}

impl Default for Checks {
    fn default() -> Self {
        Self::ALL
    }
}

/// An array that the kernel carves from dynamic shared memory. With the carve-out declared, an access that leaves one
/// array for its neighbour is out of bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedArray {
    /// Name for findings.
    pub name: String,
    /// Bytes from the start of dynamic shared memory.
    pub offset: u32,
    /// Bytes.
    pub bytes: u32,
}

/// A step of the traced warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TraceStep {
    pub(crate) pc: u32,
    /// Lanes of the group that ran.
    pub(crate) mask: u32,
    /// Those of them whose guard was true.
    pub(crate) active: u32,
}

/// How to run.
#[derive(Clone, Debug)]
pub struct Options {
    /// The card whose limits hold.
    pub card: &'static Card,
    /// Checks.
    pub checks: Checks,
    /// Count wavefronts and sectors.
    pub counters: bool,
    /// Most warp instructions that one block may execute before the launch fails; `None` for no limit.
    pub max_steps: Option<u64>,
    /// Threads of the host; `None` for all cores. The results do not depend on it.
    pub threads: Option<usize>,
    /// Registers per thread, where known: they limit the block's size and the occupancy.
    pub registers: Option<u32>,
    /// Arrays carved from dynamic shared memory; empty where not declared.
    pub shared_arrays: Vec<SharedArray>,
    /// A cooperative launch: all blocks are resident at once and may wait for each other (`grid.sync()`).
    pub cooperative: bool,
    /// Largest number of findings kept.
    pub max_findings: usize,
    /// Records the steps of one warp: block index (linear) and warp index.
    pub trace: Option<(u64, u32)>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            card: default_card(),
            checks: Checks::default(),
            counters: true,
            max_steps: Some(1 << 28),
            threads: None,
            registers: None,
            shared_arrays: Vec::new(),
            cooperative: false,
            max_findings: 100,
            trace: None,
        }
    }
}

fn default_card() -> &'static Card {
    // The card on which the bank model was measured.
    Card::find("sm_90").unwrap_or(&CARDS[0])
}

/// A kernel launch.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Kernel name.
    pub entry: String,
    /// Blocks along x, y, z.
    pub grid: [u32; 3],
    /// Threads per block along x, y, z.
    pub block: [u32; 3],
    /// Dynamic shared memory, bytes per block.
    pub dynamic_shared: u32,
    /// Arguments, in the kernel's order.
    pub args: Vec<Arg>,
    /// How to run.
    pub options: Options,
}

impl Launch {
    /// A launch without arguments and with default options.
    pub fn new(entry: &str, grid: [u32; 3], block: [u32; 3]) -> Self {
        Self {
            entry: entry.to_owned(),
            grid,
            block,
            dynamic_shared: 0,
            args: Vec::new(),
            options: Options::default(),
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<Arg>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds a pointer argument.
    #[must_use]
    pub fn pointer(mut self, address: u64) -> Self {
        self.args.push(Arg::Pointer(address));
        self
    }

    /// Sets the dynamic shared memory.
    #[must_use]
    pub fn dynamic_shared(mut self, bytes: u32) -> Self {
        self.dynamic_shared = bytes;
        self
    }

    /// Sets the options.
    #[must_use]
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }
}

/// Why a launch did not run, or not to its end.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// No kernel of that name.
    #[error("no kernel `{entry}` in the module; it has {}", list(available))]
    NoSuchEntry {
        /// Asked for.
        entry: String,
        /// What there is.
        available: Vec<String>,
    },
    /// Wrong number of arguments.
    #[error("`{entry}` takes {expected} arguments, {given} were given")]
    ArgumentCount {
        /// Kernel.
        entry: String,
        /// Its number of parameters.
        expected: usize,
        /// Given.
        given: usize,
    },
    /// An argument of the wrong type or size.
    #[error("argument {index} of `{entry}` (`{parameter}`) is {expected}, but {given} was given")]
    ArgumentType {
        /// Kernel.
        entry: String,
        /// From 0.
        index: usize,
        /// The parameter's name.
        parameter: String,
        /// What the PTX declares.
        expected: String,
        /// What came.
        given: String,
    },
    /// A grid or block dimension is zero or too large.
    #[error("{what} {axis} is {asked}; {card} takes 1 to {limit}")]
    Dimension {
        /// `grid` or `block`.
        what: &'static str,
        /// `x`, `y` or `z`.
        axis: char,
        /// Asked for.
        asked: u64,
        /// Largest.
        limit: u64,
        /// Card.
        card: String,
    },
    /// Too many threads in a block.
    #[error("a block of {asked} threads; {limited_by} allows at most {limit}")]
    BlockThreads {
        /// Asked for.
        asked: u64,
        /// Most.
        limit: u64,
        /// Card or directive that sets the limit.
        limited_by: String,
    },
    /// `.reqntid` is not met.
    #[error("`{entry}` requires blocks of {required:?} threads (.reqntid), asked for {asked:?}")]
    RequiredThreads {
        /// Kernel.
        entry: String,
        /// Required.
        required: [u32; 3],
        /// Asked for.
        asked: [u32; 3],
    },
    /// More registers than an instruction can name.
    #[error("{registers} registers a thread are asked for; {card} takes at most {limit}")]
    ThreadRegisters {
        /// Per thread.
        registers: u32,
        /// Most.
        limit: u32,
        /// Card.
        card: String,
    },
    /// Registers times threads exceed the file.
    #[error("{registers} registers a thread times {threads} threads exceed the {limit} registers of a block on {card}")]
    Registers {
        /// Per thread.
        registers: u32,
        /// Per block.
        threads: u64,
        /// Registers per block.
        limit: u64,
        /// Card.
        card: String,
    },
    /// A cooperative launch of more blocks than are resident at once.
    #[error("a cooperative launch of {blocks} blocks; {card} holds {resident} of them at once")]
    Cooperative {
        /// Asked for.
        blocks: u64,
        /// What the card holds.
        resident: u64,
        /// Card.
        card: String,
    },
    /// Too much shared memory.
    #[error("{static_bytes} static + {dynamic_bytes} dynamic bytes of shared memory = {} are asked for; {card} has {available} bytes a block", static_bytes + dynamic_bytes)]
    SharedMemory {
        /// Declared in the PTX.
        static_bytes: u64,
        /// Asked for with the launch.
        dynamic_bytes: u64,
        /// What a block can have.
        available: u64,
        /// Card.
        card: String,
    },
    /// Something in the launch contradicts itself.
    #[error("{0}")]
    Invalid(String),
    /// An instruction or form that the emulator does not run.
    #[error("line {line}: `{instruction}` is not supported: {reason}")]
    Unsupported {
        /// PTX text.
        instruction: String,
        /// PTX line.
        line: u32,
        /// What of it.
        reason: String,
    },
    /// A block executed more warp instructions than allowed.
    #[error(
        "block {block:?} executed more than {limit} warp instructions (last at line {line}: `{instruction}`): an endless loop? Raise the limit if not"
    )]
    StepLimit {
        /// The limit.
        limit: u64,
        /// Block.
        block: [u32; 3],
        /// Where it was.
        instruction: String,
        /// PTX line.
        line: u32,
    },
    /// The kernel did something from which execution cannot go on; the report holds what was found until then.
    #[error("{message} (line {line}: `{instruction}`)")]
    Fault {
        /// What.
        message: String,
        /// PTX text.
        instruction: String,
        /// PTX line.
        line: u32,
    },
    /// The device's memory.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

fn list(names: &[String]) -> String {
    match names {
        [] => "none".into(),
        names => names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", "),
    }
}
