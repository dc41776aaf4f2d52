use cuda_std::prelude::*;
use tile33_cuda_std as cuda_std;

#[kernel]
pub unsafe fn generic<T: Copy>(x: *mut T) {}

fn main() {}
