//! The typed module: what a PTX file says, with names resolved and positions kept.
//!
//! The parser does the syntax, the declarations and the scopes: every register, variable, label and function that an
//! instruction names is an id here. It does not judge whether an opcode takes its modifiers; whoever runs or audits the
//! module does, and has the position to say where.

use std::fmt;
use std::sync::Arc;

/// A place in the PTX text. Lines and columns count from 1, columns in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pos {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

/// A place in the source that the PTX was compiled from (`.loc`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceLoc {
    /// Number of the file as `.file` gives it; look it up in [`Module::files`].
    pub file: u32,
    /// Line, from 1; 0 where the compiler knew none.
    pub line: u32,
    /// Column, from 1; 0 where the compiler knew none.
    pub column: u32,
}

/// A whole PTX file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// `.version major.minor`
    pub version: (u32, u32),
    /// `.target`, the architecture first: `["sm_90", "debug"]`.
    pub target: Vec<String>,
    /// `.address_size`, 32 or 64 bits.
    pub address_size: u32,
    /// `.file N "path"`, and the files that only comments about inlining name, numbered after them.
    pub files: Vec<SourceFile>,
    /// Module-scope variables. [`VarId`]s below `variables.len()` in every function mean these.
    pub variables: Vec<Variable>,
    /// Kernels, functions and declarations. [`FuncId`] is an index. A declaration and its definition are one entry.
    pub functions: Vec<Function>,
    /// `.pragma` strings at module level.
    pub pragmas: Vec<String>,
}

/// A `.file` entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// The number that `.loc` uses.
    pub number: u32,
    /// The path as written.
    pub path: String,
}

/// Index into [`Module::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FuncId(pub u32);
/// Index into [`Body::registers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RegId(pub u32);
/// Index of a label into [`Body::labels`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LabelId(pub u32);
/// A variable that an instruction can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum VarId {
    /// Index into [`Module::variables`].
    Module(u32),
    /// Index into [`Function::params`].
    Param(u32),
    /// Index into [`Function::returns`].
    Return(u32),
    /// Index into [`Body::variables`].
    Local(u32),
}

/// Linking directives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Linkage {
    /// None given.
    #[default]
    Internal,
    /// `.visible`
    Visible,
    /// `.extern`
    Extern,
    /// `.weak`
    Weak,
    /// `.common`
    Common,
}

/// A `.entry` or `.func`, with or without a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Whether a launch can name it (`.entry`).
    pub is_kernel: bool,
    /// Linking directive.
    pub linkage: Linkage,
    /// Name as written.
    pub name: String,
    /// Return parameters of a `.func`. Those in [`Space::Reg`] are the first registers of the body, in order.
    pub returns: Vec<Variable>,
    /// Parameters, in order. Those in [`Space::Reg`] are the registers that follow the returns' in the body.
    pub params: Vec<Variable>,
    /// `.noreturn`
    pub noreturn: bool,
    /// `.maxntid` / `.reqntid` / `.minnctapersm` / `.maxnreg` / ..
    pub bounds: LaunchBounds,
    /// `.pragma` strings of the header and the body.
    pub pragmas: Vec<String>,
    /// `.alias this, that`: calls of this function run that one (see [`Module::resolve_alias`]).
    pub alias_of: Option<FuncId>,
    /// `None` for a declaration.
    pub body: Option<Body>,
    /// Where the name stands.
    pub pos: Pos,
}

/// Performance directives of a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaunchBounds {
    /// `.maxntid x, y, z` (missing ones are 1)
    pub max_threads: Option<[u32; 3]>,
    /// `.reqntid x, y, z`
    pub required_threads: Option<[u32; 3]>,
    /// `.minnctapersm`
    pub min_blocks: Option<u32>,
    /// `.maxnreg`
    pub max_registers: Option<u32>,
    /// `.maxnctapersm`
    pub max_blocks: Option<u32>,
    /// `.reqnctapercluster x, y, z` (missing ones are 1)
    pub cluster: Option<[u32; 3]>,
    /// `.maxclusterrank`
    pub max_cluster_rank: Option<u32>,
    /// `.explicitcluster`
    pub explicit_cluster: bool,
    /// `.blocksareclusters`
    pub blocks_are_clusters: bool,
}

/// What is between a function's braces, nested scopes flattened.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Body {
    /// The registers that something names, and those declared one by one. A range (`%r<8>`) contributes only the members
    /// that an instruction uses, in order of first use: what an executor must hold. `declared` has what was written.
    pub registers: Vec<Register>,
    /// The `.reg` declarations as written.
    pub declared: Vec<RegisterRange>,
    /// `.local`, `.shared`, `.param`, `.const` .. variables declared inside.
    pub variables: Vec<Variable>,
    /// Labels with the index of the instruction they stand before (`instructions.len()` at the end).
    pub labels: Vec<Label>,
    /// `name: .branchtargets a, b;`
    pub branch_tables: Vec<BranchTable>,
    /// `name: .callprototype ..;`
    pub prototypes: Vec<Prototype>,
    /// `name: .calltargets f, g;`
    pub call_targets: Vec<CallTargets>,
    /// The instructions, in order.
    pub instructions: Vec<Instruction>,
    /// Where stretches of the instructions were inlined, in order. See [`Body::inline_chain`].
    pub inlined: Vec<Inlined>,
}

/// From which instruction on a chain of inlining holds, up to the next entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inlined {
    /// Index of the first instruction.
    pub from: u32,
    /// The place that the code was inlined at, the place that this one was inlined at, and so on; empty for code that was
    /// not inlined.
    pub chain: Vec<SourceLoc>,
}

/// A declared register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// Name as used (`%r7` of `.reg .b32 %r<8>`).
    pub name: String,
    /// Declared type.
    pub ty: Type,
    /// `.v2` / `.v4` register vectors have 2 or 4, else 1.
    pub vector: u8,
}

/// One name of a `.reg` declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterRange {
    /// The name, or what stands before `<count>`.
    pub prefix: String,
    /// `Some(8)` for `%r<8>`, `None` for a single register.
    pub count: Option<u32>,
    /// Declared type.
    pub ty: Type,
    /// `.v2` / `.v4` register vectors have 2 or 4, else 1.
    pub vector: u8,
    /// Where the name stands.
    pub pos: Pos,
}

/// A label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Name as written. Labels of different nested scopes may share one.
    pub name: String,
    /// Instruction it stands before.
    pub target: u32,
    /// Where it stands.
    pub pos: Pos,
}

/// `.branchtargets`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchTable {
    /// Label of the table.
    pub name: String,
    /// Targets, by index.
    pub targets: Vec<LabelId>,
}

/// `.callprototype`
#[derive(Clone, Debug, PartialEq)]
pub struct Prototype {
    /// Label of the prototype.
    pub name: String,
    /// Return parameters.
    pub returns: Vec<Variable>,
    /// Parameters.
    pub params: Vec<Variable>,
    /// `.noreturn`
    pub noreturn: bool,
}

/// `.calltargets`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallTargets {
    /// Label of the list.
    pub name: String,
    /// The functions.
    pub targets: Vec<FuncId>,
}

/// A variable or parameter in some state space.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Name as written; empty for an unnamed parameter of a declaration or prototype (`_`).
    pub name: String,
    /// Linking directive.
    pub linkage: Linkage,
    /// `.global`, `.shared`, `.const`, `.local`, `.param`; a `.reg` parameter of a `.func` has [`Space::Reg`].
    pub space: Space,
    /// Element type.
    pub ty: Type,
    /// `.v2` / `.v4`: 2 or 4, else 1.
    pub vector: u8,
    /// Array dimensions, outermost first; empty for a scalar; `None` for `[]`.
    pub dims: Vec<Option<u64>>,
    /// `.align N`, else the natural alignment of the type.
    pub align: u32,
    /// `.ptr .space .align` attributes of a kernel parameter.
    pub pointer: Option<PointerAttr>,
    /// Initial bytes and the addresses in them.
    pub init: Option<Initializer>,
    /// Where the name stands.
    pub pos: Pos,
}

impl Variable {
    /// Size in bytes; 0 for an unsized array.
    pub fn bytes(&self) -> u64 {
        let element = u64::from(self.ty.bytes()) * u64::from(self.vector.max(1));
        self.dims.iter().fold(element, |n, d| n.saturating_mul(d.unwrap_or(0)))
    }
}

/// `.ptr` attribute of a kernel parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PointerAttr {
    /// State space pointed to, [`Space::Generic`] if none is given.
    pub space: Space,
    /// Alignment of what is pointed to.
    pub align: u32,
}

/// An initialised variable.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Initializer {
    /// The bytes, little-endian; shorter than the variable where the rest is zero.
    pub bytes: Vec<u8>,
    /// Addresses to fill in.
    pub relocations: Vec<Relocation>,
}

/// An address inside an initialiser.
#[derive(Clone, Debug, PartialEq)]
pub struct Relocation {
    /// Byte offset in the initialiser.
    pub offset: u64,
    /// Bytes written there: 4 or 8 (or 1 with a `mask(..)`, see `shift`).
    pub width: u8,
    /// Right shift applied before the bytes are taken (`0xff00(sym)` has 8).
    pub shift: u8,
    /// Symbol.
    pub target: SymbolRef,
    /// Added to the symbol's address.
    pub addend: i64,
    /// `generic(sym)`: the generic address rather than the one within the state space.
    pub generic: bool,
}

/// What a symbol in an operand or initialiser names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SymbolRef {
    /// A variable.
    Variable(VarId),
    /// A function.
    Function(FuncId),
}

/// State spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Space {
    /// No space given: a generic address.
    Generic,
    /// `.global`
    Global,
    /// `.shared`, `.shared::cta`
    Shared,
    /// `.shared::cluster`
    SharedCluster,
    /// `.local`
    Local,
    /// `.const`
    Const,
    /// `.param`, `.param::entry`, `.param::func`
    Param,
    /// `.reg`
    Reg,
    /// `.sreg`
    Sreg,
    /// `.tex`
    Tex,
}

macro_rules! words {
    ($(#[$m:meta])* $name:ident { $($(#[$vm:meta])* $v:ident = $s:literal),* $(,)? }) => {
        $(#[$m])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[allow(missing_docs)]
        pub enum $name { $($(#[$vm])* $v),* }
        impl $name {
            /// Every one of them.
            pub const ALL: &'static [Self] = &[$(Self::$v),*];
            /// As it is spelt in PTX, without the dot.
            pub const fn as_str(self) -> &'static str { match self { $(Self::$v => $s),* } }
            /// From its spelling, without the dot.
            pub fn from_word(word: &str) -> Option<Self> { match word { $($s => Some(Self::$v),)* _ => None } }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.write_str(self.as_str()) }
        }
    };
}

words! {
    /// Fundamental types, and the packed and alternate ones that instructions name.
    Type {
        Pred = "pred",
        B8 = "b8", B16 = "b16", B32 = "b32", B64 = "b64", B128 = "b128",
        U8 = "u8", U16 = "u16", U32 = "u32", U64 = "u64",
        S8 = "s8", S16 = "s16", S32 = "s32", S64 = "s64",
        F16 = "f16", F16x2 = "f16x2", F32 = "f32", F64 = "f64",
        Bf16 = "bf16", Bf16x2 = "bf16x2", Tf32 = "tf32", F32x2 = "f32x2",
        U16x2 = "u16x2", S16x2 = "s16x2",
        E4m3 = "e4m3", E5m2 = "e5m2", E4m3x2 = "e4m3x2", E5m2x2 = "e5m2x2",
        U4 = "u4", S4 = "s4", B1 = "b1", U2 = "u2", S2 = "s2",
        TexRef = "texref", SamplerRef = "samplerref", SurfRef = "surfref",
    }
}

impl Type {
    /// Storage size in bytes; 1 for a predicate and for the types smaller than a byte.
    pub const fn bytes(self) -> u32 {
        use Type::*;
        match self {
            Pred | B8 | U8 | S8 | E4m3 | E5m2 | U4 | S4 | B1 | U2 | S2 => 1,
            B16 | U16 | S16 | F16 | Bf16 | E4m3x2 | E5m2x2 => 2,
            B32 | U32 | S32 | F32 | F16x2 | Bf16x2 | Tf32 | U16x2 | S16x2 => 4,
            B64 | U64 | S64 | F64 | F32x2 | TexRef | SamplerRef | SurfRef => 8,
            B128 => 16,
        }
    }
}

/// One instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// `@p` / `@!p`
    pub guard: Option<Guard>,
    /// The first word, without its modifiers: `ld` of `ld.global.v4.f32`.
    pub opcode: Opcode,
    /// The words after it, in order, shared by the instructions that have the same. See [`Modifier`].
    pub modifiers: Arc<[Modifier]>,
    /// Operands, destination first.
    pub operands: Vec<Operand>,
    /// Where the opcode stands.
    pub pos: Pos,
    /// The `.loc` in force.
    pub loc: Option<SourceLoc>,
    /// Where the function that `loc` is in was inlined, if said. [`Body::inline_chain`] has the places further out.
    pub inlined_at: Option<SourceLoc>,
}

/// Predicate guard of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// The predicate.
    pub register: RegId,
    /// `@!p`
    pub negated: bool,
}

/// A dotted word after an opcode. The parser knows types, spaces and vector sizes; every other word stays a word, since
/// its meaning is the opcode's (`.lo`, `.and`, `.x2`, `.ca` ..).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Modifier {
    /// `.f32`, `.b64`, `.pred` ..
    Type(Type),
    /// `.global`, `.shared`, `.shared::cta`, `.param::func` ..
    Space(Space),
    /// `.v2`, `.v4`, `.v8`
    Vector(u8),
    /// Anything else, without the dot: `rn`, `ftz`, `sat`, `lo`, `wide`, `sync`, `aligned`, `m8n8`, `L2::128B` ..
    Word(Arc<str>),
}

/// What an instruction works on.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A register, with the component for `%v.x` of a vector register.
    Register(RegId, Option<u8>),
    /// `!%p`
    NotPredicate(RegId),
    /// `%tid.x`, `%laneid`, `%clock64` .. (`component` is 0 for `.x`, 1 for `.y` ..)
    Special {
        /// Which.
        register: SpecialRegister,
        /// `.x` `.y` `.z` `.w` as 0 to 3; the number of `%envregN` and `%pmN`, and 8 + N for `%pmN_64`; else `None`.
        component: Option<u8>,
    },
    /// An integer constant (expression, folded), as 64 bits.
    Integer(i64),
    /// `0f3F800000` (bits).
    Float32(u32),
    /// `0d3FF0000000000000` or a decimal float literal (bits).
    Float64(u64),
    /// The address of a symbol, plus an offset (`mov.u64 %rd1, symbol+4`).
    Symbol(SymbolRef, i64),
    /// `[base + offset]`
    Address {
        /// What stands before the offset.
        base: AddressBase,
        /// Bytes.
        offset: i64,
    },
    /// `[a, {x, y}]`, `[texture, sampler, {u, v}]`: an address with coordinates. The first part is an [`Operand::Address`].
    Bracketed(Vec<Operand>),
    /// `-%r1`, `%r1.b0`, `%r1.h1`: an operand of a video instruction (`vadd`, `vmad` ..).
    Video {
        /// The register.
        register: RegId,
        /// With a minus before it.
        negated: bool,
        /// The part of it, without the dot.
        part: Option<Arc<str>>,
    },
    /// `{a, b, c, d}`
    Vector(Vec<Operand>),
    /// `(a, b)` of a call: parameters or return values.
    List(Vec<Operand>),
    /// `d|p`: a result and its predicate.
    Pair(Box<Operand>, Box<Operand>),
    /// A label of a branch.
    Label(LabelId),
    /// Index into [`Body::branch_tables`].
    BranchTable(u32),
    /// Index into [`Body::prototypes`].
    Prototype(u32),
    /// Index into [`Body::call_targets`].
    CallTargets(u32),
    /// `_`: nothing wanted.
    Sink,
}

/// What an address starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressBase {
    /// A register (component for vector registers is not used in addresses).
    Register(RegId),
    /// A symbol.
    Symbol(SymbolRef),
    /// Nothing: the offset is the whole address.
    Absolute,
}

words! {
    /// Every opcode of the PTX ISA, up to 9.x. An unknown word is a parse error.
    Opcode {
        Abs = "abs", Activemask = "activemask", Add = "add", Addc = "addc", Alloca = "alloca", And = "and",
        Applypriority = "applypriority", Atom = "atom", Bar = "bar", Barrier = "barrier", Bfe = "bfe", Bfi = "bfi",
        Bfind = "bfind", Bmsk = "bmsk", Bra = "bra", Brev = "brev", Brkpt = "brkpt", Brx = "brx", Call = "call",
        Clusterlaunchcontrol = "clusterlaunchcontrol", Clz = "clz", Cnot = "cnot", Copysign = "copysign", Cos = "cos",
        Cp = "cp", Createpolicy = "createpolicy", Cvt = "cvt", Cvta = "cvta", Discard = "discard", Div = "div",
        Dp2a = "dp2a", Dp4a = "dp4a", Elect = "elect", Ex2 = "ex2", Exit = "exit", Fence = "fence", Fma = "fma",
        Fns = "fns", Getctarank = "getctarank", Griddepcontrol = "griddepcontrol", Isspacep = "isspacep",
        Istypep = "istypep", Ld = "ld", Ldmatrix = "ldmatrix", Ldu = "ldu", Lg2 = "lg2", Lop3 = "lop3", Mad = "mad",
        Mad24 = "mad24", Madc = "madc", Mapa = "mapa", Match = "match", Max = "max", Mbarrier = "mbarrier",
        Membar = "membar", Min = "min", Mma = "mma", Mov = "mov", Movmatrix = "movmatrix", Mul = "mul", Mul24 = "mul24",
        Multimem = "multimem", Nanosleep = "nanosleep", Neg = "neg", Not = "not", Or = "or", Pmevent = "pmevent",
        Popc = "popc", Prefetch = "prefetch", Prefetchu = "prefetchu", Prmt = "prmt", Rcp = "rcp", Red = "red",
        Redux = "redux", Rem = "rem", Ret = "ret", Rsqrt = "rsqrt", Sad = "sad", Selp = "selp", Set = "set",
        Setmaxnreg = "setmaxnreg", Setp = "setp", Shf = "shf", Shfl = "shfl", Shl = "shl", Shr = "shr", Sin = "sin",
        Slct = "slct", Sqrt = "sqrt", St = "st", Stackrestore = "stackrestore", Stacksave = "stacksave",
        Stmatrix = "stmatrix", Sub = "sub", Subc = "subc", Suld = "suld", Suq = "suq", Sured = "sured", Sust = "sust",
        Szext = "szext", Tanh = "tanh", Tcgen05 = "tcgen05", Tensormap = "tensormap", Testp = "testp", Tex = "tex",
        Tld4 = "tld4", Trap = "trap", Txq = "txq", Vabsdiff = "vabsdiff", Vabsdiff2 = "vabsdiff2",
        Vabsdiff4 = "vabsdiff4", Vadd = "vadd", Vadd2 = "vadd2", Vadd4 = "vadd4", Vavrg2 = "vavrg2", Vavrg4 = "vavrg4",
        Vmad = "vmad", Vmax = "vmax", Vmax2 = "vmax2", Vmax4 = "vmax4", Vmin = "vmin", Vmin2 = "vmin2", Vmin4 = "vmin4",
        Vote = "vote", Vset = "vset", Vset2 = "vset2", Vset4 = "vset4", Vshl = "vshl", Vshr = "vshr", Vsub = "vsub",
        Vsub2 = "vsub2", Vsub4 = "vsub4", Wgmma = "wgmma", Wmma = "wmma", Xor = "xor",
    }
}

words! {
    /// Special registers, without their component.
    SpecialRegister {
        Tid = "tid", Ntid = "ntid", LaneId = "laneid", WarpId = "warpid", NWarpId = "nwarpid", CtaId = "ctaid",
        NCtaId = "nctaid", SmId = "smid", NSmId = "nsmid", GridId = "gridid", IsExplicitCluster = "is_explicit_cluster",
        ClusterId = "clusterid", NClusterId = "nclusterid", ClusterCtaId = "cluster_ctaid",
        ClusterNCtaId = "cluster_nctaid", ClusterCtaRank = "cluster_ctarank", ClusterNCtaRank = "cluster_nctarank",
        LanemaskEq = "lanemask_eq", LanemaskLe = "lanemask_le", LanemaskLt = "lanemask_lt", LanemaskGe = "lanemask_ge",
        LanemaskGt = "lanemask_gt", Clock = "clock", ClockHi = "clock_hi", Clock64 = "clock64",
        /// `%pm0` .. `%pm7` and `%pm0_64` ..: counters that nothing here keeps.
        Pm = "pm",
        /// `%envreg0` .. `%envreg31`.
        EnvReg = "envreg",
        GlobalTimer = "globaltimer", GlobalTimerLo = "globaltimer_lo", GlobalTimerHi = "globaltimer_hi",
        TotalSmemSize = "total_smem_size", AggrSmemSize = "aggr_smem_size", DynamicSmemSize = "dynamic_smem_size",
        ReservedSmemOffsetBegin = "reserved_smem_offset_begin", ReservedSmemOffsetEnd = "reserved_smem_offset_end",
        ReservedSmemOffsetCap = "reserved_smem_offset_cap", ReservedSmemOffset0 = "reserved_smem_offset_0",
        ReservedSmemOffset1 = "reserved_smem_offset_1", CurrentGraphExec = "current_graph_exec",
        WarpSz = "WARP_SZ",
    }
}
