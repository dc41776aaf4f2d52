//! What the accesses of a block to shared memory cost, by the bank model.

use tile33_layout::{LANES, Op, Space, WarpAccess};

use super::{Access, Kind};

/// Wavefronts of a warp's access to elements of `bytes` bytes, lane l's at element `place(l)`; `None` if no lane has one.
pub(crate) fn wavefronts(op: Op, bytes: usize, place: impl Fn(u32) -> Option<u32>) -> Option<u64> {
    let address = |lane| place(lane).map(|place| u64::from(place) * bytes as u64);
    (0..LANES as u32).find_map(&address)?;
    let access = WarpAccess::from_fn(Space::Shared, op, bytes as u32, address);
    access.ok().map(|access| access.wavefronts().into())
}

/// The accesses, each `times` times, of a block whose thread t accesses element `place(t)`, if any: one for every warp of
/// which a thread does.
pub(crate) fn of_block(
    op: Op,
    what: &str,
    times: u64,
    bytes: usize,
    threads: usize,
    place: impl Fn(u32) -> Option<u32>,
) -> Vec<Access> {
    let kind = if op == Op::Load {
        Kind::SharedLoad
    } else {
        Kind::SharedStore
    };
    let warps = (0..threads as u32).step_by(LANES);
    let costs = warps.filter_map(|first| wavefronts(op, bytes, |lane| place(first + lane)));
    costs.map(|cost| Access::new(kind, what, times, cost)).collect()
}
