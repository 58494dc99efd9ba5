//! Profiles of CUBE 4 (`.cubex`): Score-P, Scalasca, and tools that write for them.
//!
//! The one idea: a tar archive is walked for where its parts are; the anchor says what there is, and then each metric is read
//! a row at a time, so however many call paths and locations there are, memory holds the tree and two rows.
//!
//! * [`tar`]: members of the archive. * [`anchor`]: `anchor.xml`. * [`rows`]: values of a metric. * [`names`]: of regions'
//!   paradigms and roles. * [`tree`]: how rows are numbered. * [`definitions`]: call paths and threads. * [`convert`]: what
//!   becomes of values.
//!
//! Deliberately absent: metrics that are derived from others by a program in the anchor; CUBE 3, which is XML alone;
//! `remapping.spec`, which says how to derive more.

mod anchor;
mod convert;
mod definitions;
mod names;
mod rows;
mod tar;
mod tree;

use std::path::Path;

use self::anchor::Anchor;
use self::convert::Convert;
use self::tar::{Archive, Part};
use crate::problems::Problems;
use crate::{Error, Fate, Imported, Progress, draft};

struct Kind {
    name: &'static str,
    fate: Fate,
    becomes: &'static str,
}

const fn kind(name: &'static str, fate: Fate, becomes: &'static str) -> Kind {
    Kind { name, fate, becomes }
}

/// All there is in a profile. Of rows, the names begin with that word.
const KINDS: &[Kind] = &[
    kind("attribute", Fate::Kept, "event `attribute`: `name`, `value`; the creator is the recorder"),
    kind("attribute of a part of the machine", Fate::Ignored, "only counted"),
    kind("mirror", Fate::Ignored, "only counted"),
    kind(
        "metric",
        Fate::Mapped,
        "`time` is the time, `visits` the calls, `min_time` and `max_time` together the shortest and the longest visit, each other a counter",
    ),
    kind("metric without values", Fate::Ignored, "only counted: it is zero everywhere"),
    kind(
        "derived metric",
        Fate::Ignored,
        "only counted: POSTDERIVED, PREDERIVED_EXCLUSIVE and PREDERIVED_INCLUSIVE",
    ),
    kind(
        "metric of functions or unknown values",
        Fate::Ignored,
        "only counted: SCALE_FUNC, and what later versions add",
    ),
    kind(
        "region",
        Fate::Mapped,
        "region: name, file, first line, its level by the paradigm, what it does by the role",
    ),
    kind(
        "call path",
        Fate::Mapped,
        "call path; those of the same regions, called from several lines, are one",
    ),
    kind("parameter of a call path", Fate::Ignored, "only counted"),
    kind(
        "part of the machine",
        Fate::Mapped,
        "host of a process: what is of class `node`, else the innermost",
    ),
    kind("process", Fate::Mapped, "process; with its rank where there is MPI, or more than one"),
    kind("location", Fate::Mapped, "thread"),
    kind("topology", Fate::Ignored, "only counted"),
    kind(
        "row of an exclusive metric",
        Fate::Mapped,
        "time, calls or counter of a call path, thread by thread",
    ),
    kind(
        "row of an inclusive metric",
        Fate::Mapped,
        "the same, without what is right beneath; of the time both are kept",
    ),
    kind(
        "row of values of several numbers",
        Fate::Kept,
        "TAU_ATOMIC: event `statistics`; RATE, COMPLEX, NDOUBLES, HISTOGRAM: event `values`; with the number of the call path",
    ),
    kind("other member of the archive", Fate::Ignored, "only counted: `remapping.spec` and the like"),
];

/// What the first member of a profile may be called that is no part of it.
const REMAPPING: &str = "remapping.spec";

/// Whether a tar archive begins so whose first member is of a profile.
pub(crate) fn is_beginning(beginning: &[u8]) -> bool {
    let first = beginning.get(..512).and_then(tar::header);
    first.is_some_and(|(name, _)| tar::part(&name).is_some() || name.ends_with(REMAPPING))
}

fn unreadable(path: &Path, what: String) -> Error {
    Error::Unreadable { path: path.to_owned(), format: "a CUBE profile", what }
}

/// Turns a profile into a spool.
///
/// # Errors
/// If there is no anchor in it, or files cannot be read or written.
pub(crate) fn import(file: &Path, spool: &Path, progress: &dyn Progress) -> Result<Imported, Error> {
    let dir = draft::beside(spool);
    let mut problems = Problems::default();
    let archive = Archive::open(file, &dir, &mut problems, progress)?;
    let Some(stream) = archive.stream(Part::Anchor) else {
        let what = "there is no anchor.xml in it, which says what its numbers mean; is it whole?";
        return Err(unreadable(file, what.to_owned()));
    };
    let cannot = |source| Error::Read { path: file.to_owned(), source };
    let (anchor, damage) = Anchor::read(stream).map_err(cannot)?;
    if anchor.locations.is_empty() {
        let what = damage.unwrap_or_else(|| "anchor.xml names no location".to_owned());
        return Err(unreadable(file, format!("there is nobody whose profile it would be: {what}")));
    }
    let mut convert = Convert::new(&dir, anchor);
    convert.profile.problems.merge(problems);
    if let Some(what) = damage {
        convert.profile.trouble(what);
    }
    convert.metrics(&archive)?;
    let len = archive.file.metadata().map_err(cannot)?.len();
    let others = (archive.others > 0).then_some(("other member of the archive", archive.others));
    let counts = convert.anchor().counts.iter().map(|(name, number)| (*name, *number));
    let definitions = with_fates(counts.chain(others));
    let records = with_fates(convert.counts.iter().map(|(name, number)| (*name, *number)));
    let mut imported = convert.profile.finish(spool, (progress, len))?;
    imported.events = records.iter().map(|it| it.2).sum();
    (imported.records, imported.definitions) = (records, definitions);
    Ok(imported)
}

fn with_fates(counts: impl Iterator<Item = (&'static str, u64)>) -> Vec<(String, Fate, u64)> {
    let fate =
        |name: &str| KINDS.iter().find(|kind| kind.name == name).map_or(Fate::Ignored, |kind| kind.fate);
    let mut all: Vec<_> = counts.map(|(name, number)| (name.to_owned(), fate(name), number)).collect();
    all.sort();
    all
}

/// What becomes of all that is in a profile, in Markdown.
pub(crate) fn document() -> String {
    let mut text = String::from(
        "## CUBE 4\n\nProfiles of Score-P, Scalasca and others (`.cubex`), the archive or its `anchor.xml` compressed by gzip or not, rows compressed by zlib or not. \
         They have no times, so the run is one of sums. Checksums of the archive are not looked at.\n\
         Metrics whose unit is one of time are in ns, all values are rounded to whole numbers; those below nothing count as nothing and are a problem. \
\n\
         | what | fate | in a run |\n|---|---|---|\n",
    );
    for Kind { name, fate, becomes } in KINDS {
        text += &format!("| {name} | {} | {becomes} |\n", fate.name());
    }
    text
}
