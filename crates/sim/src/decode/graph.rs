//! Control flow of a function, and where the lanes of a divergent branch meet again.
//!
//! A branch reconverges at its immediate postdominator: the first instruction that every path from it reaches, which is
//! where the compiler's own convergence barriers are. Paths that end in `exit` or `trap` do not count, since their lanes
//! never come.

use smallvec::SmallVec;
use tile33_ptx::{Body, Instruction, Opcode, Operand};

use super::ops::NOWHERE;

/// Control flow between the instructions of a body. The node after the last instruction is the function's end: `ret`
/// goes there.
pub(crate) struct Graph {
    successors: Vec<SmallVec<[u32; 2]>>,
    /// In a kernel, where `ret` is `exit`: every `ret` but the last.
    early_exits: Vec<u32>,
}

impl Graph {
    pub(crate) fn new(body: &Body, is_kernel: bool) -> Self {
        let end = body.instructions.len() as u32;
        let successors = (0u32..)
            .zip(&body.instructions)
            .map(|(i, inst)| {
                let mut to = targets(body, inst, end);
                let falls_through = inst.guard.is_some()
                    || !matches!(
                        inst.opcode,
                        Opcode::Bra | Opcode::Brx | Opcode::Ret | Opcode::Exit | Opcode::Trap
                    );
                if falls_through && !to.contains(&(i + 1)) {
                    to.push(i + 1);
                }
                to
            })
            .collect();
        let rets = (0u32..)
            .zip(&body.instructions)
            .filter(|(_, inst)| inst.opcode == Opcode::Ret)
            .map(|(i, _)| i);
        let mut early_exits: Vec<u32> = rets.filter(|_| is_kernel).collect();
        early_exits.pop();
        Self {
            successors,
            early_exits,
        }
    }

    /// The node of the function's end.
    pub(crate) fn end(&self) -> u32 {
        self.successors.len() as u32
    }

    /// Where control can go from `node`.
    pub(crate) fn successors(&self, node: u32) -> &[u32] {
        self.successors.get(node as usize).map_or(&[], |s| s)
    }

    /// Where the lanes that part at an instruction meet: its immediate postdominator; [`NOWHERE`] where no path leads to
    /// the end.
    pub(crate) fn meeting_points(&self) -> Vec<u32> {
        let all = self.postdominators();
        if self.early_exits.is_empty() {
            return all;
        }
        // Lanes that leave the kernel early never come: the others meet as if those ways did not exist.
        let mut staying = self.successors.clone();
        for &ret in &self.early_exits {
            let end = self.end();
            staying[ret as usize].retain(|to| *to != end);
        }
        let staying = Self {
            successors: staying,
            early_exits: Vec::new(),
        }
        .postdominators();
        staying
            .into_iter()
            .zip(all)
            .map(|(stays, all)| if stays == NOWHERE { all } else { stays })
            .collect()
    }

    /// Cooper, Harvey and Kennedy's iteration on the reversed graph.
    fn postdominators(&self) -> Vec<u32> {
        let nodes = self.successors.len() + 1;
        let mut predecessors: Vec<SmallVec<[u32; 2]>> = vec![SmallVec::new(); nodes];
        for (from, to) in (0u32..).zip(&self.successors) {
            for &to in to {
                predecessors[to as usize].push(from);
            }
        }
        // Postorder of the reversed graph, from the end.
        let mut order = Vec::with_capacity(nodes);
        let mut number = vec![NOWHERE; nodes];
        let mut seen = vec![false; nodes];
        let mut stack = vec![(self.end(), 0usize)];
        seen[self.end() as usize] = true;
        while let Some((node, next)) = stack.last_mut() {
            match predecessors[*node as usize].get(*next) {
                Some(&p) => {
                    *next += 1;
                    if !std::mem::replace(&mut seen[p as usize], true) {
                        stack.push((p, 0));
                    }
                }
                None => {
                    number[*node as usize] = order.len() as u32;
                    order.push(*node);
                    stack.pop();
                }
            }
        }
        let mut idom = vec![NOWHERE; nodes];
        idom[self.end() as usize] = self.end();
        let mut changed = true;
        while changed {
            changed = false;
            for &node in order.iter().rev().skip(1) {
                let mut best = NOWHERE;
                for &s in self.successors(node) {
                    if idom[s as usize] == NOWHERE {
                        continue;
                    }
                    best = if best == NOWHERE {
                        s
                    } else {
                        meet(&idom, &number, best, s)
                    };
                }
                if idom[node as usize] != best {
                    idom[node as usize] = best;
                    changed = true;
                }
            }
        }
        idom.pop();
        idom
    }
}

fn meet(idom: &[u32], number: &[u32], mut a: u32, mut b: u32) -> u32 {
    while a != b {
        while number[a as usize] < number[b as usize] {
            a = idom[a as usize];
        }
        while number[b as usize] < number[a as usize] {
            b = idom[b as usize];
        }
    }
    a
}

fn targets(body: &Body, inst: &Instruction, end: u32) -> SmallVec<[u32; 2]> {
    let label = |id: tile33_ptx::LabelId| body.labels.get(id.0 as usize).map_or(end, |l| l.target.min(end));
    let mut to = SmallVec::new();
    match inst.opcode {
        Opcode::Bra => to.extend(inst.operands.iter().filter_map(|o| match o {
            Operand::Label(id) => Some(label(*id)),
            _ => None,
        })),
        Opcode::Brx => {
            for operand in &inst.operands {
                if let Operand::BranchTable(table) = operand {
                    for &id in body.branch_tables.get(*table as usize).map_or(&[][..], |t| &t.targets) {
                        let target = label(id);
                        if !to.contains(&target) {
                            to.push(target);
                        }
                    }
                }
            }
        }
        Opcode::Ret => to.push(end),
        _ => {}
    }
    to
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[&[u32]]) -> Graph {
        Graph {
            early_exits: Vec::new(),
            successors: edges.iter().map(|e| SmallVec::from_slice(e)).collect(),
        }
    }

    #[test]
    fn the_two_sides_of_a_diamond_meet_at_its_end() {
        // 0 -> 1, 2; 1 -> 3; 2 -> 3; 3 -> end (4)
        assert_eq!(graph(&[&[1, 2], &[3], &[3], &[4]]).postdominators(), [3, 3, 3, 4]);
    }

    #[test]
    fn the_exit_of_a_loop_postdominates_its_branch() {
        // 0: head, 1: body with an exit to 3, 2: back to 0
        assert_eq!(graph(&[&[1], &[2, 3], &[0], &[4]]).postdominators(), [1, 3, 0, 4]);
    }

    #[test]
    fn a_side_that_exits_does_not_delay_the_meeting() {
        // 0 -> 1 (exits), 2; 2 -> end (3)
        assert_eq!(graph(&[&[1, 2], &[], &[3]]).postdominators(), [2, NOWHERE, 3]);
    }

    #[test]
    fn an_endless_loop_meets_nowhere() {
        assert_eq!(graph(&[&[1], &[0]]).postdominators(), [NOWHERE, NOWHERE]);
    }

    #[test]
    fn an_early_return_of_a_kernel_delays_nobody() {
        // 0 -> 1, 4; 1 -> 2 (returns), 3; 3 -> 4; 4 -> end (5)
        let mut graph = graph(&[&[1, 4], &[2, 3], &[5], &[4], &[5]]);
        assert_eq!(graph.meeting_points()[0], 5);
        graph.early_exits.push(2);
        assert_eq!(graph.meeting_points(), [4, 3, 5, 4, 5]);
    }
}
