//! Every register-only instruction, type and modifier that a card of compute capability 9.0 has, as lines of PTX.
//!
//! Cases with the same operands and results form a group: one kernel, which loads a thread's operands once and stores the
//! result of every case. Operands are named `a`, `b`, `c`, results `d`, `p`.

mod converted;
mod floats;
mod integers;
mod warps;

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
    integers::integers(&mut all);
    integers::carries(&mut all);
    integers::bits(&mut all);
    floats::floats(&mut all);
    floats::halves(&mut all);
    floats::approximations(&mut all);
    converted::comparisons(&mut all);
    converted::conversions(&mut all);
    converted::moves(&mut all);
    warps::warp(&mut all);
    warps::matrices(&mut all);
    all
}
