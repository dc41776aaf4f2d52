//! Every register-only instruction, type and modifier that a card of compute capability 9.0 has, as lines of PTX.
//!
//! Cases with the same operands and results form a group: one kernel, which loads a thread's operands once and stores the
//! result of every case. Operands are named `a`, `b`, `c`, results `d`, `p`.

/// How closely the emulator follows the hardware.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Closeness {
    /// Bit for bit.
    Exact,
    /// An approximation: each is within this error of the exact result, so that they are within twice that of each other.
    Within {
        /// Type of the result.
        ty: &'static str,
        /// Of the result.
        relative: f64,
        /// Whatever the result.
        absolute: f64,
        /// Whether the manual gives a bound for these operands.
        bounded: fn(&[f64]) -> bool,
    },
}

/// One line of PTX, or a few that belong together.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// The instructions.
    pub(crate) code: String,
    /// What may differ.
    pub(crate) closeness: Closeness,
}

/// How a group's operands are made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Operands {
    /// Integers of the operands' own widths, or pairs of halves: any bits.
    Integers,
    /// Floats of this type; a packed operand holds two.
    Floats(&'static str),
    /// Small whole numbers of this type, so that sums of products are exact.
    Whole(&'static str),
}

/// Cases that share operands.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// Name of the kernel.
    pub(crate) name: String,
    /// Types of the operands' registers.
    pub(crate) ins: Vec<(&'static str, String)>,
    /// Types of the results' registers.
    pub(crate) outs: Vec<(&'static str, String)>,
    /// What is in the operands.
    pub(crate) operands: Vec<Operands>,
    /// The cases.
    pub(crate) cases: Vec<Case>,
}

const LETTERS: [&str; 5] = ["a", "b", "c", "e", "f"];
const ROUNDS: [&str; 4] = ["rn", "rz", "rm", "rp"];
const INTS: [&str; 6] = ["u16", "s16", "u32", "s32", "u64", "s64"];
const COMPARISONS: [&str; 14] = [
    "eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan",
];

fn width(ty: &str) -> u32 {
    match ty {
        "pred" => 1,
        _ if ty.ends_with("x2") => 32,
        _ => ty.trim_start_matches(|c: char| c.is_alphabetic()).parse().unwrap_or(32),
    }
}

/// The register type for an operand of a type.
fn register(ty: &str) -> &'static str {
    match (ty, width(ty)) {
        ("pred", _) => "pred",
        ("f32", _) => "f32",
        ("f64", _) => "f64",
        (_, 1..=16) => "b16",
        (_, 32) => "b32",
        (_, 64) => "b64",
        _ => "b128",
    }
}

impl Group {
    /// `name`: a group whose operands `ins` all hold `operands`, with a result of each type of `outs`.
    fn new(name: &str, outs: &[&str], ins: &[&str], operands: Operands) -> Self {
        Self {
            name: name.to_owned(),
            ins: ins
                .iter()
                .enumerate()
                .map(|(i, ty)| (register(ty), LETTERS[i].to_owned()))
                .collect(),
            outs: outs
                .iter()
                .enumerate()
                .map(|(i, ty)| {
                    (
                        register(ty),
                        if i == 0 && *ty != "pred" {
                            "d".to_owned()
                        } else {
                            format!("p{i}")
                        },
                    )
                })
                .collect(),
            operands: vec![operands; ins.len()],
            cases: Vec::new(),
        }
    }

    fn exact(&mut self, code: impl Into<String>) {
        self.cases.push(Case {
            code: code.into(),
            closeness: Closeness::Exact,
        });
    }

    fn within(
        &mut self,
        code: impl Into<String>,
        ty: &'static str,
        (relative, absolute): (f64, f64),
        bounded: fn(&[f64]) -> bool,
    ) {
        self.cases.push(Case {
            code: code.into(),
            closeness: Closeness::Within {
                ty,
                relative,
                absolute,
                bounded,
            },
        });
    }
}

/// All groups.
pub(crate) fn groups() -> Vec<Group> {
    let mut all = Vec::new();
    integers(&mut all);
    carries(&mut all);
    bits(&mut all);
    floats(&mut all);
    halves(&mut all);
    approximations(&mut all);
    comparisons(&mut all);
    conversions(&mut all);
    moves(&mut all);
    warp(&mut all);
    matrices(&mut all);
    all
}

fn integers(all: &mut Vec<Group>) {
    for ty in INTS {
        let signed = ty.starts_with('s');
        let mut two = Group::new(&format!("int2_{ty}"), &[ty], &[ty, ty], Operands::Integers);
        for name in ["add", "sub", "mul.lo", "mul.hi", "div", "rem", "min", "max"] {
            two.exact(format!("{name}.{ty} d, a, b;"));
        }
        if signed {
            two.exact(format!("abs.{ty} d, a;"));
            two.exact(format!("neg.{ty} d, a;"));
        }
        if matches!(ty, "u32" | "s32") {
            two.exact(format!("mul24.lo.{ty} d, a, b;"));
            two.exact(format!("mul24.hi.{ty} d, a, b;"));
        }
        if ty == "s32" {
            for name in ["add.sat", "sub.sat", "min.relu", "max.relu"] {
                two.exact(format!("{name}.{ty} d, a, b;"));
            }
        }
        all.push(two);
        let mut three = Group::new(&format!("int3_{ty}"), &[ty], &[ty, ty, ty], Operands::Integers);
        for name in ["mad.lo", "mad.hi", "sad"] {
            three.exact(format!("{name}.{ty} d, a, b, c;"));
        }
        if matches!(ty, "u32" | "s32") {
            three.exact(format!("mad24.lo.{ty} d, a, b, c;"));
            three.exact(format!("mad24.hi.{ty} d, a, b, c;"));
            for other in ["u32", "s32"] {
                three.exact(format!("dp4a.{ty}.{other} d, a, b, c;"));
                three.exact(format!("dp2a.lo.{ty}.{other} d, a, b, c;"));
                three.exact(format!("dp2a.hi.{ty}.{other} d, a, b, c;"));
            }
        }
        if ty == "s32" {
            three.exact("mad.hi.sat.s32 d, a, b, c;");
            three.exact("mad24.hi.sat.s32 d, a, b, c;");
        }
        all.push(three);
        if width(ty) < 64 {
            let wide = if width(ty) == 16 { "b32" } else { "b64" };
            let mut group = Group::new(&format!("wide_{ty}"), &[wide], &[ty, ty, wide], Operands::Integers);
            group.exact(format!("mul.wide.{ty} d, a, b;"));
            group.exact(format!("mad.wide.{ty} d, a, b, c;"));
            all.push(group);
        }
    }
    let mut packed = Group::new("packed_16x2", &["b32"], &["b32", "b32"], Operands::Integers);
    for ty in ["u16x2", "s16x2"] {
        for name in ["add", "min", "max"] {
            packed.exact(format!("{name}.{ty} d, a, b;"));
        }
    }
    packed.exact("min.relu.s16x2 d, a, b;");
    packed.exact("max.relu.s16x2 d, a, b;");
    all.push(packed);
}

fn carries(all: &mut Vec<Group>) {
    for ty in ["u32", "s32", "u64", "s64"] {
        let mut group = Group::new(&format!("carry_{ty}"), &[ty], &[ty, ty, ty, ty], Operands::Integers);
        // The flag is set by a sum or difference, and its value added to a result.
        for first in ["add.cc", "sub.cc"] {
            let same = if first == "add.cc" { "addc" } else { "subc" };
            group.exact(format!("{first}.{ty} d, a, b; {same}.{ty} d, c, e;"));
            group.exact(format!(
                "{first}.{ty} d, a, b; {same}.cc.{ty} d, c, e; {same}.{ty} d, 5, 3;"
            ));
        }
        for part in ["lo", "hi"] {
            group.exact(format!("add.cc.{ty} d, a, b; madc.{part}.{ty} d, b, c, e;"));
            group.exact(format!("mad.{part}.cc.{ty} d, a, b, c; addc.{ty} d, e, 0;"));
            group.exact(format!(
                "add.cc.{ty} d, a, b; madc.{part}.cc.{ty} d, b, c, e; addc.{ty} d, a, 0;"
            ));
        }
        all.push(group);
    }
}

fn bits(all: &mut Vec<Group>) {
    for ty in ["b16", "b32", "b64"] {
        let mut two = Group::new(
            &format!("logic_{ty}"),
            &[ty],
            &[ty, ty, "b32", "b32"],
            Operands::Integers,
        );
        for name in ["and", "or", "xor"] {
            two.exact(format!("{name}.{ty} d, a, b;"));
        }
        two.exact(format!("not.{ty} d, a;"));
        two.exact(format!("cnot.{ty} d, a;"));
        let n = width(ty);
        for shift in [
            format!("shl.b{n}"),
            format!("shr.b{n}"),
            format!("shr.u{n}"),
            format!("shr.s{n}"),
        ] {
            two.exact(format!("{shift} d, a, c;"));
        }
        two.exact(format!("slct.b{n}.s32 d, a, b, c;"));
        if n > 16 {
            two.exact(format!("brev.{ty} d, a;"));
            two.exact(format!("bfi.{ty} d, a, b, c, e;"));
            two.exact(format!("bfe.u{n} d, a, c, e;"));
            two.exact(format!("bfe.s{n} d, a, c, e;"));
        }
        all.push(two);
        if n > 16 {
            let mut count = Group::new(&format!("count_{ty}"), &["b32"], &[ty], Operands::Integers);
            for name in [
                format!("popc.{ty}"),
                format!("clz.{ty}"),
                format!("bfind.u{n}"),
                format!("bfind.s{n}"),
                format!("bfind.shiftamt.u{n}"),
                format!("bfind.shiftamt.s{n}"),
            ] {
                count.exact(format!("{name} d, a;"));
            }
            all.push(count);
        }
    }
    let mut words = Group::new("words", &["b32"], &["b32", "b32", "b32"], Operands::Integers);
    for table in [0x00, 0x80, 0xfe, 0x96, 0xe8, 0xca, 0xb8, 0x3c, 0x1d, 0xff] {
        words.exact(format!("lop3.b32 d, a, b, c, {table:#x};"));
    }
    for direction in ["l", "r"] {
        for mode in ["wrap", "clamp"] {
            words.exact(format!("shf.{direction}.{mode}.b32 d, a, b, c;"));
        }
    }
    for mode in ["", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"] {
        words.exact(format!("prmt.b32{mode} d, a, b, c;"));
    }
    for mode in ["clamp", "wrap"] {
        words.exact(format!("bmsk.{mode}.b32 d, a, b;"));
        words.exact(format!("szext.{mode}.u32 d, a, b;"));
        words.exact(format!("szext.{mode}.s32 d, a, b;"));
    }
    // A base past 31 is undefined, and an offset far past the word is nothing that anyone asks for.
    words.exact("{ .reg .b32 s, t; and.b32 s, b, 31; bfe.s32 t, c, 0, 7; fns.b32 d, a, s, t; }");
    all.push(words);
    let mut with_predicate = Group::new(
        "lop3_predicate",
        &["b32", "pred"],
        &["b32", "b32", "b32", "pred"],
        Operands::Integers,
    );
    with_predicate.exact("lop3.or.b32 d|p1, a, b, c, 0x80, e;");
    with_predicate.exact("lop3.and.b32 d|p1, a, b, c, 0x80, e;");
    with_predicate.exact("lop3.and.b32 d|p1, a, b, c, 0x96, !e;");
    all.push(with_predicate);
    let mut predicates = Group::new("predicates", &["pred"], &["pred", "pred"], Operands::Integers);
    for name in ["and", "or", "xor"] {
        predicates.exact(format!("{name}.pred p0, a, b;"));
    }
    predicates.exact("not.pred p0, a;");
    all.push(predicates);
}

fn floats(all: &mut Vec<Group>) {
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

fn halves(all: &mut Vec<Group>) {
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

fn approximations(all: &mut Vec<Group>) {
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

fn comparisons(all: &mut Vec<Group>) {
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

fn conversions(all: &mut Vec<Group>) {
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

fn moves(all: &mut Vec<Group>) {
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

fn warp(all: &mut Vec<Group>) {
    let mut shuffles = Group::new("shfl", &["b32", "pred"], &["b32", "b32"], Operands::Integers);
    for mode in ["up", "down", "bfly", "idx"] {
        for width in [32, 16, 8, 2] {
            let c = (32 - width) << 8 | if mode == "up" { 0 } else { 31 };
            shuffles.exact(format!("shfl.sync.{mode}.b32 d|p1, a, b, {c:#x}, -1;"));
            shuffles.exact(format!("shfl.sync.{mode}.b32 d|p1, a, 3, {c:#x}, -1;"));
        }
        // A clamp in the middle of the warp.
        shuffles.exact(format!("shfl.sync.{mode}.b32 d|p1, a, b, 0x0a, -1;"));
    }
    all.push(shuffles);
    let mut votes = Group::new("vote", &["b32"], &["pred", "b32"], Operands::Integers);
    votes.exact("vote.sync.ballot.b32 d, a, -1;");
    votes.exact("vote.sync.ballot.b32 d, !a, -1;");
    for mode in ["all", "any", "uni"] {
        votes.exact(format!(
            "{{ .reg .pred q; vote.sync.{mode}.pred q, a, -1; selp.b32 d, 1, 0, q; }}"
        ));
    }
    // Few distinct values, so that some lanes match.
    votes.exact("{ .reg .b32 t; and.b32 t, b, 3; match.any.sync.b32 d, t, -1; }");
    votes.exact("{ .reg .b32 t; .reg .pred q; and.b32 t, b, 3; match.all.sync.b32 d|q, t, -1; }");
    votes.exact("{ .reg .b32 t; .reg .pred q; and.b32 t, b, 0; match.all.sync.b32 d|q, t, -1; selp.b32 d, d, 7, q; }");
    votes.exact("activemask.b32 d;");
    votes.exact("{ .reg .pred q; elect.sync d|q, -1; @q add.u32 d, d, 100; }");
    for op in ["add", "min", "max"] {
        for ty in ["u32", "s32"] {
            votes.exact(format!("redux.sync.{op}.{ty} d, b, -1;"));
        }
    }
    for op in ["and", "or", "xor"] {
        votes.exact(format!("redux.sync.{op}.b32 d, b, -1;"));
    }
    votes.exact("movmatrix.sync.aligned.m8n8.trans.b16 d, b;");
    all.push(votes);
}

/// A product, its shape, its factors' type, and registers of d, a, b, c.
type Product = (&'static str, &'static str, [&'static str; 4], [usize; 4]);

fn matrices(all: &mut Vec<Group>) {
    let products: &[Product] = &[
        (
            "m16n8k8.row.col.f32.f16.f16.f32",
            "f16",
            ["f32", "b32", "b32", "f32"],
            [4, 2, 1, 4],
        ),
        (
            "m16n8k8.row.col.f16.f16.f16.f16",
            "f16",
            ["b32", "b32", "b32", "b32"],
            [2, 2, 1, 2],
        ),
        (
            "m16n8k16.row.col.f32.f16.f16.f32",
            "f16",
            ["f32", "b32", "b32", "f32"],
            [4, 4, 2, 4],
        ),
        (
            "m16n8k16.row.col.f16.f16.f16.f16",
            "f16",
            ["b32", "b32", "b32", "b32"],
            [2, 4, 2, 2],
        ),
        (
            "m16n8k8.row.col.f32.bf16.bf16.f32",
            "bf16",
            ["f32", "b32", "b32", "f32"],
            [4, 2, 1, 4],
        ),
        (
            "m16n8k16.row.col.f32.bf16.bf16.f32",
            "bf16",
            ["f32", "b32", "b32", "f32"],
            [4, 4, 2, 4],
        ),
        (
            "m16n8k4.row.col.f32.tf32.tf32.f32",
            "f32",
            ["f32", "b32", "b32", "f32"],
            [4, 2, 1, 4],
        ),
        (
            "m16n8k8.row.col.f32.tf32.tf32.f32",
            "f32",
            ["f32", "b32", "b32", "f32"],
            [4, 4, 2, 4],
        ),
        (
            "m16n8k32.row.col.f32.e4m3.e5m2.f32",
            "e4m3",
            ["f32", "b32", "b32", "f32"],
            [4, 4, 2, 4],
        ),
        (
            "m8n8k16.row.col.s32.s8.u8.s32",
            "int",
            ["b32", "b32", "b32", "b32"],
            [2, 1, 1, 2],
        ),
        (
            "m16n8k16.row.col.s32.u8.s8.s32",
            "int",
            ["b32", "b32", "b32", "b32"],
            [4, 2, 1, 4],
        ),
        (
            "m16n8k32.row.col.s32.s8.s8.s32",
            "int",
            ["b32", "b32", "b32", "b32"],
            [4, 4, 2, 4],
        ),
        (
            "m16n8k32.row.col.satfinite.s32.u8.u8.s32",
            "int",
            ["b32", "b32", "b32", "b32"],
            [4, 4, 2, 4],
        ),
        (
            "m8n8k32.row.col.s32.s4.u4.s32",
            "int",
            ["b32", "b32", "b32", "b32"],
            [2, 1, 1, 2],
        ),
        (
            "m16n8k32.row.col.s32.s4.s4.s32",
            "int",
            ["b32", "b32", "b32", "b32"],
            [4, 2, 1, 4],
        ),
        (
            "m16n8k64.row.col.s32.u4.s4.s32",
            "int",
            ["b32", "b32", "b32", "b32"],
            [4, 4, 2, 4],
        ),
        (
            "m8n8k128.row.col.s32.b1.b1.s32.xor.popc",
            "int",
            ["b32", "b32", "b32", "b32"],
            [2, 1, 1, 2],
        ),
        (
            "m8n8k128.row.col.s32.b1.b1.s32.and.popc",
            "int",
            ["b32", "b32", "b32", "b32"],
            [2, 1, 1, 2],
        ),
        (
            "m16n8k256.row.col.s32.b1.b1.s32.and.popc",
            "int",
            ["b32", "b32", "b32", "b32"],
            [4, 4, 2, 4],
        ),
        (
            "m8n8k4.row.col.f64.f64.f64.f64",
            "f64",
            ["f64", "f64", "f64", "f64"],
            [2, 1, 1, 2],
        ),
        (
            "m16n8k4.row.col.f64.f64.f64.f64",
            "f64",
            ["f64", "f64", "f64", "f64"],
            [4, 2, 1, 4],
        ),
        (
            "m16n8k8.row.col.f64.f64.f64.f64",
            "f64",
            ["f64", "f64", "f64", "f64"],
            [4, 4, 2, 4],
        ),
        (
            "m16n8k16.row.col.f64.f64.f64.f64",
            "f64",
            ["f64", "f64", "f64", "f64"],
            [4, 8, 4, 4],
        ),
        (
            "m8n8k4.row.col.f32.f16.f16.f32",
            "f16",
            ["f32", "b32", "b32", "f32"],
            [8, 2, 2, 8],
        ),
        (
            "m8n8k4.col.row.f32.f16.f16.f32",
            "f16",
            ["f32", "b32", "b32", "f32"],
            [8, 2, 2, 8],
        ),
        (
            "m8n8k4.row.row.f16.f16.f16.f16",
            "f16",
            ["b32", "b32", "b32", "b32"],
            [4, 2, 2, 4],
        ),
    ];
    for (words, ty, registers, counts) in products {
        let kind = |which: usize| match (*ty, registers[which]) {
            ("int", _) => Operands::Integers,
            ("e4m3", "b32") => Operands::Whole("e4m3"),
            (_, "f32") => Operands::Whole("f32"),
            (_, "f64") => Operands::Floats("f64"),
            (ty, _) => Operands::Whole(ty),
        };
        let names = |which: usize| -> Vec<String> {
            (0..counts[which])
                .map(|i| format!("{}{i}", ["d", "a", "b", "c"][which]))
                .collect()
        };
        let list = |which: usize| format!("{{{}}}", names(which).join(", "));
        let mut group = Group {
            name: format!("mma_{}", words.replace('.', "_")),
            ins: (1..4)
                .flat_map(|w| names(w).into_iter().map(move |n| (registers[w], n)))
                .collect(),
            outs: names(0).into_iter().map(|n| (registers[0], n)).collect(),
            operands: (1..4).flat_map(|w| vec![kind(w); counts[w]]).collect(),
            cases: Vec::new(),
        };
        group.exact(format!(
            "mma.sync.aligned.{words} {}, {}, {}, {};",
            list(0),
            list(1),
            list(2),
            list(3)
        ));
        all.push(group);
    }
}
