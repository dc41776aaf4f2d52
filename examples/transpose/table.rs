//! The table.

use std::fmt::Write;
use std::time::Duration;

use comfy_table::{Cell, ColumnConstraint, Table, presets};

use tile33::layout::banks::{BANK_BYTES, BANKS};
use tile33::layout::{LANES, VECTOR_BYTES};

use crate::common::table::{lessons, number, right, verdict, warps_explained};
use crate::contest::{COUNTED, Outcome, Plan, Row};

/// Bytes of shared memory that one wavefront covers.
const WAVEFRONT_BYTES: usize = BANKS * BANK_BYTES;

/// The table and the sentences around it.
pub fn render(plan: &Plan<'_>, outcome: &Outcome) -> String {
    let mut text = String::new();
    let bits = 8 * outcome.element_bytes;
    let _ = writeln!(
        text,
        "{} x {} elements of {bits} bits on {}\n",
        plan.rows,
        plan.cols,
        plan.device()
    );
    let mut table = Table::new();
    table.load_preset(presets::UTF8_FULL_CONDENSED);
    let mut header = vec![
        "variant",
        "correct",
        "wavefronts\na load",
        "wavefronts\na store",
        "sectors\na load",
        "sectors\na store",
        "shared\nbytes",
        "warps",
    ];
    header.extend(if plan.device().is_cuda() {
        vec!["time", "GB/s"]
    } else {
        vec!["instructions"]
    });
    table.set_header(header);
    for column in table.column_iter_mut() {
        column.set_constraint(ColumnConstraint::ContentWidth);
    }
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
            number(None),
            number(None),
        ];
        cells.extend(timing(plan, outcome, Some(memcpy)));
        table.add_row(cells);
    }
    let _ = writeln!(text, "{table}\n");
    text.push_str(&lessons(outcome.rows.iter().map(|row| (&*row.name, row.lesson))));
    for row in outcome.rows.iter().filter(|row| row.wrong.is_some()) {
        let _ = writeln!(text, "{}: {}", row.name, row.wrong.as_deref().unwrap_or_default());
    }
    let element = outcome.element_bytes;
    let _ = writeln!(
        text,
        "\nA wavefront is one pass over the 32 banks of shared memory; a full warp's load or store needs at least {}.\n\
         A sector is 32 bytes of global memory; a full warp's load or store needs at least {element}.",
        (LANES * element).div_ceil(WAVEFRONT_BYTES)
    );
    if plan.variants.iter().any(|variant| variant.vectors) && element < VECTOR_BYTES {
        let _ = writeln!(
            text,
            "The vector kernel moves {VECTOR_BYTES} bytes a lane: at least {} and {VECTOR_BYTES}, for {} times the elements.",
            (LANES * VECTOR_BYTES).div_ceil(WAVEFRONT_BYTES),
            VECTOR_BYTES / element
        );
    }
    text.push_str(&warps_explained(plan.device().is_cuda()));
    if plan.device().is_cuda() {
        let _ = writeln!(
            text,
            "Wavefronts and sectors: counted by the emulator, for the same PTX on {COUNTED} x {COUNTED} elements.\n\
             Times: the GPU's own, the median of {} launches in turns. GB/s: every element read once and written once.",
            plan.repetitions
        );
    } else if !outcome.whole {
        let _ = writeln!(
            text,
            "Wavefronts: of full warps, counted on {COUNTED} x {COUNTED} elements; at the edges of this matrix some lanes idle."
        );
    }
    text
}

fn cells(plan: &Plan<'_>, outcome: &Outcome, row: &Row) -> Vec<Cell> {
    let (shared, global) = (&row.shared, &row.global);
    let ratio = |sum: u64, requests: u64| number((requests > 0).then(|| sum as f64 / requests as f64));
    let mut cells = vec![
        Cell::new(&row.name),
        verdict(row.wrong.is_none()),
        ratio(shared.shared_load.wavefronts, shared.shared_load.requests),
        ratio(shared.shared_store.wavefronts, shared.shared_store.requests),
        ratio(global.global_load.sectors, global.global_load.requests),
        ratio(global.global_store.sectors, global.global_store.requests),
        right(row.shared_bytes),
        number(row.warps.map(f64::from)),
    ];
    if plan.device().is_cuda() {
        cells.extend(timing(plan, outcome, row.time));
    } else {
        cells.push(right(global.instructions));
    }
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
