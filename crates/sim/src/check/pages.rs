//! Tables of pages of a large address space, made when first touched.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Bytes of memory that a page stands for.
pub(crate) const PAGE: u64 = 256;

/// Pages by number (address / [`PAGE`]). Looking up the page that was looked up last, or one of the last few, is cheap.
#[derive(Debug)]
pub(crate) struct Pages<T> {
    index: HashMap<u64, u32, BuildHasherDefault<Mix>>,
    pages: Vec<T>,
    used: usize,
    recent: [(u64, u32); RECENT],
}

/// A warp that walks down a column touches 32 pages again and again.
const RECENT: usize = 128;
const NONE: (u64, u32) = (u64::MAX, 0);

impl<T> Default for Pages<T> {
    fn default() -> Self {
        Self {
            index: HashMap::default(),
            pages: Vec::new(),
            used: 0,
            recent: [NONE; RECENT],
        }
    }
}

impl<T: Default> Pages<T> {
    /// Pages in use.
    pub(crate) fn len(&self) -> usize {
        self.used
    }

    /// The page, if there is one.
    pub(crate) fn get(&self, page: u64) -> Option<&T> {
        let recent = self.recent[page as usize % RECENT];
        if recent.0 == page {
            return Some(&self.pages[recent.1 as usize]);
        }
        self.index.get(&page).map(|&i| &self.pages[i as usize])
    }

    /// The page; a new one is as `reset` leaves what may have been used for another before.
    #[inline]
    pub(crate) fn get_or_make(&mut self, page: u64, reset: impl FnOnce(&mut T)) -> &mut T {
        let recent = self.recent[page as usize % RECENT];
        if recent.0 == page {
            return &mut self.pages[recent.1 as usize];
        }
        self.find(page, reset)
    }

    fn find(&mut self, page: u64, reset: impl FnOnce(&mut T)) -> &mut T {
        let Self {
            index,
            pages,
            used,
            recent,
        } = self;
        let i = *index.entry(page).or_insert_with(|| {
            if *used == pages.len() {
                pages.push(T::default());
            }
            reset(&mut pages[*used]);
            *used += 1;
            *used as u32 - 1
        });
        recent[page as usize % RECENT] = (page, i);
        &mut pages[i as usize]
    }

    /// Forgets every page, keeping the space for others.
    pub(crate) fn clear(&mut self) {
        self.index.clear();
        self.used = 0;
        self.recent = [NONE; RECENT];
    }

    /// Every page with its number, in no particular order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.index.iter().map(|(&page, &i)| (page, &self.pages[i as usize]))
    }
}

/// Page numbers are consecutive; one multiplication spreads them.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(byte.into());
        }
    }

    fn write_u64(&mut self, n: u64) {
        let mixed = (self.0 ^ n).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ mixed >> 32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_keeps_its_contents_and_a_cleared_one_comes_back_reset() {
        let mut pages = Pages::<u64>::default();
        for n in 0..1000 {
            *pages.get_or_make(n * 128, |p| *p = 0) = n;
        }
        assert!((0..1000).all(|n| pages.get(n * 128) == Some(&n)));
        assert_eq!((pages.len(), pages.get(1)), (1000, None));
        pages.clear();
        assert_eq!((*pages.get_or_make(640, |p| *p = 7), pages.len()), (7, 1));
    }
}
