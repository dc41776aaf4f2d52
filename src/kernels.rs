//! The kernels of `kernels-gpu` as PTX, ready to load.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use tile33_host::{Arch, Device, Error, Kernel, Module, PtxImage, best_image};

/// One PTX file of the kernels: those of a problem, for an architecture and all later ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PtxFile {
    /// Its name: `transpose.sm_75.ptx`.
    pub name: &'static str,
    /// The entry points in it.
    pub kernels: &'static [&'static str],
    /// The PTX.
    pub text: &'static str,
}

/// The PTX of all kernels. The same kernel may be in several files, for different architectures.
pub const PTX: &[PtxFile] = include!(concat!(env!("OUT_DIR"), "/kernels.rs"));

/// The names of all kernels, in alphabetical order.
pub fn names() -> impl Iterator<Item = &'static str> {
    let names: BTreeSet<&str> = PTX.iter().flat_map(|file| file.kernels).copied().collect();
    names.into_iter()
}

/// The file that holds the kernel, for the latest architecture that is not later than `device`.
///
/// ```
/// use tile33::host::Arch;
/// let file = tile33::kernels::file_of("transpose_padded_f32", Arch::new(9, 0))?;
/// assert_eq!(file.name, "transpose.sm_75.ptx");
/// # Ok::<(), tile33::host::Error>(())
/// ```
///
/// # Errors
/// [`Error::NoSuchKernel`] where no file holds it, [`Error::NoPtxForArch`] where every one that does is for a later
/// architecture.
pub fn file_of(kernel: &str, device: Arch) -> Result<&'static PtxFile, Error> {
    Ok(&PTX[index_of(kernel, device)?])
}

fn index_of(kernel: &str, device: Arch) -> Result<usize, Error> {
    let holding: Vec<usize> = (0..PTX.len())
        .filter(|&file| PTX[file].kernels.contains(&kernel))
        .collect();
    if holding.is_empty() {
        return Err(Error::NoSuchKernel {
            asked: kernel.to_owned(),
            available: names().map(str::to_owned).collect(),
        });
    }
    let images = holding.iter().map(|&file| PtxImage::new(PTX[file].text));
    let images = images.collect::<Result<Vec<_>, _>>()?;
    let best = best_image(&images, device)?;
    let found = images.iter().position(|image| *image == best);
    Ok(holding[found.unwrap_or_default()])
}

/// The kernels on a device. A file is loaded when the first kernel of it is asked for, once.
///
/// ```
/// use tile33::{Device, Kernels};
///
/// let kernels = Kernels::new(&Device::open());
/// let matrix = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]; // 2 rows, 3 columns
/// assert_eq!(kernels.transpose(&matrix, 2, 3)?, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Kernels {
    device: Device,
    /// One for each of [`PTX`].
    modules: Arc<[OnceLock<Module>]>,
}

impl Kernels {
    /// Those of a device. Nothing is loaded yet.
    pub fn new(device: &Device) -> Self {
        Self {
            device: device.clone(),
            modules: PTX.iter().map(|_| OnceLock::new()).collect(),
        }
    }

    /// Those that all calls for this device share, kept as long as a handle to it is.
    pub fn of(device: &Device) -> Self {
        let Ok(shared) = device.extension(|device| Ok::<_, std::convert::Infallible>(Self::new(device)));
        (*shared).clone()
    }

    /// The device that they are for.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// A kernel by its name.
    ///
    /// # Errors
    /// As [`module`](Self::module).
    pub fn kernel(&self, name: &str) -> Result<Kernel, Error> {
        self.module(name)?.kernel(name)
    }

    /// The module that the kernel is in: the best for the device.
    ///
    /// # Errors
    /// As [`file_of`], and as [`Device::load`].
    pub fn module(&self, kernel: &str) -> Result<&Module, Error> {
        let index = index_of(kernel, self.device.limits().arch)?;
        let module = &self.modules[index];
        if let Some(module) = module.get() {
            return Ok(module);
        }
        // Two threads may both load it at first; one of the modules stays.
        let loaded = self.device.load(PTX[index].text)?;
        Ok(module.get_or_init(|| loaded))
    }
}
