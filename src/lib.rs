//! tile33.

pub mod kernels;

pub use tile33_host as host;
