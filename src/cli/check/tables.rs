//! Counters as tables.

use std::collections::BTreeMap;
use std::fmt::Write;

use comfy_table::presets::UTF8_HORIZONTAL_ONLY;
use comfy_table::{CellAlignment, Table};
use tile33_sim::{Counters, GlobalCounters, Report, SharedCounters};

use super::sources::Sources;

/// Lines of the table of places.
const MOST_PLACES: usize = 10;

/// Totals, the places that cost more than they must, and what limits the occupancy.
pub(super) fn text(report: &Report, sources: &Sources<'_>) -> String {
    let mut text = String::new();
    let c = &report.counters;
    let shared = [
        ("shared load", c.shared_load),
        ("shared store", c.shared_store),
        ("shared atomic", c.shared_atomic),
    ];
    let global = [
        ("global load", c.global_load),
        ("global store", c.global_store),
        ("global atomic", c.global_atomic),
    ];
    let mut totals = table(["", "requests", "wavefronts", "ideal", "excess"]);
    for (
        name,
        SharedCounters {
            requests,
            wavefronts,
            ideal,
        },
    ) in shared.into_iter().filter(|(_, c)| c.requests > 0)
    {
        row(
            &mut totals,
            name,
            [requests, wavefronts, ideal, wavefronts.saturating_sub(ideal)],
        );
    }
    section(&mut text, &totals);
    let mut totals = table(["", "requests", "sectors", "ideal", "excess"]);
    for (
        name,
        GlobalCounters {
            requests,
            sectors,
            ideal_sectors,
        },
    ) in global.into_iter().filter(|(_, c)| c.requests > 0)
    {
        row(
            &mut totals,
            name,
            [requests, sectors, ideal_sectors, sectors.saturating_sub(ideal_sectors)],
        );
    }
    section(&mut text, &totals);
    places(&mut text, report, sources);
    let _ = writeln!(
        text,
        "{} warp instructions, {} lane instructions, {} barriers, {} branches of which {} diverged",
        c.instructions, c.lane_instructions, c.barriers, c.branches, c.divergent_branches
    );
    if let Some(r) = &report.residency {
        let _ = writeln!(
            text,
            "{}: {} blocks on a multiprocessor, {} % of its warps, limited by {} ({} + {} bytes of shared memory a block)",
            r.card, r.blocks_per_sm, r.occupancy_percent, r.limited_by, r.static_shared, r.dynamic_shared
        );
        let declared: Vec<String> = r
            .declared_registers
            .iter()
            .map(|d| match d.bits {
                1 => format!("{} predicates", d.count),
                bits => format!("{} of {bits} bits", d.count),
            })
            .collect();
        if !declared.is_empty() {
            let known = r
                .registers
                .map_or_else(String::new, |n| format!("; {n} real ones a thread"));
            let _ = writeln!(text, "virtual registers declared: {}{known}", declared.join(", "));
        }
    }
    text
}

/// The steps of the traced warp: which lanes ran together, and which of them were predicated off.
pub(super) fn trace(report: &Report) -> String {
    let mut text = String::new();
    if report.trace.is_empty() {
        return text;
    }
    let _ = writeln!(
        text,
        "{:>6}  {:<32}  {:>5}  instruction",
        "step", "lanes 31 .. 0", "line"
    );
    for (step, traced) in report.trace.iter().enumerate() {
        let lane = |lane: u32| match (traced.lanes >> lane & 1, traced.active >> lane & 1) {
            (0, _) => '.',
            (_, 0) => '-',
            _ => '#',
        };
        let lanes: String = (0..32).rev().map(lane).collect();
        let _ = writeln!(text, "{step:>6}  {lanes}  {:>5}  {}", traced.line, traced.instruction);
    }
    text.push_str("        # ran, - predicated off, . elsewhere or done\n\n");
    text
}

/// Source lines whose accesses cost more than they must, the worst first.
fn places(text: &mut String, report: &Report, sources: &Sources<'_>) {
    let mut lines: BTreeMap<String, Counters> = BTreeMap::new();
    for instruction in &report.per_instruction {
        let name = sources.name(instruction.line, instruction.source.as_ref());
        *lines.entry(name).or_default() += instruction.counters;
    }
    let excess = |c: &Counters| {
        let shared = [c.shared_load, c.shared_store, c.shared_atomic];
        shared.iter().map(|c| c.wavefronts.saturating_sub(c.ideal)).sum::<u64>()
    };
    let mut lines: Vec<_> = lines
        .into_iter()
        .map(|(name, c)| (excess(&c), name, c))
        .filter(|(n, ..)| *n > 0)
        .collect();
    lines.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let hidden = lines.len().saturating_sub(MOST_PLACES);
    let mut costly = table(["bank conflicts at", "requests", "wavefronts", "ideal", "excess"]);
    for (excess, name, c) in lines.into_iter().take(MOST_PLACES) {
        let sum = |field: fn(&SharedCounters) -> u64| {
            field(&c.shared_load) + field(&c.shared_store) + field(&c.shared_atomic)
        };
        row(
            &mut costly,
            &name,
            [sum(|c| c.requests), sum(|c| c.wavefronts), sum(|c| c.ideal), excess],
        );
    }
    section(text, &costly);
    if hidden > 0 {
        let _ = writeln!(text, "and {hidden} more lines\n");
    }
}

fn table(header: [&str; 5]) -> Table {
    let mut table = Table::new();
    table.load_preset(UTF8_HORIZONTAL_ONLY).set_header(header);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn row(table: &mut Table, name: &str, numbers: [u64; 4]) {
    table.add_row([name.to_owned()].into_iter().chain(numbers.map(|n| n.to_string())));
}

/// The table, unless it has no rows.
fn section(text: &mut String, table: &Table) {
    if table.row_count() > 0 {
        let _ = writeln!(text, "{table}\n");
    }
}
