//! What is explained is what the model counts, and what is advised holds.

mod common;

use common::{plan, question};
use proptest::prelude::*;
use tile33_explain::{Arrangement, Placement, Served, Sweep};
use tile33_layout::{Layout, Op, RowMajor, Typed, WarpAccess, XorBits, XorColumns};

#[test]
fn a_column_of_a_plain_tile_is_a_32_way_conflict_that_padding_by_one_cures() {
    let answer = question("f32[32][32]", "tile[tx][5]", "32x8")
        .answer()
        .expect("an answer");
    assert_eq!(
        (answer.wavefronts, answer.ideal, answer.excess, answer.ways),
        (32, 1, 31, 32)
    );
    assert_eq!(answer.verdict, "32-way conflict: 32 lanes, 32 words, all in bank 5");
    let pitch = &answer.cures[0];
    assert_eq!(
        (pitch.layout.as_str(), pitch.wavefronts, pitch.extra_bytes),
        ("pitch 33", 1, 128)
    );
    assert_eq!(
        pitch.bank.as_deref(),
        Some("(33 * lane + 5) mod 32 = (lane + 5) mod 32")
    );
    let swizzle = &answer.cures[1];
    assert_eq!(
        (swizzle.wavefronts, swizzle.extra_bytes, swizzle.layout_type.as_str()),
        (1, 0, "XorColumns<32, 32>")
    );
}

#[test]
fn a_padded_tile_in_a_16_wide_block_still_conflicts_and_pitch_34_does_not() {
    let answer = question("f32[32][33]", "tile[tx][ty]", "16x16")
        .answer()
        .expect("an answer");
    assert_eq!((answer.wavefronts, answer.ways), (2, 2));
    assert_eq!(
        (answer.cures[0].layout.as_str(), answer.cures[0].wavefronts),
        ("pitch 34", 1)
    );
    let linear = question("f32[1056]", "data[(lane % 16) * 33 + lane / 16]", "32")
        .answer()
        .expect("an answer");
    assert_eq!(linear.wavefronts, 2);
}

#[test]
fn doubles_cost_32_wavefronts_a_column_and_two_a_row_which_is_ideal() {
    let mut column = question("f64[32][32]", "tile[tx][0]", "32x8");
    column.instruction.op = Op::Store;
    let answer = column.answer().expect("an answer");
    assert_eq!((answer.wavefronts, answer.ideal), (32, 2));
    assert_eq!(
        (answer.cures[0].layout.as_str(), answer.cures[0].wavefronts),
        ("pitch 33", 2)
    );
    let row = question("f64[32][32]", "tile[ty][tx]", "32x8")
        .answer()
        .expect("an answer");
    assert_eq!((row.wavefronts, row.ideal, row.cures.len()), (2, 2, 0));
}

#[test]
fn the_strides_of_a_load_cost_their_greatest_common_divisor_with_32() {
    let question = question("f32[1024]", "data[tx * stride]", "32x8");
    let sweep = Sweep::new(&question, "stride", 1..=64).expect("a sweep");
    let costs: Vec<u32> = sweep.points.iter().map(|point| point.cost).collect();
    let gcd = |stride: u32| 1 << stride.trailing_zeros().min(5);
    assert_eq!(costs, (1..=64).map(gcd).collect::<Vec<_>>());
    assert_eq!(sweep.rule.as_deref(), Some("gcd(stride, 32)"));
    assert_eq!(sweep.notes.len(), 1, "strides past 33 leave the array");
}

#[test]
fn explained_layouts_are_those_that_kernels_index_with() {
    type Byte<'a> = &'a dyn Fn(u32, u32) -> u32;
    let checks: [(Arrangement, Byte<'_>); 3] = [
        (Arrangement::Pitch(33), &|row, col| {
            Typed::<f32, RowMajor<32, 32, 33>>::new().byte_offset(row, col)
        }),
        (Arrangement::Xor { period: 32 }, &|row, col| {
            Typed::<f32, XorColumns<32, 32>>::new().byte_offset(row, col)
        }),
        (
            Arrangement::Swizzle {
                pitch: 32,
                bits: XorBits {
                    bits: 3,
                    base: 2,
                    shift: 3,
                },
            },
            &|row, col| 4 * tile33_layout::Swizzled::<RowMajor<32, 32>, 3, 2, 3>::new().offset(row, col),
        ),
    ];
    for (arrangement, byte) in checks {
        let mut question = question("f32[32][32]", "tile[tx][(3 * tx + 1) % 32]", "32");
        question.arrangement = arrangement;
        let answer = question.answer().expect("an answer");
        for lane in &answer.lanes {
            assert_eq!(
                lane.byte,
                u64::from(byte(lane.row as u32, lane.col as u32)),
                "{arrangement}, lane {}",
                lane.lane
            );
        }
    }
}

#[test]
fn without_its_swizzle_a_tile_conflicts_and_with_it_it_does_not() {
    let cost = |arrangement| {
        let mut question = question("f32[32][32]", "tile[tx][5]", "32");
        question.arrangement = arrangement;
        question.answer().expect("an answer").wavefronts
    };
    assert_eq!(cost(Arrangement::Pitch(32)), 32);
    assert_eq!(cost(Arrangement::Xor { period: 32 }), 1);
    assert_eq!(
        cost(Arrangement::Swizzle {
            pitch: 32,
            bits: XorBits {
                bits: 5,
                base: 0,
                shift: 5
            }
        }),
        1
    );
    assert_eq!(
        cost(Arrangement::Swizzle {
            pitch: 32,
            bits: XorBits {
                bits: 3,
                base: 2,
                shift: 3
            }
        }),
        4
    );
}

#[test]
fn what_has_no_answer_is_an_error_that_says_what_to_do() {
    let error = |tile, access| {
        format!(
            "{:?}",
            miette::Report::new(question(tile, access, "32").answer().expect_err(access))
        )
    };
    assert!(error("f32[32][32]", "tile[tx - 1][0]").contains("before the start"));
    assert!(error("f32[32][32]", "tile[tx][0][0]").contains("2 dimensions"));
    assert!(error("f32[32][32]", "tile[1 << 60][0]").contains("2^32"));
    let mut vector = question("f32[32][32]", "tile[tx][ty + 1]", "32");
    vector.instruction.vector = 4;
    assert!(
        vector
            .answer()
            .expect_err("misaligned")
            .to_string()
            .contains("no multiple of 16")
    );
    vector.arrangement = Arrangement::Xor { period: 32 };
    assert!(
        vector
            .answer()
            .expect_err("torn")
            .to_string()
            .contains("not side by side")
    );
    vector.arrangement = Arrangement::Xor { period: 24 };
    assert!(
        vector
            .answer()
            .expect_err("no layout")
            .to_string()
            .contains("no power of two")
    );
}

#[test]
fn lanes_that_leave_the_array_are_named() {
    let answer = question("f32[32][32]", "tile[tx + 1][0]", "32")
        .answer()
        .expect("an answer");
    assert!(
        answer.notes.iter().any(|note| note.contains("lane 31 is outside")),
        "{:?}",
        answer.notes
    );
    let inside = question("f32[32][32]", "tile[tx + 1][0] if tx < 31", "32")
        .answer()
        .expect("an answer");
    assert!(
        !inside.notes.iter().any(|note| note.contains("outside")),
        "{:?}",
        inside.notes
    );
    assert_eq!(inside.mask, 0x7fff_ffff);
}

#[test]
fn a_transpose_is_advised_a_layout_without_conflicts() {
    let advice = plan("f32[32][32]", &["st tile[ty][tx]", "ld tile[tx][ty]"], "32x8")
        .advise(false)
        .expect("advice");
    let best = &advice.table[advice.best];
    assert_eq!((best.wavefronts, advice.ideal, best.bytes), (Some(16), Some(16), 4096));
    assert_eq!(advice.table[0].wavefronts, Some(8 + 8 * 32));
    assert!(
        advice
            .table
            .iter()
            .any(|row| row.layout == "pitch 33" && row.wavefronts == Some(16))
    );
}

#[test]
fn vectors_are_advised_a_layout_that_keeps_them_aligned() {
    let accesses = ["st.v4 tile[ty][4 * tx]", "ld tile[lane][warp]"];
    let advice = plan("f32[64][64]", &accesses, "16x16").advise(false).expect("advice");
    let best = &advice.table[advice.best];
    assert_eq!((best.widest_access, best.bytes), (16, 64 * 64 * 4));
    let famous = advice
        .table
        .iter()
        .find(|row| row.layout == "pitch 65")
        .expect("everybody tries it");
    assert_eq!(
        famous.costs[0],
        Served::Problem {
            problem: "misaligned".into()
        }
    );
    assert!(
        advice
            .remarks
            .iter()
            .any(|remark| remark.contains("pitch 65 would misalign")),
        "{:?}",
        advice.remarks
    );
}

#[test]
fn doing_nothing_is_advised_where_it_is_best() {
    for accesses in [
        &["ld tile[ty][tx]"][..],
        &["red tile[0][0]"],
        &["ld tile[0][0]", "st tile[ty][tx]"],
    ] {
        let advice = plan("f32[32][32]", accesses, "32x8").advise(false).expect("advice");
        assert_eq!(advice.best, 0, "{accesses:?}");
        assert!(advice.remarks[0].starts_with("do nothing"), "{:?}", advice.remarks);
    }
}

#[test]
fn padding_that_does_not_help_is_said_not_to() {
    // Rows 0, 32, 64, .. of column 0: any pitch times 32 is a multiple of the 32 banks, while a swizzle may read higher rows.
    let advice = plan("f32[1024][32]", &["ld tile[32 * tx][0]"], "32")
        .advise(false)
        .expect("advice");
    assert!(
        advice
            .remarks
            .iter()
            .any(|remark| remark.contains("padding does not help")),
        "{:?}",
        advice.remarks
    );
    assert_eq!(advice.table[advice.best].wavefronts, Some(1));
}

#[test]
fn bytes_that_cost_a_block_are_said_to() {
    let mut plan = plan("f64[32][32]", &["st tile[ty][tx]", "ld tile[tx][ty]"], "32x4");
    plan.budget.card = tile33_layout::occupancy::Card::find("sm_86").expect("known");
    let advice = plan.advise(true).expect("advice");
    let row = |layout: &str| advice.table.iter().find(|row| row.layout == layout).expect("tried");
    assert_eq!((row("pitch 32").blocks_per_sm, row("pitch 33").blocks_per_sm), (11, 10));
    assert!(row("col ^ (row % 16)").wavefronts <= row("pitch 33").wavefronts);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn a_cure_costs_what_it_says_and_no_smaller_padding_is_as_good(
        log in 3..7u32, row in 0..4i64, col in 0..4i64, start in 0..8i64, element in prop::sample::select(vec!["u8", "f16", "f32", "f64", "f32x4"]),
    ) {
        let cols = 1u32 << log;
        let access = format!("tile[{row} * tx][({col} * tx + {start}) % {cols}]");
        let question = question(&format!("{element}[128][{cols}]"), &access, "32");
        let answer = question.answer().expect("an answer");
        let cost = |arrangement| {
            let placement = Placement::of(&question.tile, arrangement).expect("possible");
            let byte = |lane: usize| {
                let lane = &answer.lanes[lane];
                let offset = placement.offset(lane.row, lane.col).expect("within reach");
                u64::from(offset) * u64::from(question.tile.element.bytes)
            };
            WarpAccess::shared_load(question.tile.element.bytes, |lane| Some(byte(lane as usize))).expect("aligned").wavefronts()
        };
        prop_assert_eq!(cost(Arrangement::Pitch(cols)), answer.wavefronts);
        for cure in &answer.cures {
            prop_assert!(cure.wavefronts < answer.wavefronts);
            if let Some(pitch) = cure.layout.strip_prefix("pitch ") {
                let pitch: u32 = pitch.parse().expect("a number");
                prop_assert_eq!(cost(Arrangement::Pitch(pitch)), cure.wavefronts);
                for smaller in cols..pitch {
                    prop_assert!(cost(Arrangement::Pitch(smaller)) > cure.wavefronts);
                }
            }
        }
        if answer.excess == 0 {
            prop_assert!(answer.cures.is_empty());
        }
    }

    #[test]
    fn the_formula_names_the_bank_of_every_lane(
        a in 0..70i64, b in 0..70i64, pitch in 32..70u32, element in prop::sample::select(vec!["u8", "f16", "f32", "f64", "f32x4"]),
    ) {
        let mut question = question(&format!("{element}[70][32]"), &format!("tile[({a} * tx) % 64][({b} + tx) % 32]"), "32");
        question.arrangement = Arrangement::Pitch(pitch);
        let answer = question.answer().expect("an answer");
        let formula = answer.formula.expect("active lanes");
        // The formula is written in the index language, except for `mod`.
        let text = |formula: &str| format!("bank[{}]", formula.replace("mod", "%"));
        for formula in [&formula.bank, &formula.bank_reduced] {
            let access = tile33_explain::language::Access::parse(&text(formula)).expect("an expression");
            for lane in &answer.lanes {
                let mut builtins = [0; 11];
                builtins[0] = lane.lane.into();
                builtins[9] = lane.lane.into();
                let scope = tile33_explain::language::Scope { builtins, parameters: &Default::default(), source: &access.source };
                prop_assert_eq!(scope.value(&access.indices[0]), Ok(lane.bank.into()), "{} in lane {}", formula, lane.lane);
            }
        }
    }
}
