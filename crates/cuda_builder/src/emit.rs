//! Step 4: LLVM IR to PTX, by `opt` and `llc`.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::compiler::DeviceCompiler;
use crate::ir::{Kernel, stable_names};
use crate::locations::of_the_kernel_crate;
use crate::{Arch, BuildError};

/// `opt`'s passes: everything but the kernels becomes internal and, where unused, goes.
const PASSES: &str = "internalize,globaldce,default<O3>";

/// Flags of `llc`. Multiplications and additions contract to fused ones, as nvcc does it.
const LLC: &[&str] = &["-O3", "--fp-contract=fast"];

/// What to emit for.
pub(crate) struct Emission<'a> {
    pub(crate) name: &'a str,
    pub(crate) compiler: &'a DeviceCompiler,
    pub(crate) arch: Arch,
    pub(crate) isa: (u32, u32),
    /// The kernel crate's folder, as paths in the PTX begin with it.
    pub(crate) folder: &'a str,
    /// Files are written beside this path, with other endings.
    pub(crate) stem: &'a Path,
}

impl Emission<'_> {
    /// Optimises the prepared module and gives its PTX.
    pub(crate) fn run(&self, ir: &str, kernels: &[Kernel]) -> Result<String, BuildError> {
        let prepared = self.stem.with_extension("prepared.ll");
        let optimised = self.stem.with_extension("optimised.ll");
        let ptx = self.stem.with_extension("unchecked.ptx");
        write(&prepared, ir)?;

        let names: Vec<&str> = kernels.iter().map(|kernel| kernel.name.as_str()).collect();
        let mut opt = Command::new(&self.compiler.opt);
        opt.arg("-S").arg(format!("-passes={PASSES}"));
        opt.arg(format!("--internalize-public-api-list={}", names.join(",")))
            .arg(self.cpu());
        opt.arg(&prepared).arg("-o").arg(&optimised);
        self.tool("opt", opt)?;

        let text = fs::read_to_string(&optimised).map_err(BuildError::io("read", &optimised))?;
        write(&optimised, &stable_names(&text))?;

        let (major, minor) = self.isa;
        let mut llc = Command::new(&self.compiler.llc);
        llc.args(LLC).arg(self.cpu()).arg(format!("--mattr=+ptx{major}{minor}"));
        llc.arg(&optimised).arg("-o").arg(&ptx);
        self.tool("llc", llc)?;
        let text = fs::read_to_string(&ptx).map_err(BuildError::io("read", &ptx))?;
        for file in [prepared, optimised, ptx] {
            // Intermediate files; the next build overwrites them anyway.
            let _ = fs::remove_file(file);
        }
        Ok(of_the_kernel_crate(&without_block_names(&text), self.folder))
    }

    fn cpu(&self) -> String {
        format!("-mcpu={}", self.arch)
    }

    fn tool(&self, tool: &str, mut command: Command) -> Result<(), BuildError> {
        let output = command.output().map_err(BuildError::io("run", command.get_program()))?;
        if output.status.success() {
            return Ok(());
        }
        let output = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(BuildError::Tool {
            tool: tool.to_owned(),
            name: self.name.to_owned(),
            output,
        })
    }
}

fn write(file: &Path, text: &str) -> Result<(), BuildError> {
    fs::write(file, text).map_err(BuildError::io("write", file))
}

/// The PTX without the comments that name basic blocks: they hold rustc's symbols, which differ between machines.
fn without_block_names(ptx: &str) -> String {
    let mut out = String::with_capacity(ptx.len());
    for line in ptx.lines() {
        let kept = match line.strip_prefix("// %bb.") {
            Some(block) => line.len() - block.len() + block.find("//").unwrap_or(block.len()),
            None if line.starts_with("$L__BB") => line.find("//").unwrap_or(line.len()),
            None => line.len(),
        };
        out.push_str(line[..kept].trim_end());
        out.push('\n');
    }
    out
}
