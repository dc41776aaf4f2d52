//! Why a warp's access to a tile costs what it does, and what would cure it: the library behind `tile33 explain`,
//! `tile33 advise` and `tile33 wavefronts`.
//!
//! | asked | answered by |
//! |---|---|
//! | what does `tile[tx][5]` cost, and why? | [`Question::answer`]: lanes, bytes, banks, the formula, the verdict, cures |
//! | for which strides does it conflict? | [`Sweep`] |
//! | which layout serves these accesses best? | [`Plan::advise`] |
//! | what do the accesses in this file cost? | [`lines`] |
//!
//! All counting is `tile33-layout`'s; this crate reads the question ([`language`], [`Tile`], [`Block`]), tries layouts and
//! puts the answer into words. Answers serialise with serde, and render to text with ANSI styles, for a stream that
//! removes them where they are not wanted.
mod advise;
mod advise_render;
mod answer;
mod block;
mod cures;
mod error;
mod fold;
mod formula;
pub mod language;
mod linear;
pub mod lines;
mod parameters;
mod pattern;
mod picture;
mod placement;
mod render;
mod sweep;
mod tile;
mod verdict;

pub use advise::{AccessSpec, Advice, Candidate, Cost, Plan, Served};
pub use answer::{Answer, Bank, GroupAnswer, Lane, Question, Word};
pub use block::Block;
pub use cures::{Budget, Cure};
pub use error::TextError;
pub use formula::Formula;
pub use parameters::Parameter;
pub use pattern::{Instruction, Pattern, PatternError, Threads};
pub use picture::picture;
pub use placement::{Arrangement, Placement};
pub use sweep::{Point, Sweep, SweepError};
pub use tile::{Element, Tile};
pub use verdict::verdict;
