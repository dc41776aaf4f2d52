//! Asynchronous copies, mbarriers, and matrices that move by warps.
mod common;
use common::{module, run, run_module};
use tile33_sim::{Emulator, FindingKind, Launch};

const COPY: &str = ".shared .align 16 .b8 s[512];
 mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 4; mov.u32 %r3, s; add.u32 %r4, %r3, %r2; cvt.u64.u32 %d1, %r2; add.u64 %d2, %p0, %d1;
 cp.async.ca.shared.global [%r4], [%d2], 16;
 cp.async.commit_group;";

fn copied(rest: &str) -> common::Ran {
    let mut emulator = Emulator::load(&module("", 2, &format!("{COPY} {rest}"))).unwrap();
    let input: Vec<u32> = (0..128).collect();
    let (a, b) = (emulator.buffer(&input).unwrap(), emulator.buffer(&[0u32; 32]).unwrap());
    let report = emulator
        .launch(&Launch::new("k", [1, 1, 1], [32, 1, 1]).arg(a).arg(b))
        .unwrap();
    common::Ran {
        out: emulator.read(b).unwrap(),
        report,
    }
}

const READ: &str =
    "ld.shared.u32 %r10, [%r4+4]; mul.wide.u32 %d3, %r1, 4; add.u64 %d4, %p1, %d3; st.global.u32 [%d4], %r10;";

#[test]
fn a_copy_is_there_once_it_was_waited_for() {
    let ran = copied(&format!("cp.async.wait_group 0; {READ}")).clean();
    assert_eq!(ran.out, (0..32).map(|t| 4 * t + 1).collect::<Vec<u32>>());
    let copy = ran
        .report
        .per_instruction
        .iter()
        .find(|i| i.instruction.starts_with("cp.async.ca"))
        .unwrap()
        .counters;
    assert_eq!((copy.global_load.sectors, copy.shared_store.wavefronts), (16, 4));
    copied(&format!("cp.async.wait_all; {READ}")).clean();
}

#[test]
fn a_copy_that_was_not_waited_for_is_not_there() {
    let ran = copied(READ);
    assert_eq!(ran.out, [0; 32]);
    assert!(!ran.report.is_clean());
    // The newest group may still be on its way.
    let ran = copied(&format!("cp.async.wait_group 1; {READ}"));
    assert_eq!(ran.out, [0; 32]);
}

#[test]
fn a_copy_of_fewer_bytes_fills_with_zeros() {
    let short = COPY
        .replace("16;\n cp.async.commit", "16, %r9;\n cp.async.commit")
        .replace("cp.async.ca", "mov.u32 %r9, 4; cp.async.ca");
    let body = format!(
        "{short} cp.async.wait_all; ld.shared.v2.u32 {{%r10, %r11}}, [%r4]; mad.lo.u32 %r10, %r11, 1000, %r10; mul.wide.u32 %d3, %r1, 4; add.u64 %d4, %p1, %d3; st.global.u32 [%d4], %r10;"
    );
    let mut emulator = Emulator::load(&module("", 2, &body)).unwrap();
    let (a, b) = (
        emulator.buffer(&[5u32; 128]).unwrap(),
        emulator.buffer(&[0u32; 32]).unwrap(),
    );
    let report = emulator
        .launch(&Launch::new("k", [1, 1, 1], [32, 1, 1]).arg(a).arg(b))
        .unwrap();
    assert!(report.is_clean(), "{:?}", report.findings);
    assert_eq!(emulator.read(b).unwrap(), [5; 32]);
}

#[test]
fn an_mbarrier_passes_data_from_one_warp_to_another_phase_after_phase() {
    let ran = run_module(
        &module(
            "",
            1,
            ".shared .align 8 .b64 full; .shared .align 8 .b64 empty; .shared .align 4 .u32 value[32];
             mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 31; mov.u32 %r3, value; shl.b32 %r4, %r2, 2; add.u32 %r5, %r3, %r4;
             setp.ne.u32 %q1, %r1, 0; @%q1 bra READY;
             mbarrier.init.shared.b64 [full], 32; mbarrier.init.shared.b64 [empty], 32;
             READY: bar.sync 0;
             mov.u32 %r6, 0; mov.u32 %r7, 0; mov.u32 %r10, 0;
             setp.ge.u32 %q2, %r1, 32; @%q2 bra CONSUME;
             PRODUCE: add.u32 %r8, %r6, %r2; st.shared.u32 [%r5], %r8; mbarrier.arrive.shared.b64 %d5, [full];
             EMPTY: mbarrier.try_wait.parity.shared.b64 %q3, [empty], %r7; @!%q3 bra EMPTY;
             xor.b32 %r7, %r7, 1; add.u32 %r6, %r6, 1; setp.lt.u32 %q4, %r6, 4; @%q4 bra PRODUCE; bra END;
             CONSUME: FULL: mbarrier.test_wait.parity.shared::cta.b64 %q3, [full], %r7; @!%q3 bra FULL;
             xor.b32 %r9, %r4, 4; add.u32 %r11, %r3, %r9; ld.shared.u32 %r8, [%r11]; add.u32 %r10, %r10, %r8; mbarrier.arrive.shared.b64 _, [empty];
             xor.b32 %r7, %r7, 1; add.u32 %r6, %r6, 1; setp.lt.u32 %q4, %r6, 4; @%q4 bra CONSUME;
             mul.wide.u32 %d1, %r2, 4; add.u64 %d2, %p0, %d1; st.global.u32 [%d2], %r10;
             END:",
        ),
        1,
        64,
        32,
    )
    .clean();
    assert_eq!(ran.out, (0..32).map(|t| 6 + 4 * (t ^ 1)).collect::<Vec<u32>>());
}

#[test]
fn ldmatrix_gives_each_lane_two_elements_of_each_matrix() {
    let body = |suffix: &str, pitch: u32| {
        format!(
            ".shared .align 16 .b8 s[{}];
             mov.u32 %r1, %tid.x; mov.u32 %r2, s; and.b32 %r3, %r1, 7; mov.u32 %r5, 0;
             FILL: mad.lo.u32 %r6, %r3, {pitch}, %r2; shl.b32 %r7, %r5, 1; add.u32 %r6, %r6, %r7; mad.lo.u32 %r8, %r3, 8, %r5; cvt.u16.u32 %h1, %r8;
             setp.lt.u32 %q1, %r1, 8; @%q1 st.shared.u16 [%r6], %h1; add.u32 %r5, %r5, 1; setp.lt.u32 %q2, %r5, 8; @%q2 bra FILL;
             bar.sync 0; mad.lo.u32 %r9, %r3, {pitch}, %r2; ldmatrix.sync.aligned.m8n8.x1{suffix}.shared.b16 {{%r10}}, [%r9];
             mul.wide.u32 %d1, %r1, 4; add.u64 %d2, %p0, %d1; st.global.u32 [%d2], %r10;",
            8 * pitch
        )
    };
    let plain = run_module(&module("", 1, &body("", 16)), 1, 32, 32).clean();
    let expected: Vec<u32> = (0..32)
        .map(|l| (l / 4 * 8 + l % 4 * 2) | (l / 4 * 8 + l % 4 * 2 + 1) << 16)
        .collect();
    assert_eq!(plain.out, expected);
    let turned = run_module(&module("", 1, &body(".trans", 16)), 1, 32, 32).clean();
    let expected: Vec<u32> = (0..32)
        .map(|l| (l % 4 * 2 * 8 + l / 4) | ((l % 4 * 2 + 1) * 8 + l / 4) << 16)
        .collect();
    assert_eq!(turned.out, expected);
    // Eight rows of 16 bytes: side by side they need one wavefront, 128 bytes apart eight.
    let wavefronts = |pitch| {
        let ran = run_module(&module("", 1, &body("", pitch)), 1, 32, 32).clean();
        let counters = ran
            .report
            .per_instruction
            .iter()
            .find(|i| i.instruction.starts_with("ldmatrix"))
            .unwrap()
            .counters;
        (counters.shared_load.wavefronts, counters.shared_load.ideal)
    };
    assert_eq!(
        (wavefronts(16), wavefronts(128), wavefronts(144)),
        ((1, 1), (8, 1), (1, 1))
    );
}

#[test]
fn stmatrix_undoes_ldmatrix() {
    let ran = run_module(
        &module(
            "",
            1,
            ".shared .align 16 .b8 s[512];
             mov.u32 %r1, %tid.x; mov.u32 %r2, s; shl.b32 %r3, %r1, 4; add.u32 %r4, %r2, %r3;
             add.u32 %r10, %r1, 1000; add.u32 %r11, %r1, 2000; add.u32 %r12, %r1, 3000; add.u32 %r13, %r1, 4000;
             stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r4], {%r10, %r11, %r12, %r13}; bar.warp.sync -1;
             ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r20, %r21, %r22, %r23}, [%r4];
             sub.u32 %r20, %r20, %r10; sub.u32 %r21, %r21, %r11; sub.u32 %r22, %r22, %r12; sub.u32 %r23, %r23, %r13;
             or.b32 %r20, %r20, %r21; or.b32 %r20, %r20, %r22; or.b32 %r20, %r20, %r23; add.u32 %r20, %r20, 1;
             mul.wide.u32 %d1, %r1, 4; add.u64 %d2, %p0, %d1; st.global.u32 [%d2], %r20;",
        ),
        1,
        32,
        32,
    )
    .clean();
    assert_eq!(ran.out, [1; 32]);
}

#[test]
fn a_wmma_product_loads_multiplies_and_stores_whole_matrices() {
    // A is 16x16 row-major, B column-major, C zero: D = A B in f32, from global memory.
    let body = "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, [%p0], 16;
         wmma.load.b.sync.aligned.col.m16n16k16.global.f16 {%r9,%r10,%r11,%r12,%r13,%r14,%r15,%r16}, [%p1], 16;
         mov.f32 %f0, 0f3F800000;
         wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8}, {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, {%r9,%r10,%r11,%r12,%r13,%r14,%r15,%r16}, {%f0,%f0,%f0,%f0,%f0,%f0,%f0,%f0};
         wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%p2], {%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8}, 16;";
    let mut emulator = Emulator::load(&module("", 3, body)).unwrap();
    let small = |i: usize, j: usize| ((3 * i + 5 * j) % 7) as f32 - 3.0;
    let half = |v: f32| half::f16::from_f32(v).to_bits();
    let a: Vec<u16> = (0..256).map(|i| half(small(i / 16, i % 16))).collect();
    let b: Vec<u16> = (0..256).map(|i| half(small(i % 16, 2 * (i / 16)))).collect();
    let (a, b) = (emulator.buffer(&a).unwrap(), emulator.buffer(&b).unwrap());
    let d = emulator.uninit::<f32>(256).unwrap();
    let report = emulator
        .launch(&Launch::new("k", [1, 1, 1], [32, 1, 1]).arg(a).arg(b).arg(d))
        .unwrap();
    assert!(report.is_clean(), "{:?}", report.findings);
    for (i, v) in emulator.read(d).unwrap().into_iter().enumerate() {
        let expected: f32 = (0..16).map(|k| small(i / 16, k) * small(k, 2 * (i % 16))).sum::<f32>() + 1.0;
        assert_eq!(v, expected, "row {}, column {}", i / 16, i % 16);
    }
}

#[test]
fn an_mbarrier_in_global_memory_is_the_wrong_space() {
    let ran = run("mbarrier.init.b64 [%p0], 1;", 1, 1, 2);
    assert_eq!(ran.kinds(), [FindingKind::AddressSpace]);
}
