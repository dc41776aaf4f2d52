//! Global memory between blocks that nothing orders: which instructions of which blocks touched each granule.
//!
//! Two accesses of different blocks race if they conflict, whichever came first, so per granule and instruction it is
//! enough to know the lowest and the highest block: two instructions race unless both were executed by one and the same
//! block only. Lowest and highest do not depend on the order in which blocks run, and so neither do the findings. Memory
//! grows with what is touched, not with how often.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use super::line::{LINE, Line, Row};
use super::pages::Mix;
use super::report::Collected;
use super::site::{SiteId, Sites};

type Map<V> = HashMap<u64, V, std::hash::BuildHasherDefault<Mix>>;

/// What a block tells of one granule.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touched {
    pub(crate) address: u64,
    /// 4, or 1 where the access is narrower.
    pub(crate) bytes: u32,
    pub(crate) thread: u32,
    /// What was written there, for ordinary stores.
    pub(crate) value: u32,
}

/// Bytes of memory that a page stands for.
const PAGE: u64 = 2048;

type Page = [Line; (PAGE / LINE) as usize];

/// Bytes of memory a region stands for.
const REGION: u64 = 1 << 16;

#[derive(Debug)]
pub(crate) struct Region {
    pages: Vec<OnceLock<Mutex<Page>>>,
}

/// Shared by all blocks.
#[derive(Debug, Default)]
pub(crate) struct Apart {
    regions: RwLock<Map<Arc<Region>>>,
}

/// A block's way to the regions that it has used, without a lock.
#[derive(Debug, Default)]
pub(crate) struct Regions {
    known: Map<Arc<Region>>,
    last: Option<(u64, Arc<Region>)>,
}

impl Apart {
    fn region(&self, number: u64) -> Arc<Region> {
        let found = self
            .regions
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&number)
            .cloned();
        found.unwrap_or_else(|| {
            let mut regions = self.regions.write().unwrap_or_else(PoisonError::into_inner);
            let new = || {
                Arc::new(Region {
                    pages: (0..REGION / PAGE).map(|_| OnceLock::new()).collect(),
                })
            };
            regions.entry(number).or_insert_with(new).clone()
        })
    }

    /// A block touched these granules with one instruction.
    pub(crate) fn touch(&self, regions: &mut Regions, site: SiteId, block: u32, touched: &[Touched]) {
        let mut rest = touched;
        while let Some(first) = rest.first() {
            let number = first.address / PAGE;
            let count = rest
                .iter()
                .position(|t| t.address / PAGE != number)
                .unwrap_or(rest.len());
            let mut page = regions.page(self, number);
            for t in &rest[..count] {
                page[(t.address % PAGE / LINE) as usize].touch(site, block, t);
            }
            rest = &rest[count..];
        }
    }

    /// A block touched words of the line at `address` one after another with one instruction.
    pub(crate) fn touch_row(&self, regions: &mut Regions, address: u64, row: &Row) {
        regions.page(self, address / PAGE)[(address % PAGE / LINE) as usize].touch_row(row);
    }

    /// Finds the races between blocks, when all of them have finished.
    pub(crate) fn report(self, sites: &Sites, found: &mut Collected) {
        let regions = self.regions.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut regions: Vec<_> = regions.into_iter().collect();
        regions.sort_by_key(|r| r.0);
        for (number, region) in regions {
            for (i, page) in region.pages.iter().enumerate() {
                let Some(page) = page.get() else { continue };
                let page = page.lock().unwrap_or_else(PoisonError::into_inner);
                for (line, start) in page
                    .iter()
                    .zip((number * REGION + i as u64 * PAGE..).step_by(LINE as usize))
                {
                    line.report(start, sites, found);
                }
            }
        }
    }
}

impl Regions {
    fn page(&mut self, apart: &Apart, number: u64) -> MutexGuard<'_, Page> {
        const PAGES: u64 = REGION / PAGE;
        let region = number / PAGES;
        if self.last.as_ref().is_none_or(|(n, _)| *n != region) {
            let new = self.known.entry(region).or_insert_with(|| apart.region(region)).clone();
            self.last = Some((region, new));
        }
        match &self.last {
            Some((_, region)) => region.pages[(number % PAGES) as usize]
                .get_or_init(Mutex::default)
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
            None => unreachable!("set above"),
        }
    }
}
