//! What the transposes' accesses cost: the numbers that the table, the kernels' docs and the book claim.

use tile33::layout::WarpAccess;
use tile33::sim::Counters;
use tile33::transpose::{ALL, Element, KernelElement, TransposeKernel, Variant};
use tile33::{Device, kernels};

/// Rows and columns of a tile.
const TILE: u32 = 32;

/// Counts on a matrix of whole tiles: what a partial tile costs depends on where it ends.
fn counters<T: Element>(variant: &Variant) -> Counters {
    let device = Device::emulator();
    let module = kernels::load(&device).unwrap();
    let kernel = TransposeKernel::<T>::new(&module, variant).unwrap();
    let (rows, cols) = (96, 64);
    let x = device.zeros::<T>(rows * cols).unwrap();
    let mut y = device.uninit::<T>(rows * cols).unwrap();
    kernel
        .run(&x, &mut y, rows, cols)
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

/// One request for each row of each tile.
const REQUESTS: u64 = 96 * 64 / 32;

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
        for variant in ALL {
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
}

/// The emulator's counts, from the addresses that the PTX computes, against the bank model on the layout that the variant
/// says it has.
#[test]
fn every_tile_costs_what_the_bank_model_says_of_its_layout() {
    fn agrees<T: Element>(element: KernelElement) {
        for variant in ALL {
            let Some(tile) = variant.tile else { continue };
            let address = |row: u32, col: u32| Some(u64::from(tile.offset(row, col) * element.size()));
            let bytes = element.size();
            // Narrow elements share words, so that columns differ: odd ones of a padded 16-bit tile cost 2, even ones 1.
            let load: u32 = (0..TILE)
                .map(|col| {
                    WarpAccess::shared_load(bytes, |lane| address(lane, col))
                        .unwrap()
                        .wavefronts()
                })
                .sum();
            let store: u32 = (0..TILE)
                .map(|row| {
                    WarpAccess::shared_store(bytes, |lane| address(row, lane))
                        .unwrap()
                        .wavefronts()
                })
                .sum();
            let tiles = REQUESTS / u64::from(TILE);
            let counted = counters::<T>(variant);
            let name = variant.entry(element);
            assert_eq!(counted.shared_load.wavefronts, u64::from(load) * tiles, "{name}");
            assert_eq!(counted.shared_store.wavefronts, u64::from(store) * tiles, "{name}");
        }
    }
    agrees::<f32>(KernelElement::F32);
    agrees::<f64>(KernelElement::F64);
    agrees::<u16>(KernelElement::U16);
    agrees::<u8>(KernelElement::U8);
}
