//! Lanes that go different ways, and meet again.
mod common;
use common::{run, run_module};

/// Stores `%r10` of every thread at its index.
const STORE: &str =
    "mov.u32 %r60, %tid.x; mul.wide.u32 %d60, %r60, 4; add.u64 %d61, %p0, %d60; st.global.u32 [%d61], %r10;";

fn body(text: &str) -> String {
    format!("mov.u32 %r1, %tid.x;\n{text}\n{STORE}")
}

#[test]
fn both_sides_of_a_branch_run_and_meet() {
    let ran = run(
        &body(
            "and.b32 %r2, %r1, 1; setp.eq.u32 %q1, %r2, 0; @%q1 bra EVEN;
             mul.lo.u32 %r10, %r1, 3; bra JOIN;
             EVEN: add.u32 %r10, %r1, 100;
             JOIN: add.u32 %r10, %r10, 1;",
        ),
        1,
        64,
        64,
    )
    .clean();
    let expected: Vec<u32> = (0..64).map(|t| if t % 2 == 0 { t + 101 } else { 3 * t + 1 }).collect();
    assert_eq!(ran.out, expected);
    assert_eq!(ran.report.counters.divergent_branches, 2);
    // Behind the meeting point the warps are whole again: one execution each.
    let add = ran
        .report
        .per_instruction
        .iter()
        .find(|i| i.instruction == "add.u32 %r10, %r10, 1")
        .unwrap();
    assert_eq!((add.counters.instructions, add.counters.lane_instructions), (2, 64));
}

#[test]
fn a_loop_with_a_trip_count_by_lane_ends_together() {
    let ran = run(
        &body(
            "mov.u32 %r10, 0; mov.u32 %r3, 0;
             LOOP: setp.ge.u32 %q1, %r3, %r1; @%q1 bra DONE;
             add.u32 %r10, %r10, %r3; add.u32 %r3, %r3, 1; bra LOOP;
             DONE: add.u32 %r10, %r10, 7;",
        ),
        1,
        32,
        32,
    )
    .clean();
    let expected: Vec<u32> = (0..32u32).map(|t| t * t.saturating_sub(1) / 2 + 7).collect();
    assert_eq!(ran.out, expected);
    let last = ran
        .report
        .per_instruction
        .iter()
        .find(|i| i.instruction == "add.u32 %r10, %r10, 7")
        .unwrap();
    assert_eq!(last.counters.instructions, 1);
}

#[test]
fn nested_branches_meet_inside_first() {
    let ran = run(
        &body(
            "mov.u32 %r10, 0;
             setp.lt.u32 %q1, %r1, 16; @!%q1 bra OUTER;
             setp.lt.u32 %q2, %r1, 8; @%q2 bra INNER;
             add.u32 %r10, %r10, 1;
             INNER: add.u32 %r10, %r10, 10;
             OUTER: add.u32 %r10, %r10, 100;",
        ),
        1,
        32,
        32,
    )
    .clean();
    let expected: Vec<u32> = (0..32)
        .map(|t| {
            if t < 8 {
                110
            } else if t < 16 {
                111
            } else {
                100
            }
        })
        .collect();
    assert_eq!(ran.out, expected);
    let count = |text: &str| {
        ran.report
            .per_instruction
            .iter()
            .find(|i| i.instruction.ends_with(text))
            .unwrap()
            .counters
    };
    assert_eq!(count("%r10, 10").instructions, 1);
    assert_eq!(count("%r10, 100").lane_instructions, 32);
}

#[test]
fn a_branch_table_sends_each_lane_its_way() {
    let ran = run(
        &body(
            "and.b32 %r2, %r1, 3;
             TABLE: .branchtargets A, B, C, B;
             brx.idx %r2, TABLE;
             A: mov.u32 %r10, 1; bra JOIN;
             B: mov.u32 %r10, 2; bra JOIN;
             C: mov.u32 %r10, 3;
             JOIN:",
        ),
        1,
        32,
        32,
    )
    .clean();
    let expected: Vec<u32> = (0..32).map(|t| [1, 2, 3, 2][t % 4]).collect();
    assert_eq!(ran.out, expected);
}

#[test]
fn guards_keep_what_they_skip() {
    let ran = run(
        &body(
            "mov.u32 %r10, 5; setp.gt.u32 %q1, %r1, 20; @%q1 mov.u32 %r10, 9;
             @!%q1 add.u32 %r10, %r10, %r1;",
        ),
        1,
        32,
        32,
    )
    .clean();
    let expected: Vec<u32> = (0..32).map(|t| if t > 20 { 9 } else { 5 + t }).collect();
    assert_eq!(ran.out, expected);
    assert_eq!(ran.report.counters.divergent_branches, 0);
}

#[test]
fn lanes_that_exit_early_leave_the_others_alone() {
    let ran = run(
        &body("setp.ge.u32 %q1, %r1, 20; @%q1 exit; mov.u32 %r10, 1;"),
        1,
        32,
        32,
    )
    .clean();
    assert_eq!(ran.out.iter().sum::<u32>(), 20);
    let ran = run(&body("setp.lt.u32 %q1, %r1, 20; @%q1 ret; mov.u32 %r10, 1;"), 1, 32, 32).clean();
    assert_eq!(ran.out.iter().sum::<u32>(), 12);
}

#[test]
fn a_partial_last_warp_has_only_its_threads() {
    let ran = run(&body("activemask.b32 %r10;"), 1, 40, 64).clean();
    assert_eq!(ran.out[0], u32::MAX);
    assert_eq!(ran.out[39], 0xff);
    assert_eq!(ran.out[40], 0);
}

#[test]
fn threads_and_blocks_know_where_they_are() {
    let ptx = common::module(
        "",
        1,
        "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %ntid.y;
         mad.lo.u32 %r6, %r2, %r4, %r1; mul.lo.u32 %r7, %r4, %r5; mad.lo.u32 %r8, %r3, %r7, %r6;
         mov.u32 %r9, %laneid; mov.u32 %r11, %warpid; shl.b32 %r11, %r11, 8; or.b32 %r10, %r9, %r11;
         mov.u32 %r12, %nctaid.x; shl.b32 %r12, %r12, 16; or.b32 %r10, %r10, %r12;
         mul.wide.u32 %d60, %r8, 4; add.u64 %d61, %p0, %d60; st.global.u32 [%d61], %r10;",
    );
    let mut emulator = tile33_sim::Emulator::load(&ptx).unwrap();
    let buffer = emulator.buffer(&vec![0u32; 3 * 48]).unwrap();
    let report = emulator
        .launch(&tile33_sim::Launch::new("k", [3, 1, 1], [16, 3, 1]).arg(buffer))
        .unwrap();
    assert!(report.is_clean());
    let out = emulator.read(buffer).unwrap();
    for (i, v) in out.iter().enumerate() {
        let t = i as u32 % 48;
        assert_eq!(*v, (t % 32) + 256 * (t / 32) + (3 << 16), "{i}");
    }
}

#[test]
fn registers_that_nothing_wrote_are_zero_in_every_block() {
    // The second use of the row would show what the first block left.
    let ran = run_module(
        &common::module(
            "",
            1,
            "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r3, %r1, 32, %r2;
             add.u32 %r20, %r20, %r3; mul.wide.u32 %d1, %r3, 4; add.u64 %d2, %p0, %d1; st.global.u32 [%d2], %r20;",
        ),
        4,
        32,
        128,
    )
    .clean();
    assert_eq!(ran.out, (0..128).collect::<Vec<u32>>());
}
