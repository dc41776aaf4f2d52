//! Small rewritings of single lines: support functions, convergence, the processor.

use super::scan::{end_of_parentheses, global_names};

/// Prefix of the functions that `cuda_std` declares and this module defines.
const PREFIX: &str = "__cuda_std_";

/// The definition of a support function that `line` declares.
///
/// They are IR rather than inline assembly where a pointer is involved: LLVM sees through them, infers the pointer's
/// address space after inlining, and emits `atom.shared` or `atom.global` without being told.
///
/// | function | does |
/// |---|---|
/// | `shared_address(ptr) -> i32` | the address within the block's shared memory |
/// | `atomic_OP_TYPE_SCOPE(ptr, v) -> v` | OP of add, min, max, and, or, xor, exch; relaxed; SCOPE of block, device, system |
/// | `atomic_cas_TYPE_SCOPE(ptr, expected, new) -> v` | compare and exchange; gives the value before |
pub(super) fn define(line: &str) -> Result<Option<String>, String> {
    let Some(name) = line
        .strip_prefix("declare ")
        .and_then(|rest| Some(rest[global_names(rest).first()?.clone()].to_owned()))
    else {
        return Ok(None);
    };
    let Some(function) = name.strip_prefix('@').and_then(|name| name.strip_prefix(PREFIX)) else {
        return Ok(None);
    };
    let unknown = || format!("`{name}` is no support function: use the cuda_std of the same version as this builder");
    let text = match function {
        "shared_address" => format!(
            "define internal i32 {name}(ptr %p) alwaysinline nounwind {{\n  \
             %s = addrspacecast ptr %p to ptr addrspace(3)\n  \
             %a = ptrtoint ptr addrspace(3) %s to i32\n  ret i32 %a\n}}"
        ),
        _ => atomic(&name, function.strip_prefix("atomic_").ok_or_else(unknown)?).ok_or_else(unknown)?,
    };
    Ok(Some(text))
}

fn atomic(name: &str, function: &str) -> Option<String> {
    let mut parts = function.split('_');
    let (operation, ty, scope) = (parts.next()?, parts.next()?, parts.next()?);
    let scope = match scope {
        "block" => "syncscope(\"block\") ",
        "device" => "syncscope(\"device\") ",
        "system" => "",
        _ => return None,
    };
    let (llvm, bytes) = match ty {
        "u32" | "i32" => ("i32", 4),
        "u64" | "i64" => ("i64", 8),
        "f32" => ("float", 4),
        "f64" => ("double", 8),
        _ => return None,
    };
    if operation == "cas" && llvm.starts_with('i') {
        return Some(format!(
            "define internal {llvm} {name}(ptr %p, {llvm} %e, {llvm} %v) alwaysinline convergent nounwind {{\n  \
             %r = cmpxchg ptr %p, {llvm} %e, {llvm} %v {scope}monotonic monotonic, align {bytes}\n  \
             %o = extractvalue {{ {llvm}, i1 }} %r, 0\n  ret {llvm} %o\n}}"
        ));
    }
    let operation = match (operation, ty.as_bytes()[0]) {
        ("add", b'f') => "fadd",
        ("exch", _) => "xchg",
        ("min", b'u') => "umin",
        ("max", b'u') => "umax",
        ("min" | "max" | "add" | "and" | "or" | "xor", b'i') | ("add" | "and" | "or" | "xor", b'u') => operation,
        _ => return None,
    };
    Some(format!(
        "define internal {llvm} {name}(ptr %p, {llvm} %v) alwaysinline convergent nounwind {{\n  \
         %r = atomicrmw {operation} ptr %p, {llvm} %v {scope}monotonic, align {bytes}\n  ret {llvm} %r\n}}"
    ))
}

/// A call of inline assembly, made convergent: what it does may depend on which lanes run it together.
pub(super) fn make_convergent(line: &str) -> Option<String> {
    let assembly = line.find(" asm ")?;
    if !line[..assembly].contains("call ") {
        return None;
    }
    let end = end_of_parentheses(line, assembly)?;
    Some(format!("{} convergent{}", &line[..end], &line[end..]))
}

/// An attribute group without the processor that rustc assumed: every crate has its own default, and functions of
/// different processors would not be inlined into each other.
pub(super) fn without_processor(line: &str) -> Option<String> {
    if !line.starts_with("attributes #") || !line.contains("\"target-") {
        return None;
    }
    let kept = line
        .split(' ')
        .filter(|word| !word.starts_with("\"target-cpu\"=") && !word.starts_with("\"target-features\"="));
    Some(kept.collect::<Vec<_>>().join(" "))
}
