//! Matrix products against matrices written out, with the fragments placed by the PTX manual's own formulas.

use tile33_sim::alu::Shape;

use crate::harness::{Op, Random, float_shape, random_float};
use crate::reference::{Dyadic, Format, Meaning};

/// Row and column of element `i` of lane `lane`: the manual's formulas, one line a shape.
type Place = fn(usize, usize) -> (usize, usize);

struct Case {
    shape: &'static str,
    /// Types of d, a, b, c.
    types: &'static [[&'static str; 4]],
    a: Place,
    b: Place,
    c: Place,
}

fn g(lane: usize) -> usize {
    lane / 4
}

fn t(lane: usize) -> usize {
    lane % 4
}

pub(crate) const F16S: &[[&str; 4]] = &[
    ["f32", "f16", "f16", "f32"],
    ["f16", "f16", "f16", "f16"],
    ["f32", "f16", "f16", "f16"],
    ["f16", "f16", "f16", "f32"],
];
pub(crate) const BYTES: &[[&str; 4]] = &[
    ["s32", "s8", "s8", "s32"],
    ["s32", "u8", "s8", "s32"],
    ["s32", "s8", "u8", "s32"],
    ["s32", "u8", "u8", "s32"],
];
pub(crate) const NIBBLES: &[[&str; 4]] = &[
    ["s32", "s4", "s4", "s32"],
    ["s32", "u4", "s4", "s32"],
    ["s32", "s4", "u4", "s32"],
    ["s32", "u4", "u4", "s32"],
];
const FP8: &[[&str; 4]] = &[
    ["f32", "e4m3", "e4m3", "f32"],
    ["f32", "e4m3", "e5m2", "f32"],
    ["f16", "e5m2", "e4m3", "f16"],
    ["f32", "e5m2", "e5m2", "f32"],
];
pub(crate) const TF32: &[[&str; 4]] = &[["f32", "tf32", "tf32", "f32"]];
pub(crate) const BF16: &[[&str; 4]] = &[["f32", "bf16", "bf16", "f32"]];
pub(crate) const F64: &[[&str; 4]] = &[["f64", "f64", "f64", "f64"]];

fn c16(lane: usize, i: usize) -> (usize, usize) {
    (if i < 2 { g(lane) } else { g(lane) + 8 }, t(lane) * 2 + (i & 1))
}

fn c8(lane: usize, i: usize) -> (usize, usize) {
    (g(lane), t(lane) * 2 + i)
}

fn f16_k8_a(l: usize, i: usize) -> (usize, usize) {
    (if i < 2 { g(l) } else { g(l) + 8 }, t(l) * 2 + (i & 1))
}

fn f16_k8_b(l: usize, i: usize) -> (usize, usize) {
    (t(l) * 2 + i, g(l))
}

fn f16_k16_a(l: usize, i: usize) -> (usize, usize) {
    let row = if i < 2 || (4..6).contains(&i) { g(l) } else { g(l) + 8 };
    (
        row,
        if i < 4 {
            t(l) * 2 + (i & 1)
        } else {
            t(l) * 2 + (i & 1) + 8
        },
    )
}

fn f16_k16_b(l: usize, i: usize) -> (usize, usize) {
    (
        if i < 2 {
            t(l) * 2 + (i & 1)
        } else {
            t(l) * 2 + (i & 1) + 8
        },
        g(l),
    )
}

fn byte_k16_a(l: usize, i: usize) -> (usize, usize) {
    (if i < 4 { g(l) } else { g(l) + 8 }, t(l) * 4 + (i & 3))
}

fn byte_k16_b(l: usize, i: usize) -> (usize, usize) {
    (t(l) * 4 + i, g(l))
}

fn byte_k32_a(l: usize, i: usize) -> (usize, usize) {
    let row = if i < 4 || (8..12).contains(&i) { g(l) } else { g(l) + 8 };
    (
        row,
        if i < 8 {
            t(l) * 4 + (i & 3)
        } else {
            t(l) * 4 + (i & 3) + 16
        },
    )
}

fn byte_k32_b(l: usize, i: usize) -> (usize, usize) {
    (
        if i < 4 {
            t(l) * 4 + (i & 3)
        } else {
            t(l) * 4 + (i & 3) + 16
        },
        g(l),
    )
}

const CASES: &[Case] = &[
    Case {
        shape: "m16n8k8",
        types: F16S,
        a: f16_k8_a,
        b: f16_k8_b,
        c: c16,
    },
    Case {
        shape: "m16n8k8",
        types: BF16,
        a: f16_k8_a,
        b: f16_k8_b,
        c: c16,
    },
    Case {
        shape: "m16n8k16",
        types: F16S,
        a: f16_k16_a,
        b: f16_k16_b,
        c: c16,
    },
    Case {
        shape: "m16n8k16",
        types: BF16,
        a: f16_k16_a,
        b: f16_k16_b,
        c: c16,
    },
    Case {
        shape: "m16n8k4",
        types: TF32,
        a: |l, i| (g(l) + 8 * i, t(l)),
        b: |l, _| (t(l), g(l)),
        c: c16,
    },
    Case {
        shape: "m16n8k8",
        types: TF32,
        a: |l, i| {
            (
                if i % 2 == 0 { g(l) } else { g(l) + 8 },
                if i < 2 { t(l) } else { t(l) + 4 },
            )
        },
        b: |l, i| (if i == 0 { t(l) } else { t(l) + 4 }, g(l)),
        c: c16,
    },
    Case {
        shape: "m16n8k16",
        types: FP8,
        a: byte_k16_a,
        b: byte_k16_b,
        c: c16,
    },
    Case {
        shape: "m16n8k32",
        types: FP8,
        a: byte_k32_a,
        b: byte_k32_b,
        c: c16,
    },
    Case {
        shape: "m8n8k16",
        types: BYTES,
        a: |l, i| (g(l), t(l) * 4 + i),
        b: byte_k16_b,
        c: c8,
    },
    Case {
        shape: "m16n8k16",
        types: BYTES,
        a: byte_k16_a,
        b: byte_k16_b,
        c: c16,
    },
    Case {
        shape: "m16n8k32",
        types: BYTES,
        a: byte_k32_a,
        b: byte_k32_b,
        c: c16,
    },
    Case {
        shape: "m8n8k32",
        types: NIBBLES,
        a: |l, i| (g(l), t(l) * 8 + i),
        b: |l, i| (t(l) * 8 + i, g(l)),
        c: c8,
    },
    Case {
        shape: "m16n8k32",
        types: NIBBLES,
        a: |l, i| (if i < 8 { g(l) } else { g(l) + 8 }, t(l) * 8 + (i & 7)),
        b: |l, i| (t(l) * 8 + i, g(l)),
        c: c16,
    },
    Case {
        shape: "m16n8k64",
        types: NIBBLES,
        a: |l, i| {
            let row = if i < 8 || (16..24).contains(&i) { g(l) } else { g(l) + 8 };
            (
                row,
                if i < 16 {
                    t(l) * 8 + (i & 7)
                } else {
                    t(l) * 8 + (i & 7) + 32
                },
            )
        },
        b: |l, i| {
            (
                if i < 8 {
                    t(l) * 8 + (i & 7)
                } else {
                    t(l) * 8 + (i & 7) + 32
                },
                g(l),
            )
        },
        c: c16,
    },
    Case {
        shape: "m8n8k4",
        types: F64,
        a: |l, _| (g(l), t(l)),
        b: |l, _| (t(l), g(l)),
        c: c8,
    },
    Case {
        shape: "m16n8k4",
        types: F64,
        a: |l, i| (g(l) + 8 * i, t(l)),
        b: |l, _| (t(l), g(l)),
        c: c16,
    },
    Case {
        shape: "m16n8k8",
        types: F64,
        a: |l, i| {
            (
                if i % 2 == 0 { g(l) } else { g(l) + 8 },
                if i < 2 { t(l) } else { t(l) + 4 },
            )
        },
        b: |l, i| (t(l) + 4 * i, g(l)),
        c: c16,
    },
    Case {
        shape: "m16n8k16",
        types: F64,
        a: |l, i| (if i % 2 == 0 { g(l) } else { g(l) + 8 }, i / 2 * 4 + t(l)),
        b: |l, i| (t(l) + 4 * i, g(l)),
        c: c16,
    },
];

pub(crate) fn width(ty: &str) -> u32 {
    match ty {
        "b1" => 1,
        "u4" | "s4" => 4,
        "u8" | "s8" | "e4m3" | "e5m2" => 8,
        "f16" | "bf16" => 16,
        "f64" => 64,
        _ => 32,
    }
}

fn is_integer(ty: &str) -> bool {
    matches!(ty, "u4" | "s4" | "u8" | "s8" | "s32" | "b1")
}

/// Registers that a fragment of `elements` elements takes.
pub(crate) fn count(ty: &str, elements: usize) -> usize {
    (elements * width(ty).min(32) as usize).div_ceil(32)
}

fn register(ty: &str) -> &str {
    match ty {
        "f64" => "f64",
        "f32" => "f32",
        _ => "b32",
    }
}

/// `mma` with one register a name: d0, a0, b0, c0 ..
pub(crate) fn product(code: &str, types: [&str; 4], counts: [usize; 4]) -> Op {
    let names = |which: usize| -> Vec<String> {
        (0..counts[which])
            .map(|i| format!("{}{i}", ["d", "a", "b", "c"][which]))
            .collect()
    };
    let declare = |which: usize| {
        names(which)
            .iter()
            .map(|n| format!("{} {n}", register(types[which])))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let list = |which: usize| format!("{{{}}}", names(which).join(", "));
    let ins = [declare(1), declare(2), declare(3)].join(", ");
    Op::new(
        &declare(0),
        &ins,
        &format!("{code} {}, {}, {}, {};", list(0), list(1), list(2), list(3)),
    )
}

/// Puts elements into 32-bit registers from the low end.
pub(crate) fn packed(ty: &str, elements: &[u128]) -> Vec<u128> {
    let bits = width(ty);
    if bits >= 32 {
        return elements.to_vec();
    }
    elements
        .chunks(32 / bits as usize)
        .map(|chunk| chunk.iter().enumerate().map(|(i, e)| e << (bits * i as u32)).sum())
        .collect()
}

/// A matrix of bits, row-major.
pub(crate) struct Matrix {
    columns: usize,
    bits: Vec<u128>,
}

impl Matrix {
    pub(crate) fn new(rows: usize, columns: usize, mut f: impl FnMut() -> u128) -> Self {
        Self {
            columns,
            bits: (0..rows * columns).map(|_| f()).collect(),
        }
    }

    pub(crate) fn at(&self, (row, column): (usize, usize)) -> u128 {
        self.bits[row * self.columns + column]
    }
}

/// A small value of a type, so that floating-point sums are exact: an integer from -4 to 4, as bits.
pub(crate) fn small(ty: &'static str, random: &mut Random) -> u128 {
    let n = random.below(9) as i128 - 4;
    match ty {
        "b1" => random.below(2).into(),
        "u4" => random.below(16).into(),
        "s4" => (random.below(16)).into(),
        "u8" | "s8" => random.below(256).into(),
        "s32" => u128::from(random.next() as u32),
        "tf32" => Format::of("f32").round_dyadic(&Dyadic::integer(n), false, "rn"),
        _ => Format::of(ty).round_dyadic(&Dyadic::integer(n), false, "rn"),
    }
}

fn value(ty: &'static str, bits: u128) -> Dyadic {
    if is_integer(ty) {
        let signed = ty.starts_with('s');
        return Dyadic::integer(crate::integer::number(bits, width(ty).max(2), signed));
    }
    let ty = if ty == "tf32" { "f32" } else { ty };
    match Format::of(ty).meaning(bits) {
        Meaning::Finite(negative, x) => x.mul(&Dyadic::integer(if negative { -1 } else { 1 })),
        _ => panic!("not finite"),
    }
}

/// The exact element of `a b + c`.
pub(crate) fn exact(types: [&'static str; 4], [a, b, c]: [&Matrix; 3], k: usize, at: (usize, usize)) -> Dyadic {
    (0..k).fold(value(types[3], c.at(at)), |sum, i| {
        sum.add(&value(types[1], a.at((at.0, i))).mul(&value(types[2], b.at((i, at.1)))))
    })
}

pub(crate) fn shape_of(word: &str) -> (usize, usize, usize) {
    let shape = Shape::from_word(word).expect("a shape");
    (shape.m, shape.n, shape.k)
}

/// Runs a product on matrices and checks every element of the result.
fn run(op: &Op, case: &Case, types: [&'static str; 4], matrices: [&Matrix; 3], check: impl Fn((usize, usize), u128)) {
    let (m, n, k) = shape_of(case.shape);
    let inputs: Vec<Vec<u128>> = (0..32)
        .map(|lane| {
            let part = |ty: &str, place: Place, matrix: &Matrix, elements: usize| {
                packed(
                    ty,
                    &(0..elements).map(|i| matrix.at(place(lane, i))).collect::<Vec<_>>(),
                )
            };
            [
                part(types[1], case.a, matrices[0], m * k / 32),
                part(types[2], case.b, matrices[1], k * n / 32),
                part(types[3], case.c, matrices[2], m * n / 32),
            ]
            .concat()
        })
        .collect();
    for (lane, out) in op.warp(u32::MAX, &inputs).iter().enumerate() {
        for i in 0..m * n / 32 {
            let bits = width(types[0]);
            let got = if bits == 16 {
                out[i / 2] >> (16 * (i % 2)) & 0xffff
            } else {
                out[i]
            };
            check((case.c)(lane, i), got);
        }
    }
}

#[test]
fn every_shape_and_type_multiplies_matrices() {
    for case in CASES {
        let (m, n, k) = shape_of(case.shape);
        for types in case.types {
            let [d, a, b, c] = *types;
            let counts = [
                count(d, m * n / 32),
                count(a, m * k / 32),
                count(b, k * n / 32),
                count(c, m * n / 32),
            ];
            let code = format!("mma.sync.aligned.{}.row.col.{d}.{a}.{b}.{c}", case.shape);
            let op = product(&code, *types, counts);
            let mut random = Random::of(&code);
            for _ in 0..20 {
                let am = Matrix::new(m, k, || small(a, &mut random));
                let bm = Matrix::new(k, n, || small(b, &mut random));
                let cm = Matrix::new(m, n, || small(c, &mut random));
                run(&op, case, *types, [&am, &bm, &cm], |at, got| {
                    let sum = exact(*types, [&am, &bm, &cm], k, at);
                    if d == "s32" {
                        // Wrapping: equal modulo 2^32.
                        let want = Dyadic::integer(got as i128);
                        let difference = sum.add(&want.mul(&Dyadic::integer(-1)));
                        let turns = [-2i128, -1, 0, 1, 2].map(|n| Dyadic::integer(n << 32));
                        assert!(
                            turns.iter().any(|t| t.compare(&difference).is_eq()),
                            "{code} at {at:?}: {got:#x}"
                        );
                    } else {
                        let want = Format::of(d).round_dyadic(&sum, false, "rn");
                        assert_eq!(got, want, "{code} at {at:?}");
                    }
                });
            }
        }
    }
}

#[test]
fn float_products_are_rounded_once_from_an_exact_sum() {
    for case in CASES.iter().filter(|case| !is_integer(case.types[0][0])) {
        let (m, n, k) = shape_of(case.shape);
        for types in case.types.iter().filter(|types| types[0] != "f64") {
            let [d, a, b, c] = *types;
            let counts = [
                count(d, m * n / 32),
                count(a, m * k / 32),
                count(b, k * n / 32),
                count(c, m * n / 32),
            ];
            let code = format!("mma.sync.aligned.{}.row.col.{d}.{a}.{b}.{c}", case.shape);
            let op = product(&code, *types, counts);
            let mut random = Random::of(&code);
            let mut any = |ty: &'static str| {
                // Exponents within a few of 1, so that nothing overflows and an f64 sum is exact.
                let format = if ty == "tf32" { "f32" } else { ty };
                let bits = random_float(
                    format,
                    &mut random,
                    Some(Format::of(format).one() - (2 << float_shape(format).1)),
                );
                if ty == "tf32" { bits & !0x1fff } else { bits }
            };
            let am = Matrix::new(m, k, || any(a));
            let bm = Matrix::new(k, n, || any(b));
            let cm = Matrix::new(m, n, || any(c));
            run(&op, case, *types, [&am, &bm, &cm], |at, got| {
                let sum = exact(*types, [&am, &bm, &cm], k, at);
                assert_eq!(got, Format::of(d).round_dyadic(&sum, false, "rn"), "{code} at {at:?}");
            });
        }
    }
}

#[test]
fn f64_products_are_a_chain_of_fused_multiply_adds() {
    let format = Format::of("f64");
    for case in CASES.iter().filter(|case| case.types[0][0] == "f64") {
        let (m, n, k) = shape_of(case.shape);
        let code = format!("mma.sync.aligned.{}.row.col.f64.f64.f64.f64", case.shape);
        let op = product(&code, case.types[0], [m * n / 32, m * k / 32, k * n / 32, m * n / 32]);
        let mut random = Random::of(&code);
        let mut any = || random_float("f64", &mut random, Some(format.one()));
        let (am, bm, cm) = (
            Matrix::new(m, k, &mut any),
            Matrix::new(k, n, &mut any),
            Matrix::new(m, n, &mut any),
        );
        run(&op, case, case.types[0], [&am, &bm, &cm], |at, got| {
            let want = (0..k).fold(cm.at(at), |sum, i| {
                format.fma(am.at((at.0, i)), bm.at((i, at.1)), sum, "rn")
            });
            assert_eq!(got, want, "{code} at {at:?}");
        });
    }
}

#[test]
fn integer_products_saturate_when_told() {
    let op = product(
        "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32",
        ["s32", "s8", "s8", "s32"],
        [4, 4, 2, 4],
    );
    let ones = |x: u8| u128::from(u32::from_le_bytes([x; 4]));
    for (a, c, want) in [
        (127u8, i32::MAX, i32::MAX),
        (0x80, i32::MIN, i32::MIN),
        (1, 5, 5 + 32 * 127),
    ] {
        let lane: Vec<u128> = [vec![ones(a); 4], vec![ones(127); 2], vec![u128::from(c as u32); 4]].concat();
        let outs = op.warp(u32::MAX, &vec![lane; 32]);
        assert!(outs.iter().flatten().all(|d| *d == u128::from(want as u32)), "{a} {c}");
    }
}

#[test]
fn single_bits_are_counted() {
    for (shape, m) in [("m8n8k128", 8usize), ("m16n8k128", 16), ("m16n8k256", 16)] {
        let k = shape_of(shape).2;
        // Lane l holds, of row l / 4, the bits from 32 (l % 4) on; a second pair of registers the next 128 columns.
        for (word, f) in [("xor", (|a, b| a ^ b) as fn(u32, u32) -> u32), ("and", |a, b| a & b)] {
            let counts = [m * 8 / 32, m * k / 1024, k * 8 / 1024, m * 8 / 32];
            let code = format!("mma.sync.aligned.{shape}.row.col.s32.b1.b1.s32.{word}.popc");
            let op = product(&code, ["s32", "b1", "b1", "s32"], counts);
            let mut random = Random::of(&code);
            let mut words = |n: usize| -> Vec<u32> { (0..n).map(|_| random.next() as u32).collect() };
            let (a, b, c) = (words(m * k / 32), words(8 * k / 32), words(m * 8));
            let per_row = k / 32;
            let inputs: Vec<Vec<u128>> = (0..32)
                .map(|lane| {
                    let (g, t) = (lane / 4, lane % 4);
                    let rows = m / 8;
                    let a_part = (0..counts[1]).map(|r| a[(g + 8 * (r % rows)) * per_row + t + 4 * (r / rows)]);
                    let b_part = (0..counts[2]).map(|r| b[g * per_row + t + 4 * r]);
                    let c_part = (0..counts[3]).map(|i| c[(g + i / 2 * 8) * 8 + t * 2 + i % 2]);
                    a_part.chain(b_part).chain(c_part).map(u128::from).collect()
                })
                .collect();
            for (lane, out) in op.warp(u32::MAX, &inputs).iter().enumerate() {
                for (i, got) in out.iter().enumerate() {
                    let (row, column) = (lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2);
                    let sum: u32 = (0..per_row)
                        .map(|w| f(a[row * per_row + w], b[column * per_row + w]).count_ones())
                        .fold(c[row * 8 + column], u32::wrapping_add);
                    assert_eq!(*got, sum.into(), "{code} at {row}, {column}");
                }
            }
        }
    }
}
