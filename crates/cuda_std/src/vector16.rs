//! 16 bytes of elements of any type, as one value.

use core::fmt;
use core::marker::PhantomData;

use super::vector::Vector;
use crate::layout::VECTOR_BYTES;

/// 16 bytes of elements of type `T`, aligned to 16 bytes: the vector for kernels that are generic in their elements.
///
/// ```
/// use cuda_std::prelude::*;
/// use cuda_std::vector::Vector16;
/// # use tile33_cuda_std as cuda_std;
///
/// /// y = 2x, for a multiple of four elements.
/// #[kernel(max_threads = 256)]
/// pub unsafe fn twice(x: *const f32, y: *mut f32, len: u64) {
///     let i = global_index_x() as usize;
///     if i < len as usize / 4 {
///         // SAFETY: the launch promises `len` elements at `x` and `y`, aligned to 16 bytes.
///         unsafe {
///             let vector = *x.cast::<Vector16<f32>>().add(i);
///             *y.cast::<Vector16<f32>>().add(i) = vector.map(|element| 2.0 * element);
///         }
///     }
/// }
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(C, align(16))]
pub struct Vector16<T> {
    // One integer and no array: LLVM then loads and stores it whole. An array it takes apart, and puts together again in
    // parts of its own choice.
    bits: u128,
    element: PhantomData<T>,
}

/// A type of 1, 2, 4 or 8 bytes that a [`Vector16`] can hold.
pub trait Element: Copy + private::Bits {
    /// How many of them 16 bytes hold.
    const LANES: usize = VECTOR_BYTES / size_of::<Self>();
}

impl<T: Copy + private::Bits> Element for T {}

mod private {
    /// A value as the bits of an integer.
    pub trait Bits {
        fn to_bits(self) -> u64;
        fn from_bits(bits: u64) -> Self;
    }

    macro_rules! bits {
        ($($ty:ty: $to:expr, $from:expr;)*) => {$(
            impl Bits for $ty {
                #[inline(always)]
                fn to_bits(self) -> u64 {
                    $to(self) as u64
                }

                #[inline(always)]
                fn from_bits(bits: u64) -> Self {
                    $from(bits as _)
                }
            }
        )*};
    }

    bits! {
        u8: |value| value, |bits| bits;
        i8: |value| value as u8, |bits: u8| bits as i8;
        u16: |value| value, |bits| bits;
        i16: |value| value as u16, |bits: u16| bits as i16;
        u32: |value| value, |bits| bits;
        i32: |value| value as u32, |bits: u32| bits as i32;
        f32: f32::to_bits, f32::from_bits;
        u64: |value| value, |bits| bits;
        i64: |value| value as u64, |bits: u64| bits as i64;
        f64: f64::to_bits, f64::from_bits;
    }
}

impl<T: Element> Vector16<T> {
    /// All bits zero.
    pub const ZERO: Self = Self {
        bits: 0,
        element: PhantomData,
    };

    /// The element in every lane.
    #[inline(always)]
    #[must_use]
    pub fn splat(value: T) -> Self {
        let mut vector = Self::ZERO;
        for lane in 0..T::LANES {
            vector.set(lane, value);
        }
        vector
    }

    /// The element in lane `lane`, the first being the one at the lowest address.
    ///
    /// With a lane that is known when compiling this costs nothing, or a shift for elements of 1 and 2 bytes.
    #[inline(always)]
    #[must_use]
    pub fn get(self, lane: usize) -> T {
        T::from_bits((self.bits >> Self::shift(lane)) as u64)
    }

    /// Replaces the element in lane `lane`.
    #[inline(always)]
    pub fn set(&mut self, lane: usize, value: T) {
        let mask = u128::MAX >> (128 - 8 * size_of::<T>());
        let bits = u128::from(value.to_bits()) & mask;
        self.bits = (self.bits & !(mask << Self::shift(lane))) | (bits << Self::shift(lane));
    }

    /// Each element replaced by what `function` makes of it.
    #[inline(always)]
    #[must_use]
    pub fn map<U: Element>(self, function: impl Fn(T) -> U) -> Vector16<U> {
        const { assert!(T::LANES == U::LANES, "the elements must have the same size") };
        let mut result = Vector16::ZERO;
        self.for_each(|lane, value| result.set(lane, function(value)));
        result
    }

    /// Calls `function` with each lane's number and element, in order.
    ///
    /// Written out lane by lane, so that it never becomes a loop whose index the registers could not be addressed with.
    #[inline(always)]
    pub fn for_each(self, mut function: impl FnMut(usize, T)) {
        crate::unrolled::<16>(|lane| {
            if lane < T::LANES {
                function(lane, self.get(lane));
            }
        });
    }

    /// Bits below the element in lane `lane`.
    #[inline(always)]
    const fn shift(lane: usize) -> usize {
        lane * size_of::<T>() * 8
    }
}

impl<T: Element> Vector for Vector16<T> {
    type Element = T;
    const LANES: u32 = T::LANES as u32;

    #[inline(always)]
    unsafe fn read(address: *const T) -> Self {
        // SAFETY: the caller's promise.
        unsafe { *address.cast::<Self>() }
    }

    #[inline(always)]
    unsafe fn write(self, address: *mut T) {
        // SAFETY: the caller's promise.
        unsafe { *address.cast::<Self>() = self }
    }
}

impl<T: Element> Default for Vector16<T> {
    fn default() -> Self {
        Self::ZERO
    }
}

impl<T: Element + fmt::Debug> fmt::Debug for Vector16<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries((0..T::LANES).map(|lane| self.get(lane)))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::format;

    fn numbered<T: Element>(number: impl Fn(usize) -> T) -> Vector16<T> {
        let mut vector = Vector16::splat(number(99));
        for lane in 0..T::LANES {
            vector.set(lane, number(lane));
        }
        vector
    }

    #[test]
    fn a_vector_is_sixteen_bytes_and_as_much_aligned() {
        assert_eq!((size_of::<Vector16<u8>>(), align_of::<Vector16<f64>>()), (16, 16));
        assert_eq!((u8::LANES, i16::LANES, f32::LANES, f64::LANES), (16, 8, 4, 2));
    }

    #[test]
    fn lanes_hold_their_elements_in_the_order_of_memory() {
        assert_eq!(format!("{:?}", numbered(|lane| lane as f32)), "[0.0, 1.0, 2.0, 3.0]");
        assert_eq!(format!("{:?}", numbered(|lane| -(lane as f64))), "[-0.0, -1.0]");
        assert_eq!(
            format!("{:?}", numbered(|lane| -(lane as i16))),
            "[0, -1, -2, -3, -4, -5, -6, -7]"
        );
        let bytes = numbered(|lane| lane as u8 + 0x80);
        assert_eq!(bytes.bits.to_le_bytes()[4..8], [0x84, 0x85, 0x86, 0x87]);
        assert_eq!((bytes.get(0), bytes.get(15)), (0x80, 0x8f));
    }

    #[test]
    fn for_each_goes_through_the_lanes_in_order() {
        let mut seen = std::vec::Vec::new();
        numbered(|lane| lane as f64 / 2.0).for_each(|lane, value| seen.push((lane, value)));
        assert_eq!(seen, [(0, 0.0), (1, 0.5)]);
        let mut bytes = std::vec::Vec::new();
        numbered(|lane| lane as u8).for_each(|lane, value| bytes.push((lane, value)));
        assert!(bytes.into_iter().eq((0..16).map(|lane| (lane, lane as u8))));
    }

    #[test]
    fn a_vector_of_any_element_is_read_and_written_as_those_with_a_name_are() {
        fn moved<V: Vector<Element = f32>>(from: &[f32; 4], to: &mut [f32; 4]) -> u32 {
            // SAFETY: both are aligned, below.
            unsafe { V::read(from.as_ptr()).write(to.as_mut_ptr()) };
            V::LANES
        }
        #[repr(align(16))]
        struct Aligned([f32; 4]);
        let from = Aligned([1.0, -2.0, 3.5, 4.0]);
        let (mut one, mut other) = (Aligned([0.0; 4]), Aligned([0.0; 4]));
        let lanes = (
            moved::<Vector16<f32>>(&from.0, &mut one.0),
            moved::<crate::vector::F32x4>(&from.0, &mut other.0),
        );
        assert_eq!((lanes, one.0, other.0), ((4, 4), from.0, from.0));
    }

    #[test]
    fn map_goes_through_every_lane() {
        assert_eq!(
            numbered(|lane| lane as u32).map(|x| x as f32 / 2.0),
            numbered(|lane| lane as f32 / 2.0)
        );
        assert_eq!(
            numbered(|lane| lane as u8).map(|x| x as i8 - 8),
            numbered(|lane| lane as i8 - 8)
        );
    }
}
