use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use miette::{Diagnostic, NamedSource, SourceSpan};
use tile33_sim::{LoadError, MemoryError};

/// Why a launch file cannot be used. Shown by miette, the line of the file that is at fault is quoted.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[non_exhaustive]
pub enum LaunchFileError {
    /// The launch file itself cannot be read.
    #[error("cannot read the launch file {}: {error}", path.display())]
    Read {
        /// Its path.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Something in the file is wrong.
    #[error("{message}")]
    Invalid {
        /// What.
        message: String,
        /// Line in the launch file, from 1.
        line: usize,
        /// What to do.
        #[help]
        help: Option<String>,
        /// The file.
        #[source_code]
        source_code: Arc<NamedSource<String>>,
        /// The place in the file.
        #[label("here")]
        span: SourceSpan,
    },
    /// The PTX is not PTX.
    #[error("{}: {message}", path.display())]
    Ptx {
        /// Its path.
        path: PathBuf,
        /// What is wrong, with line and column.
        message: String,
        /// The PTX.
        #[source_code]
        source_code: Arc<NamedSource<String>>,
        /// The place in it.
        #[label("here")]
        span: Option<SourceSpan>,
    },
    /// The emulator's memory.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// A result cannot be written.
    #[error("cannot write {}: {error}", path.display())]
    Write {
        /// Where to.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

impl LaunchFileError {
    /// The error for a text that is not PTX.
    pub(super) fn ptx(path: &Path, text: &str, error: &LoadError) -> Self {
        let span = match error {
            LoadError::Parse(error) => Some(span_at(text, error.line, error.column)),
            _ => None,
        };
        let source_code = Arc::new(NamedSource::new(path.display().to_string(), text.to_owned()));
        Self::Ptx {
            path: path.into(),
            message: error.to_string(),
            source_code,
            span,
        }
    }
}

/// The rest of the word at a line and column, both from 1.
fn span_at(text: &str, line: u32, column: u32) -> SourceSpan {
    let start: usize = text
        .split_inclusive('\n')
        .take(line.saturating_sub(1) as usize)
        .map(str::len)
        .sum();
    let rest = text.get(start..).unwrap_or("");
    let offset = rest
        .char_indices()
        .nth(column.saturating_sub(1) as usize)
        .map_or(rest.len(), |(at, _)| at);
    let word = rest[offset..]
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || "_$%.".contains(*c))
        .count();
    (start + offset, word.max(1).min(rest.len() - offset)).into()
}

/// The text of a launch file, for errors.
#[derive(Clone, Debug)]
pub(super) struct Source(Arc<NamedSource<String>>);

impl Source {
    pub(super) fn new(path: &Path, text: String) -> Self {
        Self(Arc::new(
            NamedSource::new(path.display().to_string(), text).with_language("TOML"),
        ))
    }

    pub(super) fn text(&self) -> &str {
        self.0.inner()
    }

    /// An error at a place in the file.
    pub(super) fn invalid(
        &self,
        span: Range<usize>,
        message: impl Into<String>,
        help: impl Into<Option<&'static str>>,
    ) -> LaunchFileError {
        let line = self.text().get(..span.start).unwrap_or("").matches('\n').count() + 1;
        LaunchFileError::Invalid {
            message: message.into(),
            line,
            help: help.into().map(str::to_owned),
            source_code: self.0.clone(),
            span: span.into(),
        }
    }

    /// What the TOML reader says.
    pub(super) fn syntax(&self, error: &toml::de::Error) -> LaunchFileError {
        let end = self.text().len();
        self.invalid(error.span().unwrap_or(end..end), error.message(), None)
    }
}
