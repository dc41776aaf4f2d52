//! No instruction loads 32 bytes.
use tile33_layout::*;

const _: Typed<[f64; 4], RowMajor<32, 32>> = <Typed<[f64; 4], RowMajor<32, 32>>>::new();

fn main() {}
