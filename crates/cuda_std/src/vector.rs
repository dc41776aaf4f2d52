//! Vectors that one instruction loads or stores.
