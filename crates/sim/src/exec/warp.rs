//! A warp: groups of lanes that run together, and the places where groups meet again.
//!
//! Lanes diverge at a branch and wait for each other at its reconvergence point, as they do at the convergence barriers
//! that the hardware's compiler sets. Waiting there is a courtesy, not a promise: when a group spins on something that a
//! waiting lane would do, or when everyone else is blocked, the waiting lanes go on without the rest. So no correct
//! program deadlocks, whichever lanes wait for which.

use std::rc::Rc;

use super::local::LocalMemory;
use crate::decode::ops::NOWHERE;
use crate::registers::Registers;

/// "No token".
const NONE: u32 = u32::MAX;

/// A call that has not returned.
#[derive(Debug)]
pub(crate) struct CallFrame {
    pub(crate) parent: Option<Rc<CallFrame>>,
    pub(crate) call_pc: u32,
    /// Index into the kernel's functions.
    pub(crate) function: usize,
    /// The caller's frame in local memory.
    pub(crate) caller_fp: u32,
    /// Calls that have not returned, this one included.
    pub(crate) depth: u32,
    /// Rows of the caller that the callee may overwrite: row, values.
    pub(crate) saved_rows: Vec<(u32, [u32; 32])>,
    pub(crate) saved_predicates: Vec<(u32, u32)>,
}

/// The innermost call of a group.
pub(crate) type Frame = Option<Rc<CallFrame>>;

impl Drop for CallFrame {
    /// One frame after the other: calls may nest more deeply than the host's stack does.
    fn drop(&mut self) {
        let mut next = self.parent.take();
        while let Some(frame) = next {
            next = Rc::try_unwrap(frame).ok().and_then(|mut frame| frame.parent.take());
        }
    }
}

/// Whether two groups are in the same call, so that they can become one.
pub(crate) fn same_frame(a: &Frame, b: &Frame) -> bool {
    let (mut a, mut b) = (a, b);
    loop {
        match (a, b) {
            (None, None) => return true,
            (Some(x), Some(y)) if Rc::ptr_eq(x, y) => return true,
            (Some(x), Some(y)) if x.is_like(y) => (a, b) = (&x.parent, &y.parent),
            _ => return false,
        }
    }
}

impl CallFrame {
    /// Whether two calls are the same but for their callers.
    fn is_like(&self, other: &Self) -> bool {
        self.call_pc == other.call_pc
            && self.function == other.function
            && self.caller_fp == other.caller_fp
            && self.saved_rows.is_empty()
            && other.saved_rows.is_empty()
    }
}

/// What a group is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Ready,
    /// At a block barrier, by its number.
    Barrier(u32),
    /// At an instruction that wants lanes of the warp together.
    Together,
}

/// Lanes that run together.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) mask: u32,
    pub(crate) pc: u32,
    /// Where it meets the lanes that it parted from.
    pub(crate) token: u32,
    pub(crate) frame: Frame,
    /// Frame base in local memory.
    pub(crate) fp: u32,
    pub(crate) state: State,
}

#[derive(Debug)]
struct Token {
    pc: u32,
    frame: Frame,
    fp: u32,
    /// Lanes that are expected.
    members: u32,
    /// Lanes that are there.
    arrived: u32,
    parent: u32,
}

/// A warp.
#[derive(Debug)]
pub(crate) struct Warp {
    pub(crate) regs: Registers,
    pub(crate) local: LocalMemory,
    /// Lanes that are threads of the block.
    pub(crate) valid: u32,
    pub(crate) exited: u32,
    /// The instruction at which each lane exited.
    pub(crate) exit_pc: [u32; 32],
    /// The last one is the one that runs next.
    pub(crate) groups: Vec<Group>,
    tokens: Vec<Token>,
    free_tokens: Vec<u32>,
    /// Asynchronous copies, in the order of their issue.
    pub(crate) copies: super::copies::Copies,
}

impl Warp {
    pub(crate) fn new(regs: Registers) -> Self {
        Self {
            regs,
            local: LocalMemory::default(),
            valid: 0,
            exited: 0,
            exit_pc: [NOWHERE; 32],
            groups: Vec::new(),
            tokens: Vec::new(),
            free_tokens: Vec::new(),
            copies: super::copies::Copies::default(),
        }
    }

    /// Starts a block: the lanes in `valid` at instruction `entry`.
    pub(crate) fn start(&mut self, valid: u32, entry: u32) {
        self.valid = valid;
        self.exited = 0;
        self.groups.clear();
        self.tokens.clear();
        self.free_tokens.clear();
        self.copies.clear();
        self.groups.push(Group {
            mask: valid,
            pc: entry,
            token: NONE,
            frame: None,
            fp: 0,
            state: State::Ready,
        });
    }

    /// Lanes that have not exited.
    pub(crate) fn live(&self) -> u32 {
        self.valid & !self.exited
    }

    /// The instruction at which a group that carries `token` must stop to meet others.
    #[inline]
    pub(crate) fn meeting_pc(&self, token: u32) -> u32 {
        match self.tokens.get(token as usize) {
            Some(t) => t.pc,
            None => NOWHERE,
        }
    }

    /// A group at its meeting point: merges it with those that are there. If it was the last one, all go on together.
    ///
    /// `false`: the instruction is the meeting point's but in a deeper call, so it is not there yet.
    pub(crate) fn meet(&mut self, group: &mut Group) -> Meeting {
        let token = &mut self.tokens[group.token as usize];
        if !same_frame(&token.frame, &group.frame) {
            return Meeting::NotHere;
        }
        token.arrived |= group.mask;
        if token.arrived == token.members {
            group.mask = token.members;
            let done = group.token;
            group.token = token.parent;
            self.drop_token(done);
            Meeting::Together
        } else {
            Meeting::Waits
        }
    }

    fn drop_token(&mut self, token: u32) {
        let t = &mut self.tokens[token as usize];
        t.members = 0;
        t.arrived = 0;
        t.frame = None;
        self.free_tokens.push(token);
    }

    /// From here on the lanes of `group` expect each other at `reconverge`, whatever ways they go.
    pub(crate) fn expect(&mut self, group: &mut Group, reconverge: u32) {
        let known = |t: &Token| t.pc == reconverge && same_frame(&t.frame, &group.frame);
        if self.tokens.get(group.token as usize).is_some_and(known) {
            return;
        }
        let token = Token {
            pc: reconverge,
            frame: group.frame.clone(),
            fp: group.fp,
            members: group.mask,
            arrived: 0,
            parent: group.token,
        };
        group.token = match self.free_tokens.pop() {
            Some(free) => {
                self.tokens[free as usize] = token;
                free
            }
            None => {
                self.tokens.push(token);
                self.tokens.len() as u32 - 1
            }
        };
    }

    /// Some lanes of a group, not all, are at its meeting point already.
    pub(crate) fn arrive(&mut self, group: &mut Group, lanes: u32) {
        self.tokens[group.token as usize].arrived |= lanes;
        group.mask &= !lanes;
    }

    /// Lanes of `group` part: those in `away` go to `target`, the others to the next instruction, to meet at
    /// `reconverge`. Returns what goes on now in `group`; the rest waits or is queued.
    pub(crate) fn part(&mut self, group: &mut Group, away: u32, target: u32, reconverge: u32) {
        if reconverge != NOWHERE {
            self.expect(group, reconverge);
        }
        let stay = group.mask & !away;
        let next = group.pc + 1;
        // A side that is at the meeting point already needs no group. It cannot be the last to arrive: the other side is
        // a member too.
        if target == reconverge && reconverge != NOWHERE {
            self.arrive(group, away);
            group.pc = next;
        } else if next == reconverge {
            self.arrive(group, stay);
            group.pc = target;
        } else {
            let other = Group {
                mask: away,
                pc: target,
                token: group.token,
                frame: group.frame.clone(),
                fp: group.fp,
                state: State::Ready,
            };
            self.groups.push(other);
            group.mask = stay;
            group.pc = next;
        }
    }

    /// Splits `lanes` off a group, at instruction `pc`.
    pub(crate) fn split(&mut self, group: &mut Group, lanes: u32, pc: u32) {
        group.mask &= !lanes;
        self.groups.push(Group {
            mask: lanes,
            pc,
            token: group.token,
            frame: group.frame.clone(),
            fp: group.fp,
            state: State::Ready,
        });
    }

    /// Lanes exit: nobody waits for them any more.
    pub(crate) fn exit(&mut self, lanes: u32, pc: u32) {
        self.exited |= lanes;
        for lane in super::lanes(lanes) {
            self.exit_pc[lane] = pc;
        }
        self.leave(lanes, None);
    }

    /// Takes lanes out of every token (up to `until` in the chain of `from`, if given), and wakes those that waited only
    /// for them.
    fn leave(&mut self, lanes: u32, chain: Option<(u32, u32)>) {
        let mut complete = Vec::new();
        let mut visit = |i: u32, t: &mut Token| {
            if t.members & lanes != 0 {
                t.members &= !lanes;
                if t.members == t.arrived {
                    complete.push(i);
                }
            }
        };
        match chain {
            None => (0u32..).zip(&mut self.tokens).for_each(|(i, t)| visit(i, t)),
            Some((from, until)) => {
                let mut at = from;
                while at != until && at != NONE {
                    let parent = self.tokens[at as usize].parent;
                    visit(at, &mut self.tokens[at as usize]);
                    at = parent;
                }
            }
        }
        for i in complete {
            let t = &self.tokens[i as usize];
            if t.members != 0 {
                self.groups.push(Group {
                    mask: t.members,
                    pc: t.pc,
                    token: t.parent,
                    frame: t.frame.clone(),
                    fp: t.fp,
                    state: State::Ready,
                });
            }
            self.drop_token(i);
        }
    }

    /// Lets the lanes go on that wait at a meeting point, without those that they wait for. They run next. Whether there
    /// were any.
    pub(crate) fn release_waiting(&mut self) -> bool {
        let waiting: Vec<u32> = (0u32..)
            .zip(&self.tokens)
            .filter(|(_, t)| t.arrived != 0)
            .map(|(i, _)| i)
            .collect();
        for &i in &waiting {
            let t = &mut self.tokens[i as usize];
            let lanes = std::mem::take(&mut t.arrived);
            t.members &= !lanes;
            self.groups.push(Group {
                mask: lanes,
                pc: t.pc,
                token: t.parent,
                frame: t.frame.clone(),
                fp: t.fp,
                state: State::Ready,
            });
            if t.members == 0 {
                self.drop_token(i);
            }
        }
        !waiting.is_empty()
    }

    /// Makes one group of several that are at the same instruction in the same call.
    pub(crate) fn merge(&mut self, mut groups: Vec<Group>) -> Option<Group> {
        let mut merged = groups.pop()?;
        for other in groups {
            let meeting = self.common(merged.token, other.token);
            self.leave(merged.mask, Some((merged.token, meeting)));
            self.leave(other.mask, Some((other.token, meeting)));
            merged.mask |= other.mask;
            merged.token = meeting;
        }
        Some(merged)
    }

    /// The innermost token that both chains have.
    fn common(&self, a: u32, b: u32) -> u32 {
        let mut x = a;
        while x != NONE {
            let mut y = b;
            while y != NONE {
                if x == y {
                    return x;
                }
                y = self.tokens[y as usize].parent;
            }
            x = self.tokens[x as usize].parent;
        }
        NONE
    }

    /// Index of the group that runs next.
    pub(crate) fn next_ready(&self) -> Option<usize> {
        self.groups.iter().rposition(|g| g.state == State::Ready)
    }
}

/// What came of [`Warp::meet`].
pub(crate) enum Meeting {
    /// The meeting point lies in another call.
    NotHere,
    /// The group is dissolved: its lanes wait.
    Waits,
    /// The group has all lanes now, and goes on.
    Together,
}
