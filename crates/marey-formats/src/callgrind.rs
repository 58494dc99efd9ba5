//! Profiles in callgrind's format: of valgrind, and of what writes for KCachegrind (Xdebug, pprof, converters of many).
//!
//! The one idea: such a profile says what a function costs by itself, and what each caller's calls of another cost, and no
//! call paths. So a run has functions side by side, each with its own cost, and the calls between them as events: a path
//! that nobody recorded is not made up.
//!
//! * [`line`]: what stands in a line. * [`convert`]: what becomes of lines.
//!
//! Deliberately absent: costs by line and by instruction, which are sums here; events that are made of others by a formula.

mod convert;
mod line;

use std::path::Path;

use self::convert::Convert;
use crate::input::{Input, Line};
use crate::{Error, Fate, Imported, Progress, draft};

/// Kinds of lines: the name, what becomes of it, and in which words.
const KINDS: &[(&str, Fate, &str)] = &[
    ("cost", Fate::Mapped, "cost of a function by itself: the time, if the event is one, else a counter"),
    (
        "cost of calls",
        Fate::Kept,
        "event `call`: what the calls of one function by another cost, and inclusive time",
    ),
    ("calls", Fate::Kept, "event `call`: `caller`, `callee`, `calls`; visits of the function that is called"),
    ("jump", Fate::Ignored, "only counted: `jump=` and `jcnd=`"),
    ("fn", Fate::Mapped, "function, with its file; the object it is in tells functions of one name apart"),
    ("place", Fate::Mapped, "`ob`, `fl`, `cfn`, `cob`, `cfi`, `cfl`: where a function is"),
    (
        "place of inlined code",
        Fate::Ignored,
        "`fi`, `fe`: its cost is that of the function it is inlined into",
    ),
    ("events", Fate::Mapped, "what is counted"),
    ("event", Fate::Mapped, "long name of an event, where that says a unit of time; formulas are ignored"),
    ("positions", Fate::Mapped, "how many numbers stand before costs"),
    ("part", Fate::Mapped, "parts of a profile are added up"),
    ("thread", Fate::Mapped, "thread"),
    ("pid", Fate::Mapped, "process id"),
    ("cmd", Fate::Mapped, "command line"),
    ("creator", Fate::Mapped, "what has recorded it"),
    ("totals", Fate::Ignored, "compared with the sum of costs; what differs is a problem"),
    ("summary", Fate::Ignored, "only counted"),
    ("header", Fate::Kept, "`desc` and all others: event `header`: `name`, `value`"),
];

/// Whether a text begins so: a line of its own kind, before which only headers and comments stand.
pub(crate) fn is_beginning(beginning: &[u8]) -> bool {
    let mut has_events = false;
    for line in beginning.split(|byte| *byte == b'\n').take(100) {
        let line = line.trim_ascii();
        if line.starts_with(b"# callgrind format") {
            return true;
        }
        has_events |= line.starts_with(b"events:");
        let is_body = [b"fn=".as_slice(), b"fl=", b"ob="].iter().any(|begin| line.starts_with(begin));
        if is_body {
            return has_events;
        }
        let is_header = line.iter().take_while(|byte| **byte != b':').all(|byte| byte.is_ascii_graphic());
        if !(line.is_empty() || line.starts_with(b"#") || is_header && line.contains(&b':')) {
            return false;
        }
    }
    false
}

/// Turns a profile into a spool.
///
/// # Errors
/// If files cannot be read or written.
pub(crate) fn import(file: &Path, spool: &Path, progress: &dyn Progress) -> Result<Imported, Error> {
    let mut input = Input::open(file)?;
    progress.begin(input.len());
    let mut convert = Convert::new(&draft::beside(spool));
    let (mut line, mut number) = (Vec::new(), 0_u64);
    loop {
        number += 1;
        match input.line(&mut line)? {
            Line::Whole => convert.line(String::from_utf8_lossy(&line).trim(), number),
            Line::TooLong => convert.profile.trouble(format!("line {number} is too long")),
            Line::Broken => {
                convert.profile.trouble(format!("what is compressed ends in line {number}"));
                break;
            }
            Line::End => break,
        }
        if number.is_multiple_of(1024) {
            input.tell(progress);
        }
    }
    input.tell_all(progress);
    let (profile, counts) = convert.end()?;
    let mut imported = profile.finish(spool, (progress, 0))?;
    for (name, number) in counts {
        let fate = KINDS.iter().find(|it| it.0 == name).map_or(Fate::Ignored, |it| it.1);
        let is_record = matches!(name, "cost" | "cost of calls" | "calls" | "jump");
        let rows = if is_record { &mut imported.records } else { &mut imported.definitions };
        rows.push((name.to_owned(), fate, number));
    }
    imported.events = imported.records.iter().map(|it| it.2).sum();
    Ok(imported)
}

/// What becomes of lines, in Markdown.
pub(crate) fn document() -> String {
    let mut text = String::from(
        "## callgrind\n\nProfiles in the format of callgrind, compressed by gzip or not. They have neither times nor call paths, so the run is one of sums in which \
         each function is at the top, with its own cost; who called whom is kept as events.\n\
         The first event that is one of time is the time of the run: one that is called by a unit (`Nanoseconds`), or has one in parentheses \
         (`cpu(ms)`, `Time_(10ns)`), or in its long name. All others are counters; a run of instructions alone has no time. \
         A function's inclusive time is its own and that of its calls of others, at most that of the thread, for recursion counts twice.\n\n\
         | line | fate | in a run |\n|---|---|---|\n",
    );
    for (name, fate, becomes) in KINDS {
        text += &format!("| {name} | {} | {becomes} |\n", fate.name());
    }
    text
}
