//! Races within a block, and what orders its threads.

use super::*;

#[test]
fn a_loop_over_tiles_needs_two_barriers() {
    let kernel = format!(
        ".shared .u32 s[64]; {PLACES} mov.u32 %r20, 0; mov.u32 %r10, 0;
         LOOP: add.u32 %r7, %r1, %r20; st.shared.u32 [%r4], %r7; bar.sync 0;
         ld.shared.u32 %r8, [%r5]; add.u32 %r10, %r10, %r8; HERE
         add.u32 %r20, %r20, 1; setp.lt.u32 %q1, %r20, 4; @%q1 bra LOOP; {STORE}"
    );
    race_and_cure(&kernel, 1, 64, "", "bar.sync 0;", "ld.shared", "st.shared");
    let broken = report(&kernel.replace("HERE", ""), 1, 64, 0);
    let finding = &broken.findings[0];
    // Both threads, in different warps, and the address; once, however many lanes and rounds.
    let threads = (finding.site.thread[0], finding.other.as_ref().unwrap().thread[0]);
    assert_eq!(threads.0.abs_diff(threads.1), 32);
    assert_eq!(finding.address.as_ref().unwrap().symbol.as_deref(), Some("s"));
    assert!(finding.occurrences > 1);
}

#[test]
fn two_buffers_need_one_barrier() {
    clean(&run(
        &format!(
            ".shared .u32 s[128]; {PLACES} mov.u32 %r20, 0; mov.u32 %r10, 0;
             LOOP: and.b32 %r21, %r20, 1; shl.b32 %r21, %r21, 8; add.u32 %r22, %r4, %r21; add.u32 %r23, %r5, %r21;
             st.shared.u32 [%r22], %r20; bar.sync 0; ld.shared.u32 %r8, [%r23]; add.u32 %r10, %r10, %r8;
             add.u32 %r20, %r20, 1; setp.lt.u32 %q1, %r20, 6; @%q1 bra LOOP; {STORE}"
        ),
        1,
        64,
    ));
}

/// `v[t] += v[t + offset]` for 16, 8, 4, 2, 1 in one warp.
fn warp_reduction(step: &str) -> String {
    format!(
        ".shared .u32 s[64]; {PLACES} st.shared.u32 [%r4], %r1; bar.sync 0; mov.u32 %r20, 16;
         LOOP: setp.ge.u32 %q1, %r1, %r20; @%q1 bra SKIP;
         shl.b32 %r21, %r20, 2; add.u32 %r22, %r4, %r21; ld.shared.u32 %r7, [%r22];
         ld.shared.u32 %r8, [%r4]; add.u32 %r8, %r8, %r7; st.shared.u32 [%r4], %r8;
         SKIP: {step} shr.u32 %r20, %r20, 1; setp.ne.u32 %q2, %r20, 0; @%q2 bra LOOP;
         ld.shared.u32 %r10, [%r4]; {STORE}"
    )
}

#[test]
fn a_warp_does_not_step_together_by_itself() {
    race(&run(&warp_reduction(""), 1, 32), "ld.shared.u32 %r7", "st.shared");
    clean(&run(&warp_reduction("bar.warp.sync 0xffffffff;"), 1, 32));
    clean(&run(&warp_reduction("bar.sync 0;"), 1, 32));
}

#[test]
fn shuffles_and_votes_wait_for_lanes_but_order_no_memory() {
    let shuffle = "shfl.sync.bfly.b32 %r30, %r1, 1, 31, 0xffffffff;";
    race(&run(&warp_reduction(shuffle), 1, 32), "ld.shared.u32 %r7", "st.shared");
    let vote = "vote.sync.ballot.b32 %r30, %q1, 0xffffffff;";
    race(&run(&warp_reduction(vote), 1, 32), "ld.shared.u32 %r7", "st.shared");
}

#[test]
fn a_sync_orders_the_lanes_in_its_mask_only() {
    // Lanes 0 to 15 write; one of them reads its neighbour's word, behind a sync of the first half or of the second.
    let kernel = |mask: &str, from: u32| {
        format!(
            ".shared .u32 s[64]; {PLACES} xor.b32 %r7, %r4, 4; mov.u32 %r10, 0; and.b32 %r8, %r1, 16;
             setp.ne.u32 %q1, %r8, {from}; @%q1 bra END;
             st.shared.u32 [%r4], %r1; {mask} ld.shared.u32 %r10, [%r7];
             END: {STORE}"
        )
    };
    clean(&run(&kernel("bar.warp.sync 0x0000ffff;", 0), 1, 32));
    clean(&run(&kernel("bar.warp.sync 0xffff0000;", 16), 1, 32));
    race(&run(&kernel("", 0), 1, 32), "st.shared", "ld.shared");
    // Pairs only: the lane two further is not among them.
    let pairs = kernel(
        "mov.u32 %r9, 3; and.b32 %r11, %r1, 30; shl.b32 %r9, %r9, %r11; bar.warp.sync %r9;",
        0,
    );
    clean(&run(&pairs, 1, 32));
    race(
        &run(&pairs.replace("xor.b32 %r7, %r4, 4", "xor.b32 %r7, %r4, 8"), 1, 32),
        "st.shared",
        "ld.shared",
    );
}

#[test]
fn a_warp_sync_does_not_order_warps() {
    let kernel =
        format!(".shared .u32 s[64]; {PLACES} st.shared.u32 [%r4], %r1; HERE ld.shared.u32 %r10, [%r5]; {STORE}");
    race_and_cure(
        &kernel,
        1,
        64,
        "bar.warp.sync 0xffffffff;",
        "bar.sync 0;",
        "st.shared",
        "ld.shared",
    );
}

#[test]
fn lanes_of_one_store_race_if_they_store_different_values() {
    let kernel = format!(".shared .u32 s[64]; {PLACES} mov.u32 %r7, HERE; st.shared.u32 [%r2], %r7; {STORE}");
    let found = run(&kernel.replace("HERE", "%tid.x"), 1, 32);
    race(&found, "st.shared", "st.shared");
    // All set one flag, in every warp.
    clean(&run(&kernel.replace("HERE", "1"), 1, 256));
}

#[test]
fn neighbouring_bytes_are_not_one_word() {
    let kernel = format!(
        ".shared .align 4 .b8 s[256]; mov.u32 %r1, %tid.x; mov.u32 %r2, s; add.u32 %r4, %r2, %r1; mov.u32 %r10, 0;
         cvt.u16.u32 %h1, %r1; st.shared.u8 [%r4], %h1; HERE ld.shared.u8 %h2, [%r4]; cvt.u32.u16 %r10, %h2; {STORE}"
    );
    clean(&run(&kernel.replace("HERE", ""), 1, 128));
    race(
        &run(&kernel.replace("HERE", "xor.b32 %r4, %r4, 1;"), 1, 128),
        "st.shared",
        "ld.shared",
    );
}

#[test]
fn a_histogram_is_cleared_before_it_is_added_to() {
    let kernel = format!(
        ".shared .u32 s[64]; {PLACES} mov.u32 %r7, 0; st.shared.u32 [%r4], %r7; HERE
         and.b32 %r8, %r1, 7; shl.b32 %r8, %r8, 2; add.u32 %r8, %r2, %r8; red.shared.add.u32 [%r8], 1;
         bar.sync 0; ld.shared.u32 %r10, [%r4]; {STORE}"
    );
    race_and_cure(&kernel, 1, 64, "", "bar.sync 0;", "st.shared", "red.shared");
}

#[test]
fn atomics_do_not_race_with_each_other_but_with_plain_accesses() {
    let kernel = format!(
        ".shared .u32 s[64]; {PLACES} mov.u32 %r7, 0; st.shared.u32 [%r4], %r7; bar.sync 0;
         atom.shared.add.u32 %r8, [%r2], 1; HERE {STORE}"
    );
    race_and_cure(
        &kernel,
        1,
        64,
        "ld.shared.u32 %r10, [%r2];",
        "ld.volatile.shared.u32 %r10, [%r2];",
        "atom",
        "ld",
    );
    clean(&run(
        &kernel.replace("HERE", "bar.sync 0; ld.shared.u32 %r10, [%r2];"),
        1,
        64,
    ));
}

/// Thread 32 waits until thread 0 has set a flag, then reads what it wrote before.
fn flag(set: &str, get: &str) -> String {
    format!(
        ".shared .u32 s[64]; .shared .u32 flag; {PLACES} mov.u32 %r7, 0; mov.u32 %r10, 0;
         setp.ne.u32 %q1, %r1, 0; @!%q1 st.shared.u32 [flag], %r7; bar.sync 0;
         setp.eq.u32 %q2, %r1, 32; @%q2 bra WAIT; @%q1 bra END;
         st.shared.u32 [%r4], 42; {set} bra END;
         WAIT: {get} setp.eq.u32 %q3, %r8, 0; @%q3 bra WAIT; FENCE ld.shared.u32 %r10, [%r5];
         END: {STORE}"
    )
}

#[test]
fn a_flag_publishes_with_release_and_acquire_or_with_fences() {
    let (release, acquire) = (
        "st.release.cta.shared.u32 [flag], 1;",
        "ld.acquire.cta.shared.u32 %r8, [flag];",
    );
    let (set, get) = (
        "st.relaxed.cta.shared.u32 [flag], 1;",
        "ld.relaxed.cta.shared.u32 %r8, [flag];",
    );
    let fenced = format!("fence.acq_rel.cta; {set}");
    let old = (
        "membar.cta; st.volatile.shared.u32 [flag], 1;",
        "ld.volatile.shared.u32 %r8, [flag];",
    );
    for (set, get, fence) in [
        (release, acquire, ""),
        (release, get, "fence.acq_rel.cta;"),
        (&fenced, acquire, ""),
        (&fenced, get, "fence.acq_rel.cta;"),
        (old.0, old.1, "membar.cta;"),
        (&fenced, "atom.shared.or.b32 %r8, [flag], 0;", "fence.sc.cta;"),
    ] {
        clean(&run(&flag(set, get).replace("FENCE", fence), 1, 64));
    }
    for (set, get, fence) in [
        (set, get, ""),
        (set, acquire, ""),
        (release, get, ""),
        (set, get, "membar.cta;"),
        (old.0, old.1, ""),
    ] {
        race(
            &run(&flag(set, get).replace("FENCE", fence), 1, 64),
            "st.shared.u32 [%r4]",
            "ld.shared.u32 %r10",
        );
    }
}

#[test]
fn an_acquire_takes_what_a_strong_read_of_the_place_observed_before() {
    // Behind the wait the flag may have another value, which releases nothing: the pattern is the read and the acquire.
    let release = "st.release.cta.shared.u32 [flag], 1;";
    let get = "ld.relaxed.cta.shared.u32 %r8, [flag];";
    let volatile = "ld.volatile.shared.u32 %r8, [flag];";
    for (set, get, fence) in [
        (release, get, "ld.acquire.cta.shared.u32 %r9, [flag];"),
        (release, volatile, "ld.acquire.cta.shared.u32 %r9, [flag];"),
        (release, get, "atom.acquire.cta.shared.or.b32 %r9, [flag], 0;"),
        (release, get, "atom.acq_rel.gpu.shared.add.u32 %r9, [flag], 0;"),
        (
            "fence.acq_rel.cta; st.volatile.shared.u32 [flag], 1;",
            volatile,
            "ld.acquire.cta.shared.u32 %r9, [flag];",
        ),
        // A release, then a strong write of the same thread.
        (
            "st.release.cta.shared.u32 [flag], 0; st.relaxed.cta.shared.u32 [flag], 1;",
            get,
            "fence.acq_rel.cta;",
        ),
    ] {
        clean(&run(&flag(set, get).replace("FENCE", fence), 1, 64));
    }
    // An acquire elsewhere does not speak for the flag, and a second relaxed read acquires nothing.
    for fence in [
        "st.relaxed.cta.shared.u32 [s+252], 1; ld.acquire.cta.shared.u32 %r9, [s+252];",
        get,
        "ld.volatile.shared.u32 %r9, [flag];",
    ] {
        race(
            &run(&flag(release, get).replace("FENCE", fence), 1, 64),
            "st.shared.u32 [%r4]",
            "ld.shared.u32 %r10",
        );
    }
}

#[test]
fn what_a_strong_read_observed_is_not_lost_when_the_place_is_overwritten() {
    // Thread 32 sees the release, says so, and acquires after thread 0 has overwritten the flag without releasing.
    let kernel = |last: &str| {
        format!(
            ".shared .u32 s[64]; .shared .u32 flag; .shared .u32 seen; {PLACES} mov.u32 %r7, 0; mov.u32 %r10, 0;
             setp.ne.u32 %q1, %r1, 0; @!%q1 st.shared.u32 [flag], %r7; @!%q1 st.shared.u32 [seen], %r7; bar.sync 0;
             setp.eq.u32 %q2, %r1, 32; @%q2 bra WAIT; @%q1 bra END;
             st.shared.u32 [%r4], 42; st.release.cta.shared.u32 [flag], 1;
             AGAIN: ld.relaxed.cta.shared.u32 %r8, [seen]; setp.eq.u32 %q3, %r8, 0; @%q3 bra AGAIN;
             st.relaxed.cta.shared.u32 [flag], 2; bra END;
             WAIT: ld.relaxed.cta.shared.u32 %r8, [flag]; setp.eq.u32 %q3, %r8, 0; @%q3 bra WAIT;
             st.relaxed.cta.shared.u32 [seen], 1;
             LAST: {last} setp.ne.u32 %q3, %r8, 2; @%q3 bra LAST; ld.shared.u32 %r10, [%r5];
             END: {STORE}"
        )
    };
    clean(&run(&kernel("ld.acquire.cta.shared.u32 %r8, [flag];"), 1, 64));
    clean(&run(
        &kernel("ld.relaxed.cta.shared.u32 %r8, [flag]; fence.acq_rel.cta;"),
        1,
        64,
    ));
    race(
        &run(&kernel("ld.relaxed.cta.shared.u32 %r8, [flag];"), 1, 64),
        "st.shared.u32 [%r4]",
        "ld.shared.u32 %r10",
    );
}

#[test]
fn a_lock_orders_its_holders() {
    let kernel = |lock: &str, unlock: &str| {
        format!(
            ".shared .u32 s[64]; .shared .u32 lock; {PLACES} mov.u32 %r7, 0;
             setp.ne.u32 %q1, %r1, 0; @%q1 bra CLEARED; st.shared.u32 [lock], %r7; st.shared.u32 [s], %r7;
             CLEARED: bar.sync 0; and.b32 %r6, %r1, 31; setp.ne.u32 %q2, %r6, 0; @%q2 bra END;
             TRY: {lock} setp.ne.u32 %q3, %r8, 0; @%q3 bra TRY;
             FENCE ld.shared.u32 %r9, [s]; add.u32 %r9, %r9, 1; st.shared.u32 [s], %r9; FENCE {unlock}
             END: bar.sync 0; ld.shared.u32 %r10, [s]; {STORE}"
        )
    };
    let plain = kernel(
        "atom.shared.cas.b32 %r8, [lock], 0, 1;",
        "atom.shared.exch.b32 %r8, [lock], 0;",
    );
    let words = kernel(
        "atom.acquire.cta.shared.cas.b32 %r8, [lock], 0, 1;",
        "atom.release.cta.shared.exch.b32 %r8, [lock], 0;",
    );
    let ran = report(&plain.replace("FENCE", "membar.cta;"), 1, 128, 0);
    clean(&found(&ran));
    clean(&run(&words.replace("FENCE", ""), 1, 128));
    let broken = run(&plain.replace("FENCE", ""), 1, 128);
    assert!(
        !broken.is_empty() && broken.iter().all(|f| f.0 == FindingKind::Race),
        "{broken:#?}"
    );
}

#[test]
fn named_barriers_order_those_who_come() {
    // Warp 0 fills, warps 1 and 2 read; it refills when they say that they are done.
    let kernel = format!(
        ".shared .u32 s[32]; mov.u32 %r1, %tid.x; mov.u32 %r2, s; mov.u32 %r10, 0; mov.u32 %r20, 0;
         and.b32 %r3, %r1, 31; shl.b32 %r4, %r3, 2; add.u32 %r5, %r2, %r4; setp.ge.u32 %q1, %r1, 32; @%q1 bra CONSUME;
         PRODUCE: mad.lo.u32 %r6, %r20, 1000, %r3; st.shared.u32 [%r5], %r6;
         bar.arrive 1, 96; PRODUCER
         add.u32 %r20, %r20, 1; setp.lt.u32 %q2, %r20, 3; @%q2 bra PRODUCE; bra END;
         CONSUME: bar.sync 1, 96; ld.shared.u32 %r7, [%r5]; add.u32 %r10, %r10, %r7; CONSUMER
         add.u32 %r20, %r20, 1; setp.lt.u32 %q2, %r20, 3; @%q2 bra CONSUME;
         END: {STORE}"
    );
    let with = |producer: &str, consumer: &str| kernel.replace("PRODUCER", producer).replace("CONSUMER", consumer);
    clean(&run(&with("bar.sync 2, 96;", "bar.arrive 2, 96;"), 1, 96));
    clean(&run(&with("barrier.sync 2, 96;", "barrier.sync 2, 96;"), 1, 96));
    // The consumers say that they are done before they are.
    let early = with("bar.sync 2, 96;", "").replace("ld.shared.u32 %r7", "bar.arrive 2, 96; ld.shared.u32 %r7");
    race(&run(&early, 1, 96), "st.shared", "ld.shared");
}

#[test]
fn whoever_only_arrives_learns_nothing() {
    // Warp 0 arrives and reads what warp 1 wrote before it waited.
    let kernel = format!(
        ".shared .u32 s[64]; {PLACES} setp.lt.u32 %q1, %r1, 32; st.shared.u32 [%r4], %r1;
         @%q1 bra FIRST; bar.sync 1, 64; bra READ; FIRST: HERE 1, 64; READ: ld.shared.u32 %r10, [%r5]; {STORE}"
    );
    race_and_cure(&kernel, 1, 64, "bar.arrive", "bar.sync", "st.shared", "ld.shared");
}

#[test]
fn a_named_barrier_orders_nobody_else() {
    // Two warps meet at barrier 1, a third reads what one of them wrote.
    let kernel = format!(
        ".shared .u32 s[96]; {PLACES} mov.u32 %r10, 0; setp.ge.u32 %q1, %r1, 64; @%q1 bra THIRD;
         st.shared.u32 [%r4], %r1; bar.sync 1, 64; ld.shared.u32 %r10, [%r5]; bra END;
         THIRD: HERE ld.shared.u32 %r10, [%r5];
         END: bar.sync 0; {STORE}"
    );
    race(&run(&kernel.replace("HERE", ""), 1, 96), "st.shared", "ld.shared");
}
