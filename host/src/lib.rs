//! Devices, buffers, launches and validation.

pub mod reference;
