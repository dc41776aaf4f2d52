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

/// Any four of the eight bytes of two words, by one instruction (`prmt`). Byte i of the result is the one that hexadecimal
/// digit i of the selector names: 0 to 3 those of `a`, 4 to 7 those of `b`, the lowest byte and digit first.
///
/// Works on the host too.
///
/// ```
/// # use tile33_cuda_std as cuda_std;
/// use cuda_std::math::byte_permute;
/// assert_eq!(byte_permute::<0x5410>(0x3322_1100, 0x7766_5544), 0x5544_1100);
/// assert_eq!(byte_permute::<0x7362>(0x3322_1100, 0x7766_5544), 0x7733_6622);
/// ```
#[inline(always)]
#[must_use]
pub fn byte_permute<const SELECTOR: u32>(a: u32, b: u32) -> u32 {
    const { assert!(SELECTOR & 0xffff_8888 == 0, "a selector has four digits from 0 to 7") };
    #[cfg(target_os = "cuda")]
    {
        let bytes: u32;
        // SAFETY: computes a number from two.
        unsafe {
            core::arch::asm!(
                "prmt.b32 {}, {}, {}, {selector};",
                out(reg32) bytes,
                in(reg32) a,
                in(reg32) b,
                selector = const SELECTOR,
                options(pure, nomem, nostack)
            );
        }
        bytes
    }
    #[cfg(not(target_os = "cuda"))]
    {
        let both = (u64::from(b) << 32 | u64::from(a)).to_le_bytes();
        u32::from_le_bytes(core::array::from_fn(|i| both[(SELECTOR >> (4 * i) & 7) as usize]))
    }
}
