//! The options that `explain` and `advise` share: the tile, the threads, the card.

use std::collections::BTreeMap;

use miette::{Result, miette};
use tile33_explain::language::Access;
use tile33_explain::{Arrangement, Block, Budget, Parameter, Threads, Tile};
use tile33_layout::XorBits;
use tile33_layout::occupancy::{CARDS, Card};

/// The tile and how it lies.
#[derive(clap::Args)]
pub(crate) struct TileArgs {
    /// The array, rows first: `f32[32][33]`, or `[[f32; 33]; 32]`
    #[arg(long, visible_alias = "array", value_name = "TYPE[ROWS][COLS]")]
    tile: String,
    /// Elements from a row to the next, at least the columns [default: the columns]
    #[arg(long, value_name = "ELEMENTS")]
    pitch: Option<u32>,
    /// CuTe's Swizzle<B, M, S> on offsets in elements, or `xor` (col ^ row), or `xor:PERIOD`
    #[arg(long, value_name = "B,M,S")]
    swizzle: Option<String>,
    /// Byte of shared memory at which the tile starts
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    pub(crate) base: u32,
}

/// The threads, and the values of names.
#[derive(clap::Args)]
pub(crate) struct ThreadArgs {
    /// Threads of the block along x, y, z
    #[arg(long, value_name = "XxYxZ", default_value = "32x8")]
    block: String,
    /// The block's place in the grid: bx, by, bz
    #[arg(long, value_name = "X,Y,Z", default_value = "0,0,0", value_delimiter = ',')]
    block_index: Vec<u32>,
    /// The value of a name that the access uses, or a range of values (one name only)
    #[arg(long = "let", value_name = "NAME=VALUE|FIRST..=LAST", allow_hyphen_values = true)]
    parameters: Vec<String>,
    /// Short for `--let stride=..`
    #[arg(long, value_name = "VALUE|FIRST..=LAST", allow_hyphen_values = true)]
    stride: Option<String>,
}

/// What bytes are paid with.
#[derive(clap::Args)]
pub(crate) struct CardArgs {
    /// The card whose occupancy is shown: sm_75 to sm_121, or a product such as H200
    #[arg(long, value_name = "NAME", default_value = "sm_90")]
    card: String,
    /// Registers per thread of the kernel
    #[arg(long, value_name = "COUNT", default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=255))]
    registers: u32,
    /// Bytes of shared memory that the kernel has besides the tile
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    other_bytes: u32,
}

impl TileArgs {
    /// The tile and its arrangement.
    pub(crate) fn read(&self) -> Result<(Tile, Arrangement)> {
        let tile = Tile::parse(&self.tile)?;
        let pitch = self.pitch.unwrap_or(tile.cols());
        let arrangement = match self.swizzle.as_deref() {
            None | Some("none") => Arrangement::Pitch(pitch),
            Some(swizzle) => self.swizzled(swizzle, &tile, pitch)?,
        };
        Ok((tile, arrangement))
    }

    fn swizzled(&self, swizzle: &str, tile: &Tile, pitch: u32) -> Result<Arrangement> {
        if let Some(period) = swizzle.strip_prefix("xor") {
            if self.pitch.is_some_and(|pitch| pitch != tile.cols()) {
                return Err(miette!(
                    "`--swizzle xor` has no padding: leave `--pitch` out, or use `--swizzle B,M,S`"
                ));
            }
            let period = match period.strip_prefix(':') {
                // What repeats later than the banks do gains nothing.
                None if period.is_empty() => 1 << tile.cols().trailing_zeros().min(5),
                Some(number) => number.parse().map_err(|_| wrong_swizzle(swizzle))?,
                None => return Err(wrong_swizzle(swizzle)),
            };
            return Ok(Arrangement::Xor { period });
        }
        let parts: Vec<&str> = swizzle.split(',').map(str::trim).collect();
        let [bits, base, shift] = parts.as_slice() else {
            return Err(wrong_swizzle(swizzle));
        };
        let unsigned = |text: &str| text.parse::<u32>().map_err(|_| wrong_swizzle(swizzle));
        let bits = XorBits {
            bits: unsigned(bits)?,
            base: unsigned(base)?,
            shift: shift.parse().map_err(|_| wrong_swizzle(swizzle))?,
        };
        Ok(Arrangement::Swizzle { pitch, bits })
    }
}

fn wrong_swizzle(swizzle: &str) -> miette::Report {
    miette!(
        help = "CuTe's Swizzle<B, M, S>: flip B bits, keep the lowest M, by the bits S above; `5,0,5` is col ^ row in a tile \
                32 wide",
        "`{swizzle}` is no swizzle: expected B,M,S, or xor, or xor:PERIOD"
    )
}

impl ThreadArgs {
    /// The block.
    pub(crate) fn block(&self) -> Result<Block> {
        Ok(Block::parse(&self.block)?)
    }

    /// The threads with all names that have a single value, and the name that has a range. Each must occur in an access.
    pub(crate) fn read(&self, accesses: &[&Access]) -> Result<(Threads, Option<Parameter>)> {
        let [x, y, z] = match self.block_index.as_slice() {
            [x] => [*x, 0, 0],
            [x, y] => [*x, *y, 0],
            [x, y, z] => [*x, *y, *z],
            more => {
                return Err(miette!(
                    "`--block-index` has {} numbers; a grid has three dimensions",
                    more.len()
                ));
            }
        };
        let mut parameters = BTreeMap::new();
        let mut range: Option<Parameter> = None;
        let stride = self.stride.iter().map(|values| {
            Parameter::parse_values(values).map(|values| Parameter {
                name: "stride".to_owned(),
                values,
            })
        });
        for parameter in self.parameters.iter().map(|text| Parameter::parse(text)).chain(stride) {
            let parameter = parameter?;
            let name = &parameter.name;
            if !accesses.iter().any(|access| access.uses_parameter(name)) {
                return Err(miette!("`{name}` is given a value, but the access does not use it"));
            }
            if parameters.contains_key(name) || range.as_ref().is_some_and(|range| range.name == *name) {
                return Err(miette!("`{name}` is given twice; which value is meant?"));
            }
            match (parameter.single(), &range) {
                (Some(value), _) => drop(parameters.insert(parameter.name, value)),
                (None, None) => range = Some(parameter),
                (None, Some(other)) => {
                    return Err(miette!(
                        "`{}` and `{name}` both have ranges; give one of them a single value",
                        other.name
                    ));
                }
            }
        }
        Ok((
            Threads {
                block: self.block()?,
                block_index: [x, y, z],
                parameters,
            },
            range,
        ))
    }
}

impl CardArgs {
    /// What bytes are paid with by blocks of so many threads.
    pub(crate) fn read(&self, block_threads: u32) -> Result<Budget> {
        let card = Card::find(&self.card).ok_or_else(|| {
            let known: Vec<_> = CARDS.iter().map(|card| card.name).collect();
            miette!(
                help = format!("known are {}", known.join(", ")),
                "`{}` is no card known here",
                self.card
            )
        })?;
        Ok(Budget {
            card,
            block_threads,
            registers: self.registers,
            other_bytes: self.other_bytes,
        })
    }
}
