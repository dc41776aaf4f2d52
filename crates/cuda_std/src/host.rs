//! What device functions do on the host.

/// `device!(name, [parameters], expression)`: the expression on the GPU, a panic that names the function on the host.
macro_rules! device {
    ($name:expr, [$($parameter:expr),*], $on_gpu:expr) => {{
        #[cfg(target_os = "cuda")]
        {
            $on_gpu
        }
        #[cfg(not(target_os = "cuda"))]
        {
            $(let _ = $parameter;)*
            $crate::host::only_on_the_gpu($name)
        }
    }};
}

pub(crate) use device;

/// The end of every device function on the host.
#[cfg(not(target_os = "cuda"))]
#[cold]
#[track_caller]
pub(crate) fn only_on_the_gpu(name: &str) -> ! {
    panic!(
        "cuda_std::{name} was called on the host: it works only inside a kernel. \
         Launch the kernel on a device; the emulator is one that needs no GPU"
    )
}
