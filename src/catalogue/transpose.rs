//! The transpose.
//!
//! ```
//! use tile33::prelude::*;
//!
//! let device = Device::open();
//! let matrix = device.upload(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?; // 2 rows, 3 columns
//! let mut transposed = device.uninit(6)?;
//! device.transpose(&matrix, &mut transposed, 2, 3)?;
//! assert_eq!(transposed.to_vec()?, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! For every element type of 1, 2, 4 or 8 bytes, bit by bit: NaN keeps its payload. **Deterministic**.
//! [`tile33::transpose`](mod@crate::transpose) has the variants one by one.

use std::fmt::Debug;
use std::sync::Arc;

use tile33_host::{Device, DeviceBuffer, compare, reference};
use tile33_layout::{Op, Space, WarpAccess};

use super::data::{POISON, Sample};
use super::step::adopted;
use super::{Access, CatalogueError, Claim, Kind, Launched, Step, Trial};
use crate::Kernels;
use crate::transpose::{ALL, Element, TransposeError, TransposeKernel, Variant, best};

/// Transposes, as a method of [`Device`].
pub trait Transpose {
    /// Writes the transpose of the `rows` x `cols` matrix in `input` to `output`, both dense and row-major. Buffers may be
    /// longer than the matrix.
    ///
    /// # Errors
    /// When the matrix is empty, has more rows or columns than 2^32 - 1, or does not fit into a buffer; nothing has run
    /// then. When the device fails.
    fn transpose<T: Element>(
        &self,
        input: &DeviceBuffer<T>,
        output: &mut DeviceBuffer<T>,
        rows: usize,
        cols: usize,
    ) -> Result<(), TransposeError>;
}

impl Transpose for Device {
    fn transpose<T: Element>(
        &self,
        input: &DeviceBuffer<T>,
        output: &mut DeviceBuffer<T>,
        rows: usize,
        cols: usize,
    ) -> Result<(), TransposeError> {
        let kernels = Kernels::of(self);
        let kernel: Arc<TransposeKernel<T>> = self.extension(|_| TransposeKernel::of(&kernels, best()))?;
        kernel.run(input, output, rows, cols)?.clean()?;
        Ok(())
    }
}

/// Every variant, for every element size.
pub fn steps() -> Vec<Step> {
    ALL.iter()
        .flat_map(|variant| {
            [
                step::<f32>(variant),
                step::<f64>(variant),
                step::<u16>(variant),
                step::<u8>(variant),
            ]
        })
        .collect()
}

/// The matrix that the claims are counted on: whole tiles.
const CLAIMED: [usize; 2] = [96, 64];

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

fn step<T: Element + Sample + Debug + Sync>(variant: &'static Variant) -> Step {
    let element = T::KERNEL;
    let make = move |kernels: &Kernels, [rows, cols]: [usize; 2], seed| -> Result<Box<dyn Trial>, CatalogueError> {
        Ok(Box::new(TransposeTrial::<T>::new(kernels, variant, rows, cols, seed)?))
    };
    Step {
        problem: "transpose",
        name: variant.name,
        element: element.name(),
        entry: variant.entry(element).to_owned(),
        lesson: lesson(variant.name),
        size_names: &["rows", "columns"],
        usual_size: vec![1024, 1024],
        edge_sizes: EDGES.map(Vec::from).to_vec(),
        claims: vec![Claim {
            input: format!("{} x {} elements", CLAIMED[0], CLAIMED[1]),
            accesses: accesses(variant, size_of::<T>() as u32),
            prepare: Arc::new(move |kernels| make(kernels, CLAIMED, 1)),
        }],
        prepare: Arc::new(move |kernels, size, seed| make(kernels, [size[0], size[1]], seed)),
        adopt: Some(Arc::new(move |kernels, size, values| {
            let values = adopted::<T>(values, variant.entry(element), element.name())?;
            Ok(Box::new(TransposeTrial::of(
                kernels, variant, size[0], size[1], values,
            )?))
        })),
    }
}

fn lesson(variant: &str) -> &'static str {
    match variant {
        "copy" => "the bound: as many bytes, nothing transposed",
        "naive" => "rows read, columns written: a sector for every lane",
        "tiled" => "shared memory turns the tile, but its columns lie in one bank",
        "padded" => "one unused column spreads each column over all banks",
        "swizzled" => "so does permuting each row, without the unused column",
        "dynamic" => "the same, with tile and pitch chosen at the launch",
        _ => "",
    }
}

/// One request for each row of each tile, by the layout that the variant's tile has.
fn accesses(variant: &Variant, bytes: u32) -> Vec<Access> {
    let requests = (CLAIMED[0] * CLAIMED[1] / 32) as u64;
    let row = u64::from(bytes);
    let written = if variant.name == "naive" { 32 } else { row };
    let mut accesses = vec![
        Access::new(Kind::GlobalLoad, "a row of the input", requests, row),
        Access::new(
            Kind::GlobalStore,
            if written == 32 {
                "a column of the output"
            } else {
                "a row of the output"
            },
            requests,
            written,
        ),
    ];
    let padded = Variant::named("padded").and_then(|padded| padded.tile);
    // The dynamic variant's usual tile is the padded one's.
    if let Some(tile) = variant.tile.or(padded.filter(|_| variant.dynamic)) {
        let cost = |op, place: &dyn Fn(u32) -> u32| {
            let access = WarpAccess::from_fn(Space::Shared, op, bytes, |lane| Some(u64::from(place(lane) * bytes)));
            access.map_or(0, |access| access.wavefronts().into())
        };
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

struct TransposeTrial<T> {
    kernel: TransposeKernel<T>,
    variant: &'static Variant,
    rows: usize,
    cols: usize,
    values: Vec<T>,
    input: DeviceBuffer<T>,
    output: DeviceBuffer<T>,
}

impl<T: Element + Sample> TransposeTrial<T> {
    fn new(
        kernels: &Kernels,
        variant: &'static Variant,
        rows: usize,
        cols: usize,
        seed: u64,
    ) -> Result<Self, CatalogueError> {
        let count = rows.checked_mul(cols);
        let count = count.filter(|&count| count > 0 && count <= isize::MAX as usize / size_of::<T>());
        let count = count.ok_or(TransposeError::Shape { rows, cols })?;
        Self::of(kernels, variant, rows, cols, T::samples(seed, count))
    }

    fn of(
        kernels: &Kernels,
        variant: &'static Variant,
        rows: usize,
        cols: usize,
        values: Vec<T>,
    ) -> Result<Self, CatalogueError> {
        if rows.checked_mul(cols) != Some(values.len()) || values.is_empty() {
            let given = values.len();
            return Err(TransposeError::Length { given, rows, cols }.into());
        }
        let device = kernels.device();
        Ok(Self {
            kernel: TransposeKernel::of(kernels, variant)?,
            variant,
            rows,
            cols,
            input: device.upload(&values)?,
            output: device.uninit(values.len())?,
            values,
        })
    }
}

impl<T: Element + Debug + Send + Sync> Trial for TransposeTrial<T> {
    fn launch(&mut self) -> Result<Vec<Launched>, CatalogueError> {
        self.output.fill_bytes(POISON)?;
        let run = self.kernel.run(&self.input, &mut self.output, self.rows, self.cols)?;
        Ok(vec![Launched {
            config: self.kernel.config(self.rows, self.cols)?,
            static_shared: self.kernel.static_shared(),
            run,
        }])
    }

    fn difference(&self) -> Result<Option<String>, CatalogueError> {
        let output = self.output.to_vec()?;
        let difference = if self.variant.transposes {
            let expected = reference::transpose(&self.values, self.rows, self.cols);
            compare::identical(&output, &expected).map_err(|difference| difference.in_matrix(self.rows))
        } else {
            compare::identical(&output, &self.values).map_err(|difference| difference.in_matrix(self.cols))
        };
        Ok(difference.err().map(|difference| difference.to_string()))
    }

    fn bytes(&self) -> u64 {
        2 * self.input.bytes() as u64
    }
}
