//! The trade-off table as text.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};

use crate::advise::ratio;
use crate::render::{plain, write_table};
use crate::{Advice, Served};

const HEADING: Style = Style::new().bold();
const ADVICE: Style = AnsiColor::Green.on_default().bold();

impl Advice {
    /// The advice as text: the accesses, the table, what to do.
    ///
    /// Contains ANSI styles; print it through a stream that removes them where they are not wanted.
    ///
    /// ```
    /// use tile33_explain::Plan;
    /// let plan = Plan::new("f32[32][32]", &["st tile[ty][tx]", "ld tile[tx][ty]"], "32x8")?;
    /// let advice = plan.advise(false)?;
    /// assert!(advice.render().contains("pitch 33"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn render(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{HEADING}{}, block of {}, {} layouts tried{HEADING:#}",
            self.tile, self.block, self.tried
        );
        for (number, access) in (1..).zip(&self.accesses) {
            let _ = writeln!(text, "  ({number}) {access}");
        }
        text.push('\n');
        let numbers: Vec<String> = (1..=self.accesses.len()).map(|number| format!("({number})")).collect();
        let blocks = format!("blocks/SM ({})", self.card);
        let mut header = vec!["", "layout"];
        header.extend(numbers.iter().map(String::as_str));
        header.extend(["all", "bytes", "widest access", &blocks, "type"]);
        let last = header.len() - 1;
        let mut table = plain(&header, &[0, 1, last]);
        for (index, row) in self.table.iter().enumerate() {
            let mut cells = vec![
                if index == self.best { ">".into() } else { String::new() },
                if index == 0 {
                    format!("{} (now)", row.layout)
                } else {
                    row.layout.clone()
                },
            ];
            cells.extend(row.costs.iter().map(|cost| match cost {
                Served::Cost(cost) => ratio(cost.wavefronts, cost.requests),
                Served::Problem { problem } => problem.clone(),
            }));
            cells.push(row.wavefronts.map_or_else(|| "-".into(), |all| row.per_request(all)));
            cells.push(row.bytes.to_string());
            cells.push(row.widest_access.to_string());
            cells.push(row.blocks_per_sm.to_string());
            cells.push(row.layout_type.clone());
            table.add_row(cells);
        }
        write_table(&mut text, &table);
        text.push_str(
            "  (1), (2), ..: wavefronts of a warp; widest access: bytes, along a row, aligned everywhere\n\n",
        );
        for (index, remark) in self.remarks.iter().enumerate() {
            let style = if index == 0 { ADVICE } else { Style::new() };
            let _ = writeln!(text, "{style}{remark}{style:#}");
        }
        text
    }
}
