//! SDDF, the self-describing data format of Pablo, in ASCII: of Pablo, ParAide, TAU (`tau_convert -SDDF`) and Dimemas.
//!
//! The one idea: a descriptor gives a record its name and fields, and all meaning is in those names. So what the names of
//! fields and records say is found once for each descriptor, and what they do not say is kept as an event with these
//! fields.
//!
//! * [`token`]: words, texts and signs. * [`item`]: descriptors and records. * [`meaning`]: what names say.
//!   * [`convert`]: what becomes of records. * [`dimemas`]: those of Dimemas and ParAide, by the names that they have there.
//!
//! Source: the grammar and templates of Dimemas 5.2, and what TAU writes, which breaks the grammar. Deliberately absent: the
//! binary form (SDDFB), of which no description is at hand; pictures and sounds of Pablo.

mod convert;
mod dimemas;
mod item;
mod meaning;
mod token;

use std::path::Path;

use self::convert::Convert;
use self::item::{Item, Items};
use self::token::{Token, Tokens};
use crate::Fate::{Ignored, Kept, Mapped};
use crate::draft::{self, Draft};
use crate::input::Input;
use crate::{Error, Fate, Imported, Progress};

/// What a file begins with that keeps to the grammar.
const MAGIC: &str = "SDDFA";
/// What one in the binary form begins with.
const BINARY: &[u8] = b"SDDFB";
/// Records between two looks at how far the work is.
const RECORDS: u64 = 4096;

/// Whether a file that begins so is a trace: by its first word; or, as TAU leaves that out, by a descriptor.
pub(crate) fn is_beginning(beginning: &[u8]) -> bool {
    let text = beginning.trim_ascii_start();
    if text.starts_with(MAGIC.as_bytes()) || text.starts_with(BINARY) {
        return true;
    }
    if !text.starts_with(b"/*") && !text.starts_with(b"#") {
        return false;
    }
    let mut tokens = Tokens::new(beginning);
    let mut next = || tokens.next().ok().flatten();
    next() == Some(Token::Sign(b'#'))
        && matches!(next(), Some(Token::Word(_)))
        && next() == Some(Token::Sign(b':'))
        && matches!(next(), Some(Token::Text(_)))
        && next() == Some(Token::Sign(b'{'))
}

/// Turns a trace into a spool.
///
/// # Errors
/// If it is in the binary form, or files cannot be read or written.
pub(crate) fn import(file: &Path, spool: &Path, progress: &dyn Progress) -> Result<Imported, Error> {
    if crate::input::beginning(file, 64)?.trim_ascii_start().starts_with(BINARY) {
        let what = "in the binary form, which cannot be read; Pablo's tools make the ASCII form of it";
        return Err(Error::Unreadable {
            path: file.to_owned(),
            format: "an SDDF trace",
            what: what.to_owned(),
        });
    }
    let input = Input::open(file)?;
    let len = input.len();
    progress.begin(len.saturating_mul(2));
    let mut items = Items::new(input);
    let mut convert = Convert::new(Draft::new(&draft::beside(spool), "SDDF"));
    let mut told = 0_u64;
    loop {
        match items.next(file)? {
            Item::End => break,
            Item::Descriptor(descriptor) => convert.descriptor(descriptor),
            Item::Record { name, values } => convert.record(&name, &values)?,
            Item::Stray(at) => convert.stray(at),
        }
        told += 1;
        if told.is_multiple_of(RECORDS) {
            items.input().tell(progress);
        }
    }
    items.input().tell_all(progress);
    let comment = items.creator();
    let (draft, counts) = convert.end(comment);
    let mut imported = draft.finish(spool, (progress, len))?;
    for ((name, fate), number) in counts {
        let is_definition = KINDS.iter().any(|kind| kind.name == name && kind.is_definition);
        let row = (name.to_owned(), fate, number);
        if is_definition { &mut imported.definitions } else { &mut imported.records }.push(row);
    }
    imported.events = imported.records.iter().map(|it| it.2).sum();
    Ok(imported)
}

/// A kind of item.
struct Kind {
    name: &'static str,
    fate: Fate,
    is_definition: bool,
    becomes: &'static str,
}

const fn record(name: &'static str, fate: Fate, becomes: &'static str) -> Kind {
    Kind { name, fate, is_definition: false, becomes }
}

const fn definition(name: &'static str, fate: Fate, becomes: &'static str) -> Kind {
    Kind { name, fate, is_definition: true, becomes }
}

/// Names of kinds that are no names of records.
mod named {
    pub(super) const DESCRIPTOR: &str = "descriptor";
    pub(super) const UNDESCRIBED: &str = "without descriptor";
    pub(super) const OTHER: &str = "others";
    pub(super) const ENTRY_EXIT: &str = "with EntryExit";
    pub(super) const TRIGGER: &str = "with TriggerValue";
    pub(super) const METADATA: &str = "with TriggerValue, of metadata";
}

/// All kinds, and what they are in a run.
const KINDS: [Kind; 18] = [
    definition(named::DESCRIPTOR, Mapped, "a kind of events and its fields"),
    definition("block definition", Mapped, "the name of a region, its file and line"),
    definition("global OP definition", Mapped, "the name of a collective"),
    definition("communicator definition", Mapped, "a communicator; the first one is that of all"),
    definition("user event type definition", Mapped, "the name of a kind of events"),
    definition("user event value definition", Mapped, "the name of a value of such events"),
    record(
        named::ENTRY_EXIT,
        Mapped,
        "enter (1) or leave (-1) of the region that has the record's name: of MPI if that begins with `MPI_`, else of the source",
    ),
    record(named::TRIGGER, Mapped, "a counter that has the record's name"),
    record(
        named::METADATA,
        Kept,
        "`NAME \\| VALUE`: an event with these fields: `name`, `value`; host, process id and command line",
    ),
    record("CPU burst", Mapped, "a visit of the region `CPU burst`; it makes the time of its task pass"),
    record(
        "NX send",
        Mapped,
        "a message is sent; where a communicator is named that its definition does not have both ends of, only counted",
    ),
    record(
        "NX recv",
        Mapped,
        "a message has come; of Dimemas' types, 1 (a receive is posted) is an event with these fields",
    ),
    record("block begin", Mapped, "a region is entered"),
    record("block end", Mapped, "a region is left"),
    record("user event", Mapped, "an event that has the name of its type, and the name of its value"),
    record("global OP", Mapped, "a collective, which takes no time by itself"),
    record(named::OTHER, Kept, "an event that has the record's name, with these fields"),
    record(named::UNDESCRIBED, Ignored, "its fields have no names"),
];

/// What is read, in Markdown.
pub(crate) fn document() -> String {
    let mut text = String::from(
        "\n## SDDF\n\nThe ASCII form of Pablo's self-describing data format, also compressed by gzip, with TAU's deviations: no \
         `SDDFA` in the beginning, names of fields with ends of lines in them. The binary form (`SDDFB`) is refused.\n\
         What records mean is in the names of their fields, in capitals or not:\n\n\
         * time: `Seconds`, `Timestamp`, `time stamp`, `time` and the like. The unit is the one that the name or the comment before the \
         field has (`microseconds`); else seconds, and µs of a whole number that is called `Timestamp`.\n\
         * process: `Processor Number`, `Processor`, `Node`, `taskid`, `Task`, `Rank`, `Process`; a rank if there are several, \
         messages or functions of MPI. Thread: `Thread Id`, `Thread`, `thid`, `pthread`.\n\
         * Records without a time stand at the last time of their thread, and those without a process are those of process 0; \
         both are counted as problems.\n\n\
         Records of Dimemas have no times. Its traces say how long each task computes between its calls, so the time of \
         a task is the sum of its bursts: calls take none, messages may arrive before they are sent, and what tasks waited \
         for is for a simulation to say.\nArrays are texts, in JSON.\n\n| record | fate | in a run |\n|---|---|---|\n",
    );
    for kind in &KINDS {
        text += &format!("| {} | {} | {} |\n", kind.name, kind.fate.name(), kind.becomes);
    }
    text
}
