//! `tile33 wavefronts`.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use miette::{IntoDiagnostic, Result, WrapErr, miette};
use tile33_explain::lines::cost_of_line;

use super::output::ignoring_closed;

/// Print what each access of a file costs: wavefronts in shared memory, sectors in global memory
///
/// The file has one JSON object a line: {"space":"shared","op":"ld","width":4,"mask":"0xffffffff","addrs":[0,4,..]} with op
/// ld, st, atom, red, cas or exch, width in bytes per lane and 32 byte addresses. Other fields are ignored. The answer is one
/// number a line. A line that is no access ends the command with exit code 2, after the numbers of the lines before.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The file, `-` for the standard input
    file: PathBuf,
}

pub(crate) fn run(args: Args) -> Result<ExitCode> {
    let (input, name): (Box<dyn Read>, String) = if args.file.as_os_str() == "-" {
        (Box::new(io::stdin().lock()), "the standard input".into())
    } else {
        let name = args.file.display().to_string();
        (
            Box::new(
                File::open(&args.file)
                    .into_diagnostic()
                    .wrap_err_with(|| format!("cannot open {name}"))?,
            ),
            name,
        )
    };
    let mut input = BufReader::with_capacity(1 << 16, input);
    let mut output = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let mut line = Vec::new();
    for number in 1u64.. {
        line.clear();
        let length = input
            .read_until(b'\n', &mut line)
            .into_diagnostic()
            .wrap_err_with(|| format!("cannot read {name}"))?;
        if length == 0 {
            break;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let cost = match cost_of_line(&line) {
            Ok(cost) => cost,
            Err(error) => {
                ignoring_closed(output.flush())?;
                let column = error
                    .column()
                    .map(|column| format!(", column {column}"))
                    .unwrap_or_default();
                return Err(miette!(help = error.help(), "{name}, line {number}{column}: {error}"));
            }
        };
        match writeln!(output, "{cost}") {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(ExitCode::SUCCESS),
            result => ignoring_closed(result)?,
        }
    }
    ignoring_closed(output.flush())?;
    Ok(ExitCode::SUCCESS)
}
