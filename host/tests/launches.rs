//! Launches on every device that this machine has: always the emulator, and the first CUDA device if there is one.

use std::sync::Arc;
use std::thread;

use tile33_host::{Arg, Device, DeviceBuffer, Error, Kernel, LaunchConfig, ParameterKind, SharedBytes, args};

const PTX: &str = include_str!("kernels.ptx");

/// The emulator, and the GPU where there is one.
fn devices() -> Vec<Device> {
    let mut devices = vec![Device::emulator()];
    match Device::cuda(0) {
        Ok(device) => devices.push(device),
        Err(reason) => println!("skipped on CUDA: {reason}"),
    }
    devices
}

fn kernel(device: &Device, name: &str) -> Kernel {
    device.load(PTX).unwrap().kernel(name).unwrap()
}

#[test]
fn a_kernel_computes_what_it_says() {
    for device in devices() {
        let scale = kernel(&device, "scale");
        let input: Vec<f32> = (0..1000u16).map(f32::from).collect();
        let x = device.upload(&input).unwrap();
        let mut y = device.uninit::<f32>(1000).unwrap();
        // SAFETY: `scale` touches the first 1000 elements of each.
        let run = unsafe { scale.launch(&LaunchConfig::new(4, 256), args![&x, &mut y, 2.5f32, 1000u32]) }.unwrap();
        assert_eq!(
            y.to_vec().unwrap(),
            input.iter().map(|x| x * 2.5).collect::<Vec<_>>(),
            "{device}"
        );
        assert_eq!(
            (run.time.is_some(), run.report.is_some()),
            (device.is_cuda(), device.is_emulator())
        );
        run.clean().unwrap();
    }
}

/// What the check says of launching `name` with these arguments, on every device the same.
fn refusal(name: &str, block: u32, args: impl for<'a> Fn(&'a DeviceBuffer<f32>) -> Vec<Arg<'a>>) -> String {
    let refuse = |device: &Device| {
        let buffer = device.zeros(64).unwrap();
        kernel(device, name)
            .check(&LaunchConfig::new(1, block), &args(&buffer))
            .unwrap_err()
            .to_string()
    };
    let mut messages: Vec<String> = devices().iter().map(refuse).collect();
    messages.dedup();
    assert_eq!(messages.len(), 1, "{messages:?}");
    messages.remove(0)
}

#[test]
fn a_missing_argument_is_an_error_before_the_launch() {
    assert_eq!(
        refusal("scale", 64, |buffer| args![buffer, buffer, 2.0f32].to_vec()),
        "`scale` takes 4 arguments, 3 were given"
    );
}

#[test]
fn a_number_where_a_pointer_belongs_is_an_error_before_the_launch() {
    assert_eq!(
        refusal("scale", 64, |buffer| args![buffer, 4096u32, 2.0f32, 64u32].to_vec()),
        "argument 1 of `scale` (`y`) is a pointer to device memory, but u32 was given"
    );
    assert_eq!(
        refusal("scale", 64, |buffer| args![buffer, 4096u64, 2.0f32, 64u32].to_vec()),
        "argument 1 of `scale` (`y`) is a pointer to device memory, but u64 was given"
    );
}

#[test]
fn a_pointer_where_a_number_belongs_is_an_error_before_the_launch() {
    assert_eq!(
        refusal("scale", 64, |buffer| args![buffer, buffer, 2.0f32, buffer].to_vec()),
        "argument 3 of `scale` (`n`) is a scalar of type .u32, but a buffer was given"
    );
}

#[test]
fn an_integer_where_a_float_belongs_and_a_wrong_width_are_errors() {
    assert_eq!(
        refusal("scale", 64, |buffer| args![buffer, buffer, 2u32, 64u32].to_vec()),
        "argument 2 of `scale` (`factor`) is a scalar of type .f32, but u32 was given"
    );
    assert_eq!(
        refusal("scale", 64, |buffer| args![buffer, buffer, 2.0f64, 64u32].to_vec()),
        "argument 2 of `scale` (`factor`) is a scalar of type .f32, but f64 was given"
    );
    assert_eq!(
        refusal("scale", 64, |buffer| args![buffer, buffer, 2.0f32, 64usize].to_vec()),
        "argument 3 of `scale` (`n`) is a scalar of type .u32, but u64 was given"
    );
}

#[test]
fn pointers_that_the_compiler_does_not_mark_take_both_and_structures_go_by_size() {
    for device in devices() {
        let kernel = kernel(&device, "unmarked");
        let kinds: Vec<ParameterKind> = kernel.signature().parameters.iter().map(|p| p.kind).collect();
        assert!(matches!(kinds[0], ParameterKind::PointerOrScalar(_)));
        assert_eq!(kinds[4], ParameterKind::Bytes(12));
        let (config, buffer) = (LaunchConfig::new(1, 1), device.zeros::<u8>(1).unwrap());
        let structure = Arg::structure(&[1u32, 2, 3]);
        let four =
            |first: Arg<'_>, last| kernel.check(&config, &[first, 1.0f64.into(), 1.0f32.into(), 1u8.into(), last]);
        four((&buffer).into(), structure.clone()).unwrap();
        four(1u64.into(), structure.clone()).unwrap();
        four(1i64.into(), structure).unwrap();
        let error = four(1.0f64.into(), Arg::structure(&[1u32; 4])).unwrap_err().to_string();
        assert_eq!(
            error,
            "argument 0 of `unmarked` (`pointer_or_number`) is a pointer or a scalar of type .u64, but f64 was given"
        );
        let error = four(1u64.into(), Arg::structure(&[1u32; 4])).unwrap_err().to_string();
        assert_eq!(
            error,
            "argument 4 of `unmarked` (`structure`) is a structure of 12 bytes, but a structure of 16 bytes was given"
        );
    }
}

#[test]
fn an_unknown_kernel_is_an_error_that_lists_the_known_ones() {
    for device in devices() {
        let error = device.load(PTX).unwrap().kernel("scael").unwrap_err().to_string();
        assert_eq!(
            error,
            "no kernel `scael` in the module; it has `scale`, `last_word`, `static_only`, `unmarked`, `strays`"
        );
    }
}

#[test]
fn a_buffer_of_another_device_is_an_error() {
    let (here, there) = (Device::emulator(), Device::emulator());
    let scale = kernel(&here, "scale");
    let (x, y) = (here.zeros::<f32>(64).unwrap(), there.zeros::<f32>(64).unwrap());
    let error = scale
        .check(&LaunchConfig::new(1, 64), args![&x, &y, 1.0f32, 64u32])
        .unwrap_err();
    assert!(matches!(error, Error::ForeignBuffer { index: 1, .. }), "{error}");
}

#[test]
fn shared_arrays_of_called_functions_count_and_unused_ones_do_not() {
    let signature = kernel(&Device::emulator(), "static_only").signature().clone();
    // 4 of its own, up to the next multiple of 16, and the function's 1040: the order is not fixed by PTX.
    assert!(
        [1044, 1056].contains(&signature.static_shared),
        "{}",
        signature.static_shared
    );
    assert!(!signature.uses_dynamic_shared);
    for device in devices() {
        let static_only = kernel(&device, "static_only");
        let mut y = device.zeros::<u32>(1).unwrap();
        // SAFETY: `static_only` writes one element.
        unsafe { static_only.launch(&LaunchConfig::new(1, 1), args![&mut y]) }
            .unwrap()
            .clean()
            .unwrap();
        assert_eq!(y.to_vec().unwrap(), [7], "{device}");
    }
}

#[test]
fn launch_bounds_of_the_ptx_are_checked() {
    assert_eq!(
        refusal("static_only", 65, |buffer| args![buffer].to_vec()),
        "a block of 65 threads; the launch bounds of `static_only` takes at most 64"
    );
}

/// Runs `last_word` with so many words of dynamic shared memory.
fn last_word(device: &Device, kernel: &Kernel, words: usize) -> Result<u32, Error> {
    let mut y = device.zeros::<u32>(1)?;
    let config = LaunchConfig::new(1, 32).with_dynamic_shared(SharedBytes::of::<u32>(words));
    // SAFETY: `last_word` writes one element, and the launch gives it the words that it is told of.
    unsafe { kernel.launch(&config, args![&mut y, words as u32]) }?.clean()?;
    Ok(y.to_vec()?[0])
}

#[test]
fn more_than_48_kib_is_opted_in_to_and_a_smaller_launch_does_not_take_it_back() {
    for device in devices() {
        let kernel = kernel(&device, "last_word");
        let most = (device.limits().shared_per_block / 4) as usize;
        for words in [12_287, 12_288, 12_289, most, 12_289, 1, most] {
            assert_eq!(last_word(&device, &kernel, words).unwrap(), words as u32, "{device}");
        }
        let error = last_word(&device, &kernel, most + 1).unwrap_err();
        assert!(
            matches!(error, Error::SharedMemory { dynamic, available, .. } if dynamic == available + 4),
            "{device}: {error}"
        );
        assert_eq!(last_word(&device, &kernel, most).unwrap(), most as u32, "{device}");
    }
}

#[test]
fn threads_that_launch_one_kernel_with_different_sizes_do_not_disturb_each_other() {
    for device in devices() {
        let kernel = Arc::new(kernel(&device, "last_word"));
        let most = (device.limits().shared_per_block / 4) as usize;
        thread::scope(|scope| {
            for start in 0..4 {
                let (device, kernel) = (&device, Arc::clone(&kernel));
                scope.spawn(move || {
                    for step in 0..20 {
                        let words = most - (start + step * 7) * 64;
                        assert_eq!(last_word(device, &kernel, words).unwrap(), words as u32);
                    }
                });
            }
        });
    }
}

#[test]
fn two_modules_with_the_same_names_live_side_by_side() {
    for device in devices() {
        let (first, second) = (kernel(&device, "static_only"), kernel(&device, "static_only"));
        let mut y = device.zeros::<u32>(2).unwrap();
        for kernel in [&first, &second, &first] {
            // SAFETY: `static_only` writes one element.
            unsafe { kernel.launch(&LaunchConfig::new(1, 1), args![&mut y]) }
                .unwrap()
                .clean()
                .unwrap();
        }
        assert_eq!(y.to_vec().unwrap(), [7, 0], "{device}");
    }
}

#[test]
fn the_emulator_finds_what_a_launch_does_wrong_and_buffers_drop_quietly() {
    let device = Device::emulator();
    let strays = kernel(&device, "strays");
    let buffer = device.zeros::<f32>(16).unwrap();
    // SAFETY: on the emulator a stray write is a finding.
    let run = unsafe { strays.launch(&LaunchConfig::new(1, 1), args![]) }.unwrap();
    let error = run.clean().unwrap_err();
    assert!(error.to_string().contains("out-of-bounds"), "{error}");
    drop(buffer);
}

#[test]
fn text_that_is_no_ptx_is_an_error() {
    for device in devices() {
        let error = device.load("this is not PTX").unwrap_err().to_string();
        assert!(error.contains("cannot") && error.contains("line 1"), "{error}");
    }
}

#[test]
fn copies_of_the_wrong_length_are_errors() {
    for device in devices() {
        let mut buffer = device.upload(&[1u16, 2, 3]).unwrap();
        assert!(matches!(
            buffer.write(&[1, 2]),
            Err(Error::Length { buffer: 3, given: 2 })
        ));
        assert!(matches!(
            buffer.read(&mut [0; 4]),
            Err(Error::Length { buffer: 3, given: 4 })
        ));
        let other = device.upload(&[7u16, 8, 9]).unwrap();
        buffer.copy_from(&other).unwrap();
        assert_eq!(buffer.to_vec().unwrap(), [7, 8, 9]);
        buffer.fill_bytes(0x11).unwrap();
        assert_eq!(buffer.to_vec().unwrap(), [0x1111; 3]);
        assert!(device.upload::<u64>(&[]).unwrap().to_vec().unwrap().is_empty());
        assert!(matches!(
            device.uninit::<u64>(usize::MAX / 2),
            Err(Error::TooLarge { .. })
        ));
    }
}

#[test]
fn asking_for_a_device_that_is_not_there_says_so() {
    match Device::cuda(0) {
        Ok(device) => {
            assert!(device.is_cuda());
            assert!(matches!(
                Device::cuda(1000),
                Err(Error::NoSuchDevice { ordinal: 1000, .. })
            ));
        }
        Err(error) => {
            assert!(matches!(error, Error::NoCudaDevice { .. }), "{error}");
            let open = Device::open();
            assert!(open.is_emulator());
            assert!(open.to_string().starts_with("emulator (no CUDA device: "), "{open}");
        }
    }
}

#[test]
fn handles_can_be_used_from_every_thread() {
    fn anywhere<T: Send + Sync>() {}
    anywhere::<Device>();
    anywhere::<DeviceBuffer<f32>>();
    anywhere::<tile33_host::Module>();
    anywhere::<Kernel>();
    anywhere::<Error>();
}
