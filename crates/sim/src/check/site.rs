//! Memory instructions as the checks see them: what an access is does not change from run to run, so a shadow cell holds
//! only a small number and the rest is looked up here.

/// Number of a memory instruction, given by [`Sites::add`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SiteId(pub(crate) u32);

/// How an instruction touches memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AccessKind {
    /// `ld`, `ldu`, `ldmatrix`, `wmma.load`, the source of a copy.
    Read,
    /// `st`, `stmatrix`, `wmma.store`, the destination of a copy.
    Write,
    /// `atom`: a read and a write that nothing comes between.
    Atomic,
    /// `red`: as `Atomic`, but its thread does not see what it read, so that a fence behind it acquires nothing.
    Reduction,
}

/// Which threads an operation or a fence is strong towards (`.cta`, `.cluster`, `.gpu`, `.sys`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// The threads of the block. `.cluster` is this one too: a cluster is one block here.
    Block,
    /// Every thread of the launch. `.sys` is this one too: the host waits for the launch to end.
    #[default]
    Device,
}

/// Memory order of an access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Order {
    /// An ordinary access (`.weak`, or no word; also `.nc`).
    #[default]
    Weak,
    /// `.relaxed`, `.volatile`, `.mmio`, and an `atom`/`red` without a word.
    Relaxed,
    /// `.acquire`
    Acquire,
    /// `.release`
    Release,
    /// `.acq_rel`
    AcquireRelease,
}

impl Order {
    /// Whether a read of this order makes what it observes known to its thread at once.
    pub fn acquires(self) -> bool {
        matches!(self, Self::Acquire | Self::AcquireRelease)
    }

    /// Whether a write of this order publishes what its thread knows.
    pub fn releases(self) -> bool {
        matches!(self, Self::Release | Self::AcquireRelease)
    }
}

/// A memory instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Site {
    /// Index of the instruction, as whoever runs it counts.
    pub pc: u32,
    /// What it does.
    pub kind: AccessKind,
    /// Its memory order. An atomic or a reduction is at least [`Order::Relaxed`].
    pub order: Order,
    /// Its scope; without meaning for [`Order::Weak`].
    pub scope: Scope,
}

impl Site {
    /// An ordinary load.
    pub fn load(pc: u32) -> Self {
        Self {
            pc,
            kind: AccessKind::Read,
            order: Order::Weak,
            scope: Scope::Device,
        }
    }

    /// An ordinary store.
    pub fn store(pc: u32) -> Self {
        Self {
            kind: AccessKind::Write,
            ..Self::load(pc)
        }
    }

    /// An `atom` without further words: relaxed, device scope.
    pub fn atomic(pc: u32) -> Self {
        Self {
            kind: AccessKind::Atomic,
            order: Order::Relaxed,
            ..Self::load(pc)
        }
    }

    /// Whether two accesses may meet at one address without order between them. `same_block` says whether the
    /// threads are of one block.
    pub(crate) fn may_meet(&self, other: &Site, same_block: bool) -> bool {
        if self.kind == AccessKind::Read && other.kind == AccessKind::Read {
            return true;
        }
        let strong = self.order != Order::Weak && other.order != Order::Weak;
        strong && (same_block || (self.scope == Scope::Device && other.scope == Scope::Device))
    }
}

/// The memory instructions of a program.
#[derive(Clone, Debug, Default)]
pub struct Sites {
    all: Vec<Site>,
}

impl Sites {
    /// Most sites that a program can have.
    pub const MAX: usize = 1 << 21;

    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives an instruction its number; `None` past [`Sites::MAX`]. An instruction that reads one place and writes
    /// another (`cp.async`) is two sites.
    pub fn add(&mut self, site: Site) -> Option<SiteId> {
        if self.all.len() >= Self::MAX {
            return None;
        }
        self.all.push(site);
        Some(SiteId(self.all.len() as u32 - 1))
    }

    /// What an instruction does.
    #[inline]
    pub fn get(&self, id: SiteId) -> &Site {
        &self.all[id.0 as usize]
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}
