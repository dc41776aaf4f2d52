use cuda_std::prelude::*;
use tile33_cuda_std as cuda_std;

#[kernel(types = [f32])]
pub unsafe fn generic<T: Copy, const N: usize>(x: *mut T) {}

fn main() {}
