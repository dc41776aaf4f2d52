//! Integers, carries, bits.

use super::{Group, INTS, Operands, width};

pub(super) fn integers(all: &mut Vec<Group>) {
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

pub(super) fn carries(all: &mut Vec<Group>) {
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

pub(super) fn bits(all: &mut Vec<Group>) {
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
