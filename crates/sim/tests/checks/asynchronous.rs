//! Copies in flight and mbarriers.

use super::*;

/// Each thread copies 16 bytes, and another one of another warp reads them.
fn copy(wait: &str, meet: &str) -> String {
    format!(
        ".shared .align 16 .b8 s[1024]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 4; mov.u32 %r3, s; add.u32 %r4, %r3, %r2;
         cvt.u64.u32 %d1, %r2; add.u64 %d2, %p0, %d1; xor.b32 %r5, %r2, 512; add.u32 %r5, %r3, %r5;
         cp.async.cg.shared.global [%r4], [%d2], 16; cp.async.commit_group;
         {wait} {meet} ld.shared.u32 %r10, [%r5]; bar.sync 0; add.u64 %p0, %p0, 8192; {STORE}"
    )
}

#[test]
fn a_copy_needs_a_wait_by_its_thread_and_a_barrier_for_the_others() {
    clean(&run(&copy("cp.async.wait_group 0;", "bar.sync 0;"), 1, 64));
    clean(&run(&copy("cp.async.wait_all;", "bar.sync 0;"), 1, 64));
    for (wait, meet) in [
        ("cp.async.wait_group 0;", ""),
        ("", "bar.sync 0;"),
        ("cp.async.wait_group 1;", "bar.sync 0;"),
        // Behind the barrier each thread waits for its own copies only.
        ("bar.sync 0;", "cp.async.wait_group 0;"),
    ] {
        race(&run(&copy(wait, meet), 1, 64), "cp.async", "ld.shared");
    }
}

/// Four tiles through two buffers: the next is fetched while one is used.
fn pipeline(wait: &str, behind: &str) -> String {
    format!(
        ".shared .align 16 .b8 s[2048]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 4; mov.u32 %r3, s; add.u32 %r4, %r3, %r2;
         xor.b32 %r5, %r2, 512; add.u32 %r5, %r3, %r5; cvt.u64.u32 %d1, %r2; add.u64 %d2, %p0, %d1;
         mov.u32 %r20, 0; mov.u32 %r10, 0;
         cp.async.cg.shared.global [%r4], [%d2], 16; cp.async.commit_group;
         LOOP: add.u32 %r21, %r20, 1; setp.ge.u32 %q1, %r21, 4; @%q1 bra FETCHED;
         and.b32 %r22, %r21, 1; shl.b32 %r22, %r22, 10; add.u32 %r23, %r4, %r22; add.u64 %d2, %d2, 1024;
         cp.async.cg.shared.global [%r23], [%d2], 16;
         FETCHED: cp.async.commit_group; {wait} bar.sync 0;
         and.b32 %r24, %r20, 1; shl.b32 %r24, %r24, 10; add.u32 %r25, %r5, %r24; ld.shared.u32 %r26, [%r25];
         add.u32 %r10, %r10, %r26; {behind}
         mov.u32 %r20, %r21; setp.lt.u32 %q2, %r20, 4; @%q2 bra LOOP; add.u64 %p0, %p0, 8192; {STORE}"
    )
}

#[test]
fn a_pipeline_of_copies_waits_for_all_but_the_newest() {
    clean(&run(&pipeline("cp.async.wait_group 1;", "bar.sync 0;"), 1, 64));
    // One group too many may be on its way.
    let late = run(&pipeline("cp.async.wait_group 2;", "bar.sync 0;"), 1, 64);
    assert!(
        !late.is_empty() && late.iter().all(|f| f.0 == FindingKind::Race && f.1.contains(".shared")),
        "{late:#?}"
    );
    // Without a barrier behind the use the next copy overwrites what others still read.
    race(
        &run(&pipeline("cp.async.wait_group 1;", ""), 1, 64),
        "cp.async.cg.shared.global [%r23]",
        "ld.shared",
    );
}

/// Warp 0 fills a buffer, warp 1 uses it, round after round; they meet at two mbarriers. `before` and `behind` the use.
fn passing(before: &str, behind: &str) -> String {
    let wait =
        |name: &str| format!("{name}W: mbarrier.try_wait.parity.shared.b64 %q3, [{name}], %r21; @!%q3 bra {name}W;");
    format!(
        ".shared .align 8 .b64 full; .shared .align 8 .b64 empty; .shared .u32 s[64]; {PLACES} mov.u32 %r10, 0;
         and.b32 %r6, %r1, 31; shl.b32 %r6, %r6, 2; add.u32 %r6, %r2, %r6; mov.u32 %r20, 0;
         setp.ne.u32 %q1, %r1, 0; @%q1 bra READY;
         mbarrier.init.shared.b64 [full], 32; mbarrier.init.shared.b64 [empty], 32;
         READY: bar.sync 0; setp.ge.u32 %q2, %r1, 32; @%q2 bra CONSUME;
         PRODUCE: add.u32 %r7, %r1, %r20; st.shared.u32 [%r6], %r7; mbarrier.arrive.shared.b64 %d5, [full];
         and.b32 %r21, %r20, 1; {} add.u32 %r20, %r20, 1; setp.lt.u32 %q4, %r20, 3; @%q4 bra PRODUCE; bra END;
         CONSUME: and.b32 %r21, %r20, 1; {} xor.b32 %r8, %r6, 4; {before} ld.shared.u32 %r9, [%r8];
         add.u32 %r10, %r10, %r9; {behind}
         add.u32 %r20, %r20, 1; setp.lt.u32 %q4, %r20, 3; @%q4 bra CONSUME;
         END: bar.sync 0; {STORE}",
        wait("empty"),
        wait("full"),
    )
}

#[test]
fn mbarriers_order_a_producer_and_its_consumers_both_ways() {
    let arrive = "mbarrier.arrive.shared.b64 %d5, [empty];";
    clean(&run(&passing("", arrive), 1, 64));
    // The consumer says that the buffer is free before it has read it.
    race(&run(&passing(arrive, ""), 1, 64), "st.shared", "ld.shared");
    // An arrival that releases nothing says only that it happened.
    let relaxed = arrive.replace("mbarrier.arrive", "mbarrier.arrive.relaxed.cta");
    race(&run(&passing("", &relaxed), 1, 64), "st.shared", "ld.shared");
}

#[test]
fn copies_can_complete_an_mbarrier() {
    let kernel = |arrive: &str, wait: &str| {
        format!(
            ".shared .align 8 .b64 full; .shared .align 16 .b8 s[1024]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 4;
             mov.u32 %r3, s; add.u32 %r4, %r3, %r2; cvt.u64.u32 %d1, %r2; add.u64 %d2, %p0, %d1;
             xor.b32 %r5, %r2, 512; add.u32 %r5, %r3, %r5; mov.u32 %r21, 0;
             setp.ne.u32 %q1, %r1, 0; @%q1 bra READY; mbarrier.init.shared.b64 [full], 64;
             READY: bar.sync 0; cp.async.cg.shared.global [%r4], [%d2], 16; {arrive}
             {wait} ld.shared.u32 %r10, [%r5]; bar.sync 0; add.u64 %p0, %p0, 8192; {STORE}"
        )
    };
    let wait = "WAIT: mbarrier.try_wait.parity.shared.b64 %q3, [full], %r21; @!%q3 bra WAIT;";
    clean(&run(
        &kernel("cp.async.mbarrier.arrive.noinc.shared.b64 [full];", wait),
        1,
        64,
    ));
    // An arrival of its own does not speak for the copy.
    race(
        &run(&kernel("mbarrier.arrive.shared.b64 %d5, [full];", wait), 1, 64),
        "cp.async",
        "ld.shared",
    );
}

/// Each thread copies 16 bytes, and after `then` and a barrier its neighbour's thread of another warp overwrites them.
fn overwritten(before: &str, behind: &str) -> String {
    format!(
        ".shared .align 16 .b8 s[1024]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 4; mov.u32 %r3, s; add.u32 %r4, %r3, %r2;
         cvt.u64.u32 %d1, %r2; add.u64 %d2, %p0, %d1; xor.b32 %r5, %r2, 512; cvt.u64.u32 %d3, %r5; add.u64 %d4, %p0, %d3;
         cp.async.cg.shared.global [%r4], [%d2], 16; cp.async.commit_group;
         {before} bar.sync 0; st.global.u32 [%d4+8], %r1; {behind} cp.async.wait_all;"
    )
}

#[test]
fn a_copy_may_read_its_source_until_it_is_waited_for() {
    clean(&run(&overwritten("cp.async.wait_group 0;", ""), 1, 64));
    // The barrier does not wait for the copies.
    for (before, behind) in [("", ""), ("cp.async.wait_group 1;", ""), ("", "bar.sync 0;")] {
        race(&run(&overwritten(before, behind), 1, 64), "cp.async", "st.global");
    }
}

#[test]
fn a_thread_that_overwrites_the_source_of_its_own_copy_races_with_it() {
    let kernel = |wait: &str| {
        format!(
            ".shared .align 16 .b8 s[1024]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 4; mov.u32 %r3, s; add.u32 %r4, %r3, %r2;
             cvt.u64.u32 %d1, %r2; add.u64 %d2, %p0, %d1; cp.async.ca.shared.global [%r4], [%d2], 4; {wait}
             st.global.u32 [%d2], %r1; st.global.u32 [%d2+4], %r1; cp.async.wait_all;"
        )
    };
    clean(&run(&kernel("cp.async.wait_all;"), 1, 32));
    let broken = report(&kernel(""), 1, 32, 0);
    // Not the word behind it.
    race(&found(&broken), "cp.async", "st.global.u32 [%d2], %r1");
    let finding = &broken.findings[0];
    assert_eq!(Some(finding.site.thread), finding.other.as_ref().map(|o| o.thread));
    assert!(finding.help.starts_with("wait for the copy"), "{}", finding.help);
}

#[test]
fn the_last_user_of_an_mbarrier_may_end_it_without_a_barrier() {
    // As `cuda::pipeline` does: one lane of each warp counts for all, behind a `match` that orders no memory.
    let kernel = |behind: &str| {
        format!(
            ".shared .align 8 .b64 full; .shared .u32 users; mov.u32 %r1, %tid.x; mov.u32 %r2, 0; mov.u32 %r3, 64;
             setp.ne.u32 %q1, %r1, 0; @%q1 bra READY; mbarrier.init.shared.b64 [full], 64; st.shared.u32 [users], %r3;
             READY: bar.sync 0; mbarrier.arrive.shared.b64 %d5, [full];
             WAIT: mbarrier.try_wait.parity.shared.b64 %q3, [full], %r2; @!%q3 bra WAIT;
             match.any.sync.b32 %r4, %r2, 0xffffffff; and.b32 %r5, %r1, 31; setp.ne.u32 %q2, %r5, 0; @%q2 bra END;
             fence.sc.cta; atom.acquire.cta.shared.add.u32 %r6, [users], -32; setp.ne.u32 %q2, %r6, 32; @%q2 bra END;
             mbarrier.inval.shared.b64 [full];
             END: {behind}"
        )
    };
    clean(&run(&kernel(""), 1, 64));
    // Any other use of the memory needs an order.
    let other = "setp.eq.u32 %q4, %r1, 5; @%q4 st.shared.u32 [full], 7;";
    race(&run(&kernel(other), 1, 64), "mbarrier.inval", "@%q4 st.shared");
    clean(&run(&kernel(&format!("bar.sync 0; {other}")), 1, 64));
}
