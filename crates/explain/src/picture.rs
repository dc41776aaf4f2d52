//! 32 banks by wavefronts, as text.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use tile33_layout::{Group, Op, Space, WarpAccess};

use crate::verdict::part;

const IDLE: Style = Style::new().dimmed();
const FIRST: Style = AnsiColor::Green.on_default();
const LATER: Style = AnsiColor::Red.on_default();

/// Rows alike to be worth folding.
const WORTH: usize = 4;

/// The picture of an access to shared memory; empty for global memory and without active lanes.
///
/// A row is a wavefront, a column a bank. The character is the lane that is served, in base 32 (`0` to `9`, `a` to `v`);
/// `*` is a word that goes to several lanes. Contains ANSI styles; print it through a stream that removes them where
/// they are not wanted.
///
/// ```
/// use tile33_layout::WarpAccess;
/// let row = WarpAccess::shared_load(4, |lane| Some(4 * u64::from(lane)))?;
/// assert!(tile33_explain::picture(&row).contains('v'));
/// # Ok::<(), tile33_layout::AccessError>(())
/// ```
pub fn picture(access: &WarpAccess) -> String {
    let mut text = String::new();
    let breakdown = access.breakdown();
    if access.space() != Space::Shared || breakdown.groups().is_empty() {
        return text;
    }
    text.push_str("        bank  0         1         2         3\n              01234567890123456789012345678901\n");
    let several = breakdown.grouping().count() > 1;
    let mut number = 1;
    for group in breakdown.groups() {
        if several {
            let first = group.lanes().trailing_zeros() / breakdown.grouping().lanes * breakdown.grouping().lanes;
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "  lanes {first} to {}, a {}",
                first + breakdown.grouping().lanes - 1,
                part(breakdown.grouping().lanes)
            );
        }
        write_group(&mut text, group, access.op(), &mut number);
    }
    text
}

fn write_group(text: &mut String, group: &Group<'_>, op: Op, number: &mut u32) {
    let rows = rows(group, op.is_atomic());
    // A compare-and-swap passes twice.
    let passes = if op == Op::Cas { 2 } else { 1 };
    let mut index = 0;
    while index < rows.len() {
        let row = &rows[index];
        let used = |row: &[char; 32]| row.map(|cell| cell != '.');
        let alike = rows[index..]
            .iter()
            .take_while(|other| used(other) == used(row))
            .count();
        let label = if passes == 1 {
            format!("{number}")
        } else {
            format!("{number}, {}", *number + 1)
        };
        write_row(text, &label, row, index == 0);
        *number += passes;
        index += 1;
        if alike > WORTH && index > 1 {
            let left_out = alike - 2;
            let _ = writeln!(text, "{:>12}  the same banks in {left_out} more", "..");
            index += left_out;
            *number += passes * left_out as u32;
        }
    }
}

fn write_row(text: &mut String, label: &str, row: &[char; 32], first: bool) {
    let busy = if first { FIRST } else { LATER };
    let _ = write!(text, "{label:>12}  ");
    let mut at = 0;
    while at < row.len() {
        let idle = row[at] == '.';
        let run: String = row[at..].iter().take_while(|cell| (**cell == '.') == idle).collect();
        let style = if idle { IDLE } else { busy };
        let _ = write!(text, "{style}{run}{style:#}");
        at += run.len();
    }
    text.push('\n');
}

/// What each bank does in each wavefront of a group.
fn rows(group: &Group<'_>, by_lane: bool) -> Vec<[char; 32]> {
    let mut rows: Vec<[char; 32]> = Vec::new();
    for bank in group.banks() {
        let mut served = Vec::new();
        for word in bank.words() {
            if by_lane {
                served.extend((0..32).filter(|lane| word.lanes >> lane & 1 == 1).map(symbol));
            } else if word.lanes.count_ones() == 1 {
                served.push(symbol(word.lanes.trailing_zeros()));
            } else {
                served.push('*');
            }
        }
        for (row, cell) in served.into_iter().enumerate() {
            if rows.len() <= row {
                rows.push(['.'; 32]);
            }
            rows[row][bank.bank() as usize] = cell;
        }
    }
    rows
}

fn symbol(lane: u32) -> char {
    char::from_digit(lane, 32).unwrap_or('?')
}
