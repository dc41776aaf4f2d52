//! `tile33 explain`.

use std::process::ExitCode;

use miette::{Result, miette};
use tile33_explain::language::Access;
use tile33_explain::{Instruction, Question, Sweep};
use tile33_layout::{Op, Space};

use super::output;
use super::request::{CardArgs, ThreadArgs, TileArgs};

/// Explain what one access of a warp costs: lane, index, byte, bank; the verdict; what would cure it
///
/// The access is written as in a kernel: an array with one index per dimension. Names: tx ty tz (the thread), bx by bz (the
/// block), bdx bdy bdz (the block's dimensions), lane, warp, and those given with --let. Operators: + - * / % ^ & | << >>,
/// parentheses, and in a guard (`tile[tx][5] if tx < 16`) comparisons, && || !. Precedence is Rust's.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  tile33 explain --tile f32[32][32] 'tile[tx][5]'
  tile33 explain --tile f32[32][33] 'tile[tx][ty]' --block 32x8
  tile33 explain --tile f64[32][32] 'tile[ty][tx]' --op st
  tile33 explain --tile f32[32][32] 'tile[tx][4 * ty]' --vector 4 --swizzle 3,2,3
  tile33 explain --array f32[1024] 'data[tx * stride]' --stride 1..=64")]
pub(crate) struct Args {
    /// What each lane accesses, such as `tile[tx][5]`
    access: String,
    #[command(flatten)]
    tile: TileArgs,
    #[command(flatten)]
    threads: ThreadArgs,
    /// The instruction: ld, st, atom, red, cas, exch
    #[arg(long, default_value = "ld", value_parser = parse_op)]
    op: Op,
    /// Elements that each lane accesses at once; the index counts elements
    #[arg(long, default_value_t = 1, value_name = "ELEMENTS", value_parser = clap::value_parser!(u32).range(1..=16))]
    vector: u32,
    /// The warp of the block
    #[arg(long, default_value_t = 0)]
    warp: u32,
    /// The memory: shared (banks) or global (sectors)
    #[arg(long, default_value = "shared", value_parser = parse_space)]
    space: Space,
    /// Show every lane in the table
    #[arg(long)]
    all_lanes: bool,
    #[command(flatten)]
    card: CardArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn parse_op(name: &str) -> Result<Op, String> {
    Op::parse(name)
        .or(match name {
            "load" => Some(Op::Load),
            "store" => Some(Op::Store),
            "add" => Some(Op::Atom),
            _ => None,
        })
        .ok_or_else(|| "possible are ld, st, atom, red, cas, exch".into())
}

fn parse_space(name: &str) -> Result<Space, String> {
    match name {
        "shared" => Ok(Space::Shared),
        "global" => Ok(Space::Global),
        _ => Err("possible are shared and global".into()),
    }
}

pub(crate) fn run(args: Args) -> Result<ExitCode> {
    let (tile, arrangement) = args.tile.read()?;
    let access = Access::parse(&args.access)?;
    let (threads, range) = args.threads.read(&[&access])?;
    if !args.vector.is_power_of_two() {
        return Err(miette!(
            "`--vector {}`: a lane accesses 1, 2, 4, 8 or 16 elements at once",
            args.vector
        ));
    }
    if args.warp >= threads.block.warps() {
        let (block, warps) = (threads.block, threads.block.warps());
        return Err(miette!(
            "warp {} does not exist: a block of {block} has {warps}, from 0",
            args.warp
        ));
    }
    let question = Question {
        tile,
        arrangement,
        base: args.tile.base,
        instruction: Instruction {
            space: args.space,
            op: args.op,
            vector: args.vector,
        },
        access,
        budget: args.card.read(threads.block.threads())?,
        threads,
        warp: args.warp,
    };
    match range {
        Some(range) => {
            let sweep = Sweep::new(&question, &range.name, range.values)?;
            if args.json {
                output::print_json(&sweep)?;
            } else {
                output::print(&sweep.render())?;
            }
        }
        None => {
            let answer = question.answer()?;
            if args.json {
                output::print_json(&answer)?;
            } else {
                output::print(&answer.render(args.all_lanes))?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}
