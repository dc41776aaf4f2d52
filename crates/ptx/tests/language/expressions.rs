//! Literals and constant expressions. The values of the table are those that ptxas 13.5 puts into its output.

use crate::common::{instruction, module};
use proptest::prelude::*;
use tile33_ptx::Operand;

/// The value of an expression as an element of a `.u64` array.
fn value(expression: &str) -> u64 {
    let module = module(&format!(".global .u64 x[1] = {{{expression}}};"));
    let bytes = &module.variables[0].init.as_ref().expect("it is initialised").bytes;
    u64::from_le_bytes(bytes[..].try_into().expect("eight bytes"))
}

#[test]
fn expressions_fold_to_what_ptxas_folds_them_to() {
    let signed = |value: i64| value as u64;
    for (expression, expected) in [
        ("1+2*3", 7),
        ("-1", signed(-1)),
        ("~0/2", 0x7fff_ffff_ffff_ffff),
        ("-1/2", 0),
        ("-1>>1", signed(-1)),
        ("~0>>1", 0x7fff_ffff_ffff_ffff),
        ("-1>>1U", signed(-1)),
        ("(.u64)-1>>1", 0x7fff_ffff_ffff_ffff),
        ("(.s64)0xFFFFFFFFFFFFFFFF/2", 0),
        ("(-1|0)/2", 0),
        ("(1&3)-2<0", 1),
        ("(7 & 3) - 4 < 0", 1),
        ("(7U & 3) - 4 < 0", 0),
        ("~5 - 4 < 0", 0),
        ("-1<0", 1),
        ("-1<0U", 0),
        ("-7 % 4", 1),
        ("(-7 % 4) - 2 < 0", 0),
        ("7U % -4", 7),
        ("(-9223372036854775807-1) % -1", 0x8000_0000_0000_0000),
        ("!5", 0),
        ("!0", 1),
        ("!(-1) - 1 < 0", 1),
        ("1?2:3", 2),
        ("0?2:3", 3),
        ("1 ? 2 : 3 ? 4 : 5", 2),
        ("(1?-1:1)/2", 0),
        ("1<<63", 1 << 63),
        ("1<<64", 1),
        ("1<<65", 2),
        ("1 << -1", 1 << 63),
        ("0x8000000000000000>>1", 1 << 62),
        ("WARP_SZ", 32),
        ("WARP_SZ-1", 31),
        ("1&&2", 1),
        ("0||0", 0),
        ("1<2<3", 1),
        ("2-1-1", 0),
        ("1|2^3&4", 3),
        ("- - 5", 5),
        ("-5 * 2U / 3", 0x5555_5555_5555_5552),
        ("(-5 < 3U) - 2 < 0", 1),
        ("(5U << 1) - 11 < 0", 0),
        ("(.s64)5U - 6 < 0", 1),
        ("-5U / 2", 0x7fff_ffff_ffff_fffd),
        ("+5U - 6 < 0", 0),
        ("0x8000000000000000 - 1 < 0", 0),
        ("9223372036854775808 > -1", 0),
        ("9223372036854775807 + 1 < 0", 1),
        ("5 -3", 2),
        ("1.5 < 2.5", 1),
        ("(1.5+2.5) == 4.0", 1),
        ("017", 15),
        ("010U", 8),
        ("0b101", 5),
        ("0xFU", 15),
        ("18446744073709551615", u64::MAX),
    ] {
        assert_eq!(value(expression), expected, "{expression}");
    }
}

#[test]
fn the_smallest_integer_divided_by_minus_one_wraps() {
    assert_eq!(value("(-9223372036854775807-1)/-1"), 1 << 63);
}

#[test]
fn every_form_of_a_floating_point_literal_keeps_its_bits() {
    let operand = |text: &str| instruction(&format!("mov.f32 %f0, {text};")).operands.remove(1);
    assert_eq!(operand("0f3F800000"), Operand::Float32(0x3f80_0000));
    assert_eq!(operand("0F7fC00001"), Operand::Float32(0x7fc0_0001));
    assert_eq!(operand("-0f00000000"), Operand::Float32(0x8000_0000));
    assert_eq!(operand("0d3FF0000000000000"), Operand::Float64(1f64.to_bits()));
    assert_eq!(operand("0DFFF8000000000001"), Operand::Float64(0xfff8_0000_0000_0001));
    for (text, expected) in [
        ("1.5", 1.5),
        ("1.", 1.0),
        (".5", 0.5),
        ("-.5", -0.5),
        (".25e-3", 0.25e-3),
        ("2.5e3", 2500.0),
        ("1e3", 1000.0),
        ("1.0E+2", 100.0),
        ("1.5+2.5", 4.0),
        ("-1.5*2.0", -3.0),
    ] {
        assert_eq!(operand(text), Operand::Float64(f64::to_bits(expected)), "{text}");
    }
}

/// An expression over small numbers with its value, evaluated here as it is built: signed and without overflow, so that
/// Rust's own operators are the rule.
fn expression() -> impl Strategy<Value = (String, i64)> {
    let leaf = (0i64..1000).prop_map(|n| (n.to_string(), n));
    leaf.prop_recursive(5, 40, 2, |inner| {
        let pair = (inner.clone(), inner.clone());
        prop_oneof![
            (pair.clone(), 0usize..12).prop_map(|(((a, x), (b, y)), which)| {
                let (x, y) = (x % 10_000, y % 10_000);
                let (a, b) = (format!("({a}%10000U|0)"), format!("({b}%10000U|0)"));
                let (x, y) = (x.rem_euclid(10_000), y.rem_euclid(10_000));
                let truth = |value| i64::from(value);
                let (operator, value) = [
                    ("+", x + y),
                    ("*", x * y),
                    ("/", x / y.max(1)),
                    ("&", x & y),
                    ("|", x | y),
                    ("^", x ^ y),
                    ("<", truth(x < y)),
                    (">=", truth(x >= y)),
                    ("==", truth(x == y)),
                    ("!=", truth(x != y)),
                    ("&&", truth(x != 0 && y != 0)),
                    ("||", truth(x != 0 || y != 0)),
                ][which];
                let b = if operator == "/" && y == 0 { "1".into() } else { b };
                (format!("({a} {operator} {b})"), value)
            }),
            (inner.clone(), pair).prop_map(|((c, condition), ((a, x), (b, y)))| {
                (format!("({c} ? {a} : {b})"), if condition != 0 { x } else { y })
            }),
            inner.prop_map(|(a, x)| (format!("!{a}"), i64::from(x == 0))),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn an_expression_has_the_value_it_was_built_with((text, expected) in expression()) {
        prop_assert_eq!(value(&text), expected as u64, "{}", text);
    }

    #[test]
    fn integers_of_every_base_read_back(bits in any::<u64>()) {
        prop_assert_eq!(value(&format!("{bits}")), bits);
        prop_assert_eq!(value(&format!("{bits:#x}")), bits);
        prop_assert_eq!(value(&format!("{bits:#b}")), bits);
        prop_assert_eq!(value(&format!("0{bits:o}")), bits);
        prop_assert_eq!(value(&format!("{bits}U")), bits);
    }

    #[test]
    fn precedence_is_that_of_c(a in 0u64..50, b in 1u64..50, c in 0u64..6, d in 0u64..50) {
        let text = format!("{a} + {b} * {d} << {c} & {d} | {a} ^ {b} >> {c}");
        let expected = (((a + b * d) << c) & d) | (a ^ (b >> c));
        prop_assert_eq!(value(&text), expected, "{}", text);
    }
}
