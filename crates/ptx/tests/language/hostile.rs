//! Texts that no compiler writes: they cost no more than their size, whatever they ask for.

use std::fmt::Write;
use std::thread;
use std::time::{Duration, Instant};

use tile33_ptx::{ParseError, parse};

use crate::common::{HEADER, body_error, error};

/// Parses on a thread with a small stack, so that any recursion without bound would be seen.
fn parse_on_small_stack(text: String) -> Result<(), ParseError> {
    let thread = thread::Builder::new()
        .stack_size(512 << 10)
        .spawn(move || parse(&text).map(drop));
    thread
        .expect("a thread starts")
        .join()
        .expect("the parser does not panic")
}

fn in_body(statements: &str) -> String {
    format!("{HEADER}.visible .entry k() {{ .reg .b32 %r<4>; .reg .pred %p<2>; {statements} }}")
}

#[test]
fn nesting_of_every_kind_is_bounded() {
    let deep = 100_000;
    for (open, close) in [("{", "}"), ("[", "]"), ("(", ")")] {
        let text = format!("mov.b32 %r1, {}0{};", open.repeat(deep), close.repeat(deep));
        assert!(parse_on_small_stack(in_body(&text)).is_err());
        let text = format!("call {}0{};", open.repeat(deep), close.repeat(deep));
        assert!(parse_on_small_stack(in_body(&text)).is_err());
    }
    for prefix in [
        "-",
        "!",
        "~",
        "+",
        "1?1:",
        "1?",
        "(.s64)",
        "(",
        "1+(",
        "1 ? 1 : (",
        "0-",
    ] {
        let text = format!("mov.b32 %r1, {}1;", prefix.repeat(deep));
        let _ = parse_on_small_stack(in_body(&text));
        let text = format!("{HEADER}.global .u64 x = {}1;", prefix.repeat(deep));
        let _ = parse_on_small_stack(text);
    }
    assert!(parse_on_small_stack(in_body(&"{".repeat(deep))).is_err());
    assert!(parse_on_small_stack(format!("{HEADER}.global .u8 x[2] = {}", "{".repeat(deep))).is_err());
    assert!(parse_on_small_stack(format!("{HEADER}.global .samplerref x = {}", "{".repeat(deep))).is_err());
    assert!(
        parse_on_small_stack(format!(
            "{HEADER}.global .u8 x{} = {}",
            "[1]".repeat(deep),
            "{".repeat(deep)
        ))
        .is_err()
    );
    // What compilers write is far below the bound.
    let scopes = format!("{}ret;{}", "{".repeat(60), "}".repeat(60));
    assert_eq!(parse_on_small_stack(in_body(&scopes)), Ok(()));
    let brackets = format!("mov.b32 %r1, {}1{};", "(".repeat(60), ")".repeat(60));
    assert_eq!(parse_on_small_stack(in_body(&brackets)), Ok(()));
}

#[test]
fn memory_that_a_few_characters_ask_for_is_refused() {
    assert_eq!(body_error(".reg .b32 %x<4000000000>;").found, "4000000000");
    assert_eq!(error(".global .u8 x[2][400000000000] = {{1},{2}};").found, "2");
    let many = ".global .u8 x[2][30000000] = {{1},{2}};".replace(['x'], "y");
    let error = error(&(0..10).map(|i| many.replace('y', &format!("y{i}"))).collect::<String>());
    assert_eq!(error.message, "the values of this initialiser lie too far apart");
}

#[test]
fn ranges_cost_nothing_until_a_member_is_used() {
    let ranges: String = (0..20_000).fold(String::new(), |mut text, i| {
        let _ = writeln!(text, ".reg .b32 %x{i}_<1048576>; mov.b32 %x{i}_1048575, 0;");
        text
    });
    assert_eq!(parse_on_small_stack(in_body(&ranges)), Ok(()));
}

/// Texts of `n` pieces whose cost must grow with `n` and not with its square.
fn long_texts(n: usize) -> Vec<(&'static str, String)> {
    let each = |piece: &dyn Fn(usize) -> String| (0..n).map(piece).collect::<String>();
    vec![
        ("labels", in_body(&each(&|i| format!("l{i}: bra l{};", n - 1 - i)))),
        ("branches out of scopes", {
            let branches = each(&|_| "bra out;".into());
            in_body(&format!("{}{branches}{} out: ret;", "{".repeat(50), "}".repeat(50)))
        }),
        (
            "scopes",
            in_body(&each(&|i| {
                format!("{{ .reg .b32 t; .reg .b32 %r<9>; mov.b32 %r8, {i}; }}")
            })),
        ),
        (
            "one long line",
            in_body(&each(&|_| {
                "add.s32 %r1, %r2, -1; mov.b32 %r1, WARP_SZ; .loc 1 2 3 ".into()
            })),
        ),
        (
            "registers",
            in_body(&each(&|i| format!(".reg .b32 a{i}; mov.b32 a{i}, 0;"))),
        ),
        (
            "prefixes with digits",
            in_body(&each(&|i| format!(".reg .b32 %q{i}<11111>; mov.b32 %q{i}1111, 0;"))),
        ),
        ("an expression", in_body(&format!("mov.b32 %r1, 1{};", "+1".repeat(n)))),
        ("a vector", in_body(&format!("mov.b32 %r1, {{0{}}};", ",1".repeat(n)))),
        ("dimensions", format!("{HEADER}.global .u8 x{};", "[1]".repeat(n))),
        ("values", format!("{HEADER}.global .u8 x[] = {{0{}}};", ",1".repeat(n))),
        (
            "functions",
            format!(
                "{HEADER}{}",
                each(&|i| format!(".func f{i}; .alias f{i}, f0; .extern .func f0;"))
            ),
        ),
        ("files and comments", {
            let locs = each(&|i| format!(".loc 1 1 1 // a.rs:1:1 @[ b/{i}.rs:1:1 @[ c{i}.rs:2:2 ] ]\nret;"));
            format!(
                "{}{}",
                in_body(&locs),
                each(&|i| format!(".file {i} \"x/y/b/{i}.rs\"\n"))
            )
        }),
        ("inlining", {
            let locs = each(&|i| format!(".loc 1 {} 1, function_name f, inlined_at 1 {i} 1\n ret;", i + 1));
            in_body(&locs)
        }),
        ("comments", in_body(&each(&|_| "/* ä */ // ö\n".into()))),
        (
            "words",
            in_body(&format!("ld{} %r1, [%r2];", each(&|i| format!(".w{i}")))),
        ),
        ("dashes", in_body(&format!("mov.b32 %r1, -{}1;", " ".repeat(n)))),
    ]
}

#[test]
fn the_cost_of_a_long_text_grows_with_its_length() {
    // Sixteen times the text may take a hundred times as long and half a second; the square would be 256 times. A busy
    // machine can spoil a measurement, so only three bad ones in a row count.
    let time = |text: &str| {
        let start = Instant::now();
        let _ = parse_on_small_stack(text.into());
        start.elapsed()
    };
    for ((what, short), (_, long)) in long_texts(2_000).into_iter().zip(long_texts(32_000)) {
        let linear = (0..3).any(|_| time(&long) < time(&short) * 100 + Duration::from_millis(500));
        assert!(linear, "{what}");
    }
}

#[test]
fn sizes_are_bounded_so_that_they_can_be_added_up() {
    let variable = |bytes: &str| parse(&format!("{HEADER}.global .align 4 .b8 z[{bytes}];"));
    assert!(variable("1099511627776").is_ok());
    for bytes in ["1099511627777", "-1", "18446744073709551615", "4294967296][4294967296"] {
        let error = variable(bytes).unwrap_err();
        assert_eq!(
            (error.line, error.message.as_str()),
            (4, "this array is larger than any address space"),
            "{bytes}"
        );
    }
}
