//! Questions as the command line asks them.

use std::collections::BTreeMap;

use tile33_explain::language::Access;
use tile33_explain::{Arrangement, Block, Budget, Instruction, Question, Threads, Tile};
use tile33_layout::occupancy::Card;
use tile33_layout::{Op, Space};

/// A load of one element by warp 0 of a block, from rows without padding of their own.
pub(crate) fn question(tile: &str, access: &str, block: &str) -> Question {
    let tile = Tile::parse(tile).expect("a tile");
    let block = Block::parse(block).expect("a block");
    Question {
        arrangement: Arrangement::Pitch(tile.cols()),
        tile,
        base: 0,
        instruction: Instruction {
            space: Space::Shared,
            op: Op::Load,
            vector: 1,
        },
        access: Access::parse(access).expect("an access"),
        threads: Threads {
            block,
            block_index: [0; 3],
            parameters: BTreeMap::new(),
        },
        warp: 0,
        budget: budget(block),
    }
}

/// What bytes cost on an H200.
pub(crate) fn budget(block: Block) -> Budget {
    let card = Card::find("sm_90").expect("known");
    Budget {
        card,
        block_threads: block.threads(),
        registers: 32,
        other_bytes: 0,
    }
}
