//! Operands worth running an instruction on: edges, in pairs, and random values of every magnitude.

/// A small generator; the same sequence on every machine.
#[derive(Clone)]
pub(crate) struct Random(u64);

impl Random {
    /// Seeded by the text of the test's subject, so that every instruction has operands of its own.
    pub(crate) fn of(text: &str) -> Self {
        Self(text.bytes().fold(0x9e37_79b9_7f4a_7c15, |h, b| {
            (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3)
        }))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `n`.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

/// That many ones.
pub(crate) fn low(bits: u32) -> u128 {
    if bits == 128 { u128::MAX } else { (1 << bits) - 1 }
}

/// Integers at which something changes: ends, powers of two and their neighbours, shift amounts.
pub(crate) fn integer_edges(bits: u32) -> Vec<u128> {
    let mut edges = vec![
        0u128, 1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 1000,
    ];
    for shift in [7, 8, 15, 16, 23, 24, 31, 32, 47, 63] {
        if shift < bits {
            edges.extend([(1 << shift) - 1, 1 << shift, (1 << shift) + 1]);
        }
    }
    edges.extend([0, 1, 2, 3, 127, 255].map(|n| low(bits).wrapping_sub(n)));
    edges.extend([0x5555_5555_5555_5555, 0xdead_beef_cafe_f00d]);
    edges.iter_mut().for_each(|e| *e &= low(bits));
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// Bits of exponent and fraction of a floating-point type.
pub(crate) fn float_shape(ty: &str) -> (u32, u32) {
    match ty {
        "f16" => (5, 10),
        "bf16" => (8, 7),
        "tf32" => (8, 10),
        "f32" => (8, 23),
        "f64" => (11, 52),
        "e4m3" => (4, 3),
        "e5m2" => (5, 2),
        _ => panic!("no such type: {ty}"),
    }
}

/// Floats at which something changes, of either sign: zeros, subnormals, powers of two, ties, the largest, infinity, NaNs.
pub(crate) fn float_edges(ty: &str) -> Vec<u128> {
    let (exponent, fraction) = float_shape(ty);
    let one = (1u128 << (exponent - 1)) - 1;
    let at = |e: u128, f: u128| e << fraction | (f & low(fraction));
    let all = low(fraction);
    let top = low(exponent);
    let mut edges = vec![
        at(0, 0),
        at(0, 1),
        at(0, 2),
        at(0, all / 2 + 1),
        at(0, all),
        at(1, 0),
        at(1, 1),
        at(1, all),
        at(2, 0),
        at(one, 0),
        at(one, 1),
        at(one, all),
        at(one - 1, 0),
        at(one - 1, all),
        at(one - 1, all - 1),
        at(one + 1, 0),
        at(one + 1, all / 2 + 1),
        at(one + 2, 5),
        at(one / 2, 3),
        at(one + one / 2, 0x2b),
        at(one + one / 2 + 1, 0),
        at(top - 1, 0),
        at(top - 1, all),
        at(top, 0),
        at(top, all / 2 + 1),
        at(top, all),
        at(top, 1),
    ];
    let sign = 1 << (exponent + fraction);
    edges.extend(edges.clone().iter().map(|e| e | sign));
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// A random float: any bits, or an exponent near that of `near`.
pub(crate) fn random_float(ty: &str, random: &mut Random, near: Option<u128>) -> u128 {
    let (exponent, fraction) = float_shape(ty);
    let bits = u128::from(random.next()) & low(exponent + fraction + 1);
    match near {
        Some(near) => {
            let field = (near >> fraction & low(exponent)) as i64 + random.below(9) as i64 - 4;
            let field = field.clamp(0, low(exponent) as i64 - 1) as u128;
            bits & !(low(exponent) << fraction) | field << fraction
        }
        None => bits,
    }
}
