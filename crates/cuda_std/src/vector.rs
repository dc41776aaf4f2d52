//! Vectors that one instruction loads or stores, up to 16 bytes.
//!
//! A thread that moves 16 bytes at once needs a quarter of the instructions that 4 bytes at a time need.
//! [`Vector::read`] and [`Vector::write`] are one instruction each, `ld.v4` and `st.v4` for 16 bytes; a plain copy of
//! such a value from memory to memory may be split by the compiler.
//!
//! The address must be a multiple of the vector's size, or the launch fails. Rows of a matrix start at such addresses
//! only if the pitch is a multiple of the vector's length.
//!
//! All of them are a [`Vector`]: those with a name, [`F32x4`] and so on, which are arrays of their elements, and
//! [`Vector16`], for kernels that are generic in their elements, which is the bits of however many make 16 bytes.
//!
//! ```
//! use cuda_std::vector::{F32x4, Vector};
//! # use tile33_cuda_std as cuda_std;
//! assert_eq!(F32x4::LANES, 4);
//! assert_eq!(align_of::<F32x4>(), 16);
//! assert_eq!(F32x4([1.0, 2.0, 3.0, 4.0]).0[2], 3.0);
//! ```

pub use crate::vector16::{Element, Vector16};

/// Elements side by side, aligned so that one instruction moves all.
pub trait Vector: Copy {
    /// Type of an element.
    type Element: Copy;
    /// Number of elements.
    const LANES: u32;

    /// The vector at an element's address.
    ///
    /// # Safety
    /// The address is valid for the whole vector and a multiple of its size; nothing writes there at the same time.
    #[must_use]
    unsafe fn read(address: *const Self::Element) -> Self;

    /// Writes the vector to an element's address.
    ///
    /// # Safety
    /// As [`read`](Self::read), and nothing else accesses it at the same time.
    unsafe fn write(self, address: *mut Self::Element);
}

macro_rules! vectors {
    ($($name:ident: [$element:ty; $lanes:literal], $bytes:literal, [$register:ty; $registers:literal];)*) => {$(
        #[doc = concat!("`", stringify!($lanes), "` elements `", stringify!($element), "`, aligned to ", stringify!($bytes), " bytes.")]
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        #[repr(C, align($bytes))]
        pub struct $name(
            /// The elements, in the order of their addresses.
            pub [$element; $lanes],
        );

        const _: () = assert!(size_of::<$name>() == $bytes && size_of::<[$register; $registers]>() == $bytes);

        impl Vector for $name {
            type Element = $element;
            const LANES: u32 = $lanes;

            #[inline(always)]
            unsafe fn read(address: *const $element) -> Self {
                #[cfg(target_os = "cuda")]
                {
                    // SAFETY: the caller's promise; both types are the same bits.
                    unsafe { core::mem::transmute(*address.cast::<registers::$name>()) }
                }
                #[cfg(not(target_os = "cuda"))]
                {
                    // SAFETY: the caller's promise.
                    unsafe { *address.cast::<Self>() }
                }
            }

            #[inline(always)]
            unsafe fn write(self, address: *mut $element) {
                #[cfg(target_os = "cuda")]
                {
                    // SAFETY: the caller's promise; both types are the same bits.
                    unsafe { *address.cast::<registers::$name>() = core::mem::transmute::<Self, registers::$name>(self) }
                }
                #[cfg(not(target_os = "cuda"))]
                {
                    // SAFETY: the caller's promise.
                    unsafe { *address.cast::<Self>() = self }
                }
            }
        }
    )*

        /// The vectors as the compiler's own vector types. Only these are certain to be moved by one instruction: a copy
        /// of an array from memory to memory may be split.
        #[cfg(target_os = "cuda")]
        mod registers {$(
            #[derive(Clone, Copy)]
            #[repr(simd)]
            pub(super) struct $name([$register; $registers]);
        )*}
    };
}

vectors! {
    U8x4: [u8; 4], 4, [u32; 1];
    U8x8: [u8; 8], 8, [u32; 2];
    U8x16: [u8; 16], 16, [u32; 4];
    U16x2: [u16; 2], 4, [u32; 1];
    U16x4: [u16; 4], 8, [u32; 2];
    U16x8: [u16; 8], 16, [u32; 4];
    U32x2: [u32; 2], 8, [u32; 2];
    U32x4: [u32; 4], 16, [u32; 4];
    I32x2: [i32; 2], 8, [i32; 2];
    I32x4: [i32; 4], 16, [i32; 4];
    F32x2: [f32; 2], 8, [f32; 2];
    F32x4: [f32; 4], 16, [f32; 4];
    U64x2: [u64; 2], 16, [u64; 2];
    I64x2: [i64; 2], 16, [i64; 2];
    F64x2: [f64; 2], 16, [f64; 2];
}
