//! Tables of text with aligned columns.
//!
//! The one idea: a table is its columns and its rows of finished texts; widths follow from them.
//! Our own sixty lines instead of a crate: those draw frames, wrap cells and need a hundred
//! kilobytes for it; a report needs none of that, but numbers flush right and colour in cells.

use std::io::{self, Write};

use crate::paint::{Look, Paint};

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
}

impl Table {
    /// A table without rows. Columns have a head and a side.
    pub(crate) fn new(columns: &[(&'static str, Side)]) -> Self {
        Self::with_heads(columns.iter().map(|&(head, side)| (head.to_owned(), side)))
    }

    /// A table whose columns are not known beforehand.
    pub(crate) fn with_heads(columns: impl Iterator<Item = (String, Side)>) -> Self {
        Self { columns: columns.collect(), rows: Vec::new() }
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

    /// Prints the table, two spaces in from the margin.
    pub(crate) fn print(&self, out: &mut dyn Write, paint: Paint) -> io::Result<()> {
        let widths: Vec<usize> = (0..self.columns.len()).map(|column| self.width(column)).collect();
        if self.columns.iter().any(|(head, _)| !head.is_empty()) {
            let head: Vec<Cell> =
                self.columns.iter().map(|(head, _)| Cell::new(Look::Faint, head.clone())).collect();
            self.print_row(out, paint, &widths, &head)?;
        }
        self.rows.iter().try_for_each(|row| self.print_row(out, paint, &widths, row))
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.text.chars().count());
        cells.max().unwrap_or(0).max(self.columns[column].0.chars().count())
    }

    fn print_row(&self, out: &mut dyn Write, paint: Paint, widths: &[usize], row: &[Cell]) -> io::Result<()> {
        let mut line = String::from(" ");
        for ((cell, width), (_, side)) in row.iter().zip(widths).zip(&self.columns) {
            let gap = " ".repeat(width.saturating_sub(cell.text.chars().count()));
            let text = paint.paint(cell.look, &cell.text);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::new(&[("name", Side::Left), ("µs", Side::Right), ("", Side::Left)]);
        table.row(["a".into(), "1".into(), "x".into()]);
        table.row(["läng".into(), "1000".into(), "".into()]);
        let mut out = Vec::new();
        table.print(&mut out, Paint::Plain).unwrap();
        let expected = "  name    µs\n  a        1  x\n  läng  1000\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
