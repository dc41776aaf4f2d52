//! What blocks that run apart did to 128 bytes of global memory, see [`apart`](super::apart).
//!
//! A warp mostly touches a line as a whole, thread after thread, and then a few numbers say it all.

use std::collections::HashMap;

use super::apart::Touched;
use super::finding::CheckedSpace;
use super::report::{Collected, Side};
use super::site::{AccessKind, Order, SiteId, Sites};

/// Bytes of a line.
pub(crate) const LINE: u64 = 128;
const WORDS: usize = LINE as usize / 4;

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

/// Words of a line that threads of a warp touch in order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'a> {
    pub(crate) site: SiteId,
    pub(crate) block: u32,
    /// The words: a bit each.
    pub(crate) words: u32,
    /// The thread that would touch the line's first word.
    pub(crate) first_thread: i32,
    /// Words of a thread are `1 << shift`.
    pub(crate) shift: u32,
    /// What was written, word by word of the line, for ordinary stores.
    pub(crate) values: Option<&'a [u32; WORDS]>,
}

/// See the module's docs.
#[derive(Debug, Default)]
pub(crate) enum Line {
    /// Not touched.
    #[default]
    Empty,
    /// By one instruction, thread after thread.
    Rows(Rows),
    /// Otherwise.
    Cells(Box<Cells>),
}

/// One instruction touched these words, in the lowest and in the highest block alike.
#[derive(Debug)]
pub(crate) struct Rows {
    site: SiteId,
    words: u32,
    first: u32,
    last: u32,
    first_thread: i32,
    last_thread: i32,
    shift: u32,
    values: Option<Box<[u32; WORDS]>>,
}

/// Word by word, or byte by byte.
#[derive(Debug)]
pub(crate) struct Cells {
    /// One a word, or one a byte once a narrower access was seen.
    cells: Vec<Blocks>,
    /// The second and further instructions of a granule.
    more: HashMap<u16, Vec<Blocks>>,
}

impl Rows {
    fn new(row: &Row) -> Self {
        Self {
            site: row.site,
            words: row.words,
            first: row.block,
            last: row.block,
            first_thread: row.first_thread,
            last_thread: row.first_thread,
            shift: row.shift,
            values: row.values.map(|v| Box::new(*v)),
        }
    }

    /// Adds to it what is alike; says whether it was.
    fn add(&mut self, row: &Row) -> bool {
        if self.site != row.site || self.shift != row.shift {
            return false;
        }
        if let (Some(ours), Some(theirs)) = (&mut self.values, row.values) {
            let differ = |w: usize| (self.words & row.words) >> w & 1 == 1 && ours[w] != theirs[w];
            if self.first != row.block || self.last != row.block || (0..WORDS).any(differ) {
                return false;
            }
            (0..WORDS)
                .filter(|w| row.words >> w & 1 == 1)
                .for_each(|w| ours[w] = theirs[w]);
        }
        if (self.first, self.last) == (row.block, row.block) && self.first_thread == row.first_thread {
            self.words |= row.words;
            return true;
        }
        if self.words != row.words {
            return false;
        }
        if row.block < self.first {
            (self.first, self.first_thread) = (row.block, row.first_thread);
        }
        if row.block > self.last {
            (self.last, self.last_thread) = (row.block, row.first_thread);
        }
        true
    }

    fn cell(&self, word: usize) -> Blocks {
        if self.words >> word & 1 == 0 {
            return Blocks::EMPTY;
        }
        let thread = |first: i32| (first + (word >> self.shift) as i32) as u16;
        Blocks {
            site: self.site.0,
            first: self.first,
            last: self.last,
            first_thread: thread(self.first_thread),
            last_thread: thread(self.last_thread),
            value: self.values.as_ref().map_or(0, |v| v[word]),
        }
    }
}

impl Line {
    /// Word by word from now on.
    fn cells(&mut self) -> &mut Cells {
        if !matches!(self, Self::Cells(_)) {
            let cells = match self {
                Self::Rows(rows) => (0..WORDS).map(|w| rows.cell(w)).collect(),
                _ => vec![Blocks::EMPTY; WORDS],
            };
            *self = Self::Cells(Box::new(Cells {
                cells,
                more: HashMap::new(),
            }));
        }
        match self {
            Self::Cells(cells) => cells,
            _ => unreachable!("made above"),
        }
    }

    pub(crate) fn touch(&mut self, site: SiteId, block: u32, t: &Touched) {
        self.cells().touch(site, block, t);
    }

    #[inline]
    pub(crate) fn touch_row(&mut self, row: &Row) {
        match self {
            Self::Empty => *self = Self::Rows(Rows::new(row)),
            Self::Rows(rows) => {
                if !rows.add(row) {
                    self.touch_words(row);
                }
            }
            Self::Cells(_) => self.touch_words(row),
        }
    }

    fn touch_words(&mut self, row: &Row) {
        let cells = self.cells();
        for word in (0..WORDS).filter(|w| row.words >> w & 1 == 1) {
            cells.touch(
                row.site,
                row.block,
                &Touched {
                    address: 4 * word as u64,
                    bytes: 4,
                    thread: (row.first_thread + (word >> row.shift) as i32) as u32,
                    value: row.values.map_or(0, |v| v[word]),
                },
            );
        }
    }

    /// Finds the races between blocks at the line that starts at an address.
    pub(crate) fn report(&self, start: u64, sites: &Sites, found: &mut Collected) {
        match self {
            Self::Empty => {}
            Self::Rows(rows) if rows.first == rows.last => {}
            Self::Rows(rows) => {
                for (word, address) in (0..WORDS).zip((start..).step_by(4)) {
                    let cell = rows.cell(word);
                    if cell.site != NOBODY {
                        report_pair(&cell, &cell, address, sites, found);
                    }
                }
            }
            Self::Cells(cells) => cells.report(start, sites, found),
        }
    }
}

impl Cells {
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
        for (cell, list) in std::mem::take(&mut self.more) {
            for i in 0..4 {
                self.more
                    .insert(4 * cell + i, list.iter().map(|b| byte(b, i)).collect());
            }
        }
    }

    fn touch(&mut self, site: SiteId, block: u32, t: &Touched) {
        if t.bytes < 4 && self.cells.len() == WORDS {
            self.split();
        }
        let at = (t.address % LINE) as u16;
        if self.cells.len() == WORDS {
            self.touch_cell(at / 4, site, block, t.thread, t.value);
        } else {
            for i in 0..t.bytes as u16 {
                self.touch_cell(at + i, site, block, t.thread, t.value >> (8 * i) & 0xff);
            }
        }
    }

    fn touch_cell(&mut self, cell: u16, site: SiteId, block: u32, thread: u32, value: u32) {
        let blocks = &mut self.cells[cell as usize];
        if blocks.site == NOBODY {
            *blocks = Blocks::new(site, block, thread, value);
        } else if blocks.id() == site {
            blocks.add(block, thread, value);
        } else {
            let list = self.more.entry(cell).or_default();
            match list.iter_mut().find(|b| b.id() == site) {
                Some(b) => b.add(block, thread, value),
                None => list.push(Blocks::new(site, block, thread, value)),
            }
        }
    }

    fn report(&self, start: u64, sites: &Sites, found: &mut Collected) {
        let bytes = LINE / self.cells.len() as u64;
        for (i, cell) in self.cells.iter().enumerate().filter(|(_, cell)| cell.site != NOBODY) {
            let address = start + bytes * i as u64;
            let mut all = smallvec::SmallVec::<[Blocks; 4]>::new();
            all.push(*cell);
            all.extend(self.more.get(&(i as u16)).into_iter().flatten().copied());
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::check::Site;

    #[test]
    fn a_block_that_writes_a_word_anew_races_with_another_that_writes_the_second_value() {
        let mut sites = Sites::new();
        let site = sites.add(Site::store(0)).unwrap();
        let mut line = Line::Empty;
        for (block, words, value) in [(0, 0b10, 0), (0, u32::MAX, 1), (1, 0b10, 1)] {
            let values = Some(&[value; WORDS]);
            line.touch_row(&Row {
                site,
                block,
                words,
                first_thread: 0,
                shift: 1,
                values,
            });
        }
        let mut found = Collected::default();
        line.report(4096, &sites, &mut found);
        let addresses: Vec<u64> = found.finish(&sites).races.iter().map(|race| race.address).collect();
        assert_eq!(addresses, [4100]);
    }

    proptest! {
        #[test]
        fn rows_say_the_same_as_words(
            rows in prop::collection::vec((0u32..3, 0u32..3, any::<u32>(), 0i32..3, 0u32..3, any::<bool>()), 1..6),
        ) {
            let mut sites = Sites::new();
            let ids = [Site::load(0), Site::store(1), Site::store(2)].map(|s| sites.add(s).unwrap());
            let mut by_rows = Line::Empty;
            let mut by_words = Line::Empty;
            for (site, block, words, first_thread, value, whole) in rows {
                let (words, values) = (if whole { u32::MAX } else { words }, [value; WORDS]);
                let values = (site > 0).then_some(&values);
                let row = Row { site: ids[site as usize], block, words, first_thread, shift: 1, values };
                by_rows.touch_row(&row);
                by_words.touch_words(&row);
            }
            let report = |line: &Line| {
                let mut found = Collected::default();
                line.report(4096, &sites, &mut found);
                found.finish(&sites)
            };
            prop_assert_eq!(report(&by_rows), report(&by_words));
        }
    }
}
