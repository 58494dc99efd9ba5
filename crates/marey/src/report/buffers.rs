//! Which arrays messages come from and go to.
//!
//! The one idea: what of the data cannot be told stands in the same table, with the reason as its name, so the shares of
//! all rows make the whole.

use std::io;

use marey_analyze::{ArrayTraffic, array_traffic};
use marey_model::TEMPORARY;
use serde::Serialize;

use super::{Facts, Page};
use crate::format;
use crate::paint::{Look, harmless, remark};
use crate::table::{Cell, Side, Table};
use crate::words;

/// Prints the table.
pub(super) fn print(page: &mut Page<'_>) -> io::Result<()> {
    let facts = page.facts;
    let rows = array_traffic(facts.trace);
    let whole = bytes(rows.iter());
    if rows.is_empty() {
        page.title("ARRAYS IN MESSAGES", "what point-to-point messages were sent from and received into")?;
        return page.nothing("no messages whose buffers were recorded");
    }
    let known = bytes(rows.iter().filter(|row| row.is_known()));
    let remark = format!(
        "what {} point-to-point messages were sent from and received into; it is known of {} of the data; (…): why not",
        format::count(rows.iter().map(|row| row.sent).fold(0, u64::saturating_add)),
        format::percent(known, whole.max(1)),
    );
    page.title("ARRAYS IN MESSAGES", &remark)?;
    let mut table = Table::new(&[
        ("array", Side::Left),
        ("declared, or made, at", Side::Left),
        ("sent", Side::Right),
        ("messages", Side::Right),
        ("received", Side::Right),
        ("messages", Side::Right),
        ("share", Side::Right),
        ("data goes", Side::Left),
    ])
    .can_spare(&["messages", "data goes"]);
    for row in rows.iter().take(page.top) {
        let place = match row.datum {
            Some(datum) if datum.line != 0 => format!("{}:{}", file_name(&datum.file), datum.line),
            Some(datum) => file_name(&datum.file).to_owned(),
            None => String::new(),
        };
        let look = if row.is_known() { Look::Text } else { Look::Faint };
        table.row([
            Cell::new(look, name(row)),
            harmless(&place).into(),
            of(row.sent, format::bytes(row.sent_bytes)),
            of(row.sent, format::count(row.sent)),
            of(row.received, format::bytes(row.received_bytes)),
            of(row.received, format::count(row.received)),
            format::percent(signed(row.bytes()), whole).into(),
            goes(facts, row).into(),
        ]);
    }
    table.print(page.out, page.paint)?;
    page.more_of(rows.len().saturating_sub(page.top), "array", "arrays")?;
    temporaries(page, &rows)
}

/// Temporaries that are told of by themselves.
const MOST_TEMPORARIES: usize = 3;

/// Says what compilers copy for the sake of messages, and how it can do without.
fn temporaries(page: &mut Page<'_>, rows: &[ArrayTraffic<'_>]) -> io::Result<()> {
    let is_one = |row: &&ArrayTraffic<'_>| row.datum.is_some_and(|datum| datum.name.starts_with(TEMPORARY));
    for (place, row) in rows.iter().filter(is_one).take(MOST_TEMPORARIES).enumerate() {
        let made = row.datum.filter(|datum| datum.line != 0);
        let at = made.map_or_else(String::new, |it| format!(" at {}:{}", file_name(&it.file), it.line));
        let ways =
            [("sent from", row.sent_bytes, row.sent), ("received into", row.received_bytes, row.received)];
        let ways: Vec<String> = ways
            .iter()
            .filter(|(_, _, messages)| *messages > 0)
            .map(|(way, bytes, messages)| {
                let (count, bytes) = (format::count(*messages), format::bytes(*bytes));
                format!("{count} message{} with {bytes} {way} them", if *messages == 1 { "" } else { "s" })
            })
            .collect();
        let remedy = if place == 0 {
            ". What is passed does not lie in one piece, so each call copies it: pass what does, or the array itself with a \
             type such as MPI_Type_vector."
        } else {
            ", as above."
        };
        let text =
            format!("temporaries that the compiler makes{}: {}{remedy}", harmless(&at), ways.join(", "));
        remark(page.out, page.paint, &text)?;
    }
    Ok(())
}

/// A number of messages or their data; nothing where there are none.
fn of(messages: u64, text: String) -> Cell {
    if messages == 0 { Cell::new(Look::Faint, "·") } else { text.into() }
}

fn name(row: &ArrayTraffic<'_>) -> String {
    match row.datum {
        Some(datum) if row.is_known() => harmless(&datum.name),
        Some(datum) => format!("({})", harmless(&datum.name)),
        None => "(no buffer)".to_owned(),
    }
}

/// Between which ranks its data goes, and where most of it does if these are many.
fn goes(facts: &Facts<'_>, row: &ArrayTraffic<'_>) -> String {
    let Some(pattern) = row.pattern(facts.trace) else { return String::new() };
    let text = pattern.to_string();
    match &row.pairs[..] {
        [((from, to), _), _, _, ..] => {
            let short = |id| words::process_short(facts.trace, id);
            format!("{text}, most {} to {}", short(*from), short(*to))
        }
        _ => text,
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn bytes<'a>(rows: impl Iterator<Item = &'a ArrayTraffic<'a>>) -> i64 {
    signed(rows.map(ArrayTraffic::bytes).fold(0, u64::saturating_add))
}

fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// A row for other programs.
#[derive(Serialize)]
pub(super) struct Json<'f> {
    /// Null = messages without a buffer.
    array: Option<&'f str>,
    /// `other` = not known, and `array` says why.
    kind: Option<&'f str>,
    file: Option<&'f str>,
    line: Option<u32>,
    sent_messages: u64,
    sent_bytes: u64,
    received_messages: u64,
    received_bytes: u64,
    pattern: Option<&'static str>,
}

/// All rows.
pub(super) fn json<'f>(facts: &Facts<'f>) -> Vec<Json<'f>> {
    let row = |row: ArrayTraffic<'f>| Json {
        array: row.datum.map(|datum| datum.name.as_str()),
        kind: row.datum.map(|datum| datum.kind.as_str()),
        file: row.datum.map(|datum| datum.file.as_str()).filter(|file| !file.is_empty()),
        line: row.datum.map(|datum| datum.line).filter(|line| *line != 0),
        sent_messages: row.sent,
        sent_bytes: row.sent_bytes,
        received_messages: row.received,
        received_bytes: row.received_bytes,
        pattern: row.pattern(facts.trace).map(|pattern| pattern.name()),
    };
    array_traffic(facts.trace).into_iter().map(row).collect()
}
