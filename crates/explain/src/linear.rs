//! Formulas the way a reader derives them: `(33 * lane + 5) mod 32 = (lane + 5) mod 32`.

use std::fmt;

use crate::language::{BinaryOp, Builtin, Expr, ExprKind, UnaryOp};

/// A sum of multiples of things that are not taken apart further: names, `lane % 16`, `(tx ^ ty)`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Linear {
    pub(crate) terms: Vec<Term>,
    pub(crate) constant: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Term {
    pub(crate) coefficient: i64,
    pub(crate) atom: String,
}

impl Linear {
    pub(crate) fn constant(constant: i64) -> Self {
        Self {
            terms: Vec::new(),
            constant,
        }
    }

    pub(crate) fn atom(atom: impl Into<String>) -> Self {
        Self {
            terms: vec![Term {
                coefficient: 1,
                atom: atom.into(),
            }],
            constant: 0,
        }
    }

    pub(crate) fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    pub(crate) fn add(mut self, other: &Self) -> Option<Self> {
        self.constant = self.constant.checked_add(other.constant)?;
        for term in &other.terms {
            match self.terms.iter_mut().find(|known| known.atom == term.atom) {
                Some(known) => known.coefficient = known.coefficient.checked_add(term.coefficient)?,
                None => self.terms.push(term.clone()),
            }
        }
        self.terms.retain(|term| term.coefficient != 0);
        Some(self)
    }

    pub(crate) fn times(mut self, factor: i64) -> Option<Self> {
        self.constant = self.constant.checked_mul(factor)?;
        for term in &mut self.terms {
            term.coefficient = term.coefficient.checked_mul(factor)?;
        }
        self.terms.retain(|term| term.coefficient != 0);
        Some(self)
    }

    /// Divided by what divides every part, else `None`.
    pub(crate) fn divided(mut self, divisor: i64) -> Option<Self> {
        let divides = |number: &i64| number % divisor == 0;
        if !divides(&self.constant) || !self.terms.iter().all(|term| divides(&term.coefficient)) {
            return None;
        }
        self.constant /= divisor;
        self.terms.iter_mut().for_each(|term| term.coefficient /= divisor);
        Some(self)
    }

    /// The same modulo `modulus`: every number in `0..modulus`.
    pub(crate) fn modulo(mut self, modulus: i64) -> Self {
        self.constant = self.constant.rem_euclid(modulus);
        self.terms
            .iter_mut()
            .for_each(|term| term.coefficient = term.coefficient.rem_euclid(modulus));
        self.terms.retain(|term| term.coefficient != 0);
        self
    }

    /// In parentheses unless it is a single number or name.
    pub(crate) fn wrapped(&self) -> String {
        let text = self.to_string();
        let simple = text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.');
        let enclosed = text.starts_with('(') && text.ends_with(')') && text.matches('(').count() == 1;
        let called = self.constant == 0 && self.terms.len() == 1 && text.starts_with("swizzle(");
        if simple || enclosed || called {
            text
        } else {
            format!("({text})")
        }
    }

    /// `expr` as a sum. `builtin` says what a name is, `known` what a whole subexpression is, where that is simpler.
    /// `None` if numbers overflow or a name has no value.
    pub(crate) fn of(
        expr: &Expr,
        builtin: &dyn Fn(Builtin) -> Self,
        parameter: &dyn Fn(&str) -> Option<i64>,
        known: &dyn Fn(&Expr) -> Option<Self>,
    ) -> Option<Self> {
        if let Some(simpler) = known(expr) {
            return Some(simpler);
        }
        let inner = |expr| Self::of(expr, builtin, parameter, known);
        match &expr.kind {
            ExprKind::Integer(value) => Some(Self::constant(*value)),
            ExprKind::Builtin(name) => Some(builtin(*name)),
            ExprKind::Parameter(name) => parameter(name).map(Self::constant),
            ExprKind::Unary(UnaryOp::Negate, operand) => inner(operand)?.times(-1),
            ExprKind::Unary(UnaryOp::Not, operand) => Some(Self::atom(format!("!{}", inner(operand)?.wrapped()))),
            ExprKind::Binary(op, _, left, right) => {
                let (left, right) = (inner(left)?, inner(right)?);
                match (op, left.as_constant(), right.as_constant()) {
                    (BinaryOp::Add, ..) => left.add(&right),
                    (BinaryOp::Subtract, ..) => left.add(&right.times(-1)?),
                    (BinaryOp::Multiply, _, Some(factor)) => left.times(factor),
                    (BinaryOp::Multiply, Some(factor), _) => right.times(factor),
                    (BinaryOp::ShiftLeft, _, Some(shift @ 0..=62)) => left.times(1 << shift),
                    _ => Some(Self::atom(format!(
                        "({} {} {})",
                        left.wrapped(),
                        op.symbol(),
                        right.wrapped()
                    ))),
                }
            }
        }
    }

    /// The simplest sum over `lane` that has these values in the active lanes: a constant, a multiple of `lane`, or
    /// multiples of `lane % d` and `lane / d` for a power of two.
    pub(crate) fn fit(values: &[Option<i64>; 32]) -> Option<Self> {
        let active: Vec<(i64, i64)> = values
            .iter()
            .zip(0..)
            .filter_map(|(value, lane)| value.map(|value| (lane, value)))
            .collect();
        let (first_lane, first) = *active.first()?;
        if active.iter().all(|(_, value)| *value == first) {
            return Some(Self::constant(first));
        }
        let (second_lane, second) = *active.get(1)?;
        let rise = second.checked_sub(first)?;
        if rise % (second_lane - first_lane) == 0 {
            let step = rise / (second_lane - first_lane);
            let start = first.checked_sub(step.checked_mul(first_lane)?)?;
            let line = |lane: i64| step.checked_mul(lane)?.checked_add(start);
            if active.iter().all(|(lane, value)| line(*lane) == Some(*value)) {
                return Self::atom("lane").times(step)?.add(&Self::constant(start));
            }
        }
        let at = |lane: usize| values.get(lane).copied().flatten();
        [2i64, 4, 8, 16].into_iter().find_map(|d| {
            let start = at(0)?;
            let within = at(1)?.checked_sub(start)?;
            let across = at(d as usize)?.checked_sub(start)?;
            let plane = |lane: i64| {
                within
                    .checked_mul(lane % d)?
                    .checked_add(across.checked_mul(lane / d)?)?
                    .checked_add(start)
            };
            if !active.iter().all(|(lane, value)| plane(*lane) == Some(*value)) {
                return None;
            }
            let within = Self::atom(format!("(lane % {d})")).times(within)?;
            let across = Self::atom(format!("(lane / {d})")).times(across)?;
            within.add(&across)?.add(&Self::constant(start))
        })
    }
}

impl fmt::Display for Linear {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        for Term { coefficient, atom } in &self.terms {
            let sign = match (first, *coefficient < 0) {
                (true, true) => "-",
                (true, false) => "",
                (false, true) => " - ",
                (false, false) => " + ",
            };
            f.write_str(sign)?;
            if coefficient.unsigned_abs() == 1 {
                f.write_str(atom)?;
            } else {
                write!(f, "{} * {atom}", coefficient.unsigned_abs())?;
            }
            first = false;
        }
        match (first, self.constant) {
            (true, constant) => write!(f, "{constant}"),
            (false, 0) => Ok(()),
            (false, constant) if constant < 0 => write!(f, " - {}", constant.unsigned_abs()),
            (false, constant) => write!(f, " + {constant}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::Access;

    fn named(text: &str) -> String {
        let access = Access::parse(&format!("a[{text}]")).expect("an expression");
        let parameter = |name: &str| (name == "k").then_some(4);
        Linear::of(
            &access.indices[0],
            &|name| Linear::atom(name.name()),
            &parameter,
            &|_| None,
        )
        .expect("a sum")
        .to_string()
    }

    #[test]
    fn sums_are_collected() {
        assert_eq!(named("tx * 33 + 5 - tx + 2 * (ty + 1)"), "32 * tx + 2 * ty + 7");
        assert_eq!(named("(tx << 2) + k * tx - 1"), "8 * tx - 1");
        assert_eq!(named("-tx"), "-tx");
        assert_eq!(named("tx - tx"), "0");
    }

    #[test]
    fn what_is_no_sum_stays_together() {
        assert_eq!(named("(tx ^ ty) * 2 + tx % 16"), "2 * (tx ^ ty) + (tx % 16)");
    }

    #[test]
    fn values_are_recognised() {
        let fit = |value: fn(i64) -> i64| {
            Linear::fit(&std::array::from_fn(|lane| Some(value(lane as i64)))).map(|linear| linear.to_string())
        };
        assert_eq!(fit(|_| 7).as_deref(), Some("7"));
        assert_eq!(fit(|lane| 33 * lane + 5).as_deref(), Some("33 * lane + 5"));
        assert_eq!(
            fit(|lane| lane % 16 * 33 + lane / 16).as_deref(),
            Some("33 * (lane % 16) + (lane / 16)")
        );
        assert_eq!(fit(|lane| lane / 8).as_deref(), Some("(lane / 8)"));
        assert_eq!(fit(|lane| lane * lane), None);
    }

    #[test]
    fn modulo_leaves_no_number_outside() {
        let linear = Linear::atom("lane")
            .times(33)
            .and_then(|linear| linear.add(&Linear::constant(-3)));
        assert_eq!(linear.expect("small numbers").modulo(32).to_string(), "lane + 29");
    }
}
