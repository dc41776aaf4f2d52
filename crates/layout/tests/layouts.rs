//! Layouts place every element once, and the conflicts that they are for are gone.
#![expect(
    clippy::unusual_byte_groupings,
    reason = "offsets are grouped by the fields of their swizzle"
)]

use std::collections::BTreeSet;

use proptest::prelude::*;
use tile33_layout::{
    Blocked, Layout, Pitched, RowMajor, Shape, ShapeError, Skewed, StaticLayout, Strided, Swizzled, Typed, WarpAccess,
    XorBits, XorColumns,
};

/// Every coordinate has a place of its own within the storage, and the way back is right from everywhere.
fn is_a_layout(layout: impl Layout) {
    let mut places = BTreeSet::new();
    for row in 0..layout.rows() {
        for col in 0..layout.cols() {
            let place = layout.offset(row, col);
            assert!(
                place < layout.storage(),
                "({row}, {col}) is at {place}, past {}",
                layout.storage()
            );
            assert!(places.insert(place), "({row}, {col}) shares {place}");
            assert_eq!(layout.coordinates(place), Some((row, col)));
            assert_eq!(layout.checked_offset(row, col), Some(place));
        }
    }
    for place in 0..layout.storage() + 100 {
        assert_eq!(
            layout.coordinates(place).is_some(),
            places.contains(&place),
            "offset {place}"
        );
    }
    assert_eq!(layout.checked_offset(layout.rows(), 0), None);
    assert_eq!(layout.checked_offset(0, layout.cols()), None);
    let vector = layout.vector();
    assert!(vector.is_power_of_two() && layout.cols().is_multiple_of(vector));
    for row in 0..layout.rows() {
        for first in (0..layout.cols()).step_by(vector as usize) {
            let place = layout.offset(row, first);
            assert!(
                place.is_multiple_of(vector),
                "({row}, {first}) is at {place}, no multiple of {vector}"
            );
            assert!(
                (0..vector).all(|more| layout.offset(row, first + more) == place + more),
                "({row}, {first})"
            );
        }
    }
}

/// A type and its value agree on everything.
fn agrees_with_its_shape<L: StaticLayout>() -> L {
    let (layout, shape) = (L::NEW, L::SHAPE);
    assert_eq!(shape.check(), Ok(()));
    assert_eq!((layout.rows(), layout.cols()), (shape.rows(), shape.cols()));
    assert_eq!((layout.storage(), layout.vector()), (shape.storage(), shape.vector()));
    assert_eq!((L::ROWS, L::COLS), (shape.rows() as usize, shape.cols() as usize));
    assert_eq!(
        (L::STORAGE, L::VECTOR),
        (shape.storage() as usize, shape.vector() as usize)
    );
    for row in 0..layout.rows() {
        for col in 0..layout.cols() {
            assert_eq!(layout.offset(row, col), shape.offset(row, col), "({row}, {col})");
        }
    }
    layout
}

macro_rules! layouts {
    ($($name:ident: $layout:ty;)*) => {$(
        #[test]
        fn $name() {
            is_a_layout(agrees_with_its_shape::<$layout>());
        }
    )*};
}

layouts! {
    plain_rows: RowMajor<32, 32>;
    padded_rows: RowMajor<32, 32, 33>;
    rows_padded_for_vectors: RowMajor<16, 64, 68>;
    odd_rows: RowMajor<3, 5, 7>;
    a_single_row: RowMajor<1, 24>;
    a_single_element: RowMajor<1, 1>;
    xor_of_a_square: XorColumns<32, 32>;
    xor_of_a_wide_tile: XorColumns<8, 64, 32>;
    xor_of_a_width_that_is_no_power_of_two: XorColumns<16, 24, 8>;
    xor_of_period_one: XorColumns<4, 6, 1>;
    swizzle_that_is_xor: Swizzled<RowMajor<32, 32>, 5, 0, 5>;
    swizzle_that_keeps_vectors: Swizzled<RowMajor<32, 32>, 3, 2, 3>;
    swizzle_that_reads_higher_rows: Swizzled<RowMajor<64, 16>, 4, 0, 6>;
    swizzle_of_nothing: Swizzled<RowMajor<3, 5, 7>, 0, 0, 0>;
    swizzle_downwards: Swizzled<RowMajor<32, 32>, 3, 1, -4>;
    swizzle_of_padded_rows: Swizzled<RowMajor<32, 32, 36>, 2, 2, 4>;
    swizzle_of_a_swizzle: Swizzled<Swizzled<RowMajor<32, 32>, 2, 0, 5>, 2, 3, 4>;
    elements_apart: Strided<40, 3>;
    elements_side_by_side: Strided<64>;
    a_place_left_free: Skewed<100, 32>;
    a_place_left_free_after_each: Skewed<10, 1>;
    nothing_left_free: Skewed<16, 32>;
    tiles_of_tiles: Blocked<RowMajor<4, 2>, RowMajor<8, 16>>;
    padded_tiles_of_padded_tiles: Blocked<RowMajor<2, 2, 3>, RowMajor<3, 4, 5>>;
    tiles_of_swizzled_tiles: Blocked<RowMajor<2, 4>, Swizzled<RowMajor<8, 8>, 3, 0, 3>>;
}

#[test]
fn the_pitch_of_a_run_time_layout_is_that_of_the_type() {
    is_a_layout(Pitched::new(5, 7, 9).expect("possible"));
    let (fixed, chosen) = (
        RowMajor::<32, 32, 33>::new(),
        Pitched::new(32, 32, 33).expect("possible"),
    );
    assert!((0..32).all(|row| (0..32).all(|col| fixed.offset(row, col) == chosen.offset(row, col))));
    assert_eq!(
        (Layout::storage(&fixed), fixed.vector()),
        (chosen.storage(), chosen.vector())
    );
}

#[test]
fn a_matrix_past_32_bits_has_64_bit_offsets() {
    assert_eq!(Pitched::new(65_536, 65_536, 65_536), Err(ShapeError::TooLarge));
    let matrix = Pitched::wide(2_097_153, 4_096, 4_096).expect("possible");
    assert_eq!(matrix.offset_wide(2_097_152, 4_095), 8_589_938_687);
    assert_eq!(matrix.storage_wide(), 8_589_938_688);
    assert_eq!(
        Pitched::wide(u32::MAX, u32::MAX, u32::MAX)
            .expect("possible")
            .storage_wide(),
        18_446_744_065_119_617_025
    );
    assert_eq!(Pitched::wide(2, 8, 7), Err(ShapeError::PitchTooSmall));
}

#[test]
fn the_sides_of_a_swizzle_belong_together() {
    // Whoever removes the permutation from `offset` and `coordinates` alike is told here.
    type Xor = XorColumns<32, 32>;
    type Cute = Swizzled<RowMajor<32, 32>, 5, 0, 5>;
    for row in 0..32 {
        for col in 0..32 {
            let place = 32 * row + (col ^ row);
            assert_eq!(Xor::new().offset(row, col), place);
            assert_eq!(Cute::new().offset(row, col), place);
            assert_eq!(Xor::new().coordinates(place), Some((row, col)));
            assert_eq!(Cute::new().coordinates(place), Some((row, col)));
        }
    }
    // CuTe's own example: Swizzle<3, 4, 3> moves 16-byte groups of 8-bit elements.
    let swizzle = XorBits {
        bits: 3,
        base: 4,
        shift: 3,
    };
    assert_eq!(swizzle.apply(0b101_011_1001), 0b101_110_1001);
    let downwards = XorBits {
        bits: 3,
        base: 4,
        shift: -3,
    };
    assert_eq!(downwards.apply(0b101_011_1001), 0b110_011_1001);
}

fn column<T, L: Layout>(tile: Typed<T, L>, col: u32) -> WarpAccess {
    let width = size_of::<T>() as u32;
    WarpAccess::shared_load(width, |lane| Some(tile.byte_offset(lane, col).into())).expect("aligned")
}

fn row<T, L: Layout>(tile: Typed<T, L>, row: u32) -> WarpAccess {
    let width = size_of::<T>() as u32;
    WarpAccess::shared_store(width, |lane| Some(tile.byte_offset(row, lane).into())).expect("aligned")
}

#[test]
fn a_plain_tile_serialises_its_columns_and_no_other_layout_does() {
    for at in 0..32 {
        assert_eq!(column(Typed::<f32, RowMajor<32, 32>>::new(), at).wavefronts(), 32);
        assert_eq!(column(Typed::<f32, RowMajor<32, 32, 33>>::new(), at).wavefronts(), 1);
        assert_eq!(column(Typed::<f32, XorColumns<32, 32>>::new(), at).wavefronts(), 1);
        assert_eq!(
            column(Typed::<f32, Swizzled<RowMajor<32, 32>, 5, 0, 5>>::new(), at).wavefronts(),
            1
        );
        assert_eq!(row(Typed::<f32, RowMajor<32, 32>>::new(), at).wavefronts(), 1);
        assert_eq!(row(Typed::<f32, RowMajor<32, 32, 33>>::new(), at).wavefronts(), 1);
        assert_eq!(row(Typed::<f32, XorColumns<32, 32>>::new(), at).wavefronts(), 1);
        assert_eq!(
            row(Typed::<f32, Swizzled<RowMajor<32, 32>, 5, 0, 5>>::new(), at).wavefronts(),
            1
        );
    }
}

#[test]
fn a_vector_swizzle_frees_columns_of_vectors() {
    // 16 bytes a lane: 4 wavefronts are ideal.
    type Vector = [f32; 4];
    assert_eq!(column(Typed::<Vector, RowMajor<32, 8>>::new(), 3).wavefronts(), 32);
    assert_eq!(column(Typed::<Vector, XorColumns<32, 8>>::new(), 3).wavefronts(), 4);
    // The same tile in elements of 4 bytes.
    let tile = Typed::<f32, Swizzled<RowMajor<32, 32>, 3, 2, 3>>::new();
    let vectors = WarpAccess::shared_load(16, |lane| Some(tile.byte_offset(lane, 12).into())).expect("aligned");
    assert_eq!((vectors.wavefronts(), vectors.ideal()), (4, 4));
}

#[test]
fn sixteen_wide_blocks_need_an_even_pitch() {
    // f32, lane l reads word (l % 16) * pitch + l / 16: padded, and still a conflict.
    let cost = |pitch: u64| {
        let word = |lane: u64| lane % 16 * pitch + lane / 16;
        WarpAccess::shared_load(4, |lane| Some(4 * word(lane.into())))
            .expect("aligned")
            .wavefronts()
    };
    assert_eq!(cost(33), 2);
    assert_eq!(cost(34), 1);
}

#[test]
fn a_column_of_doubles_costs_a_wavefront_a_row_and_a_row_two() {
    let tile = Typed::<f64, RowMajor<32, 32>>::new();
    let store =
        |place: &dyn Fn(u32) -> u32| WarpAccess::shared_store(8, |lane| Some(place(lane).into())).expect("aligned");
    let column = store(&|lane| tile.byte_offset(lane, 0));
    assert_eq!((column.wavefronts(), column.ideal()), (32, 2));
    let row = store(&|lane| tile.byte_offset(0, lane));
    assert_eq!((row.wavefronts(), row.ideal()), (2, 2));
}

#[test]
fn sizes_and_alignments_are_those_of_the_array_in_rust() {
    assert_eq!(Typed::<f32, RowMajor<32, 32, 33>>::BYTES, size_of::<[[f32; 33]; 32]>());
    assert_eq!(Typed::<f64, XorColumns<16, 16>>::BYTES, size_of::<[[f64; 16]; 16]>());
    assert_eq!(Typed::<u8, RowMajor<2, 3>>::ALIGNMENT, 1);
    assert_eq!(Typed::<u8, RowMajor<2, 16>>::ALIGNMENT, 16);
    assert_eq!(Typed::<u8, RowMajor<2, 64>>::ALIGNMENT, 16);
    assert_eq!(Typed::<f64, RowMajor<2, 3>>::ALIGNMENT, 8);
    assert_eq!(Typed::<u128, RowMajor<2, 2>>::ALIGNMENT, 16);
    let largest = Typed::<u128, _>::with(Pitched::new(65_535, 65_535, 65_535).expect("possible"));
    assert_eq!(largest.size_in_bytes(), 65_535 * 65_535 * 16);
}

proptest! {
    #[test]
    fn a_possible_shape_is_a_layout_and_an_impossible_one_is_named(
        rows in 0..20u32, cols in 0..40u32, pitch in 0..50u32, period in 0..40u32,
        bits in 0..5u32, base in 0..4u32, shift in -6..7i32, every in 0..40u32,
    ) {
        let swizzle = XorBits { bits, base, shift };
        let padded = Shape::RowMajor { rows, cols, pitch };
        let shapes = [
            padded,
            Shape::XorColumns { rows, cols, period },
            Shape::Strided { len: cols, stride: every },
            Shape::Skewed { len: cols, every },
            Shape::Swizzled { base: &padded, swizzle },
            Shape::Blocked { outer: &Shape::RowMajor { rows: 2, cols: 3, pitch: 4 }, inner: &padded },
        ];
        for shape in shapes {
            if shape.check().is_ok() {
                is_a_layout(Value(&shape));
            } else if let Shape::XorColumns { .. } = shape {
                prop_assert!(rows * cols == 0 || !period.is_power_of_two() || cols % period != 0);
            }
        }
    }

    #[test]
    fn a_swizzle_is_its_own_inverse(bits in 0..17u32, base in 0..16u32, shift in -16..17i32, offset in any::<u32>()) {
        let swizzle = XorBits { bits, base, shift };
        if swizzle.check().is_ok() {
            prop_assert_eq!(swizzle.apply(swizzle.apply(offset)), offset);
            prop_assert_eq!(swizzle.apply(offset) % swizzle.vector(), offset % swizzle.vector());
            prop_assert_eq!(u64::from(swizzle.apply(offset)) / swizzle.run(), u64::from(offset) / swizzle.run());
        }
    }

    #[test]
    fn padding_by_one_frees_every_column_of_a_tile_a_power_of_two_wide(log in 5..9u32, col in 0..32u32, element in 0..3usize) {
        let cols = 1 << log;
        let width = [4u32, 8, 16][element];
        let cost = |pitch: u32| {
            let tile = Pitched::new(32, cols, pitch).expect("possible");
            let byte = |lane| u64::from(tile.offset(lane, col)) * u64::from(width);
            let access = WarpAccess::shared_load(width, |lane| Some(byte(lane))).expect("aligned");
            (access.wavefronts(), access.ideal())
        };
        let (plain, ideal) = cost(cols);
        prop_assert_eq!((plain, ideal), (32, width.div_ceil(4)));
        prop_assert_eq!(cost(cols + 1), (ideal, ideal));
    }
}

/// A shape, to be asked as a layout.
#[derive(Clone, Copy)]
struct Value<'a>(&'a Shape<'a>);

impl Layout for Value<'_> {
    fn rows(&self) -> u32 {
        self.0.rows()
    }

    fn cols(&self) -> u32 {
        self.0.cols()
    }

    fn storage(&self) -> u32 {
        self.0.storage()
    }

    fn offset(&self, row: u32, col: u32) -> u32 {
        self.0.offset(row, col)
    }

    fn coordinates(&self, offset: u32) -> Option<(u32, u32)> {
        self.0.coordinates(offset)
    }

    fn vector(&self) -> u32 {
        self.0.vector()
    }
}
