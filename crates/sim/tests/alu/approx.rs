//! The approximations, held to the PTX manual's bounds over dense sweeps, and their special cases.

use crate::harness::Op;
use crate::reference::Format;

/// f32 values over a range, evenly spread in their bits, `count` of each sign that the range has.
fn sweep(low: f32, high: f32, count: u32) -> Vec<f32> {
    let (low_bits, high_bits) = (low.to_bits(), high.to_bits());
    (0..=count)
        .map(|i| f32::from_bits(low_bits + (u64::from(high_bits - low_bits) * u64::from(i) / u64::from(count)) as u32))
        .collect()
}

fn both_signs(x: Vec<f32>) -> Vec<f32> {
    x.iter().flat_map(|x| [*x, -*x]).collect()
}

fn evaluate(op: &Op, x: &[f32]) -> Vec<f32> {
    let rows: Vec<Vec<u128>> = x.iter().map(|x| vec![x.to_bits().into()]).collect();
    op.all(&rows).iter().map(|out| f32::from_bits(out[0] as u32)).collect()
}

/// Holds `name` to a relative error over a sweep.
fn relative(name: &str, x: &[f32], bound: f64, exact: impl Fn(f64) -> f64) {
    for flag in ["", ".ftz"] {
        let op = Op::new("f32 d", "f32 a", &format!("{name}{flag}.f32 d, a;"));
        for (x, y) in x.iter().zip(evaluate(&op, x)) {
            let want = exact(f64::from(*x));
            // Subnormal results have fewer bits, and `.ftz` none at all.
            if want.abs() < 1.2e-38 || x.is_subnormal() || want.abs() > f64::from(f32::MAX) {
                continue;
            }
            let error = ((f64::from(y) - want) / want).abs();
            assert!(error <= bound, "{name}{flag}({x:e}) = {y:e}, not {want:e}: {error:e}");
        }
    }
}

fn absolute(name: &str, x: &[f32], bound: f64, exact: impl Fn(f64) -> f64) {
    for flag in ["", ".ftz"] {
        let op = Op::new("f32 d", "f32 a", &format!("{name}{flag}.f32 d, a;"));
        for (x, y) in x.iter().zip(evaluate(&op, x)) {
            let error = (f64::from(y) - exact(f64::from(*x))).abs();
            assert!(error <= bound, "{name}{flag}({x:e}) = {y:e}: {error:e}");
        }
    }
}

#[test]
fn reciprocals_and_roots_are_within_their_bounds() {
    let all = sweep(f32::MIN_POSITIVE, f32::MAX, 200_000);
    relative("rcp.approx", &both_signs(all.clone()), 2f64.powi(-23), |x| 1.0 / x);
    relative("sqrt.approx", &all, 2f64.powi(-23), f64::sqrt);
    relative("rsqrt.approx", &all, 2f64.powf(-22.9), |x| 1.0 / x.sqrt());
}

#[test]
fn sines_and_cosines_are_within_their_bounds() {
    let near = both_signs(sweep(1e-8, std::f32::consts::PI * 2.0, 100_000));
    absolute("sin.approx", &near, 2f64.powf(-20.5), f64::sin);
    absolute("cos.approx", &near, 2f64.powf(-20.5), f64::cos);
    let far = both_signs(sweep(6.2, std::f32::consts::PI * 100.0, 50_000));
    absolute("sin.approx", &far, 2f64.powf(-14.7), f64::sin);
    absolute("cos.approx", &far, 2f64.powf(-14.7), f64::cos);
}

#[test]
fn logarithms_and_exponentials_are_within_their_bounds() {
    let all = sweep(f32::MIN_POSITIVE, f32::MAX, 200_000);
    let (near, far): (Vec<f32>, Vec<f32>) = all.iter().partition(|x| **x > 0.5 && **x < 2.0);
    absolute("lg2.approx", &near, 2f64.powi(-22), f64::log2);
    absolute("lg2.approx", &sweep(0.5, 2.0, 100_000), 2f64.powi(-22), f64::log2);
    relative("lg2.approx", &far, 2f64.powi(-22), f64::log2);
    // Two units in the last place.
    relative(
        "ex2.approx",
        &both_signs(sweep(1e-10, 127.9, 200_000)),
        2f64.powi(-22),
        f64::exp2,
    );
}

#[test]
fn exponentials_and_logarithms_are_correctly_rounded_nearly_always() {
    // Not asked by PTX; it is what keeps results the same on every machine, and it shows that nothing was lost.
    let x = both_signs(sweep(1e-6, 120.0, 100_000));
    let op = Op::new("f32 d", "f32 a", "ex2.approx.f32 d, a;");
    let wrong = x
        .iter()
        .zip(evaluate(&op, &x))
        .filter(|(x, y)| *y != f64::from(**x).exp2() as f32)
        .count();
    assert!(wrong <= 2, "{wrong} of {}", x.len());
    let x = sweep(1e-30, 1e30, 100_000);
    let op = Op::new("f32 d", "f32 a", "lg2.approx.f32 d, a;");
    let wrong = x
        .iter()
        .zip(evaluate(&op, &x))
        .filter(|(x, y)| *y != f64::from(**x).log2() as f32)
        .count();
    assert!(wrong <= 2, "{wrong} of {}", x.len());
}

#[test]
fn hyperbolic_tangents_are_within_their_bounds() {
    let op = Op::new("f32 d", "f32 a", "tanh.approx.f32 d, a;");
    let x = both_signs(sweep(1e-30, 100.0, 100_000));
    for (x, y) in x.iter().zip(evaluate(&op, &x)) {
        let want = f64::from(*x).tanh();
        assert!(
            ((f64::from(y) - want) / want).abs() <= 2f64.powi(-11),
            "tanh({x:e}) = {y:e}"
        );
    }
}

#[test]
fn halves_are_within_their_bounds() {
    for (ty, widen) in [
        ("f16", (|x| f64::from(half::f16::from_bits(x))) as fn(u16) -> f64),
        ("bf16", |x| f64::from(half::bf16::from_bits(x))),
    ] {
        let rows: Vec<Vec<u128>> = (0..=u16::MAX).map(|x| vec![x.into()]).collect();
        let ftz = if ty == "bf16" { ".ftz" } else { "" };
        // Bounds of the manual: ex2 relative, tanh absolute.
        let (ex2, tanh) = if ty == "f16" {
            (2f64.powf(-9.9), 2f64.powf(-10.987))
        } else {
            (2f64.powi(-7), 2f64.powi(-8))
        };
        for (name, bound, exact, is_relative) in [
            (format!("ex2.approx{ftz}"), ex2, f64::exp2 as fn(f64) -> f64, true),
            ("tanh.approx".to_owned(), tanh, f64::tanh, false),
        ] {
            let op = Op::new("b16 d", "b16 a", &format!("{name}.{ty} d, a;"));
            let packed = Op::new("b32 d", "b32 a", &format!("{name}.{ty}x2 d, a;"));
            let outs = op.all(&rows);
            for (x, out) in rows.iter().zip(&outs) {
                let (x, y) = (widen(x[0] as u16), widen(out[0] as u16));
                let want = exact(x);
                if want.is_nan() {
                    assert_eq!(out[0], 0x7fff, "{}", op.code());
                } else if want.is_finite() && y.is_finite() && want > 1e-4 {
                    let error = (y - want).abs() / if is_relative { want } else { 1.0 };
                    assert!(error <= bound, "{}: {x} gives {y}, not {want}", op.code());
                }
            }
            let pairs: Vec<Vec<u128>> = rows.iter().map(|x| vec![x[0] << 16 | (x[0] ^ 0x5a5a)]).collect();
            packed.check(&pairs, |x| {
                outs[(x[0] >> 16) as usize][0] << 16 | outs[(x[0] & 0xffff) as usize][0]
            });
        }
    }
}

#[test]
fn special_operands_give_what_the_tables_say() {
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    let tiny = f32::from_bits(1);
    // Name, operand, result; NaN stands for the canonical one.
    let table: &[(&str, f32, f32)] = &[
        ("rcp.approx", -inf, -0.0),
        ("rcp.approx", -0.0, -inf),
        ("rcp.approx", 0.0, inf),
        ("rcp.approx", inf, 0.0),
        ("rcp.approx", nan, nan),
        ("rcp.approx.ftz", tiny, inf),
        ("rcp.approx.ftz", -tiny, -inf),
        ("rcp.approx.ftz", f32::MAX, 0.0),
        ("sqrt.approx", -inf, nan),
        ("sqrt.approx", -1.0, nan),
        ("sqrt.approx", -0.0, -0.0),
        ("sqrt.approx", inf, inf),
        ("sqrt.approx.ftz", -tiny, -0.0),
        ("rsqrt.approx", -inf, nan),
        ("rsqrt.approx", -1.0, nan),
        ("rsqrt.approx", -0.0, -inf),
        ("rsqrt.approx", 0.0, inf),
        ("rsqrt.approx", inf, 0.0),
        ("rsqrt.approx.ftz", -tiny, -inf),
        ("rsqrt.approx.ftz", tiny, inf),
        ("sin.approx", -inf, nan),
        ("sin.approx", -0.0, -0.0),
        ("sin.approx", 0.0, 0.0),
        ("sin.approx", inf, nan),
        ("sin.approx.ftz", -tiny, -0.0),
        ("cos.approx", -inf, nan),
        ("cos.approx", -0.0, 1.0),
        ("cos.approx", inf, nan),
        ("cos.approx.ftz", tiny, 1.0),
        ("lg2.approx", -inf, nan),
        ("lg2.approx", -0.0, -inf),
        ("lg2.approx", 0.0, -inf),
        ("lg2.approx", inf, inf),
        ("lg2.approx", tiny, -149.0),
        ("lg2.approx.ftz", tiny, -inf),
        ("lg2.approx", 1.0, 0.0),
        ("ex2.approx", -inf, 0.0),
        ("ex2.approx", -0.0, 1.0),
        ("ex2.approx", inf, inf),
        ("ex2.approx", nan, nan),
        ("ex2.approx", 128.0, inf),
        ("ex2.approx", -149.0, tiny),
        ("ex2.approx", -151.0, 0.0),
        ("ex2.approx.ftz", -127.0, 0.0),
        ("ex2.approx.ftz", tiny, 1.0),
        ("tanh.approx", -inf, -1.0),
        ("tanh.approx", inf, 1.0),
        ("tanh.approx", -0.0, -0.0),
        ("tanh.approx", tiny, tiny),
        ("tanh.approx", nan, nan),
    ];
    for (name, x, want) in table {
        let op = Op::new("f32 d", "f32 a", &format!("{name}.f32 d, a;"));
        let got = op.all(&[vec![x.to_bits().into()]])[0][0] as u32;
        let want = if want.is_nan() { 0x7fff_ffff } else { want.to_bits() };
        assert_eq!(got, want, "{name}({x:e})");
    }
}

#[test]
fn gross_f64_approximations_have_a_zero_low_word() {
    for (name, exact) in [
        ("rcp.approx.ftz.f64", (|x: f64| 1.0 / x) as fn(f64) -> f64),
        ("rsqrt.approx.ftz.f64", |x| 1.0 / x.sqrt()),
    ] {
        let op = Op::new("f64 d", "f64 a", &format!("{name} d, a;"));
        let x: Vec<f64> = (1..40_000)
            .map(|i| f64::from_bits(0x0010_0000_0000_0000 + 230_000_000_000_000 * i))
            .collect();
        let rows: Vec<Vec<u128>> = x.iter().map(|x| vec![x.to_bits().into()]).collect();
        for (x, out) in x.iter().zip(op.all(&rows)) {
            assert_eq!(out[0] & 0xffff_ffff, 0, "{name}({x:e})");
            let (y, want) = (f64::from_bits(out[0] as u64), exact(*x));
            if want.is_normal() {
                assert!(((y - want) / want).abs() <= 2f64.powi(-18), "{name}({x:e}) = {y:e}");
            }
        }
        let zero = op.all(&[vec![0], vec![1], vec![1 << 63]]);
        assert_eq!(zero[0][0], 0x7ff0_0000_0000_0000, "{name} of zero");
        assert_eq!(zero[1][0], 0x7ff0_0000_0000_0000, "{name} of a subnormal");
        assert_eq!(zero[2][0], 0xfff0_0000_0000_0000, "{name} of -0");
    }
    let op = Op::new("f64 d", "f64 a", "rsqrt.approx.f64 d, a;");
    let format = Format::of("f64");
    let rows = crate::harness::floats("f64", 1, "rsqrt", 2000);
    for (x, out) in rows.iter().zip(op.all(&rows)) {
        let want = 1.0 / f64::from_bits(x[0] as u64).sqrt();
        if let Some(nan) = format.nan_of(&x[..1]) {
            assert_eq!(out[0], nan);
        } else if want.is_nan() {
            assert_eq!(out[0], format.nan());
        } else if want == 0.0 {
            assert_eq!(out[0], 0);
        } else if want.is_finite() {
            assert!(
                (f64::from_bits(out[0] as u64) / want - 1.0).abs() < 1e-15,
                "{:e}",
                f64::from_bits(x[0] as u64)
            );
        }
    }
}
