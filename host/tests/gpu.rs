//! What only a CUDA device can show. Skipped, with a message, where there is none.

use tile33_host::{Device, Error, LaunchConfig, args};

/// A failed kernel leaves the process's context broken for good, so this is the only test of its binary.
#[test]
fn a_failed_launch_is_a_value_and_what_is_dropped_afterwards_does_not_panic() {
    let device = match Device::cuda(0) {
        Ok(device) => device,
        Err(reason) => {
            println!("skipped: {reason}");
            return;
        }
    };
    let module = device.load(include_str!("kernels.ptx")).unwrap();
    let (strays, buffer) = (module.kernel("strays").unwrap(), device.zeros::<f32>(16).unwrap());
    // SAFETY: the stray write is what the test is about; the device stops it.
    let error = unsafe { strays.launch(&LaunchConfig::new(1, 1), args![]) }.unwrap_err();
    assert!(
        matches!(
            &error,
            Error::Cuda {
                action: "running the kernel",
                ..
            }
        ),
        "{error}"
    );
    assert!(buffer.to_vec().is_err());
    assert!(device.zeros::<f32>(1).is_err());
    drop((strays, buffer, module, device));
}
