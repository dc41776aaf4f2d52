//! Extended-precision arithmetic against whole numbers of twice and four times the width.

use crate::harness::{Op, integers};

#[test]
fn a_chain_of_carries_adds_128_bits() {
    let op = Op::new(
        "b32 d0, b32 d1, b32 d2, b32 d3",
        "b32 a0, b32 a1, b32 a2, b32 a3, b32 b0, b32 b1, b32 b2, b32 b3",
        "add.cc.u32 d0, a0, b0; addc.cc.u32 d1, a1, b1; addc.cc.u32 d2, a2, b2; addc.u32 d3, a3, b3;",
    );
    let rows = integers(&[32; 8], op.code(), 3000);
    for (x, out) in rows.iter().zip(op.all(&rows)) {
        let whole = |words: &[u128]| words.iter().rev().fold(0u128, |n, w| n << 32 | w);
        assert_eq!(whole(&out), whole(&x[..4]).wrapping_add(whole(&x[4..])), "{x:x?}");
    }
}

#[test]
fn a_chain_of_borrows_subtracts_128_bits() {
    let op = Op::new(
        "b64 d0, b64 d1",
        "b64 a0, b64 a1, b64 b0, b64 b1",
        "sub.cc.u64 d0, a0, b0; subc.s64 d1, a1, b1;",
    );
    let rows = integers(&[64; 4], op.code(), 3000);
    for (x, out) in rows.iter().zip(op.all(&rows)) {
        assert_eq!(
            out[1] << 64 | out[0],
            (x[1] << 64 | x[0]).wrapping_sub(x[3] << 64 | x[2]),
            "{x:x?}"
        );
    }
}

#[test]
fn multiply_add_with_carry_makes_a_64_by_64_bit_product() {
    // Schoolbook: the carries out of each column go into the next.
    let op = Op::new(
        "b32 r0, b32 r1, b32 r2, b32 r3",
        "b32 a0, b32 a1, b32 b0, b32 b1",
        "mul.lo.u32 r0, a0, b0;
         mul.hi.u32 r1, a0, b0;
         mad.lo.cc.u32 r1, a1, b0, r1;
         madc.hi.u32 r2, a1, b0, 0;
         mad.lo.cc.u32 r1, a0, b1, r1;
         madc.hi.cc.u32 r2, a0, b1, r2;
         addc.u32 r3, 0, 0;
         mad.lo.cc.u32 r2, a1, b1, r2;
         madc.hi.u32 r3, a1, b1, r3;",
    );
    let rows = integers(&[32; 4], op.code(), 3000);
    for (x, out) in rows.iter().zip(op.all(&rows)) {
        let product = (x[1] << 32 | x[0]) * (x[3] << 32 | x[2]);
        assert_eq!(out.iter().rev().fold(0u128, |n, w| n << 32 | w), product, "{x:x?}");
    }
}

#[test]
fn every_form_takes_and_gives_the_flag() {
    for ty in ["u32", "s32", "u64", "s64"] {
        let bits: u32 = ty[1..].parse().expect("a width");
        let modulus = 1i128 << bits;
        // The flag is set by a first sum of `e` and itself, and read back by a last one.
        let forms: [(&str, &str, usize); 6] = [
            ("addc.cc", "d, a, b", 0),
            ("subc.cc", "d, a, b", 1),
            ("madc.lo.cc", "d, a, b, c", 2),
            ("madc.hi.cc", "d, a, b, c", 3),
            ("add.cc", "d, a, b", 4),
            ("sub.cc", "d, a, b", 5),
        ];
        for (name, operands, which) in forms {
            let op = Op::new(
                &format!("{ty} d, {ty} flag"),
                &format!("{ty} a, {ty} b, {ty} c, {ty} e"),
                &format!("add.cc.{ty} flag, e, e;\n{name}.{ty} {operands};\naddc.{ty} flag, 0, 0;"),
            );
            let rows = integers(&[bits; 4], op.code(), 1500);
            for (x, out) in rows.iter().zip(op.all(&rows)) {
                let carry = i128::from(x[3] >> (bits - 1) & 1 == 1);
                let signed = |x: u128| crate::integer::number(x, bits, ty.starts_with('s'));
                let (a, b, c) = (x[0] as i128, x[1] as i128, x[2] as i128);
                let low = ((x[0] * x[1]) & (modulus as u128 - 1)) as i128;
                let high = if ty.starts_with('s') {
                    ((signed(x[0]) * signed(x[1])) >> bits).rem_euclid(modulus)
                } else {
                    ((x[0] * x[1]) >> bits) as i128
                };
                let exact = [
                    a + b + carry,
                    a - b - carry,
                    low + c + carry,
                    high + c + carry,
                    a + b,
                    a - b,
                ][which];
                let flag = u128::from(exact < 0 || exact >= modulus);
                assert_eq!(
                    (out[0], out[1]),
                    (exact.rem_euclid(modulus) as u128, flag),
                    "{} of {x:x?}",
                    op.code()
                );
            }
        }
    }
}
