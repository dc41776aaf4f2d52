//! What a GPU does not tell: races in shared and global memory, and reads of memory that nobody wrote.
//!
//! # How a launch uses it
//!
//! 1. While decoding, every memory instruction becomes a [`Site`] and gets a [`SiteId`] from [`Sites::add`].
//! 2. A launch makes one [`LaunchCheck`], which every worker thread shares, and takes a [`BlockCheck`] for each block
//!    from [`LaunchCheck::start_block`], until [`BlockCheck::finish`].
//! 3. The block tells its `BlockCheck` of every memory instruction of a warp ([`BlockCheck::shared`],
//!    [`BlockCheck::global`]; local memory only where it is read before it was written: [`BlockCheck::local`]) and of
//!    everything that orders threads. Lanes that are out of bounds or misaligned are left out of `active`: they are
//!    findings of another kind.
//! 4. [`LaunchCheck::finish`] gives the findings and the bytes that the launch wrote, for [`GlobalInit::absorb`].
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
//! | `.release` / `.acquire` on the access itself | the same without the fence |
//! | an atomic or strong access alone | nothing; but it is no race with another of its kind |
//! | `mbarrier.arrive` (release) and a `test_wait`/`try_wait` that says yes (acquire) | what came before the arrivals of the phase, before what follows the wait |
//! | `cp.async`, then `cp.async.wait_group`/`wait_all` in the same thread | the copy's write, before what follows in that thread; a barrier is still needed for other threads |
//! | start and end of the launch | everything |
//!
//! Lanes of a warp have no order between them without one of these: no step in lockstep is assumed.
mod block;
mod finding;
mod init;
mod launch;
mod report;
mod site;
mod touch;

pub use block::BlockCheck;
pub use finding::{Access, CheckFindings, CheckedSpace, Race, Uninitialized};
pub use init::{GlobalInit, InitMap, WrittenBytes};
pub use launch::{BlocksRun, CheckConfig, LaunchCheck};
pub use site::{AccessKind, Order, Scope, Site, SiteId, Sites};
pub use touch::{Stored, Touch};
