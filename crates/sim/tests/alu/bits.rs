//! Bit fields and byte permutations, by the manual's own loops over bits.

use crate::harness::{Op, integers};

fn bit(x: u128, i: u32) -> u128 {
    x >> i & 1
}

#[test]
fn counts_of_ones_and_of_leading_zeros() {
    for bits in [32u32, 64] {
        let op = Op::new("b32 d", &format!("b{bits} a"), &format!("popc.b{bits} d, a;"));
        op.check(&integers(&[bits], op.code(), 600), |x| {
            (0..bits).map(|i| bit(x[0], i)).sum()
        });
        let op = Op::new("b32 d", &format!("b{bits} a"), &format!("clz.b{bits} d, a;"));
        op.check(&integers(&[bits], op.code(), 600), |x| {
            (0..bits).rev().take_while(|i| bit(x[0], *i) == 0).count() as u128
        });
        let op = Op::new(
            &format!("b{bits} d"),
            &format!("b{bits} a"),
            &format!("brev.b{bits} d, a;"),
        );
        op.check(&integers(&[bits], op.code(), 600), |x| {
            (0..bits).map(|i| bit(x[0], i) << (bits - 1 - i)).sum()
        });
    }
}

#[test]
fn bfind_finds_the_highest_bit_that_is_not_sign() {
    for (ty, bits, signed) in [
        ("u32", 32u32, false),
        ("s32", 32, true),
        ("u64", 64, false),
        ("s64", 64, true),
    ] {
        for shiftamt in ["", ".shiftamt"] {
            let op = Op::new("b32 d", &format!("b{bits} a"), &format!("bfind{shiftamt}.{ty} d, a;"));
            op.check(&integers(&[bits], op.code(), 800), |x| {
                let wanted = if signed && bit(x[0], bits - 1) == 1 { 0 } else { 1 };
                match (0..bits).rev().find(|i| bit(x[0], *i) == wanted) {
                    None => 0xffff_ffff,
                    Some(i) if shiftamt.is_empty() => i.into(),
                    Some(i) => (bits - 1 - i).into(),
                }
            });
        }
    }
}

/// A position or length: of a 32-bit field its low 8 bits, of a 64-bit one all of it, which is then past the end.
fn place(x: u128, bits: u32) -> u32 {
    if bits == 64 {
        x.min(255) as u32
    } else {
        (x & 0xff) as u32
    }
}

#[test]
fn bfe_takes_a_field_out_and_extends_it() {
    for (ty, bits, signed) in [
        ("u32", 32u32, false),
        ("s32", 32, true),
        ("u64", 64, false),
        ("s64", 64, true),
    ] {
        let op = Op::new(
            &format!("b{bits} d"),
            &format!("b{bits} a, b32 b, b32 c"),
            &format!("bfe.{ty} d, a, b, c;"),
        );
        let mut rows = integers(&[bits, 32, 32], op.code(), 1500);
        rows.extend(
            (0..70).flat_map(|pos| (0..70).map(move |len| vec![0x9234_5678_9abc_def1 >> (64 - bits), pos, len])),
        );
        op.check(&rows, |x| {
            let (msb, pos, len) = (bits - 1, place(x[1], bits), place(x[2], bits));
            let sign = if !signed || len == 0 {
                0
            } else {
                bit(x[0], msb.min(pos + len - 1))
            };
            (0..=msb).map(|i| if i < len && pos + i <= msb { bit(x[0], pos + i) } else { sign } << i).sum()
        });
    }
}

#[test]
fn bfi_puts_a_field_in() {
    for bits in [32u32, 64] {
        let op = Op::new(
            &format!("b{bits} f"),
            &format!("b{bits} a, b{bits} b, b32 c, b32 d"),
            &format!("bfi.b{bits} f, a, b, c, d;"),
        );
        let mut rows = integers(&[bits, bits, 32, 32], op.code(), 1500);
        rows.extend((0..70).flat_map(|pos| (0..70).map(move |len| vec![0xdead_beef, 0x1234_5678, pos, len])));
        op.check(&rows, |x| {
            let (pos, len) = (place(x[2], bits), place(x[3], bits));
            let mut f = x[1];
            for i in (0..len).filter(|i| pos + i < bits) {
                f = f & !(1 << (pos + i)) | bit(x[0], i) << (pos + i);
            }
            f
        });
    }
}

#[test]
fn bmsk_makes_a_run_of_ones() {
    for mode in ["clamp", "wrap"] {
        let op = Op::new("b32 d", "b32 a, b32 b", &format!("bmsk.{mode}.b32 d, a, b;"));
        let mut rows = integers(&[32, 32], op.code(), 500);
        rows.extend((0..40).flat_map(|pos| (0..40).map(move |len| vec![pos, len])));
        // The manual's program.
        op.check(&rows, |x| {
            let (a1, b1) = (x[0] & 31, x[1] & 31);
            let all = 0xffff_ffffu128;
            let mut mask0 = all << a1 & all;
            let sum = a1 + b1;
            let mut mask1 = all << sum & all;
            let clamp = mode == "clamp";
            if clamp && x[0] >= 32 {
                mask0 = 0;
            }
            if sum >= 32 || (clamp && (x[0] >= 32 || x[1] >= 32)) {
                mask1 = 0;
            } else if b1 == 0 {
                mask1 = all;
            }
            mask0 & !mask1
        });
    }
}

#[test]
fn szext_extends_from_any_width() {
    for mode in ["clamp", "wrap"] {
        for (ty, signed) in [("u32", false), ("s32", true)] {
            let op = Op::new("b32 d", "b32 a, b32 b", &format!("szext.{mode}.{ty} d, a, b;"));
            op.check(&integers(&[32, 32], op.code(), 1500), |x| {
                let n = if mode == "wrap" { x[1] % 32 } else { x[1].min(32) } as u32;
                if n == 0 {
                    return 0;
                }
                (0..32).map(|i| if i < n { bit(x[0], i) } else if signed { bit(x[0], n - 1) } else { 0 } << i).sum()
            });
        }
    }
}

#[test]
fn fns_counts_set_bits_upwards_or_downwards() {
    let op = Op::new(
        "b32 d",
        "b32 mask, b32 base, s32 offset",
        "fns.b32 d, mask, base, offset;",
    );
    let mut rows = Vec::new();
    for mask in [
        0u128,
        1,
        0x8000_0000,
        0xffff_ffff,
        0xaaaa_aaaa,
        0x1248_1248,
        0x8000_0001,
    ] {
        for base in 0..32 {
            for offset in [-33i32, -32, -8, -2, -1, 0, 1, 2, 3, 8, 31, 32, 33, i32::MIN, i32::MAX] {
                rows.push(vec![mask, base, (offset as u32).into()]);
            }
        }
    }
    op.check(&rows, |x| {
        let set: Vec<u32> = (0..32).filter(|i| bit(x[0], *i) == 1).collect();
        let (base, offset) = (x[1] as u32, x[2] as u32 as i32);
        let nth = |n: u32| n as usize - 1;
        let found = match offset {
            0 => set.iter().find(|i| **i == base).copied(),
            n if n > 0 => set.iter().filter(|i| **i >= base).nth(nth(n as u32)).copied(),
            n => set
                .iter()
                .rev()
                .filter(|i| **i <= base)
                .nth(nth(n.unsigned_abs()))
                .copied(),
        };
        found.map_or(0xffff_ffff, u128::from)
    });
}

#[test]
fn prmt_picks_any_four_of_eight_bytes_or_their_signs() {
    let op = Op::new("b32 d", "b32 a, b32 b, b32 c", "prmt.b32 d, a, b, c;");
    op.check(&integers(&[32; 3], op.code(), 6000), |x| {
        let bytes = [x[0].to_le_bytes(), x[1].to_le_bytes()].concat();
        let bytes: Vec<u8> = bytes[..4].iter().chain(&bytes[16..20]).copied().collect();
        (0..4)
            .map(|i| {
                let select = (x[2] >> (4 * i)) as usize & 15;
                let byte = bytes[select & 7];
                let byte = if select < 8 {
                    byte
                } else if byte >= 128 {
                    0xff
                } else {
                    0
                };
                u128::from(byte) << (8 * i)
            })
            .sum()
    });
}

#[test]
fn prmt_has_six_fixed_selections() {
    // From the manual's table: bytes of the result, highest first, by the selector's low bits.
    let table = [
        ("f4e", ["3210", "4321", "5432", "6543"]),
        ("b4e", ["5670", "6701", "7012", "0123"]),
        ("rc8", ["0000", "1111", "2222", "3333"]),
        ("ecl", ["3210", "3211", "3222", "3333"]),
        ("ecr", ["0000", "1110", "2210", "3210"]),
        ("rc16", ["1010", "3232", "1010", "3232"]),
    ];
    for (mode, selections) in table {
        let op = Op::new("b32 d", "b32 a, b32 b, b32 c", &format!("prmt.b32.{mode} d, a, b, c;"));
        op.check(&integers(&[32; 3], op.code(), 800), |x| {
            let both = x[1] << 32 | x[0];
            selections[x[2] as usize & 3].chars().fold(0, |d, c| {
                let n = c.to_digit(10).expect("a digit");
                d << 8 | (both >> (8 * n) & 0xff)
            })
        });
    }
}
