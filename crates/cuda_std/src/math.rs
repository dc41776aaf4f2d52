//! Arithmetic that `core` does not have.

use crate::host::device;

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident($($argument:ident),+: $ty:ty) => $intrinsic:ident;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[track_caller]
        #[must_use]
        pub fn $name($($argument: $ty),+) -> $ty {
            device!(concat!("math::", stringify!($name)), [$($argument),+], core::intrinsics::$intrinsic($($argument),+))
        }
    )*};
}

functions! {
    /// `a * b + c`, rounded once.
    fma_f32(a, b, c: f32) => fmaf32;
    /// `a * b + c`, rounded once.
    fma_f64(a, b, c: f64) => fmaf64;
    /// Square root, correctly rounded.
    sqrt_f32(x: f32) => sqrtf32;
    /// Square root, correctly rounded.
    sqrt_f64(x: f64) => sqrtf64;
}
