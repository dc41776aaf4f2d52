//! What is wrong with a program: one [`Finding`] per pair of instructions, however many lanes it concerns.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::report::SourceLine;

/// Kinds of findings, spelt as `tile33 check --json` prints them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// Two accesses of one byte, at least one of them a write, that nothing orders.
    Race,
    /// Shared memory read before anything was written there.
    UninitializedShared,
    /// Global memory read before anything was written there.
    UninitializedGlobal,
    /// Local memory read before anything was written there.
    UninitializedLocal,
    /// Outside of every allocation, or of the array that the launch declares.
    OutOfBounds,
    /// A buffer that was freed.
    UseAfterFree,
    /// An address that is no multiple of the access's width.
    Misaligned,
    /// A barrier that not every thread of the block reaches, or that lanes of a warp reach at different instructions.
    DivergentBarrier,
    /// Every thread waits for something that cannot come.
    Deadlock,
    /// A generic access where the code names shared memory, or an access to the wrong space.
    AddressSpace,
    /// `trap`, `brkpt` or a failed assertion.
    Trap,
}

impl FindingKind {
    /// As it is printed.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Race => "race",
            Self::UninitializedShared => "uninitialized-shared",
            Self::UninitializedGlobal => "uninitialized-global",
            Self::UninitializedLocal => "uninitialized-local",
            Self::OutOfBounds => "out-of-bounds",
            Self::UseAfterFree => "use-after-free",
            Self::Misaligned => "misaligned",
            Self::DivergentBarrier => "divergent-barrier",
            Self::Deadlock => "deadlock",
            Self::AddressSpace => "address-space",
            Self::Trap => "trap",
        }
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An address as a person reads it: `tile+132`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    /// The numeric address: within its window for shared and local memory, the device address for global memory.
    pub value: u64,
    /// Variable, parameter or buffer that it lies in or next to.
    pub symbol: Option<String>,
    /// Bytes from the symbol's start; the address itself without a symbol.
    pub offset: i64,
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.symbol {
            Some(symbol) => write!(f, "{symbol}{:+}", self.offset),
            None => write!(f, "{:#x}", self.value),
        }
    }
}

impl Serialize for Address {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

/// One side of a finding: an instruction and the thread that executed it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Site {
    /// PTX text of the instruction.
    pub instruction: String,
    /// Line in the PTX, from 1.
    pub line: u32,
    /// Where the source has it, if `.loc` says.
    pub source: Option<SourceLine>,
    /// `blockIdx` x, y, z.
    pub block: [u32; 3],
    /// `threadIdx` x, y, z.
    pub thread: [u32; 3],
}

/// Something that is wrong with the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What it is.
    pub kind: FindingKind,
    /// What happened, in a sentence that names threads, address and bytes.
    pub message: String,
    /// Where it happened.
    #[serde(flatten)]
    pub site: Site,
    /// The other instruction: the earlier access of a race, the barrier where the other lanes wait.
    pub other: Option<Site>,
    /// The address, where there is one.
    pub address: Option<Address>,
    /// What to do about it, in a sentence.
    pub help: String,
    /// How many lanes ran into it, in the whole launch.
    pub occurrences: u64,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {} (line {}: {})",
            self.kind, self.message, self.site.line, self.site.instruction
        )
    }
}
