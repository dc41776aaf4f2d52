//! The steps, and what their accesses cost.

use std::fmt::Debug;
use std::sync::Arc;

use kernels_gpu::transpose::TILE;
use tile33_host::{DeviceBuffer, compare, reference};
use tile33_layout::{LANES, Op, VECTOR_BYTES};

use super::batched::{Batched, named as batched_named};
use super::entry as entry_point;
use super::in_place::{self, InPlace};
use crate::Kernels;
use crate::catalogue::cost::wavefronts;
use crate::catalogue::data::{POISON, Sample};
use crate::catalogue::step::adopted;
use crate::catalogue::{Access, CatalogueError, Claim, Kind, Launched, Record, Step, Trial};
use crate::transpose::{ALL, Element, TransposeError, TransposeKernel, Variant};

/// Every kernel, for every element size.
pub fn steps() -> Vec<Step> {
    let mut steps = Vec::new();
    macro_rules! for_each_type {
        ($work:expr) => {
            steps.extend([
                step::<f32>($work),
                step::<f64>($work),
                step::<u16>($work),
                step::<u8>($work),
                step::<u128>($work),
            ])
        };
    }
    for variant in ALL {
        for_each_type!(Work::One(variant));
    }
    for_each_type!(Work::InPlace);
    for_each_type!(Work::Batched { vectors: false });
    for_each_type!(Work::Batched { vectors: true });
    steps
}

/// Which kernel.
#[derive(Clone, Copy)]
enum Work {
    One(&'static Variant),
    InPlace,
    Batched { vectors: bool },
}

impl Work {
    fn name(self) -> &'static str {
        match self {
            Self::One(variant) => variant.name,
            Self::InPlace => in_place::NAME,
            Self::Batched { vectors } => batched_named(vectors).0,
        }
    }

    /// The variant whose accesses it makes.
    fn like(self) -> &'static Variant {
        match self {
            Self::One(variant) => variant,
            Self::InPlace => batched_named(false).1,
            Self::Batched { vectors } => batched_named(vectors).1,
        }
    }

    fn lesson(self) -> &'static str {
        match self.name() {
            "copy" => "the bound: as many bytes, nothing transposed",
            "naive" => "rows read, columns written: a sector for every lane",
            "tiled" => "shared memory turns the tile, but its columns lie in one bank",
            "padded" => "one unused column spreads each column over all banks",
            "swizzled" => "so does permuting each row, without the unused column",
            "dynamic" => "the same, with tile and pitch chosen at the launch",
            "vectorized" => "16 bytes a lane, squares turned in registers, vectors swizzled",
            in_place::NAME => "a square where it lies: two tiles change places",
            "batched" => "many matrices in one launch, along the grid's z",
            "batched_vectorized" => "the same by vectors",
            _ => "",
        }
    }

    fn size_names(self) -> &'static [&'static str] {
        match self {
            Self::One(_) => &["rows", "columns"],
            Self::InPlace => &["rows and columns"],
            Self::Batched { .. } => &["matrices", "rows", "columns"],
        }
    }

    fn usual_size(self) -> Vec<usize> {
        match self {
            Self::One(_) => vec![1024, 1024],
            Self::InPlace => vec![1024],
            Self::Batched { .. } => vec![64, 128, 128],
        }
    }

    fn edge_sizes(self) -> Vec<Vec<usize>> {
        match self {
            Self::One(variant) if variant.vectors => [EDGES.as_slice(), &VECTOR_EDGES].concat(),
            Self::One(_) => EDGES.to_vec(),
            Self::InPlace => [1, 2, 31, 32, 33, 63, 64, 65, 97, 160].map(|n| [n, n]).to_vec(),
            Self::Batched { vectors } => {
                let shapes: &[[usize; 2]] = if vectors { &VECTOR_EDGES } else { &EDGES[..7] };
                return shapes
                    .iter()
                    .map(|&[rows, cols]| vec![3, rows, cols])
                    .chain([vec![9, 33, 16]])
                    .collect();
            }
        }
        .into_iter()
        .map(|size| size[..self.size_names().len()].to_vec())
        .collect()
    }

    /// Matrices, rows and columns of a size.
    fn shape(self, size: &[usize]) -> [usize; 3] {
        match self {
            Self::One(_) => [1, size[0], size[1]],
            Self::InPlace => [1, size[0], size[0]],
            Self::Batched { .. } => [size[0], size[1], size[2]],
        }
    }

    /// What the claims are counted on: whole tiles.
    fn claimed(self, side: usize) -> Vec<usize> {
        match self {
            Self::One(_) => vec![3 * side, 2 * side],
            Self::InPlace => vec![3 * side],
            Self::Batched { .. } => vec![2, side, 2 * side],
        }
    }
}

/// No square is assumed; parts of tiles in every direction; one row, one column.
const EDGES: [[usize; 2]; 9] = [
    [1, 1],
    [1, 1000],
    [1000, 1],
    [31, 33],
    [33, 31],
    [32, 32],
    [65, 64],
    [100, 77],
    [462, 102],
];

/// Rows that start at vectors: one square, parts of tiles, whole tiles. Rows that do not, in one of the two matrices.
const VECTOR_EDGES: [[usize; 2]; 6] = [[16, 16], [48, 144], [128, 128], [80, 272], [160, 67], [66, 144]];

fn step<T: Element + Sample + Debug + Sync>(work: Work) -> Step {
    let element = T::KERNEL;
    let make = move |kernels: &Kernels, size: &[usize], seed| -> Result<Box<dyn Trial>, CatalogueError> {
        let [matrices, rows, cols] = work.shape(size);
        let count = rows.checked_mul(cols).and_then(|each| each.checked_mul(matrices));
        let count = count.filter(|&count| count > 0 && count <= isize::MAX as usize / size_of::<T>());
        let count = count.ok_or(TransposeError::Shape { rows, cols })?;
        let values = T::samples(seed, count);
        Ok(Box::new(TransposeTrial::new(kernels, work, work.shape(size), values)?))
    };
    let claimed = work.claimed(work.like().side(element) as usize);
    let shown: Vec<String> = claimed.iter().map(ToString::to_string).collect();
    Step {
        problem: "transpose",
        name: work.name(),
        element: element.name(),
        entry: entry_point::<T>(work.name()),
        lesson: work.lesson(),
        size_names: work.size_names(),
        usual_size: work.usual_size(),
        edge_sizes: work.edge_sizes(),
        claims: vec![Claim {
            input: format!("{} {}", shown.join(" x "), work.size_names().join(" x ")),
            accesses: accesses::<T>(work.like(), work.shape(&claimed)),
            prepare: Arc::new(move |kernels| make(kernels, &claimed, 1)),
        }],
        prepare: Arc::new(make),
        adopt: Some(Arc::new(move |kernels, size, values| {
            let values = adopted::<T>(values, &entry_point::<T>(work.name()), element.name())?;
            Ok(Box::new(TransposeTrial::new(kernels, work, work.shape(size), values)?))
        })),
    }
}

/// What a variant's accesses cost on matrices of whole tiles, by the layout that its tile has.
fn accesses<T: Element>(variant: &Variant, [matrices, rows, cols]: [usize; 3]) -> Vec<Access> {
    let count = matrices * rows * cols;
    if variant.vectors {
        return vector_accesses::<T>(variant, count);
    }
    let bytes = size_of::<T>();
    // One request for each row of each tile.
    let requests = (count / TILE as usize) as u64;
    let row = bytes as u64;
    let (written, sectors) = if variant.name == "naive" {
        ("a column of the output", 32)
    } else {
        ("a row of the output", row)
    };
    let mut accesses = vec![
        Access::new(Kind::GlobalLoad, "a row of the input", requests, row),
        Access::new(Kind::GlobalStore, written, requests, sectors),
    ];
    let padded = Variant::named("padded").and_then(|padded| padded.tile(T::KERNEL));
    // The dynamic variant's usual tile is the padded one's.
    if let Some(tile) = variant.tile(T::KERNEL).or(padded.filter(|_| variant.dynamic)) {
        let cost = |op, place: &dyn Fn(u32) -> u32| wavefronts(op, bytes, |lane| Some(place(lane))).unwrap_or(0);
        // Where elements are smaller than a word, columns differ: two lanes' elements may share a word or not.
        let each = requests / 32;
        accesses.extend((0..32).flat_map(|i| {
            [
                Access::new(
                    Kind::SharedStore,
                    format!("row {i} of the tile"),
                    each,
                    cost(Op::Store, &|lane| tile.offset(i, lane)),
                ),
                Access::new(
                    Kind::SharedLoad,
                    format!("column {i} of the tile"),
                    each,
                    cost(Op::Load, &|lane| tile.offset(lane, i)),
                ),
            ]
        }));
    }
    accesses
}

/// Every lane moves 16 bytes, of which a warp's lie together in pieces of a tile's row.
fn vector_accesses<T: Element>(variant: &Variant, count: usize) -> Vec<Access> {
    let lanes = (VECTOR_BYTES / size_of::<T>()) as u32;
    let requests = (count / (LANES * lanes as usize)) as u64;
    let mut accesses = vec![
        Access::new(Kind::GlobalLoad, "32 vectors of the input", requests, 16),
        Access::new(Kind::GlobalStore, "32 vectors of the output", requests, 16),
    ];
    if let Some(tile) = variant.tile(T::KERNEL) {
        let [width, ..] = variant.block(T::KERNEL);
        // Of the first warp, whose threads have these vectors of a row and these rows of squares.
        let (vector, square) = (|lane| lane % width * lanes, |lane| lane / width * lanes);
        // The bank model takes what a lane moves for an element, and the layout numbers elements.
        let cost = |op, place: &dyn Fn(u32) -> u32| {
            wavefronts(op, VECTOR_BYTES, |lane| Some(place(lane) / lanes)).unwrap_or(0)
        };
        let store = cost(Op::Store, &|lane| tile.offset(vector(lane), square(lane)));
        let load = cost(Op::Load, &|lane| tile.offset(square(lane), vector(lane)));
        accesses.extend([
            Access::new(Kind::SharedStore, "columns of vectors of the tile", requests, store),
            Access::new(Kind::SharedLoad, "rows of the tile", requests, load),
        ]);
    }
    accesses
}

/// The kernel, ready to launch.
enum Launcher<T> {
    One(Box<TransposeKernel<T>>),
    InPlace(InPlace<T>),
    Batched(Batched<T>),
}

struct TransposeTrial<T> {
    launcher: Launcher<T>,
    work: Work,
    /// Matrices, rows, columns.
    shape: [usize; 3],
    values: Vec<T>,
    input: DeviceBuffer<T>,
    output: DeviceBuffer<T>,
}

impl<T: Element> TransposeTrial<T> {
    fn new(kernels: &Kernels, work: Work, shape: [usize; 3], values: Vec<T>) -> Result<Self, CatalogueError> {
        let [matrices, rows, cols] = shape;
        let each = rows.checked_mul(cols);
        if each.and_then(|each| each.checked_mul(matrices)) != Some(values.len()) || values.is_empty() {
            let given = values.len();
            return Err(TransposeError::Length { given, rows, cols }.into());
        }
        let device = kernels.device();
        let launcher = match work {
            Work::One(variant) => Launcher::One(Box::new(TransposeKernel::of(kernels, variant)?)),
            Work::InPlace => Launcher::InPlace(InPlace::new(kernels)?),
            Work::Batched { vectors } => Launcher::Batched(Batched::new(kernels, vectors)?),
        };
        Ok(Self {
            launcher,
            work,
            shape,
            input: device.upload(&values)?,
            output: device.uninit(values.len())?,
            values,
        })
    }
}

impl<T: Element + Debug + Send + Sync> Trial for TransposeTrial<T> {
    fn launch(&mut self) -> Result<Vec<Launched>, CatalogueError> {
        let [matrices, rows, cols] = self.shape;
        let mut launches = Record::default();
        match &self.launcher {
            Launcher::One(kernel) => {
                self.output.fill_bytes(POISON)?;
                kernel.start(&self.input, &mut self.output, rows, cols, &mut launches)?;
            }
            Launcher::InPlace(kernel) => {
                self.output.copy_from(&self.input)?;
                kernel.start(&mut self.output, rows, &mut launches)?;
            }
            Launcher::Batched(kernel) => {
                self.output.fill_bytes(POISON)?;
                kernel.start(&self.input, &mut self.output, matrices, rows, cols, &mut launches)?;
            }
        }
        Ok(launches.0)
    }

    fn difference(&self) -> Result<Option<String>, CatalogueError> {
        let [_, rows, cols] = self.shape;
        let output = self.output.to_vec()?;
        let difference = if self.work.like().transposes {
            let matrices = self.values.chunks_exact(rows * cols);
            let expected: Vec<T> = matrices
                .flat_map(|matrix| reference::transpose(matrix, rows, cols))
                .collect();
            compare::identical(&output, &expected).map_err(|difference| difference.in_matrix(rows))
        } else {
            compare::identical(&output, &self.values).map_err(|difference| difference.in_matrix(cols))
        };
        Ok(difference.err().map(|difference| difference.to_string()))
    }

    fn bytes(&self) -> u64 {
        2 * self.input.bytes() as u64
    }
}
