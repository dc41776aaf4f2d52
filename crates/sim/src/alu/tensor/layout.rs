//! Which element of a matrix each lane holds in which register.
//!
//! Except for the Volta shape (`mma.m8n8k4` of f16), every fragment is made of 8x4 blocks of 32-bit registers, a lane to
//! each place: lane l holds row `l / 4` and, of the row's four registers, number `l % 4`. What differs from shape to shape
//! is how many elements a register holds and in which order the blocks come. For `mma` that is documented in the PTX
//! manual; for `wmma` it is left open, and the same blocks are used here.

/// One of the three fragments of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fragment {
    /// The left factor, M x K.
    A,
    /// The right factor, K x N.
    B,
    /// The accumulator or the result, M x N.
    C,
}

/// Extents of a product: A is M x K, B is K x N, C is M x N.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Rows of A and C.
    pub m: usize,
    /// Columns of B and C.
    pub n: usize,
    /// Columns of A, rows of B.
    pub k: usize,
}

impl Shape {
    /// From `m16n8k16`.
    pub fn from_word(word: &str) -> Option<Self> {
        let (m, rest) = word.strip_prefix('m')?.split_once('n')?;
        let (n, k) = rest.split_once('k')?;
        Some(Self {
            m: m.parse().ok()?,
            n: n.parse().ok()?,
            k: k.parse().ok()?,
        })
    }

    /// Rows and columns of a fragment's matrix.
    pub fn extents(self, fragment: Fragment) -> (usize, usize) {
        match fragment {
            Fragment::A => (self.m, self.k),
            Fragment::B => (self.k, self.n),
            Fragment::C => (self.m, self.n),
        }
    }
}

/// Row and column of element `element` of lane `lane`.
///
/// `per_block` is the number of elements of a lane in one 8-row block: those that a 32-bit register holds for A and B (1
/// where an element has 32 bits or more), always 2 for C. Elements past the matrix repeat it from the start: `wmma`'s f16
/// fragments of A and B have more room than elements.
pub(super) fn position(
    fragment: Fragment,
    shape: Shape,
    per_block: usize,
    lane: usize,
    element: usize,
) -> (usize, usize) {
    let (rows, columns) = shape.extents(fragment);
    let element = element % (rows * columns / 32);
    let (block, within) = (element / per_block, element % per_block);
    let (group, inner) = (lane / 4, (lane % 4) * per_block + within);
    let width = 4 * per_block;
    match fragment {
        // Blocks run down the rows first; the four registers of a lane's row run along the row.
        Fragment::A | Fragment::C => {
            let down = rows / 8;
            (block % down * 8 + group, block / down * width + inner)
        }
        // The same of the transpose: lanes / 4 is a column.
        Fragment::B => {
            let along = rows / width;
            (block % along * width + inner, block / along * 8 + group)
        }
    }
}

/// Number of 32-bit registers (64-bit ones for f64) that a `wmma` fragment takes, by the size of its elements in bits.
/// `None` for a combination that PTX does not have.
pub fn wmma_registers(fragment: Fragment, shape: Shape, bits: u32, is_f16: bool) -> Option<usize> {
    let (rows, columns) = shape.extents(fragment);
    let elements = rows * columns / 32;
    let known = match (shape.m, shape.n, shape.k) {
        (16, 16, 16) | (32, 8, 16) | (8, 32, 16) => matches!((fragment, bits), (Fragment::C, 16 | 32) | (_, 8 | 16)),
        (16, 16, 8) => bits == 32,
        (8, 8, 4) => bits == 64,
        (8, 8, 32) => bits == 4 || (bits == 32 && fragment == Fragment::C),
        (8, 8, 128) => bits == 1 || (bits == 32 && fragment == Fragment::C),
        _ => false,
    };
    if !known {
        return None;
    }
    Some(match (fragment, bits) {
        // Eight registers whatever the shape.
        (Fragment::A | Fragment::B, 16) if is_f16 => 8,
        (_, 64) => elements,
        _ => (elements * bits as usize).div_ceil(32),
    })
}

/// Row and column of element `element` that lane `lane` holds in a `wmma` fragment whose elements have `bits` bits.
///
/// Elements count from the low end of the first register. f16 accumulators have two to a register, so `bits` does not
/// move them: element i of an f16 and of an f32 accumulator is the same element of the matrix.
pub fn wmma_element(fragment: Fragment, shape: Shape, bits: u32, lane: usize, element: usize) -> (usize, usize) {
    let per_block = if fragment == Fragment::C {
        2
    } else {
        (32 / bits as usize).max(1)
    };
    position(fragment, shape, per_block, lane, element)
}

/// Row and column in the f16 shape of Volta, `mma.m8n8k4`, of one of its four products: lanes 0 to 3 and 16 to 19 hold the
/// first, 4 to 7 and 20 to 23 the second, and so on. `row_major` is of A or B; `wide` says that C is f32.
pub(super) fn volta_position(
    fragment: Fragment,
    row_major: bool,
    wide: bool,
    lane: usize,
    element: usize,
) -> (usize, usize) {
    let upper = if lane < 16 { 0 } else { 4 };
    let (x, i) = (lane % 4, element);
    match (fragment, row_major) {
        (Fragment::A, true) => (x + upper, i),
        (Fragment::A, false) => (i + upper, x),
        (Fragment::B, true) => (x, i + upper),
        (Fragment::B, false) => (i, x + upper),
        (Fragment::C, _) if wide => ((lane & 1) + (i & 2) + upper, (i & 4) + (lane & 2) + (i & 1)),
        (Fragment::C, _) => (x + upper, i),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(fragment: Fragment, shape: Shape, per_block: usize) {
        let (rows, columns) = shape.extents(fragment);
        let mut seen = vec![0; rows * columns];
        for lane in 0..32 {
            for element in 0..rows * columns / 32 {
                let (r, c) = position(fragment, shape, per_block, lane, element);
                seen[r * columns + c] += 1;
            }
        }
        assert!(
            seen.iter().all(|n| *n == 1),
            "{fragment:?} of {shape:?}, {per_block} to a register"
        );
    }

    #[test]
    fn every_element_of_a_fragment_belongs_to_exactly_one_lane() {
        let shapes = [
            ("m16n8k4", 1),
            ("m16n8k8", 1),
            ("m16n8k16", 1),
            ("m16n8k8", 2),
            ("m16n8k16", 2),
            ("m16n8k16", 4),
            ("m16n8k32", 4),
            ("m16n8k32", 8),
            ("m16n8k64", 8),
            ("m16n8k128", 32),
            ("m16n8k256", 32),
            ("m8n8k4", 1),
            ("m8n8k16", 4),
            ("m8n8k32", 8),
            ("m8n8k128", 32),
            ("m16n16k16", 2),
            ("m32n8k16", 2),
            ("m8n32k16", 2),
            ("m16n16k16", 4),
            ("m32n8k16", 4),
            ("m8n32k16", 4),
            ("m16n16k8", 1),
        ];
        for (word, per_block) in shapes {
            let shape = Shape::from_word(word).expect("a shape");
            covers(Fragment::A, shape, per_block);
            covers(Fragment::B, shape, per_block);
            covers(Fragment::C, shape, 2);
        }
    }

    #[test]
    fn each_of_voltas_four_products_is_covered_once_by_its_eight_lanes() {
        let lanes = [0, 1, 2, 3, 16, 17, 18, 19];
        for (fragment, elements, columns) in [(Fragment::A, 4, 4), (Fragment::B, 4, 8), (Fragment::C, 8, 8)] {
            for (row_major, wide) in [(true, true), (true, false), (false, true), (false, false)] {
                let mut seen = vec![0; lanes.len() * elements];
                for lane in lanes {
                    for element in 0..elements {
                        let (r, c) = volta_position(fragment, row_major, wide, lane, element);
                        seen[r * columns + c] += 1;
                    }
                }
                assert!(seen.iter().all(|n| *n == 1), "{fragment:?} {row_major} {wide}");
            }
        }
    }

    #[test]
    fn the_blocks_stand_where_the_manual_has_them() {
        let f16 = Shape { m: 16, n: 8, k: 16 };
        // a2 (the second register's first half) of lane 5: row group + 8, column 2 * (lane % 4).
        assert_eq!(position(Fragment::A, f16, 2, 5, 2), (9, 2));
        assert_eq!(position(Fragment::A, f16, 2, 5, 4), (1, 10));
        assert_eq!(position(Fragment::A, f16, 2, 5, 7), (9, 11));
        assert_eq!(position(Fragment::B, f16, 2, 5, 3), (11, 1));
        assert_eq!(position(Fragment::C, f16, 2, 5, 3), (9, 3));
        let s8 = Shape { m: 16, n: 8, k: 32 };
        assert_eq!(position(Fragment::A, s8, 4, 31, 15), (15, 31));
        assert_eq!(position(Fragment::A, s8, 4, 31, 9), (7, 29));
        assert_eq!(position(Fragment::B, s8, 4, 31, 4), (28, 7));
    }
}
