//! Comparisons, conversions, moves.

use super::{COMPARISONS, Group, INTS, Operands, ROUNDS, width};

pub(super) fn comparisons(all: &mut Vec<Group>) {
    for ty in INTS
        .into_iter()
        .chain(["b16", "b32", "b64", "f32", "f64", "f16", "bf16"])
    {
        let float = ty.contains('f');
        let operands = if float {
            Operands::Floats(if ty == "f32" {
                "f32"
            } else if ty == "f64" {
                "f64"
            } else if ty == "f16" {
                "f16"
            } else {
                "bf16"
            })
        } else {
            Operands::Integers
        };
        let names: Vec<&str> = match ty {
            _ if float => COMPARISONS.to_vec(),
            _ if ty.starts_with('b') => vec!["eq", "ne"],
            _ if ty.starts_with('u') => vec!["eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"],
            _ => COMPARISONS[..6].to_vec(),
        };
        let flags: &[&str] = if matches!(ty, "f32" | "f16") {
            &["", ".ftz"]
        } else {
            &[""]
        };
        // Of the halves' comparisons, only the packed ones have a second predicate.
        let (outs, p): (&[&str], &str) = if matches!(ty, "f16" | "bf16") {
            (&["pred"], "p0")
        } else {
            (&["pred", "pred"], "p0|p1")
        };
        let mut predicates = Group::new(&format!("setp_{ty}"), outs, &[ty, ty, "pred"], operands);
        predicates.operands[2] = Operands::Integers;
        for ftz in flags {
            for name in &names {
                predicates.exact(format!("setp.{name}{ftz}.{ty} {p}, a, b;"));
            }
            for combine in ["and", "or", "xor"] {
                predicates.exact(format!("setp.{}.{combine}{ftz}.{ty} {p}, a, b, c;", names[1]));
                predicates.exact(format!("setp.{}.{combine}{ftz}.{ty} {p}, a, b, !c;", names[0]));
            }
        }
        all.push(predicates);
        let results: &[&str] = match ty {
            "f16" => &["u16", "s16", "u32", "s32", "f16"],
            "bf16" => &["u16", "u32", "bf16"],
            _ => &["u32", "s32", "f32"],
        };
        for to in results {
            let mut values = Group::new(&format!("set_{to}_{ty}"), &[to], &[ty, ty, "pred"], operands);
            values.operands[2] = Operands::Integers;
            for name in &names {
                values.exact(format!("set.{name}.{to}.{ty} d, a, b;"));
            }
            values.exact(format!("set.{}.xor.{to}.{ty} d, a, b, !c;", names[0]));
            all.push(values);
        }
    }
    for ty in ["f16", "bf16"] {
        let mut predicates = Group::new(
            &format!("setp_{ty}x2"),
            &["pred", "pred"],
            &["b32", "b32", "pred"],
            Operands::Floats(ty),
        );
        predicates.operands[2] = Operands::Integers;
        let mut values = Group::new(&format!("set_{ty}x2"), &["b32"], &["b32", "b32"], Operands::Floats(ty));
        for name in COMPARISONS {
            predicates.exact(format!("setp.{name}.{ty}x2 p0|p1, a, b;"));
            predicates.exact(format!("setp.{name}.and.{ty}x2 p0|p1, a, b, c;"));
            values.exact(format!("set.{name}.{ty}x2.{ty}x2 d, a, b;"));
            values.exact(format!("set.{name}.u32.{ty}x2 d, a, b;"));
        }
        all.extend([predicates, values]);
    }
    for ty in ["f32", "f64"] {
        let mut kinds = Group::new(&format!("testp_{ty}"), &["pred"], &[ty], Operands::Floats(ty));
        for what in ["finite", "infinite", "number", "notanumber", "normal", "subnormal"] {
            kinds.exact(format!("testp.{what}.{ty} p0, a;"));
        }
        all.push(kinds);
    }
}

pub(super) fn conversions(all: &mut Vec<Group>) {
    let ints = ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"];
    let floats = ["f16", "bf16", "f32", "f64"];
    for from in ints {
        for to in ints {
            let mut group = Group::new(&format!("cvt_{to}_{from}"), &[to], &[from], Operands::Integers);
            group.exact(format!("cvt.{to}.{from} d, a;"));
            // Where the result's type holds every operand, PTX does not take `.sat`.
            let (to_signed, from_signed) = (to.starts_with('s'), from.starts_with('s'));
            let room = width(to) - u32::from(to_signed && !from_signed);
            if room < width(from) || (from_signed && !to_signed) {
                group.exact(format!("cvt.sat.{to}.{from} d, a;"));
            }
            all.push(group);
        }
        // bf16 has no conversions from and to 8 bits.
        for to in floats.into_iter().filter(|to| *to != "bf16" || width(from) > 8) {
            let mut group = Group::new(&format!("cvt_{to}_{from}"), &[to], &[from], Operands::Integers);
            for round in ROUNDS {
                group.exact(format!("cvt.{round}.{to}.{from} d, a;"));
            }
            all.push(group);
        }
    }
    for from in floats {
        for to in ints.into_iter().filter(|to| from != "bf16" || width(to) > 8) {
            let mut group = Group::new(&format!("cvt_{to}_{from}"), &[to], &[from], Operands::Floats(from));
            for round in ["rni", "rzi", "rmi", "rpi"] {
                group.exact(format!("cvt.{round}.{to}.{from} d, a;"));
                if from == "f32" {
                    group.exact(format!("cvt.{round}.ftz.{to}.{from} d, a;"));
                }
            }
            all.push(group);
        }
        for to in floats {
            let mut group = Group::new(&format!("cvt_{to}_{from}"), &[to], &[from], Operands::Floats(from));
            let single = from == "f32" || to == "f32";
            for ftz in if single { &["", ".ftz"][..] } else { &[""] } {
                if from == to {
                    for round in ["rni", "rzi", "rmi", "rpi"] {
                        group.exact(format!("cvt.{round}{ftz}.{to}.{from} d, a;"));
                    }
                } else if width(to) > width(from) {
                    group.exact(format!("cvt{ftz}.{to}.{from} d, a;"));
                    // bf16 is no type that saturates.
                    if from != "bf16" {
                        group.exact(format!("cvt{ftz}.sat.{to}.{from} d, a;"));
                    }
                } else {
                    for round in ROUNDS {
                        group.exact(format!("cvt.{round}{ftz}.{to}.{from} d, a;"));
                        if to != "bf16" && from != "bf16" {
                            group.exact(format!("cvt.{round}{ftz}.sat.{to}.{from} d, a;"));
                        }
                    }
                }
            }
            if from == "f32" && width(to) == 16 {
                for flags in ["rn.relu", "rz.relu", "rn.satfinite", "rz.relu.satfinite"] {
                    group.exact(format!("cvt.{flags}.{to}.f32 d, a;"));
                }
            }
            all.push(group);
        }
    }
    // Just below the smallest normal f32, where it matters when tininess is told: before rounding or after.
    let mut edge = Group::new("cvt_tiny", &["f32"], &["b32"], Operands::Integers);
    for round in ROUNDS {
        edge.exact(format!(
            "{{ .reg .f64 t; .reg .b32 l, h; or.b32 l, a, 0xe0000000; mov.b32 h, 0x380fffff; mov.b64 t, {{l, h}}; \
             cvt.{round}.ftz.f32.f64 d, t; }}"
        ));
    }
    all.push(edge);
    let mut two = Group::new("cvt_x2_f32", &["b32"], &["f32", "f32"], Operands::Floats("f32"));
    for to in ["f16x2", "bf16x2"] {
        for flags in ["rn", "rz", "rn.relu", "rz.relu", "rn.satfinite", "rn.relu.satfinite"] {
            two.exact(format!("cvt.{flags}.{to}.f32 d, a, b;"));
        }
    }
    for flags in ["rna", "rna.satfinite", "rn", "rz", "rn.relu", "rz.relu"] {
        two.exact(format!("cvt.{flags}.tf32.f32 d, a;"));
    }
    all.push(two);
    let mut bytes = Group::new("cvt_f8_f32", &["b16"], &["f32", "f32"], Operands::Floats("f32"));
    let mut narrow = Group::new("cvt_f8_f16", &["b16"], &["b32"], Operands::Floats("f16"));
    let mut widen = Group::new("cvt_f16_f8", &["b32"], &["b16"], Operands::Integers);
    for ty in ["e4m3x2", "e5m2x2"] {
        for relu in ["", ".relu"] {
            bytes.exact(format!("cvt.rn.satfinite{relu}.{ty}.f32 d, a, b;"));
            narrow.exact(format!("cvt.rn.satfinite{relu}.{ty}.f16x2 d, a;"));
            widen.exact(format!("cvt.rn{relu}.f16x2.{ty} d, a;"));
        }
    }
    all.extend([bytes, narrow, widen]);
    let mut pack = Group::new("cvt_pack", &["b32"], &["b32", "b32", "b32"], Operands::Integers);
    for ty in ["u16", "s16"] {
        pack.exact(format!("cvt.pack.sat.{ty}.s32 d, a, b;"));
    }
    for ty in ["u8", "s8", "u4", "s4", "u2", "s2"] {
        pack.exact(format!("cvt.pack.sat.{ty}.s32.b32 d, a, b, c;"));
    }
    all.push(pack);
}

pub(super) fn moves(all: &mut Vec<Group>) {
    for ty in ["b16", "b32", "b64"] {
        let mut group = Group::new(&format!("mov_{ty}"), &[ty], &[ty, ty, "pred"], Operands::Integers);
        group.exact(format!("mov.{ty} d, a;"));
        group.exact(format!("selp.{ty} d, a, b, c;"));
        group.exact(format!("selp.{ty} d, a, b, !c;"));
        all.push(group);
    }
    let mut pack = Group::new("mov_pack", &["b64"], &["b32", "b32"], Operands::Integers);
    pack.exact("mov.b64 d, {a, b};");
    pack.exact("{ .reg .b16 h<4>; mov.b32 {h0, h1}, a; mov.b32 {h2, h3}, b; mov.b64 d, {h3, h0, h2, h1}; }");
    pack.exact("{ .reg .b32 t<2>; mov.b64 d, {a, b}; mov.b64 {t0, t1}, d; mov.b64 d, {t1, t0}; }");
    all.push(pack);
}
