//! The trampolines against a driver: every argument arrives, at the first call (which looks the function up) and later.

#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

use std::env;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use cust::error::CudaError;
use cust::{CudaFlags, sys};
use libloading::Library;
use tile33_driver_shim as _;

/// Loads the fake driver under the real one's soname, so that the shim's own look-up finds it, and no other.
fn fake_driver() {
    static DRIVER: OnceLock<Library> = OnceLock::new();
    DRIVER.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake_driver/libcuda.rs");
        let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libcuda.so.1");
        let status = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
            .args([
                "--edition=2024",
                "--crate-type=cdylib",
                "-Clink-arg=-Wl,-soname,libcuda.so.1",
                "-o",
            ])
            .arg(&library)
            .arg(source)
            .status()
            .expect("rustc starts");
        assert!(status.success());
        // SAFETY: the library is the one just built; it has no initialisers of its own.
        unsafe { Library::new(&library) }.expect("the fake driver loads")
    });
    assert_eq!(tile33_driver_shim::driver_missing(), None);
}

#[test]
fn integers_pointers_and_stack_arguments_arrive() {
    fake_driver();
    assert_eq!(cust::init(CudaFlags::empty()), Ok(()));
    for _ in 0..2 {
        // SAFETY: the fake driver compares its arguments and follows none.
        let answer = unsafe {
            sys::cuLaunchKernel(
                1 as sys::CUfunction,
                2,
                3,
                4,
                5,
                6,
                7,
                8,
                9 as sys::CUstream,
                10 as *mut *mut _,
                11 as *mut *mut _,
            )
        };
        assert_eq!(answer as u32, 0);
    }
}

#[test]
fn floating_point_arguments_arrive() {
    fake_driver();
    for _ in 0..2 {
        // SAFETY: as above.
        let answer = unsafe { sys::cuTexRefSetMipmapLevelClamp(1 as sys::CUtexref, 2.5, -3.5) };
        assert_eq!(answer as u32, 0);
    }
}

#[test]
fn a_function_that_the_driver_lacks_answers_not_found() {
    fake_driver();
    assert_eq!(cust::device::Device::num_devices(), Err(CudaError::NotFound));
}
