//! The bits read and the bits changed overlap.
use tile33_layout::*;

const _: Swizzled<RowMajor<32, 32>, 5, 0, 4> = <Swizzled<RowMajor<32, 32>, 5, 0, 4>>::new();

fn main() {}
