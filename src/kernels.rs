//! The kernels of `kernels-gpu` as PTX, ready to load.

use std::sync::Arc;

use tile33_host::{Device, Error, Module, PtxImage, best_image};

/// The PTX, one text for each architecture that `kernels-gpu` is built for.
pub const PTX: &[&str] = include!(concat!(env!("OUT_DIR"), "/kernels.rs"));

/// The PTX that suits the device best: for the latest architecture that is not later than its own.
///
/// # Errors
/// [`Error::NoPtxForArch`] where every one is for a later architecture.
pub fn best_ptx(device: &Device) -> Result<&'static str, Error> {
    let images = PTX
        .iter()
        .map(|text| PtxImage::new(text))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(best_image(&images, device.limits().arch)?.text)
}

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
/// As [`best_ptx`] and [`Device::load`].
pub fn load(device: &Device) -> Result<Module, Error> {
    device.load(best_ptx(device)?)
}

/// The kernels on a device, as plain calls on slices.
///
/// ```
/// use tile33::{Device, Kernels};
///
/// let kernels = Kernels::load(&Device::open())?;
/// let matrix = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]; // 2 rows, 3 columns
/// assert_eq!(kernels.transpose(&matrix, 2, 3)?, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Kernels {
    module: Module,
}

impl Kernels {
    /// Loads the PTX that suits the device best.
    ///
    /// # Errors
    /// As [`load`].
    pub fn load(device: &Device) -> Result<Self, Error> {
        Ok(Self { module: load(device)? })
    }

    /// Those of a device, loaded by the first call for it and kept as long as a handle to it is.
    ///
    /// # Errors
    /// As [`load`].
    pub fn of(device: &Device) -> Result<Arc<Self>, Error> {
        device.extension(Self::load)
    }

    /// The device that they are loaded on.
    pub fn device(&self) -> &Device {
        self.module.device()
    }

    /// The module, for kernels without an entry point of their own here.
    pub fn module(&self) -> &Module {
        &self.module
    }
}
