//! The kernels of `kernels-gpu` as PTX, ready to load.

use tile33_host::{Device, Error, Module, PtxImage};

/// The PTX, one text for each architecture that `kernels-gpu` is built for.
pub const PTX: &[&str] = include!(concat!(env!("OUT_DIR"), "/kernels.rs"));

/// Loads the PTX that suits the device best.
///
/// ```
/// use tile33::host::Device;
/// let module = tile33::kernels::load(&Device::emulator())?;
/// assert!(module.kernels().any(|name| name == "transpose_padded_f32"));
/// # Ok::<(), tile33::host::Error>(())
/// ```
///
/// # Errors
/// As [`Device::load_best`].
pub fn load(device: &Device) -> Result<Module, Error> {
    let images = PTX
        .iter()
        .map(|text| PtxImage::new(text))
        .collect::<Result<Vec<_>, _>>()?;
    device.load_best(&images)
}
