//! One memory instruction of one warp.

use crate::{Breakdown, LANES, banks, sectors};

/// The memory that an instruction reaches.
///
/// ```
/// use tile33_layout::{Op, Space, WarpAccess};
/// let shared = WarpAccess::from_fn(Space::Shared, Op::Load, 4, |_| Some(0))?;
/// assert_eq!((shared.wavefronts(), shared.sectors()), (1, 0));
/// # Ok::<(), tile33_layout::AccessError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// The block's own, in 32 banks: costs wavefronts.
    Shared,
    /// The device's: costs sectors of 32 bytes.
    Global,
}

/// What an instruction does with the memory.
///
/// ```
/// use tile33_layout::{Op, Space, WarpAccess};
/// let same_word = |op| WarpAccess::from_fn(Space::Shared, op, 4, |_| Some(0)).unwrap().wavefronts();
/// assert_eq!([Op::Load, Op::Store, Op::Atom, Op::Red, Op::Exch, Op::Cas].map(same_word), [1, 1, 32, 32, 32, 64]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// `ld`.
    Load,
    /// `st`.
    Store,
    /// `atom` (add, min, exch, ..) except `cas`: an atomic that returns the old value.
    Atom,
    /// `red`: an atomic that returns nothing.
    Red,
    /// `atom.cas`: compare and swap.
    Cas,
    /// `atom.exch`. Costs what [`Op::Atom`] does.
    Exch,
}

impl Op {
    /// The names that `tests/ground-truth` uses: `ld`, `st`, `atom`, `red`, `cas`, `exch`.
    ///
    /// ```
    /// use tile33_layout::Op;
    /// assert_eq!(Op::parse("cas"), Some(Op::Cas));
    /// assert_eq!(Op::parse("load"), None);
    /// ```
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Load, Self::Store, Self::Atom, Self::Red, Self::Cas, Self::Exch]
            .into_iter()
            .find(|op| op.name() == name)
    }

    /// The inverse of [`parse`](Self::parse).
    ///
    /// ```
    /// assert_eq!(tile33_layout::Op::Store.name(), "st");
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Self::Load => "ld",
            Self::Store => "st",
            Self::Atom => "atom",
            Self::Red => "red",
            Self::Cas => "cas",
            Self::Exch => "exch",
        }
    }

    /// Whether lanes at the same word wait for each other.
    ///
    /// ```
    /// use tile33_layout::Op;
    /// assert!(Op::Red.is_atomic() && !Op::Store.is_atomic());
    /// ```
    #[inline(always)]
    pub const fn is_atomic(self) -> bool {
        !matches!(self, Self::Load | Self::Store)
    }
}

/// Why an access cannot be what a warp does.
///
/// ```
/// use tile33_layout::WarpAccess;
/// let error = WarpAccess::shared_load(3, |_| Some(0)).unwrap_err();
/// assert_eq!(error.to_string(), "a lane cannot access 3 bytes at once; it can access 1, 2, 4, 8 or 16");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessError {
    /// Bytes per lane other than 1, 2, 4, 8 and 16.
    Width {
        /// What was asked for.
        width: u32,
    },
    /// An active lane's address is no multiple of the width; a GPU ends the kernel with a misaligned-address error.
    Misaligned {
        /// The first such lane.
        lane: u32,
        /// Its byte address.
        address: u64,
        /// Bytes per lane.
        width: u32,
    },
}

impl core::fmt::Display for AccessError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match *self {
            Self::Width { width } => {
                write!(
                    f,
                    "a lane cannot access {width} bytes at once; it can access 1, 2, 4, 8 or 16"
                )
            }
            Self::Misaligned { lane, address, width } => write!(
                f,
                "lane {lane} accesses {width} bytes at address {address}, which is no multiple of {width}: \
                 a GPU stops there with a misaligned-address error"
            ),
        }
    }
}

impl core::error::Error for AccessError {}

/// One memory instruction of one warp: what each of the 32 lanes touches.
///
/// ```
/// use tile33_layout::{Op, Space, WarpAccess};
/// // Lane l stores 8 bytes at byte 8 l: two half-warps, a wavefront each, which is as good as it gets.
/// let row = WarpAccess::from_fn(Space::Shared, Op::Store, 8, |lane| Some(8 * u64::from(lane)))?;
/// assert_eq!((row.wavefronts(), row.ideal(), row.excess()), (2, 2, 0));
/// # Ok::<(), tile33_layout::AccessError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WarpAccess {
    space: Space,
    op: Op,
    width: u32,
    mask: u32,
    addresses: [u64; LANES],
}

impl WarpAccess {
    /// `width` bytes per lane at byte `addresses[lane]`, for the lanes whose bit in `mask` is set. Inactive lanes'
    /// addresses do not count (they become 0).
    ///
    /// # Errors
    ///
    /// A width other than 1, 2, 4, 8 and 16; an active lane at an address that is no multiple of it.
    ///
    /// ```
    /// use tile33_layout::{AccessError, Op, Space, WarpAccess};
    /// let error = WarpAccess::new(Space::Shared, Op::Load, 8, 1, [4; 32]).unwrap_err();
    /// assert_eq!(error, AccessError::Misaligned { lane: 0, address: 4, width: 8 });
    /// ```
    pub const fn new(
        space: Space,
        op: Op,
        width: u32,
        mask: u32,
        mut addresses: [u64; LANES],
    ) -> Result<Self, AccessError> {
        if !width.is_power_of_two() || width > 16 {
            return Err(AccessError::Width { width });
        }
        let mut lane = 0;
        while lane < LANES {
            if mask >> lane & 1 == 0 {
                addresses[lane] = 0;
            } else if !addresses[lane].is_multiple_of(width as u64) {
                return Err(AccessError::Misaligned {
                    lane: lane as u32,
                    address: addresses[lane],
                    width,
                });
            }
            lane += 1;
        }
        Ok(Self {
            space,
            op,
            width,
            mask,
            addresses,
        })
    }

    /// The access whose lanes' byte addresses are `address(lane)`, `None` for an inactive lane.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    ///
    /// ```
    /// use tile33_layout::{Op, Space, WarpAccess};
    /// let half = WarpAccess::from_fn(Space::Global, Op::Load, 4, |lane| (lane < 16).then_some(4 * lane as u64))?;
    /// assert_eq!((half.mask(), half.sectors()), (0xffff, 2));
    /// # Ok::<(), tile33_layout::AccessError>(())
    /// ```
    pub fn from_fn(
        space: Space,
        op: Op,
        width: u32,
        mut address: impl FnMut(u32) -> Option<u64>,
    ) -> Result<Self, AccessError> {
        let mut addresses = [0; LANES];
        let mut mask = 0;
        for lane in 0..LANES as u32 {
            if let Some(byte) = address(lane) {
                addresses[lane as usize] = byte;
                mask |= 1 << lane;
            }
        }
        Self::new(space, op, width, mask, addresses)
    }

    /// [`from_fn`](Self::from_fn) for a load from shared memory.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    ///
    /// ```
    /// use tile33_layout::WarpAccess;
    /// assert_eq!(WarpAccess::shared_load(4, |lane| Some(4 * u64::from(lane)))?.wavefronts(), 1);
    /// # Ok::<(), tile33_layout::AccessError>(())
    /// ```
    pub fn shared_load(width: u32, address: impl FnMut(u32) -> Option<u64>) -> Result<Self, AccessError> {
        Self::from_fn(Space::Shared, Op::Load, width, address)
    }

    /// [`from_fn`](Self::from_fn) for a store to shared memory.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    ///
    /// ```
    /// use tile33_layout::WarpAccess;
    /// assert_eq!(WarpAccess::shared_store(4, |lane| Some(128 * u64::from(lane)))?.wavefronts(), 32);
    /// # Ok::<(), tile33_layout::AccessError>(())
    /// ```
    pub fn shared_store(width: u32, address: impl FnMut(u32) -> Option<u64>) -> Result<Self, AccessError> {
        Self::from_fn(Space::Shared, Op::Store, width, address)
    }

    /// The memory reached.
    ///
    /// ```
    /// use tile33_layout::{Space, WarpAccess};
    /// assert_eq!(WarpAccess::shared_load(4, |_| Some(0))?.space(), Space::Shared);
    /// # Ok::<(), tile33_layout::AccessError>(())
    /// ```
    #[inline(always)]
    pub const fn space(&self) -> Space {
        self.space
    }

    /// What is done.
    ///
    /// ```
    /// use tile33_layout::{Op, WarpAccess};
    /// assert_eq!(WarpAccess::shared_store(4, |_| Some(0))?.op(), Op::Store);
    /// # Ok::<(), tile33_layout::AccessError>(())
    /// ```
    #[inline(always)]
    pub const fn op(&self) -> Op {
        self.op
    }

    /// Bytes per lane.
    ///
    /// ```
    /// use tile33_layout::WarpAccess;
    /// assert_eq!(WarpAccess::shared_load(16, |_| Some(0))?.width(), 16);
    /// # Ok::<(), tile33_layout::AccessError>(())
    /// ```
    #[inline(always)]
    pub const fn width(&self) -> u32 {
        self.width
    }

    /// Active lanes, bit 0 = lane 0.
    ///
    /// ```
    /// use tile33_layout::WarpAccess;
    /// let half = WarpAccess::shared_load(8, |lane| (lane < 16).then_some(8 * lane as u64))?;
    /// assert_eq!(half.mask(), 0x0000_ffff);
    /// # Ok::<(), tile33_layout::AccessError>(())
    /// ```
    #[inline(always)]
    pub const fn mask(&self) -> u32 {
        self.mask
    }

    /// Byte address of each lane; 0 for inactive ones.
    ///
    /// ```
    /// use tile33_layout::WarpAccess;
    /// let half = WarpAccess::shared_load(8, |lane| (lane < 16).then_some(8 * lane as u64))?;
    /// assert_eq!((half.addresses()[15], half.addresses()[16]), (120, 0));
    /// # Ok::<(), tile33_layout::AccessError>(())
    /// ```
    #[inline(always)]
    pub const fn addresses(&self) -> &[u64; LANES] {
        &self.addresses
    }

    /// Wavefronts in shared memory: passes through the 32 banks. 0 for global memory and without active lanes.
    ///
    /// ```
    /// use tile33_layout::{Op, Space, WarpAccess};
    /// const COLUMN: u32 = {
    ///     let mut addresses = [0; 32];
    ///     let mut lane = 0;
    ///     while lane < 32 {
    ///         addresses[lane] = 128 * lane as u64;
    ///         lane += 1;
    ///     }
    ///     match WarpAccess::new(Space::Shared, Op::Load, 4, u32::MAX, addresses) {
    ///         Ok(access) => access.wavefronts(),
    ///         Err(_) => 0,
    ///     }
    /// };
    /// assert_eq!(COLUMN, 32);
    /// ```
    pub const fn wavefronts(&self) -> u32 {
        match self.space {
            Space::Shared => banks::wavefronts_u64(self.op, self.width, self.mask, &self.addresses),
            Space::Global => 0,
        }
    }

    /// Wavefronts that the same lanes and width cost without conflicts; see [`banks::ideal`].
    ///
    /// ```
    /// use tile33_layout::WarpAccess;
    /// assert_eq!(WarpAccess::shared_load(16, |lane| Some(512 * u64::from(lane)))?.ideal(), 4);
    /// # Ok::<(), tile33_layout::AccessError>(())
    /// ```
    pub const fn ideal(&self) -> u32 {
        match self.space {
            Space::Shared => banks::ideal_u64(self.op, self.width, self.mask, &self.addresses),
            Space::Global => 0,
        }
    }

    /// Wavefronts lost to conflicts: [`wavefronts`](Self::wavefronts) - [`ideal`](Self::ideal).
    ///
    /// ```
    /// use tile33_layout::WarpAccess;
    /// assert_eq!(WarpAccess::shared_load(4, |lane| Some(8 * u64::from(lane)))?.excess(), 1);
    /// # Ok::<(), tile33_layout::AccessError>(())
    /// ```
    pub const fn excess(&self) -> u32 {
        self.wavefronts() - self.ideal()
    }

    /// Sectors of 32 bytes in global memory. 0 for shared memory.
    ///
    /// ```
    /// use tile33_layout::{Op, Space, WarpAccess};
    /// let column = WarpAccess::from_fn(Space::Global, Op::Load, 4, |lane| Some(4096 * u64::from(lane)))?;
    /// assert_eq!((column.sectors(), column.ideal_sectors()), (32, 4));
    /// # Ok::<(), tile33_layout::AccessError>(())
    /// ```
    pub const fn sectors(&self) -> u32 {
        match self.space {
            Space::Global => sectors::sectors(self.mask, &self.addresses),
            Space::Shared => 0,
        }
    }

    /// Sectors that the same bytes would need side by side; see [`sectors::ideal_sectors`]. 0 for shared memory.
    ///
    /// ```
    /// use tile33_layout::{Op, Space, WarpAccess};
    /// let same = WarpAccess::from_fn(Space::Global, Op::Load, 4, |_| Some(64))?;
    /// assert_eq!(same.ideal_sectors(), 1);
    /// # Ok::<(), tile33_layout::AccessError>(())
    /// ```
    pub const fn ideal_sectors(&self) -> u32 {
        match self.space {
            Space::Global => sectors::ideal_sectors(self.width, self.mask, &self.addresses),
            Space::Shared => 0,
        }
    }

    /// Requests: 1, or 0 without active lanes (such an instruction is executed, but asks nothing of the memory).
    ///
    /// ```
    /// use tile33_layout::WarpAccess;
    /// assert_eq!(WarpAccess::shared_load(4, |_| None)?.requests(), 0);
    /// # Ok::<(), tile33_layout::AccessError>(())
    /// ```
    pub const fn requests(&self) -> u32 {
        (self.mask != 0) as u32
    }

    /// Why an access to shared memory costs what it does: groups, banks, words and lanes.
    ///
    /// ```
    /// use tile33_layout::WarpAccess;
    /// let access = WarpAccess::shared_load(4, |lane| Some(128 * u64::from(lane % 8)))?;
    /// let breakdown = access.breakdown();
    /// let bank = breakdown.groups()[0].bank(0);
    /// assert_eq!((bank.wavefronts(), bank.lanes().count_ones(), bank.words().count()), (8, 32, 8));
    /// # Ok::<(), tile33_layout::AccessError>(())
    /// ```
    pub fn breakdown(&self) -> Breakdown<'_> {
        Breakdown::new(self)
    }
}
