//! Names that are the same on every machine, and that a reader knows.
//!
//! rustc's symbols hold a hash of how the crate was built, which differs between machines. After optimisation few of
//! them are left: shared statics, which are named after their kernel, and the odd function that was not inlined.

use std::collections::{HashMap, HashSet};

use super::scan::{definition, global_names, replace_names};

/// Renames the module's own symbols; kernels and declarations keep theirs.
pub(crate) fn stable_names(ir: &str) -> String {
    let mut names: HashMap<&str, String> = HashMap::new();
    let mut taken: HashSet<String> = HashSet::new();
    for line in ir.lines() {
        let Some(name) = defined(line) else { continue };
        taken.insert(name.to_owned());
    }
    for line in ir.lines() {
        let Some(name) = defined(line) else { continue };
        let Some(wanted) = wanted(name, line.contains(" addrspace(3) ")) else {
            continue;
        };
        let mut chosen = format!("@{wanted}");
        let mut count = 1;
        while !taken.insert(chosen.clone()) {
            count += 1;
            chosen = format!("@{wanted}_{count}");
        }
        names.insert(name, chosen);
    }
    let mut out = String::with_capacity(ir.len());
    for line in ir.lines() {
        match replace_names(line, |name| names.get(name).cloned()) {
            Some(line) => out.push_str(&line),
            None => out.push_str(line),
        }
        out.push('\n');
    }
    out
}

fn defined(line: &str) -> Option<&str> {
    if let Some((name, _)) = definition(line) {
        return (!name.starts_with("@llvm.")).then_some(name);
    }
    if !line.starts_with("define ") || line.contains(" ptx_kernel ") {
        return None;
    }
    let name = global_names(line).first()?.clone();
    Some(&line[name])
}

/// The better name, or `None` where the present one will do.
fn wanted(name: &str, shared: bool) -> Option<String> {
    let bare = name.trim_start_matches('@').trim_matches('"');
    if bare.starts_with("anon.") || bare.starts_with("alloc_") {
        return Some("constant".to_owned());
    }
    let demangled = rustc_demangle::try_demangle(bare).ok()?;
    // `{:#}` leaves the hashes out.
    let path = format!("{demangled:#}");
    // Of a shared static, the kernel and the static; of anything else, the whole path.
    let parts: Vec<&str> = path.split("::").collect();
    let kept = if shared {
        &parts[parts.len().saturating_sub(2)..]
    } else {
        &parts[..]
    };
    let identifier: String = kept
        .join("__")
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' })
        .collect();
    Some(identifier)
}
