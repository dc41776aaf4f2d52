//! Global memory between blocks that nothing orders: which instructions of which blocks touched each granule.
//!
//! Two accesses of different blocks race if they conflict, whichever came first, so per granule and instruction it is
//! enough to know the lowest and the highest block: two instructions race unless both were executed by one and the same
//! block only. Lowest and highest do not depend on the order in which blocks run, and so neither do the findings. Memory
//! grows with what is touched, not with how often.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use super::finding::CheckedSpace;
use super::pages::{Mix, PAGE};
use super::report::{Collected, Side};
use super::site::{AccessKind, Order, SiteId, Sites};

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

/// One instruction's blocks at a granule.
#[derive(Clone, Copy, Debug)]
struct Blocks {
    /// `SiteId`, or [`NOBODY`]; a bit from [`VARIED`] on for each byte where different values were
    /// stored.
    site: u32,
    first: u32,
    last: u32,
    first_thread: u16,
    last_thread: u16,
    value: u32,
}

const NOBODY: u32 = u32::MAX;
const VARIED: u32 = 24;
const ID: u32 = (1 << VARIED) - 1;

impl Blocks {
    const EMPTY: Self = Self {
        site: NOBODY,
        first: 0,
        last: 0,
        first_thread: 0,
        last_thread: 0,
        value: 0,
    };

    fn new(site: SiteId, block: u32, thread: u32, value: u32) -> Self {
        let thread = thread as u16;
        Self {
            site: site.0,
            first: block,
            last: block,
            first_thread: thread,
            last_thread: thread,
            value,
        }
    }

    fn id(&self) -> SiteId {
        SiteId(self.site & ID)
    }

    fn add(&mut self, block: u32, thread: u32, value: u32) {
        if block < self.first {
            (self.first, self.first_thread) = (block, thread as u16);
        }
        if block > self.last {
            (self.last, self.last_thread) = (block, thread as u16);
        }
        for byte in 0..4 {
            if (value ^ self.value) >> (8 * byte) & 0xff != 0 {
                self.site |= 1 << (VARIED + byte);
            }
        }
    }

    fn ends(&self) -> [Side; 2] {
        let side = |block, thread: u16| Side {
            site: self.id(),
            block,
            thread: thread.into(),
        };
        [side(self.first, self.first_thread), side(self.last, self.last_thread)]
    }
}

#[derive(Debug)]
struct Page {
    /// One a word, or one a byte once a narrower access was seen.
    cells: Vec<Blocks>,
    /// The second and further instructions of a granule.
    more: HashMap<u16, Vec<Blocks>>,
    /// Whether anything on the page can be a race.
    suspect: bool,
}

impl Page {
    fn new() -> Self {
        Self {
            cells: vec![Blocks::EMPTY; (PAGE / 4) as usize],
            more: HashMap::new(),
            suspect: false,
        }
    }

    fn split(&mut self) {
        let byte = |b: &Blocks, i: u16| match b.site {
            NOBODY => *b,
            site => {
                let varied = site >> (VARIED + u32::from(i)) & 1;
                Blocks {
                    site: site & ID | varied << VARIED,
                    value: b.value >> (8 * i) & 0xff,
                    ..*b
                }
            }
        };
        self.cells = self
            .cells
            .iter()
            .flat_map(|b| (0..4).map(move |i| byte(b, i)))
            .collect();
        let more = std::mem::take(&mut self.more);
        for (cell, list) in more {
            for i in 0..4 {
                self.more
                    .insert(4 * cell + i, list.iter().map(|b| byte(b, i)).collect());
            }
        }
    }

    fn touch(&mut self, site: SiteId, block: u32, t: &Touched) {
        let by_bytes = self.cells.len() == PAGE as usize;
        if t.bytes < 4 && !by_bytes {
            self.split();
            return self.touch(site, block, t);
        }
        let at = t.address % PAGE;
        if by_bytes {
            for i in 0..t.bytes {
                self.touch_cell(at as u16 + i as u16, site, block, t.thread, t.value >> (8 * i) & 0xff);
            }
        } else {
            self.touch_cell((at / 4) as u16, site, block, t.thread, t.value);
        }
    }

    #[inline]
    fn touch_cell(&mut self, cell: u16, site: SiteId, block: u32, thread: u32, value: u32) {
        let blocks = &mut self.cells[cell as usize];
        if blocks.site == NOBODY {
            *blocks = Blocks::new(site, block, thread, value);
        } else if blocks.id() == site {
            blocks.add(block, thread, value);
            self.suspect |= blocks.first != blocks.last;
        } else {
            self.suspect = true;
            let list = self.more.entry(cell).or_default();
            match list.iter_mut().find(|b| b.id() == site) {
                Some(b) => b.add(block, thread, value),
                None => list.push(Blocks::new(site, block, thread, value)),
            }
        }
    }

    fn report(&self, start: u64, sites: &Sites, found: &mut Collected) {
        let bytes = PAGE / self.cells.len() as u64;
        for (i, cell) in self.cells.iter().enumerate() {
            if cell.site == NOBODY {
                continue;
            }
            let address = start + bytes * i as u64;
            if self.more.is_empty() {
                report_pair(cell, cell, address, sites, found);
                continue;
            }
            let mut all = vec![*cell];
            all.extend(self.more.get(&(i as u16)).into_iter().flatten());
            all.sort_by_key(Blocks::id);
            for (i, a) in all.iter().enumerate() {
                for b in &all[i..] {
                    report_pair(a, b, address, sites, found);
                }
            }
        }
    }
}

fn report_pair(a: &Blocks, b: &Blocks, address: u64, sites: &Sites, found: &mut Collected) {
    let (sa, sb) = (sites.get(a.id()), sites.get(b.id()));
    if sa.may_meet(sb, false) {
        return;
    }
    let store = |s: &super::site::Site| s.kind == AccessKind::Write && s.order == Order::Weak;
    if store(sa) && store(sb) && (a.site | b.site) >> VARIED == 0 && a.value == b.value {
        return;
    }
    let (a, b) = (a.ends(), b.ends());
    // The lowest blocks that differ.
    let candidates = [(a[0], b[0]), (a[0], b[1]), (a[1], b[0])];
    if let Some(&(x, y)) = candidates
        .iter()
        .filter(|(x, y)| x.block != y.block)
        .min_by_key(|(x, y)| (x.block.min(y.block), x.block.max(y.block), *x, *y))
    {
        let (first, second) = if x.block < y.block { (x, y) } else { (y, x) };
        found.race(CheckedSpace::Global, first, second, address);
    }
}

/// Bytes of memory a region stands for.
const REGION: u64 = 1 << 16;

#[derive(Debug)]
pub(crate) struct Region {
    pages: Vec<OnceLock<Box<Mutex<Page>>>>,
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
            let page = first.address / PAGE;
            let count = rest.iter().position(|t| t.address / PAGE != page).unwrap_or(rest.len());
            let region = regions.get(self, first.address / REGION);
            let slot = &region.pages[(page % (REGION / PAGE)) as usize];
            let mut page = slot
                .get_or_init(|| Box::new(Mutex::new(Page::new())))
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            for t in &rest[..count] {
                page.touch(site, block, t);
            }
            rest = &rest[count..];
        }
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
                if page.suspect {
                    page.report(number * REGION + i as u64 * PAGE, sites, found);
                }
            }
        }
    }
}

impl Regions {
    fn get(&mut self, apart: &Apart, number: u64) -> Arc<Region> {
        if let Some((n, region)) = &self.last
            && *n == number
        {
            return region.clone();
        }
        let region = self.known.entry(number).or_insert_with(|| apart.region(number)).clone();
        self.last = Some((number, region.clone()));
        region
    }
}
