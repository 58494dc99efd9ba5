//! ALOG, the text format of upshot and nupshot, and of MPICH's first logging library.
//!
//! The one idea: a line is a record, six numbers and a text. A log is read twice: first for which processes there are, so
//! that they are in the order of their ranks, then for what happened.
//!
//! * [`line`]: a line's fields. * [`header`]: what numbers mean. * [`convert`]: what becomes of lines.
//!
//! Source of the layout: nupshot's reader, `clog2alog`, and TAU's writer, which leaves lines that are none. Deliberately
//! absent: colours and bitmaps; how data were to be printed.

mod convert;
mod header;
mod line;

use std::collections::BTreeSet;
use std::path::Path;

pub(crate) use self::convert::Convert;
pub(crate) use self::header::Header;
use self::line::Lines;
pub(crate) use self::line::{Line, Time};
use crate::draft::{self, Draft};
use crate::problems::kind;
use crate::{Error, Fate, Imported, Progress, mpe};

/// Processes that are told apart, more than any log has.
pub(crate) const MOST_PROCESSES: usize = 1 << 20;

/// Whether a file that begins so is a log: its first line that is no comment is one of a header.
pub(crate) fn is_beginning(beginning: &[u8]) -> bool {
    let mut lines = beginning.split(|byte| *byte == b'\n').filter(|line| !line::is_comment(line));
    let first = lines.next().and_then(Line::of);
    first.is_some_and(|line| (-100..=-1).contains(&line.event))
}

/// Turns a log into a spool.
///
/// # Errors
/// If files cannot be read or written.
pub(crate) fn import(file: &Path, spool: &Path, progress: &dyn Progress) -> Result<Imported, Error> {
    let mut lines = Lines::open(file)?;
    progress.begin(2 * lines.len());
    let (mut ranks, mut has_messages) = (BTreeSet::new(), false);
    let mut half = |bytes: u64| progress.advance(bytes / 2);
    lines.each(&mut half, &mut |line| {
        let rank = line.filter(|line| line.is_event()).and_then(|line| mpe::rank(line.process));
        has_messages |= line.is_some_and(|line| matches!(line.event, mpe::SEND | mpe::RECEIVE));
        ranks.extend(rank.filter(|_| ranks.len() < MOST_PROCESSES));
        Ok(())
    })?;
    let mut lines = Lines::open(file)?;
    let mut draft = Draft::new(&draft::beside(spool), "ALOG");
    let mut convert = Convert::new(&mut draft, &ranks, Header::new(has_messages));
    let mut rest = |bytes: u64| progress.advance(bytes - bytes / 2);
    lines.each(&mut rest, &mut |line| convert.line(line))?;
    let (header, count) = convert.end();
    if let Some(creator) = &header.creator {
        draft.recorder = format!("ALOG of {creator}");
    }
    draft.problems.add(kind::DAMAGED, "lines that are no records", count.strays);
    let mut imported = draft.finish(spool, (progress, lines.len()))?;
    for (event, number) in count.definitions {
        let row = header::KINDS.iter().find(|kind| kind.event == event);
        let (name, fate) =
            row.map_or((format!("header line {event}"), Fate::Ignored), |row| (row.named(), row.fate));
        imported.definitions.push((name, fate, number));
    }
    imported.events = count.records.values().sum();
    for (name, number) in count.records {
        let fate = RECORDS.iter().find(|it| it.0 == name).map_or(Fate::Kept, |it| it.1);
        imported.records.push((name.to_owned(), fate, number));
    }
    imported.definitions.sort();
    imported.records.sort();
    Ok(imported)
}

/// Kinds of records, and what they are in a run.
const RECORDS: [(&str, Fate, &str); 5] = [
    (
        record::STATE,
        Fate::Mapped,
        "enter or leave of a region; data other than 0 and comments are a fact about it, `data` or `data at the end`",
    ),
    (record::SEND, Fate::Mapped, "sends"),
    (record::RECEIVE, Fate::Mapped, "receives"),
    (record::EVENT, Fate::Kept, "an event with these fields: `data`, and `comment` if there is one"),
    (record::TIMES, Fate::Kept, "the same"),
];

/// Names of records; the format has none.
mod record {
    pub(super) const STATE: &str = "start or end of a state";
    pub(super) const SEND: &str = "-101 send";
    pub(super) const RECEIVE: &str = "-102 receive";
    pub(super) const EVENT: &str = "event";
    pub(super) const TIMES: &str = "-100 clock";
}

/// The tables of header lines and records, with what becomes of them, in Markdown.
pub(crate) fn document() -> String {
    let mut text = String::from(
        "\n## ALOG\n\nThe text format of upshot and nupshot, which MPICH 1 and TAU write too.\nEach process is a rank, each task \
         of it a thread. Events that TAU names `EntryExit` are regions.\nLines that are no records are counted.\n\n\
         | header line | fate | in a run |\n|---|---|---|\n",
    );
    for kind in &header::KINDS {
        text += &format!("| {} | {} | {} |\n", kind.named(), kind.fate.name(), kind.becomes);
    }
    text += "\n| record | fate | in a run |\n|---|---|---|\n";
    for (name, fate, becomes) in RECORDS {
        text += &format!("| {name} | {} | {becomes} |\n", fate.name());
    }
    text
}
