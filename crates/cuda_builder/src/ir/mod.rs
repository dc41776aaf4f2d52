//! Preparing rustc's unoptimised LLVM IR for the GPU.
//!
//! rustc can express neither shared memory nor launch bounds, so `cuda_std` leaves marks in the module that mean
//! nothing to rustc and are rewritten here, before any optimisation could act on the wrong meaning:
//!
//! | mark | becomes |
//! |---|---|
//! | a static in section `.shared` | a global of address space 3, every use a cast to the generic space |
//! | the external static [`DYNAMIC_SHARED`] | the launch's dynamic shared memory, of address space 3 |
//! | a text in section [`LAUNCH_BOUNDS`] | `nvvm.maxntid` and `nvvm.minctasm` on the kernel it names |
//! | a declared function `__cuda_std_..` | its definition in LLVM IR ([`support`]) |
//! | inline assembly | the same, convergent: no barrier or shuffle is moved into a branch |
//! | the processor that rustc assumed | dropped; `opt` and `llc` are told the real one |

mod kernels;
mod names;
mod scan;
#[cfg(test)]
mod scan_tests;
mod shared;
mod support;
#[cfg(test)]
mod tests;

pub(crate) use kernels::Kernel;
pub(crate) use names::stable_names;

use kernels::Bounds;
use shared::Shared;

/// Name of the external static that stands for dynamic shared memory.
pub(crate) const DYNAMIC_SHARED: &str = "__cuda_std_dynamic_shared";

/// Section of the statics that carry launch bounds.
pub(crate) const LAUNCH_BOUNDS: &str = ".cuda_std.launch_bounds";

/// A module ready for `opt`.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// LLVM IR.
    pub(crate) text: String,
    /// The kernels, in the module's order.
    pub(crate) kernels: Vec<Kernel>,
}

/// What is wrong, and at which line of the IR.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// Line, from 1.
    pub(crate) line: usize,
    /// What is wrong, and what to do.
    pub(crate) message: String,
}

/// Rewrites a module. See the table above.
pub(crate) fn prepare(ir: &str) -> Result<Prepared, Problem> {
    let shared = Shared::of(ir)?;
    let bounds = Bounds::of(ir)?;
    let mut kernels = Vec::new();
    let mut text = String::with_capacity(ir.len() + ir.len() / 8);
    for (number, line) in ir.lines().enumerate() {
        let at = |message| Problem {
            line: number + 1,
            message,
        };
        if bounds.is_mark(line) {
            continue;
        }
        let line = shared.rewrite(line);
        let line = bounds.forget(&line);
        let line = match kernels::definition_of(&line) {
            Some(kernel) => {
                let (kernel, line) = bounds.apply(kernel, &line).map_err(at)?;
                kernels.push(kernel);
                line.into()
            }
            None => line,
        };
        let line = support::define(&line).map_err(at)?.map_or(line, Into::into);
        let line = support::make_convergent(&line).map_or(line, Into::into);
        match support::without_processor(&line) {
            Some(line) => text.push_str(&line),
            None => text.push_str(&line),
        }
        text.push('\n');
    }
    bounds.all_used(&kernels)?;
    Ok(Prepared { text, kernels })
}
