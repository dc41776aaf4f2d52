//! Several arrays in one block of dynamic shared memory.

use core::marker::PhantomData;

use crate::{Layout, Pitched};

/// The alignment, in bytes, of dynamic shared memory itself.
const BASE_ALIGNMENT: u32 = 16;

/// Plans arrays one after the other in a block of memory, each aligned for its type.
///
/// Host and kernel make the plan by the same function, so that they cannot disagree: the host passes
/// [`bytes`](Self::bytes) with the launch, the kernel takes the arrays from where the plan says.
///
/// ```
/// use tile33_layout::{CarveOut, Carved, Pitched};
///
/// struct Plan { sums: Carved<f64, Pitched>, flags: Carved<u8, Pitched>, values: Carved<f32, Pitched>, bytes: u32 }
///
/// fn plan(threads: u32) -> Plan {
///     let mut memory = CarveOut::new();
///     let sums = memory.array(threads);
///     let flags = memory.array(threads);
///     let values = memory.array(threads);
///     Plan { sums, flags, values, bytes: memory.bytes() }
/// }
///
/// let plan = plan(33);
/// assert_eq!(plan.sums.offset(), 0);
/// assert_eq!(plan.flags.offset(), 264);
/// assert_eq!(plan.values.offset(), 300); // not 297: an f32 is aligned to 4 bytes
/// assert_eq!(plan.bytes, 432);
/// ```
///
/// A plan of more than 2^32 - 1 bytes has that many: more than any launch can have, so the launch is refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CarveOut {
    bytes: u32,
}

impl CarveOut {
    /// Nothing planned yet.
    #[inline(always)]
    pub const fn new() -> Self {
        Self { bytes: 0 }
    }

    /// Bytes planned so far, gaps included.
    #[inline(always)]
    pub const fn bytes(&self) -> u32 {
        self.bytes
    }

    /// Starts what follows at a multiple of `alignment`, a power of two of at most 16 bytes: for arrays that are
    /// accessed by vectors.
    ///
    /// ```
    /// let mut memory = tile33_layout::CarveOut::new();
    /// memory.array::<u8>(5);
    /// memory.align(16);
    /// assert_eq!(memory.array::<f32>(4).offset(), 16);
    /// ```
    ///
    /// # Panics
    ///
    /// On another alignment.
    #[inline(always)]
    pub const fn align(&mut self, alignment: u32) {
        assert!(
            alignment.is_power_of_two() && alignment <= BASE_ALIGNMENT,
            "dynamic shared memory is aligned to 16 bytes: ask for 1, 2, 4, 8 or 16"
        );
        self.bytes = match self.bytes.checked_next_multiple_of(alignment) {
            Some(bytes) => bytes,
            None => u32::MAX,
        };
    }

    /// `len` elements side by side.
    #[inline(always)]
    pub const fn array<T>(&mut self, len: u32) -> Carved<T, Pitched> {
        self.place(Pitched::unchecked(1, len, len), len)
    }

    /// The elements of a layout.
    ///
    /// ```
    /// use tile33_layout::{CarveOut, Pitched, RowMajor};
    /// let mut memory = CarveOut::new();
    /// let fixed = memory.tile::<f32, _>(RowMajor::<32, 32, 33>::new());
    /// let chosen = memory.tile::<f64, _>(Pitched::new(8, 8, 9).unwrap());
    /// assert_eq!((fixed.offset(), fixed.bytes()), (0, 4224));
    /// assert_eq!((chosen.offset(), chosen.bytes()), (4224, 576));
    /// ```
    #[inline(always)]
    pub fn tile<T, L: Layout>(&mut self, layout: L) -> Carved<T, L> {
        self.place(layout, layout.storage())
    }

    #[inline(always)]
    const fn place<T, L: Copy>(&mut self, layout: L, elements: u32) -> Carved<T, L> {
        const {
            assert!(
                align_of::<T>() <= BASE_ALIGNMENT as usize && size_of::<T>() <= u32::MAX as usize,
                "dynamic shared memory is aligned to 16 bytes: an element cannot need more"
            );
        }
        self.align(align_of::<T>() as u32);
        let offset = self.bytes;
        let bytes = elements.saturating_mul(size_of::<T>() as u32);
        self.bytes = offset.saturating_add(bytes);
        Carved {
            offset,
            bytes,
            layout,
            element: PhantomData,
        }
    }
}

/// Where a [`CarveOut`] puts one array of elements `T`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carved<T, L> {
    offset: u32,
    bytes: u32,
    layout: L,
    element: PhantomData<fn() -> T>,
}

impl<T, L: Copy> Carved<T, L> {
    /// Bytes from the start of the memory, a multiple of the element's alignment.
    #[inline(always)]
    pub const fn offset(&self) -> u32 {
        self.offset
    }

    /// Bytes of the array.
    #[inline(always)]
    pub const fn bytes(&self) -> u32 {
        self.bytes
    }

    /// Where its elements lie, from its start.
    #[inline(always)]
    pub const fn layout(&self) -> L {
        self.layout
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_plan_can_be_made_when_compiling() {
        const BYTES: u32 = {
            let mut memory = CarveOut::new();
            memory.array::<f64>(3);
            memory.array::<u8>(3);
            memory.array::<u16>(1);
            memory.bytes()
        };
        assert_eq!(BYTES, 24 + 3 + 1 + 2);
    }

    #[test]
    fn a_plan_too_large_for_any_device_says_so_instead_of_wrapping() {
        let mut memory = CarveOut::new();
        memory.array::<f64>(u32::MAX / 8);
        memory.array::<f64>(1 << 20);
        assert_eq!(memory.bytes(), u32::MAX);
        memory.align(16);
        memory.array::<u8>(1);
        assert_eq!(memory.bytes(), u32::MAX);
    }

    #[test]
    #[should_panic = "ask for 1, 2, 4, 8 or 16"]
    fn an_alignment_that_the_memory_itself_does_not_have_is_refused() {
        CarveOut::new().align(32);
    }

    proptest! {
        #[test]
        fn arrays_are_aligned_apart_and_inside(a in 0u32..500, b in 0u32..500, c in 0u32..500, d in 0u32..500) {
            let mut memory = CarveOut::new();
            let parts = [
                { let part = memory.array::<f64>(a); (part.offset(), part.bytes(), 8 * a, 8) },
                { let part = memory.array::<u8>(b); (part.offset(), part.bytes(), b, 1) },
                { let part = memory.array::<f32>(c); (part.offset(), part.bytes(), 4 * c, 4) },
                { let part = memory.array::<u128>(d); (part.offset(), part.bytes(), 16 * d, 16) },
            ];
            let mut end = 0;
            for (offset, bytes, expected, alignment) in parts {
                prop_assert_eq!(bytes, expected);
                prop_assert_eq!(offset % alignment, 0);
                prop_assert!(offset >= end && offset - end < alignment, "neither overlaps nor wastes");
                end = offset + bytes;
            }
            prop_assert_eq!(memory.bytes(), end);
        }
    }
}
