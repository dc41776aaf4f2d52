//! What a kernel can be given.

/// A value that a launch can copy to the GPU.
#[diagnostic::on_unimplemented(
    message = "a kernel cannot take `{Self}`: parameters are copied to the GPU bit by bit, so they must be `Copy`",
    label = "not `Copy`",
    note = "pass a pointer into device memory and a length instead"
)]
pub trait Parameter {}

impl<T: Copy> Parameter for T {}

/// Compiles if `T` can be a kernel's parameter.
pub const fn check<T: Parameter>() {}
