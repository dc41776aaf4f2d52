//! A module, decoded once and launched many times.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use tile33_ptx::{FuncId, Linkage, Module, Space, SpecialRegister};

use crate::check::{BlocksRun, CheckConfig, LaunchCheck};
use crate::compose::{Composer, Text};
use crate::decode::operands::Constant;
use crate::decode::place::ConstPlaces;
use crate::decode::{self, Kernel};
use crate::exec::context::{Context, Gathered};
use crate::exec::schedule;
use crate::instance::Instance;
use crate::launch::{Launch, LaunchError, SharedArray};
use crate::memory::{Memory, SHARED_BASE};
use crate::registers::{Registers, Slot};
use crate::report::Report;
use crate::{exec, validate};

/// Why a module cannot be loaded.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// Not PTX.
    #[error(transparent)]
    Parse(#[from] tile33_ptx::ParseError),
    /// A variable or function that nothing defines.
    #[error("`{0}` is declared .extern, and nothing defines it")]
    Undefined(String),
}

/// A module that can be launched. Kernels are decoded when they are first launched.
#[derive(Debug)]
pub struct Program {
    module: Module,
    text: Text,
    constants: ConstPlaces,
    kernels: Vec<OnceLock<Kernel>>,
    /// Tells programs apart that share a memory.
    number: u64,
}

static PROGRAMS: AtomicU64 = AtomicU64::new(0);

impl Program {
    /// Parses PTX.
    ///
    /// # Errors
    /// When the text is not PTX; an instruction that the emulator does not know is an error of the launch that reaches it.
    pub fn load(ptx: &str) -> Result<Self, LoadError> {
        let module = tile33_ptx::parse(ptx)?;
        let undefined =
            |v: &&tile33_ptx::Variable| v.linkage == Linkage::Extern && matches!(v.space, Space::Global | Space::Const);
        if let Some(v) = module.variables.iter().find(undefined) {
            return Err(LoadError::Undefined(v.name.clone()));
        }
        Ok(Self {
            text: Text::new(ptx),
            constants: ConstPlaces::new(&module),
            kernels: module.functions.iter().map(|_| OnceLock::new()).collect(),
            number: PROGRAMS.fetch_add(1, Ordering::Relaxed),
            module,
        })
    }

    /// The module as parsed.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// Address and size in bytes of a `.global` variable in a memory.
    ///
    /// # Errors
    /// When the memory has no room for the module's variables.
    pub fn global(&self, memory: &mut Memory, name: &str) -> Result<Option<(u64, u64)>, LaunchError> {
        self.instantiate(memory)?;
        let found = (0u32..)
            .zip(&self.module.variables)
            .find(|(_, v)| v.name == name && v.space == Space::Global);
        let instance = &memory.instances[&self.number];
        Ok(found.and_then(|(i, v)| Some((*instance.globals.get(&(None, i))?, v.bytes()))))
    }

    /// Overwrites a `.const` variable from its start, as `cudaMemcpyToSymbol` does.
    ///
    /// # Errors
    /// When there is no such variable, or there are more bytes than it has.
    pub fn write_constant(&self, memory: &mut Memory, name: &str, bytes: &[u8]) -> Result<(), LaunchError> {
        self.instantiate(memory)?;
        let symbol = self.constants.symbols.iter().find(|s| s.name == name);
        let symbol = symbol.ok_or_else(|| LaunchError::Invalid(format!("the module has no .const `{name}`")))?;
        if bytes.len() as u64 > symbol.bytes {
            return Err(LaunchError::Invalid(format!(
                "`{name}` has {} bytes, not {}",
                symbol.bytes,
                bytes.len()
            )));
        }
        if let Some(instance) = memory.instances.get_mut(&self.number) {
            let at = symbol.offset as usize;
            instance.constants[at..at + bytes.len()].copy_from_slice(bytes);
        }
        Ok(())
    }

    fn instantiate(&self, memory: &mut Memory) -> Result<(), LaunchError> {
        if !memory.instances.contains_key(&self.number) {
            validate::constants(self.constants.bytes)?;
            let instance = Instance::new(&self.module, &self.constants, memory)?;
            memory.instances.insert(self.number, instance);
        }
        Ok(())
    }

    fn kernel(&self, entry: &str) -> Result<&Kernel, LaunchError> {
        let id = self.module.function_id(entry);
        let is_kernel = |id: &FuncId| {
            let f = &self.module.functions[id.0 as usize];
            f.is_kernel && f.body.is_some()
        };
        let id = id.filter(is_kernel).ok_or_else(|| LaunchError::NoSuchEntry {
            entry: entry.to_owned(),
            available: self.module.kernels().map(|f| f.name.clone()).collect(),
        })?;
        Ok(self.kernels[id.0 as usize].get_or_init(|| decode::kernel(&self.module, id, &self.constants)))
    }

    /// Runs a kernel to its end.
    ///
    /// # Errors
    /// When the launch does not fit the kernel or the card, or execution cannot go on. Wrong programs are findings in
    /// the report, not errors, as far as execution can continue.
    pub fn launch(&self, memory: &mut Memory, launch: &Launch) -> Result<Report, LaunchError> {
        let kernel = self.kernel(&launch.entry)?;
        let function = &self.module.functions[kernel.id.0 as usize];
        let params = validate::arguments(launch, function)?;
        let residency = validate::limits(launch, function, kernel.shared.static_bytes)?;
        validate::local(&launch.entry, kernel.functions[0].frame_bytes)?;
        let shared_arrays = shared_arrays(launch, kernel)?;
        self.instantiate(memory)?;
        let blocks: u64 = launch.grid.iter().map(|n| u64::from(*n)).product();
        let workspace = if launch.options.cooperative {
            validate::cooperative(launch, blocks, residency.blocks_per_sm)?;
            memory.workspace()?
        } else {
            0
        };
        let run = Run {
            program: self,
            kernel,
            launch,
            params,
            shared_arrays,
            workspace,
        };
        let gathered = run.blocks(memory, blocks, residency.blocks_per_sm)?;
        let composer = Composer {
            module: &self.module,
            text: &self.text,
            kernel,
            memory,
            launch,
        };
        if let Some((block, stop)) = &gathered.0.failed {
            return Err(composer.error(*block, stop));
        }
        Ok(composer.report(gathered.0, gathered.1, residency))
    }
}

/// Arrays in dynamic shared memory, from the start of the block's shared memory on.
fn shared_arrays(launch: &Launch, kernel: &Kernel) -> Result<Vec<SharedArray>, LaunchError> {
    let first = (kernel.shared.dynamic - SHARED_BASE) as u32;
    let mut arrays = launch.options.shared_arrays.clone();
    arrays.sort_by_key(|a| a.offset);
    for pair in arrays.windows(2) {
        if pair[0].offset.saturating_add(pair[0].bytes) > pair[1].offset {
            return Err(LaunchError::Invalid(format!(
                "the arrays `{}` and `{}` in dynamic shared memory overlap",
                pair[0].name, pair[1].name
            )));
        }
    }
    for array in &mut arrays {
        if array.offset.saturating_add(array.bytes) > launch.dynamic_shared {
            return Err(LaunchError::Invalid(format!(
                "the array `{}` ends at byte {} of dynamic shared memory, of which the launch has {}",
                array.name,
                u64::from(array.offset) + u64::from(array.bytes),
                launch.dynamic_shared
            )));
        }
        array.offset += first;
    }
    Ok(arrays)
}

struct Run<'p> {
    program: &'p Program,
    kernel: &'p Kernel,
    launch: &'p Launch,
    params: Vec<u8>,
    shared_arrays: Vec<SharedArray>,
    /// Of a cooperative launch; else 0.
    workspace: u64,
}

type Outcome = (Gathered, crate::check::CheckFindings);

impl Run<'_> {
    /// Runs every block: side by side if nothing speaks against it, else in turns or in order.
    fn blocks(&self, memory: &mut Memory, blocks: u64, per_multiprocessor: u32) -> Result<Outcome, LaunchError> {
        let options = &self.launch.options;
        let threads = options.threads.unwrap_or_else(rayon::current_num_threads).max(1);
        let workers = threads.min(usize::try_from(blocks).unwrap_or(usize::MAX));
        let apart = !self.kernel.communicates;
        let side_by_side = apart && workers > 1;
        if side_by_side && let Some(outcome) = self.once(memory, blocks, workers, per_multiprocessor, apart) {
            return Ok(outcome);
        }
        self.once(memory, blocks, 1, per_multiprocessor, apart)
            .ok_or_else(|| LaunchError::Invalid("blocks got in each other's way while they ran in order".into()))
    }

    /// `None` if blocks got in each other's way: then the memory is as before.
    fn once(
        &self,
        memory: &mut Memory,
        blocks: u64,
        workers: usize,
        per_multiprocessor: u32,
        apart: bool,
    ) -> Option<Outcome> {
        let heap = std::mem::take(&mut memory.heap);
        let options = &self.launch.options;
        let checks = options.checks;
        let (gathered, findings, heap) = {
            let memory: &Memory = memory;
            let mut cx = self.context(memory, heap, workers);
            if checks.races || checks.uninitialized {
                let config = CheckConfig {
                    races: checks.races,
                    uninitialized: checks.uninitialized,
                    threads: cx.threads,
                    blocks: blocks as u32,
                    shared_bytes: cx.shared_bytes,
                    blocks_run: if apart { BlocksRun::Apart } else { BlocksRun::InTurns },
                    fresh_heap: cx.heap.get_mut().unwrap_or_else(PoisonError::into_inner).next_address(),
                };
                cx.check = Some(LaunchCheck::new(config, &self.kernel.sites.sites, memory));
            }
            let gathered = if apart {
                schedule::apart(&cx, blocks, workers)
            } else {
                let most = u64::from(per_multiprocessor.max(1)) * u64::from(cx.multiprocessors);
                schedule::in_turns(&cx, blocks, most as usize)
            };
            let conflict = cx.conflict.load(Ordering::Relaxed);
            if conflict {
                for (ownership, a) in cx.ownership.iter().flatten().zip(&memory.live) {
                    ownership.undo(a);
                }
            }
            let findings = match cx.check.take() {
                // The launch was undone.
                _ if conflict => Default::default(),
                Some(check) => check.finish(),
                None => {
                    // Nobody watched: what the launch wrote is not known.
                    memory.live.iter().for_each(|a| a.written.mark(0, a.data.len() as u64));
                    Default::default()
                }
            };
            let heap = cx.heap.into_inner().unwrap_or_else(PoisonError::into_inner);
            ((!conflict).then_some(gathered), findings, heap)
        };
        memory.heap = heap;
        Some((gathered?, findings))
    }

    fn context<'a>(&'a self, memory: &'a Memory, heap: exec::Heap, workers: usize) -> Context<'a> {
        let (kernel, launch) = (self.kernel, self.launch);
        let threads = launch.block.iter().product();
        let dynamic = kernel.shared.dynamic - SHARED_BASE;
        let shared_bytes = match launch.dynamic_shared {
            0 => kernel.shared.static_bytes as u32,
            bytes => dynamic as u32 + bytes,
        };
        let instance = &memory.instances[&self.program.number];
        let mut registers = Registers::new(kernel.pools.rows as usize, kernel.pools.predicates as usize);
        for (slot, rows, constant) in &kernel.pools.constants {
            let bits = match constant {
                Constant::Bits(bits) => *bits,
                Constant::Global(key, addend) => {
                    let address = instance.globals.get(key).copied().unwrap_or(0);
                    u128::from(address.wrapping_add_signed(*addend))
                }
            };
            fill(&mut registers, *slot, *rows, bits);
        }
        let multiprocessors = multiprocessors(launch.options.card.name);
        for (slot, special) in &kernel.pools.specials {
            use SpecialRegister as S;
            let axis = |of: [u32; 3]| u64::from(of.get(usize::from(special.component)).copied().unwrap_or(0));
            let value = match special.register {
                S::Ntid => axis(launch.block),
                S::NCtaId | S::NClusterId => axis(launch.grid),
                // A cluster is one block.
                S::ClusterNCtaId => u64::from(special.component < 3),
                S::ClusterNCtaRank => 1,
                S::NWarpId => u64::from(launch.options.card.warps()),
                S::NSmId => u64::from(multiprocessors),
                S::WarpSz => 32,
                S::TotalSmemSize | S::AggrSmemSize => u64::from(shared_bytes),
                S::DynamicSmemSize => u64::from(launch.dynamic_shared),
                // Where cooperative groups look for it, high half first.
                S::EnvReg if special.component == 1 => self.workspace >> 32,
                S::EnvReg if special.component == 2 => self.workspace & 0xffff_ffff,
                S::ReservedSmemOffsetEnd | S::ReservedSmemOffsetCap => SHARED_BASE,
                _ => 0,
            };
            fill(
                &mut registers,
                *slot,
                if special.wide { 2 } else { 1 },
                u128::from(value),
            );
        }
        Context {
            kernel,
            memory,
            ownership: (workers > 1).then(|| memory.live.iter().map(|_| Default::default()).collect()),
            heap: Mutex::new(heap),
            params: self.params.clone(),
            constants: &instance.constants,
            grid: launch.grid,
            block: launch.block,
            threads,
            shared_bytes,
            shared_arrays: self.shared_arrays.clone(),
            registers,
            check: None,
            track_local: launch.options.checks.uninitialized,
            count: launch.options.counters,
            max_steps: launch.options.max_steps.unwrap_or(u64::MAX),
            multiprocessors,
            trace: launch.options.trace,
            conflict: AtomicBool::new(false),
            stop: AtomicU64::new(u64::MAX),
        }
    }
}

fn fill(registers: &mut Registers, slot: Slot, rows: u32, bits: u128) {
    match rows {
        1 => *registers.r32_mut(slot) = [bits as u32; 32],
        2 => *registers.r64_mut(slot) = [bits as u64; 32],
        _ => *registers.r128_mut(slot) = [bits; 32],
    }
}

/// Multiprocessors of a product with the architecture: they limit how many blocks are resident at once.
pub(crate) fn multiprocessors(card: &str) -> u32 {
    match card {
        "sm_75" => 40,
        "sm_80" => 108,
        "sm_86" => 84,
        "sm_87" | "sm_88" => 16,
        "sm_89" => 128,
        "sm_90" => 132,
        "sm_100" | "sm_103" => 148,
        "sm_110" => 20,
        "sm_120" => 170,
        _ => 48,
    }
}
