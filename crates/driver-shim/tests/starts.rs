//! A program that uses `cust` links and starts, with a driver and without.

use std::ptr::null_mut;

use cust::CudaFlags;
use cust::error::CudaError;
use tile33_driver_shim as _;

#[test]
fn cuda_answers_no_device_where_there_is_no_driver() {
    let answer = cust::init(CudaFlags::empty());
    match tile33_driver_shim::driver_missing() {
        Some(reason) => {
            assert_eq!(answer, Err(CudaError::NoDevice), "{reason}");
            assert!(!reason.is_empty());
        }
        // A driver without a device says NoDevice too; with one, Ok.
        None => assert!(matches!(answer, Ok(()) | Err(CudaError::NoDevice)), "{answer:?}"),
    }
}

#[test]
fn a_function_with_many_arguments_is_answered_too() {
    if tile33_driver_shim::driver_missing().is_none() {
        println!("skipped: this machine has a driver, and a launch of nothing is not for it");
        return;
    }
    // SAFETY: without a driver the trampoline answers an error and looks at no argument.
    let answer =
        unsafe { cust::sys::cuLaunchKernel(null_mut(), 1, 1, 1, 1, 1, 1, 0, null_mut(), null_mut(), null_mut()) };
    assert_eq!(answer as u32, 100);
}
