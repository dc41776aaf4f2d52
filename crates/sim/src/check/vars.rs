//! What strong writes have published, by address: what a strong read that observes them can acquire.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::clock::{SharedClock, join_shared};
use super::order::{Order, Published};
use super::pages::Mix;
use super::site::{AccessKind, Scope, Site};

type Map<T> = HashMap<u64, T, BuildHasherDefault<Mix>>;

/// Published clocks, by word.
#[derive(Debug, Default)]
pub(crate) struct Vars {
    all: Map<Var>,
}

#[derive(Debug, Default)]
struct Var {
    /// By threads of one block, for readers of that block.
    blocks: Vec<(u32, SharedClock)>,
    /// For readers of any block.
    device: SharedClock,
    /// What a thread last released on the address itself, by (block, thread): its later strong writes here go on
    /// publishing that.
    releases: Vec<((u32, u32), Published)>,
    /// What strong reads of the location that do not acquire have observed, by (block, thread): an acquire operation of
    /// the same thread on the location acquires that too.
    observed: Map<Published>,
}

impl Var {
    fn seen_by(&self, block: u32, scope: Scope) -> Published {
        let own = self.blocks.iter().find(|b| b.0 == block).and_then(|b| b.1.clone());
        Published {
            block: own,
            device: if scope == Scope::Device {
                self.device.clone()
            } else {
                None
            },
        }
    }

    fn add(&mut self, block: u32, published: &Published) {
        if published.block.is_some() {
            match self.blocks.iter_mut().find(|b| b.0 == block) {
                Some(b) => join_shared(&mut b.1, &published.block),
                None => self.blocks.push((block, published.block.clone())),
            }
        }
        join_shared(&mut self.device, &published.device);
    }
}

impl Vars {
    pub(crate) fn clear(&mut self) {
        self.all.clear();
    }

    /// An ordinary store: what was published here can no longer be observed.
    #[inline]
    pub(crate) fn overwrite(&mut self, address: u64) {
        if !self.all.is_empty()
            && let Some(var) = self.all.get_mut(&(address / 4))
        {
            var.blocks.clear();
            var.device = None;
        }
    }

    /// Whether a strong access of the warp can have anything to do with what is published.
    #[inline]
    pub(crate) fn concerns(&self, order: &Order, warp: u32, site: &Site) -> bool {
        !self.all.is_empty() || site.order.acquires() || site.order.releases() || order.has_fenced(warp)
    }

    /// A lane is about to access strongly: it observes what was published.
    pub(crate) fn observe(&mut self, order: &mut Order, thread: u32, address: u64, site: &Site) {
        if matches!(site.kind, AccessKind::Read | AccessKind::Atomic)
            && let Some(var) = self.all.get_mut(&(address / 4))
        {
            let seen = var.seen_by(order.block(), site.scope);
            let me = u64::from(order.block()) << 32 | u64::from(thread);
            if !site.order.acquires() {
                if !seen.is_nothing() {
                    var.observed.entry(me).or_default().join(&seen);
                }
            } else if let Some(earlier) = var.observed.remove(&me) {
                let reach = Published {
                    device: earlier.device.clone().filter(|_| site.scope == Scope::Device),
                    ..earlier.clone()
                };
                order.observe(thread, &reach, true);
                if site.scope != Scope::Device {
                    var.observed.insert(me, earlier);
                }
            }
            order.observe(thread, &seen, site.order.acquires());
        }
    }

    /// A lane has written strongly.
    pub(crate) fn publish(&mut self, order: &mut Order, thread: u32, address: u64, site: &Site) {
        let key = address / 4;
        let releases = site.order.releases();
        let published = order.publish(thread, site.scope, releases);
        let reads = site.kind != AccessKind::Write;
        let (block, me) = (order.block(), (order.block(), thread));
        let known = self.all.get(&key);
        // An atomic leaves what is published here; and if its thread released here before, that reaches through it too.
        let changes = known.is_some_and(|var| !reads || var.releases.iter().any(|r| r.0 == me));
        if published.is_nothing() && !changes {
            return;
        }
        let var = self.all.entry(key).or_default();
        if !reads {
            (var.blocks, var.device) = (Vec::new(), None);
        }
        if releases {
            var.add(block, &published);
            var.releases.retain(|r| r.0 != me);
            var.releases.push((me, published));
        } else {
            if let Some(i) = var.releases.iter().position(|r| r.0 == me) {
                let earlier = std::mem::take(&mut var.releases[i].1);
                // As much of it as this write's scope reaches.
                let reach = Published {
                    device: earlier.device.clone().filter(|_| site.scope == Scope::Device),
                    ..earlier.clone()
                };
                var.add(block, &reach);
                var.releases[i].1 = earlier;
            }
            var.add(block, &published);
        }
    }
}
