//! The derivation of the bank, as a reader would do it on paper.

use serde::Serialize;
use tile33_layout::{LANES, XorBits};

use crate::language::{Access, Builtin, Expr};
use crate::linear::Linear;
use crate::{Arrangement, Pattern, Placement, Threads, Tile};

/// The steps from an index to a bank, as text.
///
/// ```
/// use tile33_explain::Question;
/// let question = Question::new("f32[32][33]", "tile[tx][5]", "32x8")?;
/// let formula = question.answer()?.formula.unwrap();
/// assert_eq!((formula.element.as_str(), formula.bank_reduced.as_str()), ("33 * tx + 5", "(lane + 5) mod 32"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Formula {
    /// The element's number in terms of the names used, `33 * tx + 5`.
    pub element: String,
    /// What those names are in this warp: `tx` = `lane`, `ty` = `0`.
    pub names: Vec<(String, String)>,
    /// The element's number in terms of the lane, `33 * lane + 5`.
    pub element_in_lane: String,
    /// The byte, `4 * (33 * lane + 5)`.
    pub byte: String,
    /// The first bank, `(33 * lane + 5) mod 32`.
    pub bank: String,
    /// The same with every number reduced, `(lane + 5) mod 32`.
    pub bank_reduced: String,
    /// What the swizzle does, if it could not be written as an exclusive or of column and row.
    pub swizzle: Option<String>,
    /// Bytes from a lane to the next, if they are always as many.
    pub step_bytes: Option<i64>,
}

/// Everything that a formula is derived from.
pub(crate) struct Derivation<'a> {
    pub(crate) tile: &'a Tile,
    pub(crate) access: &'a Access,
    pub(crate) threads: &'a Threads,
    pub(crate) warp: u32,
    pub(crate) base: u32,
    pub(crate) pattern: &'a Pattern,
}

impl Derivation<'_> {
    /// The formula for a placement; `None` without active lanes, and where numbers leave 64 bits.
    pub(crate) fn formula(&self, placement: &Placement) -> Option<Formula> {
        let dims = self.threads.block.dims().map(i64::from);
        let named = |name: Builtin| match name {
            Builtin::DimX => Linear::constant(dims[0]),
            Builtin::DimY => Linear::constant(dims[1]),
            Builtin::DimZ => Linear::constant(dims[2]),
            _ => Linear::atom(name.name()),
        };
        let in_lane = |name: Builtin| self.fit_names(name).unwrap_or_else(|| Linear::atom(name.name()));
        let nothing = |_: &Expr| None;
        let simpler = |expr: &Expr| self.fit_expr(expr);

        let row = self.row(&named, &nothing)?;
        let col = self.col(&named, &nothing)?;
        let (element, swizzle) = element(placement, &row, &col, None)?;

        let row = Linear::fit(&self.values(|(row, _)| row)).or_else(|| self.row(&in_lane, &simpler))?;
        let col = Linear::fit(&self.values(|(_, col)| col)).or_else(|| self.col(&in_lane, &simpler))?;
        let offsets = self.offsets(placement);
        let element_in_lane = match Linear::fit(&offsets) {
            Some(fitted) => fitted,
            None => element_in_lane(self, placement, &row, &col)?,
        };

        let bytes = i64::from(self.pattern.element_bytes);
        let byte_sum = element_in_lane
            .clone()
            .times(bytes)?
            .add(&Linear::constant(i64::from(self.base)))?;
        let (bank, bank_reduced) = bank(&byte_sum);
        let base = if self.base == 0 {
            String::new()
        } else {
            format!("{} + ", self.base)
        };
        let byte = match bytes {
            1 => format!("{base}{element_in_lane}"),
            _ => format!("{base}{bytes} * {}", element_in_lane.wrapped()),
        };
        let step_bytes = match element_in_lane.terms.as_slice() {
            [] => Some(0),
            [term] if term.atom == "lane" => term.coefficient.checked_mul(bytes),
            _ => None,
        };
        Some(Formula {
            element: element.to_string(),
            names: self.names(),
            element_in_lane: element_in_lane.to_string(),
            byte,
            bank,
            bank_reduced,
            swizzle,
            step_bytes,
        })
    }

    /// The row as a sum: all indices but the last.
    fn row(&self, names: &dyn Fn(Builtin) -> Linear, known: &dyn Fn(&Expr) -> Option<Linear>) -> Option<Linear> {
        let outer = self.access.indices.split_last()?.1;
        let mut row = Linear::constant(0);
        for (index, length) in outer.iter().zip(&self.tile.lengths) {
            row = row.times(i64::from(*length))?.add(&self.sum(index, names, known)?)?;
        }
        Some(row)
    }

    fn col(&self, names: &dyn Fn(Builtin) -> Linear, known: &dyn Fn(&Expr) -> Option<Linear>) -> Option<Linear> {
        self.sum(self.access.indices.last()?, names, known)
    }

    fn sum(
        &self,
        expr: &Expr,
        names: &dyn Fn(Builtin) -> Linear,
        known: &dyn Fn(&Expr) -> Option<Linear>,
    ) -> Option<Linear> {
        Linear::of(expr, names, &|name| self.threads.parameters.get(name).copied(), known)
    }

    fn values(&self, of: impl Fn((i64, i64)) -> i64) -> [Option<i64>; LANES] {
        std::array::from_fn(|lane| {
            self.pattern
                .is_active(lane as u32)
                .then(|| of(self.pattern.places[lane]))
        })
    }

    fn offsets(&self, placement: &Placement) -> [Option<i64>; LANES] {
        let place = |(row, col)| placement.offset(row, col).map(i64::from);
        std::array::from_fn(|lane| {
            self.pattern
                .is_active(lane as u32)
                .then(|| place(self.pattern.places[lane]))
                .flatten()
        })
    }

    fn fit_values(&self, value: impl Fn(&crate::language::Scope<'_>) -> Option<i64>) -> Option<Linear> {
        let values = std::array::from_fn(|lane| {
            let scope = self.threads.scope(&self.access.source, self.warp, lane as u32)?;
            if self.pattern.is_active(lane as u32) {
                value(&scope)
            } else {
                None
            }
        });
        Linear::fit(&values)
    }

    fn fit_names(&self, name: Builtin) -> Option<Linear> {
        self.fit_values(|scope| Some(scope.builtin(name)))
    }

    fn fit_expr(&self, expr: &Expr) -> Option<Linear> {
        self.fit_values(|scope| scope.value(expr).ok())
    }

    /// What the names that the access uses are in this warp.
    fn names(&self) -> Vec<(String, String)> {
        let used = |name: Builtin| self.access.indices.iter().any(|index| index.uses(name));
        let trivial = |name| matches!(name, Builtin::Lane | Builtin::DimX | Builtin::DimY | Builtin::DimZ);
        let shown = Builtin::ALL.into_iter().filter(|name| used(*name) && !trivial(*name));
        shown
            .map(|name| {
                let value = self
                    .fit_names(name)
                    .map_or_else(|| "not regular".into(), |value| value.to_string());
                (name.name().to_owned(), value)
            })
            .collect()
    }
}

/// The element's number for a row and a column, and what `swizzle(..)` in it means. `delta` is what a swizzle flips the
/// column by, where that is known.
fn element(
    placement: &Placement,
    row: &Linear,
    col: &Linear,
    delta: Option<Linear>,
) -> Option<(Linear, Option<String>)> {
    let start = row.clone().times(i64::from(placement.pitch()))?;
    let plain = start.clone().add(col)?;
    match placement.arrangement {
        Arrangement::Pitch(_) => Some((plain, None)),
        Arrangement::Xor { period } => {
            let delta = delta.map_or_else(|| format!("({} % {period})", row.wrapped()), |delta| delta.wrapped());
            Some((
                start.add(&Linear::atom(format!("({} ^ {delta})", col.wrapped())))?,
                None,
            ))
        }
        Arrangement::Swizzle { pitch, bits } => match row_shift(pitch, bits) {
            Some(shift) => {
                let delta = delta.map_or_else(|| flip(row, bits, shift), |delta| delta.wrapped());
                Some((
                    start.add(&Linear::atom(format!("({} ^ {delta})", col.wrapped())))?,
                    None,
                ))
            }
            None => {
                let meaning = if bits.shift >= 0 {
                    format!(
                        "n ^ (((n >> {}) & {}) << {})",
                        i64::from(bits.base) + i64::from(bits.shift),
                        ones(bits),
                        bits.base
                    )
                } else {
                    let to = bits.base + bits.shift.unsigned_abs();
                    format!("n ^ (((n >> {}) & {}) << {to})", bits.base, ones(bits))
                };
                Some((
                    Linear::atom(format!("swizzle({plain})")),
                    Some(format!("swizzle(n) = {meaning}")),
                ))
            }
        },
        Arrangement::Skew { every } => {
            let skipped = Linear::atom(format!("({} / {every})", plain.wrapped()));
            Some((plain.add(&skipped)?, None))
        }
    }
}

fn element_in_lane(derivation: &Derivation<'_>, placement: &Placement, row: &Linear, col: &Linear) -> Option<Linear> {
    let delta = match placement.arrangement {
        Arrangement::Xor { period } => Linear::fit(&derivation.values(|(row, _)| row.rem_euclid(i64::from(period)))),
        Arrangement::Swizzle { pitch, bits } => row_shift(pitch, bits).and_then(|shift| {
            Linear::fit(&derivation.values(|(row, _)| ((row >> shift) & i64::from(ones(bits))) << bits.base))
        }),
        _ => None,
    };
    element(placement, row, col, delta).map(|(element, _)| element)
}

fn ones(bits: XorBits) -> u32 {
    ((1u64 << bits.bits.min(32)) - 1) as u32
}

/// Where the swizzle reads only the row's bits and changes only the column's: how far the row is shifted right.
fn row_shift(pitch: u32, bits: XorBits) -> Option<u32> {
    let column_bits = pitch.is_power_of_two().then(|| pitch.ilog2())?;
    let read = u32::try_from(i64::from(bits.base) + i64::from(bits.shift)).ok()?;
    (bits.shift > 0 && bits.base + bits.bits <= column_bits)
        .then(|| read.checked_sub(column_bits))
        .flatten()
}

fn flip(row: &Linear, bits: XorBits, shift: u32) -> String {
    let mut text = row.wrapped();
    if shift > 0 {
        text = format!("({text} >> {shift})");
    }
    text = format!("({text} & {})", ones(bits));
    if bits.base > 0 {
        format!("({text} << {})", bits.base)
    } else {
        text
    }
}

/// The first bank of a byte, and the same with the numbers reduced.
fn bank(bytes: &Linear) -> (String, String) {
    let reduced = |sum: &Linear, modulus| sum.clone().modulo(modulus);
    match bytes.clone().divided(4) {
        Some(words) => {
            let short = reduced(&words, 32);
            let text = match short.as_constant() {
                Some(constant) => constant.to_string(),
                None => format!("{} mod 32", short.wrapped()),
            };
            (format!("{} mod 32", words.wrapped()), text)
        }
        None => {
            let of = |sum: &Linear| format!("({} / 4) mod 32", sum.wrapped());
            (of(bytes), of(&reduced(bytes, 128)))
        }
    }
}
