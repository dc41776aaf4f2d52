//! Finding global names in LLVM IR text.

use std::ops::Range;

/// The ranges of `line` that are global names, `@name` or `@"any name"`, the `@` included.
///
/// Strings (constants, sections, inline assembly, metadata) and comments may hold an `@` that names nothing; they are
/// skipped. LLVM writes a quote inside a string as `\22`, so a string ends at the next quote.
pub(crate) fn global_names(line: &str) -> Vec<Range<usize>> {
    let bytes = line.as_bytes();
    let mut names = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at = end_of_string(bytes, at),
            b';' => break,
            b'@' => {
                let start = at;
                at += 1;
                if bytes.get(at) == Some(&b'"') {
                    at = end_of_string(bytes, at);
                } else {
                    while bytes.get(at).is_some_and(|byte| is_name_byte(*byte)) {
                        at += 1;
                    }
                }
                names.push(start..at);
            }
            _ => at += 1,
        }
    }
    names
}

fn end_of_string(bytes: &[u8], quote: usize) -> usize {
    bytes[quote + 1..]
        .iter()
        .position(|byte| *byte == b'"')
        .map_or(bytes.len(), |length| quote + length + 2)
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'$' | b'.' | b'_')
}

/// Splits a name's definition: `@name = rest`.
pub(crate) fn definition(line: &str) -> Option<(&str, &str)> {
    if !line.starts_with('@') {
        return None;
    }
    let name = global_names(line).first()?.clone();
    let rest = line[name.end..].strip_prefix(" = ")?;
    Some((&line[name], rest))
}

/// The position just after the argument list that opens at or after `from`, strings skipped.
pub(crate) fn end_of_parentheses(line: &str, from: usize) -> Option<usize> {
    let bytes = line.as_bytes();
    let (mut at, mut depth) = (from, 0usize);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                at = end_of_string(bytes, at);
                continue;
            }
            b'(' => depth += 1,
            b')' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Replaces every global name of `line` for which `by` has something else.
pub(crate) fn replace_names<'a>(line: &'a str, mut by: impl FnMut(&'a str) -> Option<String>) -> Option<String> {
    let mut out = String::new();
    let mut copied = 0;
    for name in global_names(line) {
        if let Some(other) = by(&line[name.clone()]) {
            out.push_str(&line[copied..name.start]);
            out.push_str(&other);
            copied = name.end;
        }
    }
    (copied > 0).then(|| out + &line[copied..])
}
