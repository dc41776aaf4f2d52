//! `cargo xtask-gpu corpus`: the corpus of compiled kernels on the GPU and on the emulator.

use std::error::Error;
use std::ffi::c_void;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::ptr::null_mut;

use cust::context::Context;
use cust::device::Device;
use cust::memory::{CopyDestination, DeviceBuffer};
use cust::module::Module;
use cust::sys::{CUfunction_attribute, cuFuncSetAttribute, cuLaunchKernel, cudaError_enum};
use tile33::launch_file::{LaunchFile, Prepared};
use tile33::sim::Arg;

use crate::differential::compare::hash;

/// Where the corpus is.
const FOLDER: &str = "tests/corpus";

/// The latest version of PTX that the driver of CUDA 13.0 reads. Text of a later version loads as this one, unless it
/// uses what is new in it.
const LATEST: (u32, u32) = (9, 0);

/// Launches every file of the corpus on the CUDA device and on the emulator, and compares all buffers.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Write down a hash of each buffer that is the same on both, for the emulator's test.
    #[arg(long)]
    record: bool,
    /// Only these launch files, by their names without `.toml`.
    names: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    cust::init(cust::CudaFlags::empty())?;
    let device = Device::get_device(0)?;
    let _context = Context::new(device)?;
    let folder = crate::root().join(FOLDER);
    let mut record = format!(
        "# {}: FNV-1a of each buffer after the launch, by `cargo xtask-gpu corpus --record`\n",
        device.name()?
    );
    let (mut same, mut different) = (0, 0);
    for path in launch_files(&folder)? {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if !args.names.is_empty() && !args.names.contains(&name) {
            continue;
        }
        let file = LaunchFile::read(&path)?;
        let mut prepared = file.prepare()?;
        // What a failed kernel leaves behind spoils the context: the first failure is the last launch.
        let after = on_gpu(&file, &mut prepared).map_err(|error| format!("{name} on the device: {error}"))?;
        prepared.run(file.program())?;
        for (index, gpu) in after {
            let emulator = prepared.bytes(index).unwrap_or_default();
            if gpu == emulator {
                same += 1;
                writeln!(record, "{name} {index} {:016x}", hash(&gpu))?;
            } else {
                different += 1;
                let bytes = gpu.iter().zip(&emulator).filter(|(a, b)| a != b).count();
                let first = gpu.iter().zip(&emulator).position(|(a, b)| a != b).unwrap_or(0);
                let word = |bytes: &[u8]| {
                    let at = first / 4 * 4;
                    let word: Vec<u8> = bytes[at..].iter().copied().take(4).collect();
                    format!("{word:02x?}")
                };
                println!(
                    "{name}: argument {index}: {bytes} of {} bytes differ, first at byte {first}: {} on the device, {} on the emulator",
                    gpu.len(),
                    word(&gpu),
                    word(&emulator)
                );
            }
        }
    }
    println!("{same} buffers are the same, {different} differ");
    if args.record {
        fs::write(folder.join("h200.txt"), record)?;
    }
    Ok(())
}

fn launch_files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder.join("launch"))?.collect::<Result<Vec<_>, _>>()?;
    let mut paths: Vec<_> = entries.iter().map(fs::DirEntry::path).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    Ok(paths)
}

/// Bytes of buffers, by argument.
type Buffers = Vec<(usize, Vec<u8>)>;

/// Launches on the device; the buffers after it.
fn on_gpu(file: &LaunchFile, prepared: &mut Prepared) -> Result<Buffers, Box<dyn Error>> {
    let module = Module::from_ptx(lowered(file.ptx()), &[])?;
    let function = module.get_function(file.entry())?;
    let launch = prepared.launch.clone();
    let mut buffers = Vec::new();
    let mut parameters: Vec<Vec<u64>> = Vec::new();
    for (index, arg) in launch.args.iter().enumerate() {
        parameters.push(match prepared.bytes(index) {
            Some(bytes) if matches!(arg, Arg::Pointer(_)) => {
                // An allocation of no bytes is none.
                let padded = if bytes.is_empty() { vec![0] } else { bytes.clone() };
                let buffer = DeviceBuffer::from_slice(&padded)?;
                let address = buffer.as_device_ptr().as_raw();
                buffers.push((index, bytes.len(), buffer));
                vec![address]
            }
            _ => words(&arg.to_bytes()),
        });
    }
    let mut pointers: Vec<*mut c_void> = parameters.iter_mut().map(|words| words.as_mut_ptr().cast()).collect();
    let ([gx, gy, gz], [bx, by, bz]) = (launch.grid, launch.block);
    // SAFETY: the parameters are as many and as large as the kernel's, which `prepare` has checked, and live until the
    // kernel has run; the buffers are as large as on the emulator, where the kernel keeps to them.
    unsafe {
        let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        checked(cuFuncSetAttribute(
            function.to_raw(),
            attribute,
            launch.dynamic_shared as i32,
        ))?;
        let launched = cuLaunchKernel(
            function.to_raw(),
            gx,
            gy,
            gz,
            bx,
            by,
            bz,
            launch.dynamic_shared,
            null_mut(),
            pointers.as_mut_ptr(),
            null_mut(),
        );
        checked(launched)?;
    }
    cust::context::CurrentContext::synchronize()?;
    let mut after = Vec::new();
    for (index, len, buffer) in buffers {
        let mut bytes = vec![0; buffer.len()];
        buffer.copy_to(&mut bytes)?;
        bytes.truncate(len);
        after.push((index, bytes));
    }
    Ok(after)
}

fn checked(result: cudaError_enum) -> Result<(), String> {
    match result {
        cudaError_enum::CUDA_SUCCESS => Ok(()),
        error => Err(format!("the driver says {error:?}")),
    }
}

/// Parameter bytes in memory that is aligned for every type.
fn words(bytes: &[u8]) -> Vec<u64> {
    let word = |chunk: &[u8]| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_ne_bytes(word)
    };
    bytes.chunks(8).map(word).collect()
}

/// The PTX with a version that the driver reads.
fn lowered(ptx: &str) -> String {
    let version = |line: &str| {
        let (major, minor) = line.strip_prefix(".version")?.trim().split_once('.')?;
        Some((major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?))
    };
    let line = |line: &str| match version(line) {
        Some(found) if found > LATEST => format!(".version {}.{}\n", LATEST.0, LATEST.1),
        _ => format!("{line}\n"),
    };
    ptx.lines().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_version_that_the_driver_does_not_read_is_lowered() {
        assert_eq!(
            lowered("// x\n.version 9.4\n.target sm_75\n"),
            "// x\n.version 9.0\n.target sm_75\n"
        );
        assert_eq!(lowered(".version 8.8\n"), ".version 8.8\n");
    }

    #[test]
    fn parameters_of_any_length_become_whole_words() {
        assert_eq!(words(&[1, 0, 0, 0, 0, 0, 0, 0, 2]), [1, 2]);
        assert_eq!(words(&[7]), [7]);
    }
}
