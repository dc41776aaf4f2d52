//! Matrix products whose fragments are laid out in ways of their own: Volta's shape, and `wmma`.

use tile33_sim::alu::{Fragment, Shape, wmma_element, wmma_registers};

use crate::harness::Random;
use crate::reference::{Dyadic, Format};
use crate::tensor::{
    BF16, BYTES, F16S, F64, Matrix, NIBBLES, TF32, count, exact, packed, product, shape_of, small, width,
};

#[test]
fn voltas_shape_is_four_products() {
    let types: [[&'static str; 4]; 4] = [
        ["f32", "f16", "f16", "f32"],
        ["f16", "f16", "f16", "f16"],
        ["f32", "f16", "f16", "f16"],
        ["f16", "f16", "f16", "f32"],
    ];
    for types in types {
        for (al, bl) in [("row", "row"), ("row", "col"), ("col", "row"), ("col", "col")] {
            let [d, _, _, c] = types;
            let code = format!("mma.sync.aligned.m8n8k4.{al}.{bl}.{d}.f16.f16.{c}");
            let op = product(&code, types, [count(d, 8), 2, 2, count(c, 8)]);
            let mut random = Random::of(&code);
            // One triple of matrices for each quarter of the warp.
            let matrices: Vec<[Matrix; 3]> = (0..4)
                .map(|_| {
                    let mut make = |ty, rows, columns| Matrix::new(rows, columns, || small(ty, &mut random));
                    [make("f16", 8, 4), make("f16", 4, 8), make(c, 8, 8)]
                })
                .collect();
            let quarter = |lane: usize| lane % 16 / 4;
            let upper = |lane: usize| if lane < 16 { 0 } else { 4 };
            let accumulator = |ty: &str, lane: usize, i: usize| match ty {
                "f16" => (lane % 4 + upper(lane), i),
                _ => ((lane & 1) + (i & 2) + upper(lane), (i & 4) + (lane & 2) + (i & 1)),
            };
            let inputs: Vec<Vec<u128>> = (0..32)
                .map(|lane| {
                    let [a, b, cm] = &matrices[quarter(lane)];
                    let (x, up) = (lane % 4, upper(lane));
                    let a_part: Vec<u128> = (0..4)
                        .map(|i| a.at(if al == "row" { (x + up, i) } else { (i + up, x) }))
                        .collect();
                    let b_part: Vec<u128> = (0..4)
                        .map(|i| b.at(if bl == "row" { (x, i + up) } else { (i, x + up) }))
                        .collect();
                    let c_part: Vec<u128> = (0..8).map(|i| cm.at(accumulator(c, lane, i))).collect();
                    [packed("f16", &a_part), packed("f16", &b_part), packed(c, &c_part)].concat()
                })
                .collect();
            for (lane, out) in op.warp(u32::MAX, &inputs).iter().enumerate() {
                for i in 0..8 {
                    let got = if d == "f16" {
                        out[i / 2] >> (16 * (i % 2)) & 0xffff
                    } else {
                        out[i]
                    };
                    let at = accumulator(d, lane, i);
                    let [a, b, cm] = &matrices[quarter(lane)];
                    let want = Format::of(d).round_dyadic(&exact(types, [a, b, cm], 4, at), false, "rn");
                    assert_eq!(got, want, "{code} lane {lane} element {i}");
                }
            }
        }
    }
}

#[test]
fn warp_matrices_multiply_through_their_opaque_fragments() {
    let shapes: [(&str, &[[&'static str; 4]]); 8] = [
        ("m16n16k16", F16S),
        ("m32n8k16", F16S),
        ("m8n32k16", F16S),
        ("m16n16k16", BF16),
        ("m32n8k16", BYTES),
        ("m16n16k8", TF32),
        ("m8n8k4", F64),
        ("m8n8k32", NIBBLES),
    ];
    for (word, all) in shapes {
        let (m, n, k) = shape_of(word);
        let shape = Shape { m, n, k };
        for types in all {
            let [d, a, b, c] = *types;
            let bits = |ty: &str| if ty == "tf32" { 32 } else { width(ty) };
            let registers =
                |fragment, ty: &str| wmma_registers(fragment, shape, bits(ty), ty == "f16").expect("a fragment");
            let counts = [
                registers(Fragment::C, d),
                registers(Fragment::A, a),
                registers(Fragment::B, b),
                registers(Fragment::C, c),
            ];
            let named = if a == "f16" {
                format!("{d}.{c}")
            } else {
                format!("{d}.{a}.{b}.{c}")
            };
            for layouts in ["row.col", "col.row"] {
                if layouts == "col.row" && a.ends_with('4') && a != "f64" {
                    continue;
                }
                let code = format!("wmma.mma.sync.aligned.{layouts}.{word}.{named}");
                let op = product(&code, *types, counts);
                let mut random = Random::of(&code);
                let am = Matrix::new(m, k, || small(a, &mut random));
                let bm = Matrix::new(k, n, || small(b, &mut random));
                let cm = Matrix::new(m, n, || small(c, &mut random));
                let part = |fragment, ty: &str, matrix: &Matrix, lane: usize| {
                    let registers = registers(fragment, ty);
                    let elements = registers * (32 / bits(ty) as usize).max(1);
                    packed(
                        ty,
                        &(0..elements)
                            .map(|i| matrix.at(wmma_element(fragment, shape, bits(ty), lane, i)))
                            .collect::<Vec<_>>(),
                    )
                };
                let inputs: Vec<Vec<u128>> = (0..32)
                    .map(|lane| {
                        [
                            part(Fragment::A, a, &am, lane),
                            part(Fragment::B, b, &bm, lane),
                            part(Fragment::C, c, &cm, lane),
                        ]
                        .concat()
                    })
                    .collect();
                for (lane, out) in op.warp(u32::MAX, &inputs).iter().enumerate() {
                    for i in 0..m * n / 32 {
                        let got = if width(d) == 16 {
                            out[i / 2] >> (16 * (i % 2)) & 0xffff
                        } else {
                            out[i]
                        };
                        let at = wmma_element(Fragment::C, shape, bits(d), lane, i);
                        let sum = exact(*types, [&am, &bm, &cm], k, at);
                        if d == "s32" {
                            let difference = sum.add(&Dyadic::integer(-(got as i128)));
                            let turns = [-1i128, 0, 1].map(|n| Dyadic::integer(n << 32));
                            assert!(turns.iter().any(|t| t.compare(&difference).is_eq()), "{code} at {at:?}");
                        } else {
                            assert_eq!(got, Format::of(d).round_dyadic(&sum, false, "rn"), "{code} at {at:?}");
                        }
                    }
                }
            }
        }
    }
}
