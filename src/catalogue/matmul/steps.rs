//! The steps, and what their results are held to.

use std::sync::Arc;

use half::{bf16, f16};

use super::claims::{CLAIMED, accesses};
use super::trial::{Judged, trial, trial_with};
use super::{Gemm, Sizes, Variant};
use crate::catalogue::error::{not_empty, same_length};
use crate::catalogue::step::adopted;
use crate::catalogue::{CatalogueError, Claim, Step};

/// Every kernel, for every element type it exists for.
pub fn steps() -> Vec<Step> {
    let mut steps = Vec::new();
    for variant in Variant::ALL {
        macro_rules! for_each_type {
            ($($ty:ident)*) => {$(
                if variant.takes::<$ty>() {
                    steps.push(step::<$ty>(variant));
                }
            )*};
        }
        for_each_type!(f32 f64 f16 bf16);
    }
    steps
}

/// One of everything; one row, one column, one step along k; parts of tiles in every direction; rows that no vector fits;
/// whole tiles.
const EDGES: [[usize; 3]; 8] = [
    [1, 1, 1],
    [1, 65, 7],
    [65, 1, 33],
    [7, 9, 1],
    [33, 31, 8],
    [64, 64, 32],
    [129, 100, 12],
    [40, 132, 17],
];

fn lesson(variant: Variant) -> &'static str {
    match variant {
        Variant::Naive => "two numbers from global memory for each product",
        Variant::Tiled => "a tile in shared memory serves 32 times; a transposed one is stored into one bank",
        Variant::TiledPadded => "one unused column spreads that over all banks",
        Variant::RegisterTiled => "8 x 8 sums a thread: what comes from shared memory serves 8 times",
        Variant::DoubleBuffered => "the next tiles come meanwhile, half the barriers go",
        Variant::Tensor => "16 x 16 by 16 x 8 an instruction, fed from a swizzled tile without conflicts",
    }
}

fn step<T: Judged>(variant: Variant) -> Step {
    let entry = variant.entry::<T>();
    let name_of_step = entry.clone();
    Step {
        problem: "matmul",
        name: variant.name(),
        element: T::NAME,
        entry,
        lesson: lesson(variant),
        size_names: &["m", "n", "k"],
        usual_size: vec![128, 128, 128],
        edge_sizes: EDGES.map(Vec::from).to_vec(),
        claims: [false, true].map(|transposed| claim::<T>(variant, transposed)).to_vec(),
        prepare: Arc::new(move |kernels, size, seed| {
            let gemm = Gemm::new(sizes(size)?);
            Ok(trial::<T>(kernels, variant, &gemm, seed)?)
        }),
        adopt: Some(Arc::new(move |kernels, size, values| {
            let mut a = adopted::<T>(values, &name_of_step, T::NAME)?;
            let gemm = Gemm::new(sizes(size)?);
            let [of_a, of_b] = [gemm.stored_a(), gemm.stored_b()].map(|stored| stored.len() as usize);
            same_length("matmul", "A followed by B", a.len(), of_a + of_b)?;
            let b = a.split_off(of_a);
            Ok(trial_with(kernels, variant, &gemm, a, b, Vec::new())?)
        })),
    }
}

fn sizes(size: &[usize]) -> Result<Sizes, CatalogueError> {
    let [m, n, k] = [size[0], size[1], size[2]];
    for (what, number) in [("m", m), ("n", n), ("k", k)] {
        not_empty("matmul", what, number)?;
    }
    Ok(Sizes { m, n, k })
}

fn claim<T: Judged>(variant: Variant, transposed: bool) -> Claim {
    let Sizes { m, n, k } = CLAIMED;
    let gemm = Gemm::new(CLAIMED);
    let (gemm, how) = if transposed {
        (gemm.transposed_a().transposed_b(), ", A and B transposed in memory")
    } else {
        (gemm, "")
    };
    Claim {
        input: format!("m {m}, n {n}, k {k}{how}"),
        accesses: accesses(variant, size_of::<T>() as u64, transposed),
        prepare: Arc::new(move |kernels| Ok(trial::<T>(kernels, variant, &gemm, 1)?)),
    }
}
