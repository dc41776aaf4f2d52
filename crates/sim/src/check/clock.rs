//! Vector clocks, sparse: what a thread knows to have happened, in its own block and in others.
//!
//! Time in a block is a number that grows with everything that can order threads; an access carries the time at which
//! it was made. A clock says up to which time each thread's accesses are known. What a whole block or a whole warp has
//! in common is one entry, so that the clock of a thread behind a block barrier is a single number.

use std::sync::Arc;

/// A time in a block. 0 is before everything.
pub(crate) type Time = u32;

/// What is known of one block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BlockClock {
    /// Of every thread.
    floor: Time,
    /// Of every thread of a warp, where it is more: by warp.
    warps: Vec<(u16, Time)>,
    /// Of single threads, where it is more: by thread.
    threads: Vec<(u16, Time)>,
}

impl BlockClock {
    pub(crate) fn up_to(floor: Time) -> Self {
        Self {
            floor,
            ..Self::default()
        }
    }

    /// Whether what the thread did at `time` is known.
    #[inline]
    pub(crate) fn covers(&self, thread: u32, time: Time) -> bool {
        time <= self.floor
            || get(&self.warps, (thread / 32) as u16) >= time
            || get(&self.threads, thread as u16) >= time
    }

    /// Learns of everything that a warp did up to `time`.
    pub(crate) fn add_warp(&mut self, warp: u32, time: Time) {
        if time > self.floor {
            raise(&mut self.warps, warp as u16, time);
            let warps = &self.warps;
            self.threads.retain(|&(t, time)| get(warps, t / 32) < time);
        }
    }

    /// Learns of everything that a thread did up to `time`.
    pub(crate) fn add_thread(&mut self, thread: u32, time: Time) {
        if !self.covers(thread, time) {
            raise(&mut self.threads, thread as u16, time);
        }
    }

    /// Whether nothing in `other` is news. May say no to a thread-by-thread account of what it knows of the warp.
    fn includes(&self, other: &Self) -> bool {
        other.floor <= self.floor
            && other
                .warps
                .iter()
                .all(|&(w, time)| time <= self.floor || get(&self.warps, w) >= time)
            && other.threads.iter().all(|&(t, time)| self.covers(t.into(), time))
    }

    fn join(&mut self, other: &Self) {
        if other.floor > self.floor {
            self.floor = other.floor;
            let floor = self.floor;
            self.warps.retain(|&(_, time)| time > floor);
            self.threads.retain(|&(_, time)| time > floor);
        }
        for &(warp, time) in &other.warps {
            self.add_warp(warp.into(), time);
        }
        for &(thread, time) in &other.threads {
            self.add_thread(thread.into(), time);
        }
    }
}

fn get(entries: &[(u16, Time)], key: u16) -> Time {
    match entries {
        [] => 0,
        [(k, time)] => {
            if *k == key {
                *time
            } else {
                0
            }
        }
        _ => entries.binary_search_by_key(&key, |e| e.0).map_or(0, |i| entries[i].1),
    }
}

fn raise(entries: &mut Vec<(u16, Time)>, key: u16, time: Time) {
    match entries.binary_search_by_key(&key, |e| e.0) {
        Ok(i) => entries[i].1 = entries[i].1.max(time),
        Err(i) => entries.insert(i, (key, time)),
    }
}

/// Blocks that one node of a [`Clock`] holds. Clocks that learned from each other share nodes, and joining them skips
/// what they share: a chain of blocks where each hears from the one before stays cheap.
const FAN: usize = 32;

type Node = [Option<Arc<BlockClock>>; FAN];

/// What is known of all blocks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock {
    nodes: Vec<(u32, Arc<Node>)>,
}

impl Clock {
    /// A clock that knows of one block.
    pub(crate) fn of(block: u32, clock: BlockClock) -> Self {
        let mut node = Node::default();
        node[block as usize % FAN] = Some(Arc::new(clock));
        Self {
            nodes: vec![(block / FAN as u32, Arc::new(node))],
        }
    }

    /// Whether what the thread did at `time` is known.
    #[inline]
    pub(crate) fn covers(&self, block: u32, thread: u32, time: Time) -> bool {
        let key = block / FAN as u32;
        let node = match self.nodes.as_slice() {
            [] => return false,
            [(k, node)] if *k == key => node,
            nodes => match nodes.binary_search_by_key(&key, |n| n.0) {
                Ok(i) => &nodes[i].1,
                Err(_) => return false,
            },
        };
        node[block as usize % FAN]
            .as_ref()
            .is_some_and(|b| b.covers(thread, time))
    }

    /// Learns what another clock knows.
    pub(crate) fn join(&mut self, other: &Clock) {
        for (key, theirs) in &other.nodes {
            match self.nodes.binary_search_by_key(key, |n| n.0) {
                Err(i) => self.nodes.insert(i, (*key, theirs.clone())),
                Ok(i) => {
                    if !Arc::ptr_eq(&self.nodes[i].1, theirs) {
                        join_nodes(&mut self.nodes[i].1, theirs);
                    }
                }
            }
        }
    }
}

fn join_nodes(ours: &mut Arc<Node>, theirs: &Arc<Node>) {
    for (i, entry) in theirs.iter().enumerate() {
        let Some(entry) = entry else { continue };
        match &ours[i] {
            Some(mine) if Arc::ptr_eq(mine, entry) || mine.includes(entry) => {}
            Some(mine) if entry.includes(mine) => Arc::make_mut(ours)[i] = Some(entry.clone()),
            Some(_) => {
                if let Some(mine) = &mut Arc::make_mut(ours)[i] {
                    Arc::make_mut(mine).join(entry);
                }
            }
            None => Arc::make_mut(ours)[i] = Some(entry.clone()),
        }
    }
}

/// A clock that several threads share until one of them learns more.
pub(crate) type SharedClock = Option<Arc<Clock>>;

/// Joins, sharing what can be shared.
pub(crate) fn join_shared(ours: &mut SharedClock, theirs: &SharedClock) {
    let Some(theirs) = theirs else { return };
    match ours {
        None => *ours = Some(theirs.clone()),
        Some(mine) if Arc::ptr_eq(mine, theirs) => {}
        Some(mine) => Arc::make_mut(mine).join(theirs),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_floor_a_warp_and_a_thread_entry_each_cover_what_they_say() {
        let mut c = BlockClock::up_to(3);
        c.add_warp(2, 7);
        c.add_thread(5, 9);
        assert!(c.covers(900, 3) && !c.covers(900, 4));
        assert!(c.covers(64, 7) && c.covers(95, 7) && !c.covers(96, 7) && !c.covers(64, 8));
        assert!(c.covers(5, 9) && !c.covers(5, 10) && !c.covers(6, 9));
    }

    #[test]
    fn a_join_knows_what_either_side_knew_and_no_more() {
        let (mut a, mut b) = (BlockClock::up_to(2), BlockClock::up_to(4));
        a.add_thread(1, 3);
        a.add_thread(40, 9);
        b.add_warp(0, 6);
        a.join(&b);
        assert!(a.covers(1, 6) && a.covers(40, 9) && a.covers(500, 4));
        assert!(!a.covers(1, 7) && !a.covers(41, 9) && !a.covers(500, 5));
        assert!(a.includes(&b) && !b.includes(&a));
    }

    #[test]
    fn clocks_of_many_blocks_join_block_by_block() {
        let mut all = Clock::default();
        for block in [0, 5, 31, 32, 700] {
            all.join(&Clock::of(block, BlockClock::up_to(block + 1)));
        }
        for block in [0, 5, 31, 32, 700] {
            assert!(all.covers(block, 1023, block + 1) && !all.covers(block, 0, block + 2));
        }
        assert!(!all.covers(6, 0, 1) && !all.covers(33, 0, 1));
    }
}
