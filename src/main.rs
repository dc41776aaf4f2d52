//! The `tile33` command. Exit code 0: done, 2: the request cannot be carried out; a subcommand may have others.

mod cli;

use std::process::ExitCode;

use clap::Parser;

/// Shared-memory layout on NVIDIA GPUs: what it costs, why, and what would cure it.
#[derive(Parser)]
#[command(name = "tile33", version)]
enum Command {
    Check(cli::check::Args),
    Explain(cli::explain::Args),
    Advise(cli::advise::Args),
    Wavefronts(cli::wavefronts::Args),
    Run(cli::run::Args),
}

fn main() -> ExitCode {
    let result = match Command::parse() {
        Command::Check(args) => cli::check::run(args),
        Command::Explain(args) => cli::explain::run(args),
        Command::Advise(args) => cli::advise::run(args),
        Command::Wavefronts(args) => cli::wavefronts::run(args),
        Command::Run(args) => cli::run::run(args),
    };
    result.unwrap_or_else(|error| {
        // miette's fancy text needs the alternate form of Debug.
        eprintln!("{error:?}");
        ExitCode::from(2)
    })
}
