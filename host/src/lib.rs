//! Devices, buffers, launches and validation.
