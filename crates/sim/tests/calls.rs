//! Functions: parameters, recursion, indirect calls, and the device runtime's own.
mod common;
use common::{module, run_module, try_module};
use tile33_sim::{Emulator, FindingKind, Launch, LaunchError, Options};

const STORE: &str =
    "mov.u32 %r60, %tid.x; mul.wide.u32 %d60, %r60, 4; add.u64 %d61, %p0, %d60; st.global.u32 [%d61], %r10;";

const SQUARE: &str = ".func (.param .b32 ret) square(.param .b32 x)
{ .reg .b32 %a<4>; ld.param.u32 %a1, [x]; mul.lo.u32 %a2, %a1, %a1; st.param.u32 [ret], %a2; ret; }
.func (.param .b32 ret) triple(.param .b32 x)
{ .reg .b32 %a<4>; ld.param.u32 %a1, [x]; mul.lo.u32 %a2, %a1, 3; st.param.u32 [ret], %a2; ret; }
";

#[test]
fn a_call_passes_parameters_and_returns_a_value() {
    let ran = run_module(
        &module(
            SQUARE,
            1,
            &format!(
                "mov.u32 %r1, %tid.x;
                 {{ .param .b32 in; .param .b32 out; st.param.b32 [in], %r1; call.uni (out), square, (in); ld.param.b32 %r10, [out]; }}
                 {STORE}"
            ),
        ),
        1,
        32,
        32,
    )
    .clean();
    assert_eq!(ran.out, (0..32).map(|t| t * t).collect::<Vec<u32>>());
}

#[test]
fn a_call_in_a_divergent_branch_concerns_its_lanes_only() {
    let ran = run_module(
        &module(
            SQUARE,
            1,
            &format!(
                "mov.u32 %r1, %tid.x; mov.u32 %r10, 7; and.b32 %r2, %r1, 1; setp.eq.u32 %q1, %r2, 1; @%q1 bra ODD;
                 {{ .param .b32 in; .param .b32 out; st.param.b32 [in], %r1; call.uni (out), square, (in); ld.param.b32 %r10, [out]; }}
                 ODD: {STORE}"
            ),
        ),
        1,
        32,
        32,
    )
    .clean();
    assert_eq!(
        ran.out,
        (0..32)
            .map(|t| if t % 2 == 1 { 7 } else { t * t })
            .collect::<Vec<u32>>()
    );
}

#[test]
fn recursion_keeps_each_calls_registers_and_variables() {
    let fib = ".func (.param .b32 ret) fib(.param .b32 n)
{
 .reg .pred %q<2>; .reg .b32 %a<9>; .local .align 4 .b32 keep[1];
 ld.param.u32 %a1, [n]; mov.u32 %a2, %a1; setp.lt.u32 %q1, %a1, 2; @%q1 bra DONE;
 sub.u32 %a3, %a1, 1;
 { .param .b32 in; .param .b32 out; st.param.b32 [in], %a3; call.uni (out), fib, (in); ld.param.b32 %a4, [out]; }
 st.local.u32 [keep], %a4;
 sub.u32 %a5, %a1, 2;
 { .param .b32 in; .param .b32 out; st.param.b32 [in], %a5; call.uni (out), fib, (in); ld.param.b32 %a6, [out]; }
 ld.local.u32 %a7, [keep];
 add.u32 %a2, %a7, %a6;
 DONE: st.param.u32 [ret], %a2; ret;
}
";
    let ran = run_module(
        &module(
            fib,
            1,
            &format!(
                "mov.u32 %r1, %tid.x; and.b32 %r1, %r1, 15;
                 {{ .param .b32 in; .param .b32 out; st.param.b32 [in], %r1; call.uni (out), fib, (in); ld.param.b32 %r10, [out]; }}
                 {STORE}"
            ),
        ),
        1,
        32,
        32,
    )
    .clean();
    let mut fib = vec![0u32, 1];
    for i in 2..16 {
        fib.push(fib[i - 1] + fib[i - 2]);
    }
    assert_eq!(ran.out, (0..32).map(|t| fib[t % 16]).collect::<Vec<u32>>());
}

#[test]
fn recursion_without_end_is_an_error() {
    let forever = ".func again() { call.uni again; ret; }\n";
    match try_module(&module(forever, 1, "call.uni again;"), 1, 1, 1, Options::default()) {
        Err(LaunchError::Fault { message, .. }) => assert!(message.contains("too deeply"), "{message}"),
        other => panic!("{:?}", other.map(|r| r.report.findings)),
    }
}

#[test]
fn an_indirect_call_goes_where_each_lane_says() {
    let ran = run_module(
        &module(
            &format!("{SQUARE}.global .align 8 .u64 table[2] = {{square, triple}};\n"),
            1,
            &format!(
                "mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 1; mul.wide.u32 %d1, %r2, 8; mov.u64 %d2, table; add.u64 %d3, %d1, %d2;
                 ld.global.u64 %d4, [%d3];
                 {{ .param .b32 in; .param .b32 out; st.param.b32 [in], %r1;
                 proto : .callprototype (.param .b32 _) _ (.param .b32 _);
                 call (out), %d4, (in), proto; ld.param.b32 %r10, [out]; }}
                 {STORE}"
            ),
        ),
        1,
        32,
        32,
    )
    .clean();
    assert_eq!(
        ran.out,
        (0..32)
            .map(|t| if t % 2 == 0 { t * t } else { 3 * t })
            .collect::<Vec<u32>>()
    );
}

#[test]
fn a_call_of_what_is_no_function_is_an_error() {
    let ptx = module(
        SQUARE,
        1,
        "mov.u64 %d4, 12345; { .param .b32 in; .param .b32 out; st.param.b32 [in], 1;
         proto : .callprototype (.param .b32 _) _ (.param .b32 _); call (out), %d4, (in), proto; }",
    );
    assert!(matches!(
        try_module(&ptx, 1, 1, 1, Options::default()),
        Err(LaunchError::Fault { .. })
    ));
}

#[test]
fn register_parameters_and_constants_are_passed() {
    let f = ".func (.reg .u32 %out) axpy(.reg .u32 %x, .reg .u32 %y) { mad.lo.u32 %out, %x, 10, %y; ret; }\n";
    let ran = run_module(
        &module(
            f,
            1,
            &format!("mov.u32 %r1, %tid.x; call.uni (%r10), axpy, (%r1, 5); {STORE}"),
        ),
        1,
        32,
        32,
    )
    .clean();
    assert_eq!(ran.out, (0..32).map(|t| 10 * t + 5).collect::<Vec<u32>>());
}

#[test]
fn structures_are_passed_by_value_and_variables_by_address() {
    let f = ".func (.param .align 16 .b8 ret[16]) swap(.param .align 16 .b8 pair[16], .param .b64 where)
{ .reg .b64 %a<6>;
 ld.param.v2.u64 {%a1, %a2}, [pair]; ld.param.u64 %a3, [where]; st.u64 [%a3], %a1;
 st.param.u64 [ret], %a2; st.param.u64 [ret+8], %a1; ret; }
";
    let ran = run_module(
        &module(
            f,
            1,
            &format!(
                ".local .align 8 .b8 depot[8];
                 mov.u32 %r1, %tid.x; cvt.u64.u32 %d1, %r1; mov.u64 %d2, 1000;
                 mov.u64 %d3, depot; cvta.local.u64 %d4, %d3;
                 {{ .param .align 16 .b8 in[16]; .param .b64 at; .param .align 16 .b8 out[16];
                 st.param.v2.b64 [in], {{%d1, %d2}}; st.param.b64 [at], %d4; call.uni (out), swap, (in, at);
                 ld.param.v2.b64 {{%d5, %d6}}, [out]; }}
                 ld.local.u64 %d7, [depot];
                 add.u64 %d8, %d5, %d6; add.u64 %d8, %d8, %d7; cvt.u32.u64 %r10, %d8; {STORE}"
            ),
        ),
        1,
        32,
        32,
    )
    .clean();
    assert_eq!(ran.out, (0..32).map(|t| 1000 + 2 * t).collect::<Vec<u32>>());
}

const PRINTF: &str = ".extern .func (.param .b32 ret) vprintf(.param .b64 format, .param .b64 args);\n";

#[test]
fn printf_prints_block_after_block_and_lane_after_lane() {
    let ran = run_module(
        &module(
            &format!("{PRINTF}.global .align 1 .b8 fmt[28] = {{37, 117, 47, 37, 100, 32, 37, 46, 50, 102, 32, 37, 115, 32, 37, 99, 10, 0}};\n.global .align 1 .b8 word[3] = {{111, 107, 0}};\n"),
            1,
            ".local .align 8 .b8 args[40];
             mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; neg.s32 %r3, %r1; cvt.rn.f64.u32 %g1, %r1; mul.f64 %g1, %g1, 0d3FD0000000000000;
             st.local.u32 [args], %r2; st.local.u32 [args+4], %r3; st.local.f64 [args+8], %g1;
             mov.u64 %d1, word; cvta.global.u64 %d2, %d1; st.local.u64 [args+16], %d2; mov.u32 %r4, 120; st.local.u32 [args+24], %r4;
             mov.u64 %d3, fmt; cvta.global.u64 %d4, %d3; mov.u64 %d5, args; cvta.local.u64 %d6, %d5;
             { .param .b64 f; .param .b64 v; .param .b32 out; st.param.b64 [f], %d4; st.param.b64 [v], %d6; call.uni (out), vprintf, (f, v); ld.param.b32 %r9, [out]; }",
        ),
        2,
        2,
        1,
    )
    .clean();
    let text = String::from_utf8(ran.report.output).unwrap();
    assert_eq!(text, "0/0 0.00 ok x\n0/-1 0.25 ok x\n1/0 0.00 ok x\n1/-1 0.25 ok x\n");
}

const HEAP: &str = ".extern .func (.param .b64 ret) malloc(.param .b64 size);\n.extern .func free(.param .b64 p);\n";

#[test]
fn the_device_heap_gives_memory_of_ones_own_until_it_is_freed() {
    let body = |rest: &str| {
        format!(
            "mov.u32 %r1, %tid.x; mov.u64 %d1, 16;
             {{ .param .b64 n; .param .b64 out; st.param.b64 [n], %d1; call.uni (out), malloc, (n); ld.param.b64 %d2, [out]; }}
             st.u32 [%d2+12], %r1; ld.u32 %r10, [%d2+12]; {STORE}
             {{ .param .b64 p; st.param.b64 [p], %d2; call.uni free, (p); }} {rest}"
        )
    };
    let ran = run_module(&module(HEAP, 1, &body("")), 1, 64, 64).clean();
    assert_eq!(ran.out, (0..64).collect::<Vec<u32>>());
    let ran = run_module(&module(HEAP, 1, &body("ld.u32 %r10, [%d2];")), 1, 32, 32);
    assert_eq!(ran.kinds(), [FindingKind::UseAfterFree]);
    let ran = run_module(&module(HEAP, 1, &body("").replace("+12", "+16")), 1, 32, 32);
    assert_eq!(ran.kinds(), [FindingKind::OutOfBounds, FindingKind::OutOfBounds]);
}

#[test]
fn a_failed_assertion_says_what_and_where() {
    let declaration =
        ".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 fn, .param .b64 c);
.global .align 1 .b8 text[6] = {97, 32, 62, 32, 98, 0};\n";
    let ran = run_module(
        &module(
            declaration,
            1,
            "mov.u64 %d1, text; cvta.global.u64 %d2, %d1; mov.u32 %r1, 17; mov.u64 %d3, 1;
             { .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 n; .param .b64 c;
             st.param.b64 [m], %d2; st.param.b64 [f], %d2; st.param.b32 [l], %r1; st.param.b64 [n], %d2; st.param.b64 [c], %d3;
             call.uni __assertfail, (m, f, l, n, c); }",
        ),
        1,
        1,
        1,
    );
    assert_eq!(ran.kinds(), [FindingKind::Trap]);
    assert!(
        ran.report.findings[0].message.contains("assertion `a > b` failed"),
        "{}",
        ran.report.findings[0].message
    );
}

/// `make` leaves the address of 16 bytes from the device's heap in the first buffer, `use` adds up two words of them.
fn across_launches() -> String {
    let text = module(
        HEAP,
        1,
        "mov.u64 %d1, 16;
         { .param .b64 n; .param .b64 out; st.param.b64 [n], %d1; call.uni (out), malloc, (n); ld.param.b64 %d2, [out]; }
         mov.u32 %r1, 41; st.u32 [%d2+4], %r1; st.global.u64 [%p0], %d2;",
    );
    let header = text.find(".visible").unwrap();
    let later = text[header..].replace("k(", "later(");
    let body = later.find("mov.u64 %d1, 16;").unwrap();
    let end = later.rfind("ret;").unwrap();
    format!(
        "{text}{}ld.global.u64 %d2, [%p0]; ld.u32 %r1, [%d2+4]; ld.u32 %r2, [%d2+8]; add.u32 %r3, %r1, 1;
         st.u32 [%d2+8], %r3; ld.u32 %r4, [%d2+8]; st.global.u32 [%p0], %r4; {}",
        &later[..body],
        &later[end..]
    )
}

#[test]
fn the_device_heap_outlives_a_launch() {
    let mut emulator = Emulator::load(&across_launches()).unwrap();
    let buffer = emulator.buffer(&[0u32; 2]).unwrap();
    for kernel in ["k", "later"] {
        let report = emulator
            .launch(&Launch::new(kernel, [1, 1, 1], [1, 1, 1]).arg(buffer))
            .unwrap();
        // What an earlier launch left unwritten is not known, and so never reported.
        assert!(report.is_clean(), "{:#?}", report.findings);
    }
    assert_eq!(emulator.read(buffer).unwrap()[0], 42);
}

#[test]
fn what_malloc_gives_is_unwritten() {
    let body = |write: &str| {
        format!(
            "mov.u32 %r1, %tid.x; mov.u64 %d1, 16;
             {{ .param .b64 n; .param .b64 out; st.param.b64 [n], %d1; call.uni (out), malloc, (n); ld.param.b64 %d2, [out]; }}
             {write} ld.u32 %r10, [%d2+8]; {STORE}"
        )
    };
    let ran = run_module(&module(HEAP, 1, &body("st.u32 [%d2+4], %r1;")), 1, 32, 32);
    assert_eq!(ran.kinds(), [FindingKind::UninitializedGlobal]);
    let finding = &ran.report.findings[0];
    assert_eq!(
        (finding.occurrences, finding.address.as_ref().unwrap().offset),
        (32, 8),
        "{finding:#?}"
    );
    run_module(&module(HEAP, 1, &body("st.u32 [%d2+8], %r1;")), 1, 32, 32).clean();
}

#[test]
fn an_access_behind_what_malloc_gave_names_it() {
    let body = format!(
        "mov.u64 %d1, 16;
         {{ .param .b64 n; .param .b64 out; st.param.b64 [n], %d1; call.uni (out), malloc, (n); ld.param.b64 %d2, [out]; }}
         st.u32 [%d2+16], 1; mov.u32 %r10, 0; {STORE}"
    );
    let globals = format!("{HEAP}.global .align 1 .b8 format[11];\n");
    let ran = run_module(&module(&globals, 1, &body), 1, 1, 1);
    assert_eq!(ran.kinds(), [FindingKind::OutOfBounds]);
    let finding = &ran.report.findings[0];
    assert_eq!(
        finding.address.as_ref().unwrap().symbol.as_deref(),
        Some("malloc#0"),
        "{finding:#?}"
    );
    assert_eq!(finding.address.as_ref().unwrap().offset, 16);
    assert!(finding.message.contains("malloc#0 has 16 bytes"), "{}", finding.message);
}

#[test]
fn a_parameter_of_another_size_and_a_call_of_a_kernel_are_refused() {
    let refused = |before: &str, body: &str| match try_module(&module(before, 1, body), 1, 1, 1, Options::default()) {
        Err(LaunchError::Unsupported { reason, .. }) => reason,
        other => panic!("{:?}", other.map(|r| r.report.findings)),
    };
    let call = "{ .param .b64 in; .param .b32 out; st.param.b64 [in], 1; call.uni (out), square, (in); }";
    assert_eq!(refused(SQUARE, call), "`in` has 8 bytes where the function has 4");
    let call = call
        .replace(".param .b64 in", ".param .b32 in")
        .replace("st.param.b64", "st.param.b32");
    let call = call.replace(".param .b32 out", ".param .b8 out[16]");
    assert_eq!(refused(SQUARE, &call), "`out` has 16 bytes where the function has 4");
    assert_eq!(
        refused(".visible .entry other() { ret; }", "call.uni other;"),
        "`other` is a kernel, which can be launched but not called"
    );
}
