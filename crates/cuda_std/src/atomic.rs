//! Atomic operations.
