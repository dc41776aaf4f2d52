//! Asks the driver of a machine with a GPU for the occupancy of many kernels, and writes its answers down.
//!
//! `tile33-layout`'s `occupancy` is tested against the file that this makes. Each kernel is PTX made for the purpose: it
//! keeps so many values alive that the driver's compiler needs about the wanted registers (what it really uses is read
//! back), and it touches so many bytes of static shared memory. The dynamic bytes are opted in first.

use std::error::Error;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::PathBuf;

use cust::context::Context;
use cust::device::{Device, DeviceAttribute};
use cust::error::CudaError;
use cust::function::{BlockSize, Function, FunctionAttribute};
use cust::module::Module;
use cust::sys::{CUfunction_attribute, cuFuncSetAttribute};
use tile33_driver_shim as _;

/// Writes the driver's occupancy for a grid of configurations as JSON lines.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// File to write: one object a line, {arch, regs, block, static, dynamic, blocks}.
    output: PathBuf,
}

/// Values kept alive; the compiler adds a few registers of its own.
const ALIVE: [u32; 10] = [1, 20, 28, 36, 52, 60, 84, 116, 156, 236];
const STATIC_BYTES: [u32; 7] = [0, 1, 1023, 4096, 8448, 20_000, 49_152];
const BLOCK_THREADS: [u32; 15] = [1, 32, 33, 64, 96, 128, 160, 192, 256, 352, 384, 512, 640, 768, 1024];
const DYNAMIC_BYTES: [u32; 13] = [
    0, 1, 127, 1024, 3967, 4224, 11_000, 16_384, 33_792, 49_152, 75_000, 115_712, 231_424,
];
/// Every so many-th combination is asked for: coprime to the lengths above, so that all values meet.
const EVERY: usize = 11;

pub(crate) fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    cust::init(cust::CudaFlags::empty()).map_err(refused("starting CUDA"))?;
    let device = Device::get_device(0).map_err(refused("opening device 0"))?;
    let _context = Context::new(device).map_err(refused("making a context"))?;
    let asked = "asking for an attribute";
    let major = device
        .get_attribute(DeviceAttribute::ComputeCapabilityMajor)
        .map_err(refused(asked))?;
    let minor = device
        .get_attribute(DeviceAttribute::ComputeCapabilityMinor)
        .map_err(refused(asked))?;
    let name = device.name().map_err(refused(asked))?;
    let file =
        File::create(&args.output).map_err(|error| format!("cannot write {}: {error}", args.output.display()))?;
    let mut output = BufWriter::new(file);
    let (mut combination, mut written) = (0, 0);
    for alive in ALIVE {
        for static_bytes in STATIC_BYTES {
            let module = Module::from_ptx(kernel(alive, static_bytes), &[]).map_err(refused("loading a kernel"))?;
            let function = module.get_function("probe").map_err(refused("finding the kernel"))?;
            let registers = function
                .get_attribute(FunctionAttribute::NumRegisters)
                .map_err(refused(asked))?;
            let static_seen = function
                .get_attribute(FunctionAttribute::SharedMemorySizeBytes)
                .map_err(refused(asked))?;
            for block in BLOCK_THREADS {
                for dynamic in DYNAMIC_BYTES {
                    combination += 1;
                    if combination % EVERY != 0 {
                        continue;
                    }
                    // Bytes that the driver refuses to opt in to cannot be launched with: no block.
                    let blocks = if opt_in(&function, dynamic) {
                        function
                            .max_active_blocks_per_multiprocessor(BlockSize::x(block), dynamic as usize)
                            .map_err(refused("asking for the occupancy"))?
                    } else {
                        0
                    };
                    writeln!(
                        output,
                        r#"{{"arch":"sm_{major}{minor}","regs":{registers},"block":{block},"static":{static_seen},"dynamic":{dynamic},"blocks":{blocks}}}"#
                    )?;
                    written += 1;
                }
            }
        }
    }
    output.flush()?;
    println!(
        "{written} configurations of {} (sm_{major}{minor}) in {}",
        name,
        args.output.display()
    );
    Ok(())
}

/// Says what the driver refused. (cust's own text needs a driver, which may be what is missing.)
fn refused(doing: &'static str) -> impl Fn(CudaError) -> String {
    move |error| format!("{doing} failed with {error:?}: this command needs a machine with a CUDA device")
}

/// Raises the function's limit of dynamic shared memory; whether the driver agreed.
fn opt_in(function: &Function<'_>, dynamic: u32) -> bool {
    let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    // SAFETY: the handle is valid as long as its module, which `function` borrows; the call only reads its arguments.
    let result = unsafe { cuFuncSetAttribute(function.to_raw(), attribute, dynamic as i32) };
    result == cust::sys::cudaError_enum::CUDA_SUCCESS
}

/// PTX of a kernel that loads `alive` values before it stores the first.
fn kernel(alive: u32, static_bytes: u32) -> String {
    let mut text = String::from(
        ".version 7.0\n.target sm_75\n.address_size 64\n.extern .shared .align 4 .b8 block_bytes[];\n\
         .visible .entry probe(.param .u64 data)\n{\n.reg .b64 %rd<2>;\n",
    );
    // Writing to a string cannot fail.
    let _ = writeln!(text, ".reg .b32 %r<{alive}>;\n.reg .b16 %h;");
    if static_bytes > 0 {
        let _ = writeln!(text, ".shared .align 1 .b8 fixed[{static_bytes}];");
    }
    text.push_str("ld.param.u64 %rd0, [data];\ncvta.to.global.u64 %rd1, %rd0;\n");
    for value in 0..alive {
        let _ = writeln!(text, "ld.volatile.global.u32 %r{value}, [%rd1+{}];", 4 * value);
    }
    if static_bytes > 0 {
        let _ = writeln!(
            text,
            "cvt.u16.u32 %h, %r0;\nst.volatile.shared.u8 [fixed+{}], %h;",
            static_bytes - 1
        );
    }
    for value in (0..alive).rev() {
        let _ = writeln!(text, "st.volatile.global.u32 [%rd1+{}], %r{value};", 4 * value);
    }
    text.push_str("ret;\n}\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_has_at_least_three_hundred_configurations() {
        let all = ALIVE.len() * STATIC_BYTES.len() * BLOCK_THREADS.len() * DYNAMIC_BYTES.len();
        assert!(all / EVERY >= 300, "{all}");
        for length in [
            ALIVE.len(),
            STATIC_BYTES.len(),
            BLOCK_THREADS.len(),
            DYNAMIC_BYTES.len(),
        ] {
            assert_ne!(length % EVERY, 0, "every value would not meet every other");
        }
    }

    #[test]
    fn a_kernel_without_static_bytes_declares_none() {
        assert!(!kernel(4, 0).contains("fixed"));
        assert!(kernel(4, 9).contains("fixed[9]"));
    }
}
