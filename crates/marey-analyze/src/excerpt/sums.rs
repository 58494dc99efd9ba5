//! The sums of a part, in the making.
//!
//! The one idea: a visit says by itself what it adds to its call path and what it takes from the exclusive time of the one
//! above, so visits may come in any order and nothing is kept of them.
//!
//! What is deliberately absent: what is meant; that is said by the selection.

use marey_model::{CallPathId, Level, LocationId, Nanos, ProcessId, StackId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::happenings::{Happenings, Message, Span, Unread, Visit};
use crate::paths::float;
use crate::selection::Selection;
use crate::trace::{
    BinRow, CallPath, CommunicationRow, CommunicatorId, ProfileRow, Region, SampledRow, Trace,
};

/// Sums over visits.
pub(super) struct Visits<'s> {
    paths: &'s [CallPath],
    regions: &'s [Region],
    /// Of each location whether it has time.
    has_time: Vec<bool>,
    selection: &'s Selection,
    span: Span,
    rows: FxHashMap<(CallPathId, LocationId), Row>,
    /// By the power of two of the duration; `None` = one of 0, and in place of all: not known.
    bins: FxHashMap<(CallPathId, LocationId, Option<Option<u32>>), u64>,
    only: Option<Only<'s>>,
}

/// Calls of MPI that are meant alone.
struct Only<'s> {
    regions: &'s [Region],
    /// By whom, and when they were entered.
    calls: FxHashSet<(LocationId, Nanos)>,
    /// Those that are open on each location, outermost first: when they end, and their path.
    open: FxHashMap<LocationId, Vec<(Nanos, CallPathId)>>,
}

/// Of a call path on a location.
#[derive(Clone, Copy)]
struct Row {
    visits: u64,
    inclusive: i64,
    exclusive: i64,
    /// Of those of which each is known.
    min: i64,
    max: i64,
    sum_squares: f64,
    bytes: u64,
    /// Of some only the sum is known.
    has_polls: bool,
}

impl Default for Row {
    fn default() -> Self {
        Self {
            visits: 0,
            inclusive: 0,
            exclusive: 0,
            min: i64::MAX,
            max: 0,
            sum_squares: 0.0,
            bytes: 0,
            has_polls: false,
        }
    }
}

impl Row {
    /// Somebody was so long in a call beneath. Times of damaged runs add up to anything.
    fn take_away(&mut self, time: i64) {
        self.exclusive = self.exclusive.saturating_sub(time);
    }
}

impl<'s> Visits<'s> {
    pub(super) fn new(run: &'s impl Trace, selection: &'s Selection, span: Span) -> Self {
        Self {
            paths: run.call_paths(),
            regions: run.regions(),
            has_time: run.locations().iter().map(crate::trace::Location::has_time).collect(),
            selection,
            span,
            rows: FxHashMap::default(),
            bins: FxHashMap::default(),
            only: None,
        }
    }

    /// Only calls of MPI are meant that were entered by these and then.
    pub(super) fn only(&mut self, calls: FxHashSet<(LocationId, Nanos)>) {
        self.only = Some(Only { regions: self.regions, calls, open: FxHashMap::default() });
    }

    /// Takes all visits of which something lies in the span.
    pub(super) fn read(&mut self, events: &impl Happenings) -> Result<(), Unread> {
        let slabs = events.slabs();
        let first = slabs.partition_point(|begin| *begin <= self.span.from).max(1) - 1;
        if first > 0 {
            events.visits_open_at(first)?.iter().for_each(|visit| self.add(visit));
        }
        for (slab, begin) in slabs.iter().enumerate().skip(first) {
            if slab > first && *begin >= self.span.to {
                break;
            }
            events.visits(slab, &mut |batch| batch.iter().for_each(|visit| self.add(visit)))?;
        }
        Ok(())
    }

    fn add(&mut self, visit: &Visit) {
        let interval = visit.interval;
        let (path, location) = (interval.call_path, interval.location);
        let begins = self.span.from <= interval.start && interval.start < self.span.to;
        let within = self.span.clip(interval.start, interval.end);
        if (!begins && within.is_none())
            || path.idx() >= self.paths.len()
            || !self.has_time.get(location.idx()).copied().unwrap_or(false)
            || !self.selection.has_location(location)
        {
            return;
        }
        let time = within.map_or(0, |(from, to)| (visit.inside_before(to) - visit.inside_before(from)).0);
        let above = self.paths[path.idx()].parent.filter(|above| above.idx() < path.idx());
        if let Some(only) = &mut self.only {
            let open = only.open.entry(location).or_default();
            while open.last().is_some_and(|(end, _)| *end <= interval.start) {
                open.pop();
            }
            let is_in = open.last().is_some_and(|(_, path)| Some(*path) == above);
            let region = only.regions.get(self.paths[path.idx()].region.idx());
            let is_mpi = region.is_some_and(|region| region.level == Level::MPI);
            let is_meant = is_mpi && only.calls.contains(&(location, interval.start));
            if is_meant {
                open.push((interval.end, path));
            }
            if let Some(above) = above.filter(|_| is_in) {
                self.rows.entry((above, location)).or_default().take_away(time);
            }
            if !is_meant {
                return;
            }
        }
        let row = self.rows.entry((path, location)).or_default();
        row.inclusive = row.inclusive.saturating_add(time);
        row.exclusive = row.exclusive.saturating_add(time);
        if begins {
            let whole = visit.inside_before(interval.end).0;
            let number = u64::from(visit.interval.visits);
            row.visits = row.visits.saturating_add(number);
            row.bytes = row.bytes.saturating_add(visit.bytes.unwrap_or(0));
            let bin = if visit.interval.visits == 1 {
                (row.min, row.max) = (row.min.min(whole), row.max.max(whole));
                row.sum_squares += float(Nanos(whole)) * float(Nanos(whole));
                Some(u64::try_from(whole).ok().and_then(u64::checked_ilog2))
            } else {
                row.has_polls = true;
                // As if all of them had been equally long.
                row.sum_squares +=
                    float(Nanos(whole)) * float(Nanos(whole)) / f64::from(visit.interval.visits.max(1));
                None
            };
            let bin = self.bins.entry((path, location, bin)).or_default();
            *bin = bin.saturating_add(number);
        }
        if let Some(above) = above.filter(|_| self.only.is_none()) {
            self.rows.entry((above, location)).or_default().take_away(time);
        }
    }

    /// The rows of the calls that are meant, and the histograms of their durations.
    pub(super) fn finish(self) -> (Vec<ProfileRow>, Vec<BinRow>) {
        let Self { rows, bins, selection, .. } = self;
        let is_meant = |path: CallPathId| selection.has_call(Some(path));
        let mut rows: Vec<_> = rows
            .into_iter()
            .filter(|((path, _), row)| is_meant(*path) && (row.visits > 0 || row.inclusive > 0))
            .collect();
        rows.sort_unstable_by_key(|(key, _)| *key);
        let mut bins: Vec<_> = bins.into_iter().filter(|((path, ..), _)| is_meant(*path)).collect();
        bins.sort_unstable_by_key(|(key, _)| *key);
        (rows.into_iter().map(profile_row).collect(), bins.into_iter().map(bin_row).collect())
    }
}

fn profile_row(((call_path, location), row): ((CallPathId, LocationId), Row)) -> ProfileRow {
    let known = |time: i64| (row.visits > 0 && !row.has_polls).then_some(Nanos(time));
    ProfileRow {
        call_path,
        location,
        visits: row.visits,
        untimed: 0,
        inclusive: Nanos(row.inclusive),
        // Less than nothing where records are missing of what was around.
        exclusive: Nanos(row.exclusive.max(0)),
        min: known(row.min),
        max: known(row.max),
        sum_squares: row.sum_squares,
        bytes: row.bytes,
    }
}

fn bin_row(
    ((call_path, location, bin), number): ((CallPathId, LocationId, Option<Option<u32>>), u64),
) -> BinRow {
    let range = |log2: Option<u32>| match log2 {
        None => (0, 1),
        Some(log2) => (1 << log2, 1_u64.checked_shl(log2 + 1).unwrap_or(u64::MAX)),
    };
    BinRow { call_path, location, bin: bin.map(|log2| (log2, range(log2))), number }
}

/// From, to, on which communicator, of what order of size.
type Channel = (ProcessId, ProcessId, Option<CommunicatorId>, Option<u32>);

/// Sums over messages.
#[derive(Default)]
pub(super) struct Messages {
    rows: FxHashMap<Channel, (u64, u64)>,
}

impl Messages {
    pub(super) fn add(&mut self, run: &impl Trace, message: &Message) {
        let process = |id: LocationId| run.locations().get(id.idx()).map(|location| location.process);
        let from = message.sending.and_then(|sending| process(sending.location));
        let to = message.receiving.and_then(|receiving| process(receiving.location));
        let (Some(from), Some(to)) = (from, to) else { return };
        let size = message.bytes.checked_ilog2();
        let sum = self.rows.entry((from, to, message.communicator, size)).or_default();
        *sum = (sum.0 + 1, sum.1.saturating_add(message.bytes));
    }

    pub(super) fn finish(self) -> Vec<CommunicationRow> {
        let mut rows: Vec<_> = self.rows.into_iter().collect();
        rows.sort_unstable();
        let row = |((from, to, communicator, size_log2), (messages, bytes))| CommunicationRow {
            from,
            to,
            communicator,
            size_log2,
            is_size_known: true,
            messages,
            bytes,
        };
        rows.into_iter().map(row).collect()
    }
}

/// Innermost region, by whom, stack, and whether that is complete.
type Context = (Option<CallPathId>, LocationId, Option<StackId>, bool);

/// Sums over samples.
#[derive(Default)]
pub(super) struct Samples {
    rows: FxHashMap<Context, (u64, Nanos)>,
}

impl Samples {
    pub(super) fn add(&mut self, row: &SampledRow) {
        let sum = self.rows.entry((row.call_path, row.location, row.stack, row.is_complete)).or_default();
        *sum = (sum.0.saturating_add(row.samples), sum.1 + row.time);
    }

    pub(super) fn finish(self) -> Vec<SampledRow> {
        let mut rows: Vec<_> = self.rows.into_iter().collect();
        rows.sort_unstable();
        let row = |((call_path, location, stack, is_complete), (samples, time))| SampledRow {
            call_path,
            location,
            stack,
            samples,
            time,
            is_complete,
        };
        rows.into_iter().map(row).collect()
    }
}
