//! A period of 32 leaves a row of 24 and collides with the next.
use tile33_layout::*;

const _: XorColumns<32, 24, 32> = <XorColumns<32, 24, 32>>::new();

fn main() {}
