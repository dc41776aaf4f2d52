use cuda_std::prelude::*;
use tile33_cuda_std as cuda_std;

#[kernel(min_blocks = 2)]
pub unsafe fn blocks(x: *mut f32) {}

fn main() {}
