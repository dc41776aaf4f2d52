//! `mov` and its vectors.

use crate::harness::{Op, integers};

#[test]
fn values_of_every_width_are_copied_whole() {
    for (ty, bits) in [
        ("b16", 16u32),
        ("u32", 32),
        ("f32", 32),
        ("s64", 64),
        ("f64", 64),
        ("b128", 128),
    ] {
        let op = Op::new(&format!("{ty} d"), &format!("{ty} a"), &format!("mov.{ty} d, a;"));
        op.check(&integers(&[bits], op.code(), 200), |x| x[0]);
    }
    let op = Op::new("b32 d", "b32 a", "mov.b32 d, 0f3F800000;");
    op.check(&integers(&[32], op.code(), 40), |_| 0x3f80_0000);
    let op = Op::new("f64 d", "b32 a", "mov.f64 d, 0.1;");
    op.check(&integers(&[32], op.code(), 40), |_| 0.1f64.to_bits().into());
    let op = Op::new("b64 d", "b32 a", "mov.u64 d, -2;");
    op.check(&integers(&[32], op.code(), 40), |_| u128::from(u64::MAX) - 1);
}

#[test]
fn vectors_are_packed_and_unpacked_from_the_low_end() {
    for (whole, part, count) in [
        (32u32, 16u32, 2usize),
        (64, 32, 2),
        (64, 16, 4),
        (128, 64, 2),
        (128, 32, 4),
        (32, 8, 4),
        (16, 8, 2),
    ] {
        let names: Vec<String> = (0..count).map(|i| format!("x{i}")).collect();
        let list = names.join(", ");
        let declared = names
            .iter()
            .map(|n| format!("b{part} {n}"))
            .collect::<Vec<_>>()
            .join(", ");
        let pack = Op::new(
            &format!("b{whole} d"),
            &declared,
            &format!("mov.b{whole} d, {{{list}}};"),
        );
        pack.check(&integers(&vec![part; count], pack.code(), 400), |x| {
            x.iter().enumerate().map(|(i, x)| x << (part * i as u32)).sum()
        });
        let unpack = Op::new(
            &declared,
            &format!("b{whole} a"),
            &format!("mov.b{whole} {{{list}}}, a;"),
        );
        let rows = integers(&[whole], unpack.code(), 400);
        for (x, out) in rows.iter().zip(unpack.all(&rows)) {
            for (i, part_value) in out.iter().enumerate() {
                let mask = (1u128 << part) - 1;
                assert_eq!(
                    *part_value,
                    x[0] >> (part * i as u32) & mask,
                    "{} part {i}",
                    unpack.code()
                );
            }
        }
    }
}

#[test]
fn a_part_that_nobody_wants_is_dropped() {
    let op = Op::new("b32 d", "b64 a", "mov.b64 {_, d}, a;");
    op.check(&integers(&[64], op.code(), 200), |x| x[0] >> 32);
    let op = Op::new("b16 d", "b32 a", "mov.b32 {d, _}, a;");
    op.check(&integers(&[32], op.code(), 200), |x| x[0] & 0xffff);
}

#[test]
fn a_destination_may_be_a_source() {
    let op = Op::new(
        "b32 a, b32 b",
        "b32 x, b32 y",
        "mov.b32 a, x; mov.b32 b, y; mov.v2.b32 {a, b}, {b, a};",
    );
    let rows = integers(&[32, 32], op.code(), 100);
    for (x, out) in rows.iter().zip(op.all(&rows)) {
        assert_eq!(out[..], [x[1], x[0]]);
    }
    let op = Op::new("b64 d", "b64 a", "mov.b64 d, a; mul.lo.u64 d, d, d; add.u64 d, d, a;");
    op.check(&integers(&[64], op.code(), 200), |x| {
        (x[0] * x[0] + x[0]) & u128::from(u64::MAX)
    });
}
