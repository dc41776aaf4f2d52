//! What a GPU does not tell: races in shared and global memory, and reads of memory that nobody wrote.
//!
//! # How a launch uses it
//!
//! 1. While decoding, every memory instruction becomes a [`Site`] and gets a [`SiteId`] from [`Sites::add`].
//! 2. A launch makes one [`LaunchCheck`], which every worker thread shares, and takes a [`BlockCheck`] for each block
//!    from [`LaunchCheck::start_block`], until [`BlockCheck::finish`].
//! 3. The block tells its `BlockCheck` of every shared and global memory instruction of a warp ([`BlockCheck::shared`],
//!    [`BlockCheck::global`]) and of everything that orders threads. Lanes that are out of bounds or misaligned are left
//!    out of `active`: they are findings of another kind.
//! 4. [`LaunchCheck::finish`] gives the findings and tells the [`Memory`](crate::Memory) what the launch wrote.
//!
//! # What orders two accesses
//!
//! | | orders |
//! |---|---|
//! | program order | the accesses of one thread |
//! | `bar.sync`, `barrier.sync`, `bar.red` | what came before, in every thread that arrived, before what follows in every thread that waited; `bar.arrive` only gives |
//! | `bar.warp.sync mask` | the lanes in the mask, both ways |
//! | `shfl`, `vote`, `match`, `redux`, `elect`, `activemask`, `mma`, `ldmatrix` | nothing: they wait for lanes, and make no promise about memory |
//! | `fence`/`membar`; then a strong write or atomic that a strong read or atomic in another thread observes; then a `fence`/`membar` there | what came before the first fence, before what follows the second |
//! | `.release` / `.acquire` on the access itself | the same without the fence; an acquire also acquires what earlier strong reads by its thread observed at the address |
//! | an atomic or strong access alone | nothing; but it is no race with another of its kind |
//! | `mbarrier.arrive` (release) and a `test_wait`/`try_wait` that says yes (acquire) | what came before the arrivals of the phase, before what follows the wait |
//! | `cp.async`, then `cp.async.wait_group`/`wait_all` in the same thread | the copy's read and write, before what follows in that thread; a barrier is still needed for other threads |
//! | start and end of the launch | everything |
//!
//! Lanes of a warp have no order between them without one of these: no step in lockstep is assumed.
//!
//! # What is a race, and what is not
//!
//! The definition is that of the PTX memory model: two accesses to a byte, at least one a write, that causality does not
//! order and that are not *morally strong* towards each other (strong accesses of sufficient scope: atomics, `.relaxed`
//! and `.volatile` ones). So `volatile` polling is no race, an ordinary load of what others add to atomically is one, and
//! a `.cta` atomic races with any access of another block. Where the model leaves a choice:
//!
//! - **Two ordinary stores of the same bits are not reported** (all threads set one flag): compute-sanitizer's racecheck
//!   classes them as information and hides them. They stand for each other: an access that is ordered before one of
//!   them is not held against the others. A load that is not ordered behind *each* of them is a race.
//! - **A strong read has observed every strong write that came to its address before it.** Whoever is ordered behind the
//!   read is ordered behind those writes (the model's observation order): the last block may reset a counter that all
//!   incremented. The thread of a `red` observes nothing, since it is not told.
//! - **A block barrier counts as a fence** for what its threads observed before it, as NVIDIA's own
//!   `threadFenceReduction` takes for granted: a fence is needed on the publishing side only.
//! - **A `fence.sc` (`membar`) before a block barrier counts as one of every thread behind it**: where all threads store,
//!   fence and meet, and one of them then tells the device with an atomic, whoever observes it and fences may read what they
//!   stored. For the fences have one order, and the reader's cannot come first where its atomic comes last. Otherwise two
//!   `fence.sc` order nothing by themselves: their order is that of one run, and another run has the other one.
//! - `.cluster` is as `.cta` and `.sys` as `.gpu`, see [`Scope`].
//! - `mbarrier.inval` is one more operation on the object, and operations on one object do not race: the last thread of a
//!   `cuda::pipeline` ends its barriers behind a `match.sync` of each warp, which orders no memory. Whoever uses the object
//!   after that is found when it happens, and other use of its memory races as ever.
//! - `ldmatrix` and `stmatrix` touch a row as the lane that gives its address.
//! - **A read that raced with the write it should have seen is not reported as unwritten besides**: that it came first
//!   in this run is the race's doing.
//! - **A copy reads its source at any time until it is waited for**: whoever writes there before that races with it, its
//!   own thread included.
//!
//! The detector finds a race at every address that has one, with a pair of accesses that is one; once an address has
//! raced, further pairs at that address may go unnamed.
mod apart;
mod block;
mod cell;
mod clock;
mod finding;
mod flights;
mod global;
mod init;
mod launch;
mod line;
mod order;
mod pages;
mod readers;
mod report;
mod sets;
mod site;
mod state;
mod touch;
mod turns;
mod vars;

pub use block::BlockCheck;
pub use finding::{Access, CheckFindings, CheckedSpace, Race, Uninitialized};
pub use init::InitMap;
pub use launch::{BlocksRun, CheckConfig, LaunchCheck};
pub use site::{AccessKind, Order, Scope, Site, SiteId, Sites};
pub use touch::{Stored, Touch};
