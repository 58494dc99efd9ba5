//! The events of a run in the order of time, in bounded memory.
//!
//! The one idea: parts are read in the order in which they begin, and an event is handed on as soon as
//! no unread part can hold an earlier one. So memory is bounded by the parts that overlap, not by
//! the length of the run, and whoever has had enough stops reading early.
//!
//! Deliberately absent: what becomes of events: `dump` prints them, `export` has them written.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use marey_analyze::Trace;
use marey_archive::schema::{self, TableSpec};
use marey_archive::{Archive, Filter, Part};
use marey_formats::write::{Event, Key, Turn, What};
use marey_model::{LocationId, Nanos};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::exit::{say, text_of};

mod source;

use source::Source;

/// What is wanted of a run.
#[derive(Debug)]
pub(crate) struct Window {
    pub(crate) from: Nanos,
    pub(crate) to: Nanos,
    /// `None` = all.
    pub(crate) locations: Option<FxHashSet<LocationId>>,
}

impl Window {
    /// All of a run.
    pub(crate) const ALL: Self = Self { from: Nanos(i64::MIN), to: Nanos(i64::MAX), locations: None };

    fn wants(&self, location: LocationId) -> bool {
        self.locations.as_ref().is_none_or(|wanted| wanted.contains(&location))
    }

    /// Whether something that lasts from `start` to `end` is to be seen.
    fn meets(&self, start: Nanos, end: Nanos) -> bool {
        self.from <= end && start <= self.to
    }
}

/// Whether more events are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Go {
    On,
    Stop,
}

/// The tables that have events.
const TABLES: [&TableSpec; 7] = [
    &schema::INTERVALS,
    &schema::OVERLAPS,
    &schema::MESSAGES,
    &schema::COLLECTIVES,
    &schema::EDGES,
    &schema::EVENTS,
    &schema::COUNTERS,
];

/// Rows of all these tables.
pub(crate) fn n_rows(archive: &Archive) -> u64 {
    TABLES.iter().flat_map(|table| archive.parts(table.name)).map(|part| part.rows).sum()
}

/// When the heap of each process was at its peak, on its first location; at its end, if it never became smaller.
fn heap_peaks(trace: &dyn Trace, window: &Window) -> Vec<Event> {
    let mut events = Vec::new();
    let mut firsts = FxHashMap::default();
    for (idx, location) in trace.locations().iter().enumerate() {
        firsts.entry(location.process).or_insert(idx);
    }
    for heap in trace.heaps() {
        let first = firsts.get(&heap.process).copied();
        let Some(location) = first.and_then(LocationId::from_idx) else { continue };
        let end = trace.processes().get(heap.process.idx()).map_or(Nanos(0), |process| process.end);
        let time = heap.peak_time.unwrap_or(end);
        if heap.peak > 0 && window.wants(location) && window.meets(time, time) {
            let key = Key { time, location, turn: Turn::Act, order: 0, row: 0 };
            events.push(Event { key, what: What::HeapPeak { bytes: heap.peak } });
        }
    }
    events
}

/// Hands over all events of the window in order. What can be read of a damaged part comes all the same, and a warning.
/// `read` is told how many rows were read.
pub(crate) fn in_order(
    (archive, trace): (&Archive, &dyn Trace),
    window: &Window,
    read: &dyn Fn(u64),
    each: &mut dyn FnMut(&Event) -> anyhow::Result<Go>,
) -> anyhow::Result<()> {
    let mut source = Source::new(archive);
    let mut parts: Vec<(i64, &'static TableSpec, &Part)> = Vec::new();
    for table in TABLES {
        for part in archive.parts(table.name) {
            let begin = part.min_time.unwrap_or(i64::MIN);
            let end = part.max_time.unwrap_or(i64::MAX);
            if window.meets(Nanos(begin), Nanos(end)) {
                parts.push((begin, table, part));
            }
        }
    }
    parts.sort_by_key(|&(begin, table, part)| (begin, table.name, part.group));

    let mut waiting: BinaryHeap<Reverse<Event>> =
        heap_peaks(trace, window).into_iter().map(Reverse).collect();
    for (begin, table, part) in parts {
        if before(&mut waiting, Some(Nanos(begin)), each)? == Go::Stop {
            return Ok(());
        }
        if let Err(error) = source.read(table, part, window, &mut |event| waiting.push(Reverse(event))) {
            say(&format!("warning: {}", text_of(&error)));
        }
        read(part.rows);
    }
    before(&mut waiting, None, each).map(|_| ())
}

/// Hands over what happened before `limit`, or everything.
fn before(
    waiting: &mut BinaryHeap<Reverse<Event>>,
    limit: Option<Nanos>,
    each: &mut dyn FnMut(&Event) -> anyhow::Result<Go>,
) -> anyhow::Result<Go> {
    while let Some(Reverse(event)) = waiting.peek() {
        if limit.is_some_and(|limit| limit <= event.key.time) {
            return Ok(Go::On);
        }
        if each(event)? == Go::Stop {
            return Ok(Go::Stop);
        }
        waiting.pop();
    }
    Ok(Go::On)
}

/// Asks for rows that begin no later than the window ends.
fn up_to<'a>(column: &'a str, window: &Window) -> Filter<'a> {
    Filter { column, range: i64::MIN..window.to.0.saturating_add(1) }
}
