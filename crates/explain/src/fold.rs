//! The table of lanes, folded where it repeats.

use crate::Lane;

/// A line of the table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Line<'a> {
    /// A lane.
    Lane(&'a Lane),
    /// Lanes up to the next line, each so many bytes on.
    Step {
        /// How many lanes are left out.
        lanes: usize,
        /// Bytes from one to the next.
        bytes: i128,
    },
    /// The lines above, again for the lanes up to the next line.
    Repeat {
        /// How many lanes are left out.
        lanes: usize,
        /// Lanes of a repetition.
        every: u32,
        /// Bytes from one repetition to the next.
        bytes: i128,
    },
    /// Lanes that do nothing.
    Idle {
        /// The first.
        first: u32,
        /// The last.
        last: u32,
    },
}

/// Lanes left out to be worth a line.
const WORTH: usize = 2;

/// The table with the fewest lines.
pub(crate) fn fold<'a>(lanes: &'a [Lane]) -> Vec<Line<'a>> {
    let mut best = with_idle(lanes, steps(lanes));
    for every in [2, 4, 8, 16] {
        if let Some(lines) = repeats(lanes, every)
            && lines.len() < best.len()
        {
            best = lines;
        }
    }
    best
}

/// Every lane, and which are idle.
pub(crate) fn unfolded(lanes: &[Lane]) -> Vec<Line<'_>> {
    with_idle(lanes, lanes.iter().map(Line::Lane).collect())
}

fn apart(from: &Lane, to: &Lane) -> i128 {
    i128::from(to.byte) - i128::from(from.byte)
}

/// Runs of lanes that are equally far apart: the first two, the step, the last.
fn steps(lanes: &[Lane]) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    let mut start = 0;
    while start < lanes.len() {
        let mut end = start + 1;
        while end < lanes.len()
            && lanes[end].lane == lanes[end - 1].lane + 1
            && (end == start + 1 || apart(&lanes[end - 1], &lanes[end]) == apart(&lanes[start], &lanes[start + 1]))
        {
            end += 1;
        }
        let run = &lanes[start..end];
        match run {
            [first, second, left_out @ .., last] if left_out.len() >= WORTH => {
                lines.extend([Line::Lane(first), Line::Lane(second)]);
                lines.push(Line::Step {
                    lanes: left_out.len(),
                    bytes: apart(first, second),
                });
                lines.push(Line::Lane(last));
                start = end;
            }
            // What is no run of its own may start a longer one with its next lane.
            [first, ..] => {
                lines.push(Line::Lane(first));
                start += 1;
            }
            [] => break,
        }
    }
    lines
}

/// All 32 lanes as one pattern of `every` lanes that repeats at a constant distance.
fn repeats(lanes: &[Lane], every: usize) -> Option<Vec<Line<'_>>> {
    let bytes = apart(lanes.first()?, lanes.get(every)?);
    let regular = lanes.len() == 32
        && lanes
            .iter()
            .zip(&lanes[every..])
            .all(|(lane, next)| apart(lane, next) == bytes);
    if !regular {
        return None;
    }
    let mut lines = steps(&lanes[..every]);
    lines.push(Line::Repeat {
        lanes: 32 - every - 1,
        every: every as u32,
        bytes,
    });
    lines.push(Line::Lane(&lanes[31]));
    Some(lines)
}

fn with_idle<'a>(lanes: &[Lane], lines: Vec<Line<'a>>) -> Vec<Line<'a>> {
    let active = |lane: u32| lanes.iter().any(|known| known.lane == lane);
    let mut result = Vec::new();
    let mut next = 0;
    let mut idle_until = |upto: u32, result: &mut Vec<Line<'a>>| {
        while next < upto {
            let first = next;
            while next < upto && !active(next) {
                next += 1;
            }
            if next > first {
                result.push(Line::Idle { first, last: next - 1 });
            }
            while next < upto && active(next) {
                next += 1;
            }
        }
    };
    for line in lines {
        if let Line::Lane(lane) = line {
            idle_until(lane.lane, &mut result);
        }
        result.push(line);
    }
    idle_until(32, &mut result);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lanes(byte: impl Fn(u32) -> Option<u64>) -> Vec<Lane> {
        let lane = |lane, byte| Lane {
            lane,
            element: String::new(),
            row: 0,
            col: 0,
            index: 0,
            byte,
            word: 0,
            bank: 0,
            sector: 0,
        };
        (0..32)
            .filter_map(|number| byte(number).map(|byte| lane(number, byte)))
            .collect()
    }

    fn shape(lanes: &[Lane]) -> String {
        let lines = fold(lanes);
        let text = lines.iter().map(|line| match line {
            Line::Lane(lane) => lane.lane.to_string(),
            Line::Step { lanes, bytes } => format!("({lanes} by {bytes})"),
            Line::Repeat { lanes, every, bytes } => format!("({lanes} every {every} by {bytes})"),
            Line::Idle { first, last } => format!("idle {first}-{last}"),
        });
        text.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_stride_is_four_lines() {
        assert_eq!(shape(&lanes(|lane| Some(u64::from(lane) * 128))), "0 1 (29 by 128) 31");
    }

    #[test]
    fn two_runs_are_told_apart() {
        let lanes = lanes(|lane| Some(u64::from(lane % 16) * 132 + u64::from(lane / 16) * 4));
        assert_eq!(shape(&lanes), "0 1 (13 by 132) 15 (15 every 16 by 4) 31");
    }

    #[test]
    fn short_patterns_repeat() {
        assert_eq!(
            shape(&lanes(|lane| Some(u64::from(lane % 4) * 4))),
            "0 1 2 3 (27 every 4 by 0) 31"
        );
    }

    #[test]
    fn idle_lanes_are_named() {
        assert_eq!(
            shape(&lanes(|lane| (8..12).contains(&lane).then_some(0))),
            "idle 0-7 8 9 (2 by 0) 11 idle 12-31".replace("9 (2 by 0) 11", "9 10 11")
        );
        assert_eq!(shape(&[]), "idle 0-31");
    }

    #[test]
    fn nothing_regular_is_shown_in_full() {
        let lines = shape(&lanes(|lane| Some(u64::from(lane * lane) % 37 * 4)));
        assert_eq!(lines.split(' ').count(), 32);
    }
}
