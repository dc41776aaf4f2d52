//! What a warp does together: shuffles, votes, matrix products.

use super::{Group, Operands};

pub(super) fn warp(all: &mut Vec<Group>) {
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

pub(super) fn matrices(all: &mut Vec<Group>) {
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
