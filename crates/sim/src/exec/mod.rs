//! Runs decoded kernels: warps step by step, blocks side by side or in turns.

pub(crate) mod access;
mod atomic;
mod barrier;
pub(crate) mod block;
mod builtin;
mod call;
pub(crate) mod context;
mod copies;
pub(crate) mod findings;
mod global;
mod heap;
mod lanes;
mod local;
mod matrix;
mod mbarrier;
mod other;
mod ownership;
pub(crate) mod problems;
pub(crate) mod run;
pub(crate) mod schedule;
mod shared;
mod together;
mod transfer;
mod warp;

pub(crate) use atomic::commutes;
pub(crate) use heap::Heap;
pub(crate) use lanes::{blend, lanes, lowest};
pub(crate) use local::LOCAL_LIMIT;
