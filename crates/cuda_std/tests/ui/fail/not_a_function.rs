use cuda_std::prelude::*;
use tile33_cuda_std as cuda_std;

#[kernel]
pub struct Data;

fn main() {}
