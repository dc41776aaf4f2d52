//! What is known of a kernel before it runs.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use tile33_sim::Counters;

use super::{CatalogueError, Trial};
use crate::Kernels;

type Prepare = dyn Fn(&Kernels, &[usize], u64) -> Result<Box<dyn Trial>, CatalogueError> + Send + Sync;
type Adopt = dyn Fn(&Kernels, &[usize], Box<dyn Any>) -> Result<Box<dyn Trial>, CatalogueError> + Send + Sync;
type PrepareClaim = dyn Fn(&Kernels) -> Result<Box<dyn Trial>, CatalogueError> + Send + Sync;

/// One kernel of the catalogue, for one element type.
#[derive(Clone)]
pub struct Step {
    /// The problem, as its module is called.
    pub problem: &'static str,
    /// The textbook's step, as the kernel's function is called.
    pub name: &'static str,
    /// Rust's name of the element type.
    pub element: &'static str,
    /// The kernel's entry point. No two steps have the same.
    pub entry: String,
    /// What there is to learn from it, in a few words.
    pub lesson: &'static str,
    /// What the numbers of a size are.
    pub size_names: &'static [&'static str],
    /// A size that is worth looking at.
    pub usual_size: Vec<usize>,
    /// Sizes at which something is different: the smallest, those around a tile's end, ..
    pub edge_sizes: Vec<Vec<usize>>,
    /// What its accesses cost, for one input or several.
    pub claims: Vec<Claim>,
    pub(crate) prepare: Arc<Prepare>,
    /// As `prepare`, with a `Vec` of elements.
    pub(crate) adopt: Option<Arc<Adopt>>,
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Step")
            .field("entry", &self.entry)
            .finish_non_exhaustive()
    }
}

impl Step {
    /// Makes an input of this size from a seed, and puts it on the device.
    ///
    /// # Errors
    /// [`CatalogueError::Size`] and what else is wrong with the size; or the device has no room.
    pub fn prepare(&self, kernels: &Kernels, size: &[usize], seed: u64) -> Result<Box<dyn Trial>, CatalogueError> {
        self.check_size(size)?;
        (self.prepare)(kernels, size, seed)
    }

    /// Puts an input of your own on the device, as elements in the problem's order.
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare); [`CatalogueError::Values`] where the step takes elements of another type, or none.
    pub fn prepare_with<T: 'static>(
        &self,
        kernels: &Kernels,
        size: &[usize],
        values: Vec<T>,
    ) -> Result<Box<dyn Trial>, CatalogueError> {
        self.check_size(size)?;
        match &self.adopt {
            Some(adopt) => adopt(kernels, size, Box::new(values)),
            None => Err(self.other_values()),
        }
    }

    fn check_size(&self, size: &[usize]) -> Result<(), CatalogueError> {
        if size.len() == self.size_names.len() {
            return Ok(());
        }
        Err(CatalogueError::Size {
            problem: self.problem,
            names: self.size_names,
            given: size.len(),
        })
    }

    fn other_values(&self) -> CatalogueError {
        CatalogueError::Values {
            step: self.entry.clone(),
            element: self.element,
        }
    }
}

/// The elements that `values` holds, if they are of the type.
pub(crate) fn adopted<T: 'static>(
    values: Box<dyn Any>,
    step: &str,
    element: &'static str,
) -> Result<Vec<T>, CatalogueError> {
    values
        .downcast()
        .map(|values| *values)
        .map_err(|_| CatalogueError::Values {
            step: step.to_owned(),
            element,
        })
}

/// What a kernel's accesses cost, for one input: what its documentation says, as numbers that a test can hold it to.
#[derive(Clone)]
pub struct Claim {
    /// The input, in words.
    pub input: String,
    /// Every access of the first launch to shared and global memory.
    pub accesses: Vec<Access>,
    pub(crate) prepare: Arc<PrepareClaim>,
}

impl fmt::Debug for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claim")
            .field("input", &self.input)
            .field("accesses", &self.accesses)
            .finish_non_exhaustive()
    }
}

impl Claim {
    /// Puts the input on the device.
    ///
    /// # Errors
    /// When the device fails.
    pub fn prepare(&self, kernels: &Kernels) -> Result<Box<dyn Trial>, CatalogueError> {
        (self.prepare)(kernels)
    }

    /// Requests and their cost, wavefronts or sectors, of all accesses of a kind.
    pub fn total(&self, kind: Kind) -> (u64, u64) {
        let of_kind = self.accesses.iter().filter(|access| access.kind == kind);
        of_kind.fold((0, 0), |(requests, cost), access| {
            (requests + access.requests, cost + access.requests * access.cost)
        })
    }
}

/// One access of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// Which, in words.
    pub what: String,
    /// Of which kind.
    pub kind: Kind,
    /// Warp instructions of the whole launch.
    pub requests: u64,
    /// What each costs: wavefronts in shared memory, sectors in global memory.
    pub cost: u64,
}

impl Access {
    /// `requests` of the kind, `cost` each.
    pub fn new(kind: Kind, what: impl Into<String>, requests: u64, cost: u64) -> Self {
        Self {
            what: what.into(),
            kind,
            requests,
            cost,
        }
    }
}

/// A kind of access, as the emulator counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Kind {
    SharedLoad,
    SharedStore,
    SharedAtomic,
    GlobalLoad,
    GlobalStore,
    GlobalAtomic,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::SharedLoad,
        Self::SharedStore,
        Self::SharedAtomic,
        Self::GlobalLoad,
        Self::GlobalStore,
        Self::GlobalAtomic,
    ];

    /// Whether it is an access to shared memory, which costs wavefronts; to global memory it costs sectors.
    pub fn is_shared(self) -> bool {
        matches!(self, Self::SharedLoad | Self::SharedStore | Self::SharedAtomic)
    }

    /// What was counted of this kind: requests, and wavefronts or sectors.
    pub fn counted(self, counters: &Counters) -> (u64, u64) {
        let shared = match self {
            Self::SharedLoad => counters.shared_load,
            Self::SharedStore => counters.shared_store,
            Self::SharedAtomic => counters.shared_atomic,
            Self::GlobalLoad => return (counters.global_load.requests, counters.global_load.sectors),
            Self::GlobalStore => return (counters.global_store.requests, counters.global_store.sectors),
            Self::GlobalAtomic => return (counters.global_atomic.requests, counters.global_atomic.sectors),
        };
        (shared.requests, shared.wavefronts)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SharedLoad => "shared load",
            Self::SharedStore => "shared store",
            Self::SharedAtomic => "shared atomic",
            Self::GlobalLoad => "global load",
            Self::GlobalStore => "global store",
            Self::GlobalAtomic => "global atomic",
        })
    }
}
