//! Logic, shifts and selections, bit by bit.

use crate::harness::{Op, integers};

fn bit(x: u128, i: u32) -> u128 {
    x >> i & 1
}

#[test]
fn bitwise_operations_work_on_every_bit_of_every_width() {
    for bits in [16u32, 32, 64] {
        type Case = (&'static str, fn(u128, u128) -> u128);
        let cases: [Case; 3] = [
            ("and", |a, b| u128::from(a + b == 2)),
            ("or", |a, b| u128::from(a + b >= 1)),
            ("xor", |a, b| u128::from(a + b == 1)),
        ];
        for (name, f) in cases {
            let ty = format!("b{bits}");
            let op = Op::new(
                &format!("{ty} d"),
                &format!("{ty} a, {ty} b"),
                &format!("{name}.{ty} d, a, b;"),
            );
            op.check(&integers(&[bits, bits], op.code(), 400), |x| {
                (0..bits).map(|i| f(bit(x[0], i), bit(x[1], i)) << i).sum()
            });
        }
        let ty = format!("b{bits}");
        let op = Op::new(&format!("{ty} d"), &format!("{ty} a"), &format!("not.{ty} d, a;"));
        op.check(&integers(&[bits], op.code(), 400), |x| (1 << bits) - 1 - x[0]);
        let op = Op::new(&format!("{ty} d"), &format!("{ty} a"), &format!("cnot.{ty} d, a;"));
        op.check(&integers(&[bits], op.code(), 400), |x| u128::from(x[0] == 0));
    }
}

fn truth(count: usize) -> Vec<Vec<u128>> {
    (0..1u128 << count)
        .cycle()
        .take(64)
        .map(|n| (0..count).map(|i| n >> i & 1).collect())
        .collect()
}

#[test]
fn predicates_take_the_same_operations_and_may_be_negated() {
    let op = Op::new("pred d", "pred a, pred b", "and.pred d, a, !b;");
    op.check(&truth(2), |x| x[0] & (1 - x[1]));
    let op = Op::new("pred d", "pred a, pred b", "or.pred d, a, b;");
    op.check(&truth(2), |x| x[0] | x[1]);
    let op = Op::new("pred d", "pred a, pred b", "xor.pred d, a, b;");
    op.check(&truth(2), |x| x[0] ^ x[1]);
    let op = Op::new("pred d", "pred a", "not.pred d, a;");
    op.check(&truth(1), |x| 1 - x[0]);
    let op = Op::new("pred d", "pred a", "mov.pred d, a;");
    op.check(&truth(1), |x| x[0]);
}

#[test]
fn lop3_is_any_of_the_256_functions_of_three_bits() {
    for table in 0..256u32 {
        let op = Op::new(
            "b32 d",
            "b32 a, b32 b, b32 c",
            &format!("lop3.b32 d, a, b, c, {table};"),
        );
        op.check(&integers(&[32; 3], op.code(), 64), |x| {
            (0..32)
                .map(|i| {
                    let index = bit(x[0], i) << 2 | bit(x[1], i) << 1 | bit(x[2], i);
                    u128::from(table >> index & 1) << i
                })
                .sum()
        });
    }
    // The manual's way to find a table: the function of 0xf0, 0xcc and 0xaa.
    let op = Op::new(
        "b32 d",
        "b32 a, b32 b, b32 c",
        &format!("lop3.b32 d, a, b, c, {};", 0xf0u32 & !0xcc | 0xaa),
    );
    op.check(&integers(&[32; 3], op.code(), 500), |x| {
        (x[0] & !x[1] | x[2]) & 0xffff_ffff
    });
}

#[test]
fn lop3_with_a_predicate_says_whether_the_result_is_not_zero() {
    for (word, f) in [("or", (|a, b| a | b) as fn(u128, u128) -> u128), ("and", |a, b| a & b)] {
        let op = Op::new(
            "pred p, b32 d",
            "b32 a, b32 b, b32 c, pred q",
            &format!("lop3.{word}.b32 d|p, a, b, c, 0x80, q;"),
        );
        let mut rows = integers(&[32, 32, 32, 1], op.code(), 1000);
        rows.extend([vec![0, 0, 0, 0], vec![0, 0, 0, 1], vec![1, 1, 1, 0], vec![1, 1, 1, 1]]);
        op.check(&rows, |x| f(u128::from(x[0] & x[1] & x[2] != 0), x[3]));
        let sunk = Op::new(
            "pred p",
            "b32 a, b32 b, b32 c, pred q",
            &format!("lop3.{word}.b32 _|p, a, b, c, 0x80, q;"),
        );
        sunk.check(&rows, |x| f(u128::from(x[0] & x[1] & x[2] != 0), x[3]));
    }
}

#[test]
fn shifts_past_the_width_shift_everything_out() {
    for bits in [16u32, 32, 64] {
        for (name, ty, signed) in [
            ("shl", 'b', false),
            ("shr", 'u', false),
            ("shr", 's', true),
            ("shr", 'b', false),
        ] {
            let op = Op::new(
                &format!("b{bits} d"),
                &format!("b{bits} a, b32 n"),
                &format!("{name}.{ty}{bits} d, a, n;"),
            );
            op.check(&integers(&[bits, 32], op.code(), 600), |x| {
                let fill = if signed { bit(x[0], bits - 1) } else { 0 };
                (0..bits)
                    .map(|i| {
                        let from = if name == "shl" {
                            i128::from(i) - x[1] as i128
                        } else {
                            i128::from(i) + x[1] as i128
                        };
                        let value = match from {
                            n if n < 0 => 0,
                            n if n >= i128::from(bits) => fill,
                            n => bit(x[0], n as u32),
                        };
                        value << i
                    })
                    .sum()
            });
        }
    }
}

#[test]
fn funnel_shifts_move_bits_from_one_word_into_the_other() {
    for (direction, mode) in [("l", "wrap"), ("l", "clamp"), ("r", "wrap"), ("r", "clamp")] {
        let op = Op::new(
            "b32 d",
            "b32 a, b32 b, b32 n",
            &format!("shf.{direction}.{mode}.b32 d, a, b, n;"),
        );
        op.check(&integers(&[32; 3], op.code(), 3000), |x| {
            let n = if mode == "wrap" { x[2] % 32 } else { x[2].min(32) };
            let both = x[1] * (1 << 32) + x[0];
            match direction {
                "l" => both * (1 << n) / (1 << 32) % (1 << 32),
                _ => both / (1 << n) % (1 << 32),
            }
        });
    }
}

#[test]
fn selp_copies_one_of_two_values_whole() {
    for ty in ["b16", "b32", "b64", "u16", "s32", "u64", "f32", "f64"] {
        let bits: u32 = ty[1..].parse().expect("a width");
        for (p, wanted) in [("p", 1), ("!p", 0)] {
            let op = Op::new(
                &format!("{ty} d"),
                &format!("{ty} a, {ty} b, pred p"),
                &format!("selp.{ty} d, a, b, {p};"),
            );
            op.check(&integers(&[bits, bits, 1], op.code(), 500), |x| {
                if x[2] == wanted { x[0] } else { x[1] }
            });
        }
    }
}

#[test]
fn slct_selects_by_sign_and_treats_nan_as_negative() {
    for ty in ["b16", "b32", "b64", "s64", "f32", "f64"] {
        let bits: u32 = ty[1..].parse().expect("a width");
        let op = Op::new(
            &format!("{ty} d"),
            &format!("{ty} a, {ty} b, s32 c"),
            &format!("slct.{ty}.s32 d, a, b, c;"),
        );
        op.check(&integers(&[bits, bits, 32], op.code(), 500), |x| {
            if x[2] < 1 << 31 { x[0] } else { x[1] }
        });
        for ftz in ["", ".ftz"] {
            let op = Op::new(
                &format!("{ty} d"),
                &format!("{ty} a, {ty} b, f32 c"),
                &format!("slct{ftz}.{ty}.f32 d, a, b, c;"),
            );
            let mut rows = integers(&[bits, bits, 32], op.code(), 500);
            for (i, c) in crate::harness::float_edges("f32").into_iter().enumerate() {
                rows.push(vec![1, 2 + i as u128, c]);
            }
            op.check(&rows, |x| {
                let c = f32::from_bits(x[2] as u32);
                let flushed = !ftz.is_empty() && c.is_subnormal();
                if flushed || (!c.is_nan() && (c == 0.0 || c.is_sign_positive())) {
                    x[0]
                } else {
                    x[1]
                }
            });
        }
    }
}
