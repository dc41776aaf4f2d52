//! The steps, from a thread that reads all it needs itself to both passes in one kernel.

use std::fmt::Debug;
use std::sync::Arc;

use bytemuck::Pod;
use kernels_gpu::convolve::{Columns, MAX_RADIUS, PaddedColumns, SwizzledColumns, TAUGHT, Tile};
use tile33_host::DeviceBuffer;
use tile33_host::reference::convolve::{self as reference, Image};
use tile33_host::reference::{Estimate, first_outside};
use tile33_layout::{Shape, StaticLayout};

use super::pass::{Pass, Sizes, entry as entry_point};
use super::{Border, PROBLEM, Pixel, claims, same_length};
use crate::Kernels;
use crate::catalogue::data::{POISON, Random, Sample};
use crate::catalogue::step::adopted;
use crate::catalogue::{CatalogueError, Claim, Launched, Record, Step, Trial};

/// Every kernel, for every pixel type and radius.
///
/// The numbers of a size are rows, columns, and the border, by its place in [`Border::ALL`]. A step of two passes claims the
/// costs of the second, which is what it is about; the first is a step of its own, `rows`. Filters are random.
pub fn steps() -> Vec<Step> {
    let mut steps = Vec::new();
    for method in &METHODS {
        for &radius in method.radii {
            steps.extend([step::<f32>(method, radius), step::<u8>(method, radius)]);
        }
    }
    steps
}

const ALL_RADII: [usize; MAX_RADIUS] = {
    let mut radii = [0; MAX_RADIUS];
    let mut i = 0;
    while i < MAX_RADIUS {
        radii[i] = i + 1;
        i += 1;
    }
    radii
};

/// One kernel, or two one after the other.
#[derive(Debug)]
pub(super) struct Method {
    pub(super) name: &'static str,
    /// The kernel whose entry point the step has.
    kernel: &'static str,
    lesson: &'static str,
    pub(super) way: Way,
    radii: &'static [usize],
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Way {
    /// A square of weights, by a kernel of this tile.
    Square(Tile),
    /// The same, the filter's rows and columns chosen at the launch.
    Any,
    /// Along the rows only.
    Rows,
    /// Along the rows, then along the columns, through a tile of this shape.
    RowsThenColumns(Shape<'static>),
    /// Both in one kernel.
    Fused,
}

const METHODS: [Method; 8] = [
    Method {
        name: "naive",
        kernel: "naive",
        lesson: "a thread reads all pixels around its own from global memory",
        way: Way::Square(Tile::NAIVE),
        radii: &TAUGHT,
    },
    Method {
        name: "tiled",
        kernel: "tiled",
        lesson: "a tile and its halo are read once, and shared",
        way: Way::Square(Tile::TILED),
        radii: &ALL_RADII,
    },
    Method {
        name: "rows",
        kernel: "rows",
        lesson: "a product of lines, along the rows: vectors side by side have no conflicts",
        way: Way::Rows,
        radii: &TAUGHT,
    },
    Method {
        name: "separable",
        kernel: "columns",
        lesson: "then along the columns, by vectors of a transposed tile: its rows all start in bank 0",
        way: Way::RowsThenColumns(<Columns as StaticLayout>::SHAPE),
        radii: &TAUGHT,
    },
    Method {
        name: "separable_padded",
        kernel: "columns_padded",
        lesson: "one unused vector a row: eight lanes' vectors lie in all banks",
        way: Way::RowsThenColumns(<PaddedColumns as StaticLayout>::SHAPE),
        radii: &TAUGHT,
    },
    Method {
        name: "separable_swizzled",
        kernel: "columns_swizzled",
        lesson: "so do permuted vectors, and nothing is unused",
        way: Way::RowsThenColumns(<SwizzledColumns as StaticLayout>::SHAPE),
        radii: &TAUGHT,
    },
    Method {
        name: "fused",
        kernel: "fused",
        lesson: "both passes at once: global memory is read and written once",
        way: Way::Fused,
        radii: &ALL_RADII,
    },
    Method {
        name: "any",
        kernel: "any",
        lesson: "the naive kernel for a radius chosen at the launch, here 9",
        way: Way::Any,
        radii: &[9],
    },
];

impl Method {
    /// The kernel of this radius.
    fn kernel(&self, radius: usize) -> String {
        match self.way {
            Way::Any => self.kernel.to_owned(),
            _ => format!("{}_r{radius}", self.kernel),
        }
    }
}

/// Sizes around the ends of vectors, warps and tiles; images smaller than the filter; with every border.
const EDGES: [[usize; 3]; 11] = [
    [1, 1, 0],
    [1, 1, 2],
    [1, 1, 3],
    [2, 3, 2],
    [3, 2, 3],
    [1, 200, 2],
    [70, 1, 1],
    [33, 31, 0],
    [31, 129, 3],
    [61, 68, 1],
    [9, 260, 0],
];

fn step<P: Judged>(method: &'static Method, radius: usize) -> Step {
    let entry = entry_point::<P>(&method.kernel(radius));
    let name_of_step = entry.clone();
    let make =
        move |kernels: &Kernels, size: &[usize], seed, pixels: Vec<P>| -> Result<Box<dyn Trial>, CatalogueError> {
            Ok(Box::new(ConvolveTrial::new(
                kernels, method, radius, size, seed, pixels,
            )?))
        };
    let claimed = claims::size(method.way, radius);
    Step {
        problem: PROBLEM,
        name: method.name,
        element: P::NAME,
        entry,
        lesson: method.lesson,
        size_names: &["rows", "columns", "border (0 zero, 1 clamp, 2 mirror, 3 wrap)"],
        usual_size: vec![256, 256, 2],
        edge_sizes: EDGES.map(Vec::from).to_vec(),
        claims: vec![Claim {
            input: format!("{} x {} pixels, clamped", claimed[0], claimed[1]),
            accesses: claims::accesses(method.way, radius, size_of::<P>()),
            prepare: Arc::new(move |kernels| make(kernels, &claimed, 1, P::samples(1, claimed[0] * claimed[1]))),
        }],
        prepare: Arc::new(move |kernels, size, seed| {
            let pixels = Sizes::new(size[0], size[1])?.pixels();
            make(kernels, size, seed, P::samples(seed, pixels))
        }),
        adopt: Some(Arc::new(move |kernels, size, pixels| {
            make(kernels, size, 1, adopted::<P>(pixels, &name_of_step, P::NAME)?)
        })),
    }
}

/// A pixel type whose results the CPU can judge.
trait Judged: Pixel + Sample + Debug {
    /// A random weight of a filter of so many; sums of pixels stay in the range of the type, mostly.
    fn weight(random: &mut Random, of: usize) -> f32;

    /// The first of the pixels that is wrong.
    fn wrong(got: &[Self], expected: &[Estimate]) -> Option<String>;
}

impl Judged for f32 {
    fn weight(random: &mut Random, _of: usize) -> f32 {
        random.signed_unit() as f32
    }

    fn wrong(got: &[Self], expected: &[Estimate]) -> Option<String> {
        first_outside(got, expected).map(|outside| outside.to_string())
    }
}

impl Judged for u8 {
    fn weight(random: &mut Random, of: usize) -> f32 {
        ((random.signed_unit() + 0.5) * 2.0 / of as f64) as f32
    }

    fn wrong(got: &[Self], expected: &[Estimate]) -> Option<String> {
        let pairs = got.iter().zip(expected);
        let index = pairs.clone().position(|(&got, expected)| !expected.admits_pixel(got))?;
        let Estimate { value, bound } = expected[index];
        Some(format!(
            "pixel {index} is {}; {value} within {bound:e}, rounded, was expected",
            got[index]
        ))
    }
}

/// The filter of a trial.
#[derive(Debug)]
enum Weights {
    Square(Vec<f32>),
    Lines(Vec<f32>, Vec<f32>),
}

/// The kernels of a method, with what they need besides the images.
enum Passes<P> {
    Square(Pass<P, P>, DeviceBuffer<f32>),
    Any(Pass<P, P>, DeviceBuffer<f32>),
    Rows(Pass<P, f32>),
    RowsThenColumns(Box<(Pass<P, f32>, Pass<f32, P>)>),
    Fused(Pass<P, P>),
}

struct ConvolveTrial<P> {
    passes: Passes<P>,
    sizes: Sizes,
    radius: usize,
    border: Border,
    weights: Weights,
    pixels: Vec<P>,
    image: DeviceBuffer<P>,
    filtered: DeviceBuffer<P>,
    /// What the rows make for the columns; of no pixels where there is no such pass.
    between: DeviceBuffer<f32>,
}

impl<P: Judged> ConvolveTrial<P> {
    fn new(
        kernels: &Kernels,
        method: &Method,
        radius: usize,
        size: &[usize],
        seed: u64,
        pixels: Vec<P>,
    ) -> Result<Self, CatalogueError> {
        let sizes = Sizes::new(size[0], size[1])?;
        same_length(PROBLEM, "the image", pixels.len(), sizes.pixels())?;
        let border = Border::ALL.get(size[2]).ok_or(CatalogueError::Parameter {
            problem: PROBLEM,
            what: "the border",
            given: size[2] as u64,
            possible: "0 is zero, 1 clamp, 2 mirror, 3 wrap",
        })?;
        let mut random = Random::new(!seed);
        let side = 2 * radius + 1;
        let mut line = |len: usize| -> Vec<f32> { (0..len).map(|_| P::weight(&mut random, len)).collect() };
        let weights = match method.way {
            Way::Square(_) | Way::Any => Weights::Square(line(side * side)),
            // One weight, 1, across the rows.
            Way::Rows => Weights::Lines(line(side), (0..side).map(|i| f32::from(i == radius)).collect()),
            Way::RowsThenColumns(_) | Way::Fused => Weights::Lines(line(side), line(side)),
        };
        let device = kernels.device();
        let name = method.kernel(radius);
        let uploaded = |weights: &Weights| match weights {
            Weights::Square(weights) => device.upload(weights),
            Weights::Lines(..) => device.uninit(0),
        };
        let rows = || Pass::new::<P>(kernels, &format!("rows_r{radius}"), Tile::ROWS);
        let passes = match method.way {
            Way::Square(tile) => Passes::Square(Pass::new::<P>(kernels, &name, tile)?, uploaded(&weights)?),
            Way::Any => Passes::Any(Pass::new::<P>(kernels, &name, Tile::NAIVE)?, uploaded(&weights)?),
            Way::Rows => Passes::Rows(rows()?),
            Way::RowsThenColumns(_) => {
                let columns = Pass::new::<P>(kernels, &name, Tile::columns(radius as u32))?;
                Passes::RowsThenColumns(Box::new((rows()?, columns)))
            }
            Way::Fused => Passes::Fused(Pass::new::<P>(kernels, &name, Tile::FUSED)?),
        };
        let between = match method.way {
            Way::Rows | Way::RowsThenColumns(_) => pixels.len(),
            _ => 0,
        };
        Ok(Self {
            passes,
            sizes,
            radius,
            border: *border,
            weights,
            image: device.upload(&pixels)?,
            filtered: device.uninit(pixels.len())?,
            between: device.uninit(between)?,
            pixels,
        })
    }

    fn expected(&self) -> Vec<Estimate> {
        let image = Image {
            pixels: &self.pixels,
            rows: self.sizes.rows as usize,
            cols: self.sizes.cols as usize,
        };
        match &self.weights {
            Weights::Square(weights) => reference::convolve(image, weights, self.radius, self.border),
            Weights::Lines(across, down) => reference::separable(image, across, down, self.border),
        }
    }
}

fn poison<T: Pod>(buffer: &mut DeviceBuffer<T>) -> Result<(), CatalogueError> {
    if !buffer.is_empty() {
        buffer.fill_bytes(POISON)?;
    }
    Ok(())
}

impl<P: Judged> Trial for ConvolveTrial<P> {
    fn launch(&mut self) -> Result<Vec<Launched>, CatalogueError> {
        let Self {
            passes,
            sizes,
            border,
            weights,
            image,
            filtered,
            between,
            ..
        } = self;
        poison(filtered)?;
        poison(between)?;
        let mut launches = Record::default();
        let lines = match weights {
            Weights::Lines(across, down) => (&across[..], &down[..]),
            Weights::Square(_) => (&[][..], &[][..]),
        };
        match passes {
            Passes::Square(pass, weights) => {
                pass.with_weights(image, filtered, *sizes, *border, weights, &mut launches)?;
            }
            Passes::Any(pass, weights) => {
                let side = 2 * self.radius + 1;
                pass.with_any_weights(image, filtered, *sizes, *border, (weights, side, side), &mut launches)?;
            }
            Passes::Rows(rows) => rows.with_lines(image, between, *sizes, *border, lines, &mut launches)?,
            Passes::RowsThenColumns(both) => {
                let (rows, columns) = &**both;
                rows.with_lines(image, between, *sizes, *border, lines, &mut launches)?;
                columns.with_lines(between, filtered, *sizes, *border, lines, &mut launches)?;
                // The one that the step is about first.
                launches.0.reverse();
            }
            Passes::Fused(pass) => pass.with_lines(image, filtered, *sizes, *border, lines, &mut launches)?,
        }
        Ok(launches.0)
    }

    fn difference(&self) -> Result<Option<String>, CatalogueError> {
        let expected = self.expected();
        Ok(match &self.passes {
            Passes::Rows(_) => f32::wrong(&self.between.to_vec()?, &expected),
            _ => P::wrong(&self.filtered.to_vec()?, &expected),
        })
    }

    fn bytes(&self) -> u64 {
        let written = match &self.passes {
            Passes::Rows(_) => self.between.bytes(),
            _ => self.filtered.bytes(),
        };
        (self.image.bytes() + written) as u64
    }
}
