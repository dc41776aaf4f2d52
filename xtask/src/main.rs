//! Chores of the workspace: `cargo xtask --help`. Those that ask a GPU are `cargo xtask-gpu`: this one must build in
//! seconds, for it sets up what the rest is built with.

mod ptx;
mod toolchain;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;

/// Chores of the tile33 workspace.
#[derive(Parser)]
#[command(bin_name = "cargo xtask")]
enum Chore {
    Ptx(ptx::Args),
    Toolchain(toolchain::Args),
}

fn main() -> ExitCode {
    let result = match Chore::parse() {
        Chore::Ptx(args) => ptx::run(&args),
        Chore::Toolchain(args) => toolchain::run(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The workspace's root.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}
