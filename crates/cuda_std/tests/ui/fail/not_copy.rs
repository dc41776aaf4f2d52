use cuda_std::prelude::*;
use tile33_cuda_std as cuda_std;

#[kernel]
pub unsafe fn owns(x: Box<[f32]>, len: u32) {}

fn main() {}
