//! One row a file: how often it was opened, what was read and written, how fast, and by whom.
//!
//! The one idea: a file is looked at for its time first, so the slowest comes first; bandwidth is bytes by the time
//! of the calls that moved them, all threads together. Calls of MPI have rows of their own, for they and the calls
//! beneath them move the same bytes.

use std::io;

use marey_analyze::Deeds;
use marey_model::{IoKind, Level, Nanos};

use super::{Page, waiting};
use crate::format;
use crate::paint::{Look, harmless};
use crate::table::{Cell, Side, Table};

/// Characters of a path that are shown, its end.
const NAME: usize = 40;

/// What a narrow terminal can do without, the least important first.
const SPARE: [&str; 8] = ["seeks", "level", "syncs", "opened", "read/s", "written/s", "reads", "writes"];

/// Prints the table.
pub(super) fn print(page: &mut Page<'_>) -> io::Result<()> {
    let rows = &page.facts.files;
    let has_mpi = rows.iter().any(|row| row.level == Level::MPI);
    let mut remark = "by time; a second: by the time of the calls that moved the bytes".to_owned();
    if has_mpi {
        remark.push_str("; MPI's calls and those beneath them move the same bytes");
    }
    page.title("FILES", &remark)?;
    if rows.is_empty() {
        return page.nothing("none");
    }
    let has_seeks = rows.iter().any(|row| row.of(IoKind::Seek).calls > 0);
    let heads = [("file", Side::Left)].into_iter();
    let heads = heads.chain(has_mpi.then_some(("level", Side::Left)));
    let of_moves =
        ["opened", "reads", "read", "read in", "read/s", "writes", "written", "written in", "written/s"];
    let heads = heads.chain(of_moves.map(right));
    let heads = heads.chain(has_seeks.then_some(right("seeks")));
    let heads: Vec<(&str, Side)> =
        heads.chain(["syncs", "synced in"].map(right)).chain([("by", Side::Left)]).collect();
    let mut table = Table::new(&heads).can_spare(&SPARE);
    for row in rows.iter().take(page.top) {
        let mut cells = vec![Cell::from(short(row.name))];
        cells.extend(has_mpi.then(|| Cell::new(Look::Faint, row.level)));
        cells.push(calls(row.of(IoKind::Open)).into());
        for kind in [IoKind::Read, IoKind::Write] {
            let deeds = row.of(kind);
            let bytes = if deeds.calls > deeds.untimed { format::bytes(deeds.bytes) } else { String::new() };
            cells.extend([calls(deeds), bytes, time(deeds), speed(deeds)].map(Cell::from));
        }
        cells.extend(has_seeks.then(|| calls(row.of(IoKind::Seek)).into()));
        let syncs = row.of(IoKind::Sync);
        cells.extend(
            [calls(syncs), time(syncs), waiting::by(page.facts.trace, &row.processes)].map(Cell::from),
        );
        table.push(cells);
    }
    table.print(page.out, page.paint)?;
    page.more(rows.len().saturating_sub(page.top), "file")
}

fn right(head: &'static str) -> (&'static str, Side) {
    (head, Side::Right)
}

/// The end of a path: what tells it from others.
fn short(name: &str) -> String {
    let name = if name.is_empty() { "(unknown)".to_owned() } else { harmless(name) };
    match name.chars().count().checked_sub(NAME) {
        None | Some(0) => name,
        Some(more) => format!("…{}", name.chars().skip(more + 1).collect::<String>()),
    }
}

fn calls(deeds: Deeds) -> String {
    if deeds.calls == 0 { String::new() } else { format::count(deeds.calls) }
}

fn time(deeds: Deeds) -> String {
    match (deeds.calls, deeds.time) {
        (0, Nanos(0)) => String::new(),
        // No time is known, which is not the same as none.
        (calls @ 1.., Nanos(0)) if calls == deeds.untimed => "counted".to_owned(),
        _ => format::duration(deeds.time),
    }
}

fn speed(deeds: Deeds) -> String {
    let Deeds { bytes, time: Nanos(ns), .. } = deeds;
    if bytes == 0 || ns <= 0 {
        return String::new();
    }
    let a_second = u128::from(bytes) * 1_000_000_000 / u128::from(ns.cast_unsigned());
    format!("{}/s", format::bytes(u64::try_from(a_second).unwrap_or(u64::MAX)))
}
