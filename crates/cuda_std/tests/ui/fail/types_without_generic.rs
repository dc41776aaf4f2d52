use cuda_std::prelude::*;
use tile33_cuda_std as cuda_std;

#[kernel(types = [f32, f64])]
pub unsafe fn plain(x: *mut f32) {}

fn main() {}
