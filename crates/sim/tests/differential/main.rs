//! The emulator against a card: every register-only instruction, as `cargo xtask-gpu differential --record` has noted it down.
//!
//! A recorded line is a hash of an exact case's results, or some of an approximation's results.

mod cases;
mod compare;
mod module;
#[path = "../support/operands.rs"]
mod operands;

use std::collections::HashMap;

use cases::{Closeness, Group};
use tile33_sim::{Emulator, Launch, Options};

const PTX: &str = include_str!("alu.ptx");
const RECORDED: &str = include_str!("h200.txt");

/// What was recorded, by group and code.
fn recorded() -> HashMap<String, Vec<u64>> {
    let mut lines = HashMap::new();
    for line in RECORDED.lines().filter(|line| !line.starts_with('#')) {
        let (numbers, case) = line.split_once(" | ").expect("numbers and a case");
        let numbers = numbers
            .split(' ')
            .map(|n| u64::from_str_radix(n, 16).expect("a number"))
            .collect();
        lines.insert(case.to_owned(), numbers);
    }
    lines
}

fn run(emulator: &mut Emulator, group: &Group, data: &[u8]) -> Vec<u8> {
    let operands = emulator.buffer(data).expect("memory");
    let results = emulator
        .buffer(&vec![0u8; module::result_bytes(group)])
        .expect("memory");
    let launch = Launch {
        entry: group.name.clone(),
        grid: [module::ROWS as u32 / module::BLOCK, 1, 1],
        block: [module::BLOCK, 1, 1],
        dynamic_shared: 0,
        args: vec![operands.into(), results.into()],
        options: Options::default(),
    };
    let report = emulator
        .launch(&launch)
        .unwrap_or_else(|error| panic!("{}: {error}", group.name));
    assert!(report.findings.is_empty(), "{}: {}", group.name, report.findings[0]);
    emulator.read(results).expect("memory")
}

#[test]
fn the_checked_in_module_is_what_the_cases_give() {
    assert!(
        PTX == module::ptx(&cases::groups()),
        "run `cargo xtask-gpu differential --write`"
    );
}

#[test]
fn every_case_gives_the_cards_bits_or_is_as_close_as_the_manual_says() {
    let recorded = recorded();
    let mut emulator = Emulator::load(PTX).expect("the module is PTX");
    let mut different = Vec::new();
    let mut cases = 0;
    for group in cases::groups() {
        let operands = module::operands(&group);
        let results = run(&mut emulator, &group, &operands);
        for (case, results) in group.cases.iter().zip(results.chunks(module::case_bytes(&group))) {
            cases += 1;
            let name = format!("{} {}", group.name, case.code);
            let Some(card) = recorded.get(&name) else {
                different.push(format!("{name}: nothing recorded"));
                continue;
            };
            match case.closeness {
                Closeness::Exact if card[0] != compare::hash(results) => different.push(name),
                Closeness::Exact => {}
                Closeness::Within { .. } => {
                    assert_eq!(card.len(), module::sampled().count());
                    for (i, card) in module::sampled().zip(card) {
                        let (x, y) = (
                            module::operand_row(&group, &operands, i),
                            module::row(&group, results, i),
                        );
                        if !compare::agree(case, &x, &[*card], &y) {
                            different.push(format!("{name} of {x:x?}: card {card:x}, emulator {y:x?}"));
                        }
                    }
                }
            }
        }
    }
    assert_eq!(recorded.len(), cases, "a recorded line for each case");
    assert!(
        different.is_empty(),
        "{} differences:\n{}",
        different.len(),
        different.join("\n")
    );
}
