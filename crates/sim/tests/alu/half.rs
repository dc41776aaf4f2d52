//! f16 and bf16 arithmetic, alone and in pairs, against exact numbers rounded by search, and against the `half` crate.

use crate::float::extreme;
use crate::harness::{Op, Random, floats};
use crate::reference::Format;

const TYPES: [&str; 2] = ["f16", "bf16"];

fn names(count: usize, ty: &str) -> String {
    ["a", "b", "c"][..count]
        .iter()
        .map(|n| format!("{ty} {n}"))
        .collect::<Vec<_>>()
        .join(", ")
}

/// An operation on one half and, with other operands in the upper halves, on two.
fn each(name: &str, count: usize, ty: &'static str, f: impl Fn(&[u128]) -> u128) {
    let operands = ["a", "b", "c"][..count].join(", ");
    let op = Op::new("b16 d", &names(count, "b16"), &format!("{name}.{ty} d, {operands};"));
    let rows = floats(ty, count, op.code(), if count == 3 { 5000 } else { 1500 });
    op.check(&rows, &f);
    let op = Op::new("b32 d", &names(count, "b32"), &format!("{name}.{ty}x2 d, {operands};"));
    let packed: Vec<Vec<u128>> = rows
        .iter()
        .zip(rows.iter().rev())
        .map(|(low, high)| low.iter().zip(high).map(|(l, h)| h << 16 | l).collect())
        .collect();
    op.check(&packed, |x| {
        let half = |i: u32| f(&x.iter().map(|x| x >> (16 * i) & 0xffff).collect::<Vec<_>>()) << (16 * i);
        half(0) | half(1)
    });
}

fn modified(format: Format, ftz: bool, sat: bool, x: &[u128], f: impl Fn(Format, &[u128]) -> u128) -> u128 {
    let y = if ftz { format.flushed(x, f) } else { f(format, x) };
    if sat { format.saturate(y) } else { y }
}

#[test]
fn sums_products_and_fused_ones_round_once() {
    for ty in TYPES {
        let format = Format::of(ty);
        for ftz in [false, true] {
            for sat in [false, true] {
                if ty == "bf16" && (ftz || sat) {
                    continue;
                }
                let flags = format!("{}{}", if ftz { ".ftz" } else { "" }, if sat { ".sat" } else { "" });
                let with = |x: &[u128], f: &dyn Fn(Format, &[u128]) -> u128| modified(format, ftz, sat, x, f);
                for round in ["", ".rn"] {
                    each(&format!("add{round}{flags}"), 2, ty, |x| {
                        with(x, &|format, x| format.add(x[0], x[1], "rn"))
                    });
                }
                each(&format!("sub.rn{flags}"), 2, ty, |x| {
                    with(x, &|format, x| format.add(x[0], x[1] ^ 0x8000, "rn"))
                });
                each(&format!("mul.rn{flags}"), 2, ty, |x| {
                    with(x, &|format, x| format.mul(x[0], x[1], "rn"))
                });
                each(&format!("fma.rn{flags}"), 3, ty, |x| {
                    with(x, &|format, x| format.fma(x[0], x[1], x[2], "rn"))
                });
            }
        }
        each("fma.rn.relu", 3, ty, |x| {
            let y = format.fma(x[0], x[1], x[2], "rn");
            if !format.is_nan(y) && y & 0x8000 != 0 { 0 } else { y }
        });
    }
}

#[test]
fn fused_multiply_add_survives_double_rounding_traps() {
    // Products near ties of the sum: an f32 in between would round twice.
    for ty in TYPES {
        let format = Format::of(ty);
        let op = Op::new("b16 d", &names(3, "b16"), &format!("fma.rn.{ty} d, a, b, c;"));
        let mut random = Random::of(ty);
        let rows: Vec<Vec<u128>> = (0..6000)
            .map(|_| {
                let c = u128::from(random.next()) & 0x7fff;
                let half_place =
                    |x: u128| (x & !((1 << if ty == "f16" { 10 } else { 7 }) - 1)).saturating_sub(11 << 10);
                let a = half_place(c) | u128::from(random.below(4));
                let one = format.one() | u128::from(random.below(4)) | u128::from(random.below(2)) << 15;
                vec![a, one, c]
            })
            .collect();
        op.check(&rows, |x| format.fma(x[0], x[1], x[2], "rn"));
    }
}

#[test]
fn every_f16_sum_agrees_with_the_half_crate() {
    let op = Op::new("b16 d", "b16 a, b16 b", "add.rn.f16 d, a, b;");
    for b in [0x0001u16, 0x03ff, 0x3c00, 0x3bff, 0x7bff, 0x8400, 0xbc01] {
        let rows: Vec<Vec<u128>> = (0..=u16::MAX).map(|a| vec![a.into(), b.into()]).collect();
        for (x, out) in rows.iter().zip(op.all(&rows)) {
            let a = half::f16::from_bits(x[0] as u16);
            let want = half::f16::from_f64(f64::from(a) + f64::from(half::f16::from_bits(b)));
            let want = if want.is_nan() { 0x7fff } else { want.to_bits() };
            assert_eq!(out[0], u128::from(want), "{a} + {b:#x}");
        }
    }
}

#[test]
fn extremes_and_signs() {
    for ty in TYPES {
        let format = Format::of(ty);
        for (name, max) in [("min", false), ("max", true)] {
            for nan in [false, true] {
                let flag = if nan { ".NaN" } else { "" };
                each(&format!("{name}{flag}"), 2, ty, |x| {
                    extreme(format, max, nan, x[0], x[1])
                });
                each(&format!("{name}{flag}.xorsign.abs"), 2, ty, |x| {
                    let r = extreme(format, max, nan, x[0] & 0x7fff, x[1] & 0x7fff);
                    if format.is_nan(r) {
                        r
                    } else {
                        r | (x[0] ^ x[1]) & 0x8000
                    }
                });
                if ty == "f16" {
                    each(&format!("{name}.ftz{flag}"), 2, ty, |x| {
                        extreme(format, max, nan, format.flush(x[0]), format.flush(x[1]))
                    });
                }
            }
        }
        each(
            "neg",
            1,
            ty,
            |x| if format.is_nan(x[0]) { 0x7fff } else { x[0] ^ 0x8000 },
        );
        each(
            "abs",
            1,
            ty,
            |x| if format.is_nan(x[0]) { 0x7fff } else { x[0] & 0x7fff },
        );
    }
    let format = Format::of("f16");
    each("neg.ftz", 1, "f16", |x| {
        if format.is_nan(x[0]) {
            0x7fff
        } else {
            format.flush(x[0]) ^ 0x8000
        }
    });
    each("abs.ftz", 1, "f16", |x| {
        if format.is_nan(x[0]) {
            0x7fff
        } else {
            format.flush(x[0]) & 0x7fff
        }
    });
}
