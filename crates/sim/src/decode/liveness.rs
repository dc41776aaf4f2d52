//! Where a function's registers live: virtual registers whose lives do not overlap share rows.
//!
//! Compilers emit PTX in near-SSA form, with hundreds of registers of 32 lanes each; packed, a warp's registers stay in
//! the cache. Lives are those of a single thread, which is right for divergent warps too: a lane's values are its own.

use tile33_ptx::{AddressBase, Body, Instruction, Opcode, Operand, RegId, Type};

use super::graph::Graph;

/// Rows of every register.
#[derive(Debug)]
pub(crate) struct Allocation {
    /// First row of each register, relative to the function's rows; unused for predicates.
    pub(crate) row: Vec<u32>,
    /// Rows in all.
    pub(crate) rows: u32,
    /// Registers that a path reads before anything wrote them: they start as zero, so that runs are alike.
    pub(crate) read_first: Vec<RegId>,
    /// Whether anything reads the register.
    pub(crate) read: Vec<bool>,
}

/// Rows of one component.
pub(crate) fn rows_of(ty: Type) -> u32 {
    ty.bytes().div_ceil(4)
}

struct Roles {
    reads: Vec<RegId>,
    writes: Vec<RegId>,
}

/// Allocates rows. Registers in `pinned` keep rows of their own, live everywhere.
pub(crate) fn allocate(body: &Body, graph: &Graph, pinned: usize) -> Allocation {
    let count = body.registers.len();
    let roles: Vec<Roles> = body.instructions.iter().map(roles_of).collect();
    let mut read = vec![false; count];
    for r in roles.iter().flat_map(|r| &r.reads) {
        read[r.0 as usize] = true;
    }
    let live = Liveness::solve(body, graph, &roles);

    // An interval covers every position at which the register is live; a position is twice the instruction, plus one for
    // its second half, in which it writes. Sources end in the second half so that no destination overlaps a source.
    let mut first = vec![u32::MAX; count];
    let mut last = vec![0u32; count];
    let mut cover = |r: RegId, at: u32| {
        let r = r.0 as usize;
        first[r] = first[r].min(at);
        last[r] = last[r].max(at);
    };
    for block in &live.blocks {
        for r in live.members(&block.live_in) {
            cover(r, 2 * block.start);
        }
        for r in live.members(&block.live_out) {
            cover(r, 2 * block.end - 1);
        }
    }
    for (i, r) in (0u32..).zip(&roles) {
        for &r in &r.reads {
            cover(r, 2 * i + 1);
        }
        for &r in &r.writes {
            cover(r, 2 * i + 1);
            cover(r, 2 * i);
        }
    }
    for r in 0..pinned.min(count) {
        first[r] = 0;
        last[r] = u32::MAX;
    }

    let mut order: Vec<usize> = (0..count).filter(|&r| first[r] != u32::MAX).collect();
    order.sort_by_key(|&r| (first[r], r));
    let mut row = vec![0; count];
    let mut pool = Pool::default();
    for r in order {
        let register = &body.registers[r];
        if register.ty == Type::Pred {
            continue;
        }
        let size = rows_of(register.ty) * u32::from(register.vector.max(1));
        row[r] = pool.take(size, first[r], last[r]);
    }
    let read_first = live
        .blocks
        .first()
        .map_or(Vec::new(), |b| live.members(&b.live_in).collect());
    Allocation {
        row,
        rows: pool.rows,
        read_first,
        read,
    }
}

/// Free rows by size; lives come in the order of their starts.
#[derive(Default)]
struct Pool {
    rows: u32,
    free: std::collections::BTreeMap<u32, Vec<u32>>,
    busy: std::collections::BinaryHeap<std::cmp::Reverse<(u32, u32, u32)>>,
}

impl Pool {
    fn take(&mut self, size: u32, from: u32, to: u32) -> u32 {
        while let Some(&std::cmp::Reverse((end, size, row))) = self.busy.peek() {
            if end >= from {
                break;
            }
            self.busy.pop();
            self.free.entry(size).or_default().push(row);
        }
        let row = self.free.get_mut(&size).and_then(Vec::pop).unwrap_or_else(|| {
            let row = self.rows;
            self.rows += size;
            row
        });
        self.busy.push(std::cmp::Reverse((to, size, row)));
        row
    }
}

struct Block {
    start: u32,
    end: u32,
    reads_first: Vec<u64>,
    writes: Vec<u64>,
    live_in: Vec<u64>,
    live_out: Vec<u64>,
    successors: Vec<usize>,
}

struct Liveness {
    blocks: Vec<Block>,
}

impl Liveness {
    fn members<'a>(&'a self, set: &'a [u64]) -> impl Iterator<Item = RegId> + 'a {
        (0u32..).zip(set).flat_map(|(w, &bits)| {
            (0..64)
                .filter(move |b| bits >> b & 1 == 1)
                .map(move |b| RegId(w * 64 + b))
        })
    }

    fn solve(body: &Body, graph: &Graph, roles: &[Roles]) -> Self {
        let end = graph.end();
        let mut leader = vec![false; end as usize + 1];
        leader[0] = true;
        for i in 0..end {
            let to = graph.successors(i);
            if to.len() != 1 || to[0] != i + 1 {
                leader[i as usize + 1] = true;
                for &t in to {
                    leader[t as usize] = true;
                }
            }
        }
        let starts: Vec<u32> = (0..end).filter(|&i| leader[i as usize]).collect();
        let mut block_of = vec![usize::MAX; end as usize + 1];
        for (b, &start) in starts.iter().enumerate() {
            block_of[start as usize] = b;
        }
        let words = body.registers.len().div_ceil(64);
        let mut blocks: Vec<Block> = starts
            .iter()
            .enumerate()
            .map(|(b, &start)| {
                let stop = starts.get(b + 1).copied().unwrap_or(end);
                let mut reads_first = vec![0u64; words];
                let mut writes = vec![0u64; words];
                for (i, role) in (start..stop).zip(&roles[start as usize..stop as usize]) {
                    for r in &role.reads {
                        let (w, bit) = (r.0 as usize / 64, 1u64 << (r.0 % 64));
                        if writes[w] & bit == 0 {
                            reads_first[w] |= bit;
                        }
                    }
                    // A guarded write may leave the old value in place.
                    let guarded = body.instructions[i as usize].guard.is_some();
                    for r in &role.writes {
                        let (w, bit) = (r.0 as usize / 64, 1u64 << (r.0 % 64));
                        if !guarded {
                            writes[w] |= bit;
                        } else if writes[w] & bit == 0 {
                            reads_first[w] |= bit;
                        }
                    }
                }
                let successors = graph
                    .successors(stop - 1)
                    .iter()
                    .filter(|&&t| t < end)
                    .map(|&t| block_of[t as usize])
                    .collect();
                Block {
                    start,
                    end: stop,
                    live_in: reads_first.clone(),
                    live_out: vec![0; words],
                    reads_first,
                    writes,
                    successors,
                }
            })
            .collect();
        let mut changed = true;
        while changed {
            changed = false;
            for b in (0..blocks.len()).rev() {
                let mut out = vec![0u64; words];
                for &s in &blocks[b].successors {
                    for (o, i) in out.iter_mut().zip(&blocks[s].live_in) {
                        *o |= i;
                    }
                }
                let block = &mut blocks[b];
                for (w, o) in out.iter().enumerate() {
                    let live = block.reads_first[w] | (o & !block.writes[w]);
                    if live != block.live_in[w] {
                        block.live_in[w] = live;
                        changed = true;
                    }
                }
                block.live_out = out;
            }
        }
        Self { blocks }
    }
}

/// Which registers an instruction reads and writes. Where an operand's role depends on the form, it counts as read.
fn roles_of(inst: &Instruction) -> Roles {
    let mut roles = Roles {
        reads: Vec::new(),
        writes: Vec::new(),
    };
    if let Some(guard) = inst.guard {
        roles.reads.push(guard.register);
    }
    let writes_first = match inst.opcode {
        Opcode::St
        | Opcode::Red
        | Opcode::Bra
        | Opcode::Brx
        | Opcode::Ret
        | Opcode::Exit
        | Opcode::Trap
        | Opcode::Call
        | Opcode::Cp
        | Opcode::Mbarrier
        | Opcode::Stmatrix
        | Opcode::Prefetch
        | Opcode::Prefetchu
        | Opcode::Nanosleep
        | Opcode::Sust
        | Opcode::Sured
        | Opcode::Discard
        | Opcode::Applypriority
        | Opcode::Membar
        | Opcode::Fence
        | Opcode::Bar
        | Opcode::Barrier
        | Opcode::Wgmma
        | Opcode::Tcgen05
        | Opcode::Multimem => false,
        Opcode::Wmma => !inst
            .modifiers
            .iter()
            .any(|m| matches!(m, tile33_ptx::Modifier::Word(w) if &**w == "store")),
        _ => true,
    };
    for (i, operand) in inst.operands.iter().enumerate() {
        // A call's returns are written, and so are the destinations of forms that are not told apart here: as reads and
        // writes both they stay live long enough.
        let into = if i == 0 && writes_first {
            &mut roles.writes
        } else {
            &mut roles.reads
        };
        collect(operand, into);
    }
    // What is written in part keeps the rest, and an address in the first place is read.
    if writes_first {
        match inst.operands.first() {
            Some(operand @ Operand::Address { .. }) => collect(operand, &mut roles.reads),
            Some(operand) => partial(operand, &mut roles.reads),
            None => {}
        }
    }
    roles
}

/// Vector registers of which an operand names one component.
fn partial(operand: &Operand, into: &mut Vec<RegId>) {
    match operand {
        Operand::Register(r, Some(_)) => into.push(*r),
        Operand::Vector(all) => all.iter().for_each(|o| partial(o, into)),
        Operand::Pair(a, _) => partial(a, into),
        _ => {}
    }
}

fn collect(operand: &Operand, into: &mut Vec<RegId>) {
    match operand {
        Operand::Register(r, _) | Operand::NotPredicate(r) => into.push(*r),
        Operand::Address {
            base: AddressBase::Register(r),
            ..
        } => into.push(*r),
        Operand::Video { register, .. } => into.push(*register),
        Operand::Vector(all) | Operand::List(all) | Operand::Bracketed(all) => {
            all.iter().for_each(|o| collect(o, into));
        }
        Operand::Pair(a, b) => {
            collect(a, into);
            collect(b, into);
        }
        _ => {}
    }
}
