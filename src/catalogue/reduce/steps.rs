//! The steps, from interleaved pairs to the kernels that the call uses.

use std::fmt::Debug;
use std::sync::Arc;

use kernels_gpu::reduce::{THREADS, WARPS, blocks};
use tile33_host::reference::{Depth, Estimate, Real, reduce as reference};
use tile33_host::{DeviceBuffer, Kernel, LaunchConfig, args};
use tile33_layout::{Op, VECTOR_BYTES};

use super::{
    ArgMax, ArgMin, CompensatedSum, Element, Max, Min, Operation, Reduction, Sum, depth, entry as entry_point,
};
use crate::Kernels;
use crate::catalogue::cost::of_block;
use crate::catalogue::data::{POISON, Sample};
use crate::catalogue::error::{not_empty, same_length};
use crate::catalogue::step::adopted;
use crate::catalogue::{Access, CatalogueError, Claim, Kind, Launched, Record, Step, Trial, Way};

/// Every reduction, for every element type it exists for.
pub fn steps() -> Vec<Step> {
    let mut steps = Vec::new();
    for tree in TREES {
        steps.extend([
            tree.step::<f32>(),
            tree.step::<f64>(),
            tree.step::<i32>(),
            tree.step::<u32>(),
            tree.step::<i64>(),
        ]);
    }
    macro_rules! for_each_type {
        ($($ty:ident),*) => {$(
            steps.push(atomic_step::<$ty>());
            steps.push(grid_step::<$ty, _>(Sum, "sum", "16 bytes a load, several in flight, the last block adds the blocks'"));
            steps.push(grid_step::<$ty, _>(Min, "min", "any associative operation goes the same way"));
            steps.push(grid_step::<$ty, _>(Max, "max", "any associative operation goes the same way"));
            steps.push(grid_step::<$ty, _>(ArgMin, "argmin", "an index travels along"));
            steps.push(grid_step::<$ty, _>(ArgMax, "argmax", "an index travels along"));
        )*};
    }
    for_each_type!(f32, f64, i32, u32, i64);
    steps.push(grid_step::<f32, _>(
        CompensatedSum,
        "compensated_sum",
        "rounding errors travel along: memory waits longer than arithmetic takes",
    ));
    steps
}

/// What the result of one kind of step is held to.
trait Verify<T>: Operation<T> {
    fn wrong(values: &[T], got: &Self::Output) -> Option<String>;
}

/// An element type whose results the CPU can judge.
trait Judged: Element + Sample + Debug {
    /// What is wrong with a sum whose elements passed through at most so many additions.
    fn wrong_sum(values: &[Self], depth: Depth, got: Self) -> Option<String>;
}

fn outside<T: Real>(expected: Estimate, got: T) -> Option<String> {
    let Estimate { value, bound } = expected;
    (!expected.admits(got)).then(|| format!("{got:?}, {value} within {bound:e} was expected"))
}

fn other<T: PartialEq + Debug>(expected: T, got: T) -> Option<String> {
    (got != expected).then(|| format!("{got:?}, {expected:?} was expected"))
}

macro_rules! floats {
    ($($ty:ty)*) => {$(
        impl Judged for $ty {
            fn wrong_sum(values: &[Self], depth: Depth, got: Self) -> Option<String> {
                outside(reference::sum(values, depth), got)
            }
        }
    )*};
}
macro_rules! integers {
    ($($ty:ty)*) => {$(
        impl Judged for $ty {
            fn wrong_sum(values: &[Self], _depth: Depth, got: Self) -> Option<String> {
                other(reference::wrapping_sum(values), got)
            }
        }
    )*};
}
floats!(f32 f64);
integers!(i32 u32 i64);

impl<T: Judged> Verify<T> for Sum {
    fn wrong(values: &[T], got: &T) -> Option<String> {
        T::wrong_sum(values, depth::<T>(values.len()), *got)
    }
}

impl Verify<f32> for CompensatedSum {
    fn wrong(values: &[f32], got: &f32) -> Option<String> {
        outside(reference::compensated_sum(values, depth::<f32>(values.len())), *got)
    }
}

/// Of nothing but NaN the minimum is NaN, the only number that differs from itself.
#[allow(clippy::eq_op)]
fn wrong_extreme<T: Judged>(expected: Option<T>, got: T) -> Option<String> {
    match expected {
        Some(expected) => other(expected, got),
        None => (got == got).then(|| format!("{got:?}, NaN was expected")),
    }
}

impl<T: Judged> Verify<T> for Min {
    fn wrong(values: &[T], got: &T) -> Option<String> {
        wrong_extreme(reference::min(values), *got)
    }
}

impl<T: Judged> Verify<T> for Max {
    fn wrong(values: &[T], got: &T) -> Option<String> {
        wrong_extreme(reference::max(values), *got)
    }
}

impl<T: Judged> Verify<T> for ArgMin {
    fn wrong(values: &[T], got: &Option<(usize, T)>) -> Option<String> {
        other(reference::argmin(values), *got)
    }
}

impl<T: Judged> Verify<T> for ArgMax {
    fn wrong(values: &[T], got: &Option<(usize, T)>) -> Option<String> {
        other(reference::argmax(values), *got)
    }
}

/// Elements that the claims are counted on.
const CLAIMED_LEN: usize = 1 << 16;

/// Sizes around a warp's, a block's, a vector's and a round's end; a second and a third pass of the trees.
const EDGES: [usize; 18] = [
    1, 2, 3, 5, 31, 32, 33, 255, 256, 257, 1023, 4095, 4096, 4097, 16_383, 65_536, 65_537, 100_003,
];

/// A step, of which `make` makes a trial with so many elements from a seed.
fn step<T: Judged>(
    name: &'static str,
    entry: String,
    lesson: &'static str,
    accesses: Vec<Access>,
    make: impl Fn(&Kernels, Vec<T>) -> Result<Box<dyn Trial>, CatalogueError> + Send + Sync + 'static,
) -> Step {
    let make = Arc::new(make);
    let (claimed, adopting, name_of_step) = (Arc::clone(&make), Arc::clone(&make), entry.clone());
    Step {
        problem: "reduce",
        name,
        element: T::NAME,
        entry,
        lesson,
        size_names: &["elements"],
        usual_size: vec![1 << 20],
        edge_sizes: EDGES.map(|len| vec![len]).to_vec(),
        claims: vec![Claim {
            input: format!("{CLAIMED_LEN} elements"),
            accesses,
            prepare: Arc::new(move |kernels| claimed(kernels, T::samples(1, CLAIMED_LEN))),
        }],
        prepare: Arc::new(move |kernels, size, seed| {
            not_empty("reduce", "the input", size[0])?;
            make(kernels, T::samples(seed, size[0]))
        }),
        adopt: Some(Arc::new(move |kernels, size, values| {
            let values = adopted::<T>(values, &name_of_step, T::NAME)?;
            not_empty("reduce", "the input", size[0])?;
            same_length("reduce", "the input", values.len(), size[0])?;
            adopting(kernels, values)
        })),
    }
}

/// A textbook's tree.
#[derive(Clone, Copy)]
struct Tree {
    name: &'static str,
    lesson: &'static str,
    /// The elements that a thread adds in a step, where they are in shared memory: those of thread t in step s, which adds the
    /// second to the first.
    pair: Option<fn(u32, u32) -> [u32; 2]>,
}

const TREES: [Tree; 3] = [
    Tree {
        name: "interleaved",
        lesson: "neighbours in pairs: a warp's words share a bank",
        pair: Some(|t, s| [(2 * t) << s, (2 * t + 1) << s]),
    },
    Tree {
        name: "sequential",
        lesson: "halves in pairs: a warp's words lie side by side",
        pair: Some(|t, s| {
            let half = THREADS as u32 >> (s + 1);
            // Beyond the first half nobody is at work.
            if t < half { [t, t + half] } else { [THREADS as u32; 2] }
        }),
    },
    Tree {
        name: "warp_shuffle",
        lesson: "lanes exchange registers: hardly any shared memory, one barrier",
        pair: None,
    },
];

impl Tree {
    fn step<T: Judged>(self) -> Step {
        let entry = entry_point::<T>(self.name);
        let name = entry.clone();
        let mut step = step(
            self.name,
            entry,
            self.lesson,
            self.accesses::<T>(),
            move |kernels, values: Vec<T>| Ok(Box::new(TreeTrial::new(kernels, &name, values)?)),
        );
        // One type goes through all of them: the others differ in width only.
        if T::NAME != f32::NAME {
            step.edge_sizes.retain(|size| size[0] <= 5_000);
        }
        step
    }

    fn accesses<T>(&self) -> Vec<Access> {
        let blocks = (CLAIMED_LEN / THREADS) as u64;
        let warps = WARPS as u64;
        let bytes = size_of::<T>();
        let shared =
            |op, what: &str, place: &dyn Fn(u32) -> Option<u32>| of_block(op, what, blocks, bytes, THREADS, place);
        let mut accesses = vec![
            Access::new(Kind::GlobalLoad, "a warp's elements", blocks * warps, bytes as u64),
            Access::new(Kind::GlobalStore, "the block's result", blocks, 1),
        ];
        let Some(pair) = self.pair else {
            accesses.push(Access::new(Kind::SharedStore, "a warp's result", blocks * warps, 1));
            accesses.extend(shared(Op::Load, "the results of the warps", &|t| {
                (t < WARPS as u32).then_some(t)
            }));
            return accesses;
        };
        accesses.extend(shared(Op::Store, "a warp's elements", &Some));
        for step in 0..THREADS.trailing_zeros() {
            let of = |which: usize| move |t| Some(pair(t, step)[which]).filter(|&place| place < THREADS as u32);
            let what = format!("step {step}");
            accesses.extend(shared(Op::Load, &what, &of(0)));
            accesses.extend(shared(Op::Load, &what, &of(1)));
            accesses.extend(shared(Op::Store, &what, &of(0)));
        }
        accesses.push(Access::new(Kind::SharedLoad, "the result", blocks, 1));
        accesses
    }
}

/// Launched on its own results until one is left.
struct TreeTrial<T> {
    kernel: Kernel,
    values: Vec<T>,
    input: DeviceBuffer<T>,
    /// The results of a pass, and of the next one.
    results: [DeviceBuffer<T>; 2],
    passes: u64,
}

impl<T: Judged> TreeTrial<T> {
    fn new(kernels: &Kernels, entry: &str, values: Vec<T>) -> Result<Self, CatalogueError> {
        let device = kernels.device();
        let blocks = values.len().div_ceil(THREADS);
        Ok(Self {
            kernel: kernels.kernel(entry)?,
            input: device.upload(&values)?,
            results: [device.uninit(blocks)?, device.uninit(blocks.div_ceil(THREADS))?],
            values,
            passes: 0,
        })
    }
}

impl<T: Judged> Trial for TreeTrial<T> {
    fn launch(&mut self) -> Result<Vec<Launched>, CatalogueError> {
        for results in &mut self.results {
            results.fill_bytes(POISON)?;
        }
        let mut launches = Record::default();
        let mut len = self.input.len();
        self.passes = 0;
        loop {
            let blocks = len.div_ceil(THREADS);
            let [odd, even] = &mut self.results;
            let (from, to) = match self.passes {
                0 => (&self.input, odd),
                pass if pass % 2 == 1 => (&*odd, even),
                _ => (&*even, odd),
            };
            let config = LaunchConfig::new(blocks as u32, THREADS as u32);
            // SAFETY: the kernel reads `len` elements, which the pass before wrote, and writes one a block.
            unsafe { launches.go(&self.kernel, &config, args![from, to, len as u64]) }?;
            self.passes += 1;
            len = blocks;
            if len == 1 {
                return Ok(launches.0);
            }
        }
    }

    fn difference(&self) -> Result<Option<String>, CatalogueError> {
        let results = &self.results[usize::from(self.passes.is_multiple_of(2))];
        let depth = Depth(self.passes * u64::from(THREADS.trailing_zeros()));
        Ok(T::wrong_sum(&self.values, depth, results.to_vec()?[0]))
    }

    fn bytes(&self) -> u64 {
        self.input.bytes() as u64
    }
}

/// What a kernel with 16-byte loads does before its blocks combine their results: requests of the whole grid.
fn grid_accesses<T>(blocks: u64) -> Vec<Access> {
    let vectors = (CLAIMED_LEN * size_of::<T>() / VECTOR_BYTES) as u64;
    vec![
        Access::new(Kind::GlobalLoad, "32 vectors of 16 bytes", vectors / 32, 16),
        Access::new(Kind::SharedStore, "a warp's result", blocks * WARPS as u64, 1),
        Access::new(Kind::SharedLoad, "the results of the warps", blocks, 1),
    ]
}

fn claimed_blocks<T>() -> u64 {
    blocks(CLAIMED_LEN as u64, size_of::<T>()).into()
}

fn atomic_step<T: Judged>() -> Step {
    let entry = entry_point::<T>("grid_stride_atomic");
    let name = entry.clone();
    let mut accesses = grid_accesses::<T>(claimed_blocks::<T>());
    accesses.push(Access::new(
        Kind::GlobalAtomic,
        "the block's result",
        claimed_blocks::<T>(),
        1,
    ));
    let lesson = "16 bytes a load, several in flight, one atomic a block: any order";
    step(
        "grid_stride_atomic",
        entry,
        lesson,
        accesses,
        move |kernels, values: Vec<T>| {
            let device = kernels.device();
            Ok(Box::new(AtomicTrial {
                kernel: kernels.kernel(&name)?,
                input: device.upload(&values)?,
                total: device.uninit(1)?,
                values,
            }))
        },
    )
}

struct AtomicTrial<T> {
    kernel: Kernel,
    values: Vec<T>,
    input: DeviceBuffer<T>,
    total: DeviceBuffer<T>,
}

impl<T: Judged> Trial for AtomicTrial<T> {
    fn launch(&mut self) -> Result<Vec<Launched>, CatalogueError> {
        self.total.fill_bytes(0)?;
        let mut launches = Record::default();
        let len = self.values.len() as u64;
        let config = LaunchConfig::new(blocks(len, size_of::<T>()), THREADS as u32);
        // SAFETY: the kernel reads `len` elements and adds to one.
        unsafe { launches.go(&self.kernel, &config, args![&self.input, len, &mut self.total]) }?;
        Ok(launches.0)
    }

    fn difference(&self) -> Result<Option<String>, CatalogueError> {
        let len = self.values.len();
        // The blocks' results, one after the other.
        let between_blocks = Depth(blocks(len as u64, size_of::<T>()).into());
        Ok(T::wrong_sum(
            &self.values,
            depth::<T>(len).then(between_blocks),
            self.total.to_vec()?[0],
        ))
    }

    fn bytes(&self) -> u64 {
        self.input.bytes() as u64
    }
}

fn grid_step<T: Judged, O: Verify<T>>(_operation: O, name: &'static str, lesson: &'static str) -> Step {
    let blocks = claimed_blocks::<T>();
    let mut accesses = grid_accesses::<T>(blocks);
    let partial = O::PARTIAL_BYTES as u64;
    // A partial of 16 bytes is an index and a value, moved one after the other.
    let parts = if O::HAS_INDEX { 2 } else { 1 };
    accesses[1] = Access::new(Kind::SharedStore, "a warp's result", parts * blocks * WARPS as u64, 1);
    accesses[2] = Access::new(Kind::SharedLoad, "the results of the warps", parts * blocks, 1);
    accesses.extend([
        Access::new(Kind::GlobalStore, "the block's result", parts * blocks, 1),
        Access::new(Kind::GlobalAtomic, "the ticket", blocks, 1),
        Access::new(Kind::SharedStore, "whether it is the last block", blocks, 1),
        Access::new(
            Kind::SharedLoad,
            "whether it is the last block",
            blocks * WARPS as u64,
            1,
        ),
        Access::new(
            Kind::GlobalLoad,
            "the results of 32 blocks",
            parts * blocks.div_ceil(32),
            (32.min(blocks) * partial).div_ceil(32),
        ),
        Access::new(Kind::SharedStore, "a warp's result of these", parts * WARPS as u64, 1),
        Access::new(Kind::SharedLoad, "the results of the warps", parts, 1),
        Access::new(Kind::GlobalStore, "the result, and the ticket back to zero", 2, 1),
    ]);
    if O::HAS_INDEX {
        accesses.push(Access::new(Kind::GlobalStore, "the index", 1, 1));
    }
    step(
        name,
        entry_point::<T>(O::KERNEL),
        lesson,
        accesses,
        |kernels, values: Vec<T>| {
            Ok(Box::new(GridTrial {
                reduction: Reduction::<T, O>::new(kernels)?,
                input: kernels.device().upload(&values)?,
                values,
            }))
        },
    )
}

struct GridTrial<T, O> {
    reduction: Reduction<T, O>,
    values: Vec<T>,
    input: DeviceBuffer<T>,
}

impl<T: Judged, O: Verify<T>> Trial for GridTrial<T, O> {
    fn launch(&mut self) -> Result<Vec<Launched>, CatalogueError> {
        self.reduction.poison()?;
        let mut launches = Record::default();
        self.reduction.start(&self.input, self.values.len(), &mut launches)?;
        Ok(launches.0)
    }

    fn difference(&self) -> Result<Option<String>, CatalogueError> {
        Ok(O::wrong(&self.values, &self.reduction.output()?))
    }

    fn bytes(&self) -> u64 {
        self.input.bytes() as u64
    }
}
