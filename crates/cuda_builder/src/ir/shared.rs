//! Shared memory: marked statics move to address space 3.

use std::borrow::Cow;
use std::collections::HashMap;

use super::scan::{definition, replace_names};
use super::{DYNAMIC_SHARED, Problem};

/// Shared statics start on a boundary that suits every vector access.
const LEAST_ALIGNMENT: u64 = 16;

/// The module's shared globals: name as written, with its definition in address space 3.
pub(super) struct Shared<'a> {
    globals: HashMap<&'a str, String>,
}

impl<'a> Shared<'a> {
    /// Finds the marked globals.
    pub(super) fn of(ir: &'a str) -> Result<Self, Problem> {
        let mut globals = HashMap::new();
        for (number, line) in ir.lines().enumerate() {
            let Some((name, rest)) = definition(line) else { continue };
            if is_dynamic(name) {
                let text = format!("{name} = external addrspace(3) global [0 x i8], align {LEAST_ALIGNMENT}");
                globals.insert(name, text);
            } else if is_marked(rest) {
                let moved = moved(name, rest).map_err(|message| Problem {
                    line: number + 1,
                    message,
                })?;
                globals.insert(name, moved);
            }
        }
        Ok(Shared { globals })
    }

    /// The line with definitions moved and uses cast.
    pub(super) fn rewrite<'l>(&self, line: &'l str) -> Cow<'l, str> {
        if self.globals.is_empty() {
            return line.into();
        }
        if let Some(moved) = definition(line).and_then(|(name, _)| self.globals.get(name)) {
            return moved.clone().into();
        }
        let cast = |name| {
            self.globals
                .contains_key(name)
                .then(|| format!("addrspacecast (ptr addrspace(3) {name} to ptr)"))
        };
        replace_names(line, cast).map_or(line.into(), Into::into)
    }
}

fn is_dynamic(name: &str) -> bool {
    name.strip_prefix('@') == Some(DYNAMIC_SHARED)
}

fn is_marked(rest: &str) -> bool {
    rest.contains(", section \".shared\"") || rest.contains(", section \".shared.")
}

/// `internal unnamed_addr global [N x i8] undef, section ".shared", align A` in address space 3.
fn moved(name: &str, rest: &str) -> Result<String, String> {
    if rest
        .split(", section ")
        .next()
        .is_some_and(|head| head.contains("constant "))
    {
        return Err(format!(
            "{name} is in shared memory but constant: shared memory holds what the kernel writes"
        ));
    }
    let (_, value) = rest
        .split_once("global ")
        .ok_or_else(|| format!("{name} is no global variable"))?;
    let (value, attributes) = value.split_once(", section ").unwrap_or((value, ""));
    let ty = value.strip_suffix(" undef").or_else(|| value.strip_suffix(" poison")).ok_or_else(|| {
        format!("{name} is in shared memory but has an initial value, which the hardware cannot give it: use MaybeUninit::uninit()")
    })?;
    let alignment = attributes
        .split(", ")
        .find_map(|part| part.strip_prefix("align "))
        .and_then(|alignment| alignment.trim().parse::<u64>().ok())
        .map_or(LEAST_ALIGNMENT, |alignment| alignment.max(LEAST_ALIGNMENT));
    Ok(format!(
        "{name} = internal addrspace(3) global {ty} undef, align {alignment}"
    ))
}
