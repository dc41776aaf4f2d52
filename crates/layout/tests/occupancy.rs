//! Occupancy against a driver's own answers, and at the limits.

use std::path::Path;

use serde::Deserialize;
use tile33_layout::occupancy::{CARDS, Card, MAX_BLOCK_THREADS, occupancy};

/// What `cargo xtask-gpu occupancy-grid` wrote.
#[derive(Deserialize)]
struct Line {
    arch: String,
    regs: u32,
    block: u32,
    #[serde(rename = "static")]
    static_bytes: u32,
    dynamic: u32,
    blocks: u32,
}

#[test]
fn the_driver_of_an_h200_gives_the_same_occupancy_for_every_configuration_asked() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ground-truth/occupancy-h200.jsonl");
    let text = std::fs::read_to_string(&path).expect("`cargo xtask-gpu occupancy-grid` makes it");
    let lines: Vec<Line> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("an object"))
        .collect();
    assert!(lines.len() >= 300, "only {} configurations", lines.len());
    assert!(lines.iter().any(|line| line.blocks == 0) && lines.iter().any(|line| line.blocks == 32));
    for line in &lines {
        let card = Card::find(&line.arch).expect("a known card");
        let answer = occupancy(card, line.block, line.regs, line.static_bytes, line.dynamic);
        assert_eq!(
            answer.blocks, line.blocks,
            "{}: {} registers, {} threads, {} + {} bytes: {answer:?}",
            line.arch, line.regs, line.block, line.static_bytes, line.dynamic
        );
    }
}

#[test]
fn the_last_byte_that_fits_fits_and_the_next_does_not_on_every_card() {
    for card in CARDS {
        let most = card.block_bytes();
        assert_eq!(occupancy(card, 32, 32, 0, most).blocks, 1, "{}", card.name);
        assert_eq!(occupancy(card, 32, 32, 0, most + 1).blocks, 0, "{}", card.name);
        assert_eq!(
            occupancy(card, 32, 32, 1, most - 1).blocks,
            1,
            "static and dynamic add up on {}",
            card.name
        );
        assert_eq!(
            occupancy(card, 32, 32, 1, most).blocks,
            0,
            "static and dynamic add up on {}",
            card.name
        );
        assert_eq!(
            occupancy(card, 32, 32, 49_153, 0).blocks,
            0,
            "static bytes cannot opt in on {}",
            card.name
        );
    }
}

#[test]
fn what_cannot_start_has_no_blocks_and_nothing_overflows() {
    for card in CARDS {
        for (threads, registers, fixed, dynamic) in [
            (0, 32, 0, 0),
            (MAX_BLOCK_THREADS + 1, 32, 0, 0),
            (u32::MAX, u32::MAX, u32::MAX, u32::MAX),
            (32, 256, 0, 0),
            (1024, 65, 0, 0),
            (32, 32, u32::MAX, u32::MAX),
        ] {
            assert_eq!(
                occupancy(card, threads, registers, fixed, dynamic).blocks,
                0,
                "{}",
                card.name
            );
        }
    }
}

#[test]
fn the_reserved_kilobyte_and_the_granularity_count_from_compute_capability_8_on() {
    let shared = |name: &str, bytes| occupancy(Card::find(name).expect("known"), 32, 16, bytes, 0).by_shared;
    assert_eq!(shared("sm_75", 4096), 16);
    assert_eq!(shared("sm_75", 4097), 15);
    assert_eq!(shared("sm_86", 4096), 20);
    assert_eq!(shared("sm_90", 6 * 1024 + 129), 31);
    assert_eq!(shared("sm_90", 6 * 1024 + 128), 32);
}

#[test]
fn registers_are_whole_warps_per_partition() {
    let card = Card::find("sm_90").expect("known");
    // 40 registers: 1,280 a warp, 12 warps a partition, 48 in all.
    assert_eq!(occupancy(card, 32, 40, 0, 0).by_registers, 48);
    assert_eq!(occupancy(card, 160, 40, 0, 0).by_registers, 9);
    // 33 registers cost what 40 do.
    assert_eq!(occupancy(card, 32, 33, 0, 0).by_registers, 48);
    // 17 warps of 112 registers are 60,928, but are checked as 20 warps: 71,680.
    assert_eq!(occupancy(card, 544, 112, 0, 0).blocks, 0);
}

#[test]
fn every_card_is_found_by_its_names() {
    for card in CARDS {
        let (major, minor) = card.capability();
        for name in [
            card.name.to_owned(),
            format!("{major}.{minor}"),
            format!("{major}{minor}"),
        ] {
            assert_eq!(Card::find(&name).map(|found| found.name), Some(card.name), "{name}");
        }
        assert_eq!(Card::of_capability(major, minor), Some(card));
        for product in card.products.split(", ").filter(|product| !product.is_empty()) {
            assert_eq!(
                Card::find(&product.to_lowercase()).map(|found| found.name),
                Some(card.name),
                "{product}"
            );
        }
    }
    for name in ["", "sm_", "sm", "9.", "0", "sm_7", "sm_7.5.0"] {
        assert!(Card::find(name).is_none(), "{name:?}");
    }
}
