//! Rows would overlap.
use tile33_layout::*;

const _: RowMajor<32, 32, 31> = <RowMajor<32, 32, 31>>::new();

fn main() {}
