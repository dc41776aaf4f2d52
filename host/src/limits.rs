//! What a device takes, and whether a launch stays within it.

use tile33_layout::occupancy::{Card, MAX_BLOCK_THREADS, MAX_GRID_X, MAX_GRID_YZ};

use crate::arch::Arch;
use crate::dims::{Dim3, LaunchConfig};
use crate::error::Error;
use crate::signature::Signature;

/// Shared memory that every block can have without asking, in bytes. More is an opt-in, on every card since Volta.
pub const SHARED_WITHOUT_OPT_IN: u64 = tile33_layout::occupancy::SHARED_WITHOUT_OPT_IN as u64;

/// The limits of a device that a launch can run into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The device's name, for messages.
    pub name: String,
    /// Compute capability.
    pub arch: Arch,
    /// Most threads in a block.
    pub threads_per_block: u32,
    /// Largest block along x, y, z.
    pub block: Dim3,
    /// Largest grid along x, y, z.
    pub grid: Dim3,
    /// Most shared memory in a block, in bytes, static and dynamic together, with the opt-in.
    pub shared_per_block: u64,
}

impl Limits {
    /// Those of a card, for a device that is not one.
    pub(crate) fn of_card(name: &str, card: &Card) -> Self {
        let (major, minor) = card.capability();
        Self {
            name: name.to_owned(),
            arch: Arch::new(major, minor),
            threads_per_block: MAX_BLOCK_THREADS,
            // The same on every card: CUDA programming guide, "Technical Specifications per Compute Capability".
            block: Dim3([1024, 1024, 64]),
            grid: Dim3([MAX_GRID_X, MAX_GRID_YZ, MAX_GRID_YZ]),
            shared_per_block: card.block_bytes().into(),
        }
    }

    /// Checks a launch of the kernel. `static_shared` is what the kernel's code declares, in bytes.
    ///
    /// # Errors
    /// The first of the limits that is exceeded, with what was asked for and what there is.
    pub fn check(&self, kernel: &Signature, static_shared: u64, config: &LaunchConfig) -> Result<(), Error> {
        self.check_dimensions("grid", config.grid, self.grid)?;
        self.check_dimensions("block", config.block, self.block)?;
        let threads = config.block.count();
        let (most, limited_by) = match kernel.bounds.max_threads {
            Some(bound) if Dim3(bound).count() < u64::from(self.threads_per_block) => {
                (Dim3(bound).count(), format!("the launch bounds of `{}`", kernel.kernel))
            }
            _ => (u64::from(self.threads_per_block), self.name.clone()),
        };
        if threads > most {
            return Err(Error::TooManyThreads {
                asked: threads,
                most,
                limited_by,
            });
        }
        if let Some(required) = kernel.bounds.required_threads
            && required != config.block.0
        {
            return Err(Error::RequiredBlock {
                kernel: kernel.kernel.clone(),
                required: Dim3(required),
                asked: config.block,
            });
        }
        self.check_shared(kernel, static_shared, config.dynamic_shared.get())
    }

    fn check_dimensions(&self, what: &'static str, asked: Dim3, limit: Dim3) -> Result<(), Error> {
        for (axis, (asked, limit)) in ['x', 'y', 'z'].into_iter().zip(asked.0.into_iter().zip(limit.0)) {
            if asked == 0 || asked > limit {
                return Err(Error::Dimension {
                    what,
                    axis,
                    asked,
                    limit,
                    device: self.name.clone(),
                });
            }
        }
        Ok(())
    }

    fn check_shared(&self, kernel: &Signature, static_shared: u64, dynamic: u64) -> Result<(), Error> {
        let name = kernel.kernel.clone();
        if dynamic > 0 && !kernel.uses_dynamic_shared {
            return Err(Error::DynamicSharedUnused {
                kernel: name,
                static_shared,
                dynamic,
            });
        }
        if dynamic == 0 && kernel.uses_dynamic_shared {
            return Err(Error::DynamicSharedMissing { kernel: name });
        }
        match static_shared.checked_add(dynamic) {
            Some(total) if total <= self.shared_per_block => Ok(()),
            _ => Err(Error::SharedMemory {
                kernel: name,
                static_shared,
                dynamic,
                available: self.shared_per_block,
                device: self.name.clone(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dims::SharedBytes;
    use tile33_ptx::ast::LaunchBounds;

    fn h200() -> Limits {
        Limits::of_card("a card", Card::find("H200").unwrap())
    }

    fn kernel(uses_dynamic_shared: bool) -> Signature {
        Signature {
            kernel: "k".to_owned(),
            parameters: Vec::new(),
            bounds: LaunchBounds::default(),
            static_shared: 0,
            uses_dynamic_shared,
        }
    }

    fn shared(static_shared: u64, dynamic: u64) -> Result<(), Error> {
        let config = LaunchConfig::new(1, 32).with_dynamic_shared(SharedBytes::bytes(dynamic));
        h200().check(&kernel(true), static_shared, &config)
    }

    #[test]
    fn shared_memory_up_to_the_opt_in_limit_is_accepted_and_one_byte_more_is_not() {
        for (fixed, dynamic) in [
            (0, 49_151),
            (0, 49_152),
            (0, 49_153),
            (1, 49_152),
            (0, 232_448),
            (232_447, 1),
        ] {
            shared(fixed, dynamic).unwrap();
        }
        assert_eq!(
            shared(1, 232_448).unwrap_err().to_string(),
            "`k` asks for 232449 bytes of shared memory a block (1 static + 232448 dynamic); a card has at most 232448. \
             Use less: smaller tiles, or fewer bins"
        );
        assert!(matches!(
            shared(1, u64::MAX),
            Err(Error::SharedMemory { dynamic: u64::MAX, .. })
        ));
    }

    #[test]
    fn static_bytes_passed_again_as_dynamic_are_reported() {
        let config = LaunchConfig::new(1, 32).with_dynamic_shared(SharedBytes::bytes(4224));
        let error = h200().check(&kernel(false), 4224, &config).unwrap_err();
        assert_eq!(
            error.to_string(),
            "4224 bytes of dynamic shared memory are given, but `k` has no dynamic array: its 4224 static bytes are there \
             without asking. Launch it without dynamic shared memory"
        );
    }

    #[test]
    fn a_kernel_with_a_dynamic_array_needs_a_size_for_it() {
        assert!(matches!(shared(0, 0), Err(Error::DynamicSharedMissing { .. })));
    }

    #[test]
    fn empty_and_oversized_dimensions_name_their_axis() {
        let check = |grid: [u32; 3], block: [u32; 3]| {
            h200()
                .check(&kernel(false), 0, &LaunchConfig::new(grid, block))
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            check([1, 65536, 1], [32, 1, 1]),
            "grid y is 65536; a card takes 1 to 65535"
        );
        assert_eq!(check([1, 1, 1], [32, 0, 1]), "block y is 0; a card takes 1 to 1024");
        assert_eq!(
            check([1, 1, 1], [1024, 2, 1]),
            "a block of 2048 threads; a card takes at most 1024"
        );
    }

    #[test]
    fn launch_bounds_of_the_kernel_are_kept() {
        let mut bounded = kernel(false);
        bounded.bounds.max_threads = Some([256, 1, 1]);
        let check = |kernel: &Signature, block: [u32; 3]| h200().check(kernel, 0, &LaunchConfig::new(1, block));
        check(&bounded, [32, 8, 1]).unwrap();
        assert_eq!(
            check(&bounded, [32, 9, 1]).unwrap_err().to_string(),
            "a block of 288 threads; the launch bounds of `k` takes at most 256"
        );
        bounded.bounds.required_threads = Some([32, 8, 1]);
        check(&bounded, [32, 8, 1]).unwrap();
        assert!(matches!(check(&bounded, [8, 32, 1]), Err(Error::RequiredBlock { .. })));
    }
}
