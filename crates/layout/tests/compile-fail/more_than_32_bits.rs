//! Offsets are 32-bit.
use tile33_layout::*;

const _: RowMajor<65536, 65536> = <RowMajor<65536, 65536>>::new();

fn main() {}
