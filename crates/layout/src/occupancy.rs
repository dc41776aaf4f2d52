//! How many blocks of a kernel fit on a multiprocessor.
//!
//! Padding a tile costs bytes, and bytes are paid with resident blocks. A multiprocessor holds blocks until its warps,
//! its block slots, its registers or its shared memory run out:
//!
//! - **warps**: a block takes its threads, rounded up to whole warps;
//! - **registers**: a warp takes 32 x its registers per thread, rounded up to 256. They lie in four partitions which
//!   warps do not straddle, so what counts is whole warps per partition. A block whose warps, rounded up to a multiple of
//!   four, need more than 65,536 registers does not start at all;
//! - **shared memory**: a block takes its static and dynamic bytes and, from compute capability 8.0 on, 1 KiB for the
//!   system, rounded up to 128 bytes (256 before). More than 48 KiB needs an opt-in by the launch (`tile33-host` does it).
//!
//! The limits are those of the table "Technical Specifications per Compute Capability" in NVIDIA's CUDA programming
//! guide, the granularities those of `cuda_occupancy.h`. Kernels that use many named barriers can be limited by those,
//! too; that is not counted here.

/// What a multiprocessor and a block are limited to.
///
/// ```
/// use tile33_layout::occupancy::Card;
/// let card = Card::find("sm_90").unwrap();
/// assert_eq!((card.threads, card.blocks, card.shared_bytes), (2048, 32, 228 * 1024));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Card {
    /// The architecture, `sm_90`.
    pub name: &'static str,
    /// Products that have it.
    pub products: &'static str,
    /// Threads of a multiprocessor.
    pub threads: u32,
    /// Blocks of a multiprocessor.
    pub blocks: u32,
    /// Bytes of shared memory of a multiprocessor.
    pub shared_bytes: u32,
    /// Bytes that the system takes from each block's share.
    pub reserved_bytes: u32,
    /// Bytes to which a block's share is rounded up.
    pub shared_granularity: u32,
}

/// Blocks of a grid along x, at most, on every card (CUDA programming guide, technical specifications).
pub const MAX_GRID_X: u32 = i32::MAX as u32;

/// Blocks of a grid along y and along z, at most, on every card.
///
/// ```
/// use tile33_layout::occupancy::MAX_GRID_YZ;
/// let tiles = 2_097_153u32.div_ceil(32); // of a matrix of so many rows
/// assert!(tiles > MAX_GRID_YZ); // each block takes several
/// ```
pub const MAX_GRID_YZ: u32 = 65_535;

/// Threads of a block, at most, on every card.
///
/// ```
/// use tile33_layout::occupancy::{Card, MAX_BLOCK_THREADS, occupancy};
/// assert_eq!(occupancy(Card::find("sm_90").unwrap(), MAX_BLOCK_THREADS + 1, 32, 0, 0).blocks, 0);
/// ```
pub const MAX_BLOCK_THREADS: u32 = 1024;

/// Registers of a multiprocessor, and at most of a block, on every card.
///
/// ```
/// use tile33_layout::occupancy::{Card, REGISTERS, occupancy};
/// assert_eq!(occupancy(Card::find("sm_90").unwrap(), 1024, REGISTERS / 1024, 0, 0).blocks, 1);
/// ```
pub const REGISTERS: u32 = 65_536;

/// Registers of a thread, at most, on every card.
///
/// ```
/// use tile33_layout::occupancy::{Card, MAX_THREAD_REGISTERS, occupancy};
/// assert_eq!(occupancy(Card::find("sm_90").unwrap(), 256, MAX_THREAD_REGISTERS, 0, 0).blocks, 1);
/// ```
pub const MAX_THREAD_REGISTERS: u32 = 255;

/// Bytes of shared memory that a block may have without opting in, on every card; also the most that may be static.
///
/// ```
/// use tile33_layout::occupancy::SHARED_WITHOUT_OPT_IN;
/// let (fixed, dynamic) = (1, 48 * 1024);
/// assert!(fixed + dynamic > SHARED_WITHOUT_OPT_IN); // the launch must opt in
/// ```
pub const SHARED_WITHOUT_OPT_IN: u32 = 48 * 1024;

const WARP: u32 = 32;
const PARTITIONS: u32 = 4;
const REGISTER_GRANULARITY: u32 = 256;

const fn card(name: &'static str, products: &'static str, threads: u32, blocks: u32, kib: u32) -> Card {
    Card {
        name,
        products,
        threads,
        blocks,
        shared_bytes: kib * 1024,
        reserved_bytes: 1024,
        shared_granularity: 128,
    }
}

/// Every card known here, sm_75 to sm_121.
///
/// ```
/// use tile33_layout::occupancy::CARDS;
/// assert!(CARDS.iter().any(|card| card.name == "sm_75"));
/// ```
pub const CARDS: &[Card] = &[
    Card {
        reserved_bytes: 0,
        shared_granularity: 256,
        ..card("sm_75", "T4, RTX 20, GTX 16", 1024, 16, 64)
    },
    card("sm_80", "A100, A30", 2048, 32, 164),
    card("sm_86", "A10, A40, RTX 30, RTX A6000", 1536, 16, 100),
    card("sm_87", "Jetson Orin", 1536, 16, 164),
    card("sm_88", "", 1536, 16, 100),
    card("sm_89", "L4, L40, RTX 40", 1536, 24, 100),
    card("sm_90", "H100, H200, GH200", 2048, 32, 228),
    card("sm_100", "B200, GB200", 2048, 32, 228),
    card("sm_103", "B300, GB300", 2048, 32, 228),
    card("sm_110", "Jetson Thor", 1536, 24, 228),
    card("sm_120", "RTX 50, RTX PRO 6000", 1536, 24, 100),
    card("sm_121", "GB10", 1536, 24, 100),
];

impl Card {
    /// The card of an architecture's name: `sm_90`, `sm_90a`, `90`, `9.0`; or of one of its products: `H200`.
    ///
    /// ```
    /// use tile33_layout::occupancy::Card;
    /// let names = ["sm_86", "8.6", "86", "RTX 30"];
    /// assert!(names.iter().all(|name| Card::find(name).unwrap().name == "sm_86"));
    /// assert_eq!(Card::find("sm_90a").unwrap().name, "sm_90");
    /// assert!(Card::find("sm_52").is_none());
    /// ```
    pub fn find(name: &str) -> Option<&'static Self> {
        let name = name.trim();
        let product = |card: &&Self| {
            card.products
                .split(", ")
                .any(|product| !name.is_empty() && product.eq_ignore_ascii_case(name))
        };
        let digits = name
            .strip_prefix("sm_")
            .or_else(|| name.strip_prefix("compute_"))
            .unwrap_or(name);
        let digits = digits.strip_suffix(['a', 'f']).unwrap_or(digits);
        let architecture = |card: &&Self| {
            let wanted = &card.name[3..];
            let (major, minor) = wanted.split_at(wanted.len() - 1);
            digits == wanted || digits.split_once('.') == Some((major, minor))
        };
        CARDS.iter().find(architecture).or_else(|| CARDS.iter().find(product))
    }

    /// The card of a compute capability.
    ///
    /// ```
    /// use tile33_layout::occupancy::Card;
    /// assert_eq!(Card::of_capability(9, 0).unwrap().shared_bytes, 228 * 1024);
    /// ```
    pub fn of_capability(major: u32, minor: u32) -> Option<&'static Self> {
        CARDS.iter().find(|card| card.capability() == (major, minor))
    }

    /// The compute capability.
    ///
    /// ```
    /// use tile33_layout::occupancy::Card;
    /// assert_eq!(Card::find("sm_120").unwrap().capability(), (12, 0));
    /// ```
    pub fn capability(&self) -> (u32, u32) {
        let number = self
            .name
            .bytes()
            .skip(3)
            .fold(0, |number, digit| number * 10 + u32::from(digit - b'0'));
        (number / 10, number % 10)
    }

    /// Warps of a multiprocessor.
    ///
    /// ```
    /// use tile33_layout::occupancy::Card;
    /// assert_eq!(Card::find("sm_75").unwrap().warps(), 32);
    /// ```
    pub const fn warps(&self) -> u32 {
        self.threads / WARP
    }

    /// Bytes of shared memory, static and dynamic together, that a block may have if its launch opts in.
    ///
    /// ```
    /// use tile33_layout::occupancy::Card;
    /// assert_eq!(Card::find("H200").unwrap().block_bytes(), 227 * 1024);
    /// assert_eq!(Card::find("T4").unwrap().block_bytes(), 64 * 1024);
    /// ```
    pub const fn block_bytes(&self) -> u32 {
        self.shared_bytes - self.reserved_bytes
    }
}

/// Blocks of a kernel on a multiprocessor, and what each resource alone would allow.
///
/// ```
/// use tile33_layout::occupancy::{Card, occupancy};
/// let answer = occupancy(Card::find("sm_90").unwrap(), 256, 40, 0, 66_560);
/// assert_eq!((answer.by_warps, answer.by_registers, answer.by_shared, answer.blocks, answer.warps), (8, 6, 3, 3, 24));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Resident blocks: the least of the others. 0 if the kernel cannot start.
    pub blocks: u32,
    /// Blocks that the warps allow.
    pub by_warps: u32,
    /// Blocks that the block slots allow.
    pub by_slots: u32,
    /// Blocks that the registers allow; `u32::MAX` if they do not matter.
    pub by_registers: u32,
    /// Blocks that the shared memory allows; `u32::MAX` if it does not matter.
    pub by_shared: u32,
    /// Resident warps: [`blocks`](Self::blocks) times the warps of a block.
    pub warps: u32,
}

/// Blocks of `block_threads` threads, `registers` registers per thread, `static_bytes` and `dynamic_bytes` of shared
/// memory, that a multiprocessor of `card` holds at once.
///
/// Dynamic shared memory is taken as opted in. What cannot start (no threads or more than 1,024, more than 255 registers,
/// too many bytes) has 0 blocks.
///
/// ```
/// use tile33_layout::occupancy::{Card, occupancy};
/// let card = Card::find("sm_86").unwrap();
/// // A 32 x 32 tile of f32, plain and padded, 256 threads of 32 registers: the padding costs nothing here.
/// assert_eq!(occupancy(card, 256, 32, 4096, 0).blocks, 6);
/// assert_eq!(occupancy(card, 256, 32, 4224, 0).blocks, 6);
/// // Of f64, 128 threads: 8,192 bytes leave 11 blocks, 8,448 leave 10.
/// assert_eq!(occupancy(card, 128, 32, 8192, 0).blocks, 11);
/// assert_eq!(occupancy(card, 128, 32, 8448, 0).blocks, 10);
/// ```
pub const fn occupancy(
    card: &Card,
    block_threads: u32,
    registers: u32,
    static_bytes: u32,
    dynamic_bytes: u32,
) -> Occupancy {
    if block_threads == 0 || block_threads > MAX_BLOCK_THREADS {
        return Occupancy {
            blocks: 0,
            by_warps: 0,
            by_slots: card.blocks,
            by_registers: 0,
            by_shared: 0,
            warps: 0,
        };
    }
    let block_warps = block_threads.div_ceil(WARP);
    let by_warps = card.warps() / block_warps;
    let by_slots = card.blocks;
    let by_registers = blocks_by_registers(block_warps, registers);
    let by_shared = blocks_by_shared(card, static_bytes, dynamic_bytes);
    let blocks = least(least(by_warps, by_slots), least(by_registers, by_shared));
    Occupancy {
        blocks,
        by_warps,
        by_slots,
        by_registers,
        by_shared,
        warps: blocks * block_warps,
    }
}

const fn blocks_by_registers(block_warps: u32, registers: u32) -> u32 {
    if registers == 0 {
        return u32::MAX;
    }
    if registers > MAX_THREAD_REGISTERS {
        return 0;
    }
    let warp = (registers * WARP).next_multiple_of(REGISTER_GRANULARITY);
    if warp * block_warps.next_multiple_of(PARTITIONS) > REGISTERS {
        return 0;
    }
    REGISTERS / PARTITIONS / warp * PARTITIONS / block_warps
}

const fn blocks_by_shared(card: &Card, static_bytes: u32, dynamic_bytes: u32) -> u32 {
    // In 64 bits: the sizes may be anything.
    let asked = static_bytes as u64 + dynamic_bytes as u64;
    if static_bytes > SHARED_WITHOUT_OPT_IN || asked > card.block_bytes() as u64 {
        return 0;
    }
    let taken = (asked + card.reserved_bytes as u64).next_multiple_of(card.shared_granularity as u64) as u32;
    match card.shared_bytes.checked_div(taken) {
        Some(blocks) => blocks,
        None => u32::MAX,
    }
}

const fn least(a: u32, b: u32) -> u32 {
    if a < b { a } else { b }
}
