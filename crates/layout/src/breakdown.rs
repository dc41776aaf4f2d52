//! Why an access to shared memory costs what it does.

use crate::banks::{BANK_BYTES, BANKS, Grouping};
use crate::{LANES, Op, Space, WarpAccess};

/// The groups of an access, and in each the banks, words and lanes. Empty for global memory.
///
/// ```
/// use tile33_layout::WarpAccess;
/// // CASES: a block 16 wide reads a column of a tile with pitch 33.
/// let access = WarpAccess::shared_load(4, |lane| Some(4 * u64::from(lane % 16 * 33 + lane / 16)))?;
/// let breakdown = access.breakdown();
/// let group = &breakdown.groups()[0];
/// assert_eq!(group.wavefronts(), 2);
/// let crowded = group.banks().find(|bank| bank.wavefronts() == 2).unwrap();
/// let words: Vec<_> = crowded.words().map(|word| (word.word, word.lanes)).collect();
/// assert_eq!((crowded.bank(), words), (1, vec![(33, 1 << 1), (1, 1 << 16)]));
/// # Ok::<(), tile33_layout::AccessError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Breakdown<'a> {
    grouping: Grouping,
    groups: [Group<'a>; 4],
    count: usize,
}

/// Lanes that are served together.
///
/// ```
/// use tile33_layout::WarpAccess;
/// let access = WarpAccess::shared_load(4, |lane| Some(128 * u64::from(lane)))?;
/// assert_eq!(access.breakdown().groups()[0].wavefronts(), 32);
/// # Ok::<(), tile33_layout::AccessError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Group<'a> {
    access: &'a WarpAccess,
    lanes: u32,
    wavefronts: u32,
}

/// What a group asks of one bank.
///
/// ```
/// use tile33_layout::WarpAccess;
/// let access = WarpAccess::shared_load(4, |lane| Some(128 * u64::from(lane % 2)))?;
/// let bank = access.breakdown().groups()[0].bank(0);
/// assert_eq!((bank.wavefronts(), bank.lanes()), (2, u32::MAX));
/// # Ok::<(), tile33_layout::AccessError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct BankUse<'a> {
    access: &'a WarpAccess,
    group: u32,
    bank: u32,
}

/// A 4-byte word, and who wants it.
///
/// ```
/// use tile33_layout::{WarpAccess, WordUse};
/// let access = WarpAccess::shared_load(4, |_| Some(12))?;
/// let word = access.breakdown().groups()[0].bank(3).words().next();
/// assert_eq!(word, Some(WordUse { word: 3, lanes: u32::MAX }));
/// # Ok::<(), tile33_layout::AccessError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordUse {
    /// Byte address divided by 4.
    pub word: u64,
    /// The lanes that want it, bit 0 = lane 0. More than one is a broadcast for loads, and waits for atomics.
    pub lanes: u32,
}

impl<'a> Breakdown<'a> {
    pub(crate) fn new(access: &'a WarpAccess) -> Self {
        let grouping = Grouping::new(access.op(), access.width(), access.mask(), access.addresses());
        let mut groups = [Group {
            access,
            lanes: 0,
            wavefronts: 0,
        }; 4];
        let mut count = 0;
        if access.space() == Space::Shared {
            for index in 0..grouping.count() {
                let lanes = grouping.mask(index, access.mask());
                if lanes != 0 {
                    groups[count] = Group {
                        access,
                        lanes,
                        wavefronts: 0,
                    };
                    groups[count].wavefronts = groups[count].banks().map(|bank| bank.wavefronts()).max().unwrap_or(0);
                    count += 1;
                }
            }
        }
        Self {
            grouping,
            groups,
            count,
        }
    }

    /// The groups that have active lanes, in lane order.
    ///
    /// ```
    /// use tile33_layout::WarpAccess;
    /// let access = WarpAccess::shared_store(16, |lane| (lane < 20).then_some(16 * lane as u64))?;
    /// assert_eq!(access.breakdown().groups().len(), 3);
    /// # Ok::<(), tile33_layout::AccessError>(())
    /// ```
    pub fn groups(&self) -> &[Group<'a>] {
        &self.groups[..self.count]
    }

    /// How the warp was cut, and whether paired lanes merged groups.
    ///
    /// ```
    /// use tile33_layout::WarpAccess;
    /// let access = WarpAccess::shared_load(16, |_| Some(64))?;
    /// assert_eq!(access.breakdown().grouping().pair, Some(1));
    /// # Ok::<(), tile33_layout::AccessError>(())
    /// ```
    pub fn grouping(&self) -> Grouping {
        self.grouping
    }

    /// The sum over the groups: equal to [`WarpAccess::wavefronts`], counted independently of it.
    ///
    /// ```
    /// use tile33_layout::WarpAccess;
    /// assert_eq!(WarpAccess::shared_load(4, |lane| Some(128 * u64::from(lane)))?.breakdown().wavefronts(), 32);
    /// # Ok::<(), tile33_layout::AccessError>(())
    /// ```
    pub fn wavefronts(&self) -> u32 {
        self.groups().iter().map(Group::wavefronts).sum()
    }
}

impl<'a> Group<'a> {
    /// Active lanes, bit 0 = lane 0.
    ///
    /// ```
    /// use tile33_layout::WarpAccess;
    /// let half = WarpAccess::shared_load(8, |lane| (lane < 16).then_some(8 * lane as u64))?;
    /// assert_eq!(half.breakdown().groups()[0].lanes(), 0x0000_ffff);
    /// # Ok::<(), tile33_layout::AccessError>(())
    /// ```
    pub fn lanes(&self) -> u32 {
        self.lanes
    }

    /// What the group costs: the most that one bank needs.
    ///
    /// ```
    /// use tile33_layout::WarpAccess;
    /// let half = WarpAccess::shared_load(8, |lane| (lane < 16).then_some(8 * lane as u64))?;
    /// assert_eq!(half.breakdown().groups()[0].wavefronts(), 1);
    /// # Ok::<(), tile33_layout::AccessError>(())
    /// ```
    pub fn wavefronts(&self) -> u32 {
        self.wavefronts
    }

    /// Each bank that is used.
    ///
    /// ```
    /// use tile33_layout::WarpAccess;
    /// let half = WarpAccess::shared_load(8, |lane| (lane < 16).then_some(8 * lane as u64))?;
    /// assert_eq!(half.breakdown().groups()[0].banks().count(), 32);
    /// # Ok::<(), tile33_layout::AccessError>(())
    /// ```
    pub fn banks(&self) -> impl Iterator<Item = BankUse<'a>> + use<'a> {
        let group = *self;
        (0..BANKS as u32)
            .map(move |bank| group.bank(bank))
            .filter(|bank| bank.lanes() != 0)
    }

    /// What is asked of a bank, which may be nothing.
    ///
    /// ```
    /// use tile33_layout::WarpAccess;
    /// let half = WarpAccess::shared_load(8, |lane| (lane < 16).then_some(8 * lane as u64))?;
    /// assert_eq!(half.breakdown().groups()[0].bank(31).lanes(), 1 << 15);
    /// # Ok::<(), tile33_layout::AccessError>(())
    /// ```
    pub fn bank(&self, bank: u32) -> BankUse<'a> {
        BankUse {
            access: self.access,
            group: self.lanes,
            bank: bank % BANKS as u32,
        }
    }
}

impl<'a> BankUse<'a> {
    /// The bank's number.
    ///
    /// ```
    /// use tile33_layout::WarpAccess;
    /// let half = WarpAccess::shared_load(8, |lane| (lane < 16).then_some(8 * lane as u64))?;
    /// assert_eq!(half.breakdown().groups()[0].bank(31).bank(), 31);
    /// # Ok::<(), tile33_layout::AccessError>(())
    /// ```
    pub fn bank(&self) -> u32 {
        self.bank
    }

    /// The lanes that want a word of this bank, bit 0 = lane 0.
    ///
    /// ```
    /// use tile33_layout::WarpAccess;
    /// let half = WarpAccess::shared_load(8, |lane| (lane < 16).then_some(8 * lane as u64))?;
    /// assert_eq!(half.breakdown().groups()[0].bank(2).lanes(), 1 << 1);
    /// # Ok::<(), tile33_layout::AccessError>(())
    /// ```
    pub fn lanes(&self) -> u32 {
        let mut lanes = 0u32;
        for lane in 0..LANES as u32 {
            if self.word_of(lane).is_some() {
                lanes |= 1 << lane;
            }
        }
        lanes
    }

    /// The different words wanted, in the order of the first lane that wants each.
    ///
    /// ```
    /// use tile33_layout::WarpAccess;
    /// let half = WarpAccess::shared_load(8, |lane| (lane < 16).then_some(8 * lane as u64))?;
    /// assert_eq!(half.breakdown().groups()[0].bank(3).words().next().unwrap().word, 3);
    /// # Ok::<(), tile33_layout::AccessError>(())
    /// ```
    pub fn words(&self) -> impl Iterator<Item = WordUse> + use<'a> {
        let bank = *self;
        (0..LANES as u32).filter_map(move |lane| {
            let word = bank.word_of(lane)?;
            let mut lanes = 0u32;
            for other in 0..LANES as u32 {
                if bank.word_of(other) == Some(word) {
                    lanes |= 1 << other;
                }
            }
            (lanes.trailing_zeros() == lane).then_some(WordUse { word, lanes })
        })
    }

    /// Wavefronts that this bank alone needs.
    ///
    /// ```
    /// use tile33_layout::WarpAccess;
    /// let half = WarpAccess::shared_load(8, |lane| (lane < 16).then_some(8 * lane as u64))?;
    /// assert_eq!(half.breakdown().groups()[0].bank(3).wavefronts(), 1);
    /// # Ok::<(), tile33_layout::AccessError>(())
    /// ```
    pub fn wavefronts(&self) -> u32 {
        let uses = if self.access.op().is_atomic() {
            self.lanes().count_ones()
        } else {
            self.words().count() as u32
        };
        if self.access.op() == Op::Cas { 2 * uses } else { uses }
    }

    /// The word of this bank that a lane of the group wants. An access of at most 16 aligned bytes never wants two.
    fn word_of(&self, lane: u32) -> Option<u64> {
        if self.group >> lane & 1 == 0 {
            return None;
        }
        let first = self.access.addresses()[lane as usize] / BANK_BYTES as u64;
        let words = u64::from(self.access.width()).div_ceil(BANK_BYTES as u64);
        (first..first.saturating_add(words)).find(|word| word % BANKS as u64 == u64::from(self.bank))
    }
}
