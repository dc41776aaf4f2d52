//! Shared-memory kernels in Rust, one module a problem.
//!
//! The kernels compile to PTX with `cuda_builder`. On the host the crate gives what launches need: names of entry
//! points, shapes of blocks and grids, and the layouts that the kernels index with.
#![no_std]

pub mod histogram;
pub mod reduce;
pub mod scan;
pub mod stride;
pub mod transpose;
