//! What the transposes' accesses cost: the numbers that the table, the kernels' docs and the book claim.

use tile33::layout::WarpAccess;
use tile33::sim::Counters;
use tile33::transpose::{ALL, Element, KernelElement, TILE, TransposeKernel, Variant};
use tile33::{Device, Kernels};

/// A matrix of whole tiles.
const ROWS: usize = 96;
const COLS: usize = 64;

/// Counts on a matrix of whole tiles: what a partial tile costs depends on where it ends.
fn counters<T: Element>(variant: &Variant) -> Counters {
    let device = Device::emulator();
    let kernels = Kernels::new(&device);
    let kernel = TransposeKernel::<T>::of(&kernels, variant).unwrap();
    let x = device.zeros::<T>(ROWS * COLS).unwrap();
    let mut y = device.uninit::<T>(ROWS * COLS).unwrap();
    kernel
        .run(&x, &mut y, ROWS, COLS)
        .unwrap()
        .clean()
        .unwrap()
        .report
        .unwrap()
        .counters
}

fn named(name: &str) -> &'static Variant {
    Variant::named(name).unwrap()
}

/// Tiles of that matrix.
const TILES: u64 = (ROWS / TILE as usize * (COLS / TILE as usize)) as u64;

/// One request for each row of each tile.
const REQUESTS: u64 = TILE as u64 * TILES;

#[test]
fn a_column_of_an_unpadded_tile_costs_32_wavefronts_and_of_a_padded_or_swizzled_one_1() {
    for (name, load) in [("tiled", 32), ("padded", 1), ("swizzled", 1), ("dynamic", 1)] {
        let Counters {
            shared_load,
            shared_store,
            ..
        } = counters::<f32>(named(name));
        assert_eq!(
            (shared_load.requests, shared_load.wavefronts),
            (REQUESTS, load * REQUESTS),
            "{name}"
        );
        assert_eq!(
            (shared_store.requests, shared_store.wavefronts),
            (REQUESTS, REQUESTS),
            "{name}"
        );
        assert_eq!(shared_load.ideal, REQUESTS, "{name}");
    }
}

#[test]
fn copy_and_naive_use_no_shared_memory() {
    for name in ["copy", "naive"] {
        let counters = counters::<f32>(named(name));
        assert_eq!(
            (
                counters.shared_load.requests,
                counters.shared_store.requests,
                counters.barriers
            ),
            (0, 0, 0)
        );
    }
}

#[test]
fn naive_writes_a_sector_for_every_lane_and_all_else_is_coalesced() {
    fn sectors<T: Element>() {
        for variant in ALL.iter().filter(|variant| !variant.vectors) {
            let Counters {
                global_load,
                global_store,
                ..
            } = counters::<T>(variant);
            let coalesced = size_of::<T>() as u64 * REQUESTS;
            assert_eq!(
                (global_load.requests, global_store.requests),
                (REQUESTS, REQUESTS),
                "{}",
                variant.name
            );
            assert_eq!(global_load.sectors, coalesced, "{}", variant.name);
            let stores = if variant.name == "naive" {
                32 * REQUESTS
            } else {
                coalesced
            };
            assert_eq!(global_store.sectors, stores, "{}", variant.name);
        }
    }
    sectors::<f32>();
    sectors::<f64>();
    sectors::<u16>();
    sectors::<u8>();
    sectors::<u128>();
}

/// Whole tiles of every element type: 128 rows and columns at most.
#[test]
fn the_vector_kernel_moves_16_bytes_a_lane_without_a_conflict_and_all_of_every_sector() {
    fn costs<T: Element>() {
        let variant = named("vectorized");
        let kernels = Kernels::new(&Device::emulator());
        let kernel = TransposeKernel::<T>::of(&kernels, variant).unwrap();
        let (rows, cols) = (256, 128);
        let x = kernels.device().zeros::<T>(rows * cols).unwrap();
        let mut y = kernels.device().uninit::<T>(rows * cols).unwrap();
        let run = kernel.run(&x, &mut y, rows, cols).unwrap().clean().unwrap();
        let counters = run.report.unwrap().counters;
        let requests = (rows * cols * size_of::<T>() / 512) as u64;
        let name = variant.entry(T::KERNEL);
        for shared in [counters.shared_load, counters.shared_store] {
            assert_eq!(
                (shared.requests, shared.wavefronts, shared.ideal),
                (requests, 4 * requests, 4 * requests),
                "{name}"
            );
        }
        for global in [counters.global_load, counters.global_store] {
            assert_eq!((global.requests, global.sectors), (requests, 16 * requests), "{name}");
            assert_eq!(global.ideal_sectors, global.sectors, "{name}");
        }
    }
    costs::<f32>();
    costs::<f64>();
    costs::<u16>();
    costs::<u8>();
    costs::<u128>();
}

/// The emulator's counts, from the addresses that the PTX computes, against the bank model on the layout that the variant
/// says it has.
#[test]
fn every_tile_costs_what_the_bank_model_says_of_its_layout() {
    fn agrees<T: Element>(element: KernelElement) {
        for variant in ALL.iter().filter(|variant| !variant.vectors) {
            let Some(tile) = variant.tile(element) else { continue };
            let bytes = element.size();
            let address = |row: u32, col: u32| Some(u64::from(tile.offset(row, col) * bytes));
            // Columns do not all cost the same: in rows of 33 two-byte elements, every other column starts mid-word.
            let column = |col| {
                WarpAccess::shared_load(bytes, |lane| address(lane, col))
                    .unwrap()
                    .wavefronts()
            };
            let row = |row| {
                WarpAccess::shared_store(bytes, |lane| address(row, lane))
                    .unwrap()
                    .wavefronts()
            };
            let a_tile = |cost: &dyn Fn(u32) -> u32| (0..TILE).map(|line| u64::from(cost(line))).sum::<u64>();
            let Counters {
                shared_load,
                shared_store,
                ..
            } = counters::<T>(variant);
            let name = variant.entry(element);
            assert_eq!(shared_load.wavefronts, a_tile(&column) * TILES, "{name}");
            assert_eq!(shared_store.wavefronts, a_tile(&row) * TILES, "{name}");
        }
    }
    agrees::<f32>(KernelElement::F32);
    agrees::<f64>(KernelElement::F64);
    agrees::<u16>(KernelElement::U16);
    agrees::<u8>(KernelElement::U8);
    agrees::<u128>(KernelElement::U128);
}
