//! A tile of nothing.
use tile33_layout::*;

const _: RowMajor<0, 32> = <RowMajor<0, 32>>::new();

fn main() {}
