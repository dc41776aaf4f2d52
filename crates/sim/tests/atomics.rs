//! Atomics on shared and global memory, and blocks that depend on each other.
mod common;
use common::{module, run, run_module, try_module};
use tile33_sim::{Checks, Emulator, FindingKind, Launch, Options};

#[test]
fn every_integer_operation_leaves_what_it_says_and_returns_what_was_there() {
    // Cells: add, min.s32, max.u32, inc, dec, and, or, xor, exch, cas
    let ran = run(
        "mov.u32 %r1, %tid.x; add.u32 %r2, %r1, 1; neg.s32 %r3, %r2;
         atom.global.add.u32 %r4, [%p0], %r2;
         red.global.min.s32 [%p0+4], %r3; red.global.max.u32 [%p0+8], %r3;
         atom.global.inc.u32 %r5, [%p0+12], 2; atom.global.dec.u32 %r6, [%p0+16], 2;
         not.b32 %r7, %r1; red.global.or.b32 [%p0+24], %r1; red.global.xor.b32 [%p0+28], %r2;
         atom.global.exch.b32 %r8, [%p0+32], %r2; atom.global.cas.b32 %r9, [%p0+36], %r1, %r2;
         red.global.and.b32 [%p0+20], 12;
         mul.wide.u32 %d1, %r1, 4; add.u64 %d2, %p0, %d1; st.global.u32 [%d2+64], %r4; st.global.u32 [%d2+80], %r5;
         st.global.u32 [%d2+96], %r6; st.global.u32 [%d2+112], %r8; st.global.u32 [%d2+128], %r9;",
        1,
        4,
        36,
    )
    .clean();
    let minus = |v: i32| v as u32;
    assert_eq!(ran.out[..10], [10, minus(-4), minus(-1), 1, 2, 0, 3, 4, 4, 4]);
    assert_eq!(ran.out[16..20], [0, 1, 3, 6]);
    assert_eq!(ran.out[20..24], [0, 1, 2, 0]);
    assert_eq!(ran.out[24..28], [0, 2, 1, 0]);
    assert_eq!(ran.out[28..32], [0, 1, 2, 3]);
    assert_eq!(ran.out[32..36], [0, 1, 2, 3]);
}

#[test]
fn floating_point_atomics_add_lane_after_lane() {
    let ran = run(
        "mov.f32 %f1, 0f3FC00000; red.global.add.f32 [%p0], %f1; mov.f64 %g1, 0d3FD0000000000000; red.global.add.f64 [%p0+8], %g1;
         mov.b32 %r1, 0x3C003C00; red.global.add.noftz.f16x2 [%p0+16], %r1; mov.b16 %h1, 0x3F80; red.global.add.noftz.bf16 [%p0+20], %h1;
         mov.f32 %f2, 0f3F800000; mov.f32 %f3, 0f40000000; red.global.add.v2.f32 [%p0+24], {%f1, %f3};",
        1,
        32,
        8,
    )
    .clean();
    assert_eq!(f32::from_bits(ran.out[0]), 48.0);
    assert_eq!(f64::from_bits(u64::from(ran.out[2]) | u64::from(ran.out[3]) << 32), 8.0);
    assert_eq!(ran.out[4], 0x5000_5000); // 32 in f16, twice
    assert_eq!(ran.out[5], 0x4200); // 32 in bf16
    assert_eq!((f32::from_bits(ran.out[6]), f32::from_bits(ran.out[7])), (48.0, 64.0));
}

#[test]
fn wide_exchanges_and_comparisons_move_sixteen_bytes() {
    let ran = run(
        ".reg .b128 %w<4>; mov.u64 %d1, 1; mov.u64 %d2, 2; mov.b128 %w1, {%d1, %d2}; mov.u64 %d3, 0; mov.b128 %w2, {%d3, %d3};
         atom.global.cas.b128 %w3, [%p0], %w2, %w1; atom.global.exch.b128 %w3, [%p0+16], %w1;",
        1,
        1,
        8,
    )
    .clean();
    assert_eq!(ran.out, [1, 0, 2, 0, 1, 0, 2, 0]);
}

#[test]
fn a_histogram_in_shared_memory_counts_every_thread() {
    let ran = run_module(
        &module(
            "",
            1,
            ".shared .align 4 .u32 bins[8];
             mov.u32 %r1, %tid.x; mov.u32 %r2, bins; setp.ge.u32 %q1, %r1, 8; shl.b32 %r3, %r1, 2; add.u32 %r4, %r2, %r3; @!%q1 st.shared.u32 [%r4], 0;
             bar.sync 0; and.b32 %r5, %r1, 7; shl.b32 %r5, %r5, 2; add.u32 %r6, %r2, %r5; red.shared.add.u32 [%r6], 1; bar.sync 0;
             @%q1 bra END; ld.shared.u32 %r7, [%r4]; mul.wide.u32 %d1, %r1, 4; add.u64 %d2, %p0, %d1; red.global.add.u32 [%d2], %r7; END:",
        ),
        10,
        256,
        8,
    )
    .clean();
    assert_eq!(ran.out, [320; 8]);
    // Eight bins, four lanes each: the same word serialises.
    let red = ran
        .report
        .per_instruction
        .iter()
        .find(|i| i.instruction.starts_with("red.shared"))
        .unwrap()
        .counters;
    assert_eq!((red.shared_atomic.requests, red.shared_atomic.wavefronts), (80, 320));
}

/// The last block adds up what all have left, as CUDA's threadFenceReduction sample does.
const LAST_BLOCK: &str = "
 .shared .align 4 .u32 last[1];
 mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %nctaid.x;
 setp.ne.u32 %q1, %r1, 0; @%q1 bra ARRIVED;
 add.u32 %r4, %r2, 1; mul.wide.u32 %d1, %r2, 4; add.u64 %d2, %p0, %d1; st.global.u32 [%d2+8], %r4;
 membar.gl; sub.u32 %r5, %r3, 1; atom.global.inc.u32 %r6, [%p0], %r5; setp.eq.u32 %q2, %r6, %r5; selp.u32 %r7, 1, 0, %q2; st.shared.u32 [last], %r7;
 ARRIVED: bar.sync 0; ld.shared.u32 %r8, [last]; setp.eq.u32 %q3, %r8, 0; @%q3 bra END; @%q1 bra END;
 membar.gl; mov.u32 %r10, 0; mov.u32 %r11, 0;
 SUM: mul.wide.u32 %d3, %r11, 4; add.u64 %d4, %p0, %d3; ld.global.u32 %r12, [%d4+8]; add.u32 %r10, %r10, %r12; add.u32 %r11, %r11, 1;
 setp.lt.u32 %q4, %r11, %r3; @%q4 bra SUM; st.global.u32 [%p0+4], %r10;
 END:";

#[test]
fn the_last_block_sees_what_the_others_left() {
    let ran = run(LAST_BLOCK, 20, 64, 24).clean();
    assert_eq!(ran.out[1], 210);
    assert_eq!(ran.out[0], 0);
}

#[test]
fn a_block_that_waits_for_a_later_one_lets_it_run() {
    // Every block waits for its right neighbour, so the last must run first.
    let ran = run(
        "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %nctaid.x; mul.wide.u32 %d1, %r1, 4; add.u64 %d2, %p0, %d1; mov.u32 %r5, 1;
         add.u32 %r3, %r1, 1; setp.eq.u32 %q1, %r3, %r2; @%q1 bra MINE;
         WAIT: ld.acquire.gpu.global.u32 %r4, [%d2+4]; setp.eq.u32 %q2, %r4, 0; @%q2 bra WAIT; add.u32 %r5, %r4, 1;
         MINE: st.release.gpu.global.u32 [%d2], %r5;",
        40,
        1,
        40,
    )
    .clean();
    assert_eq!(ran.out, (1..=40).rev().collect::<Vec<u32>>());
}

#[test]
fn a_grid_barrier_works_while_the_card_holds_the_grid_and_deadlocks_beyond() {
    let body = "mov.u32 %r2, %nctaid.x; mov.u32 %r1, %tid.x; setp.ne.u32 %q1, %r1, 0; bar.sync 0; @%q1 bra GO;
         membar.gl; red.release.gpu.global.add.u32 [%p0], 1;
         WAIT: ld.acquire.gpu.global.u32 %r3, [%p0]; setp.lt.u32 %q2, %r3, %r2; @%q2 bra WAIT;
         GO: bar.sync 0; atom.global.add.u32 %r4, [%p0+4], 1;";
    let ran = run(body, 100, 64, 2).clean();
    assert_eq!(ran.out, [100, 6400]);
    let options = Options {
        card: tile33_layout::occupancy::Card::find("sm_87").unwrap(),
        checks: Checks::NONE,
        ..Options::default()
    };
    let ptx = module("", 1, body);
    let ran = try_module(&ptx, 300, 64, 2, options).unwrap();
    assert_eq!(ran.kinds(), [FindingKind::Deadlock]);
}

/// Blocks 0 to n-1 write their number where their neighbours do too: a race, whose outcome is still the same every time.
#[test]
fn results_do_not_depend_on_the_number_of_host_threads() {
    let racing = "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; shr.u32 %r3, %r1, 1; mad.lo.u32 %r4, %r3, 32, %r2; mul.wide.u32 %d1, %r4, 4; add.u64 %d2, %p0, %d1;
         ld.global.u32 %r5, [%d2]; mad.lo.u32 %r6, %r5, 3, %r1; st.global.u32 [%d2], %r6;";
    let apart = "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r4, %r1, 32, %r2; mul.wide.u32 %d1, %r4, 4; add.u64 %d2, %p0, %d1;
         st.global.u32 [%d2], %r4; red.global.add.u32 [%p0+8192], %r4; red.global.max.u32 [%p0+8196], %r4;";
    for body in [racing, apart, LAST_BLOCK] {
        let ptx = module("", 1, body);
        let outcome = |threads, checks| {
            let options = Options {
                threads: Some(threads),
                checks,
                ..Options::default()
            };
            let ran = try_module(&ptx, 64, 32, 2050, options).unwrap();
            (ran.out, format!("{:?}", ran.report.findings), ran.report.counters)
        };
        for checks in [Checks::NONE, Checks::ALL] {
            let one = outcome(1, checks);
            for threads in [2, 3, 8] {
                assert!(outcome(threads, checks) == one, "{threads} threads, {checks:?}");
            }
        }
    }
}

#[test]
fn blocks_that_write_one_word_race_and_reductions_do_not() {
    let ran = run("mov.u32 %r1, %ctaid.x; st.global.u32 [%p0], %r1;", 4, 1, 1);
    assert_eq!(ran.kinds(), [FindingKind::Race]);
    let ran = run("mov.u32 %r1, %ctaid.x; red.global.add.u32 [%p0], %r1;", 4, 1, 1).clean();
    assert_eq!(ran.out, [6]);
}

#[test]
fn a_launch_leaves_the_memory_as_it_was_when_it_has_to_start_again() {
    // Two blocks far apart meet in one word at their end; both had written elsewhere before.
    let ptx = module(
        "",
        1,
        "mov.u32 %r1, %ctaid.x; mul.wide.u32 %d1, %r1, 4; add.u64 %d2, %p0, %d1;
         ld.global.u32 %r2, [%d2+4]; add.u32 %r2, %r2, 1; st.global.u32 [%d2+4], %r2;
         ld.global.u32 %r3, [%p0]; mad.lo.u32 %r3, %r3, 3, %r1; st.global.u32 [%p0], %r3;",
    );
    let mut emulator = Emulator::load(&ptx).unwrap();
    let buffer = emulator.buffer(&[1u32; 65]).unwrap();
    let options = Options {
        threads: Some(4),
        ..common::unchecked()
    };
    emulator
        .launch(&Launch::new("k", [64, 1, 1], [1, 1, 1]).arg(buffer).options(options))
        .unwrap();
    let out = emulator.read(buffer).unwrap();
    assert_eq!(out[1..], [2; 64]);
    assert_eq!(out[0], (0..64).fold(1u32, |v, b| v.wrapping_mul(3).wrapping_add(b)));
}
