//! Why a warp's access costs what it does, and what would cure it.
mod answer;
mod block;
mod cures;
mod error;
mod fold;
mod formula;
pub mod language;
mod linear;
mod parameters;
mod pattern;
mod picture;
mod placement;
mod render;
mod tile;
mod verdict;

pub use answer::{Answer, Bank, GroupAnswer, Lane, Question, Word};
pub use block::Block;
pub use cures::{Budget, Cure};
pub use error::TextError;
pub use formula::Formula;
pub use parameters::Parameter;
pub use pattern::{Instruction, Pattern, PatternError, Threads};
pub use picture::picture;
pub use placement::{Arrangement, Placement};
pub use tile::{Element, Tile};
pub use verdict::verdict;
