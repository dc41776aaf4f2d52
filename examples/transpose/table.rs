//! The table.

use std::fmt::Write;
use std::time::Duration;

use comfy_table::{Attribute, Cell, CellAlignment, Color, ContentArrangement, Table, presets};

use crate::contest::{COUNTED, Outcome, Plan, Row};

/// The table and the sentences around it.
pub fn render(plan: &Plan<'_>, outcome: &Outcome) -> String {
    let mut text = String::new();
    let bits = 8 * outcome.element_bytes;
    let _ = writeln!(
        text,
        "{} x {} elements of {bits} bits on {}\n",
        plan.rows, plan.cols, plan.device
    );
    let mut table = Table::new();
    table
        .load_preset(presets::UTF8_FULL_CONDENSED)
        .set_content_arrangement(ContentArrangement::Dynamic);
    let mut header = vec![
        "variant",
        "correct",
        "wavefronts\na shared load",
        "a shared\nstore",
        "sectors\na global load",
        "a global\nstore",
    ];
    header.extend(if plan.device.is_cuda() {
        vec!["time", "GB/s"]
    } else {
        vec!["instructions"]
    });
    header.push("what it teaches");
    table.set_header(header);
    for row in &outcome.rows {
        table.add_row(cells(plan, outcome, row));
    }
    if let Some(memcpy) = outcome.memcpy {
        let mut cells = vec![
            Cell::new("memcpy"),
            Cell::new(""),
            number(None),
            number(None),
            number(None),
            number(None),
        ];
        cells.extend(timing(plan, outcome, Some(memcpy)));
        cells.push(Cell::new("the driver's copy from device to device"));
        table.add_row(cells);
    }
    let _ = writeln!(text, "{table}");
    for row in outcome.rows.iter().filter(|row| row.wrong.is_some()) {
        let _ = writeln!(text, "{}: {}", row.name, row.wrong.as_deref().unwrap_or_default());
    }
    let _ = writeln!(
        text,
        "\nA wavefront is one pass over the 32 banks of shared memory: 1 for each load or store of a warp is ideal.\n\
         A sector is 32 bytes of global memory: a warp's {} bytes fill {}.",
        32 * outcome.element_bytes,
        outcome.element_bytes
    );
    if plan.device.is_cuda() {
        let _ = writeln!(
            text,
            "Times are the GPU's own, the median of {} launches in turns; GB/s count every element read once and written once.\n\
             Wavefronts and sectors: counted by the emulator for the same PTX on {COUNTED} x {COUNTED} elements.",
            plan.repetitions
        );
    }
    text
}

fn cells(plan: &Plan<'_>, outcome: &Outcome, row: &Row) -> Vec<Cell> {
    let counters = &row.counters;
    let ratio = |sum: u64, requests: u64| number((requests > 0).then(|| sum as f64 / requests as f64));
    let correct = match row.wrong {
        None => Cell::new("yes").fg(Color::Green),
        Some(_) => Cell::new("NO").fg(Color::Red).add_attribute(Attribute::Bold),
    };
    let mut cells = vec![
        Cell::new(&row.name),
        correct,
        ratio(counters.shared_load.wavefronts, counters.shared_load.requests),
        ratio(counters.shared_store.wavefronts, counters.shared_store.requests),
        ratio(counters.global_load.sectors, counters.global_load.requests),
        ratio(counters.global_store.sectors, counters.global_store.requests),
    ];
    if plan.device.is_cuda() {
        cells.extend(timing(plan, outcome, row.time));
    } else {
        cells.push(right(counters.instructions));
    }
    cells.push(Cell::new(lesson(row.variant.name)));
    cells
}

fn timing(plan: &Plan<'_>, outcome: &Outcome, time: Option<Duration>) -> [Cell; 2] {
    match time.map(|time| time.as_secs_f64()) {
        Some(seconds) if seconds > 0.0 => [
            right(format!("{:.1} µs", seconds * 1e6)),
            right(format!("{:.0}", plan.bytes(outcome.element_bytes) / seconds / 1e9)),
        ],
        _ => [number(None), number(None)],
    }
}

/// A number, without a fraction where it has none; a dash where there is none.
fn number(value: Option<f64>) -> Cell {
    match value {
        None => right("-"),
        Some(value) if value.fract() == 0.0 => right(value),
        Some(value) => right(format!("{value:.2}")),
    }
}

fn right(content: impl ToString) -> Cell {
    Cell::new(content).set_alignment(CellAlignment::Right)
}

fn lesson(variant: &str) -> &'static str {
    match variant {
        "copy" => "the bound: as many bytes, nothing transposed",
        "naive" => "rows read, columns written: a sector for every lane",
        "tiled" => "shared memory turns the tile, but its columns lie in one bank",
        "padded" => "one unused column spreads each column over all banks",
        "swizzled" => "so does permuting each row, without the unused column",
        "dynamic" => "the same, with tile and pitch chosen at the launch",
        _ => "",
    }
}
