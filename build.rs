//! The kernels' PTX: built from `kernels-gpu` where there is a device compiler, else the checked-in copy, if it is what
//! the sources are now. Anything else stops the build.

use std::env;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use cuda_builder::{CudaBuilder, Sources};

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed=build.rs");
    match build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            for line in error.to_string().lines() {
                println!("cargo::error={line}");
            }
            ExitCode::FAILURE
        }
    }
}

fn build() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("no OUT_DIR: this is a build script")?);
    let kernels = Path::new("kernels-gpu");
    let mut list = String::from("&[\n");
    for module in Sources::of(kernels)?.modules {
        let file = out.join(&module.file);
        let built = CudaBuilder::new(kernels)
            .module(&module)
            .checked_in(kernels.join("ptx").join(&module.file))
            .copy_to(&file)
            .build()?;
        writeln!(
            list,
            "    PtxFile {{ name: {:?}, kernels: &{:?}, text: include_str!({:?}) }},",
            module.file,
            built.kernels,
            file.display().to_string()
        )?;
    }
    list.push_str("]\n");
    fs::write(out.join("kernels.rs"), list)?;
    Ok(())
}
