//! Forms that compilers write and no other test has: hints, spellings, what the registers of the launch hold.
mod common;

use common::{module, run, run_module};
use tile33_sim::{Emulator, Launch};

#[test]
fn hints_about_caches_time_and_registers_change_nothing() {
    let plain = "mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 4; add.u64 %d2, %p0, %d1; HINT st.global.u32 [%d2], %r1;";
    for hint in [
        "prefetch.global.L1 [%d2];",
        "prefetch.global.L2 [%d2];",
        "prefetch.global.L2::evict_last [%d2];",
        "prefetchu.L1 [%d2];",
        "applypriority.global.L2::evict_normal [%p0], 128;",
        "nanosleep.u32 20;",
        "pmevent 1;",
        "griddepcontrol.wait; griddepcontrol.launch_dependents;",
        "setmaxnreg.inc.sync.aligned.u32 64;",
        "fence.proxy.async;",
        "createpolicy.fractional.L2::evict_last.b64 %d3, 1.0; ld.global.L2::cache_hint.u32 %r2, [%d2], %d3;",
        "ld.global.nc.L1::no_allocate.L2::128B.u32 %r2, [%p0];",
    ] {
        let ran = run(&plain.replace("HINT", hint), 1, 32, 32);
        assert_eq!(ran.out, (0..32).collect::<Vec<u32>>(), "{hint}");
        // A hint touches no memory; the two loads read what other lanes store, which is a race of their own making.
        assert!(
            hint.contains("ld.global") || ran.report.is_clean(),
            "{hint}: {:#?}",
            ran.report.findings
        );
    }
}

#[test]
fn uniform_loads_and_loads_of_eight_words_load() {
    let mut emulator = Emulator::load(&module(
        "",
        2,
        "ldu.global.u32 %r1, [%p0+4]; st.global.u32 [%p1], %r1;
         ldu.global.v2.u32 {%r2, %r3}, [%p0+8]; st.global.v2.u32 [%p1+8], {%r2, %r3};
         ld.global.v8.b32 {%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17}, [%p0+32]; st.global.u32 [%p1+4], %r17;",
    ))
    .unwrap();
    let input = emulator.buffer(&(100..116u32).collect::<Vec<_>>()).unwrap();
    let output = emulator.buffer(&[0u32; 4]).unwrap();
    let report = emulator
        .launch(&Launch::new("k", [1; 3], [1; 3]).arg(input).arg(output))
        .unwrap();
    assert!(report.is_clean(), "{:#?}", report.findings);
    assert_eq!(emulator.read(output).unwrap(), [101, 115, 102, 103]);
    let loads = report.counters.global_load;
    assert_eq!((loads.requests, loads.sectors), (3, 3));
}

#[test]
fn sixteen_bits_are_compared_and_exchanged_without_their_neighbours() {
    let ran = run(
        "mov.u32 %r1, 0x55667788; st.global.u32 [%p0], %r1;
         mov.u16 %h1, 0x5566; mov.u16 %h2, 0x1234; atom.global.cas.b16 %h3, [%p0+2], %h1, %h2;
         atom.global.cas.b16 %h4, [%p0], %h1, %h2;
         cvt.u32.u16 %r2, %h3; cvt.u32.u16 %r3, %h4; st.global.u32 [%p0+4], %r2; st.global.u32 [%p0+8], %r3;",
        1,
        1,
        3,
    )
    .clean();
    assert_eq!(ran.out, [0x1234_7788, 0x5566, 0x7788]);
}

#[test]
fn special_registers_hold_what_the_launch_is() {
    let registers = [
        "%total_smem_size",
        "%dynamic_smem_size",
        "%warpid",
        "%nwarpid",
        "%laneid",
        "%lanemask_lt",
        "%lanemask_ge",
        "%nctaid.x",
        "%ctaid.x",
        "%ntid.x",
    ];
    let stores: String = registers
        .iter()
        .enumerate()
        .map(|(i, register)| format!("mov.u32 %r1, {register}; st.global.u32 [%d2+{}], %r1;\n", 4 * i))
        .collect();
    let body = format!(
        ".shared .b8 fixed[256]; mov.u32 %r2, %tid.x; setp.ne.u32 %q1, %r2, 35; @%q1 bra END;
         mov.u32 %r3, %ctaid.x; mul.wide.u32 %d1, %r3, 64; add.u64 %d2, %p0, %d1; {stores}
         mov.u32 %r4, %smid; mov.u32 %r5, %nsmid; setp.lt.u32 %q2, %r4, %r5; selp.u32 %r6, 1, 0, %q2;
         st.global.u32 [%d2+60], %r6; END: "
    );
    let mut emulator = Emulator::load(&module("", 1, &body)).unwrap();
    let output = emulator.buffer(&[0u32; 32]).unwrap();
    let launch = Launch::new("k", [2, 1, 1], [64, 1, 1]).arg(output).dynamic_shared(512);
    assert!(emulator.launch(&launch).unwrap().is_clean());
    let written = emulator.read(output).unwrap();
    for block in 0..2u32 {
        let of_block = &written[16 * block as usize..][..16];
        assert_eq!(of_block[1], 512, "dynamic bytes");
        assert!(of_block[0] >= 256 + 512, "static and dynamic bytes");
        assert_eq!(of_block[2], 1, "warp");
        assert!(of_block[3] >= 2, "warps that there may be");
        assert_eq!(
            of_block[4..7],
            [3, 0b111, !0b111],
            "lane, and the lanes before and from it on"
        );
        assert_eq!(of_block[7..10], [2, block, 64]);
        assert_eq!(of_block[15], 1, "the multiprocessor is one of those there are");
    }
}

#[test]
fn barriers_of_the_block_have_two_spellings() {
    let body = |barrier: &str| {
        format!(
            ".shared .u32 word[64]; mov.u32 %r1, %tid.x; mov.u32 %r2, word; mad.lo.u32 %r3, %r1, 4, %r2;
             st.shared.u32 [%r3], %r1; {barrier} xor.b32 %r4, %r1, 32; mad.lo.u32 %r5, %r4, 4, %r2;
             ld.shared.u32 %r6, [%r5]; mul.wide.u32 %d1, %r1, 4; add.u64 %d2, %p0, %d1; st.global.u32 [%d2], %r6;"
        )
    };
    for barrier in [
        "bar.sync 0;",
        "bar.cta.sync 0;",
        "barrier.sync 0;",
        "barrier.cta.sync.aligned 0;",
    ] {
        let ran = run_module(&module("", 1, &body(barrier)), 1, 64, 64).clean();
        assert_eq!(ran.out, (0..64).map(|i| i ^ 32).collect::<Vec<u32>>(), "{barrier}");
    }
}

#[test]
fn an_mbarrier_tells_how_many_arrivals_are_pending() {
    let ran = run(
        ".shared .align 8 .b64 meeting; mbarrier.init.shared.b64 [meeting], 5;
         mbarrier.arrive.shared.b64 %d1, [meeting]; mbarrier.pending_count.b64 %r1, %d1;
         mbarrier.arrive.shared.b64 %d2, [meeting], 3; mbarrier.pending_count.b64 %r2, %d2;
         mbarrier.arrive.expect_tx.shared.b64 %d3, [meeting], 0; mbarrier.test_wait.shared.b64 %q1, [meeting], %d3;
         selp.u32 %r3, 1, 0, %q1;
         st.global.u32 [%p0], %r1; st.global.u32 [%p0+4], %r2; st.global.u32 [%p0+8], %r3;",
        1,
        1,
        3,
    )
    .clean();
    // The state before an arrival: five, four.
    assert_eq!(ran.out, [5, 4, 1]);
}
