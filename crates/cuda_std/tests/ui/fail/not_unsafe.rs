use cuda_std::prelude::*;
use tile33_cuda_std as cuda_std;

#[kernel]
pub fn safe(x: *mut f32) {}

fn main() {}
