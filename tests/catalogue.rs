//! Every step of the catalogue, on the emulator with all checks and on a GPU where there is one: right for every size, nothing found, and as expensive as
//! it claims to be.

mod common;

use std::collections::BTreeSet;

use common::devices;
use proptest::prelude::*;
use tile33::catalogue::{CatalogueError, Kind, Step, steps};
use tile33::{Device, Kernels};

fn kernels() -> Kernels {
    Kernels::new(&Device::emulator())
}

/// Launches the step on an input of this size; what is wrong, if anything.
fn wrong(step: &Step, kernels: &Kernels, size: &[usize], seed: u64) -> Option<String> {
    let mut trial = step.prepare(kernels, size, seed).unwrap();
    let launches = trial.launch().unwrap();
    let finding = launches.iter().find_map(|launched| launched.finding());
    let problem = finding.or_else(|| trial.difference().unwrap())?;
    Some(format!("{} of {size:?}: {problem}", step.entry))
}

#[test]
fn every_step_is_right_at_every_edge() {
    for device in devices() {
        let kernels = Kernels::new(&device);
        let wrong: Vec<String> = steps()
            .iter()
            .flat_map(|step| step.edge_sizes.iter().filter_map(|size| wrong(step, &kernels, size, 1)))
            .collect();
        assert!(wrong.is_empty(), "on {device}: {}", wrong.join("\n"));
    }
}

#[test]
fn every_step_costs_what_it_claims() {
    let kernels = kernels();
    let mut wrong = Vec::new();
    let claims = steps()
        .into_iter()
        .flat_map(|step| step.claims.clone().into_iter().map(move |claim| (step.clone(), claim)));
    for (step, claim) in claims {
        let mut trial = claim.prepare(&kernels).unwrap();
        let launches = trial.launch().unwrap();
        let counters = launches[0].counters().unwrap();
        for kind in Kind::ALL {
            let (claimed, counted) = (claim.total(kind), kind.counted(counters));
            if claimed != counted {
                wrong.push(format!(
                    "{}, {}s of {}: {} requests of {} in all are claimed, {} of {} were counted",
                    step.entry, kind, claim.input, claimed.0, claimed.1, counted.0, counted.1
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Arrays that a kernel indexes with a number known only at run time, and registers that the compiler gives up, lie in local
/// memory: slow, and easily brought about by a loop that is not written out.
#[test]
fn no_kernel_has_local_memory() {
    for file in tile33::kernels::PTX {
        assert!(!file.text.contains(".local"), "{} has local memory", file.name);
    }
}

#[test]
fn no_two_steps_have_the_same_entry_point_and_every_one_is_in_the_ptx() {
    let names: Vec<&str> = tile33::kernels::names().collect();
    let mut seen = BTreeSet::new();
    for step in steps() {
        assert!(seen.insert(step.entry.clone()), "{} twice", step.entry);
        assert!(names.contains(&&*step.entry), "{} is not in the PTX", step.entry);
        assert!(!step.lesson.is_empty() && !step.claims.is_empty(), "{}", step.entry);
    }
    // The second launch of the scans that go tile by tile.
    let parts_of_steps = |name: &&&str| !name.starts_with("scan_add_offsets_");
    for name in names.iter().filter(parts_of_steps) {
        assert!(seen.contains(*name), "{name} is in the PTX, but no step");
    }
}

#[test]
fn a_size_of_the_wrong_number_of_numbers_is_refused() {
    let kernels = kernels();
    for step in steps() {
        let error = step.prepare(&kernels, &[1, 2, 3, 4], 1).err().unwrap();
        assert!(
            matches!(error, CatalogueError::Size { given: 4, .. }),
            "{}: {error}",
            step.entry
        );
        let empty = vec![0; step.size_names.len()];
        let refused = step.prepare(&kernels, &empty, 1).is_err();
        // A stride of 0 is a broadcast.
        assert!(refused || step.problem == "stride", "{}", step.entry);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_step_is_right_for_any_size_and_input(which: prop::sample::Index, long in 1usize..30_000, wide in 1usize..200, seed: u64) {
        let steps = steps();
        let step = which.get(&steps);
        let size = match step.problem {
            "transpose" if step.size_names.len() == 3 => vec![1 + wide % 6, 1 + long % 150, wide],
            "transpose" => vec![wide, 1 + long % 200][..step.size_names.len()].to_vec(),
            "carve_out" => vec![1 + wide % 6, long],
            "convolve" => vec![1 + wide % 80, 1 + long % 150, long % 4],
            "stride" => vec![1 + wide % 40, long % 100],
            "matmul" => vec![wide, 1 + long % 150, 1 + long / 150 % 50],
            _ => vec![long, wide][..step.size_names.len()].to_vec(),
        };
        prop_assert_eq!(wrong(step, &kernels(), &size, seed), None);
    }
}
