//! The steps, from a sum in every step to one pass over memory.

use std::fmt::Debug;
use std::sync::Arc;

use kernels_gpu::scan::{
    HILLIS_STEELE_TILE, LOOK_BACK_WARPS, Offset, Plain, ROUNDS, State, THREADS, TREE_TILE, look_back_tile,
};
use tile33_host::reference::{Depth, Estimate, Real, first_outside, scan as reference};
use tile33_host::{DeviceBuffer, Kernel, LaunchConfig, args, compare};
use tile33_layout::{Op, StaticLayout};

use super::{Element, Exclusive, Inclusive, Kind, LookBack, PROBLEM, depth, entry as entry_point};
use crate::Kernels;
use crate::catalogue::cost::of_block;
use crate::catalogue::data::{POISON, Sample};
use crate::catalogue::error::{not_empty, same_length};
use crate::catalogue::step::adopted;
use crate::catalogue::{Access, CatalogueError, Claim, Kind as AccessKind, Launched, Record, Step, Trial, Way};

/// Every scan, for every element type it exists for.
pub fn steps() -> Vec<Step> {
    let mut steps = Vec::new();
    for tile in &TILES {
        steps.extend([
            tile.step::<f32>(),
            tile.step::<f64>(),
            tile.step::<i32>(),
            tile.step::<u32>(),
            tile.step::<i64>(),
        ]);
    }
    macro_rules! for_each_type {
        ($($ty:ident),*) => {$(
            steps.push(look_back_step::<$ty, Exclusive>());
            steps.push(look_back_step::<$ty, Inclusive>());
        )*};
    }
    for_each_type!(f32, f64, i32, u32, i64);
    steps
}

/// An element type whose results the CPU can judge.
trait Judged: Element + Sample + Debug {
    /// The first of the sums that is wrong, where elements passed through at most so many additions.
    fn wrong(values: &[Self], got: &[Self], inclusive: bool, depth: Depth) -> Option<String>;
}

fn first_wrong<T: Real>(got: &[T], expected: &[Estimate]) -> Option<String> {
    first_outside(got, expected).map(|outside| outside.to_string())
}

macro_rules! floats {
    ($($ty:ty)*) => {$(
        impl Judged for $ty {
            fn wrong(values: &[Self], got: &[Self], inclusive: bool, depth: Depth) -> Option<String> {
                let sums = if inclusive { reference::inclusive } else { reference::exclusive };
                first_wrong(got, &sums(values, depth))
            }
        }
    )*};
}
macro_rules! integers {
    ($($ty:ty)*) => {$(
        impl Judged for $ty {
            fn wrong(values: &[Self], got: &[Self], inclusive: bool, _depth: Depth) -> Option<String> {
                let sums = if inclusive { reference::wrapping_inclusive } else { reference::wrapping_exclusive };
                compare::identical(got, &sums(values)).err().map(|difference| difference.to_string())
            }
        }
    )*};
}
floats!(f32 f64);
integers!(i32 u32 i64);

/// Elements that the claims of the tiles are counted on. Those of the look-back kernels are counted on one tile.
const CLAIMED_LEN: usize = 1 << 14;

/// Sizes around a vector's, a warp's, and every tile's end; a second level of sums; more tiles than a look-back sees at
/// once.
const EDGES: [usize; 16] = [
    1, 2, 3, 5, 31, 33, 255, 256, 257, 511, 512, 513, 4095, 4097, 66_000, 140_001,
];

fn step<T: Judged>(
    name: &'static str,
    entry: String,
    lesson: &'static str,
    (claimed_len, accesses): (usize, Vec<Access>),
    make: impl Fn(&Kernels, Vec<T>) -> Result<Box<dyn Trial>, CatalogueError> + Send + Sync + 'static,
) -> Step {
    let make = Arc::new(make);
    let (claimed, adopting, name_of_step) = (Arc::clone(&make), Arc::clone(&make), entry.clone());
    Step {
        problem: PROBLEM,
        name,
        element: T::NAME,
        entry,
        lesson,
        size_names: &["elements"],
        usual_size: vec![1 << 20],
        edge_sizes: EDGES.map(|len| vec![len]).to_vec(),
        claims: vec![Claim {
            input: format!("{claimed_len} elements"),
            accesses,
            prepare: Arc::new(move |kernels| claimed(kernels, T::samples(1, claimed_len))),
        }],
        prepare: Arc::new(move |kernels, size, seed| {
            not_empty(PROBLEM, "the input", size[0])?;
            make(kernels, T::samples(seed, size[0]))
        }),
        adopt: Some(Arc::new(move |kernels, size, values| {
            let values = adopted::<T>(values, &name_of_step, T::NAME)?;
            not_empty(PROBLEM, "the input", size[0])?;
            same_length(PROBLEM, "the input", values.len(), size[0])?;
            adopting(kernels, values)
        })),
    }
}

/// A scan of tiles, which leaves the sum of each tile for the next level.
#[derive(Clone, Copy)]
struct Tiles {
    name: &'static str,
    lesson: &'static str,
    tile: usize,
    /// Additions that an element of a tile passes through at most.
    depth: u64,
    /// What is accessed, for elements of so many bytes.
    accesses: fn(usize) -> Vec<Access>,
}

const TILES: [Tiles; 3] = [
    Tiles {
        name: "hillis_steele",
        lesson: "no conflicts, but every step adds all elements",
        tile: HILLIS_STEELE_TILE,
        depth: HILLIS_STEELE_TILE.trailing_zeros() as u64,
        accesses: hillis_steele_accesses,
    },
    Tiles {
        name: "work_efficient",
        lesson: "few additions, but strides that double: up to 16 words in a bank",
        tile: TREE_TILE,
        depth: 2 * TREE_TILE.trailing_zeros() as u64,
        accesses: tree_accesses::<Plain>,
    },
    Tiles {
        name: "work_efficient_skewed",
        lesson: "one place left free after every 32 spreads the tree over the banks",
        tile: TREE_TILE,
        depth: 2 * TREE_TILE.trailing_zeros() as u64,
        accesses: tree_accesses::<Offset>,
    },
];

fn hillis_steele_accesses(bytes: usize) -> Vec<Access> {
    let blocks = (CLAIMED_LEN / HILLIS_STEELE_TILE) as u64;
    let levels = HILLIS_STEELE_TILE.trailing_zeros();
    let all = blocks * WARPS;
    let mut accesses = vec![
        Access::new(AccessKind::GlobalLoad, "a warp's elements", all, bytes as u64),
        Access::new(AccessKind::GlobalStore, "a warp's sums", all, bytes as u64),
        Access::new(AccessKind::GlobalStore, "the tile's sum", blocks, 1),
    ];
    let shared = |op, what: &str, times: u64, place: &dyn Fn(u32) -> Option<u32>| {
        of_block(op, what, times * blocks, bytes, THREADS, place)
    };
    let stores = u64::from(levels) + 1;
    accesses.extend(shared(Op::Store, "a warp's sums, each step", stores, &Some));
    for level in 0..levels {
        // The first threads of the block have nothing so far before them.
        let before = |t: u32| t.checked_sub(1 << level);
        accesses.extend(shared(Op::Load, "the sums d places before", 1, &before));
    }
    accesses.extend(shared(Op::Load, "the sums one place before", 1, &|t| t.checked_sub(1)));
    accesses
}

/// Warps of a block.
const WARPS: u64 = (THREADS / 32) as u64;

/// By where the tree's elements lie.
fn tree_accesses<L: StaticLayout>(bytes: usize) -> Vec<Access> {
    let blocks = (CLAIMED_LEN / TREE_TILE) as u64;
    let elements = 2 * blocks * WARPS;
    let mut accesses = vec![
        Access::new(AccessKind::GlobalLoad, "a warp's elements", elements, bytes as u64),
        Access::new(AccessKind::SharedLoad, "the root", blocks, 1),
        Access::new(AccessKind::SharedStore, "zero to the root", blocks, 1),
        Access::new(AccessKind::GlobalStore, "the tile's sum", blocks, 1),
        Access::new(AccessKind::GlobalStore, "a warp's sums", elements, bytes as u64),
    ];
    let shared = |op, what: &str, times: u64, cell: &dyn Fn(u32) -> u32| {
        let place = |t| Some(cell(t)).filter(|&cell| cell < TREE_TILE as u32);
        let place = |t| place(t).map(|cell| L::NEW.offset(0, cell));
        of_block(op, what, times * blocks, bytes, THREADS, place)
    };
    for half in [0, THREADS as u32] {
        accesses.extend(shared(Op::Store, "a warp's elements", 1, &|t| t + half));
        accesses.extend(shared(Op::Load, "a warp's sums", 1, &|t| t + half));
    }
    for level in 0..TREE_TILE.trailing_zeros() {
        let distance = 1u32 << level;
        let right = |t: u32| 2 * distance * (t + 1) - 1;
        // A thread without a right element has no left one either.
        let left = |t: u32| {
            if right(t) < TREE_TILE as u32 {
                right(t) - distance
            } else {
                right(t)
            }
        };
        // Up: left and right are read and right is written. Down: both are read and written.
        accesses.extend(shared(Op::Load, &format!("step {level}: left"), 2, &left));
        accesses.extend(shared(Op::Load, &format!("step {level}: right"), 2, &right));
        accesses.extend(shared(Op::Store, &format!("step {level}: right"), 2, &right));
        accesses.extend(shared(Op::Store, &format!("step {level}: left"), 1, &left));
    }
    accesses
}

impl Tiles {
    fn step<T: Judged>(self) -> Step {
        let entry = entry_point::<T>(self.name);
        let mut step = step(
            self.name,
            entry,
            self.lesson,
            (CLAIMED_LEN, (self.accesses)(size_of::<T>())),
            move |kernels, values| Ok(Box::new(TilesTrial::<T>::new(kernels, self, values)?)),
        );
        // One type goes through all of them: the others differ in width only.
        if T::NAME != f32::NAME {
            step.edge_sizes.retain(|size| size[0] <= 5_000);
        }
        step
    }
}

/// Scans tiles, scans their sums in turn, and adds what lies before each tile.
struct TilesTrial<T> {
    tiles: Tiles,
    scan: Kernel,
    add: Kernel,
    values: Vec<T>,
    input: DeviceBuffer<T>,
    /// The result, and the scan of the tiles' sums of each level but the last, which has one tile.
    scans: Vec<DeviceBuffer<T>>,
    /// The sums of the tiles of each level.
    sums: Vec<DeviceBuffer<T>>,
}

impl<T: Judged> TilesTrial<T> {
    fn new(kernels: &Kernels, tiles: Tiles, values: Vec<T>) -> Result<Self, CatalogueError> {
        let device = kernels.device();
        let (mut scans, mut sums) = (Vec::new(), Vec::new());
        let mut len = values.len();
        loop {
            scans.push(device.uninit(len)?);
            len = len.div_ceil(tiles.tile);
            sums.push(device.uninit(len)?);
            if len == 1 {
                break;
            }
        }
        Ok(Self {
            tiles,
            scan: kernels.kernel(&entry_point::<T>(tiles.name))?,
            add: kernels.kernel(&entry_point::<T>("add_offsets"))?,
            input: device.upload(&values)?,
            scans,
            sums,
            values,
        })
    }
}

impl<T: Judged> Trial for TilesTrial<T> {
    fn launch(&mut self) -> Result<Vec<Launched>, CatalogueError> {
        let Self {
            scan,
            add,
            input,
            scans,
            sums,
            tiles,
            ..
        } = self;
        for buffer in scans.iter_mut().chain(&mut *sums) {
            buffer.fill_bytes(POISON)?;
        }
        let mut launches = Record::default();
        let config = |blocks: usize| LaunchConfig::new(blocks as u32, THREADS as u32);
        for (level, to) in scans.iter_mut().enumerate() {
            // The elements inclusively, the sums exclusively: what lies before each tile.
            let inclusive = u32::from(level == 0);
            let (below, here) = sums.split_at_mut(level);
            let from = below.last().unwrap_or(input);
            let blocks = here[0].len();
            let arguments = args![from, to, &mut here[0], from.len() as u64, inclusive];
            // SAFETY: the kernel reads and writes as many elements as both have, and writes a sum for each tile.
            unsafe { launches.go(scan, &config(blocks), arguments) }?;
        }
        for level in (1..scans.len()).rev() {
            let (below, here) = scans.split_at_mut(level);
            let [.., to] = below else { continue };
            let len = to.len();
            let arguments = args![to, &here[0], len as u64, tiles.tile as u32];
            // SAFETY: the kernel reads and writes `len` elements, and reads an offset for each tile of them.
            unsafe { launches.go(add, &config(len.div_ceil(THREADS)), arguments) }?;
        }
        Ok(launches.0)
    }

    fn difference(&self) -> Result<Option<String>, CatalogueError> {
        let levels = self.scans.len() as u64;
        let depth = Depth(levels * (self.tiles.depth + 1));
        Ok(T::wrong(&self.values, &self.scans[0].to_vec()?, true, depth))
    }

    fn bytes(&self) -> u64 {
        2 * self.input.bytes() as u64
    }
}

/// What a look-back kernel accesses on one tile, which has none to look back on.
fn look_back_accesses<T: State>() -> Vec<Access> {
    let warps = LOOK_BACK_WARPS as u64;
    let loads = warps * ROUNDS as u64;
    vec![
        Access::new(AccessKind::GlobalAtomic, "the ticket", 1, 1),
        Access::new(AccessKind::SharedStore, "the tile's number", 1, 1),
        Access::new(AccessKind::SharedLoad, "the tile's number", warps, 1),
        Access::new(AccessKind::GlobalLoad, "32 vectors of 16 bytes", loads, 16),
        Access::new(AccessKind::SharedStore, "a warp's sum", warps, 1),
        Access::new(AccessKind::SharedLoad, "the sums of the warps", 1, 1),
        Access::new(
            AccessKind::GlobalStore,
            "what is known of the tile",
            if T::WORDS == 1 { 1 } else { 2 },
            1,
        ),
        Access::new(AccessKind::SharedStore, "what lies before each warp", 1, 1),
        Access::new(AccessKind::SharedLoad, "what lies before the warp", warps, 1),
        Access::new(AccessKind::GlobalStore, "32 vectors of 16 bytes", loads, 16),
    ]
}

fn look_back_step<T: Judged + State, K: Kind>() -> Step {
    let lesson = "one pass: each tile looks back over the sums of those before it";
    let entry = entry_point::<T>(K::KERNEL);
    let claim = (look_back_tile(size_of::<T>()), look_back_accesses::<T>());
    step(K::KERNEL, entry, lesson, claim, |kernels, values: Vec<T>| {
        let device = kernels.device();
        Ok(Box::new(LookBackTrial {
            look_back: LookBack::<T, K>::new(kernels)?,
            input: device.upload(&values)?,
            output: device.uninit(values.len())?,
            values,
        }))
    })
}

struct LookBackTrial<T, K> {
    look_back: LookBack<T, K>,
    values: Vec<T>,
    input: DeviceBuffer<T>,
    output: DeviceBuffer<T>,
}

impl<T: Judged + State, K: Kind> Trial for LookBackTrial<T, K> {
    fn launch(&mut self) -> Result<Vec<Launched>, CatalogueError> {
        self.output.fill_bytes(POISON)?;
        let mut launches = Record::default();
        self.look_back.start(&self.input, &mut self.output, &mut launches)?;
        Ok(launches.0)
    }

    fn difference(&self) -> Result<Option<String>, CatalogueError> {
        let len = self.values.len();
        Ok(T::wrong(
            &self.values,
            &self.output.to_vec()?,
            K::INCLUSIVE,
            depth::<T>(len),
        ))
    }

    fn bytes(&self) -> u64 {
        2 * self.input.bytes() as u64
    }
}
