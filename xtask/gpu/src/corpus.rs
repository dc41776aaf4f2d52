//! `cargo xtask-gpu corpus`: the corpus of compiled kernels on the GPU and on the emulator.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use tile33::launch_file::{LaunchFile, Prepared};
use tile33::sim;
use tile33_host::{Arg, Device, DeviceBuffer, LaunchConfig, SharedBytes};

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
    let device = Device::cuda(0)?;
    let folder = crate::root().join(FOLDER);
    let mut record =
        format!("# {device}: FNV-1a of each buffer after the launch, by `cargo xtask-gpu corpus --record`\n");
    let (mut same, mut different) = (0, 0);
    for path in launch_files(&folder)? {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if !args.names.is_empty() && !args.names.contains(&name) {
            continue;
        }
        let file = LaunchFile::read(&path)?;
        let mut prepared = file.prepare()?;
        // What a failed kernel leaves behind spoils the context: the first failure is the last launch.
        let after =
            launched(&device, &file, &mut prepared).map_err(|error| format!("{name} on the device: {error}"))?;
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

/// Launches on a device; the buffers after it.
fn launched(device: &Device, file: &LaunchFile, prepared: &mut Prepared) -> Result<Buffers, Box<dyn Error>> {
    let kernel = device.load(&lowered(file.ptx()))?.kernel(file.entry())?;
    let launch = prepared.launch.clone();
    let mut buffers: Vec<(usize, DeviceBuffer<u8>)> = Vec::new();
    for index in 0..launch.args.len() {
        if let Some(bytes) = prepared.bytes(index) {
            buffers.push((index, device.upload(&bytes)?));
        }
    }
    let mut given = buffers.iter().map(|(_, buffer)| buffer);
    let argument = |arg: &sim::Arg| {
        Ok(match arg {
            sim::Arg::U8(number) => Arg::from(*number),
            sim::Arg::U16(number) => Arg::from(*number),
            sim::Arg::U32(number) => Arg::from(*number),
            sim::Arg::U64(number) => Arg::from(*number),
            sim::Arg::I8(number) => Arg::from(*number),
            sim::Arg::I16(number) => Arg::from(*number),
            sim::Arg::I32(number) => Arg::from(*number),
            sim::Arg::I64(number) => Arg::from(*number),
            sim::Arg::F32(number) => Arg::from(*number),
            sim::Arg::F64(number) => Arg::from(*number),
            sim::Arg::Bytes(bytes) => Arg::structure_of(bytes),
            sim::Arg::Pointer(_) => Arg::from(given.next().ok_or("a pointer to no buffer")?),
        })
    };
    let arguments = launch.args.iter().map(argument).collect::<Result<Vec<_>, &str>>()?;
    let config = LaunchConfig::new(launch.grid, launch.block);
    let config = config.with_dynamic_shared(SharedBytes::bytes(launch.dynamic_shared.into()));
    // SAFETY: the buffers are as large as on the emulator, where the kernel keeps to them, and the arguments are those that
    // `prepare` has checked.
    unsafe { kernel.launch(&config, &arguments)? };
    let read = |(index, buffer): (usize, DeviceBuffer<u8>)| Ok((index, buffer.to_vec()?));
    buffers.into_iter().map(read).collect()
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
    fn a_launch_on_a_device_leaves_the_buffers_that_the_launch_file_does() {
        for path in launch_files(&crate::root().join(FOLDER)).unwrap() {
            let file = LaunchFile::read(&path).unwrap();
            let mut prepared = file.prepare().unwrap();
            let after = launched(&Device::emulator(), &file, &mut prepared).unwrap();
            prepared.run(file.program()).unwrap();
            assert!(!after.is_empty());
            for (index, bytes) in after {
                assert_eq!(
                    Some(bytes),
                    prepared.bytes(index),
                    "{}, argument {index}",
                    path.display()
                );
            }
        }
    }
}
