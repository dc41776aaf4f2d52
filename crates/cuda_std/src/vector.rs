//! Vectors that one instruction loads or stores, up to 16 bytes.
//!
//! A thread that moves 16 bytes at once needs a quarter of the instructions that 4 bytes at a time need. The type is
//! what makes it so: its alignment is its size, and a read of an `F32x4` becomes `ld.v4`.
//!
//! The address must be a multiple of the vector's size, or the launch fails. Rows of a matrix start at such addresses
//! only if the pitch is a multiple of the vector's length.
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
    #[inline(always)]
    #[must_use]
    unsafe fn read(address: *const Self::Element) -> Self {
        // SAFETY: the caller's promise.
        unsafe { *address.cast::<Self>() }
    }

    /// Writes the vector to an element's address.
    ///
    /// # Safety
    /// As [`read`](Self::read), and nothing else accesses it at the same time.
    #[inline(always)]
    unsafe fn write(self, address: *mut Self::Element) {
        // SAFETY: the caller's promise.
        unsafe { *address.cast::<Self>() = self }
    }
}

macro_rules! vectors {
    ($($name:ident: [$element:ty; $lanes:literal], $bytes:literal;)*) => {$(
        #[doc = concat!("`", stringify!($lanes), "` elements `", stringify!($element), "`, aligned to ", stringify!($bytes), " bytes.")]
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        #[repr(C, align($bytes))]
        pub struct $name(
            /// The elements, in the order of their addresses.
            pub [$element; $lanes],
        );

        const _: () = assert!(size_of::<$name>() == $bytes);

        impl Vector for $name {
            type Element = $element;
            const LANES: u32 = $lanes;
        }
    )*};
}

vectors! {
    U8x4: [u8; 4], 4;
    U8x8: [u8; 8], 8;
    U8x16: [u8; 16], 16;
    U16x2: [u16; 2], 4;
    U16x4: [u16; 4], 8;
    U16x8: [u16; 8], 16;
    U32x2: [u32; 2], 8;
    U32x4: [u32; 4], 16;
    I32x2: [i32; 2], 8;
    I32x4: [i32; 4], 16;
    F32x2: [f32; 2], 8;
    F32x4: [f32; 4], 16;
    U64x2: [u64; 2], 16;
    I64x2: [i64; 2], 16;
    F64x2: [f64; 2], 16;
}
