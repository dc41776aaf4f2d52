//! Every step of the catalogue, on the emulator with all checks: right for every size, nothing found, and as expensive as
//! it claims to be.

use tile33::catalogue::{Kind, Step, steps};
use tile33::{Device, Kernels};

fn kernels() -> Kernels {
    Kernels::load(&Device::emulator()).unwrap()
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
    let kernels = kernels();
    let wrong: Vec<String> = steps()
        .iter()
        .flat_map(|step| step.edge_sizes.iter().filter_map(|size| wrong(step, &kernels, size, 1)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
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
