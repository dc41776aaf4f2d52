//! `libcuda`, found at run time instead of at link time.
//!
//! [`cust`](https://docs.rs/cust) calls the CUDA driver's functions (`cuInit`, `cuMemAlloc_v2`, ..) as ordinary external
//! symbols, so a program that uses it neither links nor starts on a machine without a driver. This crate defines every
//! one of those symbols. Each is a *trampoline*: at its first call it looks the real function up in `libcuda.so.1`
//! (`dlopen`, `dlsym`), remembers it, and jumps there with all arguments untouched; from then on a call costs one load and
//! one jump. What it answers where there is nothing to jump to:
//!
//! | situation | answer |
//! |---|---|
//! | no `libcuda.so.1` on the machine | 100, `CUDA_ERROR_NO_DEVICE` |
//! | a driver too old to have the function | 500, `CUDA_ERROR_NOT_FOUND` |
//! | a system without trampolines here (anything but Linux on x86-64 or AArch64) | 100, `CUDA_ERROR_NO_DEVICE` |
//!
//! Naming this crate is enough to use it: `use tile33_driver_shim as _;` in a crate that depends on `cust`, and
//! `CUDA_LIBRARY_PATH` set to any folder that holds a folder `lib64`, because `cust`'s build script insists on one.
//!
//! The list of symbols is what `cust_raw` 0.11 declares; a test compares the two.

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod driver;
mod symbols;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod trampoline;

/// Whether this build of the crate can reach a driver at all (see the table above).
pub const REACHES_DRIVER: bool = cfg!(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
));

/// The names of the functions that this crate defines, sorted.
pub fn symbols() -> &'static [&'static str] {
    symbols::NAMES
}

/// Why the driver's library is not there, in the words of the system's loader; `None` where it is.
///
/// This is what tells "no driver" from "a driver, but no device": both are error 100 to the caller of `cuInit`.
pub fn driver_missing() -> Option<String> {
    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        driver::missing()
    }
    #[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
    {
        Some(format!(
            "the CUDA driver is looked for on Linux (x86-64 and AArch64) only, not on {} {}",
            std::env::consts::OS,
            std::env::consts::ARCH
        ))
    }
}
