//! Floats of every width, and the approximations.

use super::{Group, Operands, ROUNDS};

pub(super) fn floats(all: &mut Vec<Group>) {
    for ty in ["f32", "f64"] {
        let single = ty == "f32";
        let flags: &[&str] = if single { &["", ".ftz"] } else { &[""] };
        let mut one = Group::new(&format!("float1_{ty}"), &[ty], &[ty], Operands::Floats(ty));
        let mut two = Group::new(&format!("float2_{ty}"), &[ty], &[ty, ty], Operands::Floats(ty));
        let mut three = Group::new(&format!("float3_{ty}"), &[ty], &[ty, ty, ty], Operands::Floats(ty));
        for ftz in flags {
            for round in ROUNDS {
                for sat in if single { &["", ".sat"][..] } else { &[""] } {
                    for name in ["add", "sub", "mul"] {
                        two.exact(format!("{name}.{round}{ftz}{sat}.{ty} d, a, b;"));
                    }
                    three.exact(format!("fma.{round}{ftz}{sat}.{ty} d, a, b, c;"));
                }
                two.exact(format!("div.{round}{ftz}.{ty} d, a, b;"));
                one.exact(format!("rcp.{round}{ftz}.{ty} d, a;"));
                one.exact(format!("sqrt.{round}{ftz}.{ty} d, a;"));
            }
            one.exact(format!("abs{ftz}.{ty} d, a;"));
            one.exact(format!("neg{ftz}.{ty} d, a;"));
            for name in ["min", "max"] {
                two.exact(format!("{name}{ftz}.{ty} d, a, b;"));
                if single {
                    two.exact(format!("{name}{ftz}.NaN.{ty} d, a, b;"));
                    two.exact(format!("{name}{ftz}.xorsign.abs.{ty} d, a, b;"));
                    two.exact(format!("{name}{ftz}.NaN.xorsign.abs.{ty} d, a, b;"));
                }
            }
        }
        two.exact(format!("copysign.{ty} d, a, b;"));
        if single {
            three.exact("slct.f32.f32 d, a, b, c;");
            three.exact("slct.ftz.f32.f32 d, a, b, c;");
        }
        all.extend([one, two, three]);
    }
}

pub(super) fn halves(all: &mut Vec<Group>) {
    for ty in ["f16", "bf16"] {
        for packed in [false, true] {
            let (register, name) = if packed {
                ("b32", format!("{ty}x2"))
            } else {
                ("b16", ty.to_owned())
            };
            let flags: &[&str] = if ty == "f16" { &["", ".ftz"] } else { &[""] };
            let mut two = Group::new(
                &format!("half2_{name}"),
                &[register],
                &[register; 2],
                Operands::Floats(ty),
            );
            let mut three = Group::new(
                &format!("half3_{name}"),
                &[register],
                &[register; 3],
                Operands::Floats(ty),
            );
            for ftz in flags {
                for sat in if ty == "f16" { &["", ".sat"][..] } else { &[""] } {
                    for op in ["add", "sub", "mul"] {
                        two.exact(format!("{op}.rn{ftz}{sat}.{name} d, a, b;"));
                    }
                    three.exact(format!("fma.rn{ftz}{sat}.{name} d, a, b, c;"));
                }
                three.exact(format!("fma.rn{ftz}.relu.{name} d, a, b, c;"));
                for op in ["min", "max"] {
                    for nan in ["", ".NaN"] {
                        two.exact(format!("{op}{ftz}{nan}.{name} d, a, b;"));
                        two.exact(format!("{op}{ftz}{nan}.xorsign.abs.{name} d, a, b;"));
                    }
                }
                two.exact(format!("abs{ftz}.{name} d, a;"));
                two.exact(format!("neg{ftz}.{name} d, a;"));
            }
            all.extend([two, three]);
        }
    }
}

pub(super) fn approximations(all: &mut Vec<Group>) {
    let everywhere: fn(&[f64]) -> bool = |_| true;
    let near: fn(&[f64]) -> bool = |x| x[0].abs() <= 2.0 * std::f64::consts::PI;
    let mut one = Group::new("approx1_f32", &["f32"], &["f32"], Operands::Floats("f32"));
    let mut two = Group::new("approx2_f32", &["f32"], &["f32", "f32"], Operands::Floats("f32"));
    for ftz in ["", ".ftz"] {
        one.within(
            format!("rcp.approx{ftz}.f32 d, a;"),
            "f32",
            (2f64.powi(-23), 0.0),
            everywhere,
        );
        one.within(
            format!("sqrt.approx{ftz}.f32 d, a;"),
            "f32",
            (2f64.powi(-23), 0.0),
            everywhere,
        );
        one.within(
            format!("rsqrt.approx{ftz}.f32 d, a;"),
            "f32",
            (2f64.powf(-22.9), 0.0),
            everywhere,
        );
        one.within(
            format!("sin.approx{ftz}.f32 d, a;"),
            "f32",
            (0.0, 2f64.powf(-20.5)),
            near,
        );
        one.within(
            format!("cos.approx{ftz}.f32 d, a;"),
            "f32",
            (0.0, 2f64.powf(-20.5)),
            near,
        );
        one.within(
            format!("lg2.approx{ftz}.f32 d, a;"),
            "f32",
            (2f64.powi(-22), 2f64.powi(-22)),
            everywhere,
        );
        one.within(
            format!("ex2.approx{ftz}.f32 d, a;"),
            "f32",
            (2f64.powi(-22), 0.0),
            everywhere,
        );
        two.within(
            format!("div.approx{ftz}.f32 d, a, b;"),
            "f32",
            (2f64.powi(-22), 0.0),
            |x| x[1].abs() >= 2f64.powi(-126) && x[1].abs() <= 2f64.powi(126),
        );
        two.within(
            format!("div.full{ftz}.f32 d, a, b;"),
            "f32",
            (2f64.powi(-22), 0.0),
            everywhere,
        );
    }
    one.within("tanh.approx.f32 d, a;", "f32", (2f64.powi(-11), 0.0), everywhere);
    let mut double = Group::new("approx1_f64", &["f64"], &["f64"], Operands::Floats("f64"));
    double.within("rcp.approx.ftz.f64 d, a;", "f64", (2f64.powi(-18), 0.0), everywhere);
    double.within("rsqrt.approx.ftz.f64 d, a;", "f64", (2f64.powi(-18), 0.0), everywhere);
    double.within("rsqrt.approx.f64 d, a;", "f64", (2f64.powi(-51), 0.0), everywhere);
    let mut f16 = Group::new("approx1_f16", &["b16"], &["b16"], Operands::Floats("f16"));
    f16.within("ex2.approx.f16 d, a;", "f16", (2f64.powf(-9.9), 0.0), everywhere);
    f16.within("tanh.approx.f16 d, a;", "f16", (0.0, 2f64.powf(-10.987)), everywhere);
    let mut bf16 = Group::new("approx1_bf16", &["b16"], &["b16"], Operands::Floats("bf16"));
    bf16.within("ex2.approx.ftz.bf16 d, a;", "bf16", (2f64.powi(-7), 0.0), everywhere);
    bf16.within("tanh.approx.bf16 d, a;", "bf16", (0.0, 2f64.powi(-8)), everywhere);
    all.extend([one, two, double, f16, bf16]);
}
