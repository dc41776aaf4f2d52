//! Loops that are written out.

/// Calls `body` with 0 to N - 1, at most 32 times, without a loop.
///
/// Registers cannot be addressed with a number that is known only at run time, and LLVM writes out only short loops: an
/// array that a longer loop indexes ends up in local memory, which is slow. Here every index is a constant.
///
/// ```
/// # use tile33_cuda_std as cuda_std;
/// let mut squares = [0; 5];
/// cuda_std::unrolled::<5>(|i| squares[i] = i * i);
/// assert_eq!(squares, [0, 1, 4, 9, 16]);
/// ```
#[inline(always)]
pub fn unrolled<const N: usize>(mut body: impl FnMut(usize)) {
    const { assert!(N <= 32, "written out 32 times at most") };
    macro_rules! calls {
        ($($i:literal)*) => {$(
            if $i < N {
                body($i);
            }
        )*};
    }
    calls!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);
}
