//! What was lost, could not be matched, or contradicts itself.
//!
//! The one idea: nothing is passed over in silence; each kind of loss is a row with a count.

use std::collections::{BTreeMap, BTreeSet};

use marey_model::spool::{MAX_DEPTH, Stream};

use super::index::StreamIndex;
use super::input::Input;
use super::outcome::Mended;
use super::rows::columns;
use super::stream::Decoding;
use super::undefined::LeftOut;
use super::writing::Writing;
use crate::schema::{NONE, PROBLEMS};
use crate::{Column, Columns, Error};

/// A row of `problems`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Problem {
    pub kind: String,
    pub process: u32,
    pub location: u32,
    pub count: u64,
    pub detail: String,
}

/// All problems of the run, sorted.
pub(crate) fn find(input: &Input, decoding: &Decoding, writing: &Writing) -> Vec<Problem> {
    let mut found = Vec::new();
    let mut add = |kind: &str, process: u32, location: u32, count: u64, detail: &str| {
        if count != 0 {
            let (kind, detail) = (kind.to_owned(), detail.to_owned());
            found.push(Problem { kind, process, location, count, detail });
        }
    };
    add("damaged", NONE, NONE, input.index.damaged, "places in the spool where no sound window begins");
    for location in &decoding.locations {
        let (process, id) = (location.process, location.id);
        if let Some(stream) = input.globals.locations[id as usize].stream {
            let stream = &input.index.streams[stream];
            add("lost", process, id, stream.lost, "windows that are missing");
            if let Some(last) = stream.windows.last() {
                add("dropped", process, id, last.dropped, "events that found no place in the spool");
                add("late_ticks", process, id, last.late, "readings of a clock that had run backwards");
            }
        }
        if let Some(decoder) = &location.decoder {
            add("late_ticks", process, id, decoder.late, "windows that begin before the last one ended");
            add("damaged", process, id, decoder.damaged, "records that could not be read");
            add("damaged", process, id, decoder.added_up.damaged, "sums that could not be read");
            let others = "visits of call paths for whose sums there was no place: they are together";
            add("other_paths", process, id, decoder.added_up.others, others);
            let others = "messages of channels for whose sums there was no place: nobody knows to whom";
            add("other_messages", process, id, decoder.added_up.other_messages, others);
            let others = "operations for whose sizes there was no place in a histogram";
            add("other_sizes", process, id, decoder.added_up.other_sizes, others);
            let untimed =
                format!("visits of regions inside {MAX_DEPTH} others, or on lanes that were only added up");
            add("untimed", process, id, decoder.untimed, &untimed);
            add(
                "truncated",
                process,
                id,
                decoder.truncated,
                "regions that were closed because records are missing",
            );
        }
    }
    missing(input, decoding, &mut add);
    for (idx, process) in (0_u32..).zip(&input.processes) {
        let join = &writing.joins[idx as usize];
        let orphans = if input.has_sums(idx as usize) { 0 } else { join.orphans };
        add("orphans", idx, NONE, orphans, "completions of operations that were not seen to begin");
        let overlaps = &writing.overlaps[idx as usize];
        // Where some events were only added up, ends and completions are left over of course.
        let has_sums = input.has_sums(idx as usize);
        let ends = if has_sums { 0 } else { overlaps.orphans };
        add("unmatched_ends", idx, NONE, ends, "ends of states that were not seen to begin");
        add("unmatched_begins", idx, NONE, overlaps.unended, "states that did not end");
        let is_damaged = process.damaged && process.is_defined;
        add("damaged", idx, NONE, is_damaged.into(), "definitions are missing");
        add("unknown", idx, NONE, process.unknown, "definitions of a later version of marey, or damaged");
        for (kind, count, detail) in &process.troubles {
            add(kind, idx, NONE, *count, detail);
        }
        let streams = input.index.streams[input.index.streams_of(process.key)].iter();
        let definitions: Vec<_> = streams.filter(|s| s.kind == Stream::Definitions).collect();
        let lost = definitions.iter().map(|stream| stream.lost).sum();
        add("lost", idx, NONE, lost, "windows of definitions that are missing");
        let (children, dropped) = untold(&definitions);
        add("missing", idx, NONE, children, "forked children that could not be recorded");
        add("dropped", idx, NONE, dropped, "events without a window or a region, or of such children");
    }
    let tally = writing.shards.tally();
    add("unmatched_sends", NONE, NONE, tally.unmatched_sends, "sends of which the receive is not there");
    add(
        "unmatched_receives",
        NONE,
        NONE,
        tally.unmatched_receives,
        "receives of which the send is not there",
    );
    add(
        "ambiguous",
        NONE,
        NONE,
        tally.ambiguous,
        "messages of concurrent threads that could be paired in several ways",
    );
    add(
        "clock_violations",
        NONE,
        NONE,
        tally.violations,
        "messages that seem to arrive before they are sent",
    );
    let Mended { count, sum_ns, most_ns } = tally.mended;
    let mended = format!(
        "messages for which clocks were moved within their bars, by {sum_ns} ns in all, {most_ns} ns at most"
    );
    add("causal_shifts", NONE, NONE, count, &mended);
    let halves = format!("channels with gaps; {} halves of messages in all", tally.unmatchable_halves);
    for (process, channels) in writing.shards.broken() {
        add("unmatchable_channels", process, NONE, channels, &halves);
    }
    found.sort();
    found
}

/// What a process has counted in its definitions: forked children that could not be recorded, and events
/// that belong to no stream.
fn untold(definitions: &[&StreamIndex]) -> (u64, u64) {
    let windows = definitions.iter().flat_map(|stream| &stream.windows);
    windows
        .fold((0, 0), |sum, window| (sum.0.saturating_add(window.late), sum.1.saturating_add(window.dropped)))
}

/// Processes of which one of the two files is missing.
fn missing(input: &Input, decoding: &Decoding, add: &mut impl FnMut(&str, u32, u32, u64, &str)) {
    add("missing", NONE, NONE, input.index.empty, "processes that found no place to write to");
    for left_out in &input.left_out {
        let LeftOut { name, events, bytes } = left_out;
        let detail = format!("events of {name} ({bytes} bytes): its definitions are missing");
        add("missing", NONE, NONE, *events, &detail);
    }
    let mut events = vec![0_u64; input.processes.len()];
    for location in &decoding.locations {
        let own = location.decoder.as_ref().map_or(0, |decoder| decoder.events);
        events[location.process as usize] += own;
    }
    for ((idx, process), events) in (0_u32..).zip(&input.processes).zip(events) {
        if !process.is_defined {
            let detail = "events of unknown regions: its definitions are missing";
            add("missing", idx, NONE, events, detail);
            continue;
        }
        let streams = input.index.streams[input.index.streams_of(process.key)].iter();
        // Threads for which there was no room are counted in other ways.
        let definitions: Vec<_> = streams.clone().filter(|s| s.kind == Stream::Definitions).collect();
        if process.troubles.iter().any(|(kind, ..)| kind == "dropped") || untold(&definitions).1 != 0 {
            continue;
        }
        let events = streams.filter(|stream| stream.kind == Stream::Events);
        let seen: BTreeSet<u32> = events.map(|stream| stream.thread).collect();
        let absent = process.threads.keys().filter(|thread| !seen.contains(thread)).count() as u64;
        if seen.is_empty() {
            add("missing", idx, NONE, absent, "threads of which all events are missing");
        } else {
            add("lost", idx, NONE, absent, "threads of which all events are missing");
        }
    }
}

/// The table.
pub(crate) fn table(problems: &[Problem]) -> Result<Columns, Error> {
    let columns = columns![problems;
        Text |row| row.kind.clone(),
        U32 |row| row.process,
        U32 |row| row.location,
        I64 |row| i64::try_from(row.count).unwrap_or(i64::MAX),
        Text |row| row.detail.clone(),
    ];
    Columns::from_columns(&PROBLEMS, columns)
}

/// Adds what could not be named, one row for each text, in the order in which it was found.
pub(crate) fn add_unnamed(problems: &mut Vec<Problem>, texts: Vec<String>) {
    problems.extend(texts.into_iter().map(|detail| Problem {
        kind: "symbols".to_owned(),
        process: NONE,
        location: NONE,
        count: 1,
        detail,
    }));
}

/// Sums by kind.
pub(crate) fn totals(problems: &[Problem]) -> Vec<(String, u64)> {
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    for problem in problems {
        let sum = sums.entry(&problem.kind).or_default();
        *sum = sum.saturating_add(problem.count);
    }
    sums.into_iter().map(|(kind, count)| (kind.to_owned(), count)).collect()
}
