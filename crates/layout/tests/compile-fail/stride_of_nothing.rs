//! All elements would share a place.
use tile33_layout::*;

const _: Strided<32, 0> = <Strided<32, 0>>::new();

fn main() {}
