//! Modules, kernels and launches.

use std::sync::Arc;
use std::time::Duration;

use tile33_sim::{Options, Program, Report};

use crate::arch::{PtxImage, best_image};
use crate::args::{Arg, Value};
use crate::device::{Backend, Device};
use crate::dims::LaunchConfig;
use crate::error::Error;
use crate::signature::Signature;
use crate::{cuda, emulated};

/// Kernels loaded on a device.
#[derive(Clone, Debug)]
pub struct Module {
    device: Device,
    ptx: Arc<tile33_ptx::Module>,
    loaded: Loaded,
}

#[derive(Clone, Debug)]
enum Loaded {
    Cuda(Arc<cuda::Module>),
    Emulated {
        program: Arc<Program>,
        device: Arc<emulated::Emulated>,
    },
}

impl Device {
    /// Loads PTX.
    ///
    /// # Errors
    /// When the text is no PTX, or the device cannot compile it.
    pub fn load(&self, ptx: &str) -> Result<Module, Error> {
        let (parsed, loaded) = match &self.backend {
            Backend::Cuda(device) => (
                tile33_ptx::parse(ptx)?,
                Loaded::Cuda(Arc::new(cuda::Module::load(device, ptx)?)),
            ),
            Backend::Emulated(device) => {
                let program = Program::load(ptx)?;
                let parsed = program.module().clone();
                (
                    parsed,
                    Loaded::Emulated {
                        program: Arc::new(program),
                        device: Arc::clone(device),
                    },
                )
            }
        };
        Ok(Module {
            device: self.clone(),
            ptx: Arc::new(parsed),
            loaded,
        })
    }

    /// Loads the image that suits the device best: the latest architecture that is not later than its own.
    ///
    /// # Errors
    /// [`Error::NoPtxForArch`] where every image is for a later one; else as [`load`](Self::load).
    pub fn load_best(&self, images: &[PtxImage<'_>]) -> Result<Module, Error> {
        self.load(best_image(images, self.limits().arch)?.text)
    }
}

impl Module {
    /// The device that it is loaded on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The PTX as parsed.
    pub fn ptx(&self) -> &tile33_ptx::Module {
        &self.ptx
    }

    /// The names of the kernels.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        self.ptx
            .functions
            .iter()
            .filter(|f| f.is_kernel && f.body.is_some())
            .map(|f| f.name.as_str())
    }

    /// A kernel by its name.
    ///
    /// # Errors
    /// [`Error::NoSuchKernel`], with the names there are.
    pub fn kernel(&self, name: &str) -> Result<Kernel, Error> {
        let signature = Signature::of(&self.ptx, name)?;
        let handle = match &self.loaded {
            Loaded::Cuda(module) => Handle::Cuda(cuda::Kernel::find(module, name)?),
            Loaded::Emulated { program, device } => Handle::Emulated {
                program: Arc::clone(program),
                device: Arc::clone(device),
            },
        };
        Ok(Kernel {
            device: self.device.clone(),
            signature,
            handle,
        })
    }
}

/// A kernel of a loaded module.
#[derive(Debug)]
pub struct Kernel {
    device: Device,
    signature: Signature,
    handle: Handle,
}

#[derive(Debug)]
enum Handle {
    Cuda(cuda::Kernel),
    Emulated {
        program: Arc<Program>,
        device: Arc<emulated::Emulated>,
    },
}

/// What a launch tells.
#[derive(Clone, Debug)]
pub struct Run {
    /// The kernel.
    pub kernel: String,
    /// The device's own time for it; `None` on the emulator.
    pub time: Option<Duration>,
    /// Counters and findings; `None` on CUDA.
    pub report: Option<Report>,
}

impl Run {
    /// The same, or an error if the emulator found something wrong with the program.
    ///
    /// # Errors
    /// [`Error::Findings`].
    pub fn clean(self) -> Result<Self, Error> {
        match self.report.as_ref().map(|report| report.findings.as_slice()) {
            Some([first, rest @ ..]) => Err(Error::Findings {
                kernel: self.kernel,
                first: first.to_string(),
                count: 1 + rest.len(),
            }),
            _ => Ok(self),
        }
    }
}

impl Kernel {
    /// The device that it is loaded on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// What the kernel takes.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// Static shared memory of a block, in bytes: as compiled for the device, or as the PTX declares it.
    pub fn static_shared(&self) -> u64 {
        match &self.handle {
            Handle::Cuda(kernel) => kernel.static_shared(),
            Handle::Emulated { .. } => self.signature.static_shared,
        }
    }

    /// Registers of a thread, as the driver compiled the kernel; `None` on the emulator, since PTX has as many as it likes.
    pub fn registers(&self) -> Option<u32> {
        match &self.handle {
            Handle::Cuda(kernel) => Some(kernel.registers()),
            Handle::Emulated { .. } => None,
        }
    }

    /// Whether the launch can run, without running it: grid, block and shared memory against the device and the kernel, the
    /// arguments against the kernel's signature.
    ///
    /// # Errors
    /// The first thing that does not fit, with what was asked for and what is possible.
    pub fn check(&self, config: &LaunchConfig, args: &[Arg<'_>]) -> Result<(), Error> {
        self.signature.check(args)?;
        for (index, arg) in args.iter().enumerate() {
            if let Value::Buffer(storage) = &arg.0
                && !storage.is_on(&self.device)
            {
                return Err(Error::ForeignBuffer {
                    kernel: self.signature.kernel.clone(),
                    index,
                    buffer: storage.describe_device(),
                    device: self.device.to_string(),
                });
            }
        }
        self.device
            .limits()
            .check(&self.signature, self.static_shared(), config)?;
        if let Handle::Cuda(kernel) = &self.handle
            && config.block.count() > u64::from(kernel.max_threads())
        {
            return Err(Error::TooManyThreads {
                asked: config.block.count(),
                most: kernel.max_threads().into(),
                limited_by: format!(
                    "`{}`, with the registers it needs on this device,",
                    self.signature.kernel
                ),
            });
        }
        Ok(())
    }

    /// Checks the launch, runs it, waits for its end. On the emulator the device's options say which checks run.
    ///
    /// # Errors
    /// As [`check`](Self::check), before anything runs; or what went wrong on the device. What the emulator finds is in the
    /// run's report, see [`Run::clean`].
    ///
    /// # Safety
    /// The arguments have the right types and number, which is checked. The caller promises what cannot be: that every
    /// address which the kernel computes from them and accesses lies in their buffers, and that it writes to none that was
    /// given as `&buffer`. (The emulator reports what a CUDA device would let happen.)
    pub unsafe fn launch(&self, config: &LaunchConfig, args: &[Arg<'_>]) -> Result<Run, Error> {
        let options = match &self.handle {
            Handle::Cuda(_) => None,
            Handle::Emulated { device, .. } => Some(device.options()),
        };
        // SAFETY: the caller's promise.
        unsafe { self.run(config, args, options) }
    }

    /// Like [`launch`](Self::launch), with the emulator's options for this launch alone. CUDA devices have none.
    ///
    /// # Errors
    /// As there.
    ///
    /// # Safety
    /// As there.
    pub unsafe fn launch_with(&self, config: &LaunchConfig, args: &[Arg<'_>], options: &Options) -> Result<Run, Error> {
        // SAFETY: the caller's promise.
        unsafe { self.run(config, args, Some(options)) }
    }

    unsafe fn run(&self, config: &LaunchConfig, args: &[Arg<'_>], options: Option<&Options>) -> Result<Run, Error> {
        self.check(config, args)?;
        let (report, time) = match &self.handle {
            Handle::Cuda(_) => {
                // SAFETY: the caller's promise.
                let ((), time) = self.device.time(|| unsafe { self.enqueue(config, args) })?;
                (None, time)
            }
            Handle::Emulated { program, device } => {
                let options = options.unwrap_or(device.options());
                (
                    Some(device.launch(program, &self.signature.kernel, config, args, options)?),
                    None,
                )
            }
        };
        Ok(Run {
            kernel: self.signature.kernel.clone(),
            time,
            report,
        })
    }

    /// Checks the launch and enqueues it, without waiting: what goes wrong on a CUDA device is reported by what waits next
    /// ([`Device::synchronize`], or reading a buffer). On the emulator it runs at once, without report, and what is found
    /// is an error.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    ///
    /// # Safety
    /// As [`launch`](Self::launch). (Buffers may be dropped while the kernel runs: the device frees them after it.)
    pub unsafe fn enqueue(&self, config: &LaunchConfig, args: &[Arg<'_>]) -> Result<(), Error> {
        match &self.handle {
            Handle::Cuda(kernel) => {
                self.check(config, args)?;
                let addresses: Vec<[u8; 8]> = args.iter().map(address).collect();
                let values: Vec<&[u8]> = args
                    .iter()
                    .zip(&addresses)
                    .map(|(arg, address)| value(arg, address))
                    .collect();
                // SAFETY: `check` compared the values with the signature; the rest is the caller's promise.
                unsafe { kernel.enqueue(config, &values) }
            }
            // SAFETY: the caller's promise.
            Handle::Emulated { .. } => unsafe { self.launch(config, args) }?.clean().map(drop),
        }
    }
}

/// A buffer's address as a parameter.
fn address(arg: &Arg<'_>) -> [u8; 8] {
    match &arg.0 {
        Value::Buffer(storage) => storage.address().to_le_bytes(),
        _ => [0; 8],
    }
}

/// An argument's bytes.
fn value<'a>(arg: &'a Arg<'_>, address: &'a [u8; 8]) -> &'a [u8] {
    match &arg.0 {
        Value::Buffer(_) => address,
        Value::Bytes(bytes) => bytes,
        Value::Scalar { kind, bytes } => &bytes[..kind.bytes()],
    }
}
