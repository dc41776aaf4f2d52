//! Broken kernels and their repaired twins: each broken one has exactly its finding, each repaired one none.
#[path = "../common/mod.rs"]
mod common;

mod asynchronous;
mod between_blocks;
mod mistakes;
mod within_block;

use common::module;
use tile33_sim::{Emulator, FindingKind, Launch, Options, Report};

/// Where a thread's word of `s` is: `%r1` the thread, `%r2` the array, `%r4` its own word, `%r5` that of the thread 32
/// further (of 64).
const PLACES: &str = "mov.u32 %r1, %tid.x; mov.u32 %r2, s; shl.b32 %r3, %r1, 2; add.u32 %r4, %r2, %r3;
    add.u32 %r6, %r1, 32; and.b32 %r6, %r6, 63; shl.b32 %r6, %r6, 2; add.u32 %r5, %r2, %r6;\n";
/// Writes `%r10` to the thread's word of the first buffer, blocks one after another.
const STORE: &str = "mov.u32 %r60, %ctaid.x; mov.u32 %r61, %ntid.x; mov.u32 %r62, %tid.x;
    mad.lo.u32 %r60, %r60, %r61, %r62; mul.wide.u32 %d60, %r60, 4; add.u64 %d61, %p0, %d60;
    st.global.u32 [%d61], %r10;\n";

/// What was found: kind, instruction, the other instruction.
type Found = Vec<(FindingKind, String, Option<String>)>;

fn found(report: &Report) -> Found {
    let all = report.findings.iter();
    all.map(|f| {
        (
            f.kind,
            f.site.instruction.clone(),
            f.other.as_ref().map(|o| o.instruction.clone()),
        )
    })
    .collect()
}

/// Runs kernel `k` with one zeroed buffer of 4096 words and one that nobody has written.
fn report(body: &str, grid: u32, block: u32, dynamic: u32) -> Report {
    let mut emulator = Emulator::load(&module(".extern .shared .align 16 .b8 dyn[];", 2, body)).unwrap();
    let buffer = emulator.buffer(&[0u32; 4096]).unwrap();
    let scratch = emulator.uninit::<u32>(4096).unwrap();
    let launch = |threads| {
        Launch::new("k", [grid, 1, 1], [block, 1, 1])
            .arg(buffer)
            .arg(scratch)
            .dynamic_shared(dynamic)
            .options(Options {
                threads: Some(threads),
                ..Options::default()
            })
    };
    let report = emulator.launch(&launch(2)).unwrap();
    // Again, on another number of threads and fresh memory: the findings are the same.
    let mut again = Emulator::load(&module(".extern .shared .align 16 .b8 dyn[];", 2, body)).unwrap();
    again.buffer(&[0u32; 4096]).unwrap();
    again.uninit::<u32>(4096).unwrap();
    assert_eq!(report.findings, again.launch(&launch(1)).unwrap().findings);
    report
}

fn run(body: &str, grid: u32, block: u32) -> Found {
    found(&report(body, grid, block, 0))
}

#[track_caller]
fn race(found: &Found, one: &str, other: &str) {
    let [(FindingKind::Race, a, Some(b))] = found.as_slice() else {
        panic!("not one race: {found:#?}")
    };
    let starts = |a: &str, b: &str| a.starts_with(one) && b.starts_with(other);
    assert!(starts(a, b) || starts(b, a), "{a} / {b}");
}

#[track_caller]
fn clean(found: &Found) {
    assert!(found.is_empty(), "{found:#?}");
}

/// The broken kernel has one race between the two instructions, and with `cure` in the place of `broken` none.
#[track_caller]
fn race_and_cure(kernel: &str, grid: u32, block: u32, broken: &str, cure: &str, one: &str, other: &str) {
    race(&run(&kernel.replace("HERE", broken), grid, block), one, other);
    clean(&run(&kernel.replace("HERE", cure), grid, block));
}
