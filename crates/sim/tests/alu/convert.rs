//! `cvt` between every pair of types against exact numbers.

use std::cmp::Ordering;

use crate::harness::{Op, floats, integers};
use crate::integer::{number, saturated, wrapped};
use crate::reference::{Dyadic, Format, Meaning};

const INTEGERS: [(&str, u32, bool); 8] = [
    ("u8", 8, false),
    ("s8", 8, true),
    ("u16", 16, false),
    ("s16", 16, true),
    ("u32", 32, false),
    ("s32", 32, true),
    ("u64", 64, false),
    ("s64", 64, true),
];
const FLOATS: [&str; 4] = ["f16", "bf16", "f32", "f64"];
const MODES: [&str; 4] = ["rn", "rz", "rm", "rp"];

/// The narrowest register that PTX has for so many bits.
fn register(bits: u32) -> String {
    format!("b{}", bits.max(16))
}

fn bits_of(ty: &str) -> u32 {
    match ty {
        "bf16" => 16,
        _ => ty[1..].parse().expect("a width"),
    }
}

/// The widths of registers that may hold a type.
fn registers(bits: u32) -> Vec<u32> {
    [16, 32, 64].into_iter().filter(|w| *w >= bits).collect()
}

#[test]
fn integers_are_cut_down_and_extended_by_their_own_signs() {
    for (to, to_bits, to_signed) in INTEGERS {
        for (from, from_bits, from_signed) in INTEGERS {
            for to_register in registers(to_bits) {
                for from_register in registers(from_bits) {
                    for sat in [false, true] {
                        let flag = if sat { ".sat" } else { "" };
                        let op = Op::new(
                            &format!("b{to_register} d"),
                            &format!("b{from_register} a"),
                            &format!("cvt{flag}.{to}.{from} d, a;"),
                        );
                        op.check(&integers(&[from_register], op.code(), 40), |x| {
                            let value = number(x[0] & (u128::MAX >> (128 - from_bits)), from_bits, from_signed);
                            let result = if sat {
                                saturated(value, to_bits, to_signed)
                            } else {
                                wrapped(value, to_bits)
                            };
                            wrapped(number(result, to_bits, to_signed), to_register)
                        });
                    }
                }
            }
        }
    }
}

#[test]
fn integers_become_floats_rounded_once() {
    for to in FLOATS {
        let format = Format::of(to);
        for (from, bits, signed) in INTEGERS {
            for mode in MODES {
                for sat in [false, true] {
                    let flag = if sat { ".sat" } else { "" };
                    let op = Op::new(
                        &format!("b{} d", bits_of(to)),
                        &format!("{} a", register(bits)),
                        &format!("cvt.{mode}{flag}.{to}.{from} d, a;"),
                    );
                    let rows: Vec<Vec<u128>> = integers(&[bits], op.code(), 300);
                    op.check(&rows, |x| {
                        let y = format.round_dyadic(&Dyadic::integer(number(x[0], bits, signed)), false, mode);
                        if sat { format.saturate(y) } else { y }
                    });
                }
            }
        }
    }
}

/// A finite number as an integer, rounded as `rni`, `rzi`, `rmi` or `rpi`: by looking for it among all integers.
fn integral(negative: bool, x: &Dyadic, mode: &str) -> i128 {
    // The largest integer that is not above the magnitude; past 2^100 nothing here tells numbers apart.
    let (mut low, mut high) = (0i128, 1 << 100);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if Dyadic::integer(middle).compare(x).is_le() {
            low = middle;
        } else {
            high = middle;
        }
    }
    let exact = Dyadic::integer(low).compare(x).is_eq();
    let half = Dyadic::integer(2 * low + 1).compare(&x.mul(&Dyadic::integer(2)));
    let away = match mode {
        "rni" => half == Ordering::Less || (half == Ordering::Equal && low % 2 == 1),
        "rzi" => false,
        "rmi" => negative && !exact,
        _ => !negative && !exact,
    };
    let magnitude = low + i128::from(away);
    if negative { -magnitude } else { magnitude }
}

#[test]
fn floats_become_integers_that_saturate() {
    for from in FLOATS {
        let format = Format::of(from);
        for (to, bits, signed) in INTEGERS {
            for mode in ["rni", "rzi", "rmi", "rpi"] {
                for flag in ["", ".sat", ".ftz"] {
                    if flag == ".ftz" && from != "f32" {
                        continue;
                    }
                    let op = Op::new(
                        &format!("{} d", register(bits)),
                        &format!("b{} a", bits_of(from)),
                        &format!("cvt.{mode}{flag}.{to}.{from} d, a;"),
                    );
                    let mut rows = floats(from, 1, op.code(), 500);
                    // Halves, and the neighbourhood of the type's ends, where they have such numbers.
                    for n in -9..9 {
                        rows.push(vec![format.round_dyadic(&Dyadic::integer(n), false, "rn")]);
                        let half = format.div(
                            format.round_dyadic(&Dyadic::integer(2 * n + 1), false, "rn"),
                            format.round_dyadic(&Dyadic::integer(2), false, "rn"),
                            "rn",
                        );
                        rows.push(vec![half]);
                        for end in [1i128 << bits, 1 << (bits - 1), -(1 << (bits - 1))] {
                            rows.push(vec![format.round_dyadic(&Dyadic::integer(end + n), false, "rn")]);
                        }
                    }
                    op.check(&rows, |x| {
                        let x = if flag == ".ftz" { format.flush(x[0]) } else { x[0] };
                        let result = match format.meaning(x) {
                            // The manual: zero, unless either side has 64 bits of float or of integer.
                            Meaning::Nan if from != "f64" && bits < 64 => 0,
                            Meaning::Nan => 1 << (bits - 1),
                            Meaning::Infinite(negative) => {
                                saturated(if negative { -(1 << 100) } else { 1 << 100 }, bits, signed)
                            }
                            Meaning::Finite(negative, x) => saturated(integral(negative, &x, mode), bits, signed),
                        };
                        // An 8-bit result is extended to its 16-bit register.
                        wrapped(number(result, bits, signed), bits.max(16))
                    });
                }
            }
        }
    }
}

/// What a NaN becomes, as recorded from an H200.
fn nan(from: &'static str, to: &'static str, ftz: bool, x: u128) -> u128 {
    let (source, target) = (Format::of(from), Format::of(to));
    if from == "bf16" && to == "f32" && !ftz {
        return x << 16;
    }
    if from != "f64" && to != "f64" {
        return target.nan();
    }
    let x = if ftz && from == "f32" { 0x7fff_ffff } else { x };
    // Sign and the highest bits of the fraction; the very highest is set.
    let fraction = |ty: &str| crate::harness::float_shape(ty).1;
    let payload = x & ((1 << fraction(from)) - 1) | 1 << (fraction(from) - 1);
    let payload = payload * (1 << fraction(to)) / (1 << fraction(from));
    if x & source.sign() != 0 {
        target.sign() | target.infinity() | payload
    } else {
        target.infinity() | payload
    }
}

#[test]
fn floats_become_other_floats_rounded_once() {
    for from in FLOATS {
        for to in FLOATS.into_iter().filter(|to| *to != from) {
            let (source, format) = (Format::of(from), Format::of(to));
            let widens = bits_of(to) > bits_of(from);
            for mode in MODES {
                for ftz in [false, true] {
                    for sat in [false, true] {
                        if (ftz && from != "f32" && to != "f32") || (widens && mode != "rn") {
                            continue;
                        }
                        let dotted = if widens { String::new() } else { format!(".{mode}") };
                        let flags = format!("{}{}", if ftz { ".ftz" } else { "" }, if sat { ".sat" } else { "" });
                        let op = Op::new(
                            &format!("b{} d", bits_of(to)),
                            &format!("b{} a", bits_of(from)),
                            &format!("cvt{dotted}{flags}.{to}.{from} d, a;"),
                        );
                        let mut rows = floats(from, 1, op.code(), 800);
                        // Numbers of the target, and their neighbours and midpoints in the source.
                        for x in floats(to, 1, op.code(), 300) {
                            let y = format.convert(source, x[0], "rn");
                            rows.extend([
                                vec![y],
                                vec![y.wrapping_add(1) & (2 * source.sign() - 1)],
                                vec![y.saturating_sub(1)],
                            ]);
                        }
                        op.check(&rows, |x| {
                            if source.is_nan(x[0]) {
                                return if sat { 0 } else { nan(from, to, ftz, x[0]) };
                            }
                            // To f16 no operand is flushed.
                            let x = if ftz && from == "f32" && to != "f16" {
                                source.flush(x[0])
                            } else {
                                x[0]
                            };
                            let y = if ftz && to == "f32" {
                                // Tininess is told after rounding: the exact result is below the smallest normal number
                                // by more than half a place.
                                let y = source.convert(format, x, mode);
                                if source.rounds_below_normal(format, x, mode) {
                                    y & format.sign()
                                } else {
                                    y
                                }
                            } else {
                                source.convert(format, x, mode)
                            };
                            if sat { format.saturate(y) } else { y }
                        });
                    }
                }
            }
        }
    }
}

#[test]
fn floats_round_to_integral_values_of_their_own_type() {
    for ty in FLOATS {
        let format = Format::of(ty);
        for mode in ["rni", "rzi", "rmi", "rpi"] {
            for flag in ["", ".ftz", ".sat"] {
                if flag == ".ftz" && ty != "f32" {
                    continue;
                }
                let bits = bits_of(ty);
                let op = Op::new(
                    &format!("b{bits} d"),
                    &format!("b{bits} a"),
                    &format!("cvt.{mode}{flag}.{ty}.{ty} d, a;"),
                );
                op.check(&floats(ty, 1, op.code(), 1500), |x| {
                    let x = if flag == ".ftz" { format.flush(x[0]) } else { x[0] };
                    let y = match format.meaning(x) {
                        Meaning::Finite(negative, magnitude)
                            if magnitude.compare(&Dyadic::integer(1 << 60)).is_lt() =>
                        {
                            format.round_dyadic(&Dyadic::integer(integral(negative, &magnitude, mode)), negative, "rn")
                        }
                        Meaning::Nan => format.nan_of(&[x]).expect("a NaN"),
                        _ => x,
                    };
                    if flag == ".sat" { format.saturate(y) } else { y }
                });
            }
        }
    }
}

#[test]
fn relu_and_satfinite_change_what_they_say() {
    let wide = Format::of("f32");
    for ty in ["f16", "bf16"] {
        let format = Format::of(ty);
        for mode in ["rn", "rz"] {
            for relu in [false, true] {
                for satfinite in [false, true] {
                    let one = |x: u128| {
                        let y = wide.convert(format, x, mode);
                        let magnitude = y & 0x7fff;
                        let y = if satfinite && magnitude == format.infinity() {
                            y & 0x8000 | format.largest()
                        } else {
                            y
                        };
                        if relu && !format.is_nan(y) && y & 0x8000 != 0 {
                            0
                        } else {
                            y
                        }
                    };
                    let flags = format!(
                        "{mode}{}{}",
                        if relu { ".relu" } else { "" },
                        if satfinite { ".satfinite" } else { "" }
                    );
                    let op = Op::new("b16 d", "f32 a", &format!("cvt.{flags}.{ty}.f32 d, a;"));
                    op.check(&floats("f32", 1, op.code(), 1500), |x| one(x[0]));
                    let op = Op::new("b32 d", "f32 a, f32 b", &format!("cvt.{flags}.{ty}x2.f32 d, a, b;"));
                    op.check(&floats("f32", 2, op.code(), 1500), |x| one(x[0]) << 16 | one(x[1]));
                }
            }
        }
    }
}

#[test]
fn tf32_keeps_ten_bits_of_fraction() {
    let (wide, format) = (Format::of("f32"), Format::of("tf32"));
    for mode in ["rna", "rn", "rz"] {
        for relu in [false, true] {
            for satfinite in [false, true] {
                if relu && mode == "rna" {
                    continue;
                }
                let flags = format!(
                    "{mode}{}{}",
                    if satfinite { ".satfinite" } else { "" },
                    if relu { ".relu" } else { "" }
                );
                let op = Op::new("b32 d", "f32 a", &format!("cvt.{flags}.tf32.f32 d, a;"));
                op.check(&floats("f32", 1, op.code(), 3000), |x| {
                    if mode == "rna" && x[0] & 0x7f80_0000 == 0x7f80_0000 {
                        // Infinities and NaNs: cut off, and for `.satfinite` a place less.
                        return (x[0] & !0x1fff) - if satfinite { 0x2000 } else { 0 };
                    }
                    if wide.is_nan(x[0]) {
                        return 0x7fff_e000;
                    }
                    let y = wide.convert(format, x[0], mode);
                    let y = if satfinite && y & (format.sign() - 1) == format.infinity() {
                        y & format.sign() | format.largest()
                    } else {
                        y
                    };
                    if relu && y & format.sign() != 0 { 0 } else { y << 13 }
                });
            }
        }
    }
}

#[test]
fn eight_bit_floats_saturate_and_widen_exactly() {
    for ty in ["e4m3", "e5m2"] {
        let format = Format::of(ty);
        for relu in [false, true] {
            let flag = if relu { ".relu" } else { "" };
            let one = |source: Format, x: u128| {
                if source.is_nan(x) {
                    return 0x7f;
                }
                if relu && x & source.sign() != 0 {
                    return 0;
                }
                let sign = if x & source.sign() != 0 { 0x80 } else { 0 };
                let y = source.convert(format, x, "rn") & 0x7f;
                sign | y.min(format.largest())
            };
            let op = Op::new(
                "b16 d",
                "f32 a, f32 b",
                &format!("cvt.rn.satfinite{flag}.{ty}x2.f32 d, a, b;"),
            );
            let f32s = Format::of("f32");
            let mut rows = floats("f32", 2, op.code(), 1500);
            for byte in 0..255u128 {
                let y = format.convert(f32s, byte, "rn");
                rows.extend([
                    vec![y, y + 1],
                    vec![y + (1 << (22 - if ty == "e4m3" { 3 } else { 2 })), y.saturating_sub(1)],
                ]);
            }
            op.check(&rows, |x| one(f32s, x[0]) << 8 | one(f32s, x[1]));
            let f16s = Format::of("f16");
            let op = Op::new("b16 d", "b32 a", &format!("cvt.rn.satfinite{flag}.{ty}x2.f16x2 d, a;"));
            let rows: Vec<Vec<u128>> = (0..=0xffffu128)
                .map(|x| vec![x << 16 | ((x * 40503) & 0xffff)])
                .collect();
            op.check(&rows, |x| one(f16s, x[0] >> 16) << 8 | one(f16s, x[0] & 0xffff));
            let op = Op::new("b32 d", "b16 a", &format!("cvt.rn{flag}.f16x2.{ty}x2 d, a;"));
            let rows: Vec<Vec<u128>> = (0..=0xffffu128).map(|x| vec![x]).collect();
            op.check(&rows, |x| {
                let half = |byte: u128| {
                    let y = format.convert(f16s, byte, "rn");
                    if relu && !f16s.is_nan(y) && y & 0x8000 != 0 {
                        0
                    } else {
                        y
                    }
                };
                half(x[0] >> 8) << 16 | half(x[0] & 0xff)
            });
        }
    }
}

#[test]
fn pack_saturates_two_integers_into_one_word() {
    for (ty, bits, signed) in [("u16", 16, false), ("s16", 16, true)] {
        let op = Op::new("b32 d", "s32 a, s32 b", &format!("cvt.pack.sat.{ty}.s32 d, a, b;"));
        op.check(&integers(&[32, 32], op.code(), 1000), |x| {
            let [a, b] = [0, 1].map(|i| saturated(number(x[i], 32, true), bits, signed));
            a << 16 | b
        });
    }
    for (ty, bits, signed) in [
        ("u8", 8, false),
        ("s8", 8, true),
        ("u4", 4, false),
        ("s4", 4, true),
        ("u2", 2, false),
        ("s2", 2, true),
    ] {
        let op = Op::new(
            "b32 d",
            "s32 a, s32 b, b32 c",
            &format!("cvt.pack.sat.{ty}.s32.b32 d, a, b, c;"),
        );
        op.check(&integers(&[32; 3], op.code(), 1500), |x| {
            let [a, b] = [0, 1].map(|i| saturated(number(x[i], 32, true), bits, signed));
            (x[2] << (2 * bits) | a << bits | b) & 0xffff_ffff
        });
    }
}
