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
/// | `global_address(ptr) -> i64` | the address within global memory |
/// | `atomic_OP_TYPE_SCOPE(ptr, v) -> v` | OP of add, min, max, and, or, xor, exch; relaxed; SCOPE of block, device, system |
/// | `atomic_cas_TYPE_SCOPE(ptr, expected, new) -> v` | compare and exchange; gives the value before |
/// | `atomic_load_TYPE_SCOPE(ptr) -> v`, `atomic_acquire_..` | loads, relaxed and acquiring |
/// | `atomic_store_TYPE_SCOPE(ptr, v)`, `atomic_release_..` | stores, relaxed and releasing |
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
        "shared_address" => address(&name, 3, "i32"),
        "global_address" => address(&name, 1, "i64"),
        _ => atomic(&name, function.strip_prefix("atomic_").ok_or_else(unknown)?).ok_or_else(unknown)?,
    };
    Ok(Some(text))
}

/// A pointer's value in an address space.
fn address(name: &str, space: u32, integer: &str) -> String {
    format!(
        "define internal {integer} {name}(ptr %p) alwaysinline nounwind {{\n  \
         %s = addrspacecast ptr %p to ptr addrspace({space})\n  \
         %a = ptrtoint ptr addrspace({space}) %s to {integer}\n  ret {integer} %a\n}}"
    )
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
    if matches!(operation, "load" | "acquire" | "store" | "release") && !is_float {
        return message(name, operation, llvm, bits / 8, scope);
    }
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

/// A load or a store with which threads hand data to each other.
fn message(name: &str, operation: &str, llvm: &str, align: u32, scope: &str) -> Option<String> {
    let scope = match scope {
        "block" | "device" => format!("syncscope(\"{scope}\") "),
        "system" => String::new(),
        _ => return None,
    };
    let order = match operation {
        "acquire" | "release" => operation,
        _ => "monotonic",
    };
    Some(match operation {
        "load" | "acquire" => format!(
            "define internal {llvm} {name}(ptr %p) alwaysinline convergent nounwind {{\n  \
             %r = load atomic {llvm}, ptr %p {scope}{order}, align {align}\n  ret {llvm} %r\n}}"
        ),
        _ => format!(
            "define internal void {name}(ptr %p, {llvm} %v) alwaysinline convergent nounwind {{\n  \
             store atomic {llvm} %v, ptr %p {scope}{order}, align {align}\n  ret void\n}}"
        ),
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    fn defined(function: &str) -> String {
        define(&format!("declare noundef i32 @__cuda_std_{function}(ptr noundef) #1"))
            .unwrap()
            .unwrap()
    }

    #[test]
    fn loads_and_stores_have_the_order_and_the_scope_of_their_name() {
        for (function, instruction) in [
            (
                "acquire_u32_device",
                "load atomic i32, ptr %p syncscope(\"device\") acquire, align 4",
            ),
            (
                "load_u64_block",
                "load atomic i64, ptr %p syncscope(\"block\") monotonic, align 8",
            ),
            ("release_u64_system", "store atomic i64 %v, ptr %p release, align 8"),
            (
                "store_u32_device",
                "store atomic i32 %v, ptr %p syncscope(\"device\") monotonic, align 4",
            ),
        ] {
            let text = defined(&format!("atomic_{function}"));
            assert!(text.contains(instruction), "{text}");
        }
    }

    #[test]
    fn minima_are_signed_as_their_type_is() {
        assert!(defined("atomic_min_u32_device").contains("atomicrmw umin ptr %p, i32 %v"));
        assert!(defined("atomic_min_i64_block").contains("atomicrmw min ptr %p, i64 %v"));
    }

    #[test]
    fn what_the_builder_does_not_know_is_an_error() {
        for function in [
            "atomic_min_f32_device",
            "atomic_add_u32_galaxy",
            "atomic_load_f32_device",
            "else",
        ] {
            let declaration = format!("declare i32 @__cuda_std_{function}(ptr)");
            assert!(define(&declaration).is_err(), "{function}");
        }
        assert_eq!(define("declare i32 @other(ptr)"), Ok(None));
    }
}
