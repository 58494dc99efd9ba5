//! A table as Markdown whose columns also line up on a screen.
//!
//! Deliberately absent: what the cells mean, and any rounding but that of figures with their range.

use super::stats::Summary;

/// Rows of cells under heads.
pub(super) struct Table {
    heads: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table.
    pub(super) fn new(heads: &[&'static str]) -> Self {
        Self { heads: heads.to_vec(), rows: Vec::new() }
    }

    /// Adds a row; it has as many cells as there are heads.
    pub(super) fn push(&mut self, cells: Vec<String>) {
        assert_eq!(cells.len(), self.heads.len(), "a row has a cell for each head");
        self.rows.push(cells);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table as text.
    pub(super) fn markdown(&self) -> String {
        let widths: Vec<usize> = (0..self.heads.len())
            .map(|column| {
                let cells = self.rows.iter().map(|row| row[column].chars().count());
                cells.chain([self.heads[column].chars().count()]).max().unwrap_or(0)
            })
            .collect();
        let line = |cells: Vec<&str>| {
            let padded = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
            format!("| {} |\n", padded.collect::<Vec<_>>().join(" | "))
        };
        let rules: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
        let mut text = line(self.heads.clone());
        text += &line(rules.iter().map(String::as_str).collect());
        for row in &self.rows {
            text += &line(row.iter().map(String::as_str).collect());
        }
        text
    }
}

/// `18.0 [17.7–18.3]`, or a dash.
pub(super) fn with_range(summary: Option<Summary>) -> String {
    summary.map_or_else(
        || "–".into(),
        |Summary { median, least, greatest }| {
            let digits = if median.abs() < 100.0 { 1 } else { 0 };
            format!("{median:.digits$} [{least:.digits$}–{greatest:.digits$}]")
        },
    )
}

/// The median alone, or a dash.
pub(super) fn median(summary: Option<Summary>, digits: usize) -> String {
    summary.map_or_else(|| "–".into(), |summary| format!("{:.digits$}", summary.median))
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn columns_line_up() {
        let mut table = Table::new(&["case", "ns"]);
        table.push(vec!["floor".into(), "18.0".into()]);
        assert_eq!(table.markdown(), "| case  | ns   |\n| ----- | ---- |\n| floor | 18.0 |\n");
    }
}
