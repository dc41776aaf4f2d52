//! What can be wrong with a text, and where.

use miette::{Diagnostic, SourceSpan};
use thiserror::Error;

use crate::language::Span;

/// Something in a text that has no meaning, with its place: in an access, a tile, a range.
///
/// ```
/// use tile33_explain::{TextError, Tile};
/// let error: TextError = Tile::parse("f32[").unwrap_err();
/// assert_eq!(error.column(), 5);
/// ```
#[derive(Clone, Debug, Diagnostic, Error, PartialEq)]
#[error("{message} (column {column})")]
pub struct TextError {
    message: String,
    column: usize,
    #[source_code]
    source_text: String,
    #[label("{label}")]
    span: SourceSpan,
    label: String,
    #[help]
    help: Option<String>,
}

impl TextError {
    pub(crate) fn new(source: &str, span: Span, message: impl Into<String>, label: impl Into<String>) -> Self {
        // A span at the end of the text still needs a character to point at.
        let end = span.end.min(source.len());
        let start = span.start.min(end);
        let mut source_text = source.to_owned();
        let mut length = end - start;
        if length == 0 && start == source.len() {
            source_text.push(' ');
            length = 1;
        }
        Self {
            message: message.into(),
            column: source[..start].chars().count() + 1,
            source_text,
            span: (start, length).into(),
            label: label.into(),
            help: None,
        }
    }

    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The same error in a text of which the original one was a copy with some parts blanked.
    pub(crate) fn within(mut self, source: &str) -> Self {
        if self.source_text.trim_end().len() <= source.len() {
            self.source_text = format!("{source} ");
        }
        self
    }

    /// Where, in characters from 1.
    ///
    /// ```
    /// use tile33_explain::language::Access;
    /// assert_eq!(Access::parse("tile[tx $ 3]").unwrap_err().column(), 9);
    /// ```
    pub fn column(&self) -> usize {
        self.column
    }

    /// What, without the place.
    ///
    /// ```
    /// use tile33_explain::language::Access;
    /// assert!(Access::parse("tile[]").unwrap_err().message().contains("expected"));
    /// ```
    pub fn message(&self) -> &str {
        &self.message
    }
}
