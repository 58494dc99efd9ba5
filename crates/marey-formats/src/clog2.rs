//! CLOG-2, the format of MPE2, the logging library of MPICH.
//!
//! The one idea: a file mixes the records of all processes in the order of their time, and has the definitions of events at
//! its end. So it is read twice: first for what its numbers mean, then for what happened.
//!
//! * [`preamble`]: how the rest is written. * [`blocks`]: records in blocks. * [`records`]: all types of records.
//!   * [`known`]: what numbers mean. * [`convert`]: what becomes of records.
//!
//! Source of the layout: MPE2's writer and its reader in Java. Deliberately absent: colours of states; versions before 2.44,
//! whose records are shorter.

mod blocks;
mod convert;
mod known;
mod preamble;
mod records;

use std::path::Path;

use self::blocks::{Blocks, Count};
use self::convert::Convert;
use self::known::Known;
pub(crate) use self::known::{event, len};
pub(crate) use self::preamble::VERSION;
pub(crate) use self::records::{HEAD, code};
use crate::draft::{self, Draft};
use crate::problems::{Problems, kind};
use crate::{Error, Fate, Imported, Progress};

/// Bytes of a preamble.
pub(crate) const PREAMBLE: usize = 1024;

/// Turns a log into a spool.
///
/// # Errors
/// If its preamble cannot be made sense of, or files cannot be read or written.
pub(crate) fn import(file: &Path, spool: &Path, progress: &dyn Progress) -> Result<Imported, Error> {
    let mut blocks = Blocks::open(file)?;
    let len = blocks.len();
    progress.begin(2 * len);
    let mut known = Known::default();
    // What is damaged is told when it is read again.
    let mut untold = Problems::default();
    let mut half = |bytes: u64| progress.advance(bytes / 2);
    blocks.each(&mut untold, &mut half, &mut |record| {
        known.learn(record);
        Ok(())
    })?;
    let mut draft = Draft::new(&draft::beside(spool), &format!("MPE {}", blocks.preamble.version));
    blocks.preamble.tell(&mut draft.problems);
    known.settle(&mut draft.problems);
    draft.world = blocks.preamble.world_size;
    let mut problems = Problems::default();
    let mut convert = Convert::new(&mut draft, &known, blocks.preamble.most_ranks());
    let mut rest = |bytes: u64| progress.advance(bytes - bytes / 2);
    let count = blocks.each(&mut problems, &mut rest, &mut |record| convert.record(record))?;
    draft.problems.merge(problems);
    let mut imported = draft.finish(spool, (progress, len))?;
    summary(&mut imported, &count, &known, blocks.communicators()?);
    Ok(imported)
}

fn summary(imported: &mut Imported, count: &Count, known: &Known, communicators: u64) {
    for (kind, number) in records::KINDS.iter().zip(count).filter(|it| *it.1 > 0) {
        let row = (kind.name.to_owned(), kind.fate, *number);
        if kind.is_definition { &mut imported.definitions } else { &mut imported.records }.push(row);
        if !kind.is_definition && !kind.is_mark {
            imported.events += *number;
        }
    }
    let others = [(COLOUR, known.colours), (COMMUNICATOR, communicators)];
    let others = others.into_iter().filter(|it| it.1 > 0);
    imported.definitions.extend(others.map(|(name, number)| (name.to_owned(), Fate::Ignored, number)));
    imported.records.sort();
    imported.definitions.sort();
}

const COLOUR: &str = "colour";
const COMMUNICATOR: &str = "communicator table entry";

/// The table of all types of records, with what becomes of them, in Markdown.
pub(crate) fn document() -> String {
    let mut text = String::from(
        "\n## CLOG-2\n\nCLOG-2, version 2.44, of MPE2: the file `NAME.clog2`, finished or not, in either order of bytes.\n\
         Each thread of each rank is a thread of a run.\nWhat belongs to a block that is damaged, behind the damage, is not \
         read.\n\n| record | fate | in a run |\n|---|---|---|\n",
    );
    for kind in &records::KINDS {
        text += &format!("| {} | {} | {} |\n", kind.name, kind.fate.name(), kind.becomes);
    }
    text += &format!("| {COLOUR} | ignored | those of states and events: a viewer has its own |\n");
    text += &format!("| {COMMUNICATOR} | ignored | COMMEVT says more |\n");
    text
}

/// What cannot be told of a file at all.
fn unreadable(path: &Path, what: impl Into<String>) -> Error {
    Error::Unreadable { path: path.to_owned(), format: "a CLOG-2 log", what: what.into() }
}

/// Something that is there no longer, or makes no sense.
fn damaged(problems: &mut Problems, what: impl Into<String>) {
    problems.add(kind::DAMAGED, what, 1);
}
