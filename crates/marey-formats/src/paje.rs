//! Pajé, the self-defining text format of SimGrid, StarPU, Akypuera and others.
//!
//! The one idea: a header says which events there are and which fields each has, and events define types, containers and
//! what happens in them. A trace is read twice: first for its containers, which say whether there are ranks, then for
//! what happened.
//!
//! * [`header`]: which fields events have. * [`line`]: words of a line. * [`known`]: types, values and containers.
//!   * [`links`]: both ends of links. * [`convert`]: what becomes of events.
//!
//! Source: the description of the format and `pj_dump`. Deliberately absent: colours; other files that a `TraceFile` names.

mod convert;
mod header;
mod known;
mod line;
mod links;

use std::path::Path;

use self::convert::Convert;
use self::header::Header;
pub(crate) use self::header::{Code, KINDS};
use self::known::Known;
use crate::draft::{self, Draft};
use crate::input::{Input, Line};
use crate::problems::kind;
use crate::{Error, Imported, Progress};

/// How a definition of an event begins, behind its sign.
const DEFINITION: &str = "EventDef";
/// Lines between two looks at how far the work is.
const LINES: u64 = 4096;

/// Whether a file that begins so is a trace: its first line that says something begins a definition.
pub(crate) fn is_beginning(beginning: &[u8]) -> bool {
    let mut lines = beginning.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with(b"#"));
    let rest = first.and_then(|line| line.strip_prefix(b"%"));
    rest.is_some_and(|rest| rest.trim_ascii_start().starts_with(DEFINITION.as_bytes()))
}

/// Turns a trace into a spool.
///
/// # Errors
/// If files cannot be read or written.
pub(crate) fn import(file: &Path, spool: &Path, progress: &dyn Progress) -> Result<Imported, Error> {
    let len = std::fs::metadata(file).map_or(0, |it| it.len());
    progress.begin(len.saturating_mul(3));
    let mut header = Header::default();
    let mut known = Known::default();
    each(file, progress, &mut |line, _| {
        if !header.take(line)
            && let Some(event) = header.event(line)
        {
            known.learn(&event);
        }
        Ok(())
    })?;
    known.settle();
    let mut draft = Draft::new(&draft::beside(spool), "Pajé");
    let mut header = Header::default();
    let mut convert = Convert::new(&mut draft, &known);
    let is_broken = each(file, progress, &mut |line, number| {
        if header.take(line) {
            return Ok(());
        }
        match header.event(line) {
            Some(event) => convert.event(&event),
            None => {
                convert.stray(number);
                Ok(())
            }
        }
    })?;
    let count = convert.end()?;
    if is_broken {
        draft.trouble("the compressed text ends early, or makes no sense");
    }
    draft.problems.add(kind::DAMAGED, "definitions of events that are none", header.strays);
    let mut imported = draft.finish(spool, (progress, len))?;
    for (kind, number) in KINDS.iter().zip(count).filter(|it| it.1 > 0) {
        let row = (kind.name.to_owned(), kind.fate, number);
        if kind.is_definition { &mut imported.definitions } else { &mut imported.records }.push(row);
    }
    imported.definitions.push((DEFINITION.to_owned(), crate::Fate::Mapped, header.number));
    imported.events = imported.records.iter().map(|it| it.2).sum();
    imported.records.sort();
    imported.definitions.sort();
    Ok(imported)
}

/// Shows each line that says something, with its number from 1 on; whether the text breaks off.
fn each(
    file: &Path,
    progress: &dyn Progress,
    show: &mut dyn FnMut(&str, u64) -> Result<(), Error>,
) -> Result<bool, Error> {
    let (mut input, mut line) = (Input::open(file)?, Vec::new());
    let mut number = 0_u64;
    let is_broken = loop {
        number += 1;
        match input.line(&mut line)? {
            Line::Whole => {
                let text = String::from_utf8_lossy(&line);
                let text = text.trim();
                if !text.is_empty() && !text.starts_with('#') {
                    show(text, number)?;
                }
            }
            // No event is so long.
            Line::TooLong => show("", number)?,
            Line::Broken => break true,
            Line::End => break false,
        }
        if number.is_multiple_of(LINES) {
            input.tell(progress);
        }
    };
    input.tell_all(progress);
    Ok(is_broken)
}

/// The table of all events, with what becomes of them, in Markdown.
pub(crate) fn document() -> String {
    let mut text = String::from(
        "\n## Pajé\n\nThe text format of Pajé, also compressed by gzip, with either vocabulary of its fields. Times are taken as seconds, \
         as most tools write them.\nContainers are threads. Those whose type names a process or rank (`Process`, `RANK`, `MPI…`) are ranks if each of them \
         has a name that ends with a number of its own, and what lies in them are its threads; in other traces all are threads of one process.\n\
         Each further type of states of a container is a thread of its own beside it.\n\n\
         | event | fate | in a run |\n|---|---|---|\n",
    );
    for kind in &KINDS {
        text += &format!("| {} | {} | {} |\n", kind.name, kind.fate.name(), kind.becomes);
    }
    text
}
