//! There is no bit 32.
use tile33_layout::*;

const _: Swizzled<RowMajor<32, 32>, 5, 20, 8> = <Swizzled<RowMajor<32, 32>, 5, 20, 8>>::new();

fn main() {}
