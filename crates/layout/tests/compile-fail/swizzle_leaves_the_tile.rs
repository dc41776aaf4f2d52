//! The tile is no whole number of the swizzle's runs.
use tile33_layout::*;

const _: Swizzled<RowMajor<3, 24>, 5, 0, 5> = <Swizzled<RowMajor<3, 24>, 5, 0, 5>>::new();

fn main() {}
