//! No instruction loads 12 bytes.
use tile33_layout::*;

const _: Typed<[f32; 3], RowMajor<32, 32>> = <Typed<[f32; 3], RowMajor<32, 32>>>::new();

fn main() {}
