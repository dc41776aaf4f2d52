use cuda_std::prelude::*;
use tile33_cuda_std as cuda_std;

#[kernel]
pub unsafe extern "C" fn abi(x: *mut f32) {}

fn main() {}
