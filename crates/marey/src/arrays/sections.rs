//! Exact sections and how often each is accessed, for people and for other programs.
//!
//! The one idea: a section is written as Fortran writes it, with a letter where accesses differ in where they begin:
//! `u(1:100, j), j = 1…50`.

use std::collections::BTreeMap;
use std::io;

use marey_analyze::{ArrayRow, SectionDimension, SectionRow, Statement};
use marey_model::{AccessKind, Nanos, NounId};
use serde::Serialize;

use super::{Page, name};
use crate::format;
use crate::paint::{Look, harmless, note, shorten, title};
use crate::table::{self, Cell, Side, Table};
use crate::words;

/// Letters of dimensions, as loops have them.
const LETTERS: [&str; 7] = ["i", "j", "k", "l", "m", "n", "o"];

/// `u(1:100, j), j = 1…50`.
pub(super) fn in_fortran(array: &str, dimensions: Option<&[SectionDimension]>) -> String {
    let Some(dimensions) = dimensions else { return format!("{array}, not told which elements") };
    if dimensions.is_empty() {
        return array.to_owned();
    }
    let mut where_clauses = String::new();
    let mut texts = Vec::new();
    for (place, it) in dimensions.iter().enumerate() {
        let (least, greatest) = it.first;
        let Some(stride) = it.stride else {
            texts.push(format!("{} of {least}:{greatest}", it.count));
            continue;
        };
        let reach = i128::from(stride) * i128::from(it.count.saturating_sub(1));
        let by = if stride == 1 { String::new() } else { format!(":{stride}") };
        let is_one = it.count == 1;
        if it.count == 0 {
            texts.push("none".to_owned());
            continue;
        }
        if least == greatest {
            let upper = i128::from(least) + reach;
            texts.push(if is_one { least.to_string() } else { format!("{least}:{upper}{by}") });
            continue;
        }
        let letter = LETTERS.get(place).copied().unwrap_or("x");
        let step = if it.step > 1 { format!(" by {}", it.step) } else { String::new() };
        where_clauses.push_str(&format!(", {letter} = {least}…{greatest}{step}"));
        texts.push(if is_one { letter.to_owned() } else { format!("{letter}:{letter}{reach:+}{by}") });
    }
    format!("{array}({}){where_clauses}", texts.join(", "))
}

impl Page<'_> {
    /// One row for sections of a statement that are alike.
    pub(super) fn sections(&mut self, arrays: &[ArrayRow], rows: &[SectionRow]) -> io::Result<()> {
        let remark = "which elements statements access; sections that differ in where they begin only are one row; elements: of one access";
        title(self.out, self.paint, "SECTIONS", remark)?;
        if rows.is_empty() {
            return note(self.out, self.paint, "none");
        }
        let mut table = Table::new(&[
            ("section", Side::Left),
            ("what", Side::Left),
            ("at", Side::Left),
            ("accesses", Side::Right),
            ("elements", Side::Right),
            ("bytes", Side::Right),
            ("time", Side::Right),
            ("an access", Side::Right),
        ])
        .can_spare(&["bytes", "an access", "elements"]);
        for row in rows.iter().take(self.top) {
            let array = arrays.iter().find(|it| it.noun == row.array).map_or_else(String::new, name);
            let sum = row.statement.sum;
            let each = i64::try_from(sum.accesses).unwrap_or(i64::MAX).max(1);
            table.push(vec![
                shorten(&in_fortran(&array, row.dimensions.as_deref()), 60).into(),
                Cell::new(Look::Faint, harmless(&row.statement.verb)),
                words::place(&row.statement.file, row.statement.line).into(),
                format::count(sum.accesses).into(),
                format::count(row.elements / sum.accesses.max(1)).into(),
                format::bytes(sum.bytes).into(),
                format::duration(sum.time).into(),
                format::duration(Nanos(sum.time.0 / each)).into(),
            ]);
        }
        table.print(self.out, self.paint)?;
        table::more(self.out, self.paint, rows.len().saturating_sub(self.top), "row", "rows")
    }
}

/// Sections of one statement for other programs.
#[derive(Serialize)]
pub(super) struct Section {
    section: String,
    dimensions: Option<Vec<Dimension>>,
    accesses: u64,
    elements: u64,
    bytes: u64,
    time_ns: i64,
}

#[derive(Serialize)]
struct Dimension {
    count: u64,
    stride: Option<i64>,
    first: (i64, i64),
    step: u64,
}

/// Sections by what accesses them; `None` = the run has no single accesses.
pub(super) struct Sections<'r>(Option<BTreeMap<Key<'r>, Vec<&'r SectionRow>>>);

/// An array, and what a statement of its is told by.
type Key<'r> = (NounId, AccessKind, &'r str, &'r str, u32, &'r str);

fn key(array: NounId, it: &Statement) -> Key<'_> {
    (array, it.kind, &it.function, &it.file, it.line, &it.verb)
}

impl<'r> Sections<'r> {
    pub(super) fn new(rows: Option<&'r [SectionRow]>) -> Self {
        Self(rows.map(|rows| {
            let mut found: BTreeMap<Key<'r>, Vec<&'r SectionRow>> = BTreeMap::new();
            for row in rows {
                found.entry(key(row.array, &row.statement)).or_default().push(row);
            }
            found
        }))
    }

    /// Those of a statement.
    pub(super) fn of(&self, array: &ArrayRow, statement: &Statement) -> Option<Vec<Section>> {
        let found = self.0.as_ref()?.get(&key(array.noun, statement));
        Some(found.into_iter().flatten().map(|row| section(&array.name, row)).collect())
    }
}

fn section(array: &str, row: &SectionRow) -> Section {
    let dimension = |it: &SectionDimension| Dimension {
        count: it.count,
        stride: it.stride,
        first: it.first,
        step: it.step,
    };
    Section {
        section: in_fortran(array, row.dimensions.as_deref()),
        dimensions: row.dimensions.as_ref().map(|all| all.iter().map(dimension).collect()),
        accesses: row.statement.sum.accesses,
        elements: row.elements,
        bytes: row.statement.sum.bytes,
        time_ns: row.statement.sum.time.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_written_as_fortran_has_them() {
        let dimension = |count: u64, stride: Option<i64>, first: (i64, i64), step: u64| SectionDimension {
            count,
            stride,
            first,
            step,
        };
        let one = |at: i64| dimension(1, Some(1), (at, at), 0);
        let rows = [
            (
                vec![dimension(100, Some(1), (1, 1), 0), dimension(1, Some(1), (1, 50), 1)],
                "u(1:100, j), j = 1…50",
            ),
            (vec![one(4), dimension(20, Some(1), (1, 1), 0)], "u(4, 1:20)"),
            (vec![dimension(4, Some(3), (1, 1), 0), one(1)], "u(1:10:3, 1)"),
            (vec![dimension(4, Some(-3), (10, 10), 0)], "u(10:1:-3)"),
            (vec![dimension(3, Some(1), (1, 21), 5)], "u(i:i+2), i = 1…21 by 5"),
            (vec![dimension(3, Some(-2), (5, 6), 1)], "u(i:i-4:-2), i = 5…6"),
            (vec![dimension(3, None, (1, 9), 0), one(2)], "u(3 of 1:9, 2)"),
            (vec![dimension(0, Some(1), (5, 5), 0), one(2)], "u(none, 2)"),
            (vec![], "u"),
        ];
        for (dimensions, expected) in rows {
            assert_eq!(in_fortran("u", Some(&dimensions)), expected);
        }
        assert_eq!(in_fortran("u", None), "u, not told which elements");
    }
}
