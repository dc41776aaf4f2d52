//! `cargo xtask-gpu differential`: every register-only instruction on the GPU and on the emulator.
//!
//! The module, its operands and what may differ are those of the emulator's own test, which holds the emulator to what
//! this command has recorded from a card.

#[path = "../../../crates/sim/tests/differential/cases/mod.rs"]
mod cases;
#[path = "../../../crates/sim/tests/differential/compare.rs"]
pub(crate) mod compare;
#[path = "../../../crates/sim/tests/differential/module.rs"]
mod module;
#[path = "../../../crates/sim/tests/support/operands.rs"]
mod operands;

use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use tile33_host::{Device, LaunchConfig, args};

use cases::{Closeness, Group};

/// Where the module and the recorded results are.
const FOLDER: &str = "crates/sim/tests/differential";

/// Runs every register-only instruction on the CUDA device and on the emulator, and compares.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Write the module anew and stop; needs no device.
    #[arg(long)]
    write: bool,
    /// Write down a hash of the device's results, for the emulator's test.
    #[arg(long)]
    record: bool,
    /// Write the device's raw results to this file, group after group.
    #[arg(long)]
    dump: Option<PathBuf>,
    /// Compare the emulator with raw results from this file instead of with a device.
    #[arg(long, conflicts_with = "dump")]
    against: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let folder = crate::root().join(FOLDER);
    let groups = cases::groups();
    let text = module::ptx(&groups);
    if args.write {
        fs::write(folder.join("alu.ptx"), text)?;
        return Ok(());
    }
    let device = match &args.against {
        Some(path) => split(&groups, &fs::read(path)?),
        None => on(&Device::cuda(0)?, &text, &groups)?,
    };
    if let Some(path) = &args.dump {
        fs::write(path, device.concat())?;
    }
    if args.record {
        fs::write(folder.join("h200.txt"), record(&groups, &device)?)?;
    }
    let emulator = on(&Device::emulator(), &text, &groups)?;
    let mut different = 0;
    for ((group, device), emulator) in groups.iter().zip(&device).zip(&emulator) {
        let operands = module::operands(group);
        let bytes = module::case_bytes(group);
        let results = device.chunks(bytes).zip(emulator.chunks(bytes));
        for (case, (device, emulator)) in group.cases.iter().zip(results) {
            let row = |i| {
                let [device, emulator] = [device, emulator].map(|results| module::row(group, results, i));
                (module::operand_row(group, &operands, i), device, emulator)
            };
            let mut rows = (0..module::ROWS)
                .map(row)
                .filter(|(x, d, e)| !compare::agree(case, x, d, e));
            let Some((x, d, e)) = rows.next() else {
                continue;
            };
            different += 1;
            println!(
                "{}: {} rows differ, first of {x:x?}: device {d:x?}, emulator {e:x?}",
                case.code,
                1 + rows.count()
            );
        }
    }
    let cases: usize = groups.iter().map(|group| group.cases.len()).sum();
    println!(
        "{} of {cases} cases agree on {} rows of operands each",
        cases - different,
        module::ROWS
    );
    if different == 0 {
        Ok(())
    } else {
        Err(format!("{different} cases differ").into())
    }
}

/// Runs every group; each one's results.
fn on(device: &Device, text: &str, groups: &[Group]) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    let loaded = device.load(text)?;
    let config = LaunchConfig::new(module::ROWS as u32 / module::BLOCK, module::BLOCK);
    let mut all = Vec::new();
    for group in groups {
        let kernel = loaded.kernel(&group.name)?;
        let operands = device.upload(&module::operands(group))?;
        let mut results = device.zeros::<u8>(module::result_bytes(group))?;
        // SAFETY: the kernel reads and writes one row for each of `ROWS` threads, and the buffers have that many.
        unsafe { kernel.launch(&config, args![&operands, &mut results]) }?;
        all.push(results.to_vec()?);
    }
    Ok(all)
}

/// Raw results, group by group.
fn split(groups: &[Group], mut raw: &[u8]) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for group in groups {
        let (mine, rest) = raw.split_at(module::result_bytes(group).min(raw.len()));
        all.push(mine.to_vec());
        raw = rest;
    }
    all
}

/// A line for each case: a hash of its results, or some of them where they need not be exact; then group and code.
fn record(groups: &[Group], results: &[Vec<u8>]) -> Result<String, std::fmt::Error> {
    let mut text = String::from(
        "# An H200's results, by `cargo xtask-gpu differential --record`: FNV-1a of an exact case's, some of an approximation's\n",
    );
    for (group, results) in groups.iter().zip(results) {
        for (case, bytes) in group.cases.iter().zip(results.chunks(module::case_bytes(group))) {
            match case.closeness {
                Closeness::Exact => write!(text, "{:016x}", compare::hash(bytes))?,
                Closeness::Within { .. } => {
                    let some: Vec<String> = module::sampled()
                        .map(|i| format!("{:x}", module::row(group, bytes, i)[0]))
                        .collect();
                    text.push_str(&some.join(" "));
                }
            }
            writeln!(text, " | {} {}", group.name, case.code)?;
        }
    }
    Ok(text)
}
