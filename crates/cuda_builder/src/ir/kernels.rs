//! Kernels and their launch bounds.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use super::scan::{definition, end_of_parentheses, global_names};
use super::{LAUNCH_BOUNDS, Problem};

/// A kernel of the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kernel {
    /// Its name, as a launch gives it.
    pub(crate) name: String,
    /// The most threads a block may have, if the kernel says.
    pub(crate) max_threads: Option<u32>,
    /// The least number of blocks that should fit on a multiprocessor, if the kernel says.
    pub(crate) min_blocks: Option<u32>,
}

/// The launch bounds that `#[kernel]` left in the module.
pub(super) struct Bounds<'a> {
    marks: BTreeSet<&'a str>,
    kernels: HashMap<String, (usize, Kernel)>,
}

impl<'a> Bounds<'a> {
    /// Reads the marks: `c"NAME max_threads=256 min_blocks=2"`.
    pub(super) fn of(ir: &'a str) -> Result<Self, Problem> {
        let section = format!(", section \"{LAUNCH_BOUNDS}\"");
        let (mut marks, mut kernels) = (BTreeSet::new(), HashMap::new());
        for (number, line) in ir.lines().enumerate() {
            let Some((mark, rest)) = definition(line) else { continue };
            if !rest.contains(&section) {
                continue;
            }
            let problem = || Problem {
                line: number + 1,
                message: format!("`{line}` is no launch bound: use the #[kernel] of the same version as this builder"),
            };
            let kernel = read(rest).ok_or_else(problem)?;
            marks.insert(mark);
            kernels.insert(kernel.name.clone(), (number + 1, kernel));
        }
        Ok(Bounds { marks, kernels })
    }

    /// Whether the line defines a mark.
    pub(super) fn is_mark(&self, line: &str) -> bool {
        definition(line).is_some_and(|(name, _)| self.marks.contains(name))
    }

    /// Drops marks from `@llvm.used` and `@llvm.compiler.used`.
    pub(super) fn forget<'l>(&self, line: &'l str) -> Cow<'l, str> {
        if self.marks.is_empty() || !(line.starts_with("@llvm.used") || line.starts_with("@llvm.compiler.used")) {
            return line.into();
        }
        let Some((head, list)) = line.split_once("] [") else {
            return line.into();
        };
        let (list, tail) = list.rsplit_once(']').unwrap_or((list, ""));
        let kept: Vec<&str> = list
            .split(", ")
            .filter(|entry| {
                !global_names(entry)
                    .iter()
                    .any(|name| self.marks.contains(&entry[name.clone()]))
            })
            .collect();
        let name = head.split(" = ").next().unwrap_or_default();
        match kept.len() {
            0 => String::new().into(),
            count => format!("{name} = appending global [{count} x ptr] [{}]{tail}", kept.join(", ")).into(),
        }
    }

    /// The kernel `name` with its bounds, and its definition line with them as attributes.
    pub(super) fn apply(&self, name: String, line: &str) -> Result<(Kernel, String), String> {
        let Some((_, kernel)) = self.kernels.get(&name) else {
            return Ok((
                Kernel {
                    name,
                    max_threads: None,
                    min_blocks: None,
                },
                line.to_owned(),
            ));
        };
        let mut attributes = String::new();
        if let Some(threads) = kernel.max_threads {
            attributes.push_str(&format!(" \"nvvm.maxntid\"=\"{threads}\""));
        }
        if let Some(blocks) = kernel.min_blocks {
            attributes.push_str(&format!(" \"nvvm.minctasm\"=\"{blocks}\""));
        }
        let at = end_of_attributes(line).ok_or_else(|| format!("kernel `{name}` has an unexpected form: {line}"))?;
        Ok((kernel.clone(), format!("{}{attributes}{}", &line[..at], &line[at..])))
    }

    /// Bounds of a kernel that is not in the module would be lost silently.
    pub(super) fn all_used(&self, kernels: &[Kernel]) -> Result<(), Problem> {
        let lost = self
            .kernels
            .values()
            .find(|(_, bound)| !kernels.iter().any(|kernel| kernel.name == bound.name));
        match lost {
            Some((line, kernel)) => Err(Problem {
                line: *line,
                message: format!("there are launch bounds for `{}`, but no such kernel", kernel.name),
            }),
            None => Ok(()),
        }
    }
}

/// The kernel that the line defines.
pub(super) fn definition_of(line: &str) -> Option<String> {
    let head = line.strip_prefix("define ")?.split_once("ptx_kernel ")?.1;
    let name = global_names(head).first()?.clone();
    Some(head[name].trim_start_matches('@').trim_matches('"').to_owned())
}

/// The text of a mark's string constant.
fn read(rest: &str) -> Option<Kernel> {
    let text = rest.split_once("c\"")?.1.split_once('"')?.0;
    let mut words = text.split(' ');
    let mut kernel = Kernel {
        name: words.next()?.to_owned(),
        max_threads: None,
        min_blocks: None,
    };
    for word in words {
        match word.split_once('=')? {
            ("max_threads", value) => kernel.max_threads = Some(value.parse().ok()?),
            ("min_blocks", value) => kernel.min_blocks = Some(value.parse().ok()?),
            _ => return None,
        }
    }
    Some(kernel)
}

/// Where function attributes may be added: after the arguments, `unnamed_addr` and the attribute groups.
fn end_of_attributes(line: &str) -> Option<usize> {
    let after = end_of_parentheses(line, line.find('@')?)?;
    let mut at = after;
    for word in line[after..].split_inclusive(' ') {
        match word.trim() {
            "" | "unnamed_addr" | "local_unnamed_addr" => {}
            word if word.starts_with('#') => {}
            _ => break,
        }
        at += word.len();
    }
    // Not past the blank before what follows.
    Some(at - usize::from(line[..at].ends_with(' ')))
}
