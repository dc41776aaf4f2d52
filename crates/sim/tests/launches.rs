//! What a launch must fit, and what cannot run.
mod common;
use common::{module, try_module};
use tile33_layout::occupancy::Card;
use tile33_sim::{Arg, Emulator, Launch, LaunchError, LoadError, Options};

const PTX: &str = ".version 8.0\n.target sm_90\n.address_size 64
.visible .entry typed(.param .u64 .ptr .global .align 4 p, .param .u32 n, .param .f32 x, .param .align 4 .b8 s[12]) { ret; }
.visible .entry small() .maxntid 64, 2, 1 { ret; }
.visible .entry exact() .reqntid 32, 4, 1 { ret; }
.visible .entry many() .maxntid 1024 .maxnreg 80 { ret; }
.visible .entry tile() { .shared .align 4 .b8 t[1]; ret; }
.visible .entry huge() { .shared .align 4 .b8 t[49153]; ret; }
";

fn launch(entry: &str, block: [u32; 3]) -> Launch {
    Launch::new(entry, [1, 1, 1], block)
}

fn refused(launch: Launch) -> LaunchError {
    Emulator::load(PTX).unwrap().launch(&launch).map(|_| ()).unwrap_err()
}

fn accepted(launch: Launch) {
    Emulator::load(PTX)
        .unwrap()
        .launch(&launch)
        .map(|_| ())
        .unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn a_kernel_that_is_not_there_is_named_with_those_that_are() {
    let error = refused(launch("typd", [1, 1, 1])).to_string();
    assert!(
        error.contains("`typd`") && error.contains("`typed`, `small`"),
        "{error}"
    );
}

#[test]
fn arguments_are_checked_against_the_signature() {
    let bytes = || Arg::Bytes(vec![0; 12]);
    let typed = || launch("typed", [1, 1, 1]);
    accepted(typed().pointer(0).arg(3u32).arg(1.0f32).arg(bytes()));
    match refused(typed().pointer(0).arg(3u32).arg(1.0f32)) {
        LaunchError::ArgumentCount {
            expected: 4, given: 3, ..
        } => {}
        other => panic!("{other}"),
    }
    for (i, wrong) in [
        typed().arg(7u32).arg(3u32).arg(1.0f32).arg(bytes()),
        typed().pointer(0).arg(3u64).arg(1.0f32).arg(bytes()),
        typed().pointer(0).arg(3u32).arg(1u32).arg(bytes()),
        typed().pointer(0).arg(3u32).arg(1.0f32).arg(Arg::Bytes(vec![0; 8])),
    ]
    .into_iter()
    .enumerate()
    {
        match refused(wrong) {
            LaunchError::ArgumentType { index, .. } => assert_eq!(index, i),
            other => panic!("{other}"),
        }
    }
    let error = refused(typed().arg(7u32).arg(3u32).arg(1.0f32).arg(bytes())).to_string();
    assert_eq!(error, "argument 0 of `typed` (`p`) is a pointer, but u32 was given");
}

#[test]
fn blocks_fit_the_card_and_the_kernels_bounds() {
    accepted(launch("small", [128, 1, 1]));
    assert!(matches!(
        refused(launch("small", [129, 1, 1])),
        LaunchError::BlockThreads {
            asked: 129,
            limit: 128,
            ..
        }
    ));
    accepted(launch("exact", [32, 4, 1]));
    assert!(matches!(
        refused(launch("exact", [64, 2, 1])),
        LaunchError::RequiredThreads { .. }
    ));
    assert!(matches!(
        refused(launch("tile", [32, 33, 1])),
        LaunchError::BlockThreads {
            asked: 1056,
            limit: 1024,
            ..
        }
    ));
    assert!(matches!(
        refused(launch("tile", [1, 1, 65])),
        LaunchError::Dimension {
            axis: 'z',
            limit: 64,
            ..
        }
    ));
    assert!(matches!(
        refused(launch("tile", [0, 1, 1])),
        LaunchError::Dimension {
            axis: 'x',
            asked: 0,
            ..
        }
    ));
    let grid = |grid| Launch::new("tile", grid, [1, 1, 1]);
    assert!(matches!(
        refused(grid([1, 65_536, 1])),
        LaunchError::Dimension {
            what: "grid",
            axis: 'y',
            ..
        }
    ));
}

#[test]
fn registers_times_threads_fit_the_register_file() {
    accepted(launch("many", [640, 1, 1]));
    assert!(matches!(
        refused(launch("many", [1024, 1, 1])),
        LaunchError::Registers { registers: 80, .. }
    ));
    let options = Options {
        registers: Some(256),
        ..Options::default()
    };
    assert!(matches!(
        refused(launch("tile", [32, 1, 1]).options(options)),
        LaunchError::ThreadRegisters {
            registers: 256,
            limit: 255,
            ..
        }
    ));
}

#[test]
fn shared_memory_counts_static_and_dynamic_bytes_together() {
    for (bytes, fits) in [
        (49_151, true),
        (49_152, true),
        (49_153, true),
        (227 * 1024 - 1, true),
        (227 * 1024, false),
    ] {
        let launch = launch("tile", [1, 1, 1]).dynamic_shared(bytes);
        if fits {
            accepted(launch);
        } else {
            match refused(launch) {
                LaunchError::SharedMemory {
                    static_bytes: 1,
                    dynamic_bytes: 232_448,
                    available: 232_448,
                    ..
                } => {}
                other => panic!("{other}"),
            }
        }
    }
    let turing = Options {
        card: Card::find("T4").unwrap(),
        ..Options::default()
    };
    let error = refused(launch("tile", [1, 1, 1]).dynamic_shared(65_536).options(turing)).to_string();
    assert!(
        error.contains("65536 dynamic") && error.contains("sm_75 has 65536 bytes"),
        "{error}"
    );
    assert!(matches!(refused(launch("huge", [1, 1, 1])), LaunchError::Invalid(_)));
}

#[test]
fn an_instruction_that_is_not_emulated_ends_the_launch_that_reaches_it() {
    let ptx = module(
        "",
        1,
        "ld.global.u32 %r1, [%p0]; setp.eq.u32 %q1, %r1, 0; @%q1 bra END;\ncp.async.bulk.commit_group;\nEND:",
    );
    let mut emulator = Emulator::load(&ptx).unwrap();
    let line = ptx.lines().position(|l| l.starts_with("cp.async.bulk")).unwrap() as u32 + 1;
    for value in [0u32, 1] {
        let buffer = emulator.buffer(&[value]).unwrap();
        match (
            value,
            emulator.launch(&Launch::new("k", [1, 1, 1], [1, 1, 1]).arg(buffer)),
        ) {
            (0, Ok(report)) => assert!(report.is_clean()),
            (
                1,
                Err(LaunchError::Unsupported {
                    line: at, instruction, ..
                }),
            ) => {
                assert_eq!((at, instruction.as_str()), (line, "cp.async.bulk.commit_group"));
            }
            (_, other) => panic!("{:?}", other.map(|r| r.findings)),
        }
    }
}

#[test]
fn text_that_is_no_ptx_is_an_error_with_its_place() {
    let error = Emulator::load(".version 8.0\n.target sm_90\n.visible .entry k() { frobnicate.u32 %r1; }").unwrap_err();
    assert!(
        matches!(&error, LoadError::Parse(e) if e.to_string().contains("frobnicate")),
        "{error}"
    );
    let error =
        Emulator::load(".version 8.0\n.target sm_90\n.address_size 64\n.extern .global .align 4 .u32 elsewhere;")
            .unwrap_err();
    assert_eq!(
        error.to_string(),
        "`elsewhere` is declared .extern, and nothing defines it"
    );
}

#[test]
fn a_report_says_what_limits_the_occupancy() {
    let report = Emulator::load(PTX)
        .unwrap()
        .launch(&launch("tile", [1024, 1, 1]))
        .unwrap();
    let residency = report.residency.unwrap();
    assert_eq!(
        (
            residency.card.as_str(),
            residency.blocks_per_sm,
            residency.occupancy_percent
        ),
        ("sm_90", 2, 100)
    );
    assert_eq!(residency.limited_by, "warps");
}

#[test]
fn a_report_says_which_registers_the_kernel_declares() {
    let ptx = ".version 8.0\n.target sm_90\n.address_size 64
.visible .entry k() .maxnreg 40 { .reg .pred %p<3>; .reg .b32 %r<10>; .reg .f32 %f<4>; .reg .b64 %d<7>; .reg .v2 .b16 %h; ret; }
.visible .entry none() { ret; }";
    let mut emulator = Emulator::load(ptx).unwrap();
    let mut declared = |kernel| emulator.launch(&launch(kernel, [32, 1, 1])).unwrap().residency.unwrap();
    let residency = declared("k");
    let widths: Vec<(u32, u64)> = residency.declared_registers.iter().map(|d| (d.bits, d.count)).collect();
    assert_eq!(widths, [(1, 3), (16, 2), (32, 14), (64, 7)]);
    // They are virtual: only the real ones limit.
    assert_eq!(residency.registers, Some(40));
    assert_eq!(declared("none").declared_registers, []);
}

#[test]
fn a_trace_has_the_steps_of_one_warp() {
    let ptx = module(
        "",
        1,
        "mov.u32 %r1, %tid.x; setp.lt.u32 %q1, %r1, 34; @%q1 bra END; add.u32 %r1, %r1, 1; END:",
    );
    let options = Options {
        trace: Some((1, 1)),
        ..Options::default()
    };
    let ran = try_module(&ptx, 2, 64, 1, options).unwrap();
    let steps: Vec<(&str, u32)> = ran
        .report
        .trace
        .iter()
        .map(|s| (s.instruction.as_str(), s.active))
        .collect();
    let head = [
        ("mov.u32 %r1, %tid.x", u32::MAX),
        ("setp.lt.u32 %q1, %r1, 34", u32::MAX),
        ("@%q1 bra END", 3),
        ("add.u32 %r1, %r1, 1", !3),
    ];
    assert_eq!(steps[1..5], head);
    assert_eq!(steps[5].0, "ret");
}

/// Runs a kernel `k` without parameters, after `before`.
fn refused_alone(before: &str, body: &str) -> LaunchError {
    let ptx = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n{before}\n.visible .entry k() {{ .reg .b32 %r<4>; {body} ret; }}"
    );
    let launched = Emulator::load(&ptx).unwrap().launch(&launch("k", [32, 1, 1]));
    launched.map(|_| ()).unwrap_err()
}

#[test]
fn variables_that_no_card_has_room_for_are_refused_before_the_launch() {
    for (before, body, says) in [
        (
            ".const .b8 c[65537];",
            "ld.const.u32 %r1, [c];",
            "65537 bytes of .const variables",
        ),
        (
            ".const .b8 c[1099511627776];",
            "",
            "1099511627776 bytes of .const variables",
        ),
        (
            "",
            ".local .b8 l[524289]; st.local.u8 [l], 1;",
            "524304 bytes of local variables",
        ),
        (
            "",
            ".local .b8 l[1099511627776]; st.local.u8 [l], 1;",
            "at least 4294967295 bytes of local variables",
        ),
        (
            "",
            "{ .param .b8 p[1073741824]; }",
            "1073741824 bytes of local variables",
        ),
    ] {
        match refused_alone(before, body) {
            LaunchError::Invalid(message) => assert!(message.contains(says), "{message}"),
            other => panic!("{other}"),
        }
    }
    let huge = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .b8 p[32768]) { ret; }";
    let launched = Emulator::load(huge)
        .unwrap()
        .launch(&launch("k", [1, 1, 1]).arg(Arg::Bytes(vec![0; 32768])));
    assert!(
        matches!(&launched, Err(LaunchError::Invalid(message)) if message.contains("32768 bytes of parameters")),
        "{:?}",
        launched.map(|r| r.findings)
    );
}

#[test]
fn bounds_beyond_any_block_are_no_bounds() {
    let ptx = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() .maxntid {0}, {0}, {0} {{ ret; }}",
        u32::MAX
    );
    let mut emulator = Emulator::load(&ptx).unwrap();
    assert!(emulator.launch(&launch("k", [1024, 1, 1])).unwrap().is_clean());
}

#[test]
fn more_blocks_than_can_be_counted_are_refused() {
    match refused(Launch::new("tile", [1 << 30, 4, 1], [1, 1, 1])) {
        LaunchError::Invalid(message) => assert!(message.contains("4294967296 blocks"), "{message}"),
        other => panic!("{other}"),
    }
}
