//! What the blocks of a launch share: the program's memory instructions, what was written before, and the findings.

use std::sync::{Mutex, PoisonError};

use super::apart::Apart;
use super::block::BlockCheck;
use super::finding::CheckFindings;
use super::flights::Flights;
use super::init::{Known, WrittenBytes};
use super::report::Collected;
use super::site::Sites;
use super::state::State;
use super::turns::Turns;
use super::vars::Vars;
use crate::memory::Memory;

/// What to check, and the shape of the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckConfig {
    /// Look for races.
    pub races: bool,
    /// Look for reads of memory that nobody wrote.
    pub uninitialized: bool,
    /// Threads of a block, at most 1024.
    pub threads: u32,
    /// Blocks of the grid.
    pub blocks: u32,
    /// Bytes of a block's shared window, static and dynamic.
    pub shared_bytes: u32,
    /// How blocks run.
    pub blocks_run: BlocksRun,
    /// Where memory begins that `malloc` in a kernel gives during this launch, which nobody has written: what lies there
    /// belongs to no allocation of the [`Memory`]. Of what earlier launches left below it, nothing is known.
    pub fresh_heap: u64,
}

/// How the blocks of a launch run, which is a matter of whether anything in the program can order them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlocksRun {
    /// Side by side, on any number of threads, in any order: the program has no instruction by which one block can
    /// observe another's strong write (no `atom` whose result is used and no strong load of device scope on global
    /// memory), so no access of one block is ordered with one of another. Findings do not depend on the order.
    Apart,
    /// In turns, all on one thread, in an order that is the same from run to run: which fences and atomics order what
    /// depends on what is observed.
    InTurns,
}

/// The checks of one launch. Shared by the threads that run its blocks.
#[derive(Debug)]
pub struct LaunchCheck<'a> {
    pub(crate) config: CheckConfig,
    pub(crate) sites: &'a Sites,
    pub(crate) memory: Vec<Known<'a>>,
    pub(crate) apart: Apart,
    pub(crate) turns: Mutex<InTurns>,
    collected: Mutex<All>,
    /// Of blocks that have finished, for the next.
    idle: Mutex<Vec<State>>,
}

/// What blocks that run in turns share.
#[derive(Debug, Default)]
pub(crate) struct InTurns {
    pub(crate) between: Turns,
    pub(crate) vars: Vars,
    pub(crate) written: WrittenBytes,
    pub(crate) flights: Flights,
}

#[derive(Debug, Default)]
struct All {
    found: Collected,
    written: WrittenBytes,
}

impl<'a> LaunchCheck<'a> {
    /// For a launch of a program with these memory instructions, on this memory.
    pub fn new(config: CheckConfig, sites: &'a Sites, memory: &'a Memory) -> Self {
        Self {
            config,
            sites,
            memory: Known::all(memory),
            apart: Apart::default(),
            turns: Mutex::default(),
            collected: Mutex::default(),
            idle: Mutex::default(),
        }
    }

    /// The checks of one block, by its linear index. Blocks may start and finish in any order.
    pub fn start_block(&self, block: u32) -> BlockCheck<'_> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut state = idle.unwrap_or_else(|| State::new(&self.config));
        state.start(block, &self.config);
        BlockCheck::new(self, state)
    }

    pub(crate) fn finish_block(&self, mut state: State) {
        let block = state.order.block();
        state.with_flights(self, |flights| flights.end(block));
        let written = &state.shared_written;
        state
            .found
            .settle(self.sites, |at| written.first_missing(at, 1).is_none());
        {
            let mut all = self.collected.lock().unwrap_or_else(PoisonError::into_inner);
            all.found.merge(std::mem::take(&mut state.found));
            all.written.merge(&state.global_written);
        }
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(state);
    }

    /// Ends the launch. Gives the findings, which are the same from run to run, and tells the memory what the launch
    /// wrote. Where reads of unwritten memory were not looked for, all of the memory counts as written from now on:
    /// nothing is known of it any more.
    pub fn finish(self) -> CheckFindings {
        let mut all = self.collected.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.apart.report(self.sites, &mut all.found);
        if self.config.uninitialized {
            let turns = self.turns.into_inner().unwrap_or_else(PoisonError::into_inner);
            all.written.mark_in(&self.memory);
            turns.written.mark_in(&self.memory);
        } else {
            for known in &self.memory {
                known.written.mark(0, known.end - known.base);
            }
        }
        all.found.finish(self.sites)
    }
}
