//! Comparisons by their definition over ordered and unordered values.

use std::cmp::Ordering;

use crate::harness::{Op, floats, integers};
use crate::integer::{TYPES, number};
use crate::reference::{Format, Meaning};

const ORDERED: [&str; 6] = ["eq", "ne", "lt", "le", "gt", "ge"];

/// A comparison's outcome; `None` is unordered.
fn holds(cmp: &str, order: Option<Ordering>) -> bool {
    let (name, of_nan) = match cmp {
        "num" => return order.is_some(),
        "nan" => return order.is_none(),
        "lo" => ("lt", false),
        "ls" => ("le", false),
        "hi" => ("gt", false),
        "hs" => ("ge", false),
        _ => match cmp.strip_suffix('u') {
            Some(name) => (name, true),
            None => (cmp, false),
        },
    };
    let Some(order) = order else {
        return of_nan;
    };
    match name {
        "eq" => order.is_eq(),
        "ne" => order.is_ne(),
        "lt" => order.is_lt(),
        "le" => order.is_le(),
        "gt" => order.is_gt(),
        "ge" => order.is_ge(),
        _ => panic!("no such comparison: {cmp}"),
    }
}

fn combined(word: &str, t: bool, c: bool) -> bool {
    match word {
        "and" => t && c,
        "or" => t || c,
        "xor" => t != c,
        _ => t,
    }
}

/// `setp` in its four shapes: one or two predicates, alone or with a third.
fn check_setp(cmp: &str, ty: &str, register: &str, rows: &[Vec<u128>], order: impl Fn(&[u128]) -> Option<Ordering>) {
    for combine in ["", "and", "or", "xor"] {
        for (c, inverted) in [("c", false), ("!c", true)] {
            if combine.is_empty() && inverted {
                continue;
            }
            let (dot, extra) = if combine.is_empty() {
                (String::new(), String::new())
            } else {
                (format!(".{combine}"), format!(", {c}"))
            };
            let op = Op::new(
                "pred p, pred q",
                &format!("{register} a, {register} b, pred c"),
                &format!("setp.{cmp}{dot}.{ty} p|q, a, b{extra};"),
            );
            let rows: Vec<Vec<u128>> = rows
                .iter()
                .enumerate()
                .map(|(i, x)| vec![x[0], x[1], (i as u128 / 3) & 1])
                .collect();
            for (x, out) in rows.iter().zip(op.all(&rows)) {
                let t = holds(cmp, order(x));
                let c = (x[2] == 1) != inverted;
                let want = [combined(combine, t, c), combined(combine, !t, c)].map(u128::from);
                assert_eq!(out[..], want, "{} of {x:x?}", op.code());
            }
        }
    }
    let op = Op::new(
        "pred p",
        &format!("{register} a, {register} b"),
        &format!("setp.{cmp}.{ty} p, a, b;"),
    );
    op.check(rows, |x| holds(cmp, order(x)).into());
}

#[test]
fn integers_compare_by_sign() {
    for (ty, bits, signed) in TYPES {
        let rows = integers(&[bits, bits], ty, 200);
        let order = |x: &[u128]| Some(number(x[0], bits, signed).cmp(&number(x[1], bits, signed)));
        for cmp in ORDERED {
            check_setp(cmp, ty, ty, &rows, order);
        }
        if !signed {
            for cmp in ["lo", "ls", "hi", "hs"] {
                check_setp(cmp, ty, ty, &rows, order);
            }
            for cmp in ["eq", "ne"] {
                check_setp(cmp, &ty.replace('u', "b"), ty, &rows, order);
            }
        }
    }
}

fn order_of(format: Format, a: u128, b: u128) -> Option<Ordering> {
    use Meaning::{Finite, Infinite, Nan};
    let rank = |negative: bool| if negative { -1 } else { 1 };
    match (format.meaning(a), format.meaning(b)) {
        (Nan, _) | (_, Nan) => None,
        (Infinite(s), Infinite(t)) => Some(rank(s).cmp(&rank(t))),
        (Infinite(s), _) => Some(rank(s).cmp(&0)),
        (_, Infinite(t)) => Some(0.cmp(&rank(t))),
        (Finite(s, x), Finite(t, y)) => Some(match (s, t) {
            _ if x.is_zero() && y.is_zero() => Ordering::Equal,
            (false, false) => x.compare(&y),
            (true, true) => y.compare(&x),
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
        }),
    }
}

const ALL: [&str; 14] = [
    "eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan",
];

#[test]
fn floats_compare_with_and_without_nans() {
    for (ty, register) in [("f32", "f32"), ("f64", "f64"), ("f16", "b16"), ("bf16", "b16")] {
        let format = Format::of(ty);
        let rows = floats(ty, 2, ty, 60);
        for cmp in ALL {
            check_setp(cmp, ty, register, &rows, |x| order_of(format, x[0], x[1]));
        }
        if matches!(ty, "f32" | "f16") {
            for cmp in ALL {
                let code = format!("setp.{cmp}.ftz.{ty} p, a, b;");
                let op = Op::new("pred p", &format!("{register} a, {register} b"), &code);
                op.check(&rows, |x| {
                    holds(cmp, order_of(format, format.flush(x[0]), format.flush(x[1]))).into()
                });
            }
        }
    }
}

#[test]
fn packed_halves_set_a_predicate_each() {
    for ty in ["f16", "bf16"] {
        let format = Format::of(ty);
        let low = floats(ty, 2, ty, 100);
        let rows: Vec<Vec<u128>> = low
            .iter()
            .zip(low.iter().rev())
            .enumerate()
            .map(|(i, (l, h))| vec![h[0] << 16 | l[0], h[1] << 16 | l[1], i as u128 & 1])
            .collect();
        for cmp in ALL {
            for combine in ["", "and", "or", "xor"] {
                let (dot, extra) = if combine.is_empty() {
                    (String::new(), "")
                } else {
                    (format!(".{combine}"), ", c")
                };
                let code = format!("setp.{cmp}{dot}.{ty}x2 p|q, a, b{extra};");
                let op = Op::new("pred p, pred q", "b32 a, b32 b, pred c", &code);
                for (x, out) in rows.iter().zip(op.all(&rows)) {
                    let want = [0, 16].map(|shift| {
                        let t = holds(cmp, order_of(format, x[0] >> shift & 0xffff, x[1] >> shift & 0xffff));
                        u128::from(combined(combine, t, x[2] == 1))
                    });
                    assert_eq!(out[..], want, "{} of {x:x?}", op.code());
                }
            }
        }
    }
}

#[test]
fn set_writes_one_or_all_ones() {
    let results = [
        ("u32", "u32", 0xffff_ffffu128),
        ("s32", "s32", 0xffff_ffff),
        ("f32", "f32", 0x3f80_0000),
    ];
    for (to, register, yes) in results {
        for (ty, bits, signed) in TYPES {
            for cmp in ORDERED {
                let op = Op::new(
                    &format!("{register} d"),
                    &format!("{ty} a, {ty} b, pred c"),
                    &format!("set.{cmp}.and.{to}.{ty} d, a, b, !c;"),
                );
                op.check(&integers(&[bits, bits, 1], op.code(), 200), |x| {
                    let order = number(x[0], bits, signed).cmp(&number(x[1], bits, signed));
                    if holds(cmp, Some(order)) && x[2] == 0 { yes } else { 0 }
                });
            }
        }
        for ty in ["f32", "f64"] {
            let format = Format::of(ty);
            for cmp in ALL {
                let op = Op::new(
                    &format!("{register} d"),
                    &format!("{ty} a, {ty} b"),
                    &format!("set.{cmp}.{to}.{ty} d, a, b;"),
                );
                op.check(&floats(ty, 2, op.code(), 60), |x| {
                    if holds(cmp, order_of(format, x[0], x[1])) {
                        yes
                    } else {
                        0
                    }
                });
            }
        }
    }
    let halves = [
        ("f16", "f16", "b16", 0x3c00u128),
        ("u16", "f16", "b16", 0xffff),
        ("s32", "f16", "b32", 0xffff_ffff),
        ("bf16", "bf16", "b16", 0x3f80),
        ("u16", "bf16", "b16", 0xffff),
        ("f16", "f32", "b16", 0x3c00),
    ];
    for (to, ty, register, yes) in halves {
        let format = Format::of(ty);
        let from = if ty == "f32" { "f32" } else { "b16" };
        for cmp in ALL {
            let op = Op::new(
                &format!("{register} d"),
                &format!("{from} a, {from} b"),
                &format!("set.{cmp}.{to}.{ty} d, a, b;"),
            );
            op.check(&floats(ty, 2, op.code(), 60), |x| {
                if holds(cmp, order_of(format, x[0], x[1])) {
                    yes
                } else {
                    0
                }
            });
        }
    }
    for (to, ty, low) in [
        ("f16x2", "f16", 0x3c00u128),
        ("u32", "f16", 0xffff),
        ("bf16x2", "bf16", 0x3f80),
    ] {
        let format = Format::of(ty);
        let rows = floats(ty, 2, ty, 60);
        let rows: Vec<Vec<u128>> = rows
            .iter()
            .zip(rows.iter().rev())
            .map(|(l, h)| vec![h[0] << 16 | l[0], h[1] << 16 | l[1]])
            .collect();
        for cmp in ALL {
            let op = Op::new("b32 d", "b32 a, b32 b", &format!("set.{cmp}.{to}.{ty}x2 d, a, b;"));
            op.check(&rows, |x| {
                let half = |shift: u32| {
                    let t = holds(cmp, order_of(format, x[0] >> shift & 0xffff, x[1] >> shift & 0xffff));
                    if t { low << shift } else { 0 }
                };
                half(0) | half(16)
            });
        }
    }
}

#[test]
fn testp_tells_the_kinds_of_numbers() {
    for (ty, bits) in [("f32", 32), ("f64", 64)] {
        let format = Format::of(ty);
        for what in ["finite", "infinite", "number", "notanumber", "normal", "subnormal"] {
            let op = Op::new("pred p", &format!("b{bits} a"), &format!("testp.{what}.{ty} p, a;"));
            op.check(&floats(ty, 1, op.code(), 300), |x| {
                let subnormal = format.flush(x[0]) != x[0];
                let (finite, infinite) = match format.meaning(x[0]) {
                    Meaning::Finite(..) => (true, false),
                    Meaning::Infinite(_) => (false, true),
                    Meaning::Nan => (false, false),
                };
                u128::from(match what {
                    "finite" => finite,
                    "infinite" => infinite,
                    "number" => finite || infinite,
                    "notanumber" => !finite && !infinite,
                    "normal" => finite && !subnormal,
                    _ => subnormal,
                })
            });
        }
    }
}
