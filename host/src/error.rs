//! Everything that can go wrong, as values.

use tile33_ptx::ParseError;
use tile33_sim::{LaunchError, LoadError, MemoryError};

use crate::arch::Arch;
use crate::dims::Dim3;
use crate::signature::ParameterKind;

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no CUDA device to open.
    #[error("no CUDA device: {reason}. The emulator needs none")]
    NoCudaDevice {
        /// Why, in the words of the loader or the driver.
        reason: String,
    },
    /// Fewer CUDA devices than the ordinal asks for.
    #[error("no CUDA device {ordinal}: there are {count}, counted from 0")]
    NoSuchDevice {
        /// Asked for.
        ordinal: u32,
        /// How many there are.
        count: u32,
    },
    /// The driver refused a call.
    #[error("{action} failed: {message}")]
    Cuda {
        /// What was being done.
        action: &'static str,
        /// The driver's own words, with the error's name.
        message: String,
    },
    /// The driver could not compile the PTX.
    #[error("the driver cannot load the PTX: {message}\n{log}")]
    CudaLoad {
        /// The driver's own words.
        message: String,
        /// What its compiler wrote; may be empty.
        log: String,
    },
    /// The text after `.target` is no architecture that later devices run too.
    #[error("`{text}` is not an architecture like sm_75 in the PTX's `.target` line")]
    UnknownArch {
        /// As written.
        text: String,
    },
    /// Every PTX image is for a later architecture.
    #[error("no PTX for {device}: there is PTX for {available}, and PTX runs on later architectures only")]
    NoPtxForArch {
        /// The device's.
        device: Arch,
        /// Those of the images.
        available: String,
    },
    /// The PTX cannot be read.
    #[error("the PTX cannot be read: {0}")]
    Parse(#[from] ParseError),
    /// The emulator cannot load the PTX.
    #[error("the emulator cannot load the PTX: {0}")]
    Load(#[from] LoadError),
    /// No kernel of that name.
    #[error("no kernel `{asked}` in the module; it has {}", quoted(available))]
    NoSuchKernel {
        /// Asked for.
        asked: String,
        /// Those there are.
        available: Vec<String>,
    },
    /// Wrong number of arguments.
    #[error("`{kernel}` takes {expected} arguments, {given} were given")]
    ArgumentCount {
        /// The kernel.
        kernel: String,
        /// How many it takes.
        expected: usize,
        /// How many came.
        given: usize,
    },
    /// An argument that the kernel does not take in that place.
    #[error("argument {index} of `{kernel}` (`{parameter}`) is {expected}, but {given} was given")]
    ArgumentType {
        /// The kernel.
        kernel: String,
        /// From 0.
        index: usize,
        /// The parameter's name in the PTX.
        parameter: String,
        /// What it takes.
        expected: ParameterKind,
        /// What came.
        given: String,
    },
    /// A buffer of another device.
    #[error("argument {index} of `{kernel}` is a buffer of another device: {buffer}; the kernel is on {device}")]
    ForeignBuffer {
        /// The kernel.
        kernel: String,
        /// From 0.
        index: usize,
        /// Where the buffer is.
        buffer: String,
        /// Where the kernel is.
        device: String,
    },
    /// A grid or block dimension is zero or too large.
    #[error("{what} {axis} is {asked}; {device} takes 1 to {limit}")]
    Dimension {
        /// `grid` or `block`.
        what: &'static str,
        /// `x`, `y` or `z`.
        axis: char,
        /// Asked for.
        asked: u32,
        /// Largest.
        limit: u32,
        /// The device.
        device: String,
    },
    /// Too many threads in a block.
    #[error("a block of {asked} threads; {limited_by} takes at most {most}")]
    TooManyThreads {
        /// Asked for.
        asked: u64,
        /// Most.
        most: u64,
        /// Whose limit it is.
        limited_by: String,
    },
    /// The kernel wants one shape of block (`.reqntid`).
    #[error("`{kernel}` is compiled for blocks of {required} threads, asked for {asked}")]
    RequiredBlock {
        /// The kernel.
        kernel: String,
        /// Its shape.
        required: Dim3,
        /// Asked for.
        asked: Dim3,
    },
    /// More shared memory than a block can have.
    #[error(
        "`{kernel}` asks for {} bytes of shared memory a block ({static_shared} static + {dynamic} dynamic); {device} has \
         at most {available}. Use less: smaller tiles, or fewer bins",
        static_shared.saturating_add(*dynamic)
    )]
    SharedMemory {
        /// The kernel.
        kernel: String,
        /// Bytes that its code declares.
        static_shared: u64,
        /// Bytes asked for with the launch.
        dynamic: u64,
        /// Most bytes of a block, with the opt-in.
        available: u64,
        /// The device.
        device: String,
    },
    /// Dynamic shared memory for a kernel that has no use for it.
    #[error(
        "{dynamic} bytes of dynamic shared memory are given, but `{kernel}` has no dynamic array: its {static_shared} \
         static bytes are there without asking. Launch it without dynamic shared memory"
    )]
    DynamicSharedUnused {
        /// The kernel.
        kernel: String,
        /// Bytes that its code declares.
        static_shared: u64,
        /// Bytes asked for with the launch.
        dynamic: u64,
    },
    /// A kernel with a dynamic array, launched without bytes for it.
    #[error("`{kernel}` uses dynamic shared memory, and the launch gives it none: set `dynamic_shared`")]
    DynamicSharedMissing {
        /// The kernel.
        kernel: String,
    },
    /// The emulator stopped the launch.
    #[error("the emulator stopped the launch: {0}")]
    Launch(#[from] LaunchError),
    /// The emulator found something wrong with the program.
    #[error("`{kernel}` ran, but the emulator found: {first}{}", more(*count))]
    Findings {
        /// The kernel.
        kernel: String,
        /// The first finding.
        first: String,
        /// How many there are.
        count: usize,
    },
    /// The emulator's memory.
    #[error("the emulator's memory: {0}")]
    Memory(#[from] MemoryError),
    /// A number of elements whose bytes no address space holds.
    #[error("{elements} elements of {element_bytes} bytes are more than an address space holds")]
    TooLarge {
        /// Elements.
        elements: usize,
        /// Bytes of one.
        element_bytes: usize,
    },
    /// A slice and a buffer, or two buffers, of different lengths.
    #[error("{given} elements for a buffer of {buffer}: copy all of it, into a slice of the same length")]
    Length {
        /// Elements of the buffer.
        buffer: usize,
        /// Elements of the other.
        given: usize,
    },
    /// A copy between devices.
    #[error("the buffers are on different devices: copy through the host")]
    DifferentDevices,
}

fn quoted(names: &[String]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    names
        .iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

fn more(count: usize) -> String {
    match count {
        0 | 1 => String::new(),
        n => format!(" (and {} more)", n - 1),
    }
}
