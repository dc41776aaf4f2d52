//! Spaces and addresses: widths, windows, initialised variables, and what is said of accesses that cannot be made.
mod common;
use common::{module, run, run_module, unchecked};
use tile33_sim::{Emulator, FindingKind, Launch, Options, SharedArray};

const STORE: &str =
    "mov.u32 %r60, %tid.x; mul.wide.u32 %d60, %r60, 4; add.u64 %d61, %p0, %d60; st.global.u32 [%d61], %r10;";

#[test]
fn narrow_loads_extend_as_their_type_says() {
    let ran = run_module(
        &module(
            ".global .align 8 .b8 bytes[8] = {0x80, 0xff, 0x7f, 0x01, 0xfe, 0xff, 0xff, 0xff};\n",
            1,
            "ld.global.u8 %r1, [bytes]; st.global.u32 [%p0], %r1;
             ld.global.s8 %r2, [bytes]; st.global.u32 [%p0+4], %r2;
             ld.global.u16 %r3, [bytes]; st.global.u32 [%p0+8], %r3;
             ld.global.s16 %r4, [bytes]; st.global.u32 [%p0+12], %r4;
             ld.global.s8 %h1, [bytes]; cvt.u32.u16 %r5, %h1; st.global.u32 [%p0+16], %r5;
             ld.global.s32 %d1, [bytes+4]; st.global.u64 [%p0+24], %d1;
             ld.global.u32 %d2, [bytes+4]; st.global.u64 [%p0+32], %d2;
             ld.global.s8 %d3, [bytes+4]; st.global.u64 [%p0+40], %d3;",
        ),
        1,
        1,
        12,
    )
    .clean();
    assert_eq!(ran.out[..5], [0x80, 0xffff_ff80, 0xff80, 0xffff_ff80, 0xff80]);
    assert_eq!(
        ran.out[6..12],
        [0xffff_fffe, 0xffff_ffff, 0xffff_fffe, 0, 0xffff_fffe, 0xffff_ffff]
    );
}

#[test]
fn vectors_and_narrow_stores_keep_what_lies_beside() {
    let ran = run(
        "mov.u32 %r1, 0x11223344; mov.u32 %r2, 2; mov.u32 %r3, 3; mov.u32 %r4, 4;
         st.global.v4.u32 [%p0], {%r1, %r2, %r3, %r4}; st.global.u8 [%p0+1], %r2; st.global.u16 [%p0+6], %r3;
         ld.global.v2.u32 {%r5, _}, [%p0]; st.global.u32 [%p0+16], %r5;
         mov.u64 %d1, 0x0102030405060708; st.global.v2.b64 [%p0+32], {%d1, %d1}; ld.global.v4.u16 {%h1, %h2, %h3, %h4}, [%p0+40];
         cvt.u32.u16 %r6, %h4; st.global.u32 [%p0+20], %r6;",
        1,
        1,
        12,
    )
    .clean();
    assert_eq!(
        ran.out,
        [
            0x1122_0244,
            0x0003_0002,
            3,
            4,
            0x1122_0244,
            0x0102,
            0,
            0,
            0x0506_0708,
            0x0102_0304,
            0x0506_0708,
            0x0102_0304
        ]
    );
}

#[test]
fn generic_addresses_reach_every_space_and_tell_which() {
    let ran = run_module(
        &module(
            ".const .align 4 .u32 c[2] = {11, 12};\n.global .align 4 .u32 g[1] = {21};\n",
            1,
            ".shared .align 4 .u32 s[4]; .local .align 4 .u32 l[2];
             mov.u32 %r1, 31; st.shared.u32 [s+4], %r1; mov.u32 %r2, 41; st.local.u32 [l+4], %r2;
             mov.u64 %d1, s; cvta.shared.u64 %d2, %d1; ld.u32 %r3, [%d2+4];
             mov.u64 %d3, l; cvta.local.u64 %d4, %d3; ld.u32 %r4, [%d4+4];
             mov.u64 %d5, c; cvta.const.u64 %d6, %d5; ld.u32 %r5, [%d6+4];
             mov.u64 %d7, g; cvta.global.u64 %d8, %d7; ld.u32 %r6, [%d8];
             st.u32 [%d2+8], %r6; cvta.to.shared.u64 %d9, %d2; cvt.u32.u64 %r7, %d9; ld.shared.u32 %r8, [%r7+8];
             st.global.v4.u32 [%p0], {%r3, %r4, %r5, %r6}; st.global.u32 [%p0+16], %r8;
             isspacep.shared %q1, %d2; isspacep.global %q2, %d2; isspacep.local %q3, %d4; isspacep.const %q4, %d6; isspacep.global %q5, %d8;
             selp.u32 %r9, 1, 0, %q1; selp.u32 %r10, 2, 0, %q2; selp.u32 %r11, 4, 0, %q3; selp.u32 %r12, 8, 0, %q4; selp.u32 %r13, 16, 0, %q5;
             or.b32 %r9, %r9, %r10; or.b32 %r9, %r9, %r11; or.b32 %r9, %r9, %r12; or.b32 %r9, %r9, %r13;
             st.global.u32 [%p0+20], %r9; ld.const.u32 %r14, [c]; st.global.u32 [%p0+24], %r14;",
        ),
        1,
        1,
        8,
    )
    .clean();
    assert_eq!(ran.out[..7], [31, 41, 12, 21, 21, 29, 11]);
}

#[test]
fn one_generic_instruction_may_reach_two_spaces() {
    let ran = run_module(
        &module(
            "",
            1,
            &format!(
                ".shared .align 4 .u32 s[32];
                 mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 4; mov.u64 %d2, s; cvta.shared.u64 %d3, %d2; add.u64 %d3, %d3, %d1;
                 add.u64 %d4, %p0, %d1; setp.lt.u32 %q1, %r1, 16; selp.b64 %d5, %d3, %d4, %q1;
                 add.u32 %r2, %r1, 100; st.u32 [%d5], %r2; ld.u32 %r10, [%d5]; {STORE}"
            ),
        ),
        1,
        32,
        32,
    )
    .clean();
    assert_eq!(ran.out, (100..132).collect::<Vec<u32>>());
    let store = ran
        .report
        .per_instruction
        .iter()
        .find(|i| i.instruction.starts_with("st.u32"))
        .unwrap()
        .counters;
    assert_eq!((store.shared_store.requests, store.global_store.requests), (1, 1));
}

#[test]
fn initialised_variables_hold_addresses() {
    let ran = run_module(
        &module(
            ".global .align 4 .u32 values[3] = {5, 6, 7};\n.global .align 8 .u64 where[2] = {values+8, generic(values)};\n",
            1,
            "ld.global.u64 %d1, [where]; ld.u32 %r1, [%d1]; ld.global.u64 %d2, [where+8]; ld.u32 %r2, [%d2];
             st.global.v2.u32 [%p0], {%r1, %r2};",
        ),
        1,
        1,
        2,
    )
    .clean();
    assert_eq!(ran.out, [7, 5]);
}

#[test]
fn module_variables_keep_their_values_between_launches() {
    let ptx = module(
        ".global .align 4 .u32 count;\n.const .align 4 .u32 step = 2;\n",
        1,
        "ld.global.u32 %r1, [count]; ld.const.u32 %r2, [step]; add.u32 %r1, %r1, %r2; st.global.u32 [count], %r1; st.global.u32 [%p0], %r1;",
    );
    let mut emulator = Emulator::load(&ptx).unwrap();
    let out = emulator.buffer(&[0u32]).unwrap();
    let launch = Launch::new("k", [1, 1, 1], [1, 1, 1]).arg(out);
    for expected in [2, 4] {
        assert!(emulator.launch(&launch).unwrap().is_clean());
        assert_eq!(emulator.read(out).unwrap(), [expected]);
    }
    let (program, memory) = emulator.parts();
    program.write_constant(memory, "step", &100u32.to_le_bytes()).unwrap();
    let (address, bytes) = program.global(memory, "count").unwrap().unwrap();
    assert_eq!(bytes, 4);
    memory.write(address, &1u32.to_le_bytes()).unwrap();
    assert!(emulator.launch(&launch).unwrap().is_clean());
    assert_eq!(emulator.read(out).unwrap(), [101]);
}

#[test]
fn kernel_parameters_may_be_structures_and_have_addresses() {
    let ptx =
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out, .param .align 8 .b8 s[16]) {
        .reg .b64 %d<9>; .reg .b32 %r<9>;
        ld.param.u64 %d1, [out]; ld.param.u32 %r1, [s+4]; mov.b64 %d2, s; ld.param.u64 %d3, [%d2+8];
        cvta.param.u64 %d4, %d2; ld.u32 %r2, [%d4];
        st.global.u32 [%d1], %r1; st.global.u32 [%d1+4], %r2; st.global.u64 [%d1+8], %d3; ret; }";
    let mut emulator = Emulator::load(ptx).unwrap();
    let out = emulator.buffer(&[0u32; 4]).unwrap();
    let bytes: Vec<u8> = [1u32, 2, 3, 4].iter().flat_map(|v| v.to_le_bytes()).collect();
    let launch = Launch::new("k", [1, 1, 1], [1, 1, 1])
        .arg(out)
        .arg(tile33_sim::Arg::Bytes(bytes));
    assert!(emulator.launch(&launch).unwrap().is_clean());
    assert_eq!(emulator.read(out).unwrap(), [2, 1, 3, 4]);
}

#[test]
fn an_access_behind_the_end_is_found_once_and_reads_zero() {
    let ran = run(
        &format!(
            "mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 4; add.u64 %d2, %p0, %d1; ld.global.u32 %r10, [%d2+128]; add.u32 %r10, %r10, 9; {STORE}"
        ),
        2,
        32,
        48,
    );
    assert_eq!(ran.kinds(), [FindingKind::OutOfBounds]);
    let f = &ran.report.findings[0];
    assert_eq!((f.site.thread, f.occurrences), ([16, 0, 0], 32));
    assert_eq!(f.address.as_ref().unwrap().to_string(), "a+192");
    assert!(f.message.contains("192 bytes"), "{}", f.message);
    assert_eq!(ran.out[31], 9);
}

#[test]
fn a_store_before_the_start_touches_nothing() {
    let ran = run(
        "mov.u32 %r1, 7; st.global.u32 [%p0+-4], %r1; st.global.u32 [%p0], %r1;",
        1,
        1,
        1,
    );
    assert_eq!(ran.kinds(), [FindingKind::OutOfBounds]);
    assert_eq!(ran.report.findings[0].address.as_ref().unwrap().to_string(), "a-4");
    assert_eq!(ran.out, [7]);
}

#[test]
fn an_address_that_is_no_multiple_of_the_width_is_misaligned() {
    let ran = run("ld.global.v2.u32 {%r1, %r2}, [%p0+4];", 1, 1, 4);
    assert_eq!(ran.kinds(), [FindingKind::Misaligned]);
    let ran = run_module(
        &module(
            "",
            1,
            ".shared .align 16 .b8 s[64]; mov.f32 %f1, 0f00000000; st.shared.f32 [s+2], %f1;",
        ),
        1,
        1,
        1,
    );
    assert_eq!(ran.kinds(), [FindingKind::Misaligned]);
    assert_eq!(ran.report.findings[0].address.as_ref().unwrap().to_string(), "s+2");
}

#[test]
fn a_freed_buffer_is_told_from_a_wrong_address() {
    let mut emulator = Emulator::load(&module("", 1, "ld.global.u32 %r1, [%p0];")).unwrap();
    let buffer = emulator.buffer(&[1u32, 2]).unwrap();
    let launch = Launch::new("k", [1, 1, 1], [1, 1, 1]).arg(buffer);
    assert!(emulator.launch(&launch).unwrap().is_clean());
    emulator.free(buffer).unwrap();
    let report = emulator.launch(&launch).unwrap();
    assert_eq!(report.findings[0].kind, FindingKind::UseAfterFree);
    let report = emulator
        .launch(&Launch::new("k", [1, 1, 1], [1, 1, 1]).pointer(0))
        .unwrap();
    assert_eq!(report.findings[0].kind, FindingKind::OutOfBounds);
}

#[test]
fn a_shared_address_used_as_a_generic_one_is_the_wrong_space() {
    let ran = run_module(
        &module(
            "",
            1,
            ".shared .align 4 .u32 tile[32]; mov.u64 %d1, tile; mov.u32 %r1, 1; st.u32 [%d1+8], %r1;",
        ),
        1,
        1,
        1,
    );
    assert_eq!(ran.kinds(), [FindingKind::AddressSpace]);
    let f = &ran.report.findings[0];
    assert!(f.message.contains("cvta.shared"), "{}", f.message);
    let ran = run_module(
        &module(
            "",
            1,
            ".shared .align 4 .u32 tile[32]; mov.u64 %d1, tile; cvta.shared.u64 %d2, %d1; ld.shared.u32 %r1, [%d2];",
        ),
        1,
        1,
        1,
    );
    assert_eq!(ran.kinds(), [FindingKind::AddressSpace]);
    let ran = run("cvta.to.shared.u64 %d1, %p0; ld.shared.u32 %r1, [%d1];", 1, 1, 1);
    assert_eq!(ran.kinds(), [FindingKind::OutOfBounds]);
    let ran = run("ld.shared.u32 %r1, [%p0];", 1, 1, 1);
    assert_eq!(ran.kinds(), [FindingKind::AddressSpace]);
}

fn dynamic(body: &str, bytes: u32, arrays: &[(&str, u32, u32)]) -> Vec<(FindingKind, String)> {
    let ptx = module(".extern .shared .align 16 .b8 pool[];\n", 1, body);
    let mut emulator = Emulator::load(&ptx).unwrap();
    let buffer = emulator.buffer(&[0u32; 64]).unwrap();
    let shared_arrays = arrays.iter().map(|(name, offset, bytes)| SharedArray {
        name: (*name).into(),
        offset: *offset,
        bytes: *bytes,
    });
    let options = Options {
        shared_arrays: shared_arrays.collect(),
        ..unchecked()
    };
    let launch = Launch::new("k", [1, 1, 1], [64, 1, 1])
        .arg(buffer)
        .dynamic_shared(bytes)
        .options(options);
    let report = emulator.launch(&launch).unwrap();
    report
        .findings
        .iter()
        .map(|f| (f.kind, f.address.as_ref().map_or(String::new(), ToString::to_string)))
        .collect()
}

const DYNAMIC: &str =
    "mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, pool; add.u32 %r4, %r3, %r2; st.shared.u32 [%r4], %r1;";

#[test]
fn bytes_given_as_elements_are_out_of_bounds() {
    assert_eq!(dynamic(DYNAMIC, 256, &[]), []);
    assert_eq!(
        dynamic(DYNAMIC, 64, &[]),
        [(FindingKind::OutOfBounds, "pool+64".into())]
    );
}

#[test]
fn the_neighbour_array_is_out_of_bounds_where_the_carve_out_is_declared() {
    // 64 elements are written to an array of 48.
    let arrays = [("keys", 0, 192), ("values", 192, 256)];
    assert_eq!(
        dynamic(DYNAMIC, 448, &arrays),
        [(FindingKind::OutOfBounds, "values+0".into())]
    );
    assert_eq!(dynamic(DYNAMIC, 448, &[("keys", 0, 256), ("values", 256, 192)]), []);
    assert_eq!(
        dynamic(DYNAMIC, 448, &[("keys", 0, 192), ("values", 256, 192)]),
        [(FindingKind::OutOfBounds, "keys+192".into())]
    );
}

#[test]
fn static_variables_come_before_dynamic_shared_memory() {
    let ran = dynamic(
        ".shared .align 4 .u32 one[3]; mov.u32 %r5, one; mov.u32 %r6, pool; sub.u32 %r7, %r6, %r5; st.global.u32 [%p0], %r7; ld.shared.u32 %r8, [%r5+-4];",
        64,
        &[],
    );
    assert_eq!(ran, [(FindingKind::OutOfBounds, "0x3fc".into())]);
}

#[test]
fn local_memory_is_each_threads_own_and_checked() {
    let ran = run(
        &format!(
            ".local .align 4 .u32 l[4]; mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 3; mul.wide.u32 %d1, %r2, 4; mov.u64 %d2, l; add.u64 %d3, %d2, %d1;
             st.local.u32 [l], 0; st.local.u32 [l+4], 0; st.local.u32 [l+8], 0; st.local.u32 [l+12], 0;
             st.local.u32 [%d3], %r1; ld.local.u32 %r10, [%d3]; {STORE}"
        ),
        1,
        64,
        64,
    )
    .clean();
    assert_eq!(ran.out, (0..64).collect::<Vec<u32>>());
    let ran = run(
        ".local .align 4 .u32 l[4]; mov.u64 %d2, l; ld.local.u32 %r1, [%d2+4];",
        1,
        1,
        1,
    );
    assert_eq!(ran.kinds(), [FindingKind::UninitializedLocal]);
    assert_eq!(ran.report.findings[0].address.as_ref().unwrap().to_string(), "l+4");
    let ran = run(
        ".local .align 4 .u32 l[4]; mov.u64 %d2, l; st.local.u32 [%d2+64], 1;",
        1,
        1,
        1,
    );
    assert_eq!(ran.kinds(), [FindingKind::OutOfBounds]);
}

#[test]
fn unwritten_shared_and_global_memory_is_found_when_it_is_read() {
    let ran = run_module(
        &module(
            "",
            1,
            ".shared .align 4 .u32 s[4]; st.shared.u32 [s], 1; ld.shared.u32 %r1, [s+4];",
        ),
        1,
        1,
        1,
    );
    assert_eq!(ran.kinds(), [FindingKind::UninitializedShared]);
    let mut emulator = Emulator::load(&module("", 1, "ld.global.u32 %r1, [%p0+4];")).unwrap();
    let buffer = emulator.uninit::<u32>(2).unwrap();
    let launch = Launch::new("k", [1, 1, 1], [1, 1, 1]).arg(buffer);
    let report = emulator.launch(&launch).unwrap();
    assert_eq!(report.findings[0].kind, FindingKind::UninitializedGlobal);
    emulator.write(buffer, &[1, 2]).unwrap();
    assert!(emulator.launch(&launch).unwrap().is_clean());
}

#[test]
fn a_load_outside_of_the_parameters_is_found() {
    for (load, kind) in [
        ("ld.param.u64 %d1, [a+8];", FindingKind::OutOfBounds),
        ("ld.param.u32 %r1, [a+6];", FindingKind::OutOfBounds),
        ("ld.param.u64 %d1, [a+-8];", FindingKind::OutOfBounds),
        ("ld.param.u64 %d1, [a+9223372036854775807];", FindingKind::OutOfBounds),
        ("ld.param.u32 %r1, [a+2];", FindingKind::Misaligned),
    ] {
        assert_eq!(run(load, 1, 32, 1).kinds(), [kind], "{load}");
    }
    run("ld.param.u32 %r1, [a+4]; ld.param.v2.u32 {%r1, %r2}, [a];", 1, 32, 1).clean();
}
