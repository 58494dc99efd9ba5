//! Why a run took as long as it did: waits, their causes and the critical path, together.
//!
//! The one idea: all of it comes from the same pieces of time, so one pass over the intervals serves all, and the sums
//! agree with each other by construction.
//!
//! What is deliberately absent: what is worth a word.

use std::cell::RefCell;
use std::collections::BTreeMap;

use marey_model::{CallPathId, LocationId, Nanos};
use rustc_hash::FxHashMap;

use crate::activities::{Activity, Piece, span_of};
use crate::critical::{CriticalPath, PathSpan, critical_path};
use crate::delays::{Delays, delays_and};
use crate::happenings::{Happenings, Span, Unread};
use crate::selection::Selection;
use crate::trace::Trace;
use crate::waits::{Pattern, Waits, completion_in, waits_in};
use crate::what_if::{Graph, Ideal, Variant, Variants};

/// Grows whenever the same run has other [`Causes`] than before: what was prepared by an older version is not used then.
pub const EXPLANATION_VERSION: i64 = 5;

/// What explains a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Causes {
    /// Who waited for whom.
    pub waits: Waits,
    /// What those did that were waited for.
    pub delays: Delays,
    /// What made the run as long as it was.
    pub path: CriticalPath,
    /// The time of all locations: the rows of one add up to the length of the run. By (location, activity).
    pub times: Vec<TimeRow>,
    /// What of the run all of it is about.
    pub span: Span,
    /// When each location would come to the beginning of that and to its end, or its own, with a network that costs nothing.
    pub ideal: Vec<(Nanos, Nanos)>,
    /// The same if all that parallel libraries do but wait cost nothing, setting them up too.
    pub bare: Vec<(Nanos, Nanos)>,
}

/// How long a location did what.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimeRow {
    /// Who.
    pub location: LocationId,
    /// What.
    pub activity: Activity,
    /// How long, waits left out.
    pub time: Nanos,
    /// How long it waited meanwhile.
    pub waiting: Nanos,
    /// How much of both was on the critical path.
    pub on_path: Nanos,
    /// From the first instant of that to the last; 0 if there is none.
    pub path_span: (Nanos, Nanos),
}

/// Explains a run. Time grows in proportion to its events, but for [`crate::delays`]; memory holds a slab, the waits and the
/// path.
///
/// # Errors
/// What of the run could not be read.
pub fn causes(run: &impl Trace, events: &impl Happenings) -> Result<Causes, Unread> {
    causes_of(run, events, &Selection::default())
}

/// The same of a part of a run: of the waits that are meant, and their causes in the span. The critical path is that of the
/// whole run, for what follows decides it; of it and of all times what lies in the span.
///
/// # Errors
/// As for [`causes`].
pub fn causes_of(
    run: &impl Trace,
    events: &impl Happenings,
    selection: &Selection,
) -> Result<Causes, Unread> {
    // A run may be over before its events are.
    let waits = waits_in(run, events, Span { to: span_of(run, Span::ALL).to, ..Span::ALL })?;
    let path = critical_path(run, events, &waits)?;
    part(run, events, selection, waits, path, None)
}

/// The same of a run of which it is known what explains the whole: time grows with the events of the span, and with the
/// waits of the run.
///
/// # Errors
/// As for [`causes`].
pub fn causes_within(
    run: &impl Trace,
    events: &impl Happenings,
    selection: &Selection,
    whole: Causes,
) -> Result<Causes, Unread> {
    part(run, events, selection, whole.waits, whole.path, Some([whole.ideal, whole.bare]))
}

/// `waits`, `path` and, if they are known, `ideal` and bare times are the whole run's.
fn part(
    run: &impl Trace,
    events: &impl Happenings,
    selection: &Selection,
    mut waits: Waits,
    mut path: CriticalPath,
    ideal: Option<[Vec<(Nanos, Nanos)>; 2]>,
) -> Result<Causes, Unread> {
    let span = span_of(run, selection.span);
    let is_whole = span == span_of(run, Span::ALL);
    let known = ideal.filter(|_| is_whole);
    let graph;
    let variants = Variants::new(run, Variant::ideals());
    let ideal = match &known {
        Some(_) => None,
        None => {
            graph = Graph::of_span(run, events, &waits, selection.span)?;
            Some(RefCell::new(Ideal::new(run, events, &graph, &variants, span)?))
        }
    };
    if !is_whole {
        waits = waits_within(run, events, waits, span)?;
        path.clip(span);
    }
    let mut times = Times::new(run, &path);
    let delays = delays_and(
        run,
        events,
        &waits,
        span,
        |wait| selection.has(wait),
        |location, piece| {
            times.add(location, piece);
            if let Some(ideal) = &ideal {
                ideal.borrow_mut().add(location, piece);
            }
        },
        |until| ideal.as_ref().map_or(Ok(()), |ideal| ideal.borrow_mut().slab(until)),
    )?;
    let replayed = ideal.map(|ideal| ideal.into_inner().finish());
    let [ideal, bare] = known.or(replayed).unwrap_or_default();
    waits.list.retain(|wait| selection.has(wait));
    waits.completion.retain(|row| selection.has_location(row.1));
    Ok(Causes { times: times.finish(), waits, delays, path, span, ideal, bare })
}

/// What of the waits of a run lies in a span. Where the shortest of the run are not listed, those of the span may be.
fn waits_within(
    run: &impl Trace,
    events: &impl Happenings,
    mut waits: Waits,
    span: Span,
) -> Result<Waits, Unread> {
    if waits.unlisted.number > 0 {
        return waits_in(run, events, span);
    }
    waits.list.retain_mut(|wait| match span.clip(wait.from, wait.to) {
        Some(within) => {
            (wait.from, wait.to) = within;
            true
        }
        None => false,
    });
    waits.completion = completion_in(run, events, span)?;
    Ok(waits)
}

/// Time, waiting, time on the path, and the span of that.
#[derive(Clone, Copy, Default)]
struct Sums {
    time: Nanos,
    waiting: Nanos,
    on_path: Nanos,
    path_span: Option<(Nanos, Nanos)>,
}

/// Sums in the making.
struct Times {
    rows: FxHashMap<(LocationId, Activity), Sums>,
    /// Of each location the spans of the path that are still to come, the last first.
    spans: Vec<Vec<PathSpan>>,
    /// Of each whether it has time.
    has_time: Vec<bool>,
}

impl Times {
    fn new(run: &impl Trace, path: &CriticalPath) -> Self {
        let mut spans = vec![Vec::new(); run.locations().len()];
        for span in path.spans.iter().rev() {
            spans[span.location.idx()].push(*span);
        }
        let has_time = run.locations().iter().map(crate::trace::Location::has_time).collect();
        Self { rows: FxHashMap::default(), spans, has_time }
    }

    fn add(&mut self, location: LocationId, piece: &Piece) {
        let Some(activity) = piece.doing.activity().filter(|_| self.has_time[location.idx()]) else { return };
        let spans = &mut self.spans[location.idx()];
        let row = self.rows.entry((location, activity)).or_default();
        while let Some(span) = spans.last().copied().filter(|span| span.from < piece.end) {
            let (from, to) = (span.from.max(piece.start), span.to.min(piece.end));
            if from < to {
                row.on_path = row.on_path + (to - from);
                row.path_span = Some((row.path_span.map_or(from, |first| first.0), to));
            }
            if span.to > piece.end {
                break;
            }
            spans.pop();
        }
        let length = piece.end - piece.start;
        let sum = if piece.waits_until > Nanos(0) { &mut row.waiting } else { &mut row.time };
        *sum = *sum + length;
    }

    fn finish(self) -> Vec<TimeRow> {
        let row = |((location, activity), sums): (_, Sums)| TimeRow {
            location,
            activity,
            time: sums.time,
            waiting: sums.waiting,
            on_path: sums.on_path,
            path_span: sums.path_span.unwrap_or_default(),
        };
        let mut rows: Vec<TimeRow> = self.rows.into_iter().map(row).collect();
        rows.sort_unstable_by_key(|row| (row.location, row.activity));
        rows
    }
}

impl Causes {
    /// How long was waited in the calls of each region, by [`marey_model::RegionId`].
    pub fn waiting_by_region(&self, run: &dyn Trace) -> Vec<Nanos> {
        let mut sums = vec![Nanos(0); run.regions().len()];
        for wait in &self.waits.list {
            let path = wait.call_path.and_then(|path| run.call_paths().get(path.idx()));
            if let Some(sum) = path.and_then(|path| sums.get_mut(path.region.idx())) {
                *sum = *sum + wait.length();
            }
        }
        sums
    }
}

/// Waits of one pattern in one call path of one location.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaitState {
    /// What was waited for.
    pub pattern: Pattern,
    /// In which calls.
    pub call_path: Option<CallPathId>,
    /// By whom.
    pub location: LocationId,
    /// How long together.
    pub time: Nanos,
    /// How many times.
    pub number: u64,
    /// How long at most.
    pub longest: Nanos,
}

/// Waits added up, by (pattern, call path, location).
pub fn wait_states(waits: &Waits) -> Vec<WaitState> {
    let mut rows: BTreeMap<_, WaitState> = BTreeMap::new();
    for wait in &waits.list {
        let (pattern, call_path, location) = (wait.pattern, wait.call_path, wait.location);
        let none = WaitState { pattern, call_path, location, time: Nanos(0), number: 0, longest: Nanos(0) };
        let row = rows.entry((pattern, call_path, location)).or_insert(none);
        row.time = row.time + wait.length();
        row.number += 1;
        row.longest = row.longest.max(wait.length());
    }
    rows.into_values().collect()
}
