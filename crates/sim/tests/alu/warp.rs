//! Shuffles, votes, matches, reductions and elections, by their definitions.

use crate::harness::{Op, Random};

const WARP: u32 = 32;

/// Rows for a warp: one vector a lane.
fn warp(f: impl Fn(u32) -> Vec<u128>) -> Vec<Vec<u128>> {
    (0..WARP).map(f).collect()
}

fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    (0..32).filter(move |lane| mask >> lane & 1 == 1)
}

#[test]
fn shuffles_follow_the_manuals_program() {
    for mode in ["up", "down", "bfly", "idx"] {
        for sync in [false, true] {
            let (dot, extra) = if sync { (".sync", ", -1") } else { ("", "") };
            let op = Op::new(
                "b32 d, pred p",
                "b32 a, b32 b, b32 c",
                &format!("shfl{dot}.{mode}.b32 d|p, a, b, c{extra};"),
            );
            let plain = Op::new(
                "b32 d",
                "b32 a, b32 b, b32 c",
                &format!("shfl{dot}.{mode}.b32 d, a, b, c{extra};"),
            );
            let mut random = Random::of(mode);
            for width in [1u32, 2, 4, 8, 16, 32] {
                for b in [0u32, 1, 2, 3, 5, 8, 15, 16, 17, 31, 32, 40, 63] {
                    for varying in [false, true] {
                        // As `__shfl_*_sync` builds it: the segment mask, and the clamp.
                        let clamp = if mode == "up" { 0 } else { 31 };
                        let c = (WARP - width) << 8 | clamp;
                        let lane_b: Vec<u32> = (0..WARP).map(|l| if varying { b + l } else { b }).collect();
                        let inputs = warp(|l| vec![(1000 + l).into(), lane_b[l as usize].into(), c.into()]);
                        let active = if b % 2 == 0 { u32::MAX } else { random.next() as u32 };
                        let outs = op.warp(active, &inputs);
                        let plain = plain.warp(active, &inputs);
                        for lane in lanes(active) {
                            let (l, bval) = (lane as i64, i64::from(lane_b[lane] & 31));
                            let (cval, mask) = (i64::from(c & 31), i64::from(c >> 8 & 31));
                            let max_lane = (l & mask) | (cval & !mask);
                            let min_lane = l & mask;
                            let (j, valid) = match mode {
                                "up" => (l - bval, l - bval >= max_lane),
                                "down" => (l + bval, l + bval <= max_lane),
                                "bfly" => (l ^ bval, l ^ bval <= max_lane),
                                _ => (min_lane | (bval & !mask), min_lane | (bval & !mask) <= max_lane),
                            };
                            let from = if valid { j } else { l };
                            assert_eq!(
                                outs[lane][0],
                                1000 + from as u128,
                                "{} width {width} b {b} lane {lane}",
                                op.code()
                            );
                            assert_eq!(
                                outs[lane][1],
                                valid.into(),
                                "{} width {width} b {b} lane {lane}",
                                op.code()
                            );
                            assert_eq!(plain[lane][0], outs[lane][0]);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn a_butterfly_of_shuffles_sums_a_warp() {
    let steps: String = [16, 8, 4, 2, 1]
        .iter()
        .map(|n| format!("shfl.sync.bfly.b32 t, d, {n}, 31, -1; add.s32 d, d, t;\n"))
        .collect();
    let op = Op::new("b32 d, b32 t", "b32 a", &format!("mov.b32 d, a;\n{steps}"));
    let outs = op.warp(u32::MAX, &warp(|l| vec![(l * l).into()]));
    assert!(outs.iter().all(|out| out[0] == (0..32).map(|l| l * l).sum::<u128>()));
}

#[test]
fn votes_count_the_lanes_that_take_part() {
    let mut random = Random::of("vote");
    for round in 0..200u32 {
        let active = match round % 4 {
            0 => u32::MAX,
            1 => 1 << (round % 32),
            _ => random.next() as u32 | 1,
        };
        let p = match round % 5 {
            0 => 0,
            1 => u32::MAX,
            2 => active,
            3 => !active,
            _ => random.next() as u32,
        };
        for negated in [false, true] {
            let not = if negated { "!" } else { "" };
            let votes = if negated { !p } else { p } & active;
            let (all, any) = (votes == active, votes != 0);
            for (mode, ty, want) in [
                ("all", "pred", u128::from(all)),
                ("any", "pred", u128::from(any)),
                ("uni", "pred", u128::from(all || !any)),
                ("ballot", "b32", votes.into()),
            ] {
                let inputs = warp(|l| vec![(p >> l & 1).into(), active.into()]);
                let sync = Op::new(
                    &format!("{ty} d"),
                    "pred a, b32 m",
                    &format!("vote.sync.{mode}.{ty} d, {not}a, m;"),
                );
                let old = Op::new(
                    &format!("{ty} d"),
                    "pred a, b32 m",
                    &format!("vote.{mode}.{ty} d, {not}a;"),
                );
                for op in [&sync, &old] {
                    let outs = op.warp(active, &inputs);
                    for lane in lanes(active) {
                        assert_eq!(outs[lane][0], want, "{} lanes {active:#x} votes {p:#x}", op.code());
                    }
                }
            }
        }
    }
}

#[test]
fn groups_with_masks_of_their_own_do_not_see_each_other() {
    // Four tiles of eight, as cooperative groups make them, at one instruction.
    let tile = |l: u32| 0xffu32 << (l / 8 * 8);
    let op = Op::new("b32 d", "pred a, b32 m", "vote.sync.ballot.b32 d, a, m;");
    let outs = op.warp(u32::MAX, &warp(|l| vec![(l % 3 == 0).into(), tile(l).into()]));
    let odd: u32 = (0..32).filter(|l| l % 3 == 0).map(|l| 1u32 << l).sum();
    assert!((0..32).all(|l| outs[l as usize][0] == u128::from(odd & tile(l))));
    let op = Op::new("b32 d", "b32 a, b32 m", "redux.sync.add.u32 d, a, m;");
    let outs = op.warp(u32::MAX, &warp(|l| vec![l.into(), tile(l).into()]));
    assert!((0..32u32).all(|l| outs[l as usize][0] == (l / 8 * 8..l / 8 * 8 + 8).map(u128::from).sum()));
    let op = Op::new("b32 d, pred p", "b32 m", "elect.sync d|p, m;");
    let outs = op.warp(u32::MAX, &warp(|l| vec![tile(l).into()]));
    assert!((0..32u32).all(|l| outs[l as usize][..] == [u128::from(l / 8 * 8), u128::from(l % 8 == 0)]));
}

#[test]
fn matches_find_lanes_with_the_same_value() {
    let mut random = Random::of("match");
    for bits in [32u32, 64] {
        for distinct in [1u64, 2, 3, 40] {
            for active in [u32::MAX, 0x0ff0_1234, 0x8000_0000] {
                let high = if bits == 64 { 1u128 << 40 } else { 1 };
                let values: Vec<u128> = (0..32).map(|_| u128::from(random.below(distinct)) * high).collect();
                let inputs = warp(|l| vec![values[l as usize], active.into()]);
                let any = Op::new(
                    "b32 d",
                    &format!("b{bits} a, b32 m"),
                    &format!("match.any.sync.b{bits} d, a, m;"),
                );
                let all = Op::new(
                    "b32 d, pred p",
                    &format!("b{bits} a, b32 m"),
                    &format!("match.all.sync.b{bits} d|p, a, m;"),
                );
                let (any, all) = (any.warp(active, &inputs), all.warp(active, &inputs));
                let same = |lane: usize| {
                    lanes(active)
                        .filter(|l| values[*l] == values[lane])
                        .map(|l| 1u128 << l)
                        .sum::<u128>()
                };
                let every = lanes(active).all(|l| same(l) == u128::from(active));
                for lane in lanes(active) {
                    assert_eq!(any[lane][0], same(lane));
                    assert_eq!(all[lane][..], if every { [u128::from(active), 1] } else { [0, 0] });
                }
            }
        }
    }
}

#[test]
fn reductions_combine_the_lanes_that_take_part() {
    type Case = (&'static str, &'static str, fn(u32, u32) -> u32);
    let cases: [Case; 9] = [
        ("add", "u32", u32::wrapping_add),
        ("add", "s32", u32::wrapping_add),
        ("min", "u32", u32::min),
        ("max", "u32", u32::max),
        ("min", "s32", |a, b| (a as i32).min(b as i32) as u32),
        ("max", "s32", |a, b| (a as i32).max(b as i32) as u32),
        ("and", "b32", |a, b| a & b),
        ("or", "b32", |a, b| a | b),
        ("xor", "b32", |a, b| a ^ b),
    ];
    let mut random = Random::of("redux");
    for (name, ty, f) in cases {
        let op = Op::new("b32 d", "b32 a, b32 m", &format!("redux.sync.{name}.{ty} d, a, m;"));
        for active in [u32::MAX, 1, 0x8000_0001, 0x0f0f_ff00] {
            let values: Vec<u32> = (0..32).map(|_| random.next() as u32).collect();
            let outs = op.warp(active, &warp(|l| vec![values[l as usize].into(), active.into()]));
            let want = lanes(active).map(|l| values[l]).reduce(f).expect("a lane");
            assert!(
                lanes(active).all(|l| outs[l][0] == want.into()),
                "{} of lanes {active:#x}",
                op.code()
            );
        }
    }
}

#[test]
fn float_reductions_pass_over_nans_unless_told_otherwise() {
    let nan = f32::NAN;
    let cases: [(&str, &[f32], u32); 10] = [
        ("min", &[1.0, nan, -2.0, 3.0], (-2.0f32).to_bits()),
        ("max", &[1.0, nan, -2.0, 3.0], 3.0f32.to_bits()),
        ("min.NaN", &[1.0, nan, -2.0, 3.0], 0x7fff_ffff),
        ("max.abs", &[1.0, nan, -4.0, 3.0], 4.0f32.to_bits()),
        ("min.abs", &[-1.0, 2.0], 1.0f32.to_bits()),
        ("max.abs.NaN", &[1.0, nan], 0x7fff_ffff),
        ("min", &[nan, nan], 0x7fff_ffff),
        ("min", &[0.0, -0.0], (-0.0f32).to_bits()),
        ("max", &[-0.0, 0.0], 0.0f32.to_bits()),
        ("max", &[f32::NEG_INFINITY, f32::INFINITY], f32::INFINITY.to_bits()),
    ];
    for (name, values, want) in cases {
        let op = Op::new("f32 d", "f32 a, b32 m", &format!("redux.sync.{name}.f32 d, a, m;"));
        let outs = op.warp(
            u32::MAX,
            &warp(|l| vec![values[l as usize % values.len()].to_bits().into(), u32::MAX.into()]),
        );
        assert!(
            outs.iter().all(|out| out[0] == want.into()),
            "{name} of {values:?}: {:#x}",
            outs[0][0]
        );
    }
}

#[test]
fn activemask_is_the_lanes_that_run_it() {
    let op = Op::new("b32 d", "b32 a", "activemask.b32 d;");
    for active in [u32::MAX, 0x1234_5678, 1] {
        let outs = op.warp(active, &warp(|_| vec![0]));
        assert!(lanes(active).all(|l| outs[l][0] == active.into()));
    }
}

#[test]
fn elect_chooses_the_lowest_lane() {
    let op = Op::new("b32 d, pred p", "b32 m", "elect.sync d|p, m;");
    let sunk = Op::new("pred p", "b32 m", "elect.sync _|p, m;");
    for active in [u32::MAX, 0xffff_fff0, 0x8000_0000] {
        let inputs = warp(|_| vec![active.into()]);
        let first = active.trailing_zeros() as usize;
        let (outs, sunk) = (op.warp(active, &inputs), sunk.warp(active, &inputs));
        for lane in lanes(active) {
            assert_eq!(outs[lane][..], [first as u128, u128::from(lane == first)]);
            assert_eq!(sunk[lane][0], u128::from(lane == first));
        }
    }
}

#[test]
fn movmatrix_transposes() {
    let op = Op::new("b32 d", "b32 a", "movmatrix.sync.aligned.m8n8.trans.b16 d, a;");
    let element = |row: u32, column: u32| u128::from(100 * row + column);
    let outs = op.warp(
        u32::MAX,
        &warp(|l| {
            let (row, column) = (l / 4, l % 4 * 2);
            vec![element(row, column + 1) << 16 | element(row, column)]
        }),
    );
    for l in 0..32u32 {
        let (row, column) = (l / 4, l % 4 * 2);
        assert_eq!(
            outs[l as usize][0],
            element(column + 1, row) << 16 | element(column, row),
            "lane {l}"
        );
    }
}
