//! The bank model against a second, plain reading of its rules.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::sample::select;
use tile33_layout::{Op, Space, WarpAccess, banks, sectors};

const OPS: [Op; 6] = [Op::Load, Op::Store, Op::Atom, Op::Red, Op::Cas, Op::Exch];

/// The rules, word by word, with sets.
fn by_the_rules(op: Op, width: u32, mask: u32, addresses: &[u64; 32]) -> (u32, u32) {
    let active = |lane: usize| mask >> lane & 1 == 1;
    let pairs = |x: usize| {
        (0..32)
            .filter(|lane| active(*lane))
            .all(|lane| !active(lane ^ x) || addresses[lane] == addresses[lane ^ x])
    };
    let mut lanes_per_group = match width {
        8 => 16,
        16 => 8,
        _ => 32,
    };
    if op == Op::Load && width >= 8 && (pairs(1) || pairs(2)) {
        lanes_per_group *= 2;
    }
    let (mut wavefronts, mut ideal) = (0, 0);
    for first in (0..32).step_by(lanes_per_group) {
        let mut words: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
        let mut lanes: BTreeMap<u64, u32> = BTreeMap::new();
        for lane in (first..first + lanes_per_group).filter(|lane| active(*lane)) {
            for word in addresses[lane] / 4..=(addresses[lane] + u64::from(width) - 1) / 4 {
                words.entry(word % 32).or_default().insert(word);
                *lanes.entry(word % 32).or_default() += 1;
            }
        }
        let atomic = op != Op::Load && op != Op::Store;
        let most_words = words.values().map(|words| words.len() as u32).max().unwrap_or(0);
        let most_lanes = lanes.values().copied().max().unwrap_or(0);
        wavefronts += if atomic { most_lanes } else { most_words };
        ideal += u32::from(!words.is_empty());
    }
    let passes = if op == Op::Cas { 2 } else { 1 };
    (wavefronts * passes, ideal * passes)
}

/// Addresses of the kinds that kernels make, and of none: strides, planes, permutations, few values, anything.
fn addresses(width: u32) -> impl Strategy<Value = [u64; 32]> {
    let unit = u64::from(width);
    let scaled = move |index: [u64; 32]| index.map(|index| index * unit);
    let index = prop_oneof![
        (0..200u64, 0..70u64).prop_map(|(start, step)| std::array::from_fn(|lane| start + step * lane as u64)),
        (2000..3000u64, 0..60u64).prop_map(|(start, step)| std::array::from_fn(|lane| start - step * lane as u64)),
        (select(vec![2u64, 4, 8, 16]), 0..80u64, 0..80u64).prop_map(|(d, within, across)| {
            std::array::from_fn(|lane| within * (lane as u64 % d) + across * (lane as u64 / d))
        }),
        (0..32u64, 0..70u64)
            .prop_map(|(flip, step)| std::array::from_fn(|lane| (lane as u64 ^ flip) + step * lane as u64)),
        (1..40u64).prop_flat_map(|kinds| prop::array::uniform32(0..kinds)),
        (1..9u64, 1..5u64).prop_flat_map(|(kinds, step)| {
            prop::array::uniform32(0..kinds).prop_map(move |values| values.map(|value| value * 32 * step))
        }),
        prop::array::uniform32(0..20_000u64),
        // Pairs of lanes that agree, and almost agree.
        (
            select(vec![1usize, 2]),
            prop::array::uniform32(0..300u64),
            prop::option::of(0..32usize)
        )
            .prop_map(|(x, values, odd)| {
                let mut paired: [u64; 32] = std::array::from_fn(|lane| values[lane & !x]);
                if let Some(odd) = odd {
                    paired[odd] += 1;
                }
                paired
            }),
    ];
    index.prop_map(scaled)
}

fn masks() -> impl Strategy<Value = u32> {
    prop_oneof![
        Just(u32::MAX),
        any::<u32>(),
        (0..33u32).prop_map(|lanes| ((1u64 << lanes) - 1) as u32),
        (0..32u32).prop_map(|lane| 1 << lane),
        select(vec![
            0,
            0x5555_5555,
            0xaaaa_aaaa,
            0xffff,
            0xffff_0000,
            0x0f0f_0f0f,
            0x8000_0001
        ]),
    ]
}

fn accesses() -> impl Strategy<Value = (Op, u32, u32, [u64; 32])> {
    (select(OPS.to_vec()), select(vec![1u32, 2, 4, 8, 16]), masks())
        .prop_flat_map(|(op, width, mask)| (Just(op), Just(width), Just(mask), addresses(width)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn the_quick_model_and_the_plain_one_agree((op, width, mask, addresses) in accesses()) {
        let (wavefronts, ideal) = by_the_rules(op, width, mask, &addresses);
        let access = WarpAccess::new(Space::Shared, op, width, mask, addresses).expect("aligned");
        prop_assert_eq!(access.wavefronts(), wavefronts);
        prop_assert_eq!(access.ideal(), ideal);
        prop_assert_eq!(access.excess(), wavefronts - ideal);
        prop_assert_eq!(access.breakdown().wavefronts(), wavefronts);
        let narrow = addresses.map(|address| address as u32);
        prop_assert_eq!(banks::wavefronts(op, width, mask, &narrow), wavefronts);
        prop_assert_eq!(banks::ideal(op, width, mask, &narrow), ideal);
    }

    #[test]
    fn sectors_are_the_different_ones((_, width, mask, addresses) in accesses(), base in 0..1u64 << 40) {
        let base = base / 16 * 16;
        let addresses = addresses.map(|address| base + address);
        let active = || (0..32).filter(|lane| mask >> lane & 1 == 1).map(|lane| addresses[lane]);
        let expected = active().map(|address| address / 32).collect::<BTreeSet<_>>().len() as u32;
        let bytes = active().collect::<BTreeSet<_>>().len() as u32 * width;
        prop_assert_eq!(sectors::sectors(mask, &addresses), expected);
        prop_assert_eq!(sectors::ideal_sectors(width, mask, &addresses), bytes.div_ceil(32));
        let answer = sectors::count(width, mask, &addresses);
        prop_assert_eq!((answer.sectors, answer.ideal), (expected, bytes.div_ceil(32)));
    }

    #[test]
    fn permuting_lanes_within_a_group_changes_nothing(
        (op, width, mask, addresses) in accesses(),
        flip in 0..8usize,
        shuffle in Just((0..32usize).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let before = banks::wavefronts_u64(op, width, mask, &addresses);
        // Any permutation within a group, for what does not look at pairs; lane ^ flip keeps pairs together.
        let group = match width { 8 => 16, 16 => 8, _ => 32 };
        let from = |lane: usize| {
            if op == Op::Load && width >= 8 {
                lane ^ flip
            } else {
                let peers: Vec<usize> = shuffle.iter().copied().filter(|peer| peer / group == lane / group).collect();
                peers[lane % group]
            }
        };
        let moved: [u64; 32] = std::array::from_fn(|lane| addresses[from(lane)]);
        let moved_mask = (0..32).fold(0, |all, lane| all | (mask >> from(lane) & 1) << lane);
        prop_assert_eq!(banks::wavefronts_u64(op, width, moved_mask, &moved), before);
    }

    #[test]
    fn moving_the_whole_access_by_all_banks_changes_nothing((op, width, mask, addresses) in accesses(), by in 0..1000u64) {
        let moved = addresses.map(|address| address + 128 * by);
        prop_assert_eq!(
            banks::wavefronts_u64(op, width, mask, &moved),
            banks::wavefronts_u64(op, width, mask, &addresses)
        );
    }

    #[test]
    fn the_addresses_of_idle_lanes_do_not_count((op, width, mask, addresses) in accesses(), junk in any::<u64>()) {
        let wild = std::array::from_fn(|lane| if mask >> lane & 1 == 1 { addresses[lane] } else { junk ^ lane as u64 });
        let space = |space| WarpAccess::new(space, op, width, mask, wild).expect("idle lanes may be misaligned");
        let clean = |space| WarpAccess::new(space, op, width, mask, addresses).expect("aligned");
        prop_assert_eq!(space(Space::Shared).wavefronts(), clean(Space::Shared).wavefronts());
        prop_assert_eq!(space(Space::Global).sectors(), clean(Space::Global).sectors());
        prop_assert_eq!(banks::wavefronts_u64(op, width, mask, &wild), clean(Space::Shared).wavefronts());
        prop_assert_eq!(sectors::count(width, mask, &wild), sectors::count(width, mask, &addresses));
    }
}

#[test]
fn addresses_at_the_end_of_64_bits_are_counted() {
    let alternating: [u64; 32] = std::array::from_fn(|lane| (lane as u64 % 2) << 63);
    assert_eq!(banks::wavefronts_u64(Op::Load, 4, u32::MAX, &alternating), 2);
    assert_eq!(sectors::count(4, u32::MAX, &alternating).sectors, 2);
    let wrapping: [u64; 32] = std::array::from_fn(|lane| (u64::MAX - 63).wrapping_add(4 * lane as u64));
    assert_eq!(banks::wavefronts_u64(Op::Load, 4, u32::MAX, &wrapping), 1);
    assert_eq!(sectors::count(4, u32::MAX, &wrapping).sectors, 4);
    let last = WarpAccess::shared_load(16, |_| Some(u64::MAX - 15)).expect("aligned");
    assert_eq!((last.wavefronts(), last.breakdown().wavefronts()), (2, 2));
}

#[test]
fn a_shared_word_is_named_with_its_lanes() {
    let access = WarpAccess::shared_load(4, |lane| Some(u64::from(lane / 16) * 128)).expect("aligned");
    let breakdown = access.breakdown();
    let bank = breakdown.groups()[0].bank(0);
    let words: Vec<_> = bank.words().map(|word| (word.word, word.lanes)).collect();
    assert_eq!(words, [(0, 0x0000_ffff), (32, 0xffff_0000)]);
    assert_eq!(bank.wavefronts(), 2);
}

#[test]
fn merged_groups_are_named_with_their_pair() {
    let pair = |x: u64| {
        let access = WarpAccess::shared_load(8, |lane| Some(8 * (u64::from(lane) & !x))).expect("aligned");
        let grouping = access.breakdown().grouping();
        (grouping.pair, grouping.lanes, access.wavefronts())
    };
    assert_eq!(pair(1), (Some(1), 32, 2));
    assert_eq!(pair(2), (Some(2), 32, 2));
    assert_eq!(pair(4), (None, 16, 2));
    let store = WarpAccess::shared_store(8, |_| Some(0)).expect("aligned");
    assert_eq!((store.breakdown().grouping().pair, store.wavefronts()), (None, 2));
}

#[test]
fn what_no_warp_can_do_is_an_error() {
    let new = |width, mask, address| WarpAccess::new(Space::Shared, Op::Load, width, mask, [address; 32]);
    for width in [0, 3, 5, 12, 32, u32::MAX] {
        let message = new(width, 1, 0).expect_err("no such width").to_string();
        assert!(message.contains(&format!("{width} bytes")), "{message}");
    }
    let message = new(8, 0xf0, 12).expect_err("misaligned").to_string();
    assert!(
        message.starts_with("lane 4 accesses 8 bytes at address 12"),
        "{message}"
    );
    assert_eq!(new(8, 0, 12).expect("no lane is active").wavefronts(), 0);
}
