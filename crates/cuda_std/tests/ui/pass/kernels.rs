use cuda_std::layout::{RowMajor, Skewed};
use cuda_std::prelude::*;
use tile33_cuda_std as cuda_std;

#[derive(Clone, Copy)]
#[repr(C)]
pub struct Size {
    pub rows: u32,
    pub cols: u32,
}

/// Parameters of every kind that is `Copy`.
#[kernel(max_threads = 256, min_blocks = 2)]
pub unsafe fn all_kinds(x: *const f32, y: *mut f64, n: u64, factor: f32, flag: bool, size: Size, three: [u32; 3]) {
    let _ = (x, y, n, factor, flag, size, three);
}

/// Nothing at all.
#[kernel()]
unsafe fn nothing() {}

/// One entry point a type.
#[kernel(prefix = "all", types = [f32, f64, core::primitive::u16])]
pub unsafe fn generic<T: Copy + Default>(x: *mut T, len: u32) {
    let tile = shared_tile!(T, RowMajor<8, 8, 9>);
    let array = shared_array![T; 64];
    let skewed = shared_array!(T, Skewed<64, 32>);
    unsafe {
        tile.write(0, 0, T::default());
        array.write(0, tile.read(0, 0));
        skewed.write(0, array.read(0));
        *x.add(len as usize) = skewed.read(0);
    }
}

fn main() {
    // On the host the function is there as written.
    let _: unsafe fn(*mut f32, u32) = generic::<f32>;
    let _: unsafe fn() = nothing;
}
