//! What is wrong without a second thread: bounds, alignment, memory that nobody wrote; and barriers that not all reach.

use super::*;

fn kinds(found: &Found) -> Vec<FindingKind> {
    found.iter().map(|f| f.0).collect()
}

#[test]
fn bytes_counted_as_elements_are_out_of_bounds() {
    let body = format!(
        "mov.u32 %r1, %tid.x; mov.u32 %r2, dyn; shl.b32 %r3, %r1, 2; add.u32 %r4, %r2, %r3;
         st.shared.u32 [%r4], %r1; bar.sync 0; ld.shared.u32 %r10, [%r4]; {STORE}"
    );
    let broken = found(&report(&body, 1, 256, 256));
    assert_eq!(kinds(&broken), [FindingKind::OutOfBounds; 2]);
    assert!(broken[0].1.starts_with("st.shared") && broken[1].1.starts_with("ld.shared"));
    clean(&found(&report(&body, 1, 256, 1024)));
}

#[test]
fn a_slice_behind_an_odd_number_of_bytes_is_misaligned() {
    // Five bytes, then one f32 a thread: at byte 5, or at byte 8.
    let carve = |offset: u32| {
        format!(
            "mov.u32 %r1, %tid.x; mov.u32 %r2, dyn; shl.b32 %r3, %r1, 2; add.u32 %r4, %r2, %r3;
             st.shared.u32 [%r4+{offset}], %r1; ld.shared.u32 %r10, [%r4+{offset}]; {STORE}"
        )
    };
    let broken = found(&report(&carve(5), 1, 32, 256));
    assert_eq!(kinds(&broken), [FindingKind::Misaligned; 2]);
    clean(&found(&report(&carve(8), 1, 32, 256)));
}

#[test]
fn rows_of_odd_length_cannot_be_read_in_pairs() {
    // Row `t` of 5 f64; its first two elements.
    let row = |length: u32| {
        format!(
            "mov.u32 %r1, %tid.x; mad.lo.u32 %r2, %r1, {}, 0; cvt.u64.u32 %d1, %r2; add.u64 %d2, %p0, %d1;
             ld.global.v2.f64 {{%g1, %g2}}, [%d2]; add.f64 %g3, %g1, %g2; cvt.rzi.u32.f64 %r10, %g3; bar.sync 0; {STORE}",
            8 * length
        )
    };
    let broken = run(&row(5), 1, 32);
    assert_eq!(kinds(&broken), [FindingKind::Misaligned]);
    assert!(broken[0].1.starts_with("ld.global.v2.f64"));
    clean(&run(&row(6), 1, 32));
}

#[test]
fn a_return_before_a_barrier_makes_it_divergent() {
    let kernel =
        |guard: &str| format!("mov.u32 %r1, %tid.x; setp.ge.u32 %q1, %r1, 40; {guard} mov.u32 %r10, 1; {STORE}");
    let broken = report(&kernel("@%q1 ret; bar.sync 0;"), 1, 64, 0);
    assert_eq!(kinds(&found(&broken)), [FindingKind::DivergentBarrier]);
    let finding = &broken.findings[0];
    // One thread that arrived, and one that did not.
    assert_eq!(
        (
            finding.site.thread[0] < 40,
            finding.other.as_ref().unwrap().thread[0] >= 40
        ),
        (true, true)
    );
    clean(&run(&kernel("bar.sync 0; @%q1 ret;"), 1, 64));
}

#[test]
fn the_tail_of_a_reduction_reads_what_nobody_wrote() {
    // 48 threads fold 64 words.
    let kernel = |before: &str| {
        format!(
            ".shared .u32 s[64]; {PLACES} {before} st.shared.u32 [%r4], %r1; bar.sync 0; mov.u32 %r10, 0;
             setp.ge.u32 %q1, %r1, 32; @%q1 bra END;
             ld.shared.u32 %r10, [%r4+128];
             END: {STORE}"
        )
    };
    let broken = report(&kernel(""), 1, 48, 0);
    assert_eq!(kinds(&found(&broken)), [FindingKind::UninitializedShared]);
    let finding = &broken.findings[0];
    assert_eq!((finding.site.thread[0], finding.occurrences), (16, 16));
    assert_eq!(finding.address.as_ref().unwrap().to_string(), "s+192");
    clean(&run(
        &kernel("mov.u32 %r7, 0; st.shared.u32 [%r4+64], %r7; bar.sync 0;"),
        1,
        48,
    ));
}

#[test]
fn a_read_that_comes_before_the_write_says_so() {
    let order =
        |first: &str, second: &str| format!(".shared .u32 s[64]; {PLACES} {first} bar.sync 0; {second} {STORE}");
    let (read, write) = ("ld.shared.u32 %r10, [%r5];", "st.shared.u32 [%r4], %r1;");
    let broken = report(&order(read, write), 1, 64, 0);
    assert_eq!(kinds(&found(&broken)), [FindingKind::UninitializedShared]);
    let finding = &broken.findings[0];
    assert!(
        finding
            .message
            .ends_with("before the block writes it later in this run"),
        "{}",
        finding.message
    );
    assert!(finding.help.contains("barrier"), "{}", finding.help);
    clean(&run(&order(write, read), 1, 64));
    // An atomic writes the word that it found unwritten itself, which is no reason to wait.
    let atomic = report(&order("atom.shared.add.u32 %r10, [%r4], 1;", ""), 1, 64, 0);
    assert!(
        atomic.findings[0].message.ends_with("which nothing has written"),
        "{:#?}",
        atomic.findings
    );
}

#[test]
fn only_the_bytes_that_were_written_count_as_written() {
    // Three of four bytes, and two of four elements of a vector.
    let part = |last: &str| {
        format!(
            ".shared .align 16 .b32 s[64]; {PLACES} mov.u16 %h1, 1; st.shared.u8 [%r4], %h1; st.shared.u8 [%r4+1], %h1;
             st.shared.u8 [%r4+2], %h1; {last} ld.shared.u32 %r10, [%r4]; {STORE}"
        )
    };
    assert_eq!(kinds(&run(&part(""), 1, 64)), [FindingKind::UninitializedShared]);
    clean(&run(&part("st.shared.u8 [%r4+3], %h1;"), 1, 64));
}

#[test]
fn a_sum_into_a_buffer_that_nobody_cleared_reads_what_nobody_wrote() {
    let add = |clear: &str| {
        format!(
            "mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 4; add.u64 %d2, %p1, %d1; mov.u32 %r3, 0; {clear}
             ld.global.u32 %r2, [%d2]; add.u32 %r2, %r2, 1; st.global.u32 [%d2], %r2;"
        )
    };
    let broken = run(&add(""), 1, 64);
    assert_eq!(kinds(&broken), [FindingKind::UninitializedGlobal]);
    assert!(broken[0].1.starts_with("ld.global"));
    clean(&run(&add("st.global.u32 [%d2], %r3;"), 1, 64));
}

#[test]
fn local_memory_is_looked_after_per_thread() {
    let local = |write: &str| {
        format!(
            ".local .align 4 .b8 frame[16]; mov.u32 %r1, %tid.x; setp.ne.u32 %q1, %r1, 7;
             {write} st.local.u32 [frame+4], %r1; ld.local.u32 %r10, [frame+4]; {STORE}"
        )
    };
    let broken = report(&local("@%q1"), 1, 64, 0);
    assert_eq!(kinds(&found(&broken)), [FindingKind::UninitializedLocal]);
    assert_eq!(
        (broken.findings[0].site.thread[0], broken.findings[0].occurrences),
        (7, 1)
    );
    clean(&run(&local(""), 1, 64));
}
