//! The micro-operations that a kernel is decoded into: one flat array, branch targets resolved, operands as row slots.

use tile33_ptx::{FuncId, SourceLoc};

use crate::alu::Alu;
use crate::registers::{PredSlot, Slot};

/// "No reconvergence point", "no such place".
pub(crate) const NOWHERE: u32 = u32::MAX;

/// One step of a warp.
#[derive(Debug)]
pub(crate) struct Inst {
    pub(crate) guard: Guard,
    /// Whether it stands for an instruction of the PTX; the others are steps that the decoder added, and are not counted.
    pub(crate) counted: bool,
    pub(crate) op: Op,
}

/// Which lanes of the group execute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guard {
    Always,
    If(PredSlot),
    Unless(PredSlot),
}

/// State space of an access, as far as it is known before the address is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum MemSpace {
    Generic,
    Global,
    Shared,
    Local,
    Const,
    Param,
}

/// Memory ordering of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Weak,
    Volatile,
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

/// Whose threads an ordering reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    Block,
    Cluster,
    Device,
    System,
}

/// `[base + offset]`
#[derive(Clone, Copy, Debug)]
pub(crate) struct Addr {
    pub(crate) space: MemSpace,
    pub(crate) base: Base,
    pub(crate) offset: i64,
}

/// What an address starts from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Base {
    /// 64-bit rows.
    Wide(Slot),
    /// One 32-bit row, zero-extended.
    Narrow(Slot),
    /// The function's frame in local memory: the same place for every lane.
    Frame,
    /// A kernel parameter: the same bytes for every thread.
    KernelParam,
}

/// How the bytes in memory become a register: `bytes` wide in memory, `rows` 32-bit rows in the register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Element {
    /// 1, 2, 4, 8 or 16 bytes in memory.
    pub(crate) bytes: u32,
    /// Sign-extended on a load.
    pub(crate) signed: bool,
}

/// A register that is loaded or stored: its rows and its own width in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) slot: Slot,
    pub(crate) bytes: u32,
}

/// `ld`, `ldu`
#[derive(Debug)]
pub(crate) struct Load {
    pub(crate) addr: Addr,
    pub(crate) element: Element,
    pub(crate) cells: Vec<Cell>,
    pub(crate) order: Order,
    pub(crate) scope: Scope,
}

/// `st`
#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) addr: Addr,
    pub(crate) element: Element,
    pub(crate) cells: Vec<Cell>,
    pub(crate) order: Order,
    pub(crate) scope: Scope,
}

/// What an atomic does with the old value and its operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum AtomicOp {
    Add,
    Min,
    Max,
    Inc,
    Dec,
    And,
    Or,
    Xor,
    Exch,
    Cas,
}

/// Type that an atomic computes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum AtomicType {
    Bits,
    Unsigned,
    Signed,
    F16,
    Bf16,
    F16x2,
    Bf16x2,
    F32,
    F64,
}

/// `atom`, `red`
#[derive(Debug)]
pub(crate) struct Atomic {
    pub(crate) addr: Addr,
    pub(crate) op: AtomicOp,
    pub(crate) ty: AtomicType,
    /// Bytes of one element.
    pub(crate) bytes: u32,
    /// `atom` rather than `red`: its thread sees what it found, and so observes what that publishes.
    pub(crate) observes: bool,
    /// Where the old values go; empty for `red` and where nobody reads them.
    pub(crate) dests: Vec<Cell>,
    /// Operands, one an element.
    pub(crate) sources: Vec<Cell>,
    /// Value to store, for `cas`.
    pub(crate) swap: Option<Cell>,
    pub(crate) order: Order,
    pub(crate) scope: Scope,
}

/// `cp.async`
#[derive(Debug)]
pub(crate) struct AsyncCopy {
    pub(crate) to: Addr,
    pub(crate) from: Addr,
    pub(crate) bytes: u32,
    /// Bytes read; the rest is filled with zeros.
    pub(crate) source_bytes: Option<Slot>,
    /// Predicate that makes it write zeros only.
    pub(crate) ignore: Option<(PredSlot, bool)>,
}

/// What `mbarrier` does.
#[derive(Debug)]
pub(crate) enum MbarrierOp {
    Init {
        count: Slot,
    },
    Invalidate,
    ExpectTx {
        bytes: Slot,
    },
    CompleteTx {
        bytes: Slot,
    },
    /// `arrive` and `arrive_drop`, with `expect_tx` first where given.
    Arrive {
        state: Option<Slot>,
        count: Option<Slot>,
        expect: Option<Slot>,
        drop: bool,
        complete: bool,
    },
    /// `cp.async.mbarrier.arrive`
    ArriveAfterCopies {
        no_increment: bool,
    },
    /// `test_wait`, `try_wait`, by state or parity.
    Test {
        done: PredSlot,
        phase: Slot,
        parity: bool,
    },
    PendingCount {
        dest: Slot,
        state: Slot,
    },
}

/// `mbarrier.*`
#[derive(Debug)]
pub(crate) struct Mbarrier {
    pub(crate) addr: Option<Addr>,
    pub(crate) op: MbarrierOp,
    pub(crate) order: Order,
}

/// `bar`, `barrier`
#[derive(Debug)]
pub(crate) struct Barrier {
    pub(crate) id: Slot,
    pub(crate) count: Option<Slot>,
    pub(crate) kind: BarrierKind,
    pub(crate) aligned: bool,
}

/// What a thread does at a block barrier.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BarrierKind {
    Sync,
    Arrive,
    /// Counts the predicate over the block's threads.
    Popc {
        dest: Slot,
        source: (PredSlot, bool),
    },
    And {
        dest: PredSlot,
        source: (PredSlot, bool),
    },
    Or {
        dest: PredSlot,
        source: (PredSlot, bool),
    },
}

/// `ldmatrix`, `stmatrix`
#[derive(Debug)]
pub(crate) struct Matrix {
    pub(crate) addr: Addr,
    /// One 32-bit register a matrix.
    pub(crate) cells: Vec<Slot>,
    pub(crate) transposed: bool,
}

/// `wmma.load`, `wmma.store`: element `i` of lane `l`'s fragment lies at `row[l][i] * stride + column[l][i]` (or the other
/// way round for column-major matrices).
#[derive(Debug)]
pub(crate) struct Fragment {
    pub(crate) addr: Addr,
    /// Distance of rows (columns) in elements.
    pub(crate) stride: Slot,
    pub(crate) places: Vec<[(u8, u8); 32]>,
    pub(crate) column_major: bool,
    pub(crate) element_bits: u32,
    pub(crate) cells: Vec<Cell>,
    pub(crate) store: bool,
}

/// Which clock.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ClockKind {
    Low32,
    High32,
    Full64,
}

/// Functions that the device runtime provides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Builtin {
    Printf,
    Malloc,
    Free,
    AssertFail,
}

/// Whom a call calls.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Callee {
    /// Index into the kernel's functions.
    Function(usize),
    Builtin(Builtin),
    /// Address in 64-bit (or 32-bit) rows.
    Indirect {
        target: Base,
    },
}

/// A value that goes to or from a callee.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Passed {
    /// Bytes at an offset of the caller's frame.
    Frame { offset: u32, bytes: u32 },
    /// A register or constant.
    Register(Cell),
    /// Not wanted.
    Nothing,
}

/// `call`
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) callee: Callee,
    pub(crate) args: Vec<Passed>,
    pub(crate) returns: Vec<Passed>,
    /// Rows and predicates of the caller that must survive the call because the callee can reach the caller again.
    pub(crate) save_rows: Vec<(u32, u32)>,
    pub(crate) save_predicates: Vec<PredSlot>,
}

/// What an instruction does.
#[derive(Debug)]
pub(crate) enum Op {
    Nop,
    Alu(Alu),
    /// An [`Alu`] whose lanes must be together first.
    Together(Box<Together>),
    Branch {
        target: u32,
        reconverge: u32,
    },
    BranchTable {
        index: Slot,
        targets: Box<[u32]>,
        reconverge: u32,
    },
    Call(Box<Call>),
    /// End of a function.
    Return,
    Exit,
    Trap,
    Load(Box<Load>),
    Store(Box<Store>),
    Atomic(Box<Atomic>),
    Barrier(Box<Barrier>),
    WarpBarrier {
        members: Slot,
    },
    /// `sequential`: `fence.sc` or `membar`.
    Fence {
        scope: Scope,
        sequential: bool,
    },
    /// `wide`: 64-bit rows are filled.
    Clock {
        dest: Slot,
        kind: ClockKind,
        wide: bool,
    },
    /// Address of a thread's local variable: frame base plus offset.
    FrameAddress {
        dest: Slot,
        wide: bool,
        offset: i64,
    },
    /// `cvta` and `cvta.to`.
    Convert {
        dest: Slot,
        source: Slot,
        wide: bool,
        window: u64,
        to_generic: bool,
    },
    IsSpace {
        dest: PredSlot,
        source: Slot,
        wide: bool,
        space: MemSpace,
    },
    AsyncCopy(Box<AsyncCopy>),
    AsyncCommit,
    /// All but the newest `pending` groups; everything, committed or not, for `None`.
    AsyncWait {
        pending: Option<u32>,
    },
    Mbarrier(Box<Mbarrier>),
    Matrix {
        matrix: Box<Matrix>,
        store: bool,
    },
    Fragment(Box<Fragment>),
    Sleep,
    Unsupported(Box<str>),
}

/// An instruction for which lanes of a warp come together, and what it reads and writes: lanes that come by different
/// instructions of the same form exchange those.
#[derive(Debug)]
pub(crate) struct Together {
    pub(crate) alu: Alu,
    /// Equal for instructions that may be executed as one: same opcode and modifiers.
    pub(crate) form: u64,
    /// Rows and their number.
    pub(crate) inputs: Vec<(Slot, u32)>,
    pub(crate) outputs: Vec<(Slot, u32)>,
    pub(crate) predicate_inputs: Vec<PredSlot>,
    pub(crate) predicate_outputs: Vec<PredSlot>,
}

/// What an op is made from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    /// PTX line; 0 for the op that ends a function.
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) loc: Option<SourceLoc>,
}

/// A function's part of a decoded kernel.
#[derive(Debug)]
pub(crate) struct FunctionCode {
    pub(crate) id: FuncId,
    pub(crate) name: String,
    pub(crate) entry: u32,
    /// Bytes of local memory that a call takes: parameters, returns, `.local` and `.param` variables.
    pub(crate) frame_bytes: u32,
    /// What lies where in it.
    pub(crate) symbols: Vec<super::place::Symbol>,
    pub(crate) params: Vec<Passed>,
    pub(crate) returns: Vec<Passed>,
}
