//! Tables of text with aligned columns.
//!
//! The one idea: a table is its columns and its rows of finished texts; widths follow from them.
//! Our own sixty lines instead of a crate: those draw frames, wrap cells and need a hundred
//! kilobytes for it; a report needs none of that, but numbers flush right and colour in cells.

use std::io::{self, Write};

use crate::format;
use crate::paint::{Look, Paint, shorten, wrap};

/// Which side of its column a text stands at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Names.
    Left,
    /// Numbers.
    Right,
}

/// A cell: its text and what it looks like.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    text: String,
    look: Look,
}

impl Cell {
    /// A cell that does not look like the others.
    pub(crate) fn new(look: Look, text: impl Into<String>) -> Self {
        Self { text: text.into(), look }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::new(Look::Text, text)
    }
}

/// A table in the making.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<(String, Side)>,
    rows: Vec<Vec<Cell>>,
    /// Heads of columns to do without on a narrow terminal, the least important first.
    spare: Vec<String>,
}

/// Texts are cut to so many characters before columns are left out …
const SHORT: usize = 16;
/// … and to so many if that is not enough.
const SHORTEST: usize = 8;

impl Table {
    /// A table without rows. Columns have a head and a side.
    pub(crate) fn new(columns: &[(&'static str, Side)]) -> Self {
        Self::with_heads(columns.iter().map(|&(head, side)| (head.to_owned(), side)))
    }

    /// A table whose columns are not known beforehand.
    pub(crate) fn with_heads(columns: impl Iterator<Item = (String, Side)>) -> Self {
        Self { columns: columns.collect(), rows: Vec::new(), spare: Vec::new() }
    }

    /// The same with columns to do without where they do not fit, the least important first. Bars,
    /// which only repeat a number, go before all.
    pub(crate) fn can_spare(self, heads: &[&str]) -> Self {
        Self { spare: heads.iter().map(|&head| head.to_owned()).collect(), ..self }
    }

    /// Appends a row: one cell for each column.
    pub(crate) fn row<const N: usize>(&mut self, cells: [Cell; N]) {
        self.push(cells.into());
    }

    /// Appends a row of which the number of cells is not known beforehand.
    pub(crate) fn push(&mut self, cells: Vec<Cell>) {
        debug_assert_eq!(cells.len(), self.columns.len());
        self.rows.push(cells);
    }

    /// Whether the table has its place on a line as it is.
    pub(crate) fn fits(&self, width: usize) -> bool {
        line_len(&(0..self.columns.len()).map(|column| self.width(column)).collect::<Vec<_>>()) <= width
    }

    /// Prints the table, two spaces in from the margin, and says what was left out.
    pub(crate) fn print(&self, out: &mut dyn Write, paint: Paint) -> io::Result<()> {
        let (widths, left_out) = self.layout(paint.width());
        if self.columns.iter().any(|(head, _)| !head.is_empty()) {
            let head: Vec<Cell> =
                self.columns.iter().map(|(head, _)| Cell::new(Look::Faint, head.clone())).collect();
            self.print_row(out, paint, &widths, &head)?;
        }
        self.rows.iter().try_for_each(|row| self.print_row(out, paint, &widths, row))?;
        if left_out.is_empty() {
            return Ok(());
        }
        let remark = format!("not shown, for want of space: {}", left_out.join(", "));
        let lines = wrap(&remark, paint.prose_width() - 2);
        lines.iter().try_for_each(|line| writeln!(out, "  {}", paint.paint(Look::Faint, line)))
    }

    /// The width of each column, 0 for those that are left out, and the heads of the latter.
    fn layout(&self, width: usize) -> (Vec<usize>, Vec<&str>) {
        let mut widths: Vec<usize> = (0..self.columns.len()).map(|column| self.width(column)).collect();
        let mut left_out = Vec::new();
        if line_len(&widths) <= width {
            return (widths, left_out);
        }
        for (column, width) in widths.iter_mut().enumerate() {
            if self.rows.iter().any(|row| row[column].look == Look::Bar) {
                *width = 0;
            }
        }
        self.shorten_to(&mut widths, width, SHORT);
        for head in &self.spare {
            let place = self.columns.iter().position(|column| column.0 == *head);
            if let Some(column) = place.filter(|_| width < line_len(&widths)) {
                widths[column] = 0;
                left_out.push(head);
            }
        }
        self.shorten_to(&mut widths, width, SHORTEST);
        (widths, left_out)
    }

    /// Takes what is too much from the texts, the longest first, but leaves `least` of each.
    fn shorten_to(&self, widths: &mut [usize], width: usize, least: usize) {
        while let Some(excess) = line_len(widths).checked_sub(width).filter(|&excess| excess != 0) {
            let texts = widths.iter_mut().zip(&self.columns).filter(|(_, column)| column.1 == Side::Left);
            match texts.map(|(width, _)| width).max() {
                Some(longest) if least < *longest => *longest -= excess.min(*longest - least),
                _ => return,
            }
        }
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.text.chars().count());
        cells.max().unwrap_or(0).max(self.columns[column].0.chars().count())
    }

    fn print_row(&self, out: &mut dyn Write, paint: Paint, widths: &[usize], row: &[Cell]) -> io::Result<()> {
        let mut line = String::from(" ");
        for ((cell, &width), (_, side)) in row.iter().zip(widths).zip(&self.columns) {
            if width == 0 {
                continue;
            }
            let text = shorten(&cell.text, width);
            let gap = " ".repeat(width - text.chars().count());
            let text = paint.paint(cell.look, &text);
            line.push(' ');
            match side {
                Side::Left => line.extend([text, gap]),
                Side::Right => line.extend([gap, text]),
            }
            line.push(' ');
        }
        writeln!(out, "{}", line.trim_end())
    }
}

/// A line that says what a table leaves out.
pub(crate) fn more(out: &mut dyn Write, paint: Paint, rows: usize, one: &str, many: &str) -> io::Result<()> {
    if rows == 0 {
        return Ok(());
    }
    let text = format!("… {} more {}", format::count(rows as u64), if rows == 1 { one } else { many });
    writeln!(out, "  {}", paint.paint(Look::Faint, &text))
}

/// Characters of a line with such columns: each has a space on both sides, of which the last is
/// not printed, and the line begins with one.
fn line_len(widths: &[usize]) -> usize {
    widths.iter().filter(|&&width| width != 0).map(|width| width + 2).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::new(&[("name", Side::Left), ("µs", Side::Right), ("", Side::Left)]);
        table.row(["a".into(), "1".into(), "x".into()]);
        table.row(["läng".into(), "1000".into(), "".into()]);
        let mut out = Vec::new();
        table.print(&mut out, Paint::plain(80)).unwrap();
        let expected = "  name    µs\n  a        1  x\n  läng  1000\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
    /// What a table of a long name, a number, a spare number and a bar becomes.
    fn check(width: usize, expected: &str) {
        let columns = [("name", Side::Left), ("n", Side::Right), ("more", Side::Right), ("", Side::Left)];
        let mut table = Table::new(&columns).can_spare(&["more"]);
        let bar = Cell::new(Look::Bar, "████");
        table.row(["a function with a long name".into(), "123456".into(), "987654".into(), bar]);
        let mut out = Vec::new();
        table.print(&mut out, Paint::plain(width)).unwrap();
        let found = String::from_utf8(out).unwrap();
        assert_eq!(found, expected);
        for line in found.lines() {
            assert!(line.chars().count() <= width, "{line}");
        }
    }

    #[test]
    fn a_table_gives_up_bars_then_parts_of_names_then_spare_columns() {
        let head = "  name                              n    more";
        check(51, &format!("{head}\n  a function with a long name  123456  987654  ████\n"));
        check(50, &format!("{head}\n  a function with a long name  123456  987654\n"));
        check(40, "  name                         n    more\n  a function … long name  123456  987654\n");
        let remark = "  not shown, for want of\n  space: more\n";
        check(26, &format!("  name                   n\n  a functi…ng name  123456\n{remark}"));
    }
}
