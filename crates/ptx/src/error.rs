use crate::Pos;

/// Why a PTX text is not a module, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}, found {}", shown(.found))]
pub struct ParseError {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// What is wrong, or what was expected.
    pub message: String,
    /// The offending text; empty at the end of the file.
    pub found: String,
}

/// The longest piece of the text that an error repeats, in characters.
const LONGEST_FOUND: usize = 60;

impl ParseError {
    #[cold]
    pub(crate) fn new(pos: Pos, message: impl Into<String>, found: &str) -> Box<Self> {
        let mut found: String = found
            .lines()
            .next()
            .unwrap_or("")
            .chars()
            .take(LONGEST_FOUND + 1)
            .collect();
        if let Some((at, _)) = found.char_indices().nth(LONGEST_FOUND) {
            found.truncate(at);
            found.push('…');
        }
        Box::new(Self {
            line: pos.line,
            column: pos.column,
            message: message.into(),
            found,
        })
    }

    /// Where, as a [`Pos`].
    pub fn pos(&self) -> Pos {
        Pos {
            line: self.line,
            column: self.column,
        }
    }
}

fn shown(found: &str) -> String {
    if found.is_empty() {
        "the end of the file".into()
    } else {
        format!("`{}`", found.escape_debug())
    }
}

/// What the parser's own functions return: boxed, because it is carried through every token.
pub(crate) type Result<T> = std::result::Result<T, Box<ParseError>>;
