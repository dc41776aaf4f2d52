//! What a launch returns: counters in total and per instruction, and findings.
//!
//! The names are those of `tile33 check --json`; everything here serialises with serde as that command prints it.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::finding::Finding;

/// Shared-memory traffic of one kind of instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SharedCounters {
    /// Warp instructions with at least one active lane.
    pub requests: u64,
    /// Wavefronts that the banks needed, by `tile33-layout`'s model.
    pub wavefronts: u64,
    /// Wavefronts that the same lanes and widths need without conflicts.
    pub ideal: u64,
}

/// Global-memory traffic of one kind of instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct GlobalCounters {
    /// Warp instructions with at least one active lane.
    pub requests: u64,
    /// Distinct 32-byte sectors touched, summed over the requests.
    pub sectors: u64,
    /// Sectors that the same number of bytes needs when they lie together.
    pub ideal_sectors: u64,
}

/// Counters of a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counters {
    /// `ld.shared` and what reads shared memory through a generic address, `ldmatrix`, `wmma.load`.
    pub shared_load: SharedCounters,
    /// `st.shared` and its kin.
    pub shared_store: SharedCounters,
    /// `atom.shared`, `red.shared`.
    pub shared_atomic: SharedCounters,
    /// `ld.global` and its kin.
    pub global_load: GlobalCounters,
    /// `st.global` and its kin.
    pub global_store: GlobalCounters,
    /// `atom.global`, `red.global`.
    pub global_atomic: GlobalCounters,
    /// Warp instructions executed, those whose lanes are all predicated off included.
    pub instructions: u64,
    /// Instructions times the lanes that were active and not predicated off.
    pub lane_instructions: u64,
    /// Barriers passed by blocks: one for each time that a block barrier completed.
    pub barriers: u64,
    /// Branches that were executed by a warp.
    pub branches: u64,
    /// Branches at which the lanes of a warp went different ways.
    pub divergent_branches: u64,
}

macro_rules! add_fields {
    ($($ty:ty { $($f:ident),* })*) => {$(
        impl std::ops::AddAssign for $ty {
            fn add_assign(&mut self, other: Self) { $(self.$f += other.$f;)* }
        }
    )*};
}
add_fields! {
    SharedCounters { requests, wavefronts, ideal }
    GlobalCounters { requests, sectors, ideal_sectors }
    Counters {
        shared_load, shared_store, shared_atomic, global_load, global_store, global_atomic,
        instructions, lane_instructions, barriers, branches, divergent_branches
    }
}

/// A place in the source that the PTX was compiled from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct SourceLine {
    /// Path as `.file` gives it.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 where the compiler gave none.
    pub column: u32,
}

impl fmt::Display for SourceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        if self.column > 0 {
            write!(f, ":{}", self.column)?;
        }
        Ok(())
    }
}

/// Counters of one instruction. Instructions that were never executed have no entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InstructionCounters {
    /// The PTX text of the instruction, without its comment.
    pub instruction: String,
    /// Line in the PTX, from 1.
    pub line: u32,
    /// Where the source has it, if `.loc` says.
    pub source: Option<SourceLine>,
    /// The counts, as in the totals.
    #[serde(flatten)]
    pub counters: Counters,
}

/// The registers of one width that a kernel declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DeclaredRegisters {
    /// Width; predicates have 1.
    pub bits: u32,
    /// How many.
    pub count: u64,
}

/// What limits how many blocks share a multiprocessor, for the launch that was run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Residency {
    /// Name of the card.
    pub card: String,
    /// Registers per thread, where known (`.maxnreg`, or given with the launch): PTX does not fix them.
    pub registers: Option<u32>,
    /// Registers per thread as the kernel's `.reg` directives declare them, by width. PTX's registers are virtual: the
    /// assembler needs fewer, so these say how large the kernel is and limit nothing.
    pub declared_registers: Vec<DeclaredRegisters>,
    /// Shared bytes per block: static.
    pub static_shared: u32,
    /// Shared bytes per block: dynamic.
    pub dynamic_shared: u32,
    /// Blocks that one multiprocessor holds.
    pub blocks_per_sm: u32,
    /// Resident warps as a fraction of the most the multiprocessor holds, in percent.
    pub occupancy_percent: u32,
    /// What stops one more block.
    pub limited_by: String,
}

/// A step of the traced warp.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// The PTX text of the instruction.
    pub instruction: String,
    /// Line in the PTX, from 1.
    pub line: u32,
    /// Where the source has it, if `.loc` says.
    pub source: Option<SourceLine>,
    /// Lanes that ran together, bit 0 = lane 0.
    pub lanes: u32,
    /// Those of them whose guard was true.
    pub active: u32,
}

/// What a launch did.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Kernel.
    pub entry: String,
    /// What is wrong with the program, in the order of the PTX lines. Empty for a clean run.
    pub findings: Vec<Finding>,
    /// Totals.
    pub counters: Counters,
    /// Per instruction, by PTX line.
    pub per_instruction: Vec<InstructionCounters>,
    /// Occupancy limits on the card of the launch.
    pub residency: Option<Residency>,
    /// What the kernel printed (`vprintf`), block after block.
    #[serde(serialize_with = "lossy")]
    pub output: Vec<u8>,
    /// Steps of the warp that [`Options::trace`](crate::Options::trace) names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<Step>,
}

fn lossy<S: Serializer>(bytes: &[u8], s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str(&String::from_utf8_lossy(bytes))
}

impl Report {
    /// Whether nothing was found.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }

    /// Counters per source line, in order; instructions without a `.loc` are left out.
    pub fn per_source_line(&self) -> Vec<(SourceLine, Counters)> {
        let mut lines = std::collections::BTreeMap::new();
        for i in &self.per_instruction {
            if let Some(source) = &i.source {
                let key = SourceLine {
                    column: 0,
                    ..source.clone()
                };
                *lines.entry(key).or_insert_with(Counters::default) += i.counters;
            }
        }
        lines.into_iter().collect()
    }
}
