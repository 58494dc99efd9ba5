//! Profiles of Speedscope, and of the many tools that write its format.
//!
//! The one idea: the file is read twice, for names of frames and units may stand behind what they are of: first these, then
//! events and samples, one at a time. If all profiles in it are of events with times it is a trace, and each a thread;
//! else it is a profile, in which samples add up.
//!
//! * [`stream`]: what stands in the file. * [`trace`] and [`sums`]: what becomes of it, the one way or the other.
//!
//! Deliberately absent: the order of samples. Their weights are how long a stack was seen, not when anything was entered.

mod stream;
mod sums;
mod trace;

use std::path::Path;

use self::stream::{Head, Heads, Pass, Reader};
use crate::spool::Region;
use crate::{Error, Fate, Imported, Progress, draft, mpi};

/// What there is in a file: the name, what becomes of it, and in which words.
const KINDS: &[(&str, Fate, &str)] = &[
    ("frame", Fate::Mapped, "region: name, file, line; its column is ignored"),
    ("evented profile", Fate::Mapped, "thread; event `profile`: `name`, `type`, `unit`, `start`, `end`"),
    ("sampled profile", Fate::Mapped, "thread; the same event"),
    ("profile of no known type", Fate::Ignored, "only counted"),
    ("open", Fate::Mapped, "a region is entered; in a run of sums, a visit"),
    ("close", Fate::Mapped, "it is left; so are those that were entered in it, which is a problem"),
    (
        "sample",
        Fate::Mapped,
        "its weight is time, or a counter, of the call path; of an empty one, a counter of none",
    ),
    ("event of no known type", Fate::Ignored, "only counted"),
];

/// Whether JSON begins so that names the format, or can be of no other.
pub(crate) fn is_beginning(beginning: &[u8]) -> bool {
    let has = |text: &[u8]| beginning.windows(text.len()).any(|part| part == text);
    let first = beginning.iter().find(|byte| !byte.is_ascii_whitespace());
    first == Some(&b'{') && has(b"speedscope.app/file-format-schema")
}

/// ns in one of a unit, where that is one of time.
fn ns_in(unit: &str) -> Option<f64> {
    match unit {
        "nanoseconds" => Some(1.0),
        "microseconds" => Some(1e3),
        "milliseconds" => Some(1e6),
        "seconds" => Some(1e9),
        _ => None,
    }
}

/// How many there were of what.
type Counts = Vec<(&'static str, u64)>;

/// The regions of frames, by number.
fn regions(heads: &Heads) -> Vec<Region> {
    let region = |frame: &stream::Frame| {
        let name = frame.name.as_deref().filter(|name| !name.is_empty()).unwrap_or("(no name)");
        let mut region = mpi::region(name);
        region.file = frame.file.clone().unwrap_or_default();
        region.line = u32::try_from(crate::profile::whole(frame.line.unwrap_or(0.0))).unwrap_or(0);
        region
    };
    heads.frames.iter().map(region).collect()
}

/// The name of a profile's thread.
fn thread_name(head: &Head, number: usize) -> String {
    if head.name.is_empty() { format!("profile {number}") } else { head.name.clone() }
}

/// What a file says of a profile beside its events, as fields of an event.
const FACTS: [(&str, marey_model::spool::FieldType); 5] = {
    use marey_model::spool::FieldType::{Real, Text};
    [("name", Text), ("type", Text), ("unit", Text), ("start", Real), ("end", Real)]
};

fn facts(head: &Head) -> Vec<u8> {
    let mut fields = Vec::new();
    for text in [&head.name, &head.kind, &head.unit] {
        marey_model::spool::put_bytes(&mut fields, text.as_bytes());
    }
    [head.start, head.end].iter().for_each(|real| fields.extend(real.to_le_bytes()));
    fields
}

/// Turns a file into a spool.
///
/// # Errors
/// If it is no object, or files cannot be read or written.
pub(crate) fn import(file: &Path, spool: &Path, progress: &dyn Progress) -> Result<Imported, Error> {
    let mut heads = Heads::default();
    let reader = Reader::open(file)?;
    progress.begin(reader.len().saturating_mul(2));
    let damage = reader.read(Pass::Heads(&mut heads), progress)?;
    let is_known = |head: &Head| head.kind == stream::EVENTED || head.kind == stream::SAMPLED;
    if !heads.profiles.iter().any(is_known) {
        let what = damage.unwrap_or_else(|| "there is no profile of a known type in it".to_owned());
        return Err(Error::Unreadable { path: file.to_owned(), format: "a Speedscope profile", what });
    }
    let is_trace =
        heads.profiles.iter().all(|head| head.kind == stream::EVENTED && ns_in(&head.unit).is_some());
    let dir = draft::beside(spool);
    let (mut imported, mut counts) = if is_trace {
        let mut trace = trace::Trace::new(&dir, &heads, damage)?;
        Reader::open(file)?.read(Pass::Bodies(&mut trace), progress)?;
        trace.end(spool, progress)?
    } else {
        let mut sums = sums::Sums::new(&dir, &heads, damage)?;
        Reader::open(file)?.read(Pass::Bodies(&mut sums), progress)?;
        sums.end(spool, progress)?
    };
    counts.retain(|it| it.1 > 0);
    for (name, number) in counts {
        imported.records.push((name.to_owned(), fate(name), number));
    }
    imported.records.sort();
    imported.events = imported.records.iter().map(|it| it.2).sum();
    let of = |kind: &str| heads.profiles.iter().filter(|head| head.kind == kind).count() as u64;
    let (evented, sampled) = (of(stream::EVENTED), of(stream::SAMPLED));
    let definitions = [
        ("evented profile", evented),
        ("frame", heads.frames.len() as u64),
        ("profile of no known type", heads.profiles.len() as u64 - evented - sampled),
        ("sampled profile", sampled),
    ];
    let definitions = definitions.into_iter().filter(|it| it.1 > 0);
    imported.definitions = definitions.map(|(name, number)| (name.to_owned(), fate(name), number)).collect();
    Ok(imported)
}

fn fate(name: &str) -> Fate {
    KINDS.iter().find(|it| it.0 == name).map_or(Fate::Ignored, |it| it.1)
}

/// What becomes of all that is in a file, in Markdown.
pub(crate) fn document() -> String {
    let mut text = String::from(
        "## Speedscope\n\nThe JSON of Speedscope, compressed by gzip or not. A file whose profiles are all of events with a unit of time is a trace, \
         each profile a thread of one process; any other is a run of sums without times, to which evented profiles add what lies between their events.\n\
         Weights of the unit `bytes` are a counter of that name, those without unit are the counter `weight`.\n\
         Frames that are never closed are left at the profile's `endValue`, and are a problem.\n\n\
         | what | fate | in a run |\n|---|---|---|\n",
    );
    for (name, fate, becomes) in KINDS {
        text += &format!("| {name} | {} | {becomes} |\n", fate.name());
    }
    text
}
