//! Chores of the workspace.
mod occupancy_grid;

use std::process::ExitCode;

use clap::Parser;

/// Chores of the tile33 workspace.
#[derive(Parser)]
enum Chore {
    OccupancyGrid(occupancy_grid::Args),
}

fn main() -> ExitCode {
    let result = match Chore::parse() {
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
