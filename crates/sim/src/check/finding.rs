//! What the checks report.

use super::site::{AccessKind, Order};

/// State space of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CheckedSpace {
    /// Shared memory; addresses are offsets in the block's window.
    Shared,
    /// Global memory; addresses are device addresses.
    Global,
}

/// One side of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Access {
    /// The instruction, as in [`Site::pc`](super::Site::pc).
    pub pc: u32,
    /// What it does.
    pub kind: AccessKind,
    /// Its memory order.
    pub order: Order,
    /// Linear index of the block.
    pub block: u32,
    /// Linear index of the thread in its block; warp and lane are `thread / 32` and `thread % 32`.
    pub thread: u32,
}

/// Two accesses to the same bytes, at least one of them a write, with nothing that orders them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Race {
    /// The access that came first in this run.
    pub first: Access,
    /// The one that came second. Between blocks that run side by side, first and second are by block number.
    pub second: Access,
    /// Where.
    pub space: CheckedSpace,
    /// Address of the first byte that both touch.
    pub address: u64,
    /// How often this pair of instructions was seen to race in the launch (once per address and pair of accesses).
    pub count: u64,
}

/// A read of bytes that nothing has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uninitialized {
    /// The reading instruction, as in [`Site::pc`](super::Site::pc).
    pub pc: u32,
    /// Where.
    pub space: CheckedSpace,
    /// Linear index of the block.
    pub block: u32,
    /// Linear index of the thread in its block.
    pub thread: u32,
    /// Address of the first byte that was not written.
    pub address: u64,
    /// Whether the block wrote the byte later on: what is missing is the order of the two. Known of shared memory only.
    pub written_later: bool,
    /// Reads of this instruction, over all lanes of the launch, that met bytes nobody had written.
    pub count: u64,
}

/// What a launch was found to do wrong, once per pair of instructions (races) or instruction (reads).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckFindings {
    /// Races, by the instructions' order in the program.
    pub races: Vec<Race>,
    /// Reads of memory that was never written, by instruction and space.
    pub uninitialized: Vec<Uninitialized>,
}
