//! The text of `tile33 explain` and `tile33 advise`, as it is read without colours.

mod common;

use anstream::adapter::strip_str;
use common::{plan, question};
use insta::assert_snapshot;
use tile33_explain::{Arrangement, Question, Sweep};
use tile33_layout::{Op, Space, XorBits};

fn explained(question: &Question) -> String {
    strip_str(&question.answer().expect("an answer").render(false)).to_string()
}

#[test]
fn column_of_a_plain_tile() {
    assert_snapshot!(explained(&question("f32[32][32]", "tile[tx][5]", "32x8")));
}

#[test]
fn column_of_a_padded_tile() {
    assert_snapshot!(explained(&question("f32[32][33]", "tile[tx][ty]", "32x8")));
}

#[test]
fn padded_tile_in_a_16_wide_block() {
    assert_snapshot!(explained(&question("f32[32][33]", "tile[tx][ty]", "16x16")));
}

#[test]
fn row_of_doubles() {
    assert_snapshot!(explained(&question("f64[32][32]", "tile[ty][tx]", "32x8")));
}

#[test]
fn column_of_a_swizzled_tile() {
    let mut question = question("f32[32][32]", "tile[tx][5]", "32x8");
    question.arrangement = Arrangement::Swizzle {
        pitch: 32,
        bits: XorBits {
            bits: 5,
            base: 0,
            shift: 5,
        },
    };
    assert_snapshot!(explained(&question));
}

#[test]
fn swizzle_that_is_no_xor_of_row_and_column() {
    let mut question = question("f32[32][33]", "tile[tx][1]", "32x8");
    question.arrangement = Arrangement::Swizzle {
        pitch: 33,
        bits: XorBits {
            bits: 2,
            base: 1,
            shift: 3,
        },
    };
    assert_snapshot!(explained(&question));
}

#[test]
fn column_of_vectors() {
    let mut question = question("f32[32][32]", "tile[tx][4 * ty]", "32x8");
    question.instruction.vector = 4;
    assert_snapshot!(explained(&question));
}

#[test]
fn pairs_of_lanes_that_merge() {
    assert_snapshot!(explained(&question("f64[64]", "data[tx / 2]", "32")));
}

#[test]
fn half_a_warp_of_bytes() {
    assert_snapshot!(explained(&question("u8[32][32]", "tile[tx][0] if tx < 16", "32x8")));
}

#[test]
fn atomics_at_one_word() {
    let mut question = question("u32[256]", "bins[0]", "256");
    question.instruction.op = Op::Cas;
    assert_snapshot!(explained(&question));
}

#[test]
fn column_in_global_memory() {
    let mut question = question("f32[32][1024]", "image[tx][by * 32 + ty]", "32x8");
    question.instruction.space = Space::Global;
    question.threads.block_index = [0, 2, 0];
    assert_snapshot!(explained(&question));
}

#[test]
fn lanes_outside_of_the_array() {
    assert_snapshot!(explained(&question("f32[16][32]", "tile[tx][0]", "32")));
}

#[test]
fn no_active_lane() {
    assert_snapshot!(explained(&question("f32[32][32]", "tile[tx][0] if tx > 99", "32")));
}

#[test]
fn sweep_of_strides() {
    let sweep = Sweep::new(&question("f32[1024]", "data[tx * stride]", "32x8"), "stride", 1..=64).expect("a sweep");
    assert_snapshot!(strip_str(&sweep.render()));
}

fn advised(tile: &str, accesses: &[&str], block: &str) -> String {
    strip_str(&plan(tile, accesses, block).advise(false).expect("advice").render()).to_string()
}

#[test]
fn advice_for_a_transpose() {
    assert_snapshot!(advised("f32[32][32]", &["st tile[ty][tx]", "ld tile[tx][ty]"], "32x8"));
}

#[test]
fn advice_with_vectors() {
    let accesses = [
        "st.v4 tile[ty][4 * tx]",
        "ld tile[lane][warp]",
        "ld.v4 tile[ty][4 * tx]",
    ];
    assert_snapshot!(advised("f32[64][64]", &accesses, "16x16"));
}

#[test]
fn advice_to_do_nothing() {
    assert_snapshot!(advised("f64[32][32]", &["ld tile[ty][tx]"], "32x8"));
}
