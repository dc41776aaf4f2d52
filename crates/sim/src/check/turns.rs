//! Global memory between blocks that run in turns and may order each other by fences and atomics.
//!
//! As in a block, an access of another block is past if the thread's clock covers it. A granule remembers the accesses
//! that nothing later stands for; ordinary reads, which may be many, are kept by page (see [`Readers`]). Memory grows with
//! what is touched and by how many threads, not with how often.

use smallvec::SmallVec;

use super::cell::Class;
use super::clock::Time;
use super::finding::CheckedSpace;
use super::order::Order;
use super::pages::{PAGE, Pages};
use super::readers::{Reader, Readers};
use super::report::{Collected, Side};
use super::site::{Scope, SiteId, Sites};

#[derive(Clone, Copy, Debug)]
struct Record {
    block: u32,
    /// When last.
    time: Time,
    /// Since when the thread has observed what came before this record.
    since: Time,
    site: SiteId,
    value: u32,
    thread: u16,
}

type Granule = SmallVec<[Record; 1]>;

#[derive(Debug, Default)]
struct Page {
    /// One a word, or one a byte once a narrower access was seen.
    granules: Vec<Granule>,
    readers: Readers,
}

/// Shared by all blocks, which use it in turns.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    pages: Pages<Page>,
}

/// One lane's access to a word, or to bytes of one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) site: SiteId,
    pub(crate) thread: u32,
    pub(crate) address: u64,
    /// 4, or 1 or 2 where the access is narrower.
    pub(crate) bytes: u32,
    pub(crate) value: u32,
}

impl Turns {
    /// An access by one thread. That it read, ordinarily, is told with [`Turns::read`] besides.
    pub(crate) fn access(&mut self, order: &Order, sites: &Sites, step: Step, found: &mut Collected) {
        let words = (PAGE / 4) as usize;
        let page = self.page(step.address);
        if step.bytes < 4 && page.granules.len() == words {
            page.granules = page
                .granules
                .iter()
                .flat_map(|g| (0..4).map(move |i| byte_of(g, i)))
                .collect();
        }
        let at = (step.address % PAGE) as usize;
        let class = Class::of(sites.get(step.site));
        if !class.is_read() {
            check_readers(&page.readers, order, step, found);
        }
        if class == Class::WeakWrite {
            page.readers.overwrite(at as u8, step.bytes);
        }
        if page.granules.len() == words {
            granule_access(&mut page.granules[at / 4], order, sites, step, found);
        } else {
            for i in 0..step.bytes {
                let byte = Step {
                    address: step.address + u64::from(i),
                    value: step.value >> (8 * i) & 0xff,
                    ..step
                };
                granule_access(&mut page.granules[at + i as usize], order, sites, byte, found);
            }
        }
    }

    /// Lanes of a warp read the same `bytes` bytes ordinarily.
    pub(crate) fn read(&mut self, order: &Order, site: SiteId, (warp, mask): (u32, u32), address: u64, bytes: u32) {
        let by = Reader {
            block: order.block(),
            thread: 32 * warp,
            time: order.now(),
            site,
        };
        let readers = &mut self.page(address).readers;
        readers.add(by, mask, (address % PAGE) as u8, bytes);
    }

    fn page(&mut self, address: u64) -> &mut Page {
        self.pages.get_or_make(address / PAGE, |p| {
            p.granules = vec![Granule::new(); (PAGE / 4) as usize];
        })
    }
}

/// A write: everyone of another block who read there must be known to its thread.
fn check_readers(readers: &Readers, order: &Order, step: Step, found: &mut Collected) {
    let at = (step.address % PAGE) as u8;
    for r in readers.of(at, step.bytes).filter(|r| r.block != order.block()) {
        if !order.knows_of_block(step.thread, r.block, r.thread, r.time) {
            let first = Side {
                site: r.site,
                block: r.block,
                thread: r.thread,
            };
            let second = Side {
                site: step.site,
                block: order.block(),
                thread: step.thread,
            };
            found.race(CheckedSpace::Global, first, second, step.address);
        }
    }
}

fn byte_of(granule: &Granule, i: u32) -> Granule {
    granule
        .iter()
        .map(|r| Record {
            value: r.value >> (8 * i) & 0xff,
            ..*r
        })
        .collect()
}

/// A record with what its instruction is.
fn describe(r: &Record, sites: &Sites) -> (Class, bool) {
    let site = sites.get(r.site);
    (Class::of(site), site.scope == Scope::Device)
}

fn granule_access(granule: &mut Granule, order: &Order, sites: &Sites, step: Step, found: &mut Collected) {
    let site = sites.get(step.site);
    let (class, device) = (Class::of(site), site.scope == Scope::Device);
    let me = (order.block(), step.thread);
    let knows = |r: &Record, time| {
        if r.block == me.0 {
            order.knows(me.1, r.thread.into(), time)
        } else {
            order.knows_of_block(me.1, r.block, r.thread.into(), time)
        }
    };
    // The newest strong access that this thread knows: it observed the strong writes before it.
    let observer = granule
        .iter()
        .rposition(|r| matches!(describe(r, sites), (Class::StrongRead | Class::Atomic, _)) && knows(r, r.since));
    for (i, r) in granule.iter().enumerate() {
        let (c, theirs) = describe(r, sites);
        let same_block = r.block == me.0;
        // Among the accesses of one block, its own shadow looks for the races without strong writes.
        if (same_block && (c.is_read() || !c.is_strong()))
            || site.may_meet(sites.get(r.site), same_block)
            || (c == Class::WeakWrite && class == Class::WeakWrite && r.value == step.value)
            || knows(r, r.time)
        {
            continue;
        }
        if c.is_strong()
            && !c.is_read()
            && observer.is_some_and(|z| z > i && may_observe(&granule[z], r, theirs, sites))
        {
            continue;
        }
        let first = Side {
            site: r.site,
            block: r.block,
            thread: r.thread.into(),
        };
        let second = Side {
            site: step.site,
            block: me.0,
            thread: me.1,
        };
        found.race(CheckedSpace::Global, first, second, step.address);
    }
    if class == Class::WeakRead {
        return;
    }
    let mut new = Record {
        block: me.0,
        time: order.now(),
        since: order.now(),
        site: step.site,
        value: step.value,
        thread: step.thread as u16,
    };
    if class == Class::StrongRead {
        // Polling: if nothing was written strongly since the last look, that look goes on.
        let written = |r: &Record| !describe(r, sites).0.is_read();
        let look = granule
            .iter()
            .rposition(|r| r.site == step.site && (r.block, r.thread.into()) == me)
            .filter(|&i| !granule[i..].iter().any(written));
        if let Some(i) = look {
            new.since = granule.remove(i).since;
        }
    }
    granule.retain(|r| {
        let (c, theirs) = describe(r, sites);
        let own = (r.block, r.thread.into()) == me;
        match class {
            // Stores of the same bits are no race, and what comes later must be ordered behind each.
            Class::WeakWrite => c == Class::WeakWrite && r.value == step.value && !knows(r, r.time),
            Class::WeakRead | Class::StrongRead => true,
            Class::StrongWrite => !(own && matches!(c, Class::StrongWrite | Class::Atomic)),
            Class::Atomic => {
                let observed =
                    matches!(c, Class::StrongWrite | Class::Atomic) && (r.block == me.0 || (device && theirs));
                !(observed || own && c == Class::StrongRead)
            }
        }
    });
    granule.push(new);
}

/// Whether a strong access can have observed a strong write of this scope.
fn may_observe(observer: &Record, write: &Record, device: bool, sites: &Sites) -> bool {
    observer.block == write.block || (device && describe(observer, sites).1)
}
