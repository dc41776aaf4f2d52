//! Questions as the command line asks them.

use tile33_explain::{Plan, Question};

/// A load of one element by warp 0 of a block.
pub(crate) fn question(tile: &str, access: &str, block: &str) -> Question {
    Question::new(tile, access, block).expect("a question")
}

/// Accesses of one tile.
pub(crate) fn plan(tile: &str, accesses: &[&str], block: &str) -> Plan {
    Plan::new(tile, accesses, block).expect("a plan")
}
