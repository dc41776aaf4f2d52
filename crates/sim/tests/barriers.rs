//! Block barriers: who waits for whom, and what is said when somebody never comes.
mod common;
use common::{module, run, run_module, try_module};
use tile33_sim::{FindingKind, LaunchError, Options};

const STORE: &str =
    "mov.u32 %r60, %tid.x; mul.wide.u32 %d60, %r60, 4; add.u64 %d61, %p0, %d60; st.global.u32 [%d61], %r10;";

#[test]
fn every_thread_sees_what_was_written_before_the_barrier() {
    let ran = run_module(
        &module(
            "",
            1,
            &format!(
                ".shared .u32 s[128];
                 mov.u32 %r1, %tid.x; mov.u32 %r2, s; shl.b32 %r3, %r1, 2; add.u32 %r4, %r2, %r3;
                 st.shared.u32 [%r4], %r1; bar.sync 0;
                 mov.u32 %r5, 127; sub.u32 %r5, %r5, %r1; shl.b32 %r5, %r5, 2; add.u32 %r5, %r5, %r2;
                 ld.shared.u32 %r10, [%r5]; {STORE}"
            ),
        ),
        1,
        128,
        128,
    )
    .clean();
    assert_eq!(ran.out, (0..128).rev().collect::<Vec<u32>>());
    assert_eq!(ran.report.counters.barriers, 1);
}

#[test]
fn reductions_at_a_barrier_count_and_combine_over_the_block() {
    let ran = run(
        &format!(
            "mov.u32 %r1, %tid.x; setp.lt.u32 %q1, %r1, 40; setp.lt.u32 %q2, %r1, 96; setp.gt.u32 %q3, %r1, 500;
             bar.red.popc.u32 %r10, 1, %q1;
             bar.red.and.pred %q4, 2, %q2; bar.red.or.pred %q5, 3, %q3; bar.red.or.pred %q6, 4, !%q2;
             selp.u32 %r11, 1000, 0, %q4; add.u32 %r10, %r10, %r11;
             selp.u32 %r11, 2000, 0, %q5; add.u32 %r10, %r10, %r11;
             selp.u32 %r11, 4000, 0, %q6; add.u32 %r10, %r10, %r11; {STORE}"
        ),
        1,
        96,
        96,
    )
    .clean();
    assert_eq!(ran.out, [1040; 96]);
}

#[test]
fn named_barriers_order_producers_and_consumers() {
    // Warp 0 fills, warps 1 and 2 read; the producer only arrives at barrier 1 and waits at barrier 2.
    let ran = run_module(
        &module(
            "",
            1,
            &format!(
                ".shared .u32 s[32];
                 mov.u32 %r1, %tid.x; mov.u32 %r2, s; mov.u32 %r10, 0; mov.u32 %r20, 0;
                 and.b32 %r3, %r1, 31; shl.b32 %r4, %r3, 2; add.u32 %r5, %r2, %r4;
                 setp.ge.u32 %q1, %r1, 32; @%q1 bra CONSUME;
                 PRODUCE: mad.lo.u32 %r6, %r20, 1000, %r3; st.shared.u32 [%r5], %r6;
                 bar.arrive 1, 96; bar.sync 2, 96;
                 add.u32 %r20, %r20, 1; setp.lt.u32 %q2, %r20, 3; @%q2 bra PRODUCE; bra END;
                 CONSUME: bar.sync 1, 96; ld.shared.u32 %r7, [%r5]; add.u32 %r10, %r10, %r7; bar.sync 2, 96;
                 add.u32 %r20, %r20, 1; setp.lt.u32 %q2, %r20, 3; @%q2 bra CONSUME;
                 END: {STORE}"
            ),
        ),
        1,
        96,
        96,
    )
    .clean();
    for t in 32..96 {
        assert_eq!(ran.out[t as usize], 3000 + 3 * (t % 32));
    }
}

#[test]
fn an_unaligned_barrier_may_be_reached_from_both_sides_of_a_branch() {
    let ran = run(
        &format!(
            "mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 1; setp.eq.u32 %q1, %r2, 0; @%q1 bra EVEN;
             mov.u32 %r10, 1; barrier.sync 0; bra JOIN;
             EVEN: mov.u32 %r10, 2; barrier.sync 0;
             JOIN: {STORE}"
        ),
        1,
        64,
        64,
    )
    .clean();
    assert_eq!(ran.out[..4], [2, 1, 2, 1]);
    assert_eq!(ran.report.counters.barriers, 1);
}

#[test]
fn an_aligned_barrier_reached_at_two_instructions_is_divergent() {
    let ran = run(
        &format!(
            "mov.u32 %r1, %tid.x; setp.lt.u32 %q1, %r1, 7; @%q1 bra FEW;
             mov.u32 %r10, 1; bar.sync 0; bra JOIN;
             FEW: mov.u32 %r10, 2; bar.sync 0;
             JOIN: {STORE}"
        ),
        1,
        64,
        64,
    );
    assert_eq!(ran.kinds(), [FindingKind::DivergentBarrier]);
    let f = &ran.report.findings[0];
    let other = f.other.as_ref().unwrap();
    assert_ne!(f.site.line, other.line);
    let mut threads = [f.site.thread[0], other.thread[0]];
    threads.sort_unstable();
    assert_eq!(threads, [0, 7]);
    // Warp 1 uses only one of them, and everything goes on.
    assert_eq!(ran.out[..8], [2, 2, 2, 2, 2, 2, 2, 1]);
}

#[test]
fn a_thread_that_returned_before_the_barrier_is_named_with_one_that_arrived() {
    let ran = run(
        &format!(
            "mov.u32 %r1, %tid.x; setp.ge.u32 %q1, %r1, 50; @%q1 bra END;
             bar.sync 0; mov.u32 %r10, 1; {STORE} END:"
        ),
        1,
        64,
        64,
    );
    assert_eq!(ran.kinds(), [FindingKind::DivergentBarrier]);
    let f = &ran.report.findings[0];
    assert_eq!(
        (f.site.thread, f.other.as_ref().unwrap().thread),
        ([32, 0, 0], [50, 0, 0])
    );
    assert!(
        f.message.contains("thread (32, 0, 0)") && f.message.contains("thread (50, 0, 0)"),
        "{}",
        f.message
    );
    // As on the hardware, the others go on.
    assert_eq!(ran.out.iter().sum::<u32>(), 50);
}

#[test]
fn a_barrier_that_half_a_warp_skips_for_another_is_found_not_waited_for() {
    let ran = run(
        "mov.u32 %r1, %tid.x; setp.lt.u32 %q1, %r1, 16; @%q1 bra LOW;
         bar.sync 0; bra JOIN; LOW: bar.warp.sync -1; JOIN:",
        1,
        32,
        1,
    );
    assert_eq!(ran.kinds(), [FindingKind::DivergentBarrier]);
}

#[test]
fn waiting_for_more_threads_than_ever_come_is_a_deadlock() {
    let ran = run("bar.sync 1, 128;", 2, 64, 1);
    assert_eq!(ran.kinds(), [FindingKind::Deadlock]);
    assert_eq!(ran.report.findings[0].occurrences, 2);
    let ran = run(
        "mov.u32 %r1, %tid.x; setp.lt.u32 %q1, %r1, 32; @%q1 bra A; bar.sync 1, 64; bar.sync 2, 64; bra END;
         A: bar.sync 2, 64; bar.sync 1, 64; END:",
        1,
        64,
        1,
    );
    assert_eq!(ran.kinds(), [FindingKind::Deadlock]);
    assert!(ran.report.findings[0].other.is_some());
}

#[test]
fn a_thread_that_waits_for_a_flag_nobody_sets_is_a_deadlock() {
    let ran = run(
        "WAIT: ld.volatile.global.u32 %r1, [%p0]; setp.eq.u32 %q1, %r1, 0; @%q1 bra WAIT;",
        3,
        32,
        1,
    );
    assert_eq!(ran.kinds(), [FindingKind::Deadlock]);
    let ran = run(
        "LOOP: ld.volatile.shared.u32 %r1, [s]; setp.eq.u32 %q1, %r1, 0; @%q1 bra LOOP;"
            .replace("LOOP:", ".shared .u32 s[1]; LOOP:")
            .as_str(),
        1,
        32,
        1,
    );
    assert!(ran.kinds().contains(&FindingKind::Deadlock));
}

#[test]
fn a_loop_without_end_is_an_error_that_names_its_line() {
    let ptx = module("", 1, "mov.u32 %r1, 0;\nLOOP: add.u32 %r1, %r1, 1;\nbra LOOP;");
    let options = Options {
        max_steps: Some(10_000),
        ..Options::default()
    };
    match try_module(&ptx, 1, 32, 1, options) {
        Err(LaunchError::StepLimit {
            limit: 10_000,
            block: [0, 0, 0],
            line,
            instruction,
        }) => {
            assert!(
                line > 0 && (instruction.starts_with("add") || instruction.starts_with("bra")),
                "{instruction}"
            );
        }
        other => panic!("{:?}", other.map(|r| r.report.findings)),
    }
}

#[test]
fn a_trap_is_a_finding_with_its_thread() {
    let ran = run("mov.u32 %r1, %tid.x; setp.eq.u32 %q1, %r1, 37; @%q1 trap;", 1, 64, 1);
    assert_eq!(ran.kinds(), [FindingKind::Trap]);
    assert_eq!(ran.report.findings[0].site.thread, [37, 0, 0]);
}

#[test]
fn a_lane_that_its_own_member_mask_does_not_name_is_found() {
    for instruction in [
        "bar.warp.sync %r2;",
        "shfl.sync.down.b32 %r5, %r1, 1, 31, %r2;",
        "vote.sync.ballot.b32 %r5, %q1, %r2;",
        "redux.sync.add.s32 %r5, %r1, %r2;",
    ] {
        let body = |mask: &str| format!("mov.u32 %r1, %tid.x; mov.u32 %r2, {mask}; {instruction}");
        let ran = run_module(&module("", 1, &body("0x0000ffff")), 1, 32, 1);
        assert_eq!(ran.kinds(), [FindingKind::DivergentBarrier], "{instruction}");
        let finding = &ran.report.findings[0];
        assert!(
            finding.message.contains("is not in the member mask 0xffff"),
            "{}",
            finding.message
        );
        assert_eq!((finding.site.thread[0], finding.occurrences), (16, 16));
        run_module(&module("", 1, &body("0xffffffff")), 1, 32, 1).clean();
        // Half a warp names itself, or the lanes that have exited too.
        for mask in ["0x0000ffff", "0xffffffff"] {
            let half = format!(
                "mov.u32 %r3, %tid.x; setp.ge.u32 %q2, %r3, 16; @%q2 exit; {}",
                body(mask)
            );
            run_module(&module("", 1, &half), 1, 32, 1).clean();
        }
    }
}
