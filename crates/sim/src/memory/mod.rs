//! Memory: the device's global memory, and the address map that generic addresses are resolved by.

pub(crate) mod backing;
pub(crate) mod global;
pub(crate) mod init;

pub use global::Memory;

/// Why the device's memory refuses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// The host cannot provide that much.
    #[error("out of memory: {asked} bytes asked for, {in_use} bytes in use")]
    OutOfMemory {
        /// Bytes asked for.
        asked: u64,
        /// Bytes in use.
        in_use: u64,
    },
    /// Not within one allocation.
    #[error("{bytes} bytes at {address:#x} are not within an allocation{}", nearest(near))]
    OutOfBounds {
        /// First byte.
        address: u64,
        /// Length.
        bytes: u64,
        /// The nearest allocation, described.
        near: Option<String>,
    },
    /// Within a freed allocation.
    #[error("{address:#x} is in {buffer}, which was freed")]
    Freed {
        /// First byte.
        address: u64,
        /// The buffer.
        buffer: String,
    },
    /// `free` of what is no start of an allocation.
    #[error("{address:#x} is not the start of an allocation, so it cannot be freed")]
    NotAllocated {
        /// As given.
        address: u64,
    },
}

fn nearest(near: &Option<String>) -> String {
    near.as_ref().map(|n| format!(" (nearest: {n})")).unwrap_or_default()
}

/// Generic addresses of the shared window: byte 0 of a block's shared memory. 16 MiB, as on the hardware.
pub const SHARED_WINDOW: u64 = 0x0000_7100_0000_0000;
/// Shared address of the first variable. The bytes below belong to the system, as on sm_80 and later, so that a null
/// pointer is no variable's address.
pub const SHARED_BASE: u64 = 1024;
/// Generic addresses of a thread's local memory.
pub const LOCAL_WINDOW: u64 = 0x0000_7200_0000_0000;
/// Generic addresses of the constant bank.
pub const CONST_WINDOW: u64 = 0x0000_7300_0000_0000;
/// Generic addresses of the kernel's parameters.
pub const PARAM_WINDOW: u64 = 0x0000_7400_0000_0000;
/// Bytes of each window.
pub const WINDOW_BYTES: u64 = 1 << 24;
/// First address of the heap that `malloc` in a kernel takes from.
pub const HEAP_BASE: u64 = 0x0000_7600_0000_0000;
/// Bytes of that heap, as `cudaLimitMallocHeapSize` has by default.
pub const HEAP_BYTES: u64 = 8 << 20;
/// "Addresses" of functions.
pub const CODE_WINDOW: u64 = 0x0000_7500_0000_0000;
/// First address of global memory: above 4 GiB, so that an address cut to 32 bits is out of bounds.
pub const GLOBAL_BASE: u64 = 0x0000_0002_0000_0000;
