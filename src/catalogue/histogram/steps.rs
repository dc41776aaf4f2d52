//! The steps, from one histogram for all threads to one for each warp.

use std::sync::Arc;

use kernels_gpu::histogram::{BYTE_VALUES, PaddedWarpCounters, THREADS, WARPS, WarpCounters};
use tile33_host::reference::histogram as reference;
use tile33_host::{DeviceBuffer, compare};
use tile33_layout::{StaticLayout, VECTOR_BYTES};

use super::{Counter, Element, PROBLEM, Values, entry as entry_point};
use crate::Kernels;
use crate::catalogue::data::{Random, Sample};
use crate::catalogue::error::{not_empty, same_length};
use crate::catalogue::step::adopted;
use crate::catalogue::{Access, CatalogueError, Claim, Kind, Launched, Record, Step, Trial};

/// Every histogram, for every element type it exists for.
pub fn steps() -> Vec<Step> {
    let mut steps = Vec::new();
    steps.extend(BYTES.iter().map(Method::step::<u8>));
    for method in &NUMBERS {
        steps.extend([method.step::<u8>(), method.step::<u16>(), method.step::<u32>()]);
    }
    steps
}

/// A kernel.
#[derive(Clone, Copy)]
struct Method {
    name: &'static str,
    lesson: &'static str,
    values: Values,
    place: Place,
}

/// Where its counters lie.
#[derive(Clone, Copy)]
enum Place {
    Global,
    /// In shared memory: words of them, columns that are added up for each value; wavefronts of adding 32 neighbouring
    /// values, and of reading a column.
    Shared {
        words: usize,
        columns: usize,
        add: u64,
        read: u64,
    },
}

const PER_BLOCK: Place = Place::Shared {
    words: BYTE_VALUES,
    columns: 1,
    add: 1,
    read: 1,
};

const BYTES: [Method; 4] = [
    Method {
        name: "global",
        lesson: "every thread of the grid adds to the same 256 counters",
        values: Values::OfAByte,
        place: Place::Global,
    },
    Method {
        name: "per_block",
        lesson: "shared memory is nearer, and eight warps queue instead of thousands",
        values: Values::OfAByte,
        place: PER_BLOCK,
    },
    Method {
        name: "per_warp",
        lesson: "no warp waits for another, but neighbouring values share four banks",
        values: Values::OfAByte,
        place: Place::Shared {
            words: WarpCounters::STORAGE,
            columns: WARPS,
            add: 8,
            read: 8,
        },
    },
    Method {
        name: "per_warp_padded",
        lesson: "one unused counter after each eight spreads the values over all banks",
        values: Values::OfAByte,
        place: Place::Shared {
            words: PaddedWarpCounters::STORAGE,
            columns: WARPS,
            add: 1,
            read: 1,
        },
    },
];

const NUMBERS: [Method; 2] = [
    Method {
        name: "dynamic",
        lesson: "as many values as shared memory holds, chosen at the launch",
        values: Values::InSharedMemory,
        place: PER_BLOCK,
    },
    Method {
        name: "global_numbers",
        lesson: "any number of values",
        values: Values::Any,
        place: Place::Global,
    },
];

/// Vectors of the input that the claims are counted on: two for each thread of one block.
const CLAIMED_VECTORS: usize = 2 * THREADS;

/// Elements of which lane l of a warp has a vector full of `value(l)`, l counted through the input.
fn by_lane<T: Element + Sample>(value: impl Fn(usize) -> u8) -> Vec<T> {
    let lanes = VECTOR_BYTES / size_of::<T>();
    let element = |i: usize| {
        let mut element = T::zeroed();
        bytemuck::bytes_of_mut(&mut element)[0] = value(i / lanes);
        element
    };
    (0..CLAIMED_VECTORS * lanes).map(element).collect()
}

impl Method {
    fn step<T: Element + Sample>(&self) -> Step {
        let method = *self;
        let with_values = method.values != Values::OfAByte;
        let edges: &[[usize; 2]] = if with_values { &EDGES } else { &BYTE_EDGES };
        let size = |&[len, values]: &[usize; 2]| if with_values { vec![len, values] } else { vec![len] };
        let claim = |input: &str, accesses, value: fn(usize) -> u8| Claim {
            input: format!("{CLAIMED_VECTORS} vectors, {input}"),
            accesses,
            prepare: Arc::new(move |kernels| {
                Ok(Box::new(HistogramTrial::<T>::new(
                    kernels,
                    method,
                    by_lane(value),
                    BYTE_VALUES,
                )?))
            }),
        };
        Step {
            problem: PROBLEM,
            name: method.name,
            element: T::NAME,
            entry: entry_point::<T>(method.name),
            lesson: method.lesson,
            size_names: if with_values {
                &["elements", "values"]
            } else {
                &["elements"]
            },
            usual_size: size(&[1 << 20, BYTE_VALUES]),
            edge_sizes: edges.iter().map(size).collect(),
            claims: vec![
                claim("the lanes' values neighbours", method.accesses::<T>(false), |lane| {
                    lane as u8
                }),
                claim("all values equal", method.accesses::<T>(true), |_| 77),
            ],
            prepare: Arc::new(move |kernels, size, seed| {
                let [len, values] = with_default(size)?;
                let input = mixed(seed, len, values);
                Ok(Box::new(HistogramTrial::<T>::new(kernels, method, input, values)?))
            }),
            adopt: Some(Arc::new(move |kernels, size, input| {
                let input = adopted::<T>(input, &entry_point::<T>(method.name), T::NAME)?;
                let [len, values] = with_default(size)?;
                same_length(PROBLEM, "the input", input.len(), len)?;
                Ok(Box::new(HistogramTrial::<T>::new(kernels, method, input, values)?))
            })),
        }
    }

    /// Of an input whose lanes' values are neighbours, or all equal.
    fn accesses<T>(self, equal: bool) -> Vec<Access> {
        let loads = CLAIMED_VECTORS as u64 / 32;
        let adds = loads * (VECTOR_BYTES / size_of::<T>()) as u64;
        let warps = WARPS as u64;
        let mut accesses = vec![Access::new(Kind::GlobalLoad, "32 vectors of 16 bytes", loads, 16)];
        match self.place {
            Place::Global => {
                accesses.push(Access::new(
                    Kind::GlobalAtomic,
                    "the counters of 32 lanes",
                    adds,
                    if equal { 1 } else { 4 },
                ));
            }
            Place::Shared {
                words,
                columns,
                add,
                read,
            } => accesses.extend([
                Access::new(Kind::SharedStore, "32 counters cleared", words as u64 / 32, 1),
                Access::new(
                    Kind::SharedAtomic,
                    "the counters of 32 lanes",
                    adds,
                    if equal { 32 } else { add },
                ),
                Access::new(Kind::SharedLoad, "32 counters added up", columns as u64 * warps, read),
                // Counts of zero are not added.
                if equal {
                    Access::new(Kind::GlobalAtomic, "the value's count", 1, 1)
                } else {
                    Access::new(Kind::GlobalAtomic, "32 counts", warps, 4)
                },
            ]),
        }
        accesses
    }
}

/// Elements and values of a size; those of a byte where the size does not say.
fn with_default(size: &[usize]) -> Result<[usize; 2], CatalogueError> {
    let (len, values) = (size[0], size.get(1).copied().unwrap_or(BYTE_VALUES));
    not_empty(PROBLEM, "the input", len)?;
    not_empty(PROBLEM, "the counts", values)?;
    Ok([len, values])
}

/// Sizes around a vector's and a block's end, with few, many, and more values than fit into shared memory without asking.
const EDGES: [[usize; 2]; 9] = [
    [1, 1],
    [15, 3],
    [16, 256],
    [17, 31],
    [4095, 33],
    [16_385, 257],
    [50_000, 12_289],
    [70_001, 1000],
    [1000, 50_000],
];

const BYTE_EDGES: [[usize; 2]; 9] = [
    [1, 0],
    [2, 0],
    [15, 0],
    [16, 0],
    [17, 0],
    [4095, 0],
    [4097, 0],
    [16_385, 0],
    [100_001, 0],
];

/// Values of which most are counted: in part spread evenly, in part the same again and again, as in pictures.
fn mixed<T: Element + Sample>(seed: u64, len: usize, values: usize) -> Vec<T> {
    let mut random = Random::new(seed);
    let most = (1u64 << (8 * size_of::<T>())) - 1;
    let element = |_| {
        let bits = random.bits();
        let number = match bits % 4 {
            0 => bits >> 32,
            1 => (bits >> 32) % 3,
            _ => (bits >> 32) % values as u64,
        };
        let mut element = T::zeroed();
        let bytes = (number & most).to_le_bytes();
        bytemuck::bytes_of_mut(&mut element).copy_from_slice(&bytes[..size_of::<T>()]);
        element
    };
    (0..len).map(element).collect()
}

struct HistogramTrial<T> {
    counter: Counter<T>,
    values: Vec<T>,
    input: DeviceBuffer<T>,
    counts: DeviceBuffer<u32>,
}

impl<T: Element> HistogramTrial<T> {
    fn new(kernels: &Kernels, method: Method, values: Vec<T>, counts: usize) -> Result<Self, CatalogueError> {
        let device = kernels.device();
        Ok(Self {
            counter: Counter::new(kernels, method.name, method.values)?,
            input: device.upload(&values)?,
            counts: device.uninit(counts)?,
            values,
        })
    }
}

impl<T: Element> Trial for HistogramTrial<T> {
    fn launch(&mut self) -> Result<Vec<Launched>, CatalogueError> {
        let mut launches = Record::default();
        self.counter.start(&self.input, &mut self.counts, &mut launches)?;
        Ok(launches.0)
    }

    fn difference(&self) -> Result<Option<String>, CatalogueError> {
        let expected = reference::histogram(&self.values, self.counts.len());
        let counted = self.counts.to_vec()?;
        Ok(compare::identical(&counted, &expected)
            .err()
            .map(|difference| difference.to_string()))
    }

    fn bytes(&self) -> u64 {
        self.input.bytes() as u64
    }
}
