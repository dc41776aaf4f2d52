//! Any bytes are answered with a module or an error, and never with a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    // Most random files fail at the header, so each input is tried behind one, and inside a kernel, too.
    let _ = tile33_ptx::parse(&text);
    let _ = tile33_ptx::parse(&format!(".version 9.0 .target sm_90 {text}"));
    let _ = tile33_ptx::parse(&format!(
        ".version 9.0 .target sm_90 .global .u32 x; .func f; .entry k() {{ .reg .b32 %r<8>; .reg .pred %p<2>; {text}"
    ));
});
