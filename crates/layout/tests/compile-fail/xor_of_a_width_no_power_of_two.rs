//! By default the period is the width.
use tile33_layout::*;

const _: XorColumns<32, 24> = <XorColumns<32, 24>>::new();

fn main() {}
