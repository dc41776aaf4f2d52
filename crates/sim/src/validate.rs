//! Whether a launch fits its kernel and its card, before anything runs.

use tile33_layout::occupancy::{
    Card, MAX_BLOCK_THREADS, MAX_GRID_X, MAX_GRID_YZ, MAX_THREAD_REGISTERS, REGISTERS, SHARED_WITHOUT_OPT_IN, occupancy,
};
use tile33_ptx::{Function, KernelParameter, Type};

use crate::exec::LOCAL_LIMIT;
use crate::launch::{Arg, Launch, LaunchError};
use crate::program::multiprocessors;
use crate::report::{DeclaredRegisters, Residency};

/// Checks dimensions, registers and shared memory. Returns the occupancy.
pub(crate) fn limits(launch: &Launch, kernel: &Function, static_shared: u64) -> Result<Residency, LaunchError> {
    let card = launch.options.card;
    dimensions(
        "grid",
        launch.grid,
        [MAX_GRID_X, MAX_GRID_YZ, MAX_GRID_YZ].map(u64::from),
        card,
    )?;
    let most = u64::from(MAX_BLOCK_THREADS);
    let blocks = launch.grid.iter().map(|n| u64::from(*n)).product::<u64>();
    if blocks > MOST_BLOCKS {
        return Err(LaunchError::Invalid(format!(
            "a grid of {blocks} blocks would take the emulator days; it runs at most {MOST_BLOCKS}"
        )));
    }
    dimensions("block", launch.block, [most, most, 64], card)?;
    let threads: u64 = launch.block.iter().map(|n| u64::from(*n)).product();
    if threads > most {
        return Err(LaunchError::BlockThreads {
            asked: threads,
            limit: most,
            limited_by: card.name.to_owned(),
        });
    }
    let bounds = &kernel.bounds;
    if let Some(required) = bounds.required_threads
        && required != launch.block
    {
        return Err(LaunchError::RequiredThreads {
            entry: launch.entry.clone(),
            required,
            asked: launch.block,
        });
    }
    if let Some(max) = bounds.max_threads {
        let limit = max.iter().fold(1u64, |n, m| n.saturating_mul(u64::from(*m)));
        if threads > limit {
            let limited_by = format!("`{}` (.maxntid)", launch.entry);
            return Err(LaunchError::BlockThreads {
                asked: threads,
                limit,
                limited_by,
            });
        }
    }
    let dynamic = u64::from(launch.dynamic_shared);
    if static_shared > u64::from(SHARED_WITHOUT_OPT_IN) {
        return Err(LaunchError::Invalid(format!(
            "`{}` declares {static_shared} bytes of static shared memory; at most {SHARED_WITHOUT_OPT_IN} may be \
             static, more must be dynamic",
            launch.entry
        )));
    }
    if static_shared + dynamic > u64::from(card.block_bytes()) {
        return Err(LaunchError::SharedMemory {
            static_bytes: static_shared,
            dynamic_bytes: dynamic,
            available: u64::from(card.block_bytes()),
            card: card.name.to_owned(),
        });
    }
    let registers = launch.options.registers.or(bounds.max_registers);
    let known = registers.unwrap_or(0);
    if known > MAX_THREAD_REGISTERS {
        return Err(LaunchError::ThreadRegisters {
            registers: known,
            limit: MAX_THREAD_REGISTERS,
            card: card.name.to_owned(),
        });
    }
    let found = occupancy(card, threads as u32, known, static_shared as u32, launch.dynamic_shared);
    if found.by_registers == 0 {
        return Err(LaunchError::Registers {
            registers: known,
            threads,
            limit: u64::from(REGISTERS),
            card: card.name.to_owned(),
        });
    }
    let limits = [
        ("warps", found.by_warps),
        ("block slots", found.by_slots),
        ("registers", found.by_registers),
        ("shared memory", found.by_shared),
    ];
    let limited_by: Vec<&str> = limits
        .iter()
        .filter(|(_, n)| *n == found.blocks)
        .map(|(name, _)| *name)
        .collect();
    Ok(Residency {
        card: card.name.to_owned(),
        registers,
        declared_registers: kernel
            .declared_registers()
            .into_iter()
            .map(|(bits, count)| DeclaredRegisters { bits, count })
            .collect(),
        static_shared: static_shared as u32,
        dynamic_shared: launch.dynamic_shared,
        blocks_per_sm: found.blocks,
        occupancy_percent: 100 * found.warps / card.warps(),
        limited_by: limited_by.join(", "),
    })
}

/// Checks that all blocks of a cooperative launch are resident at once.
pub(crate) fn cooperative(launch: &Launch, blocks: u64, per_multiprocessor: u32) -> Result<(), LaunchError> {
    let card = launch.options.card;
    let resident = u64::from(per_multiprocessor) * u64::from(multiprocessors(card.name));
    if blocks <= resident {
        return Ok(());
    }
    Err(LaunchError::Cooperative {
        blocks,
        resident,
        card: card.name.to_owned(),
    })
}

/// Most blocks of a grid: their numbers have 32 bits.
const MOST_BLOCKS: u64 = u32::MAX as u64;

/// Bytes of the constant bank that `.const` variables share.
const CONSTANT_BYTES: u64 = 64 << 10;

/// Checks the size of the module's `.const` variables.
pub(crate) fn constants(bytes: u64) -> Result<(), LaunchError> {
    if bytes <= CONSTANT_BYTES {
        return Ok(());
    }
    Err(LaunchError::Invalid(format!(
        "the module has {bytes} bytes of .const variables, of which there can be {CONSTANT_BYTES}"
    )))
}

/// Checks the size of a kernel's local variables; functions that it calls are checked when they are called.
pub(crate) fn local(entry: &str, bytes: u32) -> Result<(), LaunchError> {
    if bytes <= LOCAL_LIMIT {
        return Ok(());
    }
    // Sizes that do not fit into 32 bits are cut.
    let at_least = if bytes == u32::MAX { "at least " } else { "" };
    Err(LaunchError::Invalid(format!(
        "`{entry}` has {at_least}{bytes} bytes of local variables, of which a thread can have {LOCAL_LIMIT}"
    )))
}

fn dimensions(what: &'static str, asked: [u32; 3], limits: [u64; 3], card: &Card) -> Result<(), LaunchError> {
    for ((axis, asked), limit) in ['x', 'y', 'z'].into_iter().zip(asked).zip(limits) {
        let asked = u64::from(asked);
        if asked == 0 || asked > limit {
            return Err(LaunchError::Dimension {
                what,
                axis,
                asked,
                limit,
                card: card.name.to_owned(),
            });
        }
    }
    Ok(())
}

/// Bytes of parameters that a kernel can have, from sm_70 on.
const PARAMETER_BYTES: u64 = 32_764;

/// Checks the arguments against the kernel's signature. Returns the bytes of its parameters.
pub(crate) fn arguments(launch: &Launch, kernel: &Function) -> Result<Vec<u8>, LaunchError> {
    let layout = kernel.parameter_layout();
    if layout.parameters.len() != launch.args.len() {
        return Err(LaunchError::ArgumentCount {
            entry: launch.entry.clone(),
            expected: layout.parameters.len(),
            given: launch.args.len(),
        });
    }
    if layout.bytes > PARAMETER_BYTES {
        return Err(LaunchError::Invalid(format!(
            "`{}` has {} bytes of parameters, of which a kernel can have {PARAMETER_BYTES}",
            launch.entry, layout.bytes
        )));
    }
    let mut bytes = vec![0; layout.bytes as usize];
    for (index, (parameter, arg)) in layout.parameters.iter().zip(&launch.args).enumerate() {
        let value = arg.to_bytes();
        if !fits(parameter, arg, value.len() as u64) {
            return Err(LaunchError::ArgumentType {
                entry: launch.entry.clone(),
                index,
                parameter: parameter.name.clone(),
                expected: expected(parameter),
                given: arg.describe(),
            });
        }
        let at = parameter.offset as usize;
        bytes[at..at + value.len()].copy_from_slice(&value);
    }
    Ok(bytes)
}

fn fits(parameter: &KernelParameter, arg: &Arg, bytes: u64) -> bool {
    if bytes != parameter.bytes {
        return false;
    }
    match arg {
        // Structures, and whoever brings bytes knows what is in them.
        Arg::Bytes(_) => true,
        _ if parameter.aggregate => false,
        Arg::Pointer(_) => !matches!(parameter.ty, Type::F64),
        Arg::F32(_) => matches!(parameter.ty, Type::F32 | Type::B32),
        Arg::F64(_) => parameter.pointer.is_none() && matches!(parameter.ty, Type::F64 | Type::B64),
        Arg::U64(_) => !matches!(parameter.ty, Type::F64),
        Arg::I64(_) => parameter.pointer.is_none() && !matches!(parameter.ty, Type::F64),
        _ => !matches!(parameter.ty, Type::F32),
    }
}

fn expected(parameter: &KernelParameter) -> String {
    match (parameter.aggregate, parameter.pointer) {
        (true, _) => format!("a structure of {} bytes", parameter.bytes),
        (false, Some(_)) => "a pointer".to_owned(),
        (false, None) if parameter.bytes == 8 && !matches!(parameter.ty, Type::F64) => {
            format!("a pointer or 8-byte integer (.{})", parameter.ty)
        }
        (false, None) => format!(".{}", parameter.ty),
    }
}
