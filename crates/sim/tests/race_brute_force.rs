//! The race detector against the definition: random small programs, every event in a graph, every race by transitive
//! closure. Both must agree on which places race, and every pair that the detector names must be one.

#[path = "support/happens_before.rs"]
mod happens_before;

use std::collections::BTreeSet;

use happens_before::{Event, races};
use proptest::prelude::*;
use tile33_sim::Memory;
use tile33_sim::check::{
    AccessKind, BlockCheck, BlocksRun, CheckConfig, CheckFindings, CheckedSpace, LaunchCheck, Order, Scope, Site,
    SiteId, Sites, Touch,
};

const THREADS: u32 = 40;
const WORDS: u64 = 3;

/// Lanes that take part, so that programs of few events meet often.
const LANES: [(u32, u32); 5] = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 5)];

fn mask_of(warp: u32, pick: u8) -> u32 {
    LANES
        .iter()
        .enumerate()
        .filter(|(i, l)| l.0 == warp && pick >> i & 1 == 1)
        .fold(0, |m, (_, l)| m | 1 << l.1)
}

fn site() -> impl Strategy<Value = Site> {
    let orders = prop_oneof![
        6 => Just((AccessKind::Read, Order::Weak)),
        6 => Just((AccessKind::Write, Order::Weak)),
        3 => Just((AccessKind::Read, Order::Relaxed)),
        2 => Just((AccessKind::Read, Order::Acquire)),
        3 => Just((AccessKind::Write, Order::Relaxed)),
        2 => Just((AccessKind::Write, Order::Release)),
        3 => Just((AccessKind::Atomic, Order::Relaxed)),
        2 => Just((AccessKind::Atomic, Order::AcquireRelease)),
        1 => Just((AccessKind::Atomic, Order::Acquire)),
        1 => Just((AccessKind::Atomic, Order::Release)),
        1 => Just((AccessKind::Reduction, Order::Relaxed)),
    ];
    orders.prop_map(|(kind, order)| Site {
        pc: 0,
        kind,
        order,
        scope: Scope::Device,
    })
}

#[derive(Clone, Copy, Debug)]
struct Shape {
    blocks: u32,
    narrow: bool,
    cta_scope: bool,
}

fn access(shape: Shape) -> impl Strategy<Value = Event> {
    let width = if shape.narrow {
        prop_oneof![3 => Just(4u32), 2 => Just(1), 1 => Just(2)].boxed()
    } else {
        Just(4).boxed()
    };
    let picks = prop::collection::vec((0u64..WORDS, 0u64..4, 0u32..3), LANES.len());
    (0..shape.blocks, 0u32..2, 1u8..32, any::<bool>(), width, site(), picks).prop_map(
        move |(block, warp, pick, one, bytes, site, picks)| {
            // Strong accesses are whole words, as they have to be to synchronise.
            let bytes = if site.order == Order::Weak { bytes } else { 4 };
            let mut lanes: Vec<_> = (0..LANES.len())
                .filter(|&i| LANES[i].0 == warp && pick >> i & 1 == 1)
                .map(|i| {
                    let (word, byte, value) = picks[i];
                    (LANES[i].1, 4 * word + byte / u64::from(bytes) * u64::from(bytes), value)
                })
                .collect();
            if one {
                lanes.truncate(1);
            }
            Event::Access {
                block,
                warp,
                lanes,
                bytes,
                site,
            }
        },
    )
}

fn event(shape: Shape) -> impl Strategy<Value = Event> {
    let block = 0..shape.blocks;
    let scope = if shape.cta_scope {
        prop_oneof![Just(Scope::Block), Just(Scope::Device)].boxed()
    } else {
        Just(Scope::Device).boxed()
    };
    let mask = (0u32..2, 1u8..32).prop_map(|(warp, pick)| (warp, mask_of(warp, pick)));
    prop_oneof![
        14 => access(shape),
        1 => block.clone().prop_map(|block| Event::BlockBarrier { block }),
        2 => (block.clone(), mask.clone(), any::<bool>()).prop_map(|(block, (warp, mask), all)| Event::WarpSync {
            block, warp, mask: if all { u32::MAX } else { mask }
        }),
        3 => (block.clone(), mask.clone(), scope)
            .prop_map(|(block, (warp, mask), scope)| Event::Fence { block, warp, mask, scope }),
        1 => (block.clone(), 0u32..2, mask.clone())
            .prop_map(|(block, barrier, (warp, mask))| Event::Arrive { block, barrier, warp, mask }),
        1 => (block.clone(), 0u32..2, 1u8..32).prop_map(|(block, barrier, pick)| Event::Complete {
            block, barrier, waiting: vec![(0, mask_of(0, pick)), (1, mask_of(1, pick))]
        }),
        1 => (block.clone(), 0usize..5).prop_map(|(block, i)| Event::MbarrierArrive {
            block, warp: LANES[i].0, lane: LANES[i].1, address: 64
        }),
        1 => block.clone().prop_map(|block| Event::MbarrierComplete { block, address: 64 }),
        1 => (block, 0usize..5).prop_map(|(block, i)| Event::MbarrierWait {
            block, warp: LANES[i].0, lane: LANES[i].1, address: 64
        }),
    ]
}

fn program(shape: Shape, most: usize) -> impl Strategy<Value = Vec<Event>> {
    (prop::collection::vec(event(shape), 1..most), any::<[bool; 8]>()).prop_map(move |(mut events, narrow_scope)| {
        // The scope of strong accesses is the location's, as it is in practice.
        for e in &mut events {
            if let Event::Access { lanes, site, .. } = e
                && shape.cta_scope
                && let Some(&(_, address, _)) = lanes.first()
            {
                lanes.retain(|l| site.order == Order::Weak || l.1 == address);
                if narrow_scope[(address / 4) as usize] {
                    site.scope = Scope::Block;
                }
            }
        }
        events
    })
}

fn tell(check: &mut BlockCheck, event: &Event, id: SiteId, space: CheckedSpace, base: u64) {
    match *event {
        Event::Access {
            warp, ref lanes, bytes, ..
        } => {
            let (mut addresses, mut values, mut active) = ([0u64; 32], [0u32; 32], 0);
            for &(lane, address, value) in lanes {
                addresses[lane as usize] = base + address;
                values[lane as usize] = value;
                active |= 1 << lane;
            }
            let touch = Touch {
                site: id,
                warp,
                active,
                addresses: &addresses,
                bytes,
            };
            match space {
                CheckedSpace::Shared => check.shared(&touch, &values),
                _ => check.global(&touch, &values),
            }
        }
        Event::BlockBarrier { .. } => check.block_barrier(),
        Event::WarpSync { warp, mask, .. } => check.warp_sync(warp, mask),
        Event::Fence { warp, mask, scope, .. } => check.fence(warp, mask, scope, false),
        Event::Arrive {
            barrier, warp, mask, ..
        } => check.barrier_arrive(barrier, warp, mask),
        Event::Complete {
            barrier, ref waiting, ..
        } => {
            for &(warp, mask) in waiting {
                check.barrier_arrive(barrier, warp, mask);
            }
            check.barrier_complete(barrier, waiting);
        }
        Event::MbarrierArrive {
            warp, lane, address, ..
        } => check.mbarrier_arrive(warp, lane, address),
        Event::MbarrierComplete { address, .. } => check.mbarrier_complete(address),
        Event::MbarrierWait {
            warp, lane, address, ..
        } => check.mbarrier_wait(warp, lane, address),
    }
}

fn block_of(event: &Event) -> u32 {
    match *event {
        Event::Access { block, .. }
        | Event::BlockBarrier { block }
        | Event::WarpSync { block, .. }
        | Event::Fence { block, .. }
        | Event::Arrive { block, .. }
        | Event::Complete { block, .. }
        | Event::MbarrierArrive { block, .. }
        | Event::MbarrierComplete { block, .. }
        | Event::MbarrierWait { block, .. } => block,
    }
}

/// Runs the detector; blocks that run apart are told one after another, in the order of `blocks`.
fn detect(events: &[Event], space: CheckedSpace, run: BlocksRun, blocks: &[u32]) -> (CheckFindings, u64) {
    let mut sites = Sites::new();
    let ids: Vec<_> = events
        .iter()
        .enumerate()
        .map(|(i, e)| {
            let site = if let Event::Access { site, .. } = e {
                *site
            } else {
                Site::load(0)
            };
            sites.add(Site { pc: i as u32, ..site }).unwrap()
        })
        .collect();
    let mut memory = Memory::new();
    let base = if space == CheckedSpace::Global {
        memory.alloc(256).unwrap()
    } else {
        0
    };
    let config = CheckConfig {
        races: true,
        uninitialized: false,
        threads: THREADS,
        blocks: blocks.len() as u32,
        shared_bytes: 256,
        blocks_run: run,
        fresh_heap: u64::MAX,
    };
    let launch = LaunchCheck::new(config, &sites, &memory);
    let mut checks: Vec<_> = blocks.iter().map(|&b| (b, launch.start_block(b))).collect();
    if run == BlocksRun::InTurns {
        for (e, &id) in events.iter().zip(&ids) {
            let check = checks.iter_mut().find(|c| c.0 == block_of(e)).unwrap();
            tell(&mut check.1, e, id, space, base);
        }
    } else {
        for (block, check) in &mut checks {
            for (e, &id) in events.iter().zip(&ids).filter(|(e, _)| block_of(e) == *block) {
                tell(check, e, id, space, base);
            }
        }
    }
    checks.into_iter().for_each(|c| c.1.finish());
    (launch.finish(), base)
}

fn agree(events: &[Event], space: CheckedSpace, run: BlocksRun, blocks: &[u32]) -> Result<(), TestCaseError> {
    let expected = races(THREADS, events);
    let (found, base) = detect(events, space, run, blocks);
    let truly = |word: u64, r: &tile33_sim::check::Race| {
        expected.iter().any(|f| {
            let (a, b) = (f.first, f.second);
            let sides = [(a.event as u32, a.thread), (b.event as u32, b.thread)];
            let named = [
                (r.first.pc, (r.first.block, r.first.thread)),
                (r.second.pc, (r.second.block, r.second.thread)),
            ];
            let overlap = a.address / 4 <= word && word <= (a.address + u64::from(a.bytes) - 1) / 4;
            // Between blocks that run apart an instruction and a block are named, and one of its threads there.
            let between = run == BlocksRun::Apart && r.first.block != r.second.block;
            let same = |x: [(u32, (u32, u32)); 2]| {
                x == sides || (between && x.map(|s| (s.0, s.1.0)) == sides.map(|s| (s.0, s.1.0)))
            };
            overlap && (same(named) || same([named[1], named[0]]))
        })
    };
    for r in &found.races {
        prop_assert!(truly((r.address - base) / 4, r), "made up: {r:?}\nall: {expected:?}");
    }
    let missed = found.races.is_empty() && expected.iter().any(|f| f.must);
    prop_assert!(!missed, "missed: {expected:?}");
    Ok(())
}

const WIDE: Shape = Shape {
    blocks: 1,
    narrow: false,
    cta_scope: false,
};

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1500) })]

    #[test]
    fn one_block_races_in_shared_memory_where_the_graph_says(events in program(WIDE, 24)) {
        agree(&events, CheckedSpace::Shared, BlocksRun::Apart, &[0])?;
    }

    #[test]
    fn neighbouring_bytes_do_not_race(events in program(Shape { narrow: true, ..WIDE }, 20)) {
        agree(&events, CheckedSpace::Shared, BlocksRun::Apart, &[0])?;
        agree(&events, CheckedSpace::Global, BlocksRun::Apart, &[0])?;
    }

    #[test]
    fn scopes_do_not_matter_within_a_block(events in program(Shape { cta_scope: true, ..WIDE }, 24)) {
        agree(&events, CheckedSpace::Global, BlocksRun::InTurns, &[0])?;
    }

    #[test]
    fn blocks_in_turns_are_ordered_by_what_they_observe(events in program(Shape { blocks: 4, ..WIDE }, 45)) {
        agree(&events, CheckedSpace::Global, BlocksRun::InTurns, &[0, 1, 2, 3])?;
    }

    #[test]
    fn block_scope_orders_nothing_between_blocks(
        events in program(Shape { blocks: 3, narrow: true, cta_scope: true }, 36),
    ) {
        agree(&events, CheckedSpace::Global, BlocksRun::InTurns, &[0, 1, 2])?;
    }

    #[test]
    fn a_race_in_one_word_hides_none_in_another(mut events in program(WIDE, 30)) {
        // One word an instruction, so that a pair of instructions says which word it raced in.
        for e in &mut events {
            if let Event::Access { lanes, .. } = e
                && let Some(&(_, address, _)) = lanes.first()
            {
                lanes.retain(|l| l.1 / 4 == address / 4);
            }
        }
        let words = |must: bool| -> BTreeSet<u64> {
            races(THREADS, &events).iter().filter(|r| r.must || !must).map(|r| r.at / 4).collect()
        };
        let (found, _) = detect(&events, CheckedSpace::Shared, BlocksRun::Apart, &[0]);
        let found: BTreeSet<u64> = found.races.iter().map(|r| r.address / 4).collect();
        prop_assert!(words(true).is_subset(&found) && found.is_subset(&words(false)), "found in words {found:?}");
    }

    #[test]
    fn blocks_apart_race_alike_in_every_order(
        mut events in program(Shape { blocks: 3, narrow: true, cta_scope: false }, 24),
    ) {
        // What blocks that run apart do not have: reads by which one observes another.
        events.retain(|e| match e {
            Event::Access { site, .. } => {
                site.order == Order::Weak || matches!(site.kind, AccessKind::Write | AccessKind::Reduction)
            }
            _ => true,
        });
        agree(&events, CheckedSpace::Global, BlocksRun::Apart, &[0, 1, 2])?;
        let (one, _) = detect(&events, CheckedSpace::Global, BlocksRun::Apart, &[0, 1, 2]);
        let (other, _) = detect(&events, CheckedSpace::Global, BlocksRun::Apart, &[2, 0, 1]);
        prop_assert_eq!(one, other);
    }
}
