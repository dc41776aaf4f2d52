//! Chores that ask a GPU, or compare the emulator with one: `cargo xtask-gpu --help`.

mod corpus;
mod differential;
mod occupancy_grid;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;

/// Chores of the tile33 workspace that ask a GPU, or compare the emulator with one.
#[derive(Parser)]
#[command(bin_name = "cargo xtask-gpu")]
enum Chore {
    Corpus(corpus::Args),
    Differential(differential::Args),
    OccupancyGrid(occupancy_grid::Args),
}

fn main() -> ExitCode {
    let result = match Chore::parse() {
        Chore::Corpus(args) => corpus::run(&args),
        Chore::Differential(args) => differential::run(&args),
        Chore::OccupancyGrid(args) => occupancy_grid::run(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The workspace's root: the current folder where this was carried to another machine.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.ancestors().nth(2).unwrap_or(here);
    if root.is_dir() { root.to_owned() } else { PathBuf::new() }
}
