//! Sources of copies that have not been waited for: the hardware may read them at any time until then.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::PoisonError;

use smallvec::SmallVec;

use super::cell::Class;
use super::finding::CheckedSpace;
use super::launch::{BlocksRun, LaunchCheck};
use super::pages::Mix;
use super::report::Side;
use super::site::SiteId;
use super::state::{Copy, State};
use super::touch::{Touch, lanes};
use crate::registers::LANES;

/// Bytes of the largest copy; every copy is aligned to its size, so that each lies in one line of these.
const LINE: u64 = 16;

/// Where a copy reads from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) site: SiteId,
    pub(crate) address: u64,
    pub(crate) bytes: u32,
}

/// A copy in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flight {
    pub(crate) block: u32,
    pub(crate) thread: u32,
    /// Different for each copy of the block.
    pub(crate) id: u64,
    pub(crate) source: Source,
}

/// Copies in flight, by where they read from.
#[derive(Debug, Default)]
pub(crate) struct Flights {
    lines: HashMap<u64, SmallVec<[Flight; 1]>, BuildHasherDefault<Mix>>,
}

impl Flights {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    pub(crate) fn depart(&mut self, flight: Flight) {
        self.lines.entry(flight.source.address / LINE).or_default().push(flight);
    }

    pub(crate) fn arrive(&mut self, flight: &Flight) {
        let line = flight.source.address / LINE;
        if let Some(flights) = self.lines.get_mut(&line) {
            flights.retain(|f| f != flight);
            if flights.is_empty() {
                self.lines.remove(&line);
            }
        }
    }

    /// A block is over, and so are its copies.
    pub(crate) fn end(&mut self, block: u32) {
        self.lines.retain(|_, flights| {
            flights.retain(|f| f.block != block);
            !flights.is_empty()
        });
    }

    /// Copies that may still read some of these bytes, and the first such byte.
    pub(crate) fn reading(&self, address: u64, bytes: u32) -> impl Iterator<Item = (Flight, u64)> {
        let end = address + u64::from(bytes);
        (address / LINE..=(end - 1) / LINE)
            .filter_map(|line| self.lines.get(&line))
            .flatten()
            .filter(move |f| f.source.address < end && address < f.source.address + u64::from(f.source.bytes))
            .map(move |f| (*f, address.max(f.source.address)))
    }
}

impl State {
    /// A copy of a thread has arrived: it has read its source by now.
    pub(crate) fn complete(&mut self, launch: &LaunchCheck, thread: u32, copy: Copy) {
        let now = self.order.now();
        self.shared.settle(thread, copy, now);
        if let Some(source) = copy.source {
            let flight = Flight {
                block: self.order.block(),
                thread,
                id: copy.id,
                source,
            };
            self.with_flights(launch, |flights| flights.arrive(&flight));
            let touch = Touch {
                site: source.site,
                warp: thread / LANES as u32,
                active: 1 << (thread % LANES as u32),
                addresses: &[source.address; LANES],
                bytes: source.bytes,
            };
            self.global_access(launch, &touch, Class::WeakRead, &());
        }
    }

    /// The newest copy of each of these lanes reads from there.
    pub(crate) fn put_source(&mut self, launch: &LaunchCheck, touch: &Touch) {
        let block = self.order.block();
        for lane in lanes(touch.active) {
            let thread = touch.warp * LANES as u32 + lane as u32;
            let source = Source {
                site: touch.site,
                address: touch.addresses[lane],
                bytes: touch.bytes,
            };
            let newest = self.copies.get_mut(&thread).and_then(|c| c.uncommitted.last_mut());
            let Some(copy) = newest else { continue };
            copy.source = Some(source);
            let flight = Flight {
                block,
                thread,
                id: copy.id,
                source,
            };
            self.with_flights(launch, |flights| flights.depart(flight));
        }
    }

    /// Whether any copy is in flight.
    #[inline]
    pub(crate) fn has_flights(&mut self, launch: &LaunchCheck) -> bool {
        self.with_flights(launch, |flights| !flights.is_empty())
    }

    /// Writes by these lanes to global memory race with the copies that may still read there.
    pub(crate) fn check_flights(&mut self, launch: &LaunchCheck, touch: &Touch) {
        let block = self.order.block();
        for lane in lanes(touch.active) {
            let address = touch.addresses[lane];
            let met: Vec<_> = self.with_flights(launch, |flights| flights.reading(address, touch.bytes).collect());
            for (flight, at) in met {
                let first = Side {
                    site: flight.source.site,
                    block: flight.block,
                    thread: flight.thread,
                };
                let second = Side {
                    site: touch.site,
                    block,
                    thread: touch.warp * LANES as u32 + lane as u32,
                };
                self.found.race(CheckedSpace::Global, first, second, at);
            }
        }
    }

    /// Copies in flight: of the block where nothing orders it with others.
    pub(crate) fn with_flights<R>(&mut self, launch: &LaunchCheck, then: impl FnOnce(&mut Flights) -> R) -> R {
        match launch.config.blocks_run {
            BlocksRun::Apart => then(&mut self.flights),
            BlocksRun::InTurns => then(&mut launch.turns.lock().unwrap_or_else(PoisonError::into_inner).flights),
        }
    }
}
