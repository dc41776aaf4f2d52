//! Devices, buffers, launches and validation: the same program on a CUDA device and on the emulator.
//!
//! ```no_run
//! use tile33_host::{Device, LaunchConfig, args};
//!
//! let device = Device::open();                       // CUDA if there is one, else the emulator
//! let module = device.load(&std::fs::read_to_string("scale.ptx")?)?;
//! let scale = module.kernel("scale")?;
//! let input = device.upload(&[1.0f32, 2.0, 3.0])?;
//! let mut output = device.zeros::<f32>(3)?;
//! // Sound: `scale` reads and writes as many elements as its last argument says.
//! let run = unsafe { scale.launch(&LaunchConfig::new(1, 32), args![&input, &mut output, 2.0f32, 3u32]) }?;
//! println!("{:?} {:?}", output.to_vec()?, run.time);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`Device`], [`DeviceBuffer`] | opening a device, memory on it |
//! | [`Module`], [`Kernel`], [`LaunchConfig`], [`Arg`] | loading PTX, launching |
//! | [`Signature`], [`Limits`] | what a launch is checked against before it runs |
//! | [`compare`], [`reference`](mod@reference) | results against the CPU's |
//!
//! **Launches are checked.** The PTX says what parameters a kernel has, how much static shared memory, what launch bounds;
//! the device says what it can do. A launch that does not fit is an [`Error`] with both numbers, before anything runs.
//! More than 48 KiB of shared memory in a block is opted in to by itself.
//!
//! **Errors are values.** Nothing here panics on what a program asks for, and dropping never does.
//!
//! **Order.** What is asked of a device happens in the order in which it was asked, from whichever thread.

mod arch;
mod args;
mod buffer;
pub mod compare;
mod cuda;
mod device;
mod dims;
mod emulated;
mod error;
mod limits;
mod module;
pub mod reference;
mod signature;

pub use arch::{Arch, PtxImage, best_image};
pub use args::Arg;
pub use buffer::DeviceBuffer;
pub use device::Device;
pub use dims::{Dim3, LaunchConfig, SharedBytes};
pub use error::Error;
pub use limits::{Limits, SHARED_WITHOUT_OPT_IN};
pub use module::{Kernel, Module, Run};
pub use signature::{Parameter, ParameterKind, Signature};
pub use tile33_sim::{Checks, Options, Report};
