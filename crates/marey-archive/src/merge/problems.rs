//! What was lost, could not be matched, or contradicts itself.
//!
//! The one idea: nothing is passed over in silence; each kind of loss is a row with a count.

use std::collections::{BTreeMap, BTreeSet};

use marey_model::spool::heap::Whole;
use marey_model::spool::{MAX_DEPTH, Stream};

use super::definitions::ProcessDefs;
use super::index::StreamIndex;
use super::input::Input;
use super::outcome::Mended;
use super::rows::columns;
use super::stream::{Decoding, Location};
use super::sums::{self, ProfileRow};
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

/// All problems of the run, sorted; `profile` are the sums of its call paths.
pub(crate) fn find(
    input: &Input,
    decoding: &Decoding,
    writing: &Writing,
    profile: &[ProfileRow],
) -> Vec<Problem> {
    let mut found = Found(Vec::new());
    let damaged = "places in the spool where no sound window begins";
    found.add("damaged", NONE, NONE, input.index.damaged, damaged);
    for location in &decoding.locations {
        of_location(input, location, &mut found);
    }
    missing(input, decoding, &mut found);
    for (idx, process) in (0_u32..).zip(&input.processes) {
        of_process(input, writing, (idx, process), &mut found);
    }
    of_heaps(input, &mut found);
    of_messages(input, decoding, writing, &mut found);
    negative(decoding, profile, &mut found);
    found.0.sort();
    found.0
}

/// Problems found so far.
struct Found(Vec<Problem>);

impl Found {
    fn add(&mut self, kind: &str, process: u32, location: u32, count: u64, detail: &str) {
        if count != 0 {
            let (kind, detail) = (kind.to_owned(), detail.to_owned());
            self.0.push(Problem { kind, process, location, count, detail });
        }
    }
}

/// What is missing or makes no sense in the recording of a location.
fn of_location(input: &Input, location: &Location, found: &mut Found) {
    let (process, id) = (location.process, location.id);
    let mut add = |kind: &str, count: u64, detail: &str| found.add(kind, process, id, count, detail);
    if let Some(stream) = input.globals.locations[id as usize].stream {
        let stream = &input.index.streams[stream];
        add("lost", stream.lost, "windows that are missing");
        if let Some(last) = stream.windows.last() {
            let detail = "events that found no place in the spool, or are of more kinds or regions than are told apart";
            add("dropped", last.dropped, detail);
            add("late_ticks", last.late, "readings of a clock that had run backwards");
        }
    }
    if let Some(sampled) = &location.sampled {
        add("lost_samples", sampled.lost, "periods of processor time for which there was no room");
        let counts =
            "readings of counters for whose places there was no room: they are outside of all regions";
        add("lost_counts", sampled.lost_counts, counts);
        add("damaged", sampled.is_damaged(&input.trees).into(), "samples are missing or could not be read");
    }
    let Some(decoder) = &location.decoder else { return };
    let sums = &decoder.added_up;
    add("late_ticks", decoder.late, "windows that begin before the last one ended");
    add("damaged", decoder.damaged, "records that could not be read");
    add("damaged", sums.damaged, "sums that could not be read");
    add("lost", sums.lost, "windows with sums that are missing");
    let regions: BTreeSet<u32> = location
        .builder
        .reduced
        .rows
        .iter()
        .map(|row| location.builder.nodes[row.node as usize].site.region)
        .collect();
    let reduced = format!(
        "visits of {} that were only counted, some of them timed, since recording each took more than the budget",
        if regions.len() == 1 { "1 region".to_owned() } else { format!("{} regions", regions.len()) }
    );
    add("reduced", sums.reduced, &reduced);
    add(
        "other_paths",
        sums.others,
        "visits of call paths for whose sums there was no place: they are together",
    );
    let strays =
        "visits in call paths whose outer part is in windows that are missing: they are beneath the others";
    add("other_paths", sums.strays, strays);
    let others = "messages of channels for whose sums there was no place: nobody knows to whom";
    add("other_messages", sums.other_messages, others);
    add("other_sizes", sums.other_sizes, "operations for whose sizes there was no place in a histogram");
    let untimed = format!(
        "visits of regions inside {MAX_DEPTH} others, on lanes that were only added up, or inside a visit of the \
         same region in a profile"
    );
    add("untimed", decoder.untimed, &untimed);
    add("truncated", decoder.truncated, "regions that were closed because records are missing");
}

/// What is missing or makes no sense in what a process said and in what its threads did together.
fn of_process(input: &Input, writing: &Writing, (idx, process): (u32, &ProcessDefs), found: &mut Found) {
    let mut add = |kind: &str, count: u64, detail: &str| found.add(kind, idx, NONE, count, detail);
    // Where some events were only added up, ends and completions are left over of course.
    let is_left_over = |count: u64| if input.adds_up(idx as usize) { 0 } else { count };
    let orphans = is_left_over(writing.joins[idx as usize].orphans);
    add("orphans", orphans, "completions of operations that were not seen to begin");
    let overlaps = &writing.overlaps[idx as usize];
    add("unmatched_ends", is_left_over(overlaps.orphans), "ends of states that were not seen to begin");
    add("unmatched_begins", overlaps.unended, "states that did not end");
    let is_damaged = process.damaged && process.is_defined;
    add("damaged", is_damaged.into(), "definitions are missing");
    add("unknown", process.unknown, "definitions of a later version of marey, or damaged");
    for (kind, count, detail) in &process.troubles {
        add(kind, *count, detail);
    }
    let streams = input.index.streams[input.index.streams_of(process.key)].iter();
    let definitions: Vec<_> = streams.filter(|s| s.kind == Stream::Definitions).collect();
    let lost = definitions.iter().map(|stream| stream.lost).sum();
    add("lost", lost, "windows of definitions that are missing");
    let (children, dropped) = untold(&definitions);
    add("missing", children, "forked children that could not be recorded");
    add("dropped", dropped, "events without a window or a region, or of such children");
}

/// Blocks of the heap that are not recorded.
fn of_heaps(input: &Input, found: &mut Found) {
    for tree in &input.heaps {
        let mut add =
            |kind: &str, count: u64, detail: &str| found.add(kind, tree.process, NONE, count, detail);
        let Whole { lost_blocks, lost_bytes, .. } = tree.whole;
        let lost = format!(
            "blocks of memory, {lost_bytes} bytes in all, that found no room or that a signal handler asked for"
        );
        add("lost_blocks", lost_blocks, &lost);
        add("damaged", tree.is_damaged.into(), "the heap is missing in part or could not be read");
    }
}

/// Messages that are not whole, or contradict clocks.
fn of_messages(input: &Input, decoding: &Decoding, writing: &Writing, found: &mut Found) {
    let tally = writing.shards.tally();
    let mut add = |kind: &str, count: u64, detail: &str| found.add(kind, NONE, NONE, count, detail);
    add("unmatched_sends", tally.unmatched_sends, "sends of which the receive is not there");
    add("unmatched_receives", tally.unmatched_receives, "receives of which the send is not there");
    let ambiguous = "messages of concurrent threads that could be paired in several ways";
    add("ambiguous", tally.ambiguous, ambiguous);
    add("clock_violations", tally.violations, "messages that seem to arrive before they are sent");
    let Mended { count, sum_ns, most_ns } = tally.mended;
    let mended = format!(
        "messages for which clocks were moved within their bars, by {sum_ns} ns in all, {most_ns} ns at most"
    );
    add("causal_shifts", count, &mended);
    let halves = format!("channels with gaps; {} halves of messages in all", tally.unmatchable_halves);
    for (process, channels) in writing.shards.broken() {
        found.add("unmatchable_channels", process, NONE, channels, &halves);
    }
    for (process, (messages, bytes)) in sums::sent_to_nobody(input, decoding) {
        let detail = format!("sends that were only counted, {bytes} bytes in all, to whom is not recorded");
        found.add("unmatched_sends", process, NONE, messages, &detail);
    }
}

/// Call paths that have less time of their own than none, which rounding does not explain.
fn negative(decoding: &Decoding, profile: &[ProfileRow], found: &mut Found) {
    let mut by_location: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for (_, location, sums) in profile.iter().filter(|row| row.2.exclusive < -sums::ROUNDING_NS) {
        let sum = by_location.entry(*location).or_default();
        *sum = (sum.0 + 1, sum.1.saturating_add(sums.exclusive.unsigned_abs()));
    }
    for (location, (paths, ns)) in by_location {
        let process = decoding.locations[location as usize].process;
        let detail = format!("call paths from whose own time {ns} ns more were taken than they have");
        found.add("negative", process, location, paths, &detail);
    }
}

/// What a process has counted in its definitions: forked children that could not be recorded, and events
/// that belong to no stream.
fn untold(definitions: &[&StreamIndex]) -> (u64, u64) {
    let windows = definitions.iter().flat_map(|stream| &stream.windows);
    windows
        .fold((0, 0), |sum, window| (sum.0.saturating_add(window.late), sum.1.saturating_add(window.dropped)))
}

/// Processes of which one of the two files is missing.
fn missing(input: &Input, decoding: &Decoding, found: &mut Found) {
    let mut add = |kind: &str, process: u32, location: u32, count: u64, detail: &str| {
        found.add(kind, process, location, count, detail);
    };
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
