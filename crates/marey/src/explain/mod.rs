//! Why a run took as long as it did: `marey waits`, `marey path`, `marey phases`, `marey anomalies` and `marey situations`; and what would
//! change that: `marey what-if`.
//!
//! The one idea: a row is a place in the program, for that is what its author can change; calls that led there by
//! different ways are one. Numbers come from `marey-analyze`, and agree from one table to the next.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;

use anyhow::bail;
use marey_analyze::{Activity, Causes, LocationKind, Selection, Span, Trace, Unread, Waits, routine, waits};
use marey_archive::Events;
use marey_model::{CallPathId, LocationId, Nanos};

use crate::cli::ExplainArgs;
use crate::format;
use crate::paint::{Look, Paint, harmless, shorten};
use crate::run::Run;
use crate::table::Cell;
use crate::words;

pub(crate) mod anomalies;
mod command;
pub(crate) mod findings;
pub(crate) mod granularity;
pub(crate) mod part;
pub(crate) mod path;
pub(crate) mod phases;
mod sheet;
pub(crate) mod situations;
pub(crate) mod waits;
pub(crate) mod what_if;

use part::{Options, Part};

/// Of a run that part may have sums instead of events: what happened there is as good as nothing.
const MAY_LACK: f64 = 0.1;

/// Refuses a run of which a good part has sums only: what is not there would be told as computation.
pub(crate) fn has_events(run: &Run, path: &Path) -> anyhow::Result<()> {
    if let Some(words) = crate::info::without_times(run.archive.meta()) {
        bail!("{} cannot be explained: it was imported from {words}", path.display());
    }
    let Some(since) = crate::info::summed_since(&run.archive) else { return Ok(()) };
    let duration = run.trace.duration();
    #[expect(clippy::cast_precision_loss, reason = "a tenth is a tenth, give or take a millionth")]
    let lacks = (duration - since).0 as f64 > MAY_LACK * duration.0 as f64;
    if lacks {
        bail!(
            "{} cannot be explained: its events were kept until {} of {} only, and then added up; record a shorter run, \
             less of it (--rule, --filter), or more (--max-mb)",
            path.display(),
            format::duration(since),
            format::duration(duration)
        );
    }
    Ok(())
}

/// Explains a whole run, of which hardly anything may be missing.
pub(crate) fn explained(run: &Run, path: &Path) -> anyhow::Result<Causes> {
    has_events(run, path)?;
    let selection = Selection::default();
    let (words, options) = (String::new(), Options::default());
    Part { selection, until: None, words, options }.causes(run, path)
}

/// The waits of a whole run, prepared or found.
pub(crate) fn all_waits(run: &Run, events: &Events<'_>) -> Result<Waits, Unread> {
    match marey_archive::prepared(&run.archive, &run.trace) {
        Some(causes) => Ok(causes.waits),
        None => waits(&run.trace, events),
    }
}

/// `the run of 2.39 s`, `500 ms of the run, from 1 s to 1.5 s`
fn length(trace: &dyn Trace, causes: &Causes) -> String {
    let Span { from, to } = causes.span;
    let length = format::duration(to - from);
    if to - from >= trace.duration() {
        return format!("the run of {length}");
    }
    format!("{length} of the run, from {} to {},", format::duration(from), format::duration(to))
}

/// Where and how tables are printed.
pub(crate) struct Page<'p> {
    pub(crate) out: &'p mut dyn Write,
    pub(crate) paint: Paint,
    /// Rows of a table at most.
    pub(crate) top: usize,
    pub(crate) trace: &'p dyn Trace,
    pub(crate) causes: &'p Causes,
    /// Where the run is, as the user said it.
    pub(crate) path: &'p Path,
    /// How the part is asked for that it is about.
    pub(crate) options: Options,
}

impl<'p> Page<'p> {
    fn new(out: &'p mut dyn Write, args: &'p ExplainArgs, run: &'p Run, causes: &'p Causes) -> Self {
        let paint = Paint::for_stdout();
        let paint = if args.no_color { paint.without_colour() } else { paint };
        let top = usize::try_from(args.top).unwrap_or(usize::MAX);
        Self { out, paint, top, trace: &run.trace, causes, path: &args.run, options: Options::default() }
    }

    /// What is told of less than was asked for.
    fn cut(&mut self, run: &Run, part: &Part) -> io::Result<()> {
        match part.cut(run) {
            Some(words) => crate::paint::note(self.out, self.paint, &words),
            None => Ok(()),
        }
    }

    fn more(&mut self, rows: usize) -> io::Result<()> {
        crate::table::more(self.out, self.paint, rows.saturating_sub(self.top), "row", "rows")
    }
}

/// A place in the program: what was called there, and from where. The JSON of all commands has it by these names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
struct Place<'t> {
    /// `region`, `outside`, `not started`.
    activity: &'static str,
    level: &'t str,
    region: &'t str,
    function: &'t str,
    file: &'t str,
    line: u32,
    /// The routine of a library by way of which that function called; empty = it did itself.
    routine: &'t str,
}

impl<'t> Place<'t> {
    fn of(trace: &'t dyn Trace, activity: Activity) -> Self {
        let none =
            Self { activity: "outside", level: "", region: "", function: "", file: "", line: 0, routine: "" };
        match activity {
            Activity::Path(path) => Self::of_call(trace, Some(path)),
            Activity::Outside => none,
            Activity::NotStarted => Self { activity: "not started", ..none },
        }
    }

    fn of_call(trace: &'t dyn Trace, path: Option<CallPathId>) -> Self {
        let region = path.and_then(|path| trace.call_paths().get(path.idx()));
        let region = region.and_then(|path| trace.regions().get(path.region.idx()));
        let (level, name) = region.map_or(("", ""), |region| (region.level.as_str(), region.name()));
        let own = region.map_or(("", "", 0), |region| ("", region.file.as_str(), region.line));
        let (function, file, line) = path
            .and_then(|path| words::caller(trace, path))
            .map_or(own, |frame| (frame.function.as_str(), frame.file.as_str(), frame.line));
        let routine = path.and_then(|path| routine(trace, path)).unwrap_or_default();
        Self { activity: "region", level, region: name, function, file, line, routine }
    }

    /// What was done, and where in the program.
    fn cells(&self) -> [Cell; 2] {
        let [what, place] = self.texts();
        [shorten(&what, 40).into(), Cell::new(Look::Faint, shorten(&place, 60))]
    }

    /// The same as texts.
    fn texts(&self) -> [String; 2] {
        let what = match self.activity {
            "outside" => "computation".to_owned(),
            "region" if self.region.is_empty() => "(unknown)".to_owned(),
            "region" => harmless(self.region),
            other => other.to_owned(),
        };
        let place = words::place(self.file, self.line);
        let place = match (self.function, place.is_empty()) {
            ("", _) => place,
            (function, true) => words::function(function),
            (function, false) => format!("{} ({place})", shorten(&words::function(function), 40)),
        };
        let place = match self.routine {
            "" => place,
            routine => format!("{} ← {place}", shorten(&words::function(routine), 24)),
        };
        [what, place]
    }
}

/// Somebody, as the JSON of all commands has it.
#[derive(Clone, Debug, serde::Serialize)]
struct Who<'t> {
    location: String,
    thread: &'t str,
    rank: Option<u32>,
}

impl<'t> Who<'t> {
    fn new(trace: &'t dyn Trace, id: LocationId) -> Self {
        let thread = trace.locations().get(id.idx()).map_or("", |location| location.name.as_str());
        Self { location: words::location(trace, id), thread, rank: rank(trace, id) }
    }
}

/// What a location is called where it is the subject: with the name that a thread was given, and without a process where
/// there is but one.
fn name(trace: &dyn Trace, id: LocationId) -> String {
    let of = |id: LocationId| trace.locations().get(id.idx());
    let Some(location) = of(id) else { return words::location(trace, id) };
    let first = trace.locations().iter().find(|it| it.process == location.process && it.thread.0 == 0);
    let is_named = location.thread.0 != 0 && first.is_none_or(|first| first.name != location.name);
    let own = if is_named { format!(" ({})", shorten(&harmless(&location.name), 24)) } else { String::new() };
    let is_alone = trace.processes().len() == 1 && rank(trace, id).is_none();
    match (is_alone && location.kind == LocationKind::Thread, location.thread.0) {
        (true, 0) => "the first thread".to_owned(),
        (true, number) => format!("thread {number}{own}"),
        (false, _) => format!("{}{own}", words::location(trace, id)),
    }
}

/// Who: one by name, more by number.
fn who(trace: &dyn Trace, locations: &[LocationId]) -> String {
    match locations {
        [] => String::new(),
        [one] => name(trace, *one),
        all => {
            let processes: BTreeSet<_> =
                all.iter().filter_map(|id| trace.locations().get(id.idx())).map(|it| it.process).collect();
            let is_one_each = processes.len() == all.len();
            let are_ranks = processes
                .iter()
                .all(|id| trace.processes().get(id.idx()).is_some_and(|it| it.rank.is_some()));
            match (is_one_each, are_ranks) {
                (true, true) => format!("{} ranks", all.len()),
                (true, false) => format!("{} processes", all.len()),
                (false, _) => format!("{} threads", all.len()),
            }
        }
    }
}

/// The rank of a location's process in the first world; `None` = it has none there.
fn rank(trace: &dyn Trace, location: LocationId) -> Option<u32> {
    let process = trace.locations().get(location.idx())?.process;
    trace.processes().get(process.idx())?.first_rank()
}

/// The ranks of some locations, in their order: each once, though several of its threads are meant.
fn ranks(trace: &dyn Trace, locations: &[LocationId]) -> Vec<u32> {
    let mut known = BTreeSet::new();
    let ranks = locations.iter().filter_map(|id| rank(trace, *id));
    ranks.filter(|rank| known.insert(*rank)).collect()
}

/// The time that all locations were there.
fn time_of_all(causes: &Causes) -> Nanos {
    let is_there = |row: &&marey_analyze::TimeRow| row.activity != Activity::NotStarted;
    causes.times.iter().filter(is_there).fold(Nanos(0), |sum, row| sum + row.time + row.waiting)
}

/// A cost as a time.
#[expect(clippy::cast_possible_truncation, reason = "runs are shorter than 200 years")]
fn rounded(ns: f64) -> Nanos {
    Nanos(ns.round() as i64)
}

#[cfg(test)]
mod tests {
    use marey_testkit::MadeUp;

    use super::*;

    #[test]
    fn ranks_are_those_of_the_first_world() {
        let mut run = MadeUp::new(3);
        run.spawn_from(2);
        let ranks: Vec<_> = (0..4).map(|location| rank(&run, LocationId(location))).collect();
        assert_eq!(ranks, [Some(0), Some(1), None, None]);
    }

    #[test]
    fn a_rank_of_which_several_threads_are_meant_is_named_once() {
        let mut run = MadeUp::new(2);
        let threads = [run.thread(1), run.thread(0)];
        let all = [LocationId(1), LocationId(0), threads[0], threads[1]];
        assert_eq!(ranks(&run, &all), [1, 0]);
    }
}
