//! Chrome trace-event JSON, of PyTorch, LLVM, Chrome, rocprof and many others.
//!
//! The one idea: the text is cut into the objects of its list of events without being understood ([`split`]); each is then
//! read alone ([`event`]), so what is damaged costs one event, and a list that ends in the middle is as good as another.
//!
//! * [`convert`]: what becomes of each. * [`value`]: numbers and texts.
//!
//! Source: "Trace Event Format" of the Chromium project. Deliberately absent: `stackFrames` and `samples` beside the list,
//! which are counted only.

mod convert;
mod event;
mod split;
mod value;

use std::path::Path;

use self::convert::Conversion;
use self::split::{Piece, Splitter};
use crate::input::Input;
use crate::{Error, Fate, Imported, Progress};

/// A kind of events: its letter, name, fate, and what becomes of it.
struct Kind {
    phase: &'static str,
    name: &'static str,
    fate: Fate,
    becomes: &'static str,
}

const fn kind(phase: &'static str, name: &'static str, fate: Fate, becomes: &'static str) -> Kind {
    Kind { phase, name, fate, becomes }
}

const KINDS: &[Kind] = &[
    kind("B", "begin", Fate::Mapped, "a region is entered; its arguments are facts about it"),
    kind("E", "end", Fate::Mapped, "it is left"),
    kind(
        "X",
        "complete",
        Fate::Mapped,
        "a region is entered and left; one that overlaps others without lying within is a state beside them",
    ),
    kind("i", "instant", Fate::Kept, "an event"),
    kind("I", "instant (older)", Fate::Kept, "an event"),
    kind("C", "counter", Fate::Mapped, "a counter for each number among its arguments; others are an event"),
    kind("b", "asynchronous begin", Fate::Mapped, "a state begins; with arguments also an event"),
    kind("n", "asynchronous instant", Fate::Kept, "an event"),
    kind("e", "asynchronous end", Fate::Mapped, "the state ends; with arguments also an event"),
    kind("S", "asynchronous begin (older)", Fate::Mapped, "as `b`"),
    kind("T", "asynchronous step (older)", Fate::Kept, "an event"),
    kind("p", "asynchronous step back (older)", Fate::Kept, "an event"),
    kind("F", "asynchronous end (older)", Fate::Mapped, "as `e`"),
    kind(
        "s",
        "flow begin",
        Fate::Mapped,
        "an edge from here, within a process; flows from one process to another are counted as a problem",
    ),
    kind("t", "flow step", Fate::Mapped, "an edge to here, and one from here"),
    kind(
        "f",
        "flow end",
        Fate::Mapped,
        "an edge to here, or to the next region if it does not bind to the enclosing one",
    ),
    kind(
        "M",
        "metadata",
        Fate::Mapped,
        "names of processes and threads; how to sort them is ignored; others are events at the beginning",
    ),
    kind("P", "sample", Fate::Kept, "an event"),
    kind("N", "object created", Fate::Kept, "an event"),
    kind("O", "object snapshot", Fate::Kept, "an event"),
    kind("D", "object destroyed", Fate::Kept, "an event"),
    kind("R", "mark", Fate::Kept, "an event"),
    kind("c", "clock synchronisation", Fate::Kept, "an event"),
    kind("(", "context begin", Fate::Kept, "an event"),
    kind(")", "context end", Fate::Kept, "an event"),
    kind("v", "memory dump", Fate::Kept, "an event"),
    kind("V", "memory dump of all", Fate::Kept, "an event"),
    kind("=", "linked identifiers", Fate::Kept, "an event"),
];

/// Of kinds that the format does not have, and events that say none.
const OTHER: Kind = kind("", "of no known kind", Fate::Kept, "an event");

/// Whether it is a list of events, or an object with one, that begins so.
pub(crate) fn is_beginning(beginning: &[u8]) -> bool {
    let has = |text: &[u8]| beginning.windows(text.len()).any(|part| part == text);
    let mut signs = beginning.iter().filter(|byte| !byte.is_ascii_whitespace() && byte.is_ascii());
    match (signs.next(), signs.next()) {
        (Some(b'['), Some(b'{')) => has(b"\"ph\""),
        (Some(b'{'), _) => has(b"\"traceEvents\""),
        _ => false,
    }
}

/// Turns the trace in this file into a spool.
///
/// # Errors
/// If it is no list of events, or files cannot be read or written.
pub(crate) fn import(file: &Path, spool: &Path, progress: &dyn Progress) -> Result<Imported, Error> {
    let mut input = Input::open(file)?;
    let len = input.len();
    progress.begin(len.saturating_mul(2));
    let mut conversion = Conversion::new(file, spool);
    let mut splitter = Splitter::new();
    while let Some(piece) = splitter.next(&mut input, file)? {
        match piece {
            Piece::Event { text, at } => {
                let len = text.len();
                if !conversion.event(text, at)? {
                    splitter.retry(len);
                }
            }
            Piece::Member { name, value } => conversion.member(name, value),
            Piece::Damage { at, what } => conversion.damage(at, what),
        }
        input.tell(progress);
    }
    input.tell_all(progress);
    conversion.finish(spool, (progress, len))
}

/// The table of all kinds of events, in Markdown.
pub(crate) fn document() -> String {
    let mut text = String::from(
        "## Chrome trace events\n\nThe JSON of PyTorch's profiler, LLVM's `-ftime-trace`, Chrome, rocprof and others: a list of events, or an \
         object with one in `traceEvents`, which may end in the middle, and be compressed by gzip.\nA region is of the level that its first category names, \
         or of MPI if it is called so; one without is of the source.\nTimes are exact to 1 ns. Of `X` without `dur` its `tdur` counts, else it takes no time. \
         Other fields of an event (`tts`, `cname`, `bind_id` …) are kept with its arguments; texts are cut off after 4096 bytes, and arguments of more than 15 KiB left out and counted.\nOther members of the object are events at the beginning; `stackFrames` and \
         `samples` are counted only.\n\n| phase | event | fate | in a run |\n|---|---|---|---|\n",
    );
    for Kind { phase, name, fate, becomes } in KINDS {
        text += &format!("| `{phase}` | {name} | {} | {becomes} |\n", fate.name());
    }
    let Kind { name, fate, becomes, .. } = OTHER;
    text += &format!("| other | {name} | {} | {becomes} |\n", fate.name());
    text
}
