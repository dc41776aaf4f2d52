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
    let (llvm, bits) = match ty {
        "u32" | "i32" => ("i32", 32),
        "u64" | "i64" => ("i64", 64),
        "f32" => ("float", 32),
        "f64" => ("double", 64),
        _ => return None,
    };
    let is_float = ty.starts_with('f');
    let suits = match operation {
        "add" | "exch" => true,
        "min" | "max" | "and" | "or" | "xor" | "cas" => !is_float,
        _ => false,
    };
    if !suits {
        return None;
    }
    let operands = if operation == "cas" {
        format!("{llvm} %e, {llvm} %v")
    } else {
        format!("{llvm} %v")
    };
    let body = match scope {
        "system" => system_atomic(operation, ty, llvm, bits, &operands),
        "block" | "device" => {
            let scope = format!("syncscope(\"{scope}\") monotonic");
            let align = bits / 8;
            let unsigned = ty.starts_with('u');
            match operation {
                "cas" => format!(
                    "%b = cmpxchg ptr %p, {operands} {scope} monotonic, align {align}\n  \
                     %r = extractvalue {{ {llvm}, i1 }} %b, 0"
                ),
                _ => {
                    let operation = match operation {
                        "exch" => "xchg",
                        "add" if is_float => "fadd",
                        "min" if unsigned => "umin",
                        "max" if unsigned => "umax",
                        same => same,
                    };
                    format!("%r = atomicrmw {operation} ptr %p, {operands} {scope}, align {align}")
                }
            }
        }
        _ => return None,
    };
    Some(format!(
        "define internal {llvm} {name}(ptr %p, {operands}) alwaysinline convergent nounwind {{\n  {body}\n  ret {llvm} %r\n}}"
    ))
}

/// LLVM's NVPTX back end forgets the scope of atomics other than `cmpxchg`, and PTX's default is the device: the system's
/// are spelt out. They are for global memory, the only one that others can see.
fn system_atomic(operation: &str, ty: &str, llvm: &str, bits: u32, operands: &str) -> String {
    let ptx = match (operation, ty.as_bytes()[0]) {
        ("exch" | "cas" | "and" | "or" | "xor", _) => format!("b{bits}"),
        ("min" | "max", b'i') => format!("s{bits}"),
        (_, b'f') => ty.to_owned(),
        _ => format!("u{bits}"),
    };
    let register = match (llvm, bits) {
        ("float", _) => 'f',
        ("double", _) => 'd',
        (_, 32) => 'r',
        _ => 'l',
    };
    let (places, constraints) = match operation {
        "cas" => ("$2, $3", format!("={register},l,{register},{register}")),
        _ => ("$2", format!("={register},l,{register}")),
    };
    format!(
        "%g = addrspacecast ptr %p to ptr addrspace(1)\n  \
         %r = call {llvm} asm sideeffect \"atom.sys.global.{operation}.{ptx} $0, [$1], {places};\", \
         \"{constraints},~{{memory}}\"(ptr addrspace(1) %g, {operands})"
    )
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
