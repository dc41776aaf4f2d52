//! What is indexed: an element type and the lengths of the dimensions.

use std::fmt;

use crate::TextError;
use crate::language::Span;

/// An element type by its name, 1 to 16 bytes.
///
/// Known are Rust's (`f32`, `u8`, `f64`, ..), with `f16` and `bf16`, vectors of them (`f32x4`), and those of CUDA C++
/// (`float`, `float4`, `half`, ..).
///
/// ```
/// use tile33_explain::Element;
/// assert_eq!(Element::parse("bf16").map(|element| element.bytes), Some(2));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    /// As it was written.
    pub name: String,
    /// Bytes: 1, 2, 4, 8 or 16.
    pub bytes: u32,
}

impl Element {
    /// The element of a name, `None` if it is unknown or has another size.
    ///
    /// ```
    /// use tile33_explain::Element;
    /// assert_eq!(Element::parse("f32x4").unwrap().bytes, 16);
    /// assert_eq!(Element::parse("double2").unwrap().bytes, 16);
    /// assert!(Element::parse("f32x3").is_none());
    /// ```
    pub fn parse(name: &str) -> Option<Self> {
        let scalar = |name: &str| {
            Some(match name {
                "u8" | "i8" | "bool" | "char" | "uchar" => 1,
                "u16" | "i16" | "f16" | "bf16" | "half" | "short" | "ushort" => 2,
                "u32" | "i32" | "f32" | "float" | "int" | "uint" | "unsigned" => 4,
                "u64" | "i64" | "f64" | "double" | "usize" | "isize" | "longlong" | "ulonglong" => 8,
                "u128" | "i128" => 16,
                _ => return None,
            })
        };
        let vector = |name: &str| {
            let (rest, count) = name.split_at_checked(name.len().checked_sub(1)?)?;
            let count = count.parse::<u32>().ok()?;
            let base = match rest.strip_suffix('x') {
                Some(base) => base,
                // CUDA C++ writes float4, without an x; f324 would be nothing.
                None if !rest.ends_with(|c: char| c.is_ascii_digit()) => rest,
                None => return None,
            };
            Some(scalar(base)? * count)
        };
        let bytes = scalar(name).or_else(|| vector(name))?;
        matches!(bytes, 1 | 2 | 4 | 8 | 16).then(|| Self {
            name: name.to_owned(),
            bytes,
        })
    }
}

/// An array: `f32[32][33]`, or as Rust writes it, `[[f32; 33]; 32]`.
///
/// ```
/// use tile33_explain::Tile;
/// let tile = Tile::parse("f32[32][33]")?;
/// assert_eq!((tile.rows(), tile.cols(), tile.element.bytes), (32, 33, 4));
/// assert_eq!(Tile::parse("[[f32; 33]; 32]")?, tile);
/// assert_eq!(tile.to_string(), "f32[32][33]");
/// assert_eq!(Tile::parse("f32[32][0]").unwrap_err().column(), 9);
/// # Ok::<(), tile33_explain::TextError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tile {
    /// The element type.
    pub element: Element,
    /// Lengths, slowest first.
    pub lengths: Vec<u32>,
}

const MAX_DIMENSIONS: usize = 4;

impl Tile {
    /// Parses an array.
    ///
    /// # Errors
    ///
    /// An unknown element type, no or more than four lengths, a length of 0 or past 32 bits; with the column.
    ///
    /// ```
    /// use tile33_explain::Tile;
    /// assert_eq!(Tile::parse("f64[8]")?.lengths, [8]);
    /// assert_eq!(Tile::parse("f80[8]").unwrap_err().column(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn parse(source: &str) -> Result<Self, TextError> {
        let text = source.trim_start();
        let mut reader = Reader {
            source,
            at: source.len() - text.len(),
        };
        let tile = if text.starts_with('[') {
            reader.nested(0)?
        } else {
            reader.flat()?
        };
        reader.skip_space();
        if reader.at < source.len() {
            return Err(reader.error(source.len(), "nothing more is expected after the array", "unexpected"));
        }
        Ok(tile)
    }

    /// Elements of the last dimension.
    ///
    /// ```
    /// assert_eq!(tile33_explain::Tile::parse("u8[1024]").unwrap().cols(), 1024);
    /// ```
    pub fn cols(&self) -> u32 {
        self.lengths.last().copied().unwrap_or(1)
    }

    /// Rows of the last dimension, those of all others together; saturates.
    ///
    /// ```
    /// assert_eq!(tile33_explain::Tile::parse("f32[2][32][33]").unwrap().rows(), 64);
    /// ```
    pub fn rows(&self) -> u32 {
        let outer = self.lengths.split_last().map_or(&[][..], |(_, outer)| outer);
        outer.iter().fold(1, |rows: u32, length| rows.saturating_mul(*length))
    }
}

impl fmt::Display for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.element.name)?;
        self.lengths.iter().try_for_each(|length| write!(f, "[{length}]"))
    }
}

struct Reader<'a> {
    source: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.source[self.at..]
    }

    fn skip_space(&mut self) {
        self.at = self.source.len() - self.rest().trim_start().len();
    }

    fn error(&self, end: usize, message: &str, label: &str) -> TextError {
        let span = Span {
            start: self.at,
            end: end.max(self.at),
        };
        TextError::new(self.source, span, message, label)
            .with_help("an array looks like `f32[32][33]` (rows first) or `[[f32; 33]; 32]`")
    }

    /// The characters that `accept` accepts, from here on.
    fn run(&self, accept: impl Fn(char) -> bool) -> usize {
        self.at + self.rest().find(|c| !accept(c)).unwrap_or(self.rest().len())
    }

    fn expect(&mut self, character: char) -> Result<(), TextError> {
        self.skip_space();
        if !self.rest().starts_with(character) {
            let end = self.at + self.rest().chars().next().map_or(0, char::len_utf8);
            return Err(self.error(
                end,
                &format!("expected `{character}`"),
                &format!("expected `{character}`"),
            ));
        }
        self.at += character.len_utf8();
        Ok(())
    }

    fn element(&mut self) -> Result<Element, TextError> {
        self.skip_space();
        let end = self.run(|c| c.is_alphanumeric() || c == '_');
        let name = &self.source[self.at..end];
        let Some(element) = Element::parse(name) else {
            let message = if name.is_empty() {
                "expected an element type".into()
            } else {
                format!("`{name}` is no element type of 1, 2, 4, 8 or 16 bytes")
            };
            return Err(TextError::new(self.source, Span { start: self.at, end }, message, "element type")
                .with_help("known are u8 to u128, i8 to i128, f16, bf16, f32, f64, vectors such as f32x4, and float, double, half, float4"));
        };
        self.at = end;
        Ok(element)
    }

    fn length(&mut self) -> Result<u32, TextError> {
        self.skip_space();
        let end = self.run(|c| c.is_alphanumeric() || c == '_' || c == '-');
        match self.source[self.at..end].replace('_', "").parse::<u32>() {
            Ok(0) => Err(self.error(end, "a length of 0 holds nothing", "at least 1")),
            Ok(length) => {
                self.at = end;
                Ok(length)
            }
            Err(_) => Err(self.error(end, "expected a length, 1 to 4294967295", "expected a length")),
        }
    }

    fn flat(&mut self) -> Result<Tile, TextError> {
        let element = self.element()?;
        let mut lengths = Vec::new();
        loop {
            self.skip_space();
            if !lengths.is_empty() && !self.rest().starts_with('[') {
                return Ok(Tile { element, lengths });
            }
            self.check_dimensions(lengths.len())?;
            self.expect('[')?;
            lengths.push(self.length()?);
            self.expect(']')?;
        }
    }

    fn nested(&mut self, depth: usize) -> Result<Tile, TextError> {
        self.check_dimensions(depth)?;
        self.expect('[')?;
        self.skip_space();
        let mut tile = if self.rest().starts_with('[') {
            self.nested(depth + 1)?
        } else {
            Tile {
                element: self.element()?,
                lengths: Vec::new(),
            }
        };
        self.expect(';')?;
        tile.lengths.insert(0, self.length()?);
        self.expect(']')?;
        Ok(tile)
    }

    fn check_dimensions(&self, have: usize) -> Result<(), TextError> {
        if have < MAX_DIMENSIONS {
            Ok(())
        } else {
            Err(self.error(self.at + 1, "an array has at most 4 dimensions", "a fifth"))
        }
    }
}
