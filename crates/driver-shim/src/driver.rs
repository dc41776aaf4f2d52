//! The driver's library, opened once.

use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use libloading::Library;

use crate::symbols::{NAMES, SLOTS};

/// `CUDA_ERROR_NO_DEVICE`.
const NO_DEVICE: u32 = 100;
/// `CUDA_ERROR_NOT_FOUND`.
const NOT_FOUND: u32 = 500;

/// Stands in for every function where there is no driver. The C calling conventions leave the arguments to the caller, so
/// one function without parameters answers for all.
extern "C" fn no_device() -> u32 {
    NO_DEVICE
}

/// Stands in for a function that this machine's driver does not have.
extern "C" fn not_found() -> u32 {
    NOT_FOUND
}

fn library() -> &'static Result<Library, libloading::Error> {
    static LIBRARY: OnceLock<Result<Library, libloading::Error>> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        // SAFETY: loading runs the library's initialisers. They are NVIDIA's driver's, written to be run this way.
        unsafe { Library::new("libcuda.so.1") }
    })
}

/// See [`crate::driver_missing`].
pub(crate) fn missing() -> Option<String> {
    library().as_ref().err().map(ToString::to_string)
}

/// The address that the trampoline of symbol `index` jumps to, found and remembered.
///
/// Called by the trampolines, with the index they were made with. Two threads may both look: they find the same.
pub(crate) extern "C" fn resolve(index: usize) -> usize {
    let address = match library() {
        Err(_) => no_device as *const () as usize,
        Ok(library) => {
            // SAFETY: the type is only a stand-in for an address; nothing is called through it here.
            match unsafe { library.get::<unsafe extern "C" fn()>(NAMES[index].as_bytes()) } {
                Ok(function) => *function as *const () as usize,
                Err(_) => not_found as *const () as usize,
            }
        }
    };
    // Relaxed: the slot holds a code address, and no other memory is published through it.
    SLOTS[index].store(address, Ordering::Relaxed);
    address
}
