//! Named parameters, with a value or a range of values.

use std::ops::RangeInclusive;

use crate::TextError;
use crate::language::{Builtin, Span};

/// Values that one range may have.
const MAX_VALUES: i64 = 4096;

/// A parameter: `stride=4` or `stride=1..=64`.
///
/// ```
/// use tile33_explain::Parameter;
/// assert_eq!(Parameter::parse("stride=4")?.values, 4..=4);
/// assert_eq!(Parameter::parse("stride = 1..5")?.values, 1..=4);
/// assert_eq!(Parameter::parse("tx=4").unwrap_err().column(), 1); // taken
/// # Ok::<(), tile33_explain::TextError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its values, at least one.
    pub values: RangeInclusive<i64>,
}

impl Parameter {
    /// Parses `name=value`, `name=first..=last` or `name=first..end`.
    ///
    /// # Errors
    ///
    /// What is no such thing, a name that is taken, an empty range, or one of more than 4,096 values.
    ///
    /// ```
    /// use tile33_explain::Parameter;
    /// assert_eq!(Parameter::parse("offset=-3")?.single(), Some(-3));
    /// assert!(Parameter::parse("k=5..5").is_err()); // no value
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn parse(source: &str) -> Result<Self, TextError> {
        let whole = Span {
            start: 0,
            end: source.len(),
        };
        let Some(equals) = source.find('=').filter(|at| !source[..*at].contains('.')) else {
            return Err(TextError::new(source, whole, "expected NAME=VALUE", "no `=`")
                .with_help("a parameter looks like `stride=4` or `stride=1..=64`"));
        };
        let name = source[..equals].trim();
        let span = Span { start: 0, end: equals };
        let valid = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_alphanumeric() || c == '_')
            && name != "if";
        if !valid {
            return Err(TextError::new(
                source,
                span,
                format!("`{name}` is no name"),
                "expected a name",
            ));
        }
        if Builtin::parse(name).is_some() {
            let message = format!("`{name}` is taken: every thread has its own");
            return Err(TextError::new(source, span, message, "taken").with_help("choose another name"));
        }
        Ok(Self {
            name: name.to_owned(),
            values: values(source, equals + 1)?,
        })
    }

    /// The values of a range or a single value, without a name.
    ///
    /// # Errors
    ///
    /// As [`parse`](Self::parse).
    ///
    /// ```
    /// assert_eq!(tile33_explain::Parameter::parse_values("1..=64"), Ok(1..=64));
    /// ```
    pub fn parse_values(source: &str) -> Result<RangeInclusive<i64>, TextError> {
        values(source, 0)
    }

    /// The value, if it is only one.
    ///
    /// ```
    /// assert_eq!(tile33_explain::Parameter::parse("k=3").unwrap().single(), Some(3));
    /// ```
    pub fn single(&self) -> Option<i64> {
        (self.values.start() == self.values.end()).then_some(*self.values.start())
    }
}

fn values(source: &str, at: usize) -> Result<RangeInclusive<i64>, TextError> {
    let number = |start: usize, end: usize| {
        let text = source[start..end].trim().replace('_', "");
        let (negative, digits) = text
            .strip_prefix('-')
            .map_or((false, text.as_str()), |digits| (true, digits));
        let value = match digits.strip_prefix("0x") {
            Some(hexadecimal) => i64::from_str_radix(hexadecimal, 16),
            None => digits.parse::<i64>(),
        };
        value.map(|value| if negative { -value } else { value }).map_err(|_| {
            let message = format!("`{text}` is no 64-bit integer");
            TextError::new(source, Span { start, end }, message, "expected an integer")
        })
    };
    let Some(dots) = source[at..].find("..").map(|dots| at + dots) else {
        let value = number(at, source.len())?;
        return Ok(value..=value);
    };
    let first = number(at, dots)?;
    let inclusive = source[dots..].starts_with("..=");
    let last = number(dots + if inclusive { 3 } else { 2 }, source.len())?;
    let last = if inclusive { Some(last) } else { last.checked_sub(1) };
    let span = Span {
        start: at,
        end: source.len(),
    };
    match last {
        Some(last) if last >= first => {
            if last.checked_sub(first).is_none_or(|more| more >= MAX_VALUES) {
                let message = format!("the range has more than {MAX_VALUES} values");
                return Err(TextError::new(source, span, message, "too many"));
            }
            Ok(first..=last)
        }
        _ => Err(TextError::new(source, span, "the range is empty", "no value")
            .with_help("`1..=64` counts 64 in, `1..64` does not")),
    }
}
