//! `tile33 advise`.

use std::process::ExitCode;

use miette::{Result, miette};
use tile33_explain::{AccessSpec, Plan};

use super::output;
use super::request::{CardArgs, ThreadArgs, TileArgs};

/// Advise the cheapest layout that serves several accesses of one tile
///
/// Each access is written as for `tile33 explain`, with the instruction before it: `st tile[ty][tx]`, `ld tile[tx][ty]`,
/// `ld.v4 tile[ty][4 * tx]`; without one it is a load. All pitches of one period of the banks, `col ^ row` and CuTe's
/// swizzles are tried for all warps of the block.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  tile33 advise --tile f32[32][32] 'st tile[ty][tx]' 'ld tile[tx][ty]'
  tile33 advise --tile f32[64][64] --block 16x16 'st.v4 tile[ty][4 * tx]' 'ld tile[lane][warp]' --card sm_86")]
pub(crate) struct Args {
    /// The accesses of the tile, such as `st tile[ty][tx]`
    #[arg(required = true)]
    accesses: Vec<String>,
    #[command(flatten)]
    tile: TileArgs,
    #[command(flatten)]
    threads: ThreadArgs,
    #[command(flatten)]
    card: CardArgs,
    /// Show every layout that was tried
    #[arg(long)]
    all: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: Args) -> Result<ExitCode> {
    let (tile, arrangement) = args.tile.read()?;
    let accesses = args
        .accesses
        .iter()
        .map(|text| AccessSpec::parse(text))
        .collect::<Result<Vec<_>, _>>()?;
    let (threads, range) = args
        .threads
        .read(&accesses.iter().map(|spec| &spec.access).collect::<Vec<_>>())?;
    if let Some(range) = range {
        return Err(miette!(
            help =
                "advise once for each value that matters, or give the accesses of each value as accesses of their own",
            "`{}` has a range; advice is for one value",
            range.name
        ));
    }
    let names = || accesses.iter().map(|spec| spec.access.array.as_str());
    if let (Some(first), Some(other)) = (names().next(), names().find(|name| Some(*name) != names().next())) {
        return Err(miette!(
            help = "advise each array by itself: their layouts are independent",
            "the accesses are of two arrays, `{first}` and `{other}`; advice is for one"
        ));
    }
    let budget = args.card.read(threads.block.threads())?;
    let plan = Plan {
        tile,
        arrangement,
        base: args.tile.base,
        accesses,
        threads,
        budget,
    };
    let advice = plan.advise(args.all)?;
    if args.json {
        output::print_json(&advice)?;
    } else {
        output::print(&advice.render())?;
    }
    Ok(ExitCode::SUCCESS)
}
