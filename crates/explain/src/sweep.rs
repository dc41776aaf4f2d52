//! One access for every value of a parameter.

use std::fmt::Write as _;
use std::ops::RangeInclusive;

use miette::Diagnostic;
use serde::Serialize;
use thiserror::Error;
use tile33_layout::Space;

use crate::render::{plain, write_table};
use crate::verdict::{gcd, verdict, ways};
use crate::{PatternError, Question};

/// The first value for which there is no answer, and why.
///
/// ```
/// use tile33_explain::{Question, Sweep};
/// let question = Question::new("f32[64]", "data[tx / k]", "32")?;
/// assert_eq!(Sweep::new(&question, "k", 0..=3).unwrap_err().value, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Diagnostic, Error)]
#[error("with {parameter} = {value}: {error}")]
#[diagnostic(forward(error))]
pub struct SweepError {
    /// The parameter.
    pub parameter: String,
    /// Its value.
    pub value: i64,
    /// Why.
    pub error: Box<PatternError>,
}

/// What an access costs for each value of a parameter.
///
/// ```
/// use tile33_explain::{Question, Sweep};
/// let question = Question::new("f32[2048]", "data[tx * stride]", "32")?;
/// let sweep = Sweep::new(&question, "stride", 1..=4)?;
/// assert_eq!(sweep.unit, "wavefronts");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sweep {
    /// The access.
    pub access: String,
    /// The array.
    pub tile: String,
    /// What is counted: `wavefronts` or `sectors`.
    pub unit: &'static str,
    /// The parameter's name.
    pub parameter: String,
    /// One for each value, in order.
    pub points: Vec<Point>,
    /// A formula that gives every point: `gcd(stride, 32)`.
    pub rule: Option<String>,
    /// What else the reader should know.
    pub notes: Vec<String>,
}

/// What an access costs for one value.
///
/// ```
/// use tile33_explain::{Question, Sweep};
/// let question = Question::new("f32[2048]", "data[tx * stride]", "32")?;
/// let sweep = Sweep::new(&question, "stride", 1..=4)?;
/// assert_eq!((sweep.points[3].value, sweep.points[3].cost), (4, 4));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// The parameter's value.
    pub value: i64,
    /// Wavefronts, or sectors in global memory.
    pub cost: u32,
    /// The same without conflicts.
    pub ideal: u32,
    /// The most that one bank is asked for at once.
    pub ways: u32,
    /// The verdict in one line.
    pub verdict: String,
}

impl Sweep {
    /// Asks the question for every value.
    ///
    /// # Errors
    ///
    /// The first value for which there is no answer, and why.
    ///
    /// ```
    /// use tile33_explain::{Question, Sweep};
    /// let question = Question::new("f32[2048]", "data[tx * stride]", "32")?;
    /// let sweep = Sweep::new(&question, "stride", 1..=64)?;
    /// assert_eq!(sweep.rule.as_deref(), Some("gcd(stride, 32)"));
    /// assert_eq!(sweep.points[31].cost, 32);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(question: &Question, parameter: &str, values: RangeInclusive<i64>) -> Result<Self, SweepError> {
        let mut question = question.clone();
        let mut points = Vec::new();
        let mut first_outside = None;
        let failed = |value, error| SweepError {
            parameter: parameter.to_owned(),
            value,
            error: Box::new(error),
        };
        let placement = question.placement().map_err(|error| failed(*values.start(), error))?;
        for value in values {
            question.threads.parameters.insert(parameter.to_owned(), value);
            let pattern = question.pattern(question.warp).map_err(|error| failed(value, error))?;
            let access = pattern
                .access(&placement, question.base)
                .map_err(|error| failed(value, error))?;
            if first_outside.is_none() && question.outside(&placement, &pattern).is_some() {
                first_outside = Some(value);
            }
            let (cost, ideal) = match access.space() {
                Space::Shared => (access.wavefronts(), access.ideal()),
                Space::Global => (access.sectors(), access.ideal_sectors()),
            };
            let ways = ways(&access.breakdown(), access.op());
            points.push(Point {
                value,
                cost,
                ideal,
                ways,
                verdict: verdict(&access),
            });
        }
        let tile = question.tile.to_string();
        let width = question.instruction.vector * question.tile.element.bytes;
        let notes = first_outside.map(|value| {
            format!("from {parameter} = {value} on, lanes leave {tile}: a real kernel would touch other memory there")
        });
        let shared = question.instruction.space == Space::Shared;
        Ok(Self {
            access: question.access.source.trim().to_owned(),
            rule: if shared { rule(parameter, width, &points) } else { None },
            tile,
            unit: if shared { "wavefronts" } else { "sectors" },
            parameter: parameter.to_owned(),
            points,
            notes: notes.into_iter().collect(),
        })
    }

    /// The sweep as text: a line for each value, the rule, and the values of each cost.
    ///
    /// ```
    /// use tile33_explain::{Question, Sweep};
    /// let question = Question::new("f32[2048]", "data[tx * stride]", "32")?;
    /// let sweep = Sweep::new(&question, "stride", 1..=4)?;
    /// assert!(sweep.render().contains("stride"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn render(&self) -> String {
        let Self {
            access,
            tile,
            unit,
            parameter,
            ..
        } = self;
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{access}, {tile}, for {} values of {parameter}\n",
            self.points.len()
        );
        let mut table = plain(&[parameter, unit, "ideal", ""], &[3]);
        for Point { value, cost, ideal, .. } in &self.points {
            let bar = "#".repeat(*cost as usize);
            table.add_row([value.to_string(), cost.to_string(), ideal.to_string(), bar]);
        }
        write_table(&mut text, &table);
        text.push('\n');
        if let Some(rule) = &self.rule {
            let _ = writeln!(text, "{unit} = {rule}");
        }
        let mut costs: Vec<u32> = self.points.iter().map(|point| point.cost).collect();
        costs.sort_unstable();
        costs.dedup();
        for cost in costs {
            let values = self
                .points
                .iter()
                .filter(|point| point.cost == cost)
                .map(|point| point.value);
            let _ = writeln!(
                text,
                "{cost:>4} {}: {parameter} = {}",
                if cost == 1 { &unit[..unit.len() - 1] } else { unit },
                list(&values.collect::<Vec<_>>())
            );
        }
        for note in &self.notes {
            let _ = writeln!(text, "note: {note}");
        }
        text
    }
}

/// "1, 3, 5, .. 63" for values at equal distances, else all of them.
fn list(values: &[i64]) -> String {
    let join = |values: &[i64]| values.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
    match values {
        [first, second, third, .., last]
            if values.len() > 4 && values.windows(2).all(|pair| pair[1] - pair[0] == second - first) =>
        {
            format!("{first}, {second}, {third}, .. {last}")
        }
        values => join(values),
    }
}

/// The cost as a multiple of the greatest common divisor of the value and the banks, where that holds for every value.
fn rule(parameter: &str, width: u32, points: &[Point]) -> Option<String> {
    let nonzero: Vec<_> = points.iter().filter(|point| point.value != 0).collect();
    let mut costs: Vec<_> = nonzero.iter().map(|point| point.cost).collect();
    costs.sort_unstable();
    costs.dedup();
    // One or two costs fit by chance.
    if costs.len() < 3 || nonzero.len() < points.len() {
        return None;
    }
    // The banks of a unit of the access's width, and the groups that each cost as much.
    let units = u64::from(128 / width.max(4));
    [1u32, 2, 4].into_iter().find_map(|factor| {
        let gcd_of =
            |point: &&&Point| u64::from(point.cost) == u64::from(factor) * gcd(point.value.unsigned_abs(), units);
        let rule = format!("gcd({parameter}, {units})");
        (nonzero.iter().filter(gcd_of).count() == nonzero.len()).then(|| {
            if factor == 1 {
                rule
            } else {
                format!("{factor} * {rule}")
            }
        })
    })
}
