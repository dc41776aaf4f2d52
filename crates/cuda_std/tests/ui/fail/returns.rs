use cuda_std::prelude::*;
use tile33_cuda_std as cuda_std;

#[kernel]
pub unsafe fn sum(x: *const f32) -> f32 {
    unsafe { *x }
}

fn main() {}
