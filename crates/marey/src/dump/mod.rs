//! `marey dump`: the events of a run in the order of time.
//!
//! The one idea: parts are read in the order in which they begin, and a line is printed as soon as
//! no unread part can hold an earlier one. So memory is bounded by the parts that overlap, not by
//! the length of the run, and `--limit` stops reading early.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::bail;
use marey_analyze::Trace;
use marey_archive::schema::{self, TableSpec};
use marey_archive::{Archive, Filter, Part};
use marey_model::{LocationId, Nanos, ProcessId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::cli::DumpArgs;
use crate::exit::{Usage, say, text_of};
use crate::run::Run;

mod event;
mod line;
mod source;

use event::{Event, Key, Turn, What};
use line::Printer;
use source::Source;

/// Runs the command.
pub(crate) fn run(args: &DumpArgs) -> anyhow::Result<ExitCode> {
    if let (Some(from), Some(to)) = (args.from, args.to)
        && to < from
    {
        bail!(Usage("--to lies before --from: no event can be between".to_owned()));
    }
    let Run { archive, trace, .. } = Run::open(&args.run)?;
    let window = Window {
        from: args.from.unwrap_or(Nanos(i64::MIN)),
        to: args.to.unwrap_or(Nanos(i64::MAX)),
        locations: wanted_locations(args, &trace)?,
    };
    let source = Source::new(&archive);
    let mut printer = Printer::new(&archive, &trace, args.json)?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    printer.head(&mut out)?;
    let mut left = args.limit.unwrap_or(u64::MAX);
    if left == 0 {
        return Ok(out.flush().map(|()| ExitCode::SUCCESS)?);
    }
    print_in_order(&archive, &source, &window, heap_peaks(&trace, &window), &mut |event| {
        left -= 1;
        printer.print(&mut out, event)?;
        Ok(if left == 0 { Go::Stop } else { Go::On })
    })?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// What the user wants to see.
#[derive(Debug)]
struct Window {
    from: Nanos,
    to: Nanos,
    /// `None` = all.
    locations: Option<FxHashSet<LocationId>>,
}

impl Window {
    fn wants(&self, location: LocationId) -> bool {
        self.locations.as_ref().is_none_or(|wanted| wanted.contains(&location))
    }

    /// Whether something that lasts from `start` to `end` is to be seen.
    fn meets(&self, start: Nanos, end: Nanos) -> bool {
        self.from <= end && start <= self.to
    }
}

/// Whether more lines are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Go {
    On,
    Stop,
}

fn wanted_locations(args: &DumpArgs, trace: &dyn Trace) -> anyhow::Result<Option<FxHashSet<LocationId>>> {
    if let Some(location) = args.location.map(LocationId) {
        if trace.locations().get(location.idx()).is_none() {
            bail!(Usage(format!("this run has no location {}", location.0)));
        }
        return Ok(Some(FxHashSet::from_iter([location])));
    }
    let Some(rank) = args.rank else { return Ok(None) };
    let is_of_rank = |process: ProcessId| {
        trace.processes().get(process.idx()).is_some_and(|process| process.rank == Some(rank))
    };
    let places = trace.locations().iter().enumerate().filter(|(_, place)| is_of_rank(place.process));
    let wanted: FxHashSet<LocationId> = places.filter_map(|(idx, _)| LocationId::from_idx(idx)).collect();
    if wanted.is_empty() {
        bail!(Usage(format!("this run has no rank {rank}")));
    }
    Ok(Some(wanted))
}

/// The tables that have something to print.
const TABLES: [&TableSpec; 7] = [
    &schema::INTERVALS,
    &schema::OVERLAPS,
    &schema::MESSAGES,
    &schema::COLLECTIVES,
    &schema::EDGES,
    &schema::EVENTS,
    &schema::COUNTERS,
];

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
            let key = Key { time, location, turn: Turn::Act, order: 0 };
            events.push(Event { key, what: What::HeapPeak { bytes: heap.peak } });
        }
    }
    events
}

fn print_in_order(
    archive: &Archive,
    source: &Source<'_>,
    window: &Window,
    others: Vec<Event>,
    each: &mut dyn FnMut(&Event) -> anyhow::Result<Go>,
) -> anyhow::Result<()> {
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

    let mut waiting: BinaryHeap<Reverse<Event>> = others.into_iter().map(Reverse).collect();
    for (begin, table, part) in parts {
        if print_before(&mut waiting, Some(Nanos(begin)), each)? == Go::Stop {
            return Ok(());
        }
        // What was readable of a damaged part is shown all the same.
        if let Err(error) = source.read(table, part, window, &mut |event| waiting.push(Reverse(event))) {
            say(&format!("warning: {}", text_of(&error)));
        }
    }
    print_before(&mut waiting, None, each).map(|_| ())
}

/// Prints what happened before `limit`, or everything.
fn print_before(
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
