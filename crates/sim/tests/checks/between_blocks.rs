//! Races in global memory, within a block and between blocks, and what orders blocks.

use super::*;

#[test]
fn blocks_that_store_different_values_to_one_word_race() {
    let kernel = "mov.u32 %r1, HERE; st.global.u32 [%p0], %r1;";
    race(
        &run(&kernel.replace("HERE", "%ctaid.x"), 50, 32),
        "st.global",
        "st.global",
    );
    // The same value is as good as one store.
    clean(&run(&kernel.replace("HERE", "7"), 50, 32));
    let report = report(&kernel.replace("HERE", "%ctaid.x"), 50, 32, 0);
    let finding = &report.findings[0];
    assert_eq!(finding.other.as_ref().unwrap().block[0], 0);
    assert_ne!(finding.site.block[0], 0);
}

#[test]
fn what_one_block_writes_another_may_not_read() {
    let kernel = format!(
        "mov.u32 %r1, %ctaid.x; mul.wide.u32 %d1, %r1, 4; add.u64 %d2, %p1, %d1; st.global.u32 [%d2], %r1; bar.sync 0;
         ld.global.u32 %r10, [%d2HERE]; {STORE}"
    );
    clean(&run(&kernel.replace("HERE", ""), 8, 32));
    // That it is read before it is written in this run, or not, is the race's doing, and no finding of its own.
    let next = "add.u32 %r3, %r1, 1; and.b32 %r3, %r3, 7; mul.wide.u32 %d1, %r3, 4; add.u64 %d3, %p1, %d1; bar.sync 0;";
    let neighbour = kernel.replace("bar.sync 0;", next).replace("[%d2HERE]", "[%d3]");
    race(&run(&neighbour, 8, 32), "st.global", "ld.global");
}

#[test]
fn threads_of_a_block_race_in_global_memory_too() {
    let kernel = format!(
        "mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 4; add.u64 %d2, %p1, %d1; st.global.u32 [%d2], %r1; HERE
         xor.b32 %r1, %r1, 32; mul.wide.u32 %d1, %r1, 4; add.u64 %d2, %p1, %d1; ld.global.u32 %r10, [%d2]; {STORE}"
    );
    race(
        &run(&kernel.replace("HERE", ""), 1, 64),
        "st.global.u32 [%d2], %r1",
        "ld.global",
    );
    clean(&run(&kernel.replace("HERE", "bar.sync 0;"), 1, 64));
}

#[test]
fn sums_by_atomics_do_not_race_whatever_the_scope_reaches() {
    let kernel = "HERE [%p0], 1;";
    clean(&run(&kernel.replace("HERE", "red.global.add.u32"), 20, 64));
    clean(&run(&kernel.replace("HERE", "red.relaxed.sys.global.add.u32"), 20, 64));
    race(
        &run(&kernel.replace("HERE", "red.relaxed.cta.global.add.u32"), 20, 64),
        "red",
        "red",
    );
    clean(&run(&kernel.replace("HERE", "red.relaxed.cta.global.add.u32"), 1, 64));
}

/// Every block leaves a number in the scratch buffer; the last to come adds them up. Word 0 of the first buffer counts.
fn last_block(fence: &str, count: &str) -> String {
    format!(
        ".shared .u32 last; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %nctaid.x; sub.u32 %r4, %r3, 1;
         setp.ne.u32 %q1, %r1, 0; @%q1 bra MEET;
         mul.wide.u32 %d1, %r2, 4; add.u64 %d2, %p1, %d1; add.u32 %r5, %r2, 10; st.global.u32 [%d2], %r5; {fence}
         {count} setp.eq.u32 %q2, %r6, %r4; selp.u32 %r7, 1, 0, %q2; st.shared.u32 [last], %r7;
         MEET: bar.sync 0; ld.shared.u32 %r8, [last]; setp.eq.u32 %q3, %r8, 0; @%q3 bra END;
         mov.u32 %r9, 0; mov.u32 %r10, 0;
         SUM: mul.wide.u32 %d3, %r9, 4; add.u64 %d4, %p1, %d3; ld.global.u32 %r11, [%d4]; add.u32 %r10, %r10, %r11;
         add.u32 %r9, %r9, 1; setp.lt.u32 %q4, %r9, %r3; @%q4 bra SUM;
         bar.sync 0; @%q1 bra END; st.global.u32 [%p0+4], %r10; mov.u32 %r12, 0; st.global.u32 [%p0], %r12;
         END: "
    )
}

/// The same where every thread stores and fences, and one counts behind a barrier.
fn last_block_of_all(fence: &str) -> String {
    format!(
        ".shared .u32 last; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %nctaid.x; sub.u32 %r4, %r3, 1;
         setp.ne.u32 %q1, %r1, 0; mad.lo.u32 %r5, %r2, 64, %r1; mul.wide.u32 %d1, %r5, 4; add.u64 %d2, %p1, %d1;
         st.global.u32 [%d2], %r5; {fence} bar.sync 0; @%q1 bra MEET;
         atom.global.add.u32 %r6, [%p0], 1; setp.eq.u32 %q2, %r6, %r4; selp.u32 %r7, 1, 0, %q2; st.shared.u32 [last], %r7;
         MEET: bar.sync 0; ld.shared.u32 %r8, [last]; setp.eq.u32 %q3, %r8, 0; @%q3 bra END; {fence}
         mov.u32 %r9, %r1; mov.u32 %r10, 0; mul.lo.u32 %r12, %r3, 64;
         SUM: mul.wide.u32 %d3, %r9, 4; add.u64 %d4, %p1, %d3; ld.global.u32 %r11, [%d4]; add.u32 %r10, %r10, %r11;
         add.u32 %r9, %r9, 64; setp.lt.u32 %q4, %r9, %r12; @%q4 bra SUM;
         END: "
    )
}

#[test]
fn the_last_block_may_read_what_all_threads_of_the_others_fenced_before_a_barrier() {
    for fence in ["membar.gl;", "fence.sc.gpu;", "membar.sys;"] {
        clean(&run(&last_block_of_all(fence), 6, 64));
    }
    // Only `fence.sc` have one order among each other.
    for fence in ["fence.acq_rel.gpu;", "membar.cta;", ""] {
        race(
            &run(&last_block_of_all(fence), 6, 64),
            "st.global.u32 [%d2]",
            "ld.global.u32 %r11",
        );
    }
}

#[test]
fn the_last_block_may_read_what_the_others_fenced() {
    let count = "atom.global.inc.u32 %r6, [%p0], %r4;";
    clean(&run(&last_block("membar.gl;", count), 12, 64));
    clean(&run(
        &last_block("fence.acq_rel.gpu;", "atom.relaxed.gpu.global.add.u32 %r6, [%p0], 1;"),
        12,
        64,
    ));
    clean(&run(
        &last_block("", "atom.acq_rel.gpu.global.add.u32 %r6, [%p0], 1;"),
        12,
        64,
    ));
    for fence in ["", "membar.cta;"] {
        race(
            &run(&last_block(fence, count), 12, 64),
            "st.global.u32 [%d2]",
            "ld.global.u32 %r11",
        );
    }
    let narrow = "atom.acq_rel.cta.global.add.u32 %r6, [%p0], 1;";
    let found = run(&last_block("", narrow), 12, 64);
    assert!(
        found.len() >= 2 && found.iter().all(|f| f.0 == FindingKind::Race),
        "{found:#?}"
    );
}

#[test]
fn none_of_many_readers_is_forgotten() {
    // Every block reads a word and counts; the last one overwrites it. One block of 30 counts without a fence.
    let kernel = |fence: &str| {
        format!(
            "mov.u32 %r1, %tid.x; setp.ne.u32 %q1, %r1, 0; @%q1 bra END; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %nctaid.x;
             sub.u32 %r4, %r3, 1; ld.global.u32 %r5, [%p0+4]; setp.ne.u32 %q2, %r2, 12; {fence}
             atom.relaxed.gpu.global.add.u32 %r6, [%p0], 1; setp.ne.u32 %q3, %r6, %r4; @%q3 bra END; fence.acq_rel.gpu;
             st.global.u32 [%p0+4], %r6;
             END: "
        )
    };
    clean(&run(&kernel("fence.acq_rel.gpu;"), 30, 32));
    let broken = report(&kernel("@%q2 fence.acq_rel.gpu;"), 30, 32, 0);
    race(&found(&broken), "ld.global.u32 %r5", "st.global.u32 [%p0+4]");
    assert_eq!(broken.findings[0].other.as_ref().unwrap().block, [12, 0, 0]);
    assert_eq!(broken.findings[0].occurrences, 1);
}

#[test]
fn every_lane_that_reads_a_word_with_its_warp_counts() {
    // All lanes of block 0 read; the last one releases, for itself or for all; block 1 acquires and overwrites.
    let kernel = |meet: &str| {
        format!(
            "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; setp.eq.u32 %q1, %r2, 1; @%q1 bra SECOND;
             ld.global.u32 %r5, [%p0+4]; {meet} setp.eq.u32 %q2, %r1, 31; @%q2 st.release.gpu.global.u32 [%p0], 1; bra END;
             SECOND: setp.ne.u32 %q2, %r1, 0; @%q2 bra END;
             WAIT: ld.acquire.gpu.global.u32 %r4, [%p0]; setp.eq.u32 %q3, %r4, 0; @%q3 bra WAIT;
             st.global.u32 [%p0+4], %r4;
             END: "
        )
    };
    clean(&run(&kernel("bar.warp.sync 0xffffffff;"), 2, 32));
    let broken = report(&kernel(""), 2, 32, 0);
    race(&found(&broken), "ld.global.u32 %r5", "st.global.u32 [%p0+4]");
    assert_eq!(broken.findings[0].occurrences, 31);
}

/// Every thread writes a word, all blocks meet as `cooperative_groups::grid_group::sync` has them meet, and every thread
/// reads what one of another block wrote.
fn grid_sync(add: &str) -> String {
    format!(
        ".version 8.0\n.target sm_70\n.address_size 64
         .visible .entry k(.param .u64 a, .param .u64 b) {{
         .reg .pred %p<5>; .reg .b32 %r<32>; .reg .b64 %d<16>;
         ld.param.u64 %d1, [a]; ld.param.u64 %d2, [b];
         mov.u32 %r10, %envreg2; cvt.u64.u32 %d3, %r10; mov.u32 %r11, %envreg1; cvt.u64.u32 %d4, %r11;
         bfi.b64 %d5, %d4, %d3, 32, 32;
         mov.u32 %r1, %nctaid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
         mad.lo.u32 %r5, %r2, %r3, %r4; mul.wide.u32 %d6, %r5, 4; add.u64 %d7, %d2, %d6; st.global.u32 [%d7], %r5;
         setp.ne.s64 %p1, %d5, 0; @%p1 bra MEET; trap;
         MEET: barrier.sync 0; setp.ne.u32 %p2, %r4, 0; @%p2 bra MET;
         add.s64 %d8, %d5, 4; sub.s32 %r6, -2147483647, %r1; setp.eq.u32 %p3, %r2, 0; selp.b32 %r7, %r6, 1, %p3;
         {add} %r8, [%d8], %r7;
         WAIT: ld.acquire.gpu.u32 %r9, [%d8]; xor.b32 %r12, %r9, %r8; setp.gt.s32 %p4, %r12, -1; @%p4 bra WAIT;
         MET: barrier.sync 0; mul.lo.u32 %r13, %r1, %r3; add.u32 %r14, %r5, %r3; rem.u32 %r14, %r14, %r13;
         mul.wide.u32 %d9, %r14, 4; add.u64 %d10, %d2, %d9; ld.global.u32 %r15, [%d10];
         add.u64 %d11, %d1, %d6; st.global.u32 [%d11], %r15; ret; }}"
    )
}

#[test]
fn a_cooperative_launch_lets_the_whole_grid_meet() {
    let run = |ptx: &str, cooperative, blocks| {
        let mut emulator = Emulator::load(ptx).unwrap();
        let out = emulator.uninit::<u32>(64 * 50).unwrap();
        let scratch = emulator.uninit::<u32>(64 * 50).unwrap();
        let launch = Launch::new("k", [blocks, 1, 1], [64, 1, 1]).arg(out).arg(scratch);
        let options = Options {
            cooperative,
            ..Options::default()
        };
        let report = emulator.launch(&launch.options(options))?;
        Ok::<_, tile33_sim::LaunchError>((emulator.read(out).unwrap(), report))
    };
    let right = grid_sync("atom.add.release.gpu.u32");
    let (out, report) = run(&right, true, 50).unwrap();
    assert!(report.is_clean(), "{:#?}", report.findings);
    assert_eq!(out, (0..3200).map(|i| (i + 64) % 3200).collect::<Vec<u32>>());
    // Without the release the meeting orders nothing.
    let (_, report) = run(&grid_sync("atom.add.relaxed.gpu.u32"), true, 50).unwrap();
    race(&found(&report), "st.global.u32 [%d7]", "ld.global.u32 %r15");
    // An ordinary launch has nowhere to meet.
    let (_, report) = run(&right, false, 50).unwrap();
    assert_eq!(report.findings[0].kind, FindingKind::Trap);
    assert!(
        report.findings[0].help.contains("cooperative"),
        "{}",
        report.findings[0].help
    );
    // 32 blocks of 64 threads on each of 132 multiprocessors.
    match run(&right, true, 4225) {
        Err(tile33_sim::LaunchError::Cooperative {
            blocks: 4225,
            resident: 4224,
            ..
        }) => {}
        other => panic!("{:?}", other.map(|(_, r)| r.findings)),
    }
}

/// Each block adds its number to the sum of those before it, which it gets from its neighbour: values in the scratch
/// buffer, flags in the first one.
fn look_back(set: &str, get: &str) -> String {
    format!(
        "mov.u32 %r1, %tid.x; setp.ne.u32 %q1, %r1, 0; @%q1 bra END; mov.u32 %r2, %ctaid.x; mul.wide.u32 %d1, %r2, 4;
         add.u64 %d2, %p1, %d1; add.u64 %d3, %p0, %d1; mov.u32 %r5, 0; setp.eq.u32 %q2, %r2, 0; @%q2 bra FIRST;
         WAIT: {get} setp.eq.u32 %q3, %r4, 0; @%q3 bra WAIT; FENCE ld.global.u32 %r5, [%d2+-4];
         FIRST: add.u32 %r5, %r5, %r2; st.global.u32 [%d2], %r5; {set}
         END: "
    )
}

#[test]
fn a_chain_of_blocks_is_ordered_link_by_link() {
    let release = "st.release.gpu.global.u32 [%d3], 1;";
    let acquire = "ld.acquire.gpu.global.u32 %r4, [%d3+-4];";
    let old = (
        "membar.gl; st.volatile.global.u32 [%d3], 1;",
        "ld.volatile.global.u32 %r4, [%d3+-4];",
    );
    clean(&run(&look_back(release, acquire).replace("FENCE", ""), 40, 32));
    clean(&run(&look_back(old.0, old.1).replace("FENCE", "membar.gl;"), 40, 32));
    for (set, get, fence) in [
        ("st.relaxed.gpu.global.u32 [%d3], 1;", acquire, ""),
        (old.0, old.1, ""),
        ("st.volatile.global.u32 [%d3], 1;", old.1, "membar.gl;"),
        (old.0, old.1, "membar.cta;"),
    ] {
        let found = run(&look_back(set, get).replace("FENCE", fence), 40, 32);
        race(&found, "st.global.u32 [%d2]", "ld.global.u32 %r5");
    }
}

#[test]
fn what_a_block_learned_it_passes_on() {
    // Block 2 hears from block 1 only, which heard from block 0.
    let chain = look_back(
        "st.release.gpu.global.u32 [%d3], 1;",
        "ld.acquire.gpu.global.u32 %r4, [%d3+-4];",
    );
    let far = chain.replace("FENCE", "setp.eq.u32 %q4, %r2, 2; @%q4 ld.global.u32 %r20, [%d2+-8];");
    clean(&run(&far, 3, 32));
}

#[test]
fn a_release_reaches_through_later_atomics_of_its_thread() {
    // Block 0 releases a flag and then adds to it, relaxed; block 1 sees the sum and acquires.
    let kernel = |add: &str| {
        format!(
            "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; setp.ne.u32 %q1, %r1, 0; @%q1 bra END;
             setp.eq.u32 %q2, %r2, 1; @%q2 bra WAIT; mov.u32 %r3, 5; st.global.u32 [%p1], %r3;
             st.release.gpu.global.u32 [%p0], 1; {add} bra END;
             WAIT: ld.acquire.gpu.global.u32 %r4, [%p0]; setp.lt.u32 %q3, %r4, 3; @%q3 bra WAIT;
             ld.global.u32 %r5, [%p1]; st.global.u32 [%p0+4], %r5;
             END: "
        )
    };
    for add in [
        "atom.relaxed.gpu.global.add.u32 %r6, [%p0], 2; st.global.u32 [%p0+8], %r6;",
        "red.relaxed.gpu.global.add.u32 [%p0], 2;",
        "st.relaxed.gpu.global.u32 [%p0], 3;",
    ] {
        clean(&run(&kernel(add), 2, 32));
    }
}

#[test]
fn a_lock_in_global_memory_orders_blocks() {
    let kernel = |lock: &str, unlock: &str| {
        format!(
            "mov.u32 %r1, %tid.x; setp.ne.u32 %q1, %r1, 0; @%q1 bra END;
             TRY: {lock} setp.ne.u32 %q2, %r4, 0; @%q2 bra TRY;
             FENCE ld.global.u32 %r5, [%p0+4]; add.u32 %r5, %r5, 1; st.global.u32 [%p0+4], %r5; FENCE {unlock}
             END: "
        )
    };
    let plain = kernel(
        "atom.global.cas.b32 %r4, [%p0], 0, 1;",
        "atom.global.exch.b32 %r6, [%p0], 0;",
    );
    clean(&run(&plain.replace("FENCE", "membar.gl;"), 16, 32));
    let words = kernel(
        "atom.acquire.gpu.global.cas.b32 %r4, [%p0], 0, 1;",
        "st.release.gpu.global.u32 [%p0], 0;",
    );
    clean(&run(&words.replace("FENCE", ""), 16, 32));
    let broken = run(&plain.replace("FENCE", "membar.cta;"), 16, 32);
    assert!(
        !broken.is_empty() && broken.iter().all(|f| f.0 == FindingKind::Race),
        "{broken:#?}"
    );
}
