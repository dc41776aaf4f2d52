//! Writing to the standard output.

use std::io::{self, Write};

use miette::{IntoDiagnostic, WrapErr};

/// Writes the text; styles reach the reader only if the output is a terminal and `NO_COLOR` is not set.
pub(crate) fn print(text: &str) -> miette::Result<()> {
    let mut output = anstream::stdout().lock();
    ignoring_closed(output.write_all(text.as_bytes()).and_then(|()| output.flush()))
}

/// The value as JSON.
pub(crate) fn print_json(value: &impl serde::Serialize) -> miette::Result<()> {
    let text = serde_json::to_string_pretty(value).into_diagnostic()?;
    print(&format!("{text}\n"))
}

/// A reader that has seen enough (`tile33 .. | head`) is no error.
pub(crate) fn ignoring_closed(result: io::Result<()>) -> miette::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.into_diagnostic().wrap_err("cannot write to the standard output"),
    }
}
