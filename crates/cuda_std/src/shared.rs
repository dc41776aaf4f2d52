//! Shared memory: fast memory that the threads of a block have in common.
//!
//! A kernel declares it with [`shared_tile!`](crate::shared_tile) or [`shared_array!`](crate::shared_array), whose size
//! is part of the kernel, or takes what the launch provides, with [`dynamic_shared`]. All three give *handles*: small
//! `Copy` values that read and write by index. No reference to shared memory is ever handed out, since a reference
//! promises that nobody else writes, which is false for memory whose purpose is that other threads write it.
//!
//! Where an element lies is the layout's decision, so a kernel never names a row stride:
//!
//! ```
//! use cuda_std::prelude::*;
//! use cuda_std::layout::{Layout, RowMajor};
//! # use tile33_cuda_std as cuda_std;
//!
//! #[kernel(max_threads = 1024)]
//! pub unsafe fn transpose_tile(x: *const f32, y: *mut f32) {
//!     let tile = shared_tile!(f32, RowMajor<32, 32, 33>);
//!     let (row, col) = (thread_idx_y(), thread_idx_x());
//!     let at = RowMajor::<32, 32>::new().offset(row, col) as usize;
//!     // SAFETY: the launch promises 1024 elements and a 32x32 block; the barrier parts the writes from the reads.
//!     unsafe {
//!         tile.write(row, col, *x.add(at)); // a warp writes one row: 1 wavefront
//!         sync_threads();
//!         *y.add(at) = tile.read(col, row); // a warp reads one column: 1 wavefront, with pitch 32 it would be 32
//!     }
//! }
//! ```

use core::cell::UnsafeCell;
use core::mem::MaybeUninit;

use crate::layout::{Carved, Layout, Pitched, StaticLayout};
use crate::vector::Vector;

/// A two-dimensional array in shared memory, its elements placed by the layout `L`.
#[derive(Clone, Copy)]
pub struct SharedTile<T, L> {
    base: *mut T,
    layout: L,
}

impl<T: Copy, L: Layout> SharedTile<T, L> {
    /// The tile at `base`.
    ///
    /// # Safety
    /// There are [`storage`](Layout::storage) elements of shared memory at `base`, aligned for `T`, that nothing else uses.
    #[inline(always)]
    #[must_use]
    pub const unsafe fn from_raw(base: *mut T, layout: L) -> Self {
        Self { base, layout }
    }

    /// Where elements lie.
    #[inline(always)]
    #[must_use]
    pub fn layout(self) -> L {
        self.layout
    }

    /// Address of (`row`, `col`).
    #[inline(always)]
    #[must_use]
    pub fn at(self, row: u32, col: u32) -> *mut T {
        self.base.wrapping_add(self.layout.offset(row, col) as usize)
    }

    /// The element at (`row`, `col`).
    ///
    /// # Safety
    /// It is inside the layout, a thread wrote it before, and no thread writes it at the same time: a barrier is
    /// between this and every access of another thread of which one is a write.
    #[inline(always)]
    #[must_use]
    pub unsafe fn read(self, row: u32, col: u32) -> T {
        // SAFETY: the caller's promise.
        unsafe { *self.at(row, col) }
    }

    /// Writes the element at (`row`, `col`).
    ///
    /// # Safety
    /// It is inside the layout, and no other thread accesses it at the same time: a barrier is between this and every
    /// access of another thread.
    #[inline(always)]
    pub unsafe fn write(self, row: u32, col: u32, value: T) {
        // SAFETY: the caller's promise.
        unsafe { *self.at(row, col) = value }
    }
}

/// Vector accesses, several columns of a row at once.
impl<T: Copy, L: Layout> SharedTile<T, L> {
    /// The elements of row `row` from column `col` on, by one instruction.
    ///
    /// # Safety
    /// As [`read`](Self::read) for each of them. `col` is a multiple of the vector's length, which the layout's
    /// [`vector`](Layout::vector) is too.
    #[inline(always)]
    #[must_use]
    pub unsafe fn read_vector<V: Vector<Element = T>>(self, row: u32, col: u32) -> V {
        // SAFETY: the caller's promise.
        unsafe { V::read(self.at(row, col)) }
    }

    /// Writes the elements of row `row` from column `col` on, by one instruction.
    ///
    /// # Safety
    /// As [`write`](Self::write) for each of them, and `col` as for [`read_vector`](Self::read_vector).
    #[inline(always)]
    pub unsafe fn write_vector<V: Vector<Element = T>>(self, row: u32, col: u32, value: V) {
        // SAFETY: the caller's promise.
        unsafe { value.write(self.at(row, col)) }
    }
}

/// A one-dimensional array in shared memory, its elements placed by the layout `L`.
#[derive(Clone, Copy)]
pub struct SharedArray<T, L> {
    tile: SharedTile<T, L>,
}

impl<T: Copy, L: Layout> SharedArray<T, L> {
    /// The array at `base`.
    ///
    /// # Safety
    /// As [`SharedTile::from_raw`].
    #[inline(always)]
    #[must_use]
    pub const unsafe fn from_raw(base: *mut T, layout: L) -> Self {
        Self {
            tile: SharedTile { base, layout },
        }
    }

    /// Elements that hold data.
    #[inline(always)]
    #[must_use]
    pub fn len(self) -> u32 {
        self.tile.layout.cols()
    }

    /// Whether there is none.
    #[inline(always)]
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Address of element `index`.
    #[inline(always)]
    #[must_use]
    pub fn at(self, index: u32) -> *mut T {
        self.tile.at(0, index)
    }

    /// Element `index`.
    ///
    /// # Safety
    /// As [`SharedTile::read`].
    #[inline(always)]
    #[must_use]
    pub unsafe fn read(self, index: u32) -> T {
        // SAFETY: the caller's promise.
        unsafe { self.tile.read(0, index) }
    }

    /// Writes element `index`.
    ///
    /// # Safety
    /// As [`SharedTile::write`].
    #[inline(always)]
    pub unsafe fn write(self, index: u32, value: T) {
        // SAFETY: the caller's promise.
        unsafe { self.tile.write(0, index, value) }
    }
}

/// The memory behind [`shared_tile!`](crate::shared_tile) and [`shared_array!`](crate::shared_array).
#[doc(hidden)]
#[repr(transparent)]
pub struct Storage<A>(UnsafeCell<MaybeUninit<A>>);

// SAFETY: only handles come out, whose accesses are unsafe and leave the order of threads to the kernel.
unsafe impl<A> Sync for Storage<A> {}

impl<A> Storage<A> {
    #[doc(hidden)]
    #[must_use]
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        Self(UnsafeCell::new(MaybeUninit::uninit()))
    }

    #[doc(hidden)]
    #[inline(always)]
    pub const fn get(&'static self) -> *mut A {
        self.0.get().cast()
    }
}

/// Declares a tile in the block's shared memory: `shared_tile!(f32, RowMajor<32, 32, 33>)`.
///
/// Gives a [`SharedTile`](crate::shared::SharedTile) of this element type and layout. Every place in the source where
/// this is written is memory of its own, once per block, uninitialised when the block starts, aligned to 16 bytes.
///
/// A layout that cannot be does not compile:
///
/// ```compile_fail,E0080
/// # use tile33_cuda_std as cuda_std;
/// use cuda_std::layout::RowMajor;
/// let tile = cuda_std::shared_tile!(f32, RowMajor<32, 32, 31>); // rows would overlap
/// ```
#[macro_export]
macro_rules! shared_tile {
    ($element:ty, $layout:ty $(,)?) => {{
        #[cfg(target_os = "cuda")]
        {
            #[unsafe(link_section = ".shared")]
            static TILE: $crate::shared::Storage<[$element; <$layout as $crate::layout::StaticLayout>::STORAGE]> =
                $crate::shared::Storage::new();
            $crate::shared::tile::<$element, $layout>(TILE.get().cast())
        }
        #[cfg(not(target_os = "cuda"))]
        {
            // An impossible layout does not compile here either.
            const { assert!(<$layout as $crate::layout::StaticLayout>::STORAGE > 0) };
            $crate::shared::on_host::<$crate::shared::SharedTile<$element, $layout>>()
        }
    }};
}

/// Declares an array in the block's shared memory: `shared_array![f32; 256]`, or with a one-dimensional layout,
/// `shared_array!(f32, Skewed<256, 32>)`.
///
/// Gives a [`SharedArray`](crate::shared::SharedArray); see [`shared_tile!`](crate::shared_tile).
#[macro_export]
macro_rules! shared_array {
    ($element:ty; $length:expr) => {
        $crate::shared_array!($element, $crate::layout::Strided<{ $length }>)
    };
    ($element:ty, $layout:ty $(,)?) => {{
        #[cfg(target_os = "cuda")]
        {
            #[unsafe(link_section = ".shared")]
            static ARRAY: $crate::shared::Storage<[$element; <$layout as $crate::layout::StaticLayout>::STORAGE]> =
                $crate::shared::Storage::new();
            $crate::shared::array::<$element, $layout>(ARRAY.get().cast())
        }
        #[cfg(not(target_os = "cuda"))]
        {
            // An impossible layout does not compile here either.
            const { assert!(<$layout as $crate::layout::StaticLayout>::STORAGE > 0) };
            $crate::shared::on_host::<$crate::shared::SharedArray<$element, $layout>>()
        }
    }};
}

#[doc(hidden)]
#[inline(always)]
pub fn tile<T: Copy, L: StaticLayout>(base: *mut T) -> SharedTile<T, L> {
    SharedTile { base, layout: L::NEW }
}

#[doc(hidden)]
#[inline(always)]
pub fn array<T: Copy, L: StaticLayout>(base: *mut T) -> SharedArray<T, L> {
    SharedArray { tile: tile(base) }
}

/// The host has no shared memory.
#[doc(hidden)]
#[cfg(not(target_os = "cuda"))]
#[track_caller]
#[must_use]
pub fn on_host<H>() -> H {
    crate::host::only_on_the_gpu("shared")
}

/// The shared memory that the launch provides.
#[inline(always)]
#[track_caller]
#[must_use]
pub fn dynamic_shared() -> DynamicShared {
    crate::host::device!("shared::dynamic_shared", [], {
        unsafe extern "C" {
            // Becomes `.extern .shared`; its size is the launch's choice.
            #[link_name = "__cuda_std_dynamic_shared"]
            static DYNAMIC: UnsafeCell<MaybeUninit<u128>>;
        }
        // SAFETY: only the address is taken.
        DynamicShared {
            base: unsafe { DYNAMIC.get() }.cast(),
        }
    })
}

/// A block's dynamic shared memory, aligned to 16 bytes.
///
/// It is one piece: two handles made from it overlap unless their offsets part them.
#[derive(Clone, Copy)]
pub struct DynamicShared {
    base: *mut u8,
}

impl DynamicShared {
    /// Bytes that the launch provides.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn len(self) -> u32 {
        crate::host::device!("shared::DynamicShared::len", [], {
            let bytes: u32;
            // SAFETY: reads a special register.
            unsafe { core::arch::asm!("mov.u32 {}, %dynamic_smem_size;", out(reg32) bytes, options(nomem, nostack)) };
            bytes
        })
    }

    /// Whether the launch provides none.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The tile that starts `offset` bytes into the memory, its shape chosen at launch.
    ///
    /// # Safety
    /// The launch provides `offset` and the tile's bytes, `offset` is a multiple of the element's size, and no other
    /// handle uses this part.
    #[inline(always)]
    #[must_use]
    pub unsafe fn tile<T: Copy, L: Layout>(self, offset: u32, layout: L) -> SharedTile<T, L> {
        SharedTile {
            base: self.base.wrapping_add(offset as usize).cast(),
            layout,
        }
    }

    /// The tile that a plan made by [`CarveOut`](crate::layout::CarveOut) puts there.
    ///
    /// # Safety
    /// The launch provides the plan's bytes, and no other handle uses this part.
    #[inline(always)]
    #[must_use]
    pub unsafe fn carved_tile<T: Copy, L: Layout>(self, part: Carved<T, L>) -> SharedTile<T, L> {
        // SAFETY: the caller's promise; the plan aligns its parts.
        unsafe { self.tile(part.offset(), part.layout()) }
    }

    /// The array that a plan made by [`CarveOut`](crate::layout::CarveOut) puts there.
    ///
    /// # Safety
    /// As [`carved_tile`](Self::carved_tile).
    #[inline(always)]
    #[must_use]
    pub unsafe fn carved<T: Copy, L: Layout>(self, part: Carved<T, L>) -> SharedArray<T, L> {
        // SAFETY: the caller's promise.
        let tile = unsafe { self.carved_tile(part) };
        SharedArray { tile }
    }

    /// The array of `length` elements that starts `offset` bytes into the memory.
    ///
    /// # Safety
    /// As [`tile`](Self::tile).
    #[inline(always)]
    #[must_use]
    pub unsafe fn array<T: Copy>(self, offset: u32, length: u32) -> SharedArray<T, Pitched> {
        // SAFETY: the caller's promise.
        let tile = unsafe { self.tile(offset, Pitched::unchecked(1, length, length)) };
        SharedArray { tile }
    }
}
