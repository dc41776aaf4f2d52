//! The table of steps.

use std::fmt::Write;

use comfy_table::{Attribute, Cell, CellAlignment, Color, Table, presets};
use tile33::catalogue::Kind;
use tile33::layout::occupancy::Card;

use super::Row;

/// The card whose occupancy is shown.
pub const CARD: &str = "H200";

/// The steps side by side, and what is wrong with them below. Kinds of access that no step makes have no column.
pub fn render(rows: &[Row], cuda: bool) -> String {
    let kinds: Vec<usize> = (0..Kind::ALL.len())
        .filter(|&kind| rows.iter().any(|row| row.counted[kind].0 > 0))
        .collect();
    let mut header = vec!["step".to_owned(), "correct".to_owned()];
    for &kind in &kinds {
        let unit = if Kind::ALL[kind].is_shared() {
            "wavefronts"
        } else {
            "sectors"
        };
        header.push(format!("{unit}\na {}", Kind::ALL[kind].to_string().replace(' ', "\n")));
    }
    header.extend(["shared\nbytes".to_owned(), "warps".to_owned()]);
    header.extend(if cuda {
        vec!["time".to_owned(), "GB/s".to_owned()]
    } else {
        vec!["instructions".to_owned()]
    });
    let mut table = Table::new();
    table.load_preset(presets::UTF8_FULL_CONDENSED).set_header(header);
    for row in rows {
        table.add_row(cells(row, &kinds, cuda));
    }
    let mut text = format!("{table}\n\n");
    text.push_str(&lessons(rows.iter().map(|row| (row.step.name, row.step.lesson))));
    text.push('\n');
    for row in rows {
        if let Some(wrong) = &row.wrong {
            let _ = writeln!(text, "{}: {wrong}", row.step.entry);
        }
    }
    let counted = if cuda {
        "Times are the GPU's own, of all launches of a step together. Wavefronts and sectors are counted by the\nemulator for the same PTX.\n"
    } else {
        "Wavefronts and sectors are those of the step's first launch; instructions those of all, 32 lanes each.\n"
    };
    text.push_str(counted);
    text.push_str(&warps_explained(cuda));
    text
}

fn cells(row: &Row, kinds: &[usize], cuda: bool) -> Vec<Cell> {
    let mut cells = vec![Cell::new(row.step.name)];
    cells.push(verdict(row.wrong.is_none()));
    for &kind in kinds {
        let (requests, cost) = row.counted[kind];
        cells.push(number((requests > 0).then(|| cost as f64 / requests as f64)));
    }
    let first = row.launches.first();
    cells.push(number(first.map(|launched| launched.shared_bytes() as f64)));
    let card = Card::find(CARD);
    let occupancy = first.zip(card).map(|(launched, card)| launched.occupancy(card).warps);
    cells.push(number(occupancy.map(f64::from)));
    if cuda {
        let seconds = row.time.map(|time| time.as_secs_f64()).filter(|&seconds| seconds > 0.0);
        cells.push(seconds.map_or_else(|| number(None), |seconds| right(format!("{:.1} µs", seconds * 1e6))));
        cells.push(seconds.map_or_else(
            || number(None),
            |seconds| right(format!("{:.0}", row.bytes as f64 / seconds / 1e9)),
        ));
    } else {
        cells.push(right(row.instructions()));
    }
    cells
}

/// Whether a step is correct.
pub fn verdict(correct: bool) -> Cell {
    if correct {
        Cell::new("yes").fg(Color::Green)
    } else {
        Cell::new("NO").fg(Color::Red).add_attribute(Attribute::Bold)
    }
}

/// What a step teaches, a line each.
pub fn lessons<'a>(steps: impl Iterator<Item = (&'a str, &'a str)> + Clone) -> String {
    let width = steps.clone().map(|(name, _)| name.len()).max().unwrap_or(0);
    steps
        .map(|(name, lesson)| format!("{name:width$}  {lesson}\n"))
        .collect()
}

/// What the column of warps means.
pub fn warps_explained(cuda: bool) -> String {
    let registers = if cuda {
        " and registers"
    } else {
        "; registers are not known here"
    };
    format!("Warps: those that a multiprocessor of an {CARD} holds, of 64, by threads, shared memory{registers}.\n")
}

/// A number, without a fraction where it has none; a dash where there is none.
pub fn number(value: Option<f64>) -> Cell {
    match value {
        None => right("-"),
        Some(value) if value.fract() == 0.0 => right(value),
        Some(value) => right(format!("{value:.2}")),
    }
}

/// At the right.
pub fn right(content: impl ToString) -> Cell {
    Cell::new(content).set_alignment(CellAlignment::Right)
}
