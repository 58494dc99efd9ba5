//! Profiles of TAU: `profile.NODE.CONTEXT.THREAD`, the merged `tauprofile.xml`, and packed `.ppk`.
//!
//! The one idea: three ways to write the same rows, a function of a thread with what was measured in it; each has a file here
//! that reads it, and what the rows mean is told once.
//!
//! * [`text`], [`xml`], [`packed`]: the three. * [`convert`]: what becomes of rows.
//!
//! Deliberately absent: least, greatest and mean of a thread's snapshots before the last.

mod convert;
mod packed;
mod text;
mod xml;

use std::path::Path;

use self::convert::{Convert, Counts};
use crate::{Error, Fate, Imported, Progress, draft};

pub(crate) use self::text::is_of_thread;
pub(crate) use self::xml::entity;

/// Whether a file begins as a profile of one thread does.
pub(crate) fn is_text(beginning: &[u8]) -> bool {
    text::is_beginning(beginning)
}

/// Whether a file begins as a merged profile in XML does.
pub(crate) fn is_xml(beginning: &[u8]) -> bool {
    beginning.trim_ascii_start().starts_with(b"<profile_xml")
}

/// Whether a file begins as a packed profile does.
pub(crate) fn is_packed(beginning: &[u8]) -> bool {
    beginning.starts_with(b"\0P\0P\0K\0\0\0")
}

/// Whether a file begins as any of them.
pub(crate) fn is_beginning(beginning: &[u8]) -> bool {
    is_text(beginning) || is_xml(beginning) || is_packed(beginning)
}

/// Turns a profile into a spool.
///
/// # Errors
/// If files cannot be read, or the spool cannot be written.
pub(crate) fn import(file: &Path, spool: &Path, progress: &dyn Progress) -> Result<Imported, Error> {
    let mut convert = Convert::new(&draft::beside(spool));
    let beginning = crate::input::beginning(file, 64)?;
    if is_packed(&beginning) {
        packed::read(file, &mut convert, progress)?;
    } else if is_xml(&beginning) {
        xml::read(file, &mut convert, progress)?;
    } else {
        text::read(file, &mut convert, progress)?;
    }
    let (profile, counts) = convert.end();
    let mut imported = profile.finish(spool, (progress, 0))?;
    let Counts { timed, beside, sampled, user_events, metadata } = counts;
    let rows = [
        (FUNCTION, Fate::Mapped, timed),
        (OTHER_METRIC, Fate::Mapped, beside),
        (SAMPLED, Fate::Mapped, sampled),
        (USER_EVENT, Fate::Kept, user_events),
        (METADATA, Fate::Kept, metadata),
    ];
    let rows = rows.into_iter().filter(|it| it.2 > 0);
    imported.records = rows.map(|(name, fate, number)| (name.to_owned(), fate, number)).collect();
    imported.records.sort();
    imported.events = imported.records.iter().map(|it| it.2).sum();
    Ok(imported)
}

const FUNCTION: &str = "function";
const OTHER_METRIC: &str = "function, of another metric than the time";
const SAMPLED: &str = "function that was only met by samples";
const USER_EVENT: &str = "user event";
const METADATA: &str = "metadata";

/// What becomes of rows, in Markdown.
pub(crate) fn document() -> String {
    format!(
        "\n## Profiles of TAU\n\nAny of the files `profile.NODE.CONTEXT.THREAD`, of which all in the directory are read, and of several metrics \
         those in the directories `MULTI__METRIC` beside it; `tauprofile.xml`; packed `.ppk`, compressed by gzip or not. They have no times, so the run is one of \
         sums.\n\
         Nodes are ranks where there is MPI, or more than one. The time of the run is the first metric whose name has TIME in it, \
         all others are counters. Where a thread has call paths (`A => B`), the function by itself is left out unless no path ends \
         in it, for it is the sum of these; paths that TAU has cut short begin where it cut them.\n\
         Of a thread's snapshots in XML the last counts. Numbers of subroutine calls are those of the call paths beneath.\n\n\
         | row | fate | in a run |\n|---|---|---|\n\
         | {FUNCTION} | mapped | call path: calls, exclusive and inclusive time |\n\
         | {OTHER_METRIC} | mapped | counter in the call path, exclusive |\n\
         | {SAMPLED}: `[SAMPLE]`, `[UNWIND]`, `[CONTEXT]` … | mapped | call path without time, which the functions around have; counters `samples` and `sampled TIME` |\n\
         | function with the value of a parameter (group TAU_PARAM) | kept | event `function by parameter`: its times are in the function's |\n\
         | {USER_EVENT} | kept | event `user event` at the thread's end: `name`, `number`, `least`, `greatest`, `mean`, `sum_of_squares` |\n\
         | {METADATA} | kept | event `metadata`: `name`, `value`; host, process id, command line, date |\n"
    )
}
