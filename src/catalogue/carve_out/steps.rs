//! The steps, and what their accesses cost.

use std::sync::Arc;

use kernels_gpu::carve_out::THREADS;
use tile33_host::DeviceBuffer;
use tile33_host::reference::{Estimate, Real, first_outside, reduce as reference};

use super::{Centring, PROBLEM, depth, elements, entry};
use crate::Kernels;
use crate::catalogue::data::{POISON, Random, Sample};
use crate::catalogue::error::same_length;
use crate::catalogue::step::adopted;
use crate::catalogue::{Access, CatalogueError, Claim, Kind, Launched, Record, Step, Trial};

/// Both kernels.
pub fn steps() -> Vec<Step> {
    [false, true].map(step).to_vec()
}

/// What the claims are counted on: rows that start at sectors.
const CLAIMED: [usize; 2] = [2, 1024];

/// Rows of odd length, of one element, of a thread's and a block's; of just 48 KiB of shared memory and of more; of all that
/// an H200 has for a block.
const EDGES: [[usize; 2]; 12] = [
    [1, 1],
    [2, 1],
    [5, 31],
    [3, 33],
    [4, 255],
    [2, 256],
    [3, 257],
    [7, 1001],
    [1, 9_216],
    [2, 9_217],
    [1, 20_003],
    [1, 45_875],
];

fn step(carved: bool) -> Step {
    let make = move |kernels: &Kernels, [rows, cols]: [usize; 2], seed| -> Result<Box<dyn Trial>, CatalogueError> {
        let mut values = f32::samples(seed, elements(rows, cols)?);
        let mut random = Random::new(!seed);
        // About one in eight is missing.
        let missing = values.iter_mut().filter(|_| random.bits().is_multiple_of(8));
        missing.for_each(|value| *value = f32::NAN);
        Ok(Box::new(CentringTrial::new(kernels, carved, rows, cols, values)?))
    };
    Step {
        problem: PROBLEM,
        name: if carved { "carved" } else { "streamed" },
        element: "f32",
        entry: entry(carved).to_owned(),
        lesson: if carved {
            "the row stays in shared memory: four arrays of four types in one block of it"
        } else {
            "every row is read twice"
        },
        size_names: &["rows", "columns"],
        usual_size: vec![128, 9_001],
        edge_sizes: EDGES.map(Vec::from).to_vec(),
        claims: vec![Claim {
            input: format!("{} rows of {} elements", CLAIMED[0], CLAIMED[1]),
            accesses: accesses(carved),
            prepare: Arc::new(move |kernels| make(kernels, CLAIMED, 1)),
        }],
        prepare: Arc::new(move |kernels, size, seed| make(kernels, [size[0], size[1]], seed)),
        adopt: Some(Arc::new(move |kernels, size, values| {
            let values = adopted::<f32>(values, entry(carved), "f32")?;
            same_length(PROBLEM, "the input", values.len(), elements(size[0], size[1])?)?;
            Ok(Box::new(CentringTrial::new(kernels, carved, size[0], size[1], values)?))
        })),
    }
}

fn accesses(carved: bool) -> Vec<Access> {
    let [rows, cols] = CLAIMED.map(|n| n as u64);
    let (pieces, warps) = (rows * cols / 32, rows * THREADS as u64 / 32);
    let times = if carved { 1 } else { 2 };
    let mut accesses = vec![
        Access::new(Kind::GlobalLoad, "32 values", times * pieces, 4),
        Access::new(Kind::GlobalLoad, "32 marks", times * pieces, 1),
        Access::new(Kind::GlobalStore, "32 results", pieces, 4),
        Access::new(Kind::SharedStore, "32 threads' sums", warps, 2),
        Access::new(Kind::SharedStore, "32 threads' counts", warps, 1),
        Access::new(Kind::SharedLoad, "the sum, by everybody", warps, 1),
        Access::new(Kind::SharedLoad, "the count, by everybody", warps, 1),
    ];
    if carved {
        for what in ["32 values of the row", "32 marks of the row"] {
            accesses.push(Access::new(Kind::SharedStore, what, pieces, 1));
            accesses.push(Access::new(Kind::SharedLoad, what, pieces, 1));
        }
    }
    let halves = std::iter::successors(Some(THREADS as u64 / 2), |half| Some(half / 2)).take_while(|&half| half > 0);
    for half in halves {
        let warps = rows * half.div_ceil(32);
        // 8 bytes of 32 lanes are 2 wavefronts, of up to 16 lanes 1.
        let sums = if half > 16 { 2 } else { 1 };
        let step = |kind, what, requests, cost| Access::new(kind, format!("{what} of {half} threads"), requests, cost);
        accesses.extend([
            step(Kind::SharedLoad, "two sums", 2 * warps, sums),
            step(Kind::SharedLoad, "two counts", 2 * warps, 1),
            step(Kind::SharedStore, "the sum", warps, sums),
            step(Kind::SharedStore, "the count", warps, 1),
        ]);
    }
    accesses
}

struct CentringTrial {
    centring: Centring,
    rows: usize,
    cols: usize,
    values: Vec<f32>,
    marks: Vec<u8>,
    input: DeviceBuffer<f32>,
    valid: DeviceBuffer<u8>,
    centred: DeviceBuffer<f32>,
}

impl CentringTrial {
    /// NaN is no valid value.
    fn new(
        kernels: &Kernels,
        carved: bool,
        rows: usize,
        cols: usize,
        values: Vec<f32>,
    ) -> Result<Self, CatalogueError> {
        let marks: Vec<u8> = values.iter().map(|value| u8::from(!value.is_nan())).collect();
        let device = kernels.device();
        Ok(Self {
            centring: Centring::new(kernels, carved)?,
            rows,
            cols,
            input: device.upload(&values)?,
            valid: device.upload(&marks)?,
            centred: device.uninit(values.len())?,
            values,
            marks,
        })
    }

    /// What the elements of a row have to be.
    fn estimates(values: &[f32], marks: &[u8]) -> Vec<Estimate> {
        let valid: Vec<f64> = values
            .iter()
            .zip(marks)
            .filter(|(_, mark)| **mark != 0)
            .map(|(value, _)| f64::from(*value))
            .collect();
        let sum = reference::sum(&valid, depth(values.len()));
        let count = valid.len().max(1) as f64;
        let (mean, mean_bound) = (sum.value / count, sum.bound / count);
        let element = |(value, mark): (&f32, &u8)| {
            if *mark == 0 {
                return Estimate::exact(0.0);
            }
            let exact = f64::from(*value) - mean;
            // The division and the subtraction are rounded to `f64`, the result to `f32`.
            let rounded = 2.0 * f64::ROUNDOFF * (mean.abs() + exact.abs()) + f32::ROUNDOFF * exact.abs() + f32::TINY;
            Estimate {
                value: exact,
                bound: mean_bound + rounded,
            }
        };
        values.iter().zip(marks).map(element).collect()
    }
}

impl Trial for CentringTrial {
    fn launch(&mut self) -> Result<Vec<Launched>, CatalogueError> {
        self.centred.fill_bytes(POISON)?;
        let mut launches = Record::default();
        let Self {
            centring,
            rows,
            cols,
            input,
            valid,
            centred,
            ..
        } = self;
        centring.start(input, valid, centred, *rows, *cols, &mut launches)?;
        Ok(launches.0)
    }

    fn difference(&self) -> Result<Option<String>, CatalogueError> {
        let rows = self.values.chunks(self.cols).zip(self.marks.chunks(self.cols));
        let estimates: Vec<Estimate> = rows
            .flat_map(|(values, marks)| Self::estimates(values, marks))
            .collect();
        let centred = self.centred.to_vec()?;
        Ok(first_outside(&centred, &estimates).map(|outside| outside.to_string()))
    }

    fn bytes(&self) -> u64 {
        (2 * self.input.bytes() + self.valid.bytes()) as u64
    }
}
