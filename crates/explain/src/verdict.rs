//! What an access costs and why, in a line and a sentence.

use tile33_layout::{Breakdown, Group, Op, Space, WarpAccess};

/// The verdict on an access in one line: "32-way conflict: 32 lanes, 32 words, all in bank 5".
///
/// ```
/// use tile33_explain::verdict;
/// use tile33_layout::WarpAccess;
/// let column = WarpAccess::shared_load(4, |lane| Some(128 * u64::from(lane) + 20))?;
/// assert_eq!(verdict(&column), "32-way conflict: 32 lanes, 32 words, all in bank 5");
/// let row = WarpAccess::shared_load(4, |lane| Some(4 * u64::from(lane)))?;
/// assert_eq!(verdict(&row), "no conflict: 32 lanes, 32 words, 32 banks");
/// # Ok::<(), tile33_layout::AccessError>(())
/// ```
pub fn verdict(access: &WarpAccess) -> String {
    if access.mask() == 0 {
        return "nothing happens: no lane is active".into();
    }
    if access.space() == Space::Global {
        return global(access);
    }
    let breakdown = access.breakdown();
    let ways = ways(&breakdown, access.op());
    let groups = breakdown.groups();
    let worst = groups.iter().max_by_key(|group| group.wavefronts());
    let Some(worst) = worst else {
        return "nothing happens: no lane is active".into();
    };
    let summary = Summary::new(worst);
    let atomic = access.op().is_atomic();
    let lanes = plural(worst.lanes().count_ones(), "lane");
    let group = group_name(&breakdown, worst);
    if ways > 1 {
        let place = summary.place(ways, atomic);
        return format!(
            "{ways}-way conflict: {group}{lanes}, {}, {place}",
            plural(summary.words, "word")
        );
    }
    let shared = worst.lanes().count_ones() * words_per_lane(access) > summary.words;
    match (shared, summary.words) {
        (true, 1) => format!(
            "no conflict: {group}{lanes} share 1 word, which bank {} broadcasts",
            summary.banks[0]
        ),
        (true, words) => {
            format!(
                "no conflict: {group}{lanes} share {words} words in {}",
                plural(summary.banks.len() as u32, "bank")
            )
        }
        (false, words) => {
            format!(
                "no conflict: {group}{lanes}, {}, {}",
                plural(words, "word"),
                plural(summary.banks.len() as u32, "bank")
            )
        }
    }
}

/// The most that one bank is asked for in one group, in words (lanes for atomics): 1 is no conflict.
pub(crate) fn ways(breakdown: &Breakdown<'_>, op: Op) -> u32 {
    let passes = if op == Op::Cas { 2 } else { 1 };
    breakdown
        .groups()
        .iter()
        .map(|group| group.wavefronts() / passes)
        .max()
        .unwrap_or(0)
}

fn words_per_lane(access: &WarpAccess) -> u32 {
    access.width().div_ceil(4)
}

fn global(access: &WarpAccess) -> String {
    let (sectors, ideal) = (access.sectors(), access.ideal_sectors());
    let lanes = plural(access.mask().count_ones(), "lane");
    if sectors == ideal {
        format!(
            "as few sectors as possible: {lanes}, {} of 32 bytes",
            plural(sectors, "sector")
        )
    } else {
        let used = 100 * ideal / sectors;
        format!(
            "scattered: {lanes}, {} of 32 bytes where {ideal} would do ({used}% of what is moved is used)",
            plural(sectors, "sector")
        )
    }
}

/// "in lanes 0 to 15 " where the warp is served in several groups.
fn group_name(breakdown: &Breakdown<'_>, group: &Group<'_>) -> String {
    if breakdown.grouping().count() == 1 {
        return String::new();
    }
    if breakdown
        .groups()
        .iter()
        .all(|other| other.wavefronts() == group.wavefronts())
        && breakdown.groups().len() > 1
    {
        return format!("in each {} ", part(breakdown.grouping().lanes));
    }
    let size = breakdown.grouping().lanes;
    let first = group.lanes().trailing_zeros() / size * size;
    format!("in lanes {first} to {} ", first + size - 1)
}

/// What a group of so many lanes is called.
pub(crate) fn part(lanes: u32) -> &'static str {
    match lanes {
        8 => "quarter-warp",
        16 => "half-warp",
        _ => "warp",
    }
}

struct Summary {
    words: u32,
    banks: Vec<u32>,
    fullest: u32,
    fullest_lanes: u32,
}

impl Summary {
    fn new(group: &Group<'_>) -> Self {
        let banks: Vec<_> = group.banks().collect();
        let fullest = banks.iter().rev().max_by_key(|bank| bank.wavefronts());
        Self {
            words: banks.iter().map(|bank| bank.words().count() as u32).sum(),
            fullest: fullest.map_or(0, |bank| bank.bank()),
            fullest_lanes: fullest.map_or(0, |bank| bank.lanes()),
            banks: banks.iter().map(|bank| bank.bank()).collect(),
        }
    }

    fn place(&self, ways: u32, atomic: bool) -> String {
        if atomic && self.words == 1 {
            return format!("bank {}: an atomic takes one lane after the other", self.banks[0]);
        }
        match self.banks.as_slice() {
            [bank] => format!("all in bank {bank}"),
            [first, second] if self.words == 2 * ways => format!("all in banks {first} and {second}"),
            [first, .., last]
                if self.words == self.banks.len() as u32 * ways && last - first + 1 == self.banks.len() as u32 =>
            {
                if self.banks.len() == 32 {
                    "in all 32 banks".into()
                } else {
                    format!("all in banks {first} to {last}")
                }
            }
            banks => {
                let what = if atomic { "lanes" } else { "words" };
                format!(
                    "in {} banks, up to {ways} {what} in one (bank {}: lanes {})",
                    banks.len(),
                    self.fullest,
                    lane_list(self.fullest_lanes)
                )
            }
        }
    }
}

/// "0, 4, 8" or "0, 4, 8, .. 28".
pub(crate) fn lane_list(mask: u32) -> String {
    let lanes: Vec<u32> = (0..32).filter(|lane| mask >> lane & 1 == 1).collect();
    match lanes.as_slice() {
        [] => "none".into(),
        [.., last] if lanes.len() > 4 => format!("{}, {}, {}, .. {last}", lanes[0], lanes[1], lanes[2]),
        lanes => lanes.iter().map(u32::to_string).collect::<Vec<_>>().join(", "),
    }
}

/// "1 lane", "2 lanes".
pub(crate) fn plural(count: u32, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Why it costs what it costs: from the distance of the lanes in bytes, if that is always the same, else by example.
pub(crate) fn reason(access: &WarpAccess, step_bytes: Option<i64>) -> Option<String> {
    if access.space() != Space::Shared || access.mask().count_ones() < 2 {
        return None;
    }
    match step_bytes {
        // A part of a word, or words and a part.
        Some(step) if step != 0 && step % i64::from(access.width().max(4)) != 0 && 4 % step != 0 => by_example(access),
        Some(step) => Some(by_step(access, step)),
        None => by_example(access),
    }
}

/// The bank that costs most and who meets there; or that every lane has its own.
fn by_example(access: &WarpAccess) -> Option<String> {
    let breakdown = access.breakdown();
    let group = breakdown.groups().iter().rev().max_by_key(|group| group.wavefronts())?;
    let banks: Vec<_> = group.banks().collect();
    let fullest = banks.iter().rev().max_by_key(|bank| bank.wavefronts())?;
    let (first, second) = (fullest.words().next()?, fullest.words().nth(1));
    match second {
        Some(second) => Some(format!(
            "lane {} wants word {} and lane {} word {}, both in bank {}, for example",
            first.lanes.trailing_zeros(),
            first.word,
            second.lanes.trailing_zeros(),
            second.word,
            fullest.bank()
        )),
        None if banks.iter().all(|bank| bank.lanes().count_ones() == 1) && access.width() <= 4 => {
            let bank = |lane: u32| {
                banks
                    .iter()
                    .find(|bank| bank.lanes() >> lane & 1 == 1)
                    .map(|bank| bank.bank())
            };
            let order: Vec<String> = (0..32).filter_map(bank).take(6).map(|bank| bank.to_string()).collect();
            Some(format!("the lanes' banks are all different: {}, ..", order.join(", ")))
        }
        None => None,
    }
}

/// Why the banks repeat or do not, if each lane is as many bytes on from the one before.
fn by_step(access: &WarpAccess, step_bytes: i64) -> String {
    let width = i64::from(access.width());
    let unit = width.max(4);
    let units = 128 / unit;
    let (bank, banks) = match unit {
        4 => ("bank", "banks"),
        8 => ("pair of banks", "pairs of banks"),
        _ => ("group of four banks", "groups of four banks"),
    };
    if step_bytes == 0 {
        let all = if access.mask() == u32::MAX {
            "all lanes"
        } else {
            "all active lanes"
        };
        return if access.op().is_atomic() {
            format!("{all} want the same address, and an atomic takes one lane after the other")
        } else {
            format!("{all} want the same address, and a bank delivers a word to any number of lanes at once")
        };
    }
    if step_bytes % unit != 0 {
        let step = step_bytes.unsigned_abs();
        let step_text = plural(step as u32, "byte");
        return format!(
            "from lane to lane the address moves on by {step_text}, so {} neighbours share a word",
            4 / step
        );
    }
    let step = step_bytes / unit;
    let shared = gcd(step.unsigned_abs(), units as u64) as i64;
    let moves = step.rem_euclid(units);
    if shared == units {
        return format!(
            "from lane to lane the address moves on by {} words, a multiple of 32: every lane lands in the same {bank}",
            step_bytes / 4
        );
    }
    let on = if unit == 4 {
        moves.to_string()
    } else {
        format!("{moves} of the {units} {banks}")
    };
    if shared == 1 {
        format!(
            "from lane to lane the bank moves on by {on}, and {moves} and {units} have no common factor: {units} lanes in \
             a row use {units} different {banks}"
        )
    } else {
        let repeat = units / shared;
        format!(
            "from lane to lane the bank moves on by {on}: after {repeat} lanes the banks repeat, so lanes l and \
             l + {repeat} meet"
        )
    }
}

pub(crate) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
