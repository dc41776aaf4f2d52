//! The answer as text for a terminal.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use comfy_table::{CellAlignment, Table, presets};

use crate::fold::{Line, fold, unfolded};
use crate::picture::picture;
use crate::{Answer, Formula};

const HEADING: Style = Style::new().bold();
const GOOD: Style = AnsiColor::Green.on_default().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();

impl Answer {
    /// The answer as text: derivation, table, verdict, picture, cures. `all_lanes` shows each lane in the table.
    ///
    /// Contains ANSI styles; print it through a stream that removes them where they are not wanted.
    ///
    /// ```
    /// use tile33_explain::Question;
    /// let question = Question::new("f32[32][32]", "tile[tx][5]", "32x8")?;
    /// assert!(question.answer()?.render(false).contains("32-way conflict"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn render(&self, all_lanes: bool) -> String {
        let mut text = String::new();
        self.write_heading(&mut text);
        if let Some(formula) = &self.formula {
            text.push('\n');
            self.write_formula(&mut text, formula);
        }
        text.push('\n');
        self.write_lanes(&mut text, all_lanes);
        text.push('\n');
        self.write_verdict(&mut text);
        let picture = picture(&self.warp_access);
        if !picture.is_empty() {
            let _ = write!(text, "\n{picture}");
            text.push_str(
                "              each character is the lane served (0 to 9, a to v = 31), * several at one word\n",
            );
        }
        if !self.cures.is_empty() {
            text.push('\n');
            self.write_cures(&mut text);
        }
        if !self.notes.is_empty() {
            text.push('\n');
        }
        for note in &self.notes {
            let _ = writeln!(text, "note: {note}");
        }
        text
    }

    fn is_shared(&self) -> bool {
        self.space == "shared"
    }

    fn write_heading(&self, text: &mut String) {
        let Self {
            op,
            space,
            width,
            access,
            tile,
            layout,
            tile_bytes,
            warp,
            block,
            ..
        } = self;
        let width = crate::verdict::plural(*width, "byte");
        let _ = writeln!(text, "{HEADING}{op}.{space}, {width} per lane: {access}{HEADING:#}");
        let _ = writeln!(
            text,
            "{tile}, {layout}, {tile_bytes} bytes; warp {warp} of a block of {block}"
        );
    }

    fn write_formula(&self, text: &mut String, formula: &Formula) {
        let names: Vec<_> = formula
            .names
            .iter()
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        let mut line = |step: u32, what: &str, how: &str| {
            let _ = writeln!(text, "  {step}. {what:<8} {how}");
        };
        line(
            1,
            "thread",
            &if names.is_empty() {
                "no name of a thread is used".into()
            } else {
                names.join(", ")
            },
        );
        let same = formula.element == formula.element_in_lane;
        let equal = if same {
            String::new()
        } else {
            format!(" = {}", formula.element_in_lane)
        };
        line(2, "index", &format!("{}{equal}", formula.element));
        line(3, "byte", &formula.byte);
        if self.is_shared() {
            let reduced = if formula.bank == formula.bank_reduced {
                String::new()
            } else {
                format!(" = {}", formula.bank_reduced)
            };
            let more = match self.width {
                8 => ", and the bank after it",
                16 => ", and the three banks after it",
                _ => "",
            };
            line(
                4,
                "bank",
                &format!("(byte / 4) mod 32 = {}{reduced}{more}", formula.bank),
            );
        } else {
            line(4, "sector", "byte / 32");
        }
        if let Some(swizzle) = &formula.swizzle {
            let _ = writeln!(text, "     where    {swizzle}");
        }
    }

    fn write_lanes(&self, text: &mut String, all_lanes: bool) {
        let lines = if all_lanes {
            unfolded(&self.lanes)
        } else {
            fold(&self.lanes)
        };
        let last = if self.is_shared() { "bank" } else { "sector" };
        let mut table = plain(&["lane", "element", "index", "byte", "word", last], &[1]);
        for line in &lines {
            if let Line::Lane(lane) = line {
                table.add_row([
                    lane.lane.to_string(),
                    lane.element.clone(),
                    lane.index.to_string(),
                    lane.byte.to_string(),
                    lane.word.to_string(),
                    if self.is_shared() {
                        self.banks_of(lane.bank)
                    } else {
                        lane.sector.to_string()
                    },
                ]);
            }
        }
        // What stands for several lanes has no columns, so that it does not widen them.
        let table = table.to_string();
        let mut rows = table.lines();
        let mut write = |row: &str| {
            let _ = writeln!(text, " {}", row.trim_end());
        };
        if !self.lanes.is_empty() {
            write(rows.next().unwrap_or_default());
        }
        for line in &lines {
            match *line {
                Line::Lane(_) => write(rows.next().unwrap_or_default()),
                Line::Step { lanes, bytes: 0 } => write(&format!("   ..  {lanes} more at the same address")),
                Line::Step { lanes, bytes } => write(&format!("   ..  {lanes} more, {bytes:+} bytes each")),
                Line::Repeat { lanes, every, bytes: 0 } => {
                    write(&format!("   ..  {lanes} more, the same again every {every} lanes"));
                }
                Line::Repeat { lanes, every, bytes } => {
                    write(&format!(
                        "   ..  {lanes} more, the same again every {every} lanes, {bytes:+} bytes"
                    ));
                }
                Line::Idle { first, last } if first == last => write(&format!("{first:>5}  idle")),
                Line::Idle { first, last } => write(&format!("{:>5}  idle", format!("{first}-{last}"))),
            }
        }
    }

    fn banks_of(&self, bank: u32) -> String {
        match self.width.div_ceil(4) {
            0 | 1 => bank.to_string(),
            words => format!("{bank}-{}", bank + words - 1),
        }
    }

    fn write_verdict(&self, text: &mut String) {
        let bad = if self.is_shared() {
            self.excess > 0
        } else {
            self.sectors > self.ideal_sectors
        };
        let style = if bad { BAD } else { GOOD };
        let _ = writeln!(text, "{style}{}{style:#}", self.verdict);
        if self.mask == 0 {
            return;
        }
        if self.is_shared() {
            let wavefronts = crate::verdict::plural(self.wavefronts, "wavefront");
            let _ = match self.excess {
                0 => writeln!(text, "{wavefronts}, as few as these lanes and this width can have"),
                excess => writeln!(
                    text,
                    "{wavefronts} instead of {}: {excess} lost to conflicts",
                    self.ideal
                ),
            };
        }
        if let Some(reason) = &self.reason {
            let _ = writeln!(text, "because {reason}");
        }
    }

    fn write_cures(&self, text: &mut String) {
        let _ = writeln!(text, "{HEADING}what would cure it{HEADING:#}");
        let blocks = format!("blocks/SM ({})", self.card);
        let mut table = plain(
            &["layout", "wavefronts", "a row costs", "bytes", &blocks, "first bank"],
            &[0, 5],
        );
        let row = |wavefronts: Option<u32>| wavefronts.map_or_else(|| "-".into(), |count| count.to_string());
        table.add_row([
            format!("{} (now)", self.layout),
            self.wavefronts.to_string(),
            row(self.row_wavefronts),
            self.tile_bytes.to_string(),
            self.blocks_per_sm.to_string(),
            self.formula
                .as_ref()
                .map_or_else(String::new, |formula| formula.bank_reduced.clone()),
        ]);
        for cure in &self.cures {
            table.add_row([
                cure.layout.clone(),
                cure.wavefronts.to_string(),
                row(cure.row_wavefronts),
                format!("{} ({:+})", cure.bytes, cure.extra_bytes),
                cure.blocks_per_sm.to_string(),
                cure.bank.clone().unwrap_or_default(),
            ]);
        }
        write_table(text, &table);
        for cure in &self.cures {
            let _ = writeln!(
                text,
                "  {}: {}; {}",
                cure.layout,
                cure.layout_type,
                self.vectors(cure.widest_access)
            );
            if let Some(reason) = &cure.reason {
                let _ = writeln!(text, "      {reason}");
            }
        }
    }

    /// What a layout does to accesses of several elements along a row.
    fn vectors(&self, widest: u32) -> String {
        let bytes = crate::verdict::plural(widest, "byte");
        match widest < self.widest_access {
            true => format!(
                "along a row, no access wider than {bytes} stays aligned (now: {})",
                self.widest_access
            ),
            false => format!("along a row, accesses of up to {bytes} stay aligned"),
        }
    }
}

/// A table without lines; columns listed in `left` are aligned to the left, the others to the right.
pub(crate) fn plain(header: &[&str], left: &[usize]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_header(header);
    for (index, column) in table.column_iter_mut().enumerate() {
        let alignment = if left.contains(&index) {
            CellAlignment::Left
        } else {
            CellAlignment::Right
        };
        column.set_cell_alignment(alignment);
    }
    table
}

/// Writes it without blanks at the ends of lines.
pub(crate) fn write_table(text: &mut String, table: &Table) {
    for line in table.to_string().lines() {
        let _ = writeln!(text, " {}", line.trim_end());
    }
}
