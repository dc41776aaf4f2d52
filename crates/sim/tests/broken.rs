//! Kernels with the mistakes that people make, each with exactly its finding, and their repaired twins with none.
mod common;
use common::{module, run_module};
use tile33_sim::{Emulator, Finding, FindingKind, Launch};

const SHARED: &str = ".shared .align 16 .f32 v[64];
 mov.u32 %r1, %tid.x; mov.u32 %r2, v; shl.b32 %r3, %r1, 2; add.u32 %r4, %r2, %r3; mul.wide.u32 %d1, %r1, 4; add.u64 %d2, %p0, %d1;";

fn findings(before: &str, body: &str, block: u32) -> Vec<Finding> {
    run_module(&module(before, 1, body), 1, block, 256).report.findings
}

#[track_caller]
fn only(findings: Vec<Finding>, kind: FindingKind) -> Finding {
    assert_eq!(
        findings.iter().map(|f| f.kind).collect::<Vec<_>>(),
        [kind],
        "{findings:#?}"
    );
    findings.into_iter().next().unwrap()
}

#[test]
fn a_tile_loop_with_one_barrier_races_and_names_both_lines() {
    let tile = |second: &str| {
        format!(
            "{SHARED} mov.u32 %r5, 0; mov.f32 %f3, 0f00000000; xor.b32 %r6, %r3, 128; add.u32 %r7, %r2, %r6;
             .loc 1 10 5
             LOOP: ld.global.f32 %f1, [%d2]; st.shared.f32 [%r4], %f1;
             bar.sync 0;
             .loc 1 12 9
             ld.shared.f32 %f2, [%r7]; add.f32 %f3, %f3, %f2;
             {second}
             add.u32 %r5, %r5, 1; setp.lt.u32 %q1, %r5, 4; @%q1 bra LOOP; st.global.f32 [%d2], %f3;"
        )
    };
    let files = ".file 1 \"src/tiled.rs\"\n";
    let race = only(findings(files, &tile(""), 64), FindingKind::Race);
    let other = race.other.as_ref().unwrap();
    let mut lines = [race.site.source.clone().unwrap(), other.source.clone().unwrap()];
    lines.sort();
    assert_eq!(
        lines.map(|l| (l.file, l.line)),
        [("src/tiled.rs".to_owned(), 10), ("src/tiled.rs".to_owned(), 12)]
    );
    assert_ne!(race.site.thread, other.thread);
    assert!(race.address.as_ref().unwrap().to_string().starts_with("v+"));
    assert!(race.help.contains("barrier"));
    assert_eq!(findings(files, &tile("bar.sync 0;"), 64), []);
}

#[test]
fn a_reduction_in_a_warp_needs_sync_warp() {
    let reduction = |sync: &str| {
        let mut body = format!("{SHARED} mov.f32 %f1, 0f3F800000; st.shared.f32 [%r4], %f1; bar.warp.sync -1;\n");
        for (i, half) in [16, 8, 4, 2, 1].into_iter().enumerate() {
            body += &format!(
                "setp.lt.u32 %q1, %r1, {half}; @!%q1 bra SKIP{i}; ld.shared.f32 %f2, [%r4+{}]; ld.shared.f32 %f3, [%r4]; add.f32 %f3, %f3, %f2; st.shared.f32 [%r4], %f3; SKIP{i}: {sync}\n",
                4 * half
            );
        }
        body + "st.global.f32 [%d2], %f3;"
    };
    let found = findings("", &reduction(""), 32);
    assert!(
        !found.is_empty() && found.iter().all(|f| f.kind == FindingKind::Race),
        "{found:#?}"
    );
    assert!(found[0].help.contains("sync_warp"));
    assert_eq!(findings("", &reduction("bar.warp.sync -1;"), 32), []);
}

#[test]
fn the_tail_of_a_reduction_reads_what_nobody_wrote() {
    // 40 threads fill 40 of 64 elements, and the tree reads all of them.
    let tail = |guard: &str| {
        format!(
            "{SHARED} mov.f32 %f1, 0f3F800000; st.shared.f32 [%r4], %f1; {guard} bar.sync 0;
             setp.lt.u32 %q1, %r1, 32; @!%q1 bra END; ld.shared.f32 %f2, [%r4+128]; add.f32 %f2, %f2, %f1; st.global.f32 [%d2], %f2; END:"
        )
    };
    let read = only(findings("", &tail(""), 40), FindingKind::UninitializedShared);
    assert_eq!(
        (read.site.thread, read.address.as_ref().unwrap().to_string()),
        ([8, 0, 0], "v+160".to_owned())
    );
    let fill = "mov.f32 %f4, 0f00000000; setp.lt.u32 %q2, %r1, 24; @%q2 st.shared.f32 [%r4+160], %f4;";
    assert_eq!(findings("", &tail(fill), 40), []);
}

#[test]
fn threads_that_return_before_the_barrier_are_found_and_guarded_work_is_not() {
    let early = format!(
        "{SHARED} setp.ge.u32 %q1, %r1, 40; @%q1 ret; st.shared.u32 [%r4], %r1; bar.sync 0; st.global.u32 [%d2], %r1;"
    );
    let f = only(findings("", &early, 64), FindingKind::DivergentBarrier);
    let other = f.other.as_ref().unwrap();
    assert_eq!((f.site.thread, other.thread), ([32, 0, 0], [40, 0, 0]));
    assert_eq!(
        (f.site.instruction.as_str(), other.instruction.as_str()),
        ("bar.sync 0", "@%q1 ret")
    );
    let guarded = format!(
        "{SHARED} setp.ge.u32 %q1, %r1, 40; @!%q1 st.shared.u32 [%r4], %r1; bar.sync 0; @!%q1 st.global.u32 [%d2], %r1;"
    );
    assert_eq!(findings("", &guarded, 64), []);
}

#[test]
fn an_edge_tile_is_guarded_at_the_load_too() {
    let edge = |guard: &str| {
        format!(
            "{SHARED} setp.lt.u32 %q1, %r1, 50; mov.f32 %f1, 0f00000000; {guard} ld.global.f32 %f1, [%d2+824]; @%q1 st.global.f32 [%d2], %f1;"
        )
    };
    // 256 words: thread 50 reads byte 1024.
    let f = only(findings("", &edge(""), 64), FindingKind::OutOfBounds);
    assert_eq!(
        (f.site.thread, f.address.as_ref().unwrap().to_string()),
        ([50, 0, 0], "a+1024".to_owned())
    );
    assert_eq!(f.occurrences, 14);
    assert_eq!(findings("", &edge("@%q1"), 64), []);
}

#[test]
fn rows_of_odd_length_are_misaligned_for_vectors() {
    let rows = |pitch: u32| {
        format!(
            "mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, {pitch}; add.u64 %d2, %p0, %d1; ld.global.v2.f32 {{%f1, %f2}}, [%d2];"
        )
    };
    let f = only(findings("", &rows(12), 8), FindingKind::Misaligned);
    assert_eq!((f.site.thread, f.occurrences), ([1, 0, 0], 4));
    assert_eq!(findings("", &rows(16), 8), []);
}

#[test]
fn arrays_carved_from_one_block_are_aligned_or_misaligned() {
    // f64 x 3, u8 x 5, then f32: at byte 29, or at 32.
    let carve = |at: u32| {
        let ptx = module(
            ".extern .shared .align 16 .b8 pool[];\n",
            1,
            &format!("mov.u32 %r1, pool; mov.f32 %f1, 0f3F800000; st.shared.f32 [%r1+{at}], %f1;"),
        );
        let mut emulator = Emulator::load(&ptx).unwrap();
        let buffer = emulator.buffer(&[0u32]).unwrap();
        let launch = Launch::new("k", [1, 1, 1], [1, 1, 1]).arg(buffer).dynamic_shared(64);
        emulator.launch(&launch).unwrap().findings
    };
    let f = only(carve(29), FindingKind::Misaligned);
    assert_eq!(f.address.as_ref().unwrap().to_string(), "pool+29");
    assert_eq!(carve(32), []);
}

#[test]
fn findings_serialise_with_the_names_of_the_command() {
    let f = only(
        findings("", "ld.global.u32 %r1, [%p0+2048];", 1),
        FindingKind::OutOfBounds,
    );
    let json = serde_json::to_value(&f).unwrap();
    assert_eq!(json["kind"], "out-of-bounds");
    assert_eq!(json["address"], "a+2048");
    assert_eq!(json["instruction"], "ld.global.u32 %r1, [%p0+2048]");
    assert_eq!(json["block"], serde_json::json!([0, 0, 0]));
    assert!(json["line"].as_u64().unwrap() > 0 && json["message"].as_str().unwrap().contains("thread (0, 0, 0)"));
}
