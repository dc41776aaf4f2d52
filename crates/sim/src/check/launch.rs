//! What the blocks of a launch share: the program's memory instructions, what was written before, and the findings.

use std::sync::{Mutex, PoisonError};

use super::block::BlockCheck;
use super::finding::CheckFindings;
use super::init::{GlobalInit, WrittenBytes};
use super::report::Collected;
use super::site::Sites;

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
    /// Bytes of a thread's local memory.
    pub local_bytes: u32,
    /// How blocks run.
    pub blocks_run: BlocksRun,
}

/// How the blocks of a launch run, which is a matter of whether anything in the program can order them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlocksRun {
    /// Side by side, on any number of threads, in any order: the program has no fence and no release wider than a
    /// block, so no access of one block is ordered with one of another. Findings do not depend on the order.
    Apart,
    /// In turns, all on one thread, in an order that is the same from run to run: the program has fences or releases
    /// of device scope, and what they order depends on what is observed.
    InTurns,
}

/// The checks of one launch. Shared by the threads that run its blocks.
#[derive(Debug)]
pub struct LaunchCheck<'a> {
    pub(crate) config: CheckConfig,
    pub(crate) sites: &'a Sites,
    pub(crate) memory: &'a GlobalInit,
    pub(crate) collected: Mutex<Collected>,
}

impl<'a> LaunchCheck<'a> {
    /// For a launch of a program with these memory instructions, on this global memory.
    pub fn new(config: CheckConfig, sites: &'a Sites, memory: &'a GlobalInit) -> Self {
        Self {
            config,
            sites,
            memory,
            collected: Mutex::default(),
        }
    }

    /// The checks of one block, by its linear index. Blocks may start and finish in any order.
    pub fn start_block(&self, block: u32) -> BlockCheck<'_> {
        BlockCheck::new(self, block)
    }

    /// The findings, which are the same from run to run, and what the launch wrote.
    pub fn finish(self) -> (CheckFindings, WrittenBytes) {
        self.collected
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
            .finish(self.sites)
    }
}
