//! What lays data out otherwise, for people and for other programs.
//!
//! The one idea: a transposition is one line of a source, whatever it is made of; so accesses, collective operations and
//! messages stand in one table, each with what it says.

use std::io;

use marey_analyze::{ArrayRow, RedistributedBy, Redistribution, redistributions};
use marey_archive::all_to_all;
use marey_model::Nanos;
use serde::Serialize;

use super::{Page, time_of};
use crate::exit::say;
use crate::format;
use crate::paint::{Look, harmless, note, shorten, title};
use crate::run::Run;
use crate::table::{self, Cell, Side, Table};
use crate::words;

/// The same for other programs.
#[derive(Debug, Serialize)]
pub(super) struct Json {
    by: &'static str,
    verb: String,
    from: String,
    to: String,
    function: String,
    file: String,
    line: u32,
    times: u64,
    bytes: u64,
    time_ns: Option<i64>,
}

/// Of a run; of arrays whose name is wanted. What cannot be read of it is warned of.
pub(super) fn of(run: &Run, rows: &[ArrayRow], array: Option<&str>) -> anyhow::Result<Vec<Redistribution>> {
    let (operations, damage) = all_to_all(&run.archive, &run.trace)?;
    for error in damage {
        say(&format!("{error}; collective operations in it are missing among what redistributes"));
    }
    let found = redistributions(&run.trace, rows, &operations);
    Ok(match array {
        Some(name) => of_array(found, name),
        None => found,
    })
}

/// Those from or to an array.
pub(super) fn of_array(mut found: Vec<Redistribution>, name: &str) -> Vec<Redistribution> {
    let is_it = |other: &str| other.eq_ignore_ascii_case(name);
    found.retain(|it| is_it(&it.from) || is_it(&it.to));
    found
}

pub(super) fn json(found: Vec<Redistribution>) -> Vec<Json> {
    let of = |it: Redistribution| Json {
        by: it.by.name(),
        verb: it.verb,
        from: it.from,
        to: it.to,
        function: it.function,
        file: it.file,
        line: it.line,
        times: it.times,
        bytes: it.bytes,
        time_ns: it.time.map(|time| time.0),
    };
    found.into_iter().map(of).collect()
}

/// `u → v`; what is not known is left out.
fn data(it: &Redistribution) -> String {
    let (from, to) = (harmless(&it.from), harmless(&it.to));
    match (from.is_empty(), to.is_empty()) {
        (true, true) => "(not known)".to_owned(),
        (false, true) => format!("{from} →"),
        (true, false) => format!("→ {to}"),
        (false, false) if from == to => from,
        (false, false) => format!("{from} → {to}"),
    }
}

impl Page<'_> {
    /// One row a statement; nothing without any, unless that is what was asked for.
    pub(super) fn redistributions(&mut self, rows: &[Redistribution], is_asked: bool) -> io::Result<()> {
        if rows.is_empty() && !is_asked {
            return Ok(());
        }
        let remark = "what moves data from each rank to each other, as a transposition does; times: accesses, operations or messages; \
                      time: of the calls, all threads together; of messages it is not known";
        title(self.out, self.paint, "REDISTRIBUTION", remark)?;
        if rows.is_empty() {
            let text = "none: no array is accessed by each rank with each other, no MPI_Alltoall was called, and no datum is sent \
                        from each rank to each other";
            return note(self.out, self.paint, text);
        }
        let whole = time_of(self.trace).0;
        let mut table = Table::new(&[
            ("data", Side::Left),
            ("by", Side::Left),
            ("at", Side::Left),
            ("in", Side::Left),
            ("times", Side::Right),
            ("bytes", Side::Right),
            ("time", Side::Right),
            ("share", Side::Right),
        ])
        .can_spare(&["in", "bytes"]);
        for it in rows.iter().take(self.top) {
            let by = match it.by {
                RedistributedBy::Messages => "messages".to_owned(),
                _ => harmless(&it.verb),
            };
            table.push(vec![
                shorten(&data(it), 40).into(),
                by.into(),
                words::place(&it.file, it.line).into(),
                Cell::new(
                    Look::Faint,
                    if it.file.is_empty() || !it.function.is_empty() {
                        shorten(&words::function(&it.function), 24)
                    } else {
                        String::new()
                    },
                ),
                format::count(it.times).into(),
                format::bytes(it.bytes).into(),
                it.time.map_or_else(String::new, format::duration).into(),
                it.time.map_or_else(String::new, |time| format::percent(time.0, whole)).into(),
            ]);
        }
        table.print(self.out, self.paint)?;
        let more = rows.len().saturating_sub(self.top);
        table::more(self.out, self.paint, more, "place", "places")?;
        let time = rows.iter().filter_map(|it| it.time).fold(Nanos(0), |sum, time| sum + time);
        if rows.len() > 1 && time > Nanos(0) {
            let text = format!("together {}, {}", format::duration(time), format::percent(time.0, whole));
            note(self.out, self.paint, &text)?;
        }
        Ok(())
    }
}
