//! The index language: what it means, and that nothing it is given brings it down.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tile33_explain::TextError;
use tile33_explain::language::{Access, Scope};

/// The only index, with tx = 7, ty = 2, bdx = 32, k = 5.
fn value(index: &str) -> Result<i64, TextError> {
    let access = Access::parse(&format!("a[{index}]"))?;
    let parameters = BTreeMap::from([("k".to_owned(), 5)]);
    let builtins = [7, 2, 0, 1, 0, 0, 32, 8, 1, 7, 2];
    Scope {
        builtins,
        parameters: &parameters,
        source: &access.source,
    }
    .value(&access.indices[0])
}

#[test]
fn operators_bind_as_in_rust() {
    for (index, expected) in [
        ("2 + 3 * 4", 14),
        ("(2 + 3) * 4", 20),
        ("20 - 5 - 3", 12),
        ("100 / 7 / 2", 7),
        ("1 << 2 + 1", 8),
        ("6 & 3 ^ 1 | 8", 11),
        ("1 | 2 == 3", 1),
        ("5 ^ 3 & 1", 4),
        ("7 % 4 * 2", 6),
        ("-7 / 2", -3),
        ("-7 % 4", -3),
        ("-7 >> 1", -4),
        ("!0 + !5", 1),
        ("- - 3", 3),
        ("1 < 2 && 2 < 1 || 3 >= 3", 1),
        ("0 && 1 / 0", 0),
        ("1 || 1 / 0", 1),
        ("0x1F + 0b101 + 0o17 + 1_000", 1051),
        ("tx * 33 + ty", 233),
        ("threadIdx.x + blockDim.x * blockIdx.x", 39),
        ("thread_idx_x() + block_dim_x() * block_idx_x()", 39),
        ("lane + 32 * warp", 71),
        ("tx as usize * k as u32", 35),
        ("k*k", 25),
        ("9223372036854775807", i64::MAX),
        ("-9223372036854775807 - 1", i64::MIN),
        ("1 << 62", 1 << 62),
        ("-1 << 63", i64::MIN),
        ("-1 >> 63", -1),
    ] {
        assert_eq!(value(index), Ok(expected), "{index}");
    }
}

#[test]
fn errors_point_at_the_column() {
    for (access, column, part) in [
        ("", 1, "an array's name"),
        ("   ", 4, "an array's name"),
        ("[3]", 1, "an array's name"),
        ("tile", 5, "expected `[`"),
        ("tile[", 6, "a number, a name"),
        ("tile[]", 6, "a number, a name"),
        ("tile[tx", 8, "`]` or an operator"),
        ("tile[tx]]", 9, "nothing more"),
        ("tile[tx] ty", 10, "nothing more"),
        ("tile[tx +]", 10, "a number, a name"),
        ("tile[(tx]", 9, "`)` or an operator"),
        ("tile[tx $ 2]", 9, "`$` has no meaning"),
        ("größe[tx $ 2]", 10, "`$` has no meaning"),
        ("tile[2x]", 6, "`2x` is no integer"),
        ("tile[0xg]", 6, "`0xg` is no integer"),
        ("tile[0x]", 6, "`0x` is no integer"),
        ("tile[9223372036854775808]", 6, "too large"),
        ("tile[1 < 2 < 3]", 12, "do not chain"),
        ("tile[tx] if", 12, "a number, a name"),
        ("if tx < 3", 10, "an array's name"),
        ("if tx < 3 { tile[tx]", 21, "`}`"),
        ("tile[tx = 3]", 9, "`=` has no meaning"),
        ("tile[tx as f32]", 12, "an integer type"),
    ] {
        let error = Access::parse(access).expect_err(access);
        assert_eq!(error.column(), column, "{access}: {error}");
        assert!(error.message().contains(part), "{access}: {error}");
        assert!(error.to_string().ends_with(&format!("(column {column})")), "{error}");
    }
}

#[test]
fn values_that_do_not_exist_point_at_the_column() {
    for (index, column, part) in [
        ("tx / 0", 6, "division by zero: `0` is 0 in lane 7 of warp 2"),
        ("tx % (k - 5)", 6, "division by zero: `k - 5` is 0"),
        ("1 << 64", 5, "a shift by 64"),
        ("1 >> -1", 5, "a shift by -1"),
        ("9223372036854775807 + tx", 23, "9223372036854775807 + 7 does not fit"),
        ("-9223372036854775807 - 2", 24, "does not fit in 64 bits"),
        ("9223372036854775807 * 2", 23, "does not fit in 64 bits"),
        ("1 << 63", 5, "1 << 63 does not fit"),
        ("-(-9223372036854775807 - 1)", 3, "does not fit in 64 bits"),
        ("(-9223372036854775807 - 1) / -1", 30, "does not fit in 64 bits"),
        ("(-9223372036854775807 - 1) % -1", 30, "does not fit in 64 bits"),
        ("tx + foo", 8, "`foo` has no value"),
    ] {
        let error = value(index).expect_err(index);
        assert_eq!(error.column(), column, "{index}: {error}");
        assert!(error.message().contains(part), "{index}: {error}");
    }
}

#[test]
fn deep_nesting_and_long_chains_are_refused_and_not_fatal() {
    let nested = |depth: usize| format!("a[{}1{}]", "(".repeat(depth), ")".repeat(depth));
    assert!(Access::parse(&nested(60)).is_ok());
    assert!(
        Access::parse(&nested(100))
            .expect_err("too deep")
            .message()
            .contains("deep")
    );
    assert!(
        Access::parse(&format!("a[{}1]", "-".repeat(100)))
            .expect_err("too deep")
            .message()
            .contains("deep")
    );
    let chain = |terms: usize| format!("a[1{}]", "+1".repeat(terms));
    assert_eq!(value(&format!("1{}", "+1".repeat(120))), Ok(121));
    assert!(
        Access::parse(&chain(1_000_000))
            .expect_err("too long")
            .message()
            .contains("longer than 256")
    );
}

#[test]
fn a_guard_may_stand_before_or_after() {
    let (after, before) = ("tile[tx][5] if tx < 16", "if tx < 16 { tile[tx][5] }");
    let (after, before) = (
        Access::parse(after).expect("an access"),
        Access::parse(before).expect("an access"),
    );
    let text = |access: &Access| {
        (
            access.indices.iter().map(ToString::to_string).collect::<Vec<_>>(),
            access.guard.as_ref().map(ToString::to_string),
        )
    };
    assert_eq!(text(&after), text(&before));
    assert_eq!(text(&after), (vec!["tx".into(), "5".into()], Some("tx < 16".into())));
}

/// Expressions of every kind.
fn expressions() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        (0..100i64).prop_map(|value| value.to_string()),
        prop::sample::select(vec!["tx", "ty", "lane", "warp", "k", "bdx"]).prop_map(str::to_owned),
    ];
    leaf.prop_recursive(5, 40, 3, |inner| {
        let operators = vec![
            "||", "&&", "==", "!=", "<", "<=", ">", ">=", "|", "^", "&", "<<", ">>", "+", "-", "*", "/", "%",
        ];
        prop_oneof![
            (inner.clone(), prop::sample::select(operators), inner.clone())
                .prop_map(|(left, op, right)| format!("({left}) {op} ({right})")),
            inner.clone().prop_map(|operand| format!("-({operand})")),
            inner.prop_map(|operand| format!("!({operand})")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn what_is_shown_means_what_was_written(index in expressions()) {
        let access = Access::parse(&format!("a[{index}]")).expect("generated");
        let shown = access.indices[0].to_string();
        match (value(&index), value(&shown)) {
            (Ok(written), Ok(again)) => prop_assert_eq!(written, again, "{} shown as {}", index, shown),
            (Err(_), Err(_)) => {}
            (written, again) => prop_assert!(false, "{} is {:?}, shown as {} {:?}", index, written, shown, again),
        }
    }

    #[test]
    fn no_text_brings_the_parser_down(text in "[a-z0-9 .\\[\\](){}+*/%^&|<>=!_$ä\u{1F600}-]{0,60}") {
        if let Err(error) = Access::parse(&text) {
            prop_assert!(error.column() >= 1 && error.column() <= text.chars().count() + 1);
        }
    }

    #[test]
    fn no_characters_bring_the_parser_down(text in any::<String>()) {
        let _ = Access::parse(&text);
        let _ = Access::parse(&format!("a[{text}]"));
        let _ = tile33_explain::Tile::parse(&text);
        let _ = tile33_explain::Tile::parse(&format!("f32[{text}]"));
        let _ = tile33_explain::Block::parse(&text);
        let _ = tile33_explain::Parameter::parse(&text);
        let _ = tile33_explain::Parameter::parse(&format!("k={text}"));
        let _ = tile33_explain::AccessSpec::parse(&text);
        let _ = tile33_explain::AccessSpec::parse(&format!("ld.v{text}"));
    }
}
