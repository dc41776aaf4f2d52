//! What every block of a launch shares, and what a worker thread gathers.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64};

use super::findings::{Findings, Thread};
use super::heap::Heap;
use super::ownership::Ownership;
use crate::check::{BlockCheck, LaunchCheck};
use crate::decode::Kernel;
use crate::launch::{SharedArray, TraceStep};
use crate::memory::Memory;
use crate::registers::Registers;
use crate::report::Counters;

/// What every block of a launch shares.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    pub(crate) kernel: &'a Kernel,
    pub(crate) memory: &'a Memory,
    /// Claims on the memory's live allocations, by their index; `None` when blocks run one after the other.
    pub(crate) ownership: Option<Vec<Ownership>>,
    pub(crate) heap: Mutex<Heap>,
    /// The launch's parameters.
    pub(crate) params: Vec<u8>,
    /// The module's constant bank.
    pub(crate) constants: &'a [u8],
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    /// Threads of a block.
    pub(crate) threads: u32,
    /// Bytes of shared memory from the first variable on, static and dynamic.
    pub(crate) shared_bytes: u32,
    /// Arrays in dynamic shared memory, by offset in the block's shared memory.
    pub(crate) shared_arrays: Vec<SharedArray>,
    /// A warp's registers before its first step: constants and what all threads of the launch have in common.
    pub(crate) registers: Registers,
    pub(crate) check: Option<LaunchCheck<'a>>,
    /// Whether local memory is checked for reads before writes.
    pub(crate) track_local: bool,
    pub(crate) count: bool,
    pub(crate) max_steps: u64,
    /// Multiprocessors of the card.
    pub(crate) multiprocessors: u32,
    pub(crate) trace: Option<(u64, u32)>,
    /// A block that was in another's way.
    pub(crate) conflict: AtomicBool,
    /// Blocks from this one on need not run: a lower one cannot go on.
    pub(crate) stop: AtomicU64,
}

/// What a worker thread gathers over the blocks that it runs.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    /// By pc.
    pub(crate) counters: Vec<Counters>,
    pub(crate) findings: Findings,
    /// What blocks printed.
    pub(crate) output: BTreeMap<u64, Vec<u8>>,
    pub(crate) trace: Vec<TraceStep>,
    /// Why a block could not go on, the lowest.
    pub(crate) failed: Option<(u64, Stop)>,
}

impl Gathered {
    pub(crate) fn new(kernel: &Kernel) -> Self {
        Self {
            counters: vec![Counters::default(); kernel.code.len()],
            ..Self::default()
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        for (ours, theirs) in self.counters.iter_mut().zip(other.counters) {
            *ours += theirs;
        }
        self.findings.merge(other.findings);
        self.output.extend(other.output);
        self.trace.extend(other.trace);
        self.failed = match (self.failed.take(), other.failed) {
            (Some(a), Some(b)) => Some(if a.0 <= b.0 { a } else { b }),
            (a, b) => a.or(b),
        };
    }
}

/// Why a block does not go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Another block is in its way; the launch starts again.
    Conflict,
    /// An instruction that the emulator does not run.
    Unsupported { pc: u32, reason: String },
    /// Something from which execution cannot go on.
    Fault { pc: u32, message: String },
    /// Too many steps.
    Steps { pc: u32 },
    /// The block is over: `trap`, or a deadlock. A finding says so already.
    Over,
}

/// Everything that a block's memory accesses need beside the warp itself.
pub(crate) struct Machine<'r, 'a> {
    pub(crate) cx: &'a Context<'a>,
    pub(crate) gathered: &'r mut Gathered,
    pub(crate) block: &'r mut super::block::BlockState,
    pub(crate) check: &'r mut Option<BlockCheck<'a>>,
}

impl Machine<'_, '_> {
    /// A thread of the running block.
    pub(crate) fn thread(&self, warp: u32, lane: usize) -> Thread {
        Thread {
            block: self.block.linear,
            thread: warp * 32 + lane as u32,
        }
    }
}
