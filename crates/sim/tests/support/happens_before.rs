//! Races by the definition: the graph of everything that a small program did, and its transitive closure.
//!
//! Independent of the detector on purpose: no clocks, no epochs, no shadow; every node knows the set of nodes before it.

use std::collections::HashMap;

use tile33_sim::check::{AccessKind, Order, Scope, Site};

/// A thread of a block.
pub(crate) type Thread = (u32, u32);

/// What a program does, in the order in which it ran. Sites and events are numbered alike: event i has pc i.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// Lanes access memory: (lane, address, value) each.
    Access {
        block: u32,
        warp: u32,
        lanes: Vec<(u32, u64, u32)>,
        bytes: u32,
        site: Site,
    },
    BlockBarrier {
        block: u32,
    },
    WarpSync {
        block: u32,
        warp: u32,
        mask: u32,
    },
    Fence {
        block: u32,
        warp: u32,
        mask: u32,
        scope: Scope,
    },
    /// Lanes that only arrive at a named barrier.
    Arrive {
        block: u32,
        barrier: u32,
        warp: u32,
        mask: u32,
    },
    /// Lanes that arrive and wait, which completes the barrier.
    Complete {
        block: u32,
        barrier: u32,
        waiting: Vec<(u32, u32)>,
    },
    MbarrierArrive {
        block: u32,
        warp: u32,
        lane: u32,
        address: u64,
    },
    MbarrierComplete {
        block: u32,
        address: u64,
    },
    MbarrierWait {
        block: u32,
        warp: u32,
        lane: u32,
        address: u64,
    },
}

/// An access that a node stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Done {
    pub(crate) event: usize,
    pub(crate) thread: Thread,
    pub(crate) address: u64,
    pub(crate) bytes: u32,
    pub(crate) value: u32,
    pub(crate) site: Site,
}

impl Done {
    fn strong(&self) -> bool {
        self.site.order != Order::Weak
    }
    fn writes(&self) -> bool {
        self.site.kind != AccessKind::Read
    }
    /// The bytes that both touch.
    fn common(&self, other: &Done) -> std::ops::Range<u64> {
        let end = (self.address + u64::from(self.bytes)).min(other.address + u64::from(other.bytes));
        self.address.max(other.address)..end
    }
    fn includes(&self, other: Thread) -> bool {
        self.thread.0 == other.0 || self.site.scope == Scope::Device
    }
    fn morally_strong(&self, other: &Done) -> bool {
        self.strong() && other.strong() && self.includes(other.thread) && other.includes(self.thread)
    }
}

#[derive(Default)]
struct Graph {
    /// The nodes before each, and itself.
    before: Vec<Vec<u64>>,
    last: HashMap<Thread, usize>,
}

impl Graph {
    fn node(&mut self, thread: Thread) -> usize {
        let n = self.before.len();
        self.before.push(Vec::new());
        if let Some(previous) = self.last.insert(thread, n) {
            self.edge(previous, n);
        }
        self.set(n, n);
        n
    }
    fn set(&mut self, node: usize, bit: usize) {
        let row = &mut self.before[node];
        row.resize(row.len().max(bit / 64 + 1), 0);
        row[bit / 64] |= 1 << (bit % 64);
    }
    fn edge(&mut self, from: usize, to: usize) {
        let from = self.before[from].clone();
        let row = &mut self.before[to];
        row.resize(row.len().max(from.len()), 0);
        row.iter_mut().zip(from).for_each(|(a, b)| *a |= b);
    }
    fn ordered(&self, from: usize, to: usize) -> bool {
        self.before[to]
            .get(from / 64)
            .is_some_and(|w| w >> (from % 64) & 1 == 1)
    }
}

/// A pair of accesses that race, the first byte where, and whether it must be found.
///
/// A race need not be found if the later access is a store of bits that a store not ordered with it stored before, and
/// the earlier access is ordered before that store: stores of the same bits stand for each other. Nor if the earlier
/// access is a strong read, and an atomic of its thread at the same place came behind it that does not race: the atomic
/// stands for the read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub(crate) first: Done,
    pub(crate) second: Done,
    pub(crate) at: u64,
    pub(crate) must: bool,
}

/// Every race of the program.
pub(crate) fn races(threads: u32, events: &[Event]) -> Vec<Found> {
    let mut world = World {
        threads,
        ..World::default()
    };
    for (i, event) in events.iter().enumerate() {
        world.step(i, event);
    }
    let mut found = Vec::new();
    for (j, &(nj, b)) in world.accesses.iter().enumerate() {
        for (i, &(ni, a)) in world.accesses[..j].iter().enumerate() {
            if (a.writes() || b.writes())
                && !a.morally_strong(&b)
                && !world.graph.ordered(ni, nj)
                && !world.observed(i, j)
                && let Some(at) = a.common(&b).find(|&at| !same_bits(&a, &b, at))
            {
                let must = a
                    .common(&b)
                    .any(|at| !same_bits(&a, &b, at) && !world.excused(i, j, at));
                found.push(Found {
                    first: a,
                    second: b,
                    at,
                    must,
                });
            }
        }
    }
    found
}

/// Whether both store the same at a byte.
fn same_bits(a: &Done, b: &Done, at: u64) -> bool {
    let store = |d: &Done| d.site.kind == AccessKind::Write && !d.strong();
    let byte = |d: &Done| d.value >> (8 * (at - d.address)) & 0xff;
    store(a) && store(b) && byte(a) == byte(b)
}

#[derive(Default)]
struct World {
    threads: u32,
    graph: Graph,
    accesses: Vec<(usize, Done)>,
    fences: Vec<(usize, Thread, Scope)>,
    /// Release patterns observed by strong reads: (source, scope of its first operation, its thread, where), by reader.
    observed: HashMap<Thread, Vec<(usize, Scope, Thread, u64)>>,
    arrived: HashMap<(u32, u32), Vec<usize>>,
    phase: HashMap<(u32, u64), Vec<usize>>,
    done: HashMap<(u32, u64), Vec<usize>>,
}

fn lanes(mask: u32) -> impl Iterator<Item = u32> {
    (0..32).filter(move |l| mask >> l & 1 == 1)
}

impl World {
    fn nodes(&mut self, block: u32, warp: u32, mask: u32) -> Vec<usize> {
        let count = self.threads;
        let exists = move |t: &u32| *t < count;
        let threads: Vec<_> = lanes(mask).map(|l| 32 * warp + l).filter(exists).collect();
        threads.into_iter().map(|t| self.graph.node((block, t))).collect()
    }

    /// Everything before `from` is before everything after `to`.
    fn join(&mut self, from: &[usize], to: &[usize]) {
        for &t in to {
            for &f in from {
                self.graph.edge(f, t);
            }
        }
    }

    fn step(&mut self, i: usize, event: &Event) {
        match *event {
            Event::Access {
                block,
                warp,
                ref lanes,
                bytes,
                site,
            } => {
                for &(lane, address, value) in lanes {
                    self.access(Done {
                        event: i,
                        thread: (block, 32 * warp + lane),
                        address,
                        bytes,
                        value,
                        site,
                    });
                }
            }
            Event::BlockBarrier { block } => {
                let all: Vec<_> = (0..self.threads).map(|t| self.graph.node((block, t))).collect();
                for (t, &node) in all.iter().enumerate() {
                    self.acquire_observed((block, t as u32), node, None);
                }
                // Twice: the first round may have brought news to each of them.
                self.join(&all.clone(), &all);
                let after: Vec<_> = (0..self.threads).map(|t| self.graph.node((block, t))).collect();
                self.join(&all, &after);
            }
            Event::WarpSync { block, warp, mask } => {
                let all = self.nodes(block, warp, mask);
                let after = self.nodes(block, warp, mask);
                self.join(&all, &after);
            }
            Event::Fence {
                block,
                warp,
                mask,
                scope,
            } => {
                for lane in lanes(mask) {
                    let thread = (block, 32 * warp + lane);
                    let node = self.graph.node(thread);
                    self.acquire_observed(thread, node, Some(scope));
                    self.fences.push((node, thread, scope));
                }
            }
            Event::Arrive {
                block,
                barrier,
                warp,
                mask,
            } => {
                let nodes = self.nodes(block, warp, mask);
                self.arrived.entry((block, barrier)).or_default().extend(nodes);
            }
            Event::Complete {
                block,
                barrier,
                ref waiting,
            } => {
                let mut all = self.arrived.remove(&(block, barrier)).unwrap_or_default();
                for &(warp, mask) in waiting {
                    all.extend(self.nodes(block, warp, mask));
                }
                for &(warp, mask) in waiting {
                    let after = self.nodes(block, warp, mask);
                    self.join(&all, &after);
                    for (lane, node) in lanes(mask).zip(after) {
                        self.acquire_observed((block, 32 * warp + lane), node, None);
                    }
                }
            }
            Event::MbarrierArrive {
                block,
                warp,
                lane,
                address,
            } => {
                let nodes = self.nodes(block, warp, 1 << lane);
                self.phase.entry((block, address)).or_default().extend(nodes);
            }
            Event::MbarrierComplete { block, address } => {
                let phase = self.phase.remove(&(block, address)).unwrap_or_default();
                self.done.insert((block, address), phase);
            }
            Event::MbarrierWait {
                block,
                warp,
                lane,
                address,
            } => {
                let after = self.nodes(block, warp, 1 << lane);
                let done = self.done.get(&(block, address)).cloned().unwrap_or_default();
                self.join(&done, &after);
            }
        }
    }

    /// What strong reads of the thread observed is acquired by a fence of this scope, or by a barrier.
    fn acquire_observed(&mut self, thread: Thread, node: usize, fence: Option<Scope>) {
        for &(source, scope, from, _) in self.observed.get(&thread).into_iter().flatten() {
            let wide = |s: Scope| from.0 == thread.0 || s == Scope::Device;
            if wide(scope) && fence.is_none_or(wide) {
                self.graph.edge(source, node);
            }
        }
    }

    /// An acquire operation acquires what earlier strong reads of its location observed.
    fn acquire_again(&mut self, access: &Done, node: usize) {
        for &(source, scope, from, at) in self.observed.get(&access.thread).into_iter().flatten() {
            let wide = |s: Scope| from.0 == access.thread.0 || s == Scope::Device;
            if at == access.address && wide(scope) && wide(access.site.scope) {
                self.graph.edge(source, node);
            }
        }
    }

    fn access(&mut self, access: Done) {
        let node = self.graph.node(access.thread);
        if access.strong() && matches!(access.site.kind, AccessKind::Read | AccessKind::Atomic) {
            for (source, scope, from) in self.patterns(&access) {
                let wide = |s: Scope| from.0 == access.thread.0 || s == Scope::Device;
                if access.site.order.acquires() && wide(scope) && wide(access.site.scope) {
                    self.graph.edge(source, node);
                }
                self.observed
                    .entry(access.thread)
                    .or_default()
                    .push((source, scope, from, access.address));
            }
            // An acquire pattern is also a strong read, and then an acquire operation on the same location.
            if access.site.order.acquires() {
                self.acquire_again(&access, node);
            }
        }
        self.accesses.push((node, access));
    }

    /// The release patterns whose write a strong read of this location observes now.
    fn patterns(&self, read: &Done) -> Vec<(usize, Scope, Thread)> {
        let mut found = Vec::new();
        let here = |d: &Done| !d.common(read).is_empty();
        let mut reader = *read;
        for (i, (n, w)) in self.accesses.iter().enumerate().rev() {
            if !here(w) || !w.writes() {
                continue;
            }
            if !w.morally_strong(&reader) {
                break;
            }
            if w.site.order.releases() {
                found.push((*n, w.site.scope, w.thread));
            }
            for (f, thread, scope) in &self.fences {
                if *thread == w.thread && self.graph.ordered(*f, *n) {
                    found.push((*f, *scope, *thread));
                }
            }
            for (m, r) in &self.accesses[..i] {
                if here(r) && r.thread == w.thread && r.writes() && r.site.order.releases() {
                    found.push((*m, r.site.scope, r.thread));
                }
            }
            if w.site.kind == AccessKind::Write {
                break;
            }
            reader = *w;
        }
        found
    }

    /// Whether a strong access behind strong write `i` saw it, or what overwrote it, and is before access `j`.
    fn observed(&self, i: usize, j: usize) -> bool {
        let x = &self.accesses[i].1;
        x.strong()
            && x.writes()
            && self.accesses[i + 1..j].iter().any(|(z, d)| {
                matches!(d.site.kind, AccessKind::Read | AccessKind::Atomic)
                    && !d.common(x).is_empty()
                    && d.morally_strong(x)
                    && self.graph.ordered(*z, self.accesses[j].0)
            })
    }

    /// See [`Found::must`].
    fn excused(&self, i: usize, j: usize, at: u64) -> bool {
        let (first, (nj, second)) = (self.accesses[i].0, self.accesses[j]);
        let read = self.accesses[i].1;
        let stood_for = |k: usize| {
            let (n, a) = self.accesses[k];
            (a.thread, a.address) == (read.thread, read.address)
                && a.site.kind == AccessKind::Atomic
                && (self.observed(k, j) || self.graph.ordered(n, nj))
        };
        if read.strong() && !read.writes() && (i + 1..j).any(stood_for) {
            return true;
        }
        (i + 1..j).any(|k| {
            let (n, w) = self.accesses[k];
            w.common(&second).contains(&at)
                && same_bits(&w, &second, at)
                && (self.graph.ordered(first, n) || self.observed(i, k))
                && !self.graph.ordered(n, nj)
        })
    }
}
