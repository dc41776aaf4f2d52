//! tile33.
