//! Atomic operations on shared and global memory.
//!
//! A read and a write that no other thread comes between. They are *relaxed*: one location has one order of changes, but
//! an atomic says nothing about other memory; a barrier, a [fence](crate::sync), or a [`store_release`] that a
//! [`load_acquire`] sees does.
//!
//! A [`Scope`] says who takes part: the threads of a [`Block`] (all that shared memory needs), of the [`Device`], or of
//! the whole [`System`]. Threads outside the scope may see or make changes in between.
//!
//! ```
//! use cuda_std::atomic::{self, Device};
//! use cuda_std::prelude::*;
//! # use tile33_cuda_std as cuda_std;
//!
//! #[kernel]
//! pub unsafe fn histogram(x: *const u8, bins: *mut u32, len: u32) {
//!     let i = global_index_x();
//!     if i < len.into() {
//!         // SAFETY: the launch promises `len` elements and 256 bins, which are only accessed atomically.
//!         unsafe { atomic::add::<Device, u32>(bins.add(usize::from(*x.add(i as usize))), 1) };
//!     }
//! }
//! ```
//!
//! | operation | types |
//! |---|---|
//! | [`add`] | `u32`, `i32`, `u64`, `i64`, `f32`, `f64` |
//! | [`min`], [`max`], [`and`], [`or`], [`xor`] | `u32`, `i32`, `u64`, `i64` |
//! | [`exchange`] | `u32`, `i32`, `u64`, `i64`, `f32`, `f64` |
//! | [`compare_exchange`] | `u32`, `i32`, `u64`, `i64` |
//! | [`load`], [`store`], [`load_acquire`], [`store_release`] | `u32`, `u64` |

/// The threads among which an operation is atomic.
pub trait Scope: private::Sealed {}

/// The threads of this block.
pub enum Block {}
/// All threads of this device.
pub enum Device {}
/// All threads of all devices, and the host. For global memory only: nobody else can see shared memory.
pub enum System {}

impl Scope for Block {}
impl Scope for Device {}
impl Scope for System {}

mod private {
    pub trait Sealed {}
    impl Sealed for super::Block {}
    impl Sealed for super::Device {}
    impl Sealed for super::System {}
}

macro_rules! operation {
    ($(#[$doc:meta])* $name:ident, $trait:ident, $call:ident, $symbol:literal: $($ty:ident)*) => {
        /// A type that this operation exists for, in a scope.
        #[doc(hidden)]
        pub trait $trait<S: Scope>: Copy {
            /// # Safety
            /// As the function of this operation.
            unsafe fn $call(address: *mut Self, value: Self) -> Self;
        }

        $(
            operation!(@impl $trait, $call, $symbol, $ty, Block, "block");
            operation!(@impl $trait, $call, $symbol, $ty, Device, "device");
            operation!(@impl $trait, $call, $symbol, $ty, System, "system");
        )*

        $(#[$doc])*
        ///
        /// Gives the value before.
        ///
        /// # Safety
        /// `address` is valid and aligned, and every thread that accesses it at the same time does so atomically.
        #[inline(always)]
        #[track_caller]
        pub unsafe fn $name<S: Scope, T: $trait<S>>(address: *mut T, value: T) -> T {
            // SAFETY: the caller's promise.
            unsafe { T::$call(address, value) }
        }
    };
    (@impl $trait:ident, $call:ident, $symbol:literal, $ty:ident, $scope:ident, $suffix:literal) => {
        impl $trait<$scope> for $ty {
            #[inline(always)]
            #[track_caller]
            unsafe fn $call(address: *mut Self, value: Self) -> Self {
                crate::host::device!(concat!("atomic::", $symbol), [address, value], {
                    unsafe extern "C" {
                        #[link_name = concat!("__cuda_std_atomic_", $symbol, "_", stringify!($ty), "_", $suffix)]
                        fn operation(address: *mut $ty, value: $ty) -> $ty;
                    }
                    // SAFETY: the caller's promise.
                    unsafe { operation(address, value) }
                })
            }
        }
    };
}

operation! {
    /// Adds; integers wrap.
    add, Add, atomic_add, "add": u32 i32 u64 i64 f32 f64
}
operation! {
    /// Keeps the smaller of the value there and `value`.
    min, Min, atomic_min, "min": u32 i32 u64 i64
}
operation! {
    /// Keeps the larger of the value there and `value`.
    max, Max, atomic_max, "max": u32 i32 u64 i64
}
operation! {
    /// Keeps the bits that both have.
    and, And, atomic_and, "and": u32 i32 u64 i64
}
operation! {
    /// Sets the bits of `value`.
    or, Or, atomic_or, "or": u32 i32 u64 i64
}
operation! {
    /// Flips the bits of `value`.
    xor, Xor, atomic_xor, "xor": u32 i32 u64 i64
}
operation! {
    /// Puts `value` there.
    exchange, Exchange, atomic_exchange, "exch": u32 i32 u64 i64 f32 f64
}

/// A type that can be compared and exchanged, in a scope.
#[doc(hidden)]
pub trait CompareExchange<S: Scope>: Copy {
    /// # Safety
    /// As [`compare_exchange`].
    unsafe fn atomic_cas(address: *mut Self, expected: Self, new: Self) -> Self;
}

macro_rules! compare_exchange {
    ($($ty:ident)*) => {$(
        compare_exchange!(@impl $ty, Block, "block");
        compare_exchange!(@impl $ty, Device, "device");
        compare_exchange!(@impl $ty, System, "system");
    )*};
    (@impl $ty:ident, $scope:ident, $suffix:literal) => {
        impl CompareExchange<$scope> for $ty {
            #[inline(always)]
            #[track_caller]
            unsafe fn atomic_cas(address: *mut Self, expected: Self, new: Self) -> Self {
                crate::host::device!("atomic::compare_exchange", [address, expected, new], {
                    unsafe extern "C" {
                        #[link_name = concat!("__cuda_std_atomic_cas_", stringify!($ty), "_", $suffix)]
                        fn operation(address: *mut $ty, expected: $ty, new: $ty) -> $ty;
                    }
                    // SAFETY: the caller's promise.
                    unsafe { operation(address, expected, new) }
                })
            }
        }
    };
}

compare_exchange!(u32 i32 u64 i64);

/// Puts `new` there if the value is `expected`.
///
/// Gives the value before: the exchange took place if it is `expected`.
///
/// # Safety
/// As [`add`].
#[inline(always)]
#[track_caller]
pub unsafe fn compare_exchange<S: Scope, T: CompareExchange<S>>(address: *mut T, expected: T, new: T) -> T {
    // SAFETY: the caller's promise.
    unsafe { T::atomic_cas(address, expected, new) }
}

/// A type that one thread can leave for another, in a scope.
#[doc(hidden)]
pub trait Message<S: Scope>: Copy {
    /// # Safety
    /// As [`load`].
    unsafe fn atomic_load(address: *const Self) -> Self;
    /// # Safety
    /// As [`load_acquire`].
    unsafe fn atomic_acquire(address: *const Self) -> Self;
    /// # Safety
    /// As [`store`].
    unsafe fn atomic_store(address: *mut Self, value: Self);
    /// # Safety
    /// As [`store_release`].
    unsafe fn atomic_release(address: *mut Self, value: Self);
}

macro_rules! messages {
    ($($ty:ident)*) => {$(
        messages!(@impl $ty, Block, "block");
        messages!(@impl $ty, Device, "device");
        messages!(@impl $ty, System, "system");
    )*};
    (@impl $ty:ident, $scope:ident, $suffix:literal) => {
        impl Message<$scope> for $ty {
            messages!(@method atomic_load, "load", $ty, $suffix, (address: *const $ty) -> $ty);
            messages!(@method atomic_acquire, "acquire", $ty, $suffix, (address: *const $ty) -> $ty);
            messages!(@method atomic_store, "store", $ty, $suffix, (address: *mut $ty, value: $ty) -> ());
            messages!(@method atomic_release, "release", $ty, $suffix, (address: *mut $ty, value: $ty) -> ());
        }
    };
    (@method $call:ident, $symbol:literal, $ty:ident, $suffix:literal, ($($argument:ident: $kind:ty),*) -> $result:ty) => {
        #[inline(always)]
        #[track_caller]
        unsafe fn $call($($argument: $kind),*) -> $result {
            crate::host::device!(concat!("atomic::", $symbol), [$($argument),*], {
                unsafe extern "C" {
                    #[link_name = concat!("__cuda_std_atomic_", $symbol, "_", stringify!($ty), "_", $suffix)]
                    fn operation($($argument: $kind),*) -> $result;
                }
                // SAFETY: the caller's promise.
                unsafe { operation($($argument),*) }
            })
        }
    };
}

messages!(u32 u64);

/// Reads what other threads may be writing.
///
/// # Safety
/// As [`add`].
#[inline(always)]
#[track_caller]
pub unsafe fn load<S: Scope, T: Message<S>>(address: *const T) -> T {
    // SAFETY: the caller's promise.
    unsafe { T::atomic_load(address) }
}

/// Reads what other threads may be writing; what this thread does next happens after all that the thread which wrote it
/// did before its [`store_release`].
///
/// # Safety
/// As [`add`].
#[inline(always)]
#[track_caller]
pub unsafe fn load_acquire<S: Scope, T: Message<S>>(address: *const T) -> T {
    // SAFETY: the caller's promise.
    unsafe { T::atomic_acquire(address) }
}

/// Writes what other threads may be reading.
///
/// # Safety
/// As [`add`].
#[inline(always)]
#[track_caller]
pub unsafe fn store<S: Scope, T: Message<S>>(address: *mut T, value: T) {
    // SAFETY: the caller's promise.
    unsafe { T::atomic_store(address, value) }
}

/// Writes what other threads may be reading, after all that this thread did before: see [`load_acquire`].
///
/// # Safety
/// As [`add`].
#[inline(always)]
#[track_caller]
pub unsafe fn store_release<S: Scope, T: Message<S>>(address: *mut T, value: T) {
    // SAFETY: the caller's promise.
    unsafe { T::atomic_release(address, value) }
}
