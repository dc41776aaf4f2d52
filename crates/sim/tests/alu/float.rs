//! f32 and f64 arithmetic in every rounding mode against exact numbers rounded by search.

use crate::harness::{Op, floats, integers};
use crate::reference::Format;

const MODES: [&str; 4] = ["rn", "rz", "rm", "rp"];

/// What `.ftz` and `.sat` do to a plain operation.
fn modified(format: Format, ftz: bool, sat: bool, x: &[u128], f: impl Fn(Format, &[u128]) -> u128) -> u128 {
    let y = if ftz { format.flushed(x, f) } else { f(format, x) };
    if sat { format.saturate(y) } else { y }
}

fn names(count: usize, ty: &str) -> String {
    ["a", "b", "c"][..count]
        .iter()
        .map(|n| format!("{ty} {n}"))
        .collect::<Vec<_>>()
        .join(", ")
}

/// One operation in every mode with every modifier that the type takes.
fn arithmetic(name: &str, count: usize, ty: &'static str, f: impl Fn(Format, &[u128], &str) -> u128) {
    let format = Format::of(ty);
    let bits = format.sign();
    for mode in MODES {
        for ftz in [false, true] {
            for sat in [false, true] {
                if ty == "f64" && (ftz || sat) {
                    continue;
                }
                let words = format!(
                    "{name}.{mode}{}{}",
                    if ftz { ".ftz" } else { "" },
                    if sat { ".sat" } else { "" }
                );
                let operands = ["a", "b", "c"][..count].join(", ");
                let op = Op::new(
                    &format!("{ty} d"),
                    &names(count, ty),
                    &format!("{words}.{ty} d, {operands};"),
                );
                let rows = floats(ty, count, op.code(), if count == 3 { 4000 } else { 700 });
                op.check(&rows, |x| modified(format, ftz, sat, x, |to, x| f(to, x, mode)));
            }
        }
    }
    assert_ne!(bits, 0);
}

#[test]
fn f32_sums_and_differences_round_as_told() {
    arithmetic("add", 2, "f32", |f, x, mode| f.add(x[0], x[1], mode));
    arithmetic("sub", 2, "f32", |f, x, mode| f.add(x[0], f.opposite(x[1]), mode));
}

#[test]
fn f64_sums_and_differences_round_as_told() {
    arithmetic("add", 2, "f64", |f, x, mode| f.add(x[0], x[1], mode));
    arithmetic("sub", 2, "f64", |f, x, mode| f.add(x[0], f.opposite(x[1]), mode));
}

#[test]
fn products_round_as_told() {
    arithmetic("mul", 2, "f32", |f, x, mode| f.mul(x[0], x[1], mode));
    arithmetic("mul", 2, "f64", |f, x, mode| f.mul(x[0], x[1], mode));
}

#[test]
fn fused_multiply_add_rounds_once() {
    arithmetic("fma", 3, "f32", |f, x, mode| f.fma(x[0], x[1], x[2], mode));
    arithmetic("fma", 3, "f64", |f, x, mode| f.fma(x[0], x[1], x[2], mode));
    arithmetic("mad", 3, "f32", |f, x, mode| f.fma(x[0], x[1], x[2], mode));
}

#[test]
fn fused_multiply_add_of_near_opposites_is_exact() {
    // a * b against -round(a * b): what is left is the product's rounding error, all of it below the last place.
    for ty in ["f32", "f64"] {
        let format = Format::of(ty);
        for mode in MODES {
            let op = Op::new(
                &format!("{ty} d"),
                &names(3, ty),
                &format!("fma.{mode}.{ty} d, a, b, c;"),
            );
            let rows: Vec<Vec<u128>> = floats(ty, 2, op.code(), 1500)
                .into_iter()
                .map(|x| vec![x[0], x[1], format.mul(x[0], x[1], "rn") ^ format.sign()])
                .collect();
            op.check(&rows, |x| format.fma(x[0], x[1], x[2], mode));
        }
    }
}

fn unmodified(name: &str, count: usize, ty: &'static str, f: impl Fn(Format, &[u128], &str) -> u128) {
    let format = Format::of(ty);
    for mode in MODES {
        for ftz in [false, true] {
            if ty == "f64" && ftz {
                continue;
            }
            let operands = ["a", "b", "c"][..count].join(", ");
            let flag = if ftz { ".ftz" } else { "" };
            let code = format!("{name}.{mode}{flag}.{ty} d, {operands};");
            let op = Op::new(&format!("{ty} d"), &names(count, ty), &code);
            op.check(&floats(ty, count, op.code(), 1500), |x| {
                modified(format, ftz, false, x, |to, x| f(to, x, mode))
            });
        }
    }
}

#[test]
fn quotients_reciprocals_and_roots_round_as_told() {
    for ty in ["f32", "f64"] {
        unmodified("div", 2, ty, |f, x, mode| f.div(x[0], x[1], mode));
        unmodified("rcp", 1, ty, |f, x, mode| f.div(f.one(), x[0], mode));
        unmodified("sqrt", 1, ty, |f, x, mode| f.sqrt(x[0], mode));
    }
}

#[test]
fn no_rounding_named_is_to_nearest() {
    for (name, ty) in [("add", "f32"), ("mul", "f32"), ("sub", "f64"), ("mul", "f64")] {
        let format = Format::of(ty);
        let op = Op::new(&format!("{ty} d"), &names(2, ty), &format!("{name}.{ty} d, a, b;"));
        op.check(&floats(ty, 2, op.code(), 300), |x| match name {
            "add" => format.add(x[0], x[1], "rn"),
            "sub" => format.add(x[0], format.opposite(x[1]), "rn"),
            _ => format.mul(x[0], x[1], "rn"),
        });
    }
}

#[test]
fn every_nan_becomes_the_canonical_one() {
    let op = Op::new("f32 d", "f32 a, f32 b", "add.rn.f32 d, a, b;");
    for nan in [0x7f80_0001u128, 0xffc0_1234, 0x7fff_ffff, 0xff80_0001] {
        assert_eq!(op.all(&[vec![nan, 0x3f80_0000]])[0][0], 0x7fff_ffff);
        assert_eq!(op.all(&[vec![0x3f80_0000, nan]])[0][0], 0x7fff_ffff);
    }
    assert_eq!(
        op.all(&[vec![0x7f80_0000, 0xff80_0000]])[0][0],
        0x7fff_ffff,
        "infinity less infinity"
    );
}

#[test]
fn packed_pairs_of_f32_are_two_independent_operations() {
    let format = Format::of("f32");
    let half = |x: u128, i: u32| x >> (32 * i) & 0xffff_ffff;
    for mode in MODES {
        for ftz in [false, true] {
            let flag = if ftz { ".ftz" } else { "" };
            for name in ["add", "sub", "mul", "fma"] {
                let count = if name == "fma" { 3 } else { 2 };
                let operands = ["a", "b", "c"][..count].join(", ");
                let code = format!("{name}.{mode}{flag}.f32x2 d, {operands};");
                let op = Op::new("b64 d", &names(count, "b64"), &code);
                let low = floats("f32", count, op.code(), 900);
                let high = floats("f32", count, name, 900);
                let rows: Vec<Vec<u128>> = low
                    .iter()
                    .zip(high.iter().rev())
                    .map(|(l, h)| l.iter().zip(h).map(|(l, h)| h << 32 | l).collect())
                    .collect();
                op.check(&rows, |x| {
                    let one = |i: u32| {
                        let x: Vec<u128> = x.iter().map(|x| half(*x, i)).collect();
                        modified(format, ftz, false, &x, |format, x| match name {
                            "add" => format.add(x[0], x[1], mode),
                            "sub" => format.add(x[0], format.opposite(x[1]), mode),
                            "mul" => format.mul(x[0], x[1], mode),
                            _ => format.fma(x[0], x[1], x[2], mode),
                        })
                    };
                    one(1) << 32 | one(0)
                });
            }
        }
    }
}

#[test]
fn narrow_operands_are_widened_exactly() {
    let wide = Format::of("f32");
    for ty in ["f16", "bf16"] {
        let narrow = Format::of(ty);
        for mode in MODES {
            for sat in [false, true] {
                let flag = if sat { ".sat" } else { "" };
                for (name, flip) in [("add", 0), ("sub", wide.sign())] {
                    let code = format!("{name}.{mode}{flag}.f32.{ty} d, a, c;");
                    let op = Op::new("f32 d", "b16 a, f32 c", &code);
                    let rows: Vec<Vec<u128>> = floats(ty, 1, op.code(), 700)
                        .into_iter()
                        .zip(floats("f32", 1, op.code(), 700))
                        .map(|(a, c)| vec![a[0], c[0]])
                        .collect();
                    op.check(&rows, |x| {
                        let a = narrow.convert(wide, x[0], "rn");
                        modified(wide, false, sat, &[a, x[1] ^ flip], |wide, x| {
                            wide.add(x[0], x[1], mode)
                        })
                    });
                }
                let op = Op::new(
                    "f32 d",
                    "b16 a, b16 b, f32 c",
                    &format!("fma.{mode}{flag}.f32.{ty} d, a, b, c;"),
                );
                let rows: Vec<Vec<u128>> = floats(ty, 2, op.code(), 200)
                    .into_iter()
                    .zip(floats("f32", 2, op.code(), 200))
                    .map(|(ab, c)| vec![ab[0], ab[1], c[0]])
                    .collect();
                op.check(&rows, |x| {
                    let [a, b] = [x[0], x[1]].map(|x| narrow.convert(wide, x, "rn"));
                    modified(wide, false, sat, &[a, b, x[2]], |wide, x| {
                        wide.fma(x[0], x[1], x[2], mode)
                    })
                });
            }
        }
    }
}

/// The order of floats with -0 below +0: by sign, then by magnitude.
fn less(format: Format, a: u128, b: u128) -> bool {
    let key = |x: u128| {
        let magnitude = (x & (format.sign() - 1)) as i128;
        if x & format.sign() != 0 {
            -magnitude - 1
        } else {
            magnitude
        }
    };
    key(a) < key(b)
}

/// `min`/`max` by the manual's own cases.
pub(crate) fn extreme(format: Format, max: bool, nan_wins: bool, a: u128, b: u128) -> u128 {
    match (format.is_nan(a), format.is_nan(b)) {
        (true, true) => format.nan(),
        (true, false) | (false, true) if nan_wins => format.nan(),
        (true, false) => b,
        (false, true) => a,
        (false, false) => {
            if less(format, a, b) != max {
                a
            } else {
                b
            }
        }
    }
}

#[test]
fn extremes_prefer_numbers_to_nans_and_order_the_zeros() {
    let format = Format::of("f32");
    for (name, max) in [("min", false), ("max", true)] {
        for ftz in [false, true] {
            for nan in [false, true] {
                let flags = format!("{}{}", if ftz { ".ftz" } else { "" }, if nan { ".NaN" } else { "" });
                let flush = |x: u128| if ftz { format.flush(x) } else { x };
                let op = Op::new("f32 d", "f32 a, f32 b", &format!("{name}{flags}.f32 d, a, b;"));
                op.check(&floats("f32", 2, op.code(), 500), |x| {
                    extreme(format, max, nan, flush(x[0]), flush(x[1]))
                });
                let op = Op::new(
                    "f32 d",
                    "f32 a, f32 b",
                    &format!("{name}{flags}.xorsign.abs.f32 d, a, b;"),
                );
                op.check(&floats("f32", 2, op.code(), 500), |x| {
                    let [a, b] = [0, 1].map(|i| flush(x[i]));
                    let magnitude = format.sign() - 1;
                    let r = extreme(format, max, nan, a & magnitude, b & magnitude);
                    if format.is_nan(r) {
                        r
                    } else {
                        r | (a ^ b) & format.sign()
                    }
                });
                for abs in [false, true] {
                    let code = format!("{name}{flags}{}.f32 d, a, b, c;", if abs { ".abs" } else { "" });
                    let op = Op::new("f32 d", "f32 a, f32 b, f32 c", &code);
                    op.check(&floats("f32", 3, op.code(), 2500), |x| {
                        let [a, b, c] =
                            [0, 1, 2].map(|i| flush(x[i]) & if abs { format.sign() - 1 } else { u128::MAX });
                        extreme(format, max, nan, extreme(format, max, nan, a, b), c)
                    });
                }
            }
        }
        let double = Format::of("f64");
        let op = Op::new("f64 d", "f64 a, f64 b", &format!("{name}.f64 d, a, b;"));
        op.check(&floats("f64", 2, op.code(), 500), |x| {
            // Of two NaNs the second, made quiet.
            if double.is_nan(x[0]) && double.is_nan(x[1]) {
                x[1] | 1 << 51
            } else {
                extreme(double, max, false, x[0], x[1])
            }
        });
    }
}

#[test]
fn signs_change_alone() {
    let format = Format::of("f32");
    for ftz in [false, true] {
        let flag = if ftz { ".ftz" } else { "" };
        for (name, f) in [
            ("abs", (|a, s| a & !s) as fn(u128, u128) -> u128),
            ("neg", |a, s| a ^ s),
        ] {
            let op = Op::new("f32 d", "f32 a", &format!("{name}{flag}.f32 d, a;"));
            op.check(&floats("f32", 1, op.code(), 300), |x| {
                let a = if ftz { format.flush(x[0]) } else { x[0] };
                if format.is_nan(a) {
                    format.nan()
                } else {
                    f(a, format.sign())
                }
            });
            let op = Op::new("f64 d", "f64 a", &format!("{name}.f64 d, a;"));
            op.check(&floats("f64", 1, op.code(), 300), |x| {
                // A NaN keeps its sign, and is made quiet.
                if Format::of("f64").is_nan(x[0]) {
                    x[0] | 1 << 51
                } else {
                    f(x[0], 1 << 63)
                }
            });
        }
    }
    for (ty, bits) in [("f32", 32), ("f64", 64)] {
        let sign = 1u128 << (bits - 1);
        let op = Op::new(&format!("{ty} d"), &names(2, ty), &format!("copysign.{ty} d, a, b;"));
        op.check(&floats(ty, 2, op.code(), 300), |x| x[0] & sign | x[1] & (sign - 1));
    }
}

#[test]
fn immediates_have_the_bits_of_their_type() {
    let op = Op::new("f32 d", "f32 a", "add.rn.f32 d, a, 0f3F800000;");
    op.check(&floats("f32", 1, "immediate", 100), |x| {
        Format::of("f32").add(x[0], 0x3f80_0000, "rn")
    });
    let op = Op::new("f64 d", "f64 a", "add.rn.f64 d, a, 0d3FF8000000000000;");
    op.check(&floats("f64", 1, "immediate", 100), |x| {
        Format::of("f64").add(x[0], 0x3ff8_0000_0000_0000, "rn")
    });
    let op = Op::new("f32 d", "f32 a", "mul.rn.f32 d, a, 1.5;");
    op.check(&floats("f32", 1, "immediate", 100), |x| {
        Format::of("f32").mul(x[0], 0x3fc0_0000, "rn")
    });
    let op = Op::new("b16 d", "b16 a", "add.s16 d, a, -1;");
    op.check(&integers(&[16], "immediate", 100), |x| (x[0] + 0xffff) & 0xffff);
    let op = Op::new("b64 d", "b64 a", "add.s64 d, a, -1;");
    op.check(&integers(&[64], "immediate", 100), |x| {
        (x[0] + u128::from(u64::MAX)) & u128::from(u64::MAX)
    });
}

#[test]
fn division_approximations_are_within_two_units_in_the_last_place() {
    for name in ["div.approx", "div.full", "div.approx.ftz", "div.full.ftz"] {
        let op = Op::new("f32 d", "f32 a, f32 b", &format!("{name}.f32 d, a, b;"));
        let ftz = name.ends_with("ftz");
        let format = Format::of("f32");
        let rows = floats("f32", 2, op.code(), 4000);
        for (x, out) in rows.iter().zip(op.all(&rows)) {
            let x: Vec<u128> = x.iter().map(|x| if ftz { format.flush(*x) } else { *x }).collect();
            let [a, b] = [0, 1].map(|i| f32::from_bits(x[i] as u32));
            let got = f32::from_bits(out[0] as u32);
            // Where the manual gives a bound: divisors from 2^-126 to 2^126.
            if b.abs() < 2f32.powi(-126) || b.abs() > 2f32.powi(126) {
                continue;
            }
            let want = format.div(x[0], x[1], "rn");
            let want = f32::from_bits(if ftz { format.flush(want) } else { want } as u32);
            if ftz && want.abs() == f32::MIN_POSITIVE && got == 0.0 {
                // Flushed before it was rounded up to that.
                continue;
            }
            if want.is_nan() {
                assert_eq!(out[0], 0x7fff_ffff, "{name} of {a} and {b}");
            } else {
                let steps = (i64::from(got.to_bits() as i32) - i64::from(want.to_bits() as i32)).abs();
                assert!(steps <= 2, "{name} of {a:e} and {b:e}: {got:e}, not {want:e}");
            }
        }
    }
    let op = Op::new("f32 d", "f32 a, f32 b", "div.approx.f32 d, a, b;");
    let huge = u128::from(2f32.powi(127).to_bits());
    assert_eq!(
        op.all(&[vec![0x3f80_0000, huge]])[0][0],
        0,
        "a divisor past 2^126 gives 0"
    );
    assert_eq!(
        op.all(&[vec![0x7f80_0000, huge]])[0][0],
        0x7fff_ffff,
        "and NaN for an infinite dividend"
    );
}
