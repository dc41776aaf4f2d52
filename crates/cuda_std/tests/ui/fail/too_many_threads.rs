use cuda_std::prelude::*;
use tile33_cuda_std as cuda_std;

#[kernel(max_threads = 2048)]
pub unsafe fn large(x: *mut f32) {}

fn main() {}
