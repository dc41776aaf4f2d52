//! The experiments as steps, and what each of their accesses costs.

use std::fmt::Debug;
use std::sync::Arc;

use bytemuck::Pod;
use kernels_gpu::stride::THREADS;
use tile33_host::compare;

use super::{Bench, Experiment, PROBLEM, cost, element, entry as entry_point, of_lanes};
use crate::catalogue::data::{POISON, Random, Sample};
use crate::catalogue::{Access, CatalogueError, Claim, Kind, Launched, Step, Trial};

/// Every experiment, for every element size it exists for.
pub fn steps() -> Vec<Step> {
    let mut steps = Vec::new();
    for experiment in Experiment::ALL {
        macro_rules! for_each_type {
            ($($ty:ident),*) => {$(
                if experiment.has(size_of::<$ty>()) {
                    steps.push(step::<$ty>(experiment));
                }
            )*};
        }
        for_each_type!(u8, u16, u32, u64, u128);
    }
    steps
}

/// Strides and offsets: neighbours, shifted, broadcast or same word, conflicts of every degree, odd strides, same bank.
const EXPERIMENTS: [[u32; 2]; 14] = [
    [1, 0],
    [1, 1],
    [0, 0],
    [0, 5],
    [2, 0],
    [3, 2],
    [4, 0],
    [8, 1],
    [16, 0],
    [17, 0],
    [31, 0],
    [32, 0],
    [33, 0],
    [64, 3],
];

fn step<T: Sample + Debug>(experiment: Experiment) -> Step {
    let bytes = size_of::<T>();
    let sizes = || {
        EXPERIMENTS
            .into_iter()
            .filter(move |[stride, _]| *stride > 0 || !experiment.writes_apart())
    };
    let claim = |[stride, offset]: [u32; 2]| Claim {
        input: format!("stride {stride}, offset {offset}"),
        accesses: accesses::<T>(experiment, stride, offset),
        prepare: Arc::new(move |kernels| {
            Ok(Box::new(StrideTrial(Bench::<T>::seeded(
                kernels, experiment, stride, offset, 1,
            )?)))
        }),
    };
    Step {
        problem: PROBLEM,
        name: experiment.name(),
        element: element(bytes),
        entry: entry_point(experiment, bytes),
        lesson: match experiment {
            Experiment::Load => "distinct words of one bank cost a wavefront each, one word costs one for all",
            Experiment::Store => "as a load, but 8 and 16 bytes a lane never share",
            Experiment::AtomicAdd => "lanes of one bank take turns, also at the same word",
            Experiment::GlobalLoad | Experiment::GlobalStore => "every sector of 32 bytes that is touched is moved",
        },
        size_names: &["stride", "offset"],
        usual_size: vec![32, 0],
        edge_sizes: sizes().map(|size| size.map(|n| n as usize).to_vec()).collect(),
        claims: sizes().map(claim).collect(),
        prepare: Arc::new(move |kernels, size, seed| {
            let number = |what, given: usize| {
                u32::try_from(given).map_err(|_| CatalogueError::TooMany {
                    problem: PROBLEM,
                    what,
                    given,
                    most: u32::MAX.into(),
                })
            };
            let (stride, offset) = (
                number("elements of stride", size[0])?,
                number("elements of offset", size[1])?,
            );
            Ok(Box::new(StrideTrial(Bench::<T>::seeded(
                kernels, experiment, stride, offset, seed,
            )?)))
        }),
        adopt: None,
    }
}

/// What `len` lanes, or as many rows of lanes as it takes, pay for elements that lie side by side.
fn side_by_side(experiment: Experiment, what: &str, bytes: usize, len: usize) -> Vec<Access> {
    let row = |lanes: usize| {
        of_lanes(experiment, bytes, |lane| {
            ((lane as usize) < lanes).then_some(u64::from(lane) * bytes as u64)
        })
    };
    let (whole, rest) = (len / THREADS, len % THREADS);
    let mut accesses = vec![Access::new(experiment.kind(), what, whole as u64, row(THREADS))];
    if rest > 0 {
        accesses.push(Access::new(experiment.kind(), what, 1, row(rest)));
    }
    accesses
}

/// What the kernel accesses besides.
pub(super) fn other_accesses(experiment: Experiment, bytes: usize, stride: u32, offset: u32) -> Vec<Access> {
    let len = kernels_gpu::stride::reach(stride, offset) as usize;
    let load = |what, len| side_by_side(Experiment::GlobalLoad, what, bytes, len);
    let store = |what, len| side_by_side(Experiment::GlobalStore, what, bytes, len);
    let fill = |what| side_by_side(Experiment::Store, what, bytes, len);
    match experiment {
        Experiment::Load => [
            load("the array", len),
            fill("the array"),
            store("what was loaded", THREADS),
        ]
        .concat(),
        Experiment::Store => {
            let back = Access::new(
                Kind::SharedLoad,
                "what was stored",
                1,
                cost(Experiment::Load, bytes, stride, offset),
            );
            [
                load("what is stored", THREADS),
                vec![back],
                store("what was stored", THREADS),
            ]
            .concat()
        }
        Experiment::AtomicAdd => {
            let all = side_by_side(Experiment::Load, "the array", bytes, len);
            [
                load("what is added", THREADS),
                fill("zeros"),
                all,
                store("the array", len),
            ]
            .concat()
        }
        Experiment::GlobalLoad => store("what was loaded", THREADS),
        Experiment::GlobalStore => load("what is stored", THREADS),
    }
}

fn accesses<T>(experiment: Experiment, stride: u32, offset: u32) -> Vec<Access> {
    let bytes = size_of::<T>();
    let mut accesses = other_accesses(experiment, bytes, stride, offset);
    accesses.push(Access::new(
        experiment.kind(),
        "the access",
        1,
        cost(experiment, bytes, stride, offset),
    ));
    accesses
}

impl<T: Sample> Bench<T> {
    fn seeded(
        kernels: &crate::Kernels,
        experiment: Experiment,
        stride: u32,
        offset: u32,
        seed: u64,
    ) -> Result<Self, CatalogueError> {
        let mut random = Random::new(seed);
        Self::new(kernels, experiment, stride, offset, |_| T::sample(&mut random))
    }
}

impl<T: Pod> Bench<T> {
    /// What the output holds if all is right.
    fn expected(&self) -> Vec<T> {
        let lanes = 0..THREADS;
        match self.experiment {
            Experiment::Load | Experiment::GlobalLoad => lanes.map(|lane| self.values[self.place(lane)]).collect(),
            Experiment::Store => self.values.clone(),
            Experiment::GlobalStore => {
                let mut array = vec![T::zeroed(); self.len as usize];
                bytemuck::cast_slice_mut(&mut array).fill(POISON);
                lanes.for_each(|lane| array[self.place(lane)] = self.values[lane]);
                array
            }
            Experiment::AtomicAdd => {
                let mut sums = vec![0u64; self.len as usize];
                for lane in lanes {
                    let sum = &mut sums[self.place(lane)];
                    *sum = sum.wrapping_add(number(&self.values[lane]));
                }
                sums.into_iter().map(|sum| from_number(sum)).collect()
            }
        }
    }
}

/// The integer that an element of up to 8 bytes is.
fn number<T: Pod>(element: &T) -> u64 {
    let bytes = bytemuck::bytes_of(element);
    bytes
        .iter()
        .rev()
        .fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// The element that is an integer modulo what it holds.
fn from_number<T: Pod>(number: u64) -> T {
    let mut element = T::zeroed();
    let bytes = bytemuck::bytes_of_mut(&mut element);
    let kept = bytes.len().min(8);
    bytes[..kept].copy_from_slice(&number.to_le_bytes()[..kept]);
    element
}

struct StrideTrial<T>(Bench<T>);

impl<T: Pod + Debug> Trial for StrideTrial<T> {
    fn launch(&mut self) -> Result<Vec<Launched>, CatalogueError> {
        Ok(vec![self.0.run()?])
    }

    fn difference(&self) -> Result<Option<String>, CatalogueError> {
        let difference = compare::identical(&self.0.result()?, &self.0.expected());
        Ok(difference.err().map(|difference| difference.to_string()))
    }

    fn bytes(&self) -> u64 {
        (2 * THREADS * size_of::<T>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_the_kernels_documentation_is_what_the_bank_model_says() {
        let shared = |stride, offset| {
            let of = |experiment| cost(experiment, 4, stride, offset);
            (
                of(Experiment::Load),
                of(Experiment::AtomicAdd),
                of(Experiment::GlobalLoad),
            )
        };
        assert_eq!(shared(1, 0), (1, 1, 4));
        assert_eq!(shared(1, 1), (1, 1, 5));
        assert_eq!(shared(2, 0), (2, 2, 8));
        assert_eq!(shared(33, 0), (1, 1, 32));
        assert_eq!(shared(32, 0), (32, 32, 32));
        assert_eq!(shared(0, 0), (1, 32, 1));
    }

    #[test]
    fn eight_and_sixteen_bytes_a_lane_cost_two_and_four_wavefronts_at_best() {
        for (bytes, best) in [(1, 1), (2, 1), (4, 1), (8, 2), (16, 4)] {
            assert_eq!(cost(Experiment::Store, bytes, 1, 0), best);
        }
    }
}
