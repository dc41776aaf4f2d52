//! The emulator counts what the hardware counts: every measured access, run as a kernel, gives the measured number.
use std::collections::BTreeMap;

use tile33_sim::{Checks, Counters, Emulator, Launch, Options};

const GROUND_TRUTH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../layout/tests/ground-truth/");

#[derive(serde::Deserialize)]
struct Measured {
    space: String,
    op: String,
    width: u32,
    mask: String,
    addrs: Vec<u64>,
    wavefronts: Option<u64>,
    sectors: Option<u64>,
    name: String,
}

/// One access by one warp: lane l uses the address in `where[l]` if bit l of `mask` is set.
fn kernel(space: &str, op: &str, width: u32) -> String {
    let (value, access) = match (op, width) {
        ("ld", 1) => ("", format!("ld.{space}.u8 %h1, [%d5]")),
        ("ld", 2) => ("", format!("ld.{space}.u16 %h1, [%d5]")),
        ("ld", 4) => ("", format!("ld.{space}.u32 %r5, [%d5]")),
        ("ld", 8) => ("", format!("ld.{space}.u64 %d6, [%d5]")),
        ("ld", _) => ("", format!("ld.{space}.v4.u32 {{%r5, %r6, %r7, %r8}}, [%d5]")),
        ("st", 1) => ("", format!("st.{space}.u8 [%d5], %h1")),
        ("st", 2) => ("", format!("st.{space}.u16 [%d5], %h1")),
        ("st", 4) => ("", format!("st.{space}.u32 [%d5], %r5")),
        ("st", 8) => ("", format!("st.{space}.u64 [%d5], %d6")),
        ("st", _) => ("", format!("st.{space}.v4.u32 [%d5], {{%r5, %r6, %r7, %r8}}")),
        // A result that somebody reads, or it would be a `red`.
        ("atom", 4) => ("add.u32 %r9, %r9, %r5;", format!("atom.{space}.add.u32 %r5, [%d5], 1")),
        ("atom" | "exch", 8) => (
            "add.u64 %d7, %d7, %d6;",
            format!("atom.{space}.exch.b64 %d6, [%d5], %d7"),
        ),
        ("exch", _) => ("add.u32 %r9, %r9, %r5;", format!("atom.{space}.exch.b32 %r5, [%d5], 1")),
        ("red", 4) => ("", format!("red.{space}.add.u32 [%d5], 1")),
        ("red", _) => ("", format!("red.{space}.add.u64 [%d5], %d7")),
        ("cas", 4) => (
            "add.u32 %r9, %r9, %r5;",
            format!("atom.{space}.cas.b32 %r5, [%d5], 0, 1"),
        ),
        ("cas", 8) => (
            "add.u64 %d7, %d7, %d6;",
            format!("atom.{space}.cas.b64 %d6, [%d5], %d7, %d7"),
        ),
        other => panic!("no kernel for {other:?}"),
    };
    let base = if space == "shared" {
        "mov.u64 %d4, pool;"
    } else {
        "ld.param.u64 %d4, [data];"
    };
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.extern .shared .align 128 .b8 pool[];
.visible .entry k(.param .u64 where, .param .u64 data, .param .u32 mask) {{
.reg .pred %q<4>; .reg .b16 %h<4>; .reg .b32 %r<16>; .reg .b64 %d<16>;
ld.param.u64 %d1, [where]; ld.param.u32 %r1, [mask]; mov.u32 %r2, %tid.x; mul.wide.u32 %d2, %r2, 8; add.u64 %d3, %d1, %d2;
{base} ld.global.u64 %d5, [%d3]; add.u64 %d5, %d5, %d4; shr.u32 %r3, %r1, %r2; and.b32 %r3, %r3, 1; setp.eq.u32 %q1, %r3, 1;
@%q1 {access};
{value}
ret; }}\n
"
    )
}

fn check(file: &str) {
    let text = std::fs::read_to_string(format!("{GROUND_TRUTH}{file}")).expect("the measurements");
    let mut emulators: BTreeMap<(String, String, u32), (Emulator, tile33_sim::Buffer<u8>)> = BTreeMap::new();
    let mut lines = 0;
    for line in text.lines().filter(|l| !l.trim().is_empty()) {
        let m: Measured = serde_json::from_str(line).expect("a measurement");
        let (emulator, data) = emulators
            .entry((m.space.clone(), m.op.clone(), m.width))
            .or_insert_with(|| {
                let mut emulator = Emulator::load(&kernel(&m.space, &m.op, m.width)).expect("PTX");
                let data = emulator.buffer(&vec![0u8; 1 << 20]).expect("memory");
                (emulator, data)
            });
        let mask = u32::from_str_radix(m.mask.trim_start_matches("0x"), 16).expect("a mask");
        // Buffers are aligned to 256 bytes and shared memory to 128, as what was measured.
        let addresses = emulator.buffer(&m.addrs).expect("memory");
        let options = Options {
            checks: Checks::NONE,
            threads: Some(1),
            ..Options::default()
        };
        let launch = Launch::new("k", [1, 1, 1], [32, 1, 1])
            .arg(addresses)
            .arg(*data)
            .arg(mask)
            .dynamic_shared(160 * 1024)
            .options(options);
        let report = emulator.launch(&launch).expect("a launch");
        emulator.free(addresses).expect("memory");
        assert!(report.is_clean(), "{}: {:?}", m.name, report.findings);
        let access = report
            .per_instruction
            .iter()
            .find(|i| i.instruction.starts_with('@'))
            .expect("the access");
        let Counters {
            shared_load,
            shared_store,
            shared_atomic,
            global_load,
            global_store,
            global_atomic,
            ..
        } = access.counters;
        let (got, measured) = match m.space.as_str() {
            "shared" => (
                shared_load.wavefronts + shared_store.wavefronts + shared_atomic.wavefronts,
                m.wavefronts,
            ),
            _ => (
                global_load.sectors + global_store.sectors + global_atomic.sectors,
                m.sectors,
            ),
        };
        assert_eq!(Some(got), measured, "{}", m.name);
        lines += 1;
    }
    assert!(lines > 100, "{lines} measurements");
}

#[test]
fn shared_wavefronts_are_those_of_the_hardware() {
    check("shared-wavefronts.jsonl");
}

#[test]
fn global_sectors_are_those_of_the_hardware() {
    check("global-sectors.jsonl");
}
