// A shared tile gives no place to write through: `unsafe { TILE[i] }.write(v)` on a static writes to a copy.
use cuda_std::layout::RowMajor;
use cuda_std::prelude::*;
use tile33_cuda_std as cuda_std;

/// # Safety
/// None.
#[kernel]
pub unsafe fn writes(value: f32) {
    let tile = shared_tile!(f32, RowMajor<32, 33>);
    tile[0][1] = value;
    (unsafe { tile.read(0, 1) }).write(value);
}

fn main() {}
