//! Integer arithmetic against i128.

use crate::harness::{Op, integers};

/// Name, bits, signed.
pub(crate) const TYPES: [(&str, u32, bool); 6] = [
    ("u16", 16, false),
    ("s16", 16, true),
    ("u32", 32, false),
    ("s32", 32, true),
    ("u64", 64, false),
    ("s64", 64, true),
];

/// Bits as a number.
pub(crate) fn number(x: u128, bits: u32, signed: bool) -> i128 {
    let x = x as i128;
    if signed && x >> (bits - 1) & 1 == 1 {
        x - (1 << bits)
    } else {
        x
    }
}

/// A number as bits, wrapping.
pub(crate) fn wrapped(x: i128, bits: u32) -> u128 {
    x.rem_euclid(1 << bits) as u128
}

/// A number as bits, saturating.
pub(crate) fn saturated(x: i128, bits: u32, signed: bool) -> u128 {
    let (low, high) = if signed {
        (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    } else {
        (0, (1 << bits) - 1)
    };
    wrapped(x.max(low).min(high), bits)
}

fn operands(count: usize, ty: &str, d: &str) -> (String, String) {
    let names = ["a", "b", "c"];
    (
        format!("{d} d"),
        names[..count]
            .iter()
            .map(|n| format!("{ty} {n}"))
            .collect::<Vec<_>>()
            .join(", "),
    )
}

fn binary(name: &str, ty: (&str, u32, bool), f: impl Fn(i128, i128) -> i128) {
    let (ty, bits, signed) = ty;
    let (outs, ins) = operands(2, ty, ty);
    let op = Op::new(&outs, &ins, &format!("{name}.{ty} d, a, b;"));
    op.check(&integers(&[bits, bits], op.code(), 600), |x| {
        wrapped(f(number(x[0], bits, signed), number(x[1], bits, signed)), bits)
    });
}

#[test]
fn sums_and_differences_wrap() {
    for ty in TYPES {
        binary("add", ty, |a, b| a + b);
        binary("sub", ty, |a, b| a - b);
    }
}

#[test]
fn saturating_sums_stop_at_the_ends_of_s32() {
    for (name, sign) in [("add", 1), ("sub", -1)] {
        let op = Op::new("s32 d", "s32 a, s32 b", &format!("{name}.sat.s32 d, a, b;"));
        op.check(&integers(&[32, 32], op.code(), 600), |x| {
            saturated(number(x[0], 32, true) + sign * number(x[1], 32, true), 32, true)
        });
    }
}

#[test]
fn products_have_a_low_a_high_and_a_whole_form() {
    for ty in TYPES {
        binary("mul.lo", ty, |a, b| a.wrapping_mul(b) & i128::from(u64::MAX));
        let (name, bits, signed) = ty;
        let (outs, ins) = operands(2, name, name);
        let op = Op::new(&outs, &ins, &format!("mul.hi.{name} d, a, b;"));
        op.check(&integers(&[bits, bits], op.code(), 600), |x| {
            if signed {
                wrapped((number(x[0], bits, true) * number(x[1], bits, true)) >> bits, bits)
            } else {
                (x[0] * x[1]) >> bits
            }
        });
        if bits < 64 {
            let wide = format!("b{}", 2 * bits);
            let (outs, ins) = operands(2, name, &wide);
            let op = Op::new(&outs, &ins, &format!("mul.wide.{name} d, a, b;"));
            op.check(&integers(&[bits, bits], op.code(), 600), |x| {
                wrapped(number(x[0], bits, signed) * number(x[1], bits, signed), 2 * bits)
            });
        }
    }
}

#[test]
fn multiply_add_is_a_product_and_a_sum() {
    for (ty, bits, signed) in TYPES {
        let (outs, ins) = operands(3, ty, ty);
        let value = |x: u128| number(x, bits, signed);
        let op = Op::new(&outs, &ins, &format!("mad.lo.{ty} d, a, b, c;"));
        op.check(&integers(&[bits; 3], op.code(), 1500), |x| {
            (((x[0] * x[1]) & (u128::MAX >> (128 - bits))) + x[2]) & (u128::MAX >> (128 - bits))
        });
        let op = Op::new(&outs, &ins, &format!("mad.hi.{ty} d, a, b, c;"));
        op.check(&integers(&[bits; 3], op.code(), 1500), |x| {
            let high = if signed {
                (value(x[0]) * value(x[1])) >> bits
            } else {
                ((x[0] * x[1]) >> bits) as i128
            };
            wrapped(high + value(x[2]), bits)
        });
        if bits < 64 {
            let wide = format!("b{}", 2 * bits);
            let op = Op::new(
                &format!("{wide} d"),
                &format!("{ty} a, {ty} b, {wide} c"),
                &format!("mad.wide.{ty} d, a, b, c;"),
            );
            op.check(&integers(&[bits, bits, 2 * bits], op.code(), 1500), |x| {
                wrapped(value(x[0]) * value(x[1]) + x[2] as i128, 2 * bits)
            });
        }
    }
    let op = Op::new("s32 d", "s32 a, s32 b, s32 c", "mad.hi.sat.s32 d, a, b, c;");
    op.check(&integers(&[32; 3], op.code(), 3000), |x| {
        let [a, b, c] = [0, 1, 2].map(|i| number(x[i], 32, true));
        saturated(((a * b) >> 32) + c, 32, true)
    });
}

#[test]
fn products_of_24_bits_ignore_the_upper_eight() {
    for (ty, signed) in [("u32", false), ("s32", true)] {
        let product = |x: &[u128]| number(x[0] & 0xff_ffff, 24, signed) * number(x[1] & 0xff_ffff, 24, signed);
        for (part, shift) in [("lo", 0), ("hi", 16)] {
            let (outs, ins) = operands(2, ty, ty);
            let op = Op::new(&outs, &ins, &format!("mul24.{part}.{ty} d, a, b;"));
            op.check(&integers(&[32, 32], op.code(), 600), |x| {
                wrapped(product(x) >> shift, 32)
            });
            let (outs, ins) = operands(3, ty, ty);
            let op = Op::new(&outs, &ins, &format!("mad24.{part}.{ty} d, a, b, c;"));
            op.check(&integers(&[32; 3], op.code(), 1500), |x| {
                wrapped((product(x) >> shift) + number(x[2], 32, signed), 32)
            });
        }
    }
    let op = Op::new("s32 d", "s32 a, s32 b, s32 c", "mad24.hi.sat.s32 d, a, b, c;");
    op.check(&integers(&[32; 3], op.code(), 3000), |x| {
        let product = number(x[0] & 0xff_ffff, 24, true) * number(x[1] & 0xff_ffff, 24, true);
        let high = number(wrapped(product >> 16, 32), 32, true);
        saturated(high + number(x[2], 32, true), 32, true)
    });
}

#[test]
fn absolute_differences_are_added() {
    for (ty, bits, signed) in TYPES {
        let (outs, ins) = operands(3, ty, ty);
        let op = Op::new(&outs, &ins, &format!("sad.{ty} d, a, b, c;"));
        op.check(&integers(&[bits; 3], op.code(), 1500), |x| {
            let [a, b, c] = [0, 1, 2].map(|i| number(x[i], bits, signed));
            wrapped(c + (a - b).abs(), bits)
        });
    }
}

#[test]
fn quotients_truncate_and_division_by_zero_gives_all_ones_as_quotient_and_remainder() {
    for ty in TYPES {
        binary("div", ty, |a, b| if b == 0 { -1 } else { a / b });
        binary("rem", ty, |a, b| if b == 0 { -1 } else { a % b });
    }
}

#[test]
fn the_most_negative_number_is_its_own_opposite_and_quotient_by_minus_one() {
    for (ty, bits, _) in TYPES.into_iter().filter(|t| t.2) {
        let least = 1u128 << (bits - 1);
        let ones = u128::MAX >> (128 - bits);
        for (name, code) in [("neg", "d, a"), ("abs", "d, a"), ("div", "d, a, b")] {
            let op = Op::new(
                &format!("{ty} d"),
                &format!("{ty} a, {ty} b"),
                &format!("{name}.{ty} {code};"),
            );
            assert_eq!(op.all(&[vec![least, ones]])[0][0], least, "{}", op.code());
        }
    }
}

#[test]
fn signs_and_extremes() {
    for ty in TYPES {
        binary("min", ty, i128::min);
        binary("max", ty, i128::max);
        let (name, bits, signed) = ty;
        if signed {
            for (op_name, f) in [("neg", (|a: i128| -a) as fn(i128) -> i128), ("abs", i128::abs)] {
                let op = Op::new(
                    &format!("{name} d"),
                    &format!("{name} a"),
                    &format!("{op_name}.{name} d, a;"),
                );
                op.check(&integers(&[bits], op.code(), 600), |x| {
                    wrapped(f(number(x[0], bits, true)), bits)
                });
            }
        }
    }
    for (name, f) in [("min", i128::min as fn(i128, i128) -> i128), ("max", i128::max)] {
        let op = Op::new("s32 d", "s32 a, s32 b", &format!("{name}.relu.s32 d, a, b;"));
        op.check(&integers(&[32, 32], op.code(), 600), |x| {
            wrapped(f(number(x[0], 32, true), number(x[1], 32, true)).max(0), 32)
        });
    }
}

#[test]
fn packed_halves_do_not_touch_each_other() {
    type Case = (&'static str, &'static str, bool, fn(i128, i128) -> i128);
    let cases: [Case; 9] = [
        ("add", "u16x2", false, |a, b| a + b),
        ("add", "s16x2", true, |a, b| a + b),
        ("min", "u16x2", false, i128::min),
        ("max", "u16x2", false, i128::max),
        ("min", "s16x2", true, i128::min),
        ("max", "s16x2", true, i128::max),
        ("min.relu", "s16x2", true, |a, b| a.min(b).max(0)),
        ("max.relu", "s16x2", true, |a, b| a.max(b).max(0)),
        ("sub", "u16x2", false, |a, b| a - b),
    ];
    for (name, ty, signed, f) in cases {
        let op = Op::new("b32 d", "b32 a, b32 b", &format!("{name}.{ty} d, a, b;"));
        op.check(&integers(&[32, 32], op.code(), 1000), |x| {
            let half = |i: u32| {
                let [a, b] = [0, 1].map(|j| number(x[j] >> (16 * i) & 0xffff, 16, signed));
                wrapped(f(a, b), 16) << (16 * i)
            };
            half(0) | half(1)
        });
    }
}

#[test]
fn dot_products_of_bytes() {
    for (at, sa) in [("u32", false), ("s32", true)] {
        for (bt, sb) in [("u32", false), ("s32", true)] {
            let byte = |x: u128, i: u32, signed| number(x >> (8 * i) & 0xff, 8, signed);
            let op = Op::new("b32 d", "b32 a, b32 b, b32 c", &format!("dp4a.{at}.{bt} d, a, b, c;"));
            op.check(&integers(&[32; 3], op.code(), 2000), |x| {
                let sum: i128 = (0..4).map(|i| byte(x[0], i, sa) * byte(x[1], i, sb)).sum();
                wrapped(sum + x[2] as i128, 32)
            });
            for (part, first) in [("lo", 0), ("hi", 2)] {
                let op = Op::new(
                    "b32 d",
                    "b32 a, b32 b, b32 c",
                    &format!("dp2a.{part}.{at}.{bt} d, a, b, c;"),
                );
                op.check(&integers(&[32; 3], op.code(), 2000), |x| {
                    let half = |i: u32| number(x[0] >> (16 * i) & 0xffff, 16, sa);
                    let sum: i128 = (0..2).map(|i| half(i) * byte(x[1], first + i, sb)).sum();
                    wrapped(sum + x[2] as i128, 32)
                });
            }
        }
    }
}

#[test]
fn vabsdiff_takes_the_difference_of_each_element() {
    for bits in [8, 16] {
        for (dt, at, bt) in [("u32", "u32", "u32"), ("s32", "s32", "s32"), ("u32", "s32", "u32")] {
            for (sat, add) in [("", ""), (".sat", ""), ("", ".add"), (".sat", ".add")] {
                let code = format!("vabsdiff{}.{dt}.{at}.{bt}{sat}{add} d, a, b, c;", 32 / bits);
                let op = Op::new("b32 d", "b32 a, b32 b, b32 c", &code);
                op.check(&integers(&[32; 3], op.code(), 1000), |x| {
                    let part = |x: u128, i: u32, ty| number(x >> (bits * i) & ((1 << bits) - 1), bits, ty == "s32");
                    let most: i128 = if dt == "s32" {
                        (1 << (bits - 1)) - 1
                    } else {
                        (1 << bits) - 1
                    };
                    let difference = |i: u32| {
                        let all = (part(x[0], i, at) - part(x[1], i, bt)).abs();
                        if sat.is_empty() { all } else { all.min(most) }
                    };
                    let elements = 0..32 / bits;
                    if add.is_empty() {
                        elements.map(|i| wrapped(difference(i), bits) << (bits * i)).sum()
                    } else {
                        wrapped(x[2] as i128 + elements.map(difference).sum::<i128>(), 32)
                    }
                });
            }
        }
    }
}
