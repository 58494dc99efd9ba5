//! What subscripts and images of the source were worth, for people and for other programs.
//!
//! The one idea: `u(lo:hi, j)[left]` says nothing by itself; beside each name stands what it was worth, and how often that
//! changed. One row an expression; values of single processes are for other programs.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use marey_archive::{SourceSymbols, source_symbols};
use serde::Serialize;

use super::Page;
use crate::format;
use crate::paint::{Look, harmless, note, shorten, title};
use crate::run::Run;
use crate::table::{self, Cell, Side, Table};
use crate::words;

/// An expression of a reference, and what it was worth.
#[derive(Debug, Serialize)]
pub(super) struct Symbol {
    array: String,
    reference: String,
    file: String,
    line: u32,
    end: &'static str,
    subscript: usize,
    symbol: String,
    least: i64,
    greatest: i64,
    changes: u64,
    accesses: u64,
    locations: Vec<At>,
}

#[derive(Debug, Serialize)]
struct At {
    location: u32,
    values: Vec<Worth>,
}

#[derive(Debug, Serialize)]
struct Worth {
    from_ns: i64,
    least: i64,
    greatest: i64,
    changes: u64,
    accesses: u64,
}

/// What a run has kept, in the order of the text; of arrays whose name is wanted.
pub(super) fn of(run: &Run, array: Option<&str>) -> anyhow::Result<Vec<Symbol>> {
    let known = source_symbols(&run.archive)?;
    let rows = run.archive.table("symbols")?;
    let places = places(&known);
    let mut found: BTreeMap<(usize, usize), Symbol> = BTreeMap::new();
    let unsigned = |number: i64| u64::try_from(number).unwrap_or(0);
    for row in 0..rows.len() {
        let Some(place) = places.get(&rows.u32("symbol")?[row]) else { continue };
        let (reference, symbol) = *place;
        let of = &known.references[reference];
        let is_wanted =
            |name: &str| name.rsplit("::").next().is_some_and(|it| it.eq_ignore_ascii_case(&of.array));
        if !array.is_none_or(is_wanted) {
            continue;
        }
        let worth = Worth {
            from_ns: rows.i64("from")?[row],
            least: rows.i64("least")?[row],
            greatest: rows.i64("greatest")?[row],
            changes: unsigned(rows.i64("changes")?[row]),
            accesses: unsigned(rows.i64("accesses")?[row]),
        };
        let it = found.entry(*place).or_insert_with(|| Symbol {
            array: of.array.clone(),
            reference: known.texts[reference].clone(),
            file: of.file.clone(),
            line: of.line,
            end: of.symbols[symbol].end.name(),
            subscript: of.symbols[symbol].subscript,
            symbol: known.symbols[reference][symbol].clone(),
            least: i64::MAX,
            greatest: i64::MIN,
            changes: 0,
            accesses: 0,
            locations: Vec::new(),
        });
        (it.least, it.greatest) = (it.least.min(worth.least), it.greatest.max(worth.greatest));
        it.changes = it.changes.saturating_add(worth.changes);
        it.accesses = it.accesses.saturating_add(worth.accesses);
        let location = rows.u32("location")?[row];
        match it.locations.last_mut().filter(|last| last.location == location) {
            Some(last) => last.values.push(worth),
            None => it.locations.push(At { location, values: vec![worth] }),
        }
    }
    Ok(found.into_values().collect())
}

/// By number of an expression, its reference and its place there.
fn places(known: &SourceSymbols) -> BTreeMap<u32, (usize, usize)> {
    let of = |(reference, ids): (usize, &Vec<u32>)| {
        ids.iter().enumerate().map(move |(symbol, id)| (*id, (reference, symbol))).collect::<Vec<_>>()
    };
    known.ids.iter().enumerate().flat_map(of).collect()
}

/// `3 on each`, or `from 1 to 4`.
fn in_words(it: &Symbol) -> String {
    if it.least == it.greatest { it.least.to_string() } else { format!("{} to {}", it.least, it.greatest) }
}

impl Page<'_> {
    /// One row an expression.
    pub(super) fn symbols(&mut self, rows: &[Symbol]) -> io::Result<()> {
        let remark = "what subscripts and images were worth that the text does not say; changes: how often a process had another \
                      value than before, by the mean of all; subscripts count as the array was made, images as the first team does";
        title(self.out, self.paint, "SYMBOLS", remark)?;
        if rows.is_empty() {
            let text = "none: they are kept where sources are found when a run is recorded, of references to coarrays of other \
                        images whose single accesses are recorded";
            return note(self.out, self.paint, text);
        }
        let mut table = Table::new(&[
            ("symbol", Side::Left),
            ("worth", Side::Left),
            ("says", Side::Left),
            ("of", Side::Left),
            ("at", Side::Left),
            ("on", Side::Right),
            ("changes", Side::Right),
            ("accesses", Side::Right),
        ])
        .can_spare(&["on", "changes"]);
        for it in rows.iter().take(self.top) {
            let processes: BTreeSet<_> = it
                .locations
                .iter()
                .filter_map(|at| self.trace.locations().get(at.location as usize))
                .map(|location| location.process)
                .collect();
            let says = match it.end {
                "image" => "image".to_owned(),
                "subscript" => format!("subscript {}", it.subscript + 1),
                end => format!("{end} of subscript {}", it.subscript + 1),
            };
            let again =
                it.changes.saturating_sub(it.locations.len() as u64) / (it.locations.len() as u64).max(1);
            table.push(vec![
                shorten(&harmless(&it.symbol), 24).into(),
                in_words(it).into(),
                Cell::new(Look::Faint, says),
                shorten(&harmless(&it.reference), 40).into(),
                words::place(&it.file, it.line).into(),
                format::count(processes.len() as u64).into(),
                format::count(again).into(),
                format::count(it.accesses).into(),
            ]);
        }
        table.print(self.out, self.paint)?;
        table::more(self.out, self.paint, rows.len().saturating_sub(self.top), "expression", "expressions")
    }
}
