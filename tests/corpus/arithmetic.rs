//! Arithmetic against the host's: exact where IEEE or the language defines the result, else within the stated bound.

use half::{bf16, f16};

use super::Case;
use super::run::{Run, close, close64, same_bits};

pub(crate) const CASES: &[Case] = &[
    ("integers_32", integers_32),
    ("integers_64", integers_64),
    ("integers_small", integers_small),
    ("floats_ieee", floats_ieee),
    ("floats_library", floats_library),
    ("floats_fast", floats_fast),
    ("doubles", doubles),
    ("halves_f16", halves_f16),
    ("halves_f16_sm80", halves_f16),
    ("halves_pairs", halves_pairs),
    ("halves_pairs_sm80", halves_pairs),
    ("halves_bf16", halves_bf16),
];

fn integers_32(run: &Run) {
    let (a, b) = (run.input::<i32>(0), run.input::<i32>(1));
    let mut expected: Vec<u32> = Vec::new();
    for (&x, &y) in a.iter().zip(&b) {
        let (u, v) = (x as u32, y as u32);
        let signed24 = |x: i32| i64::from(x << 8 >> 8);
        let unsigned24 = |x: u32| u64::from(x & 0xff_ffff);
        let wide = u64::from(v) << 32 | u64::from(u);
        let permuted = u32::from_le_bytes([1, 3, 5, 7].map(|byte| (wide >> (8 * byte)) as u8));
        let dot: i32 = x
            .to_le_bytes()
            .iter()
            .zip(y.to_le_bytes())
            .map(|(&a, b)| i32::from(a as i8) * i32::from(b as i8))
            .sum();
        expected.extend([
            if y == 0 { 0 } else { x.wrapping_div(y) as u32 },
            if y == 0 { 0 } else { x.wrapping_rem(y) as u32 },
            u.checked_div(v).unwrap_or(0),
            u.checked_rem(v).unwrap_or(0),
            ((i64::from(x) * i64::from(y)) >> 32) as u32,
            ((u64::from(u) * u64::from(v)) >> 32) as u32,
            (signed24(x) * signed24(y)) as u32,
            (unsigned24(u) * unsigned24(v)) as u32,
            x.abs_diff(y).wrapping_add(7),
            u.abs_diff(v).wrapping_add(7),
            permuted,
            u.reverse_bits(),
            x.leading_zeros(),
            if x == 0 { 0 } else { x.trailing_zeros() + 1 },
            u.count_ones(),
            ((wide << ((5 + (v & 31)) & 31)) >> 32) as u32,
            v,
            (x >> (y & 31)) as u32,
            u >> (v & 31),
            dot.wrapping_add(100) as u32,
            ((i64::from(x) + i64::from(y)) >> 1) as u32,
            ((i64::from(x) + i64::from(y) + 1) >> 1) as u32,
            x.clamp(-100, 100) as u32,
            x.wrapping_abs() as u32 + u32::from(x < y) * 2 + u32::from(u < v) * 4,
        ]);
    }
    assert_eq!(run.output::<u32>(2), expected);
}

fn integers_64(run: &Run) {
    let (a, b) = (run.input::<i64>(0), run.input::<i64>(1));
    let mut expected: Vec<u64> = Vec::new();
    for (&x, &y) in a.iter().zip(&b) {
        let (u, v) = (x as u64, y as u64);
        expected.extend([
            if y == 0 { 0 } else { x.wrapping_div(y) as u64 },
            if y == 0 { 0 } else { x.wrapping_rem(y) as u64 },
            u.checked_div(v).unwrap_or(0),
            u.checked_rem(v).unwrap_or(0),
            ((i128::from(x) * i128::from(y)) >> 64) as u64,
            ((u128::from(u) * u128::from(v)) >> 64) as u64,
            u.reverse_bits(),
            x.leading_zeros().into(),
            if x == 0 { 0 } else { u64::from(x.trailing_zeros()) + 1 },
            u.count_ones().into(),
            (x >> (y & 63)) as u64,
            u << (v & 63),
            x.min(y) as u64 ^ u.max(v),
            u.wrapping_mul(v).wrapping_add(u64::from(u > v)),
        ]);
    }
    assert_eq!(run.output::<u64>(2), expected);
}

fn integers_small(run: &Run) {
    let (a, b) = (run.input::<u32>(0), run.input::<u32>(1));
    let mut expected: Vec<u32> = Vec::new();
    for (&u, &v) in a.iter().zip(&b) {
        let (c, h) = (u as i8, v as u16);
        let (low, carry) = u.overflowing_add(v);
        let difference = u.wrapping_sub(v);
        let bytes = |f: fn(u8, u8) -> u8| {
            let (u, v) = (u.to_le_bytes(), v.to_le_bytes());
            u32::from_le_bytes([0, 1, 2, 3].map(|i| f(u[i], v[i])))
        };
        expected.extend([
            (i32::from(c) * i32::from(c) - i32::from(h)) as u32,
            u32::from(h << 3) + u32::from((c >> 1) as u8),
            h.wrapping_mul(h) as i16 as u32,
            ((u << 18) as i32 >> 23) as u32,
            v & !(0x7ff << 7) | (u & 0x7ff) << 7,
            low,
            u.wrapping_add(5).wrapping_add(carry.into()),
            if u < v { u32::MAX } else { 0 },
            u ^ v ^ difference,
            v.checked_ilog2().unwrap_or(u32::MAX),
            bytes(u8::wrapping_add),
            bytes(u8::max),
        ]);
    }
    assert_eq!(run.output::<u32>(2), expected);
}

/// A f64 rounded to f32 towards zero, up or down.
fn rounded(exact: f64, towards: f64) -> f32 {
    let near = exact as f32;
    let wide = f64::from(near);
    if !exact.is_finite() || wide == exact {
        return near;
    }
    match towards {
        t if t == f64::INFINITY && wide < exact => near.next_up(),
        t if t == f64::NEG_INFINITY && wide > exact => near.next_down(),
        t if t == 0.0 && wide.abs() > exact.abs() => {
            if near > 0.0 {
                near.next_down()
            } else {
                near.next_up()
            }
        }
        _ => near,
    }
}

fn floats_ieee(run: &Run) {
    let (a, b) = (run.input::<f32>(0), run.input::<f32>(1));
    let mut expected = Vec::new();
    for (&x, &y) in a.iter().zip(&b) {
        let (wx, wy) = (f64::from(x), f64::from(y));
        // Sums of two f32 far apart do not fit into an f64; an error term says on which side the sum lies.
        let sum = |a: f64, b: f64| {
            let sum = a + b;
            let error = if sum.is_finite() {
                (a - (sum - (sum - a))) + (b - (sum - a))
            } else {
                0.0
            };
            if error > 0.0 {
                sum.next_up()
            } else if error < 0.0 {
                sum.next_down()
            } else {
                sum
            }
        };
        expected.extend([
            x / y,
            x.abs().sqrt(),
            x.mul_add(y, 1.0),
            rounded(sum(wx, wy), 0.0),
            rounded(wx * wy, f64::INFINITY),
            rounded(sum(wx, -wy), f64::NEG_INFINITY),
            1.0 / x,
            minimum(x, y),
            -minimum(-x, -y),
            x.floor(),
            x.ceil(),
            x.trunc(),
            x.round_ties_even(),
            (x as i32) as f32,
            (y.abs() as u32) as f32,
            x.copysign(y),
            f32::from(x < y) + 2.0 * f32::from(x != y) + 4.0 * f32::from(x.is_nan()),
            f32::from_bits(x.to_bits() ^ 1),
            x % 3.0,
            if x.is_nan() { 0.0 } else { x.clamp(0.0, 1.0) + 0.0 },
        ]);
    }
    // A sum that cancels to zero is -0 when rounding down.
    for (row, (&x, &y)) in a.iter().zip(&b).enumerate() {
        if x == y && x != 0.0 && x.is_finite() {
            expected[20 * row + 5] = -0.0;
        }
        if x == 0.0 && y == 0.0 {
            expected[20 * row + 5] = if x.is_sign_negative() || !y.is_sign_negative() {
                -0.0
            } else {
                0.0
            };
        }
    }
    same_bits(&run.output::<f32>(2), &expected);
}

/// The number of the two that is one; -0 is less than 0.
fn minimum(x: f32, y: f32) -> f32 {
    match (x.is_nan(), y.is_nan()) {
        (true, _) => y,
        (_, true) => x,
        _ if x == y => {
            if x.is_sign_negative() {
                x
            } else {
                y
            }
        }
        _ => x.min(y),
    }
}

fn floats_library(run: &Run) {
    let mut expected = Vec::new();
    for x in run.input::<f32>(0) {
        // The arguments are computed in f32 first, as the kernel does.
        let wide = f64::from(x);
        let (large, log, root) = (
            f64::from(x * 1000.0),
            f64::from(x.abs() + 0.5),
            f64::from(x.abs() + 0.25),
        );
        expected.extend([
            wide.sin(),
            large.cos(),
            wide.exp(),
            log.ln(),
            wide.abs().powf(f64::from(1.7f32)),
            wide.tanh(),
            1.0 / root.sqrt(),
            wide.cbrt(),
            wide.atan2(f64::from(0.7f32)),
            error_function(wide),
            wide.exp2(),
            wide.abs().ln_1p(),
        ]);
    }
    close(&run.output::<f32>(1), &expected, 1e-6, 1e-7);
}

/// erf by its series, which converges for every x that the test uses.
fn error_function(x: f64) -> f64 {
    if x.abs() > 5.0 {
        return x.signum();
    }
    let (mut term, mut sum) = (x, x);
    for n in 1..200 {
        term *= -x * x / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    sum * 2.0 / std::f64::consts::PI.sqrt()
}

/// The bounds of the CUDA manual for the fast intrinsics, for arguments of this size.
fn floats_fast(run: &Run) {
    let found: Vec<f32> = run.output(1);
    for (row, x) in found.chunks(7).zip(run.input::<f32>(0)) {
        let wide = f64::from(x);
        let (log, root, base) = (
            f64::from(x.abs() + 0.5),
            f64::from(x.abs() + 0.25),
            f64::from(x.abs() + 0.1),
        );
        close(&row[0..1], &[wide.sin()], 0.0, 4e-6);
        close(&row[1..2], &[wide.cos()], 0.0, 4e-6);
        close(&row[2..3], &[wide.exp()], 3e-6, 0.0);
        close(&row[3..4], &[log.ln()], 3e-7, 3e-7);
        close(&row[4..5], &[wide / 3.0], 3e-7, 0.0);
        close(&row[5..6], &[1.0 / root.sqrt()], 6e-8, 0.0);
        close(&row[6..7], &[base.powf(1.5)], 3e-6, 0.0);
    }
}

fn doubles(run: &Run) {
    let (a, b) = (run.input::<f64>(0), run.input::<f64>(1));
    let found: Vec<f64> = run.output(2);
    for ((row, &x), &y) in found.chunks(16).zip(&a).zip(&b) {
        let sum = x + y;
        let sum_error = (x - (sum - (sum - x))) + (y - (sum - x));
        let product_error = x.mul_add(y, -(x * y));
        let exact = [
            x / y,
            x.abs().sqrt(),
            x.mul_add(y, -1.0),
            if sum_error > 0.0 { sum.next_up() } else { sum },
            if product_error < 0.0 {
                (x * y).next_down()
            } else {
                x * y
            },
            1.0 / x,
            x.floor() + y.round_ties_even(),
            x.min(y) - x.max(1.0),
            (x * 1e6).trunc(),
            f64::from(x as f32),
        ];
        assert_eq!(row[..10], exact, "x = {x}, y = {y}");
        let library = [
            x.sin(),
            (y * 100.0).cos(),
            x.exp(),
            (y.abs() + 0.5).ln(),
            x.abs().powf(1.3),
            1.0 / (x.abs() + 0.25).sqrt(),
        ];
        close64(&row[10..], &library, 1e-15, 1e-15);
    }
}

/// What an operation on f16 gives: computed in f64, where it is exact, and rounded once.
fn f16_bits(value: f64) -> u16 {
    f16::from_f64(value).to_bits()
}

#[track_caller]
fn same_halves(found: &[u16], expected: &[u16]) {
    assert_eq!(found.len(), expected.len());
    for (index, (&found, &expected)) in found.iter().zip(expected).enumerate() {
        let (f, e) = (f16::from_bits(found), f16::from_bits(expected));
        assert!(
            found == expected || f.is_nan() && e.is_nan(),
            "element {index}: {f} ({found:#x}) instead of {e} ({expected:#x})"
        );
    }
}

fn halves_f16(run: &Run) {
    let (a, b) = (run.input::<u16>(0), run.input::<u16>(1));
    let found: Vec<u16> = run.output(2);
    for ((row, &a), &b) in found.chunks(14).zip(&a).zip(&b) {
        let (hx, hy) = (f16::from_bits(a), f16::from_bits(b));
        let (x, y) = (hx.to_f64(), hy.to_f64());
        let less = minimum(hx.to_f32(), hy.to_f32());
        let more = -minimum(-hx.to_f32(), -hy.to_f32());
        let tenfold = f16::from_f64(x * 10.0).to_f64();
        let whole = if tenfold.is_nan() { 0 } else { tenfold as i32 };
        let saturated = if (x + y).is_nan() {
            0.0
        } else {
            f16::from_f64(x + y).to_f64().clamp(0.0, 1.0) + 0.0
        };
        same_halves(
            row,
            &[
                f16_bits(x + y),
                f16_bits(x - y),
                f16_bits(x * y),
                f16_bits(x.mul_add(y, x)),
                // Division goes through f32 and is corrected: the nearest f16, or its neighbour for subnormal results.
                nearest(row[4], f16_bits(x / y)),
                f16_bits(less.into()),
                f16_bits(more.into()),
                a ^ 0x8000,
                f16_bits(x.abs().sqrt()),
                f16_bits(x.floor()),
                f16::from_f32(hx.to_f32() * 1.5).to_bits(),
                f16_bits(whole.into()),
                if x < y { a } else { b },
                f16_bits(saturated),
            ],
        );
    }
}

/// The found bits if they are at most one step from the expected ones.
fn nearest(found: u16, expected: u16) -> u16 {
    if found.abs_diff(expected) <= 1 { found } else { expected }
}

fn halves_pairs(run: &Run) {
    let (a, b) = (run.input::<u16>(0), run.input::<u16>(1));
    let found: Vec<u16> = run.output(2);
    for ((row, a), b) in found.chunks(16).zip(a.chunks(2)).zip(b.chunks(2)) {
        let value = |bits: u16| f16::from_bits(bits).to_f64();
        let both = |f: &dyn Fn(f64, f64) -> f64| {
            [
                f16_bits(f(value(a[0]), value(b[0]))),
                f16_bits(f(value(a[1]), value(b[1]))),
            ]
        };
        let less = |x: f64, y: f64| minimum(x as f32, y as f32).into();
        let mut expected = Vec::new();
        expected.extend(both(&|x, y| x + y));
        expected.extend(both(&|x, y| x.mul_add(y, x)));
        expected.extend(both(&less));
        expected.extend(both(&|x, y| f64::from(x > y)));
        expected.extend([a[1], a[0]]);
        expected.extend([a[0], b[1]]);
        let (low, high) = (f16::from_bits(a[0]).to_f32() + 1.0, f16::from_bits(b[1]).to_f32() - 1.0);
        expected.extend([f16::from_f32(low).to_bits(), f16::from_f32(high).to_bits()]);
        expected.extend([a[0] | 0x8000, a[1] | 0x8000]);
        same_halves(row, &expected);
    }
}

fn halves_bf16(run: &Run) {
    let (a, b) = (run.input::<u16>(0), run.input::<u16>(1));
    let found: Vec<u16> = run.output(2);
    for ((row, &a), &b) in found.chunks(9).zip(&a).zip(&b) {
        let (bx, by) = (bf16::from_bits(a), bf16::from_bits(b));
        let (x, y) = (bx.to_f64(), by.to_f64());
        let bits = |value: f64| bf16_bits(value);
        let less = minimum(bx.to_f32(), by.to_f32());
        let more = -minimum(-bx.to_f32(), -by.to_f32());
        let expected = [
            bits(x + y),
            bits(x - y),
            bits(x * y),
            bits(x.mul_add(y, x)),
            bits(less.into()),
            bits(more.into()),
            bf16::from_f32(bx.to_f32() / 3.0).to_bits(),
            b | 0x8000,
            if x >= y { a } else { b },
        ];
        for (index, (&found, &expected)) in row.iter().zip(&expected).enumerate() {
            let (f, e) = (bf16::from_bits(found), bf16::from_bits(expected));
            assert!(
                found == expected || f.is_nan() && e.is_nan(),
                "result {index} of {x} and {y}: {f} ({found:#x}) instead of {e} ({expected:#x})"
            );
        }
    }
}

/// A f64 rounded once to bf16, ties to even.
fn bf16_bits(value: f64) -> u16 {
    if value.is_nan() {
        return 0x7fff;
    }
    // To f32 with the lost bits sticking to the last place, so that the second rounding is right.
    let mut single = value as f32;
    if single.is_finite() && f64::from(single) != value && single.to_bits() & 1 == 0 {
        let towards_value = f64::from(single).abs() < value.abs();
        single = f32::from_bits(if towards_value {
            single.to_bits() + 1
        } else {
            single.to_bits() - 1
        });
    }
    bf16::from_f32(single).to_bits()
}
