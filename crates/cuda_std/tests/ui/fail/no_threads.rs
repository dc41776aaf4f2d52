use cuda_std::prelude::*;
use tile33_cuda_std as cuda_std;

#[kernel(max_threads = 0)]
pub unsafe fn none(x: *mut f32) {}

fn main() {}
