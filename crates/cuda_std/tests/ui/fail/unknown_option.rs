use cuda_std::prelude::*;
use tile33_cuda_std as cuda_std;

#[kernel(max_thread = 256)]
pub unsafe fn misspelt(x: *mut f32) {}

fn main() {}
