//! `cargo xtask ptx`: the checked-in PTX.

use std::error::Error;
use std::fs;
use std::path::Path;

use cuda_builder::{Built, CudaBuilder, Manifest, Module, ModuleRequest, Ptxas, Sources};

/// Where the kernels are.
const KERNELS: &str = "kernels-gpu";

/// Where the PTX is that only tests use. It is not among what the crate asks for, and so not in what libraries embed.
const FOR_TESTS: &str = "crates/sim/tests/ptx";

/// Architectures that every PTX file of at most that age is assembled for.
const ASSEMBLED: [&str; 4] = ["sm_75", "sm_80", "sm_90", "sm_100"];

/// Makes the checked-in PTX of the kernels anew, or checks that it is current.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Change nothing; fail if the checked-in PTX is not what the sources give.
    ///
    /// The kernels are built again and compared with the checked-in PTX, and assembled for sm_75, sm_80, sm_90 and
    /// sm_100 if there is a ptxas (on the path, or named by PTXAS).
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let kernels = crate::root().join(KERNELS);
    make(args, &kernels, &kernels.join("ptx"), &Sources::of(&kernels)?.modules)?;
    let broken = ModuleRequest {
        file: "broken.sm_75.ptx".into(),
        arch: "sm_75".into(),
        features: vec!["broken".into()],
        kernels: String::new(),
    };
    make(args, &kernels, &crate::root().join(FOR_TESTS), &[broken])
}

/// Builds what is asked for, and compares it with what is in the folder or puts it there.
fn make(args: &Args, kernels: &Path, folder: &Path, requests: &[ModuleRequest]) -> Result<(), Box<dyn Error>> {
    let mut built = Vec::new();
    for request in requests {
        let result = CudaBuilder::new(kernels).module(request).build()?;
        built.push((request, result));
    }
    if args.check {
        check(folder, &built)
    } else {
        refresh(folder, &built)
    }
}

fn refresh(folder: &Path, built: &[(&ModuleRequest, Built)]) -> Result<(), Box<dyn Error>> {
    let old = Manifest::read(folder).unwrap_or_default();
    let mut manifest = Manifest::default();
    fs::create_dir_all(folder)?;
    for (request, built) in built {
        fs::copy(&built.ptx, folder.join(&request.file))?;
        manifest.modules.push(describe(request, built));
        println!("{}: {} kernels for {}", request.file, built.kernels.len(), request.arch);
    }
    for module in old
        .modules
        .iter()
        .filter(|module| manifest.module(&module.file).is_none())
    {
        fs::remove_file(folder.join(&module.file))?;
        println!("{}: removed, the crate no longer asks for it", module.file);
    }
    Ok(manifest.write(folder)?)
}

fn check(folder: &Path, built: &[(&ModuleRequest, Built)]) -> Result<(), Box<dyn Error>> {
    let manifest = Manifest::read(folder)?;
    if let Some(extra) = manifest
        .modules
        .iter()
        .find(|module| !built.iter().any(|(asked, _)| asked.file == module.file))
    {
        return Err(format!(
            "{} is checked in, but the crate does not ask for it: run `cargo xtask ptx`",
            extra.file
        )
        .into());
    }
    for (request, built) in built {
        let file = folder.join(&request.file);
        let stale = |why: &str| {
            format!(
                "{} {why}: run `cargo xtask ptx` and commit what it writes",
                request.file
            )
        };
        let module = manifest
            .module(&request.file)
            .ok_or_else(|| stale("is not in the manifest"))?;
        let text = fs::read_to_string(&file).map_err(|error| stale(&format!("cannot be read ({error})")))?;
        let text = text.replace("\r\n", "\n");
        if module.inputs != built.inputs {
            return Err(stale("was made from other sources than these").into());
        }
        if module.ptx != cuda_builder::digest(&text) {
            return Err(stale("was changed by hand").into());
        }
        let fresh = fs::read_to_string(&built.ptx)?;
        if text == fresh {
            println!("{}: what {} makes of the sources", request.file, built.compiler);
        } else if module.compiler == built.compiler {
            return Err(stale(&format!(
                "differs from what the same compiler makes here, {}",
                first_difference(&text, &fresh)
            ))
            .into());
        } else {
            // Another compiler words the same kernels differently; that they are the same ones can be checked.
            if module.kernels != built.kernels {
                return Err(stale("has other kernels than the sources").into());
            }
            println!(
                "{}: made from these sources by {}; {} is here and words it differently",
                request.file, module.compiler, built.compiler
            );
        }
        assemble(&file, request)?;
    }
    Ok(())
}

/// Assembles a PTX file for its architecture and the later ones.
fn assemble(file: &Path, request: &ModuleRequest) -> Result<(), Box<dyn Error>> {
    let Some(ptxas) = Ptxas::find() else {
        println!(
            "{}: not assembled, there is no ptxas (on the path, or named by PTXAS)",
            request.file
        );
        return Ok(());
    };
    let number = |arch: &str| arch.trim_start_matches("sm_").parse::<u32>().unwrap_or(0);
    for arch in ASSEMBLED
        .into_iter()
        .filter(|arch| number(arch) >= number(&request.arch))
    {
        let report = ptxas.assemble(file, arch)?;
        let spills = report
            .lines()
            .filter(|line| line.contains("bytes spill stores") && !line.contains(" 0 bytes spill stores"));
        println!(
            "{}: assembles for {arch}, {} kernels spill registers",
            request.file,
            spills.count()
        );
    }
    Ok(())
}

fn first_difference(old: &str, new: &str) -> String {
    let line = old.lines().zip(new.lines()).position(|(old, new)| old != new);
    let line = line.unwrap_or_else(|| old.lines().count().min(new.lines().count()));
    let show = |text: &str| text.lines().nth(line).unwrap_or("(nothing)").trim().to_owned();
    format!("first at line {}: `{}` is `{}` now", line + 1, show(old), show(new))
}

fn describe(request: &ModuleRequest, built: &Built) -> Module {
    Module {
        file: request.file.clone(),
        arch: request.arch.clone(),
        features: request.features.clone(),
        inputs: built.inputs.clone(),
        compiler: built.compiler.clone(),
        ptx: built.digest.clone(),
        kernels: built.kernels.clone(),
    }
}
