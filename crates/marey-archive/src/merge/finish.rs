//! The last rows of a merge: what crossed slabs, sums, and the small tables.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::added_up::AddedUp;
use super::array_messages;
use super::build::{Long, Operation, Row};
use super::cost::cost;
use super::globals::{LevelRow, RegionRow, VerbRow};
use super::input::Input;
use super::problems::{self, Problem};
use super::rows;
use super::stream::Decoding;
use super::write::{LocationRows, Sink, intervals};
use super::writing::Writing;
use super::{Names, Summary, counted, end, heap, mapped, places, samples, sums, tables};
use crate::schema::*;
use crate::{Columns, Error, Meta, Part, PartStats, RunFacts, State, write_table};

/// What a merge is from and for.
pub(crate) struct Task<'a> {
    pub spool: &'a Path,
    pub run: &'a Path,
    pub keep_spool: bool,
    pub sink: &'a Sink,
}

pub(crate) fn finish(
    Task { spool, run, keep_spool, sink }: Task<'_>,
    mut input: Input,
    decoding: Decoding,
    mut writing: Writing,
    mut meta: Meta,
    names: Option<Names>,
) -> Result<Summary, Error> {
    let slabs = input.plan.boundaries.len() as u32 + 1;
    let is_used = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
    let used_other = is_used(&input.globals.used_other);
    if used_other || is_used(&input.globals.used_unknown) {
        add_region(&mut input, "(undefined)");
    }
    if used_other {
        add_region(&mut input, "(other paths)");
    }
    write_long(&decoding, slabs, sink)?;
    writing.long_messages.sort_unstable();
    let mut long: Vec<_> = writing.long_messages.iter().collect();
    rows::write_messages(slabs, &mut long, sink)?;
    writing.long_overlaps.sort_unstable();
    rows::write_overlaps(slabs, &writing.long_overlaps, sink)?;
    sink.list_into(&mut meta);

    let stats = writing.end_collectives()?;
    add(&mut meta, sink, &COLLECTIVES, stats);
    let (small, problems) = small_tables(&input, &decoding, &writing, names)?;
    let stats: Vec<PartStats> =
        small.par_iter().map(|table| write_table(run, table)).collect::<Result<_, _>>()?;
    for (table, stats) in small.iter().zip(stats) {
        add(&mut meta, sink, table.spec(), stats);
    }
    facts(&input, &decoding, &writing, &mut meta);
    meta.save(run)?;
    end::verify(run)?;
    if !keep_spool {
        end::settle(run, &meta)?;
    }
    meta.state = State::Finished;
    meta.save(run)?;
    if !keep_spool {
        end::remove(spool, &input)?;
    }
    Ok(summary(&input, &meta, &problems))
}

/// All tables that are written in one piece, and what the last of them says.
fn small_tables(
    input: &Input,
    decoding: &Decoding,
    writing: &Writing,
    names: Option<Names>,
) -> Result<(Vec<Columns>, Vec<Problem>), Error> {
    let spans = places::spans(input, decoding);
    let profile = sums::profile_rows(input, decoding);
    let mut problems = problems::find(input, decoding, writing, &profile);
    let mut small = tables::definitions(input, decoding)?;
    if let Some(Names { frames, problems: unnamed }) = names {
        small.push(frames);
        problems::add_unnamed(&mut problems, unnamed);
    }
    small.push(places::snapshots(decoding)?);
    small.push(sums::profile(&profile)?);
    small.push(sums::durations(input, decoding)?);
    small.push(sums::sizes(decoding)?);
    small.push(sums::communication(input, decoding, writing)?);
    small.push(array_messages::table(writing)?);
    small.push(mapped::table(&input.globals, &decoding.paths.rows, &profile)?);
    small.push(sums::reduced(decoding)?);
    small.push(sums::histogram(decoding)?);
    small.push(sums::courses(input, decoding)?);
    small.push(samples::sums(decoding)?);
    small.push(counted::sums(decoding)?);
    small.push(counted::coverage(decoding)?);
    small.push(heap::allocations(decoding)?);
    small.push(heap::heaps(&input.heaps, &input.contexts)?);
    small.push(places::open_at_end(decoding)?);
    small.push(places::locations(input, decoding, &spans)?);
    small.push(places::processes(input, &spans)?);
    small.push(problems::table(&problems)?);
    Ok((small, problems))
}

fn add(meta: &mut Meta, sink: &Sink, spec: &'static TableSpec, stats: PartStats) {
    let mut part = Part::new(spec, 0, 0, stats);
    sink.fingerprint().clone_into(&mut part.fingerprint);
    meta.add(spec, part);
}

/// Gives a region that stands for others its row.
fn add_region(input: &mut Input, name: &str) {
    let globals = &mut input.globals;
    let source = LevelRow { name: "source".to_owned(), tier: 0, built_on: Vec::new() };
    let level = globals.levels.rows.iter().position(|level| level.name == source.name);
    let level = level.map_or_else(|| globals.levels.id(source), |place| place as u32);
    let verb = globals.verbs.id(VerbRow { level, name: name.to_owned(), role: 0 });
    globals.regions.rows.push(RegionRow { level, verb, noun: NONE, file: String::new(), line: 0 });
}

/// Intervals that cross slabs: one more part for each group.
fn write_long(decoding: &Decoding, slab: u32, sink: &Sink) -> Result<(), Error> {
    let mut long: Vec<&(u32, Long)> = decoding.long.iter().collect();
    long.sort_by_key(|(location, long)| (*location, long.start, long.depth));
    for group in long.chunk_by(|a, b| sink.groups.of(a.0) == sink.groups.of(b.0)) {
        let by_location: Vec<(u32, Vec<Row>, Vec<Operation>)> =
            group.chunk_by(|a, b| a.0 == b.0).map(long_rows).collect();
        let rows: Vec<LocationRows<'_>> = by_location
            .iter()
            .map(|(location, rows, operations)| {
                let builder = &decoding.locations[*location as usize].builder;
                LocationRows {
                    location: *location,
                    rows,
                    operations,
                    paths: &builder.globals,
                    depths: &builder.depths,
                    sets: &builder.sets.globals,
                }
            })
            .collect();
        sink.part(&INTERVALS, slab, sink.groups.of(group[0].0), |writer| intervals(writer, &rows))?;
    }
    Ok(())
}

/// A location's long intervals as rows like all others.
fn long_rows(group: &[&(u32, Long)]) -> (u32, Vec<Row>, Vec<Operation>) {
    let row = |(place, (_, long)): (u32, &&(u32, Long))| Row {
        start: long.start,
        duration: long.duration,
        path: long.path,
        operation: place,
    };
    let rows = (0..).zip(group).map(row).collect();
    (group[0].0, rows, group.iter().map(|(_, long)| long.operation).collect())
}

fn facts(input: &Input, decoding: &Decoding, writing: &Writing, meta: &mut Meta) {
    let mut hosts: Vec<String> = input.processes.iter().map(|process| process.host.clone()).collect();
    hosts.sort();
    hosts.dedup();
    let ended = input.endings.iter().zip(&input.contexts);
    let ended = ended.map(|(ticks, context)| context.clock.ns(*ticks));
    let libraries = input.processes.iter().filter_map(|process| process.mpi.as_ref());
    let launch = &input.launch;
    meta.run = RunFacts {
        command: launch.argv.clone(),
        start_realtime_ns: input.start_realtime_ns,
        duration_ns: ended.fold(input.plan.end, i64::max),
        hosts,
        launcher: launch.name(),
        mpi_library: libraries.map(|mpi| mpi.library.clone()).next().unwrap_or_default(),
        git_commit: launch.git_commit.clone().unwrap_or_default(),
        title: launch.title.clone().unwrap_or_default(),
        memo: launch.memo.clone().unwrap_or_default(),
        rules: rules(input),
        directory: launch.cwd.clone(),
        job_step: launch.job_step.clone().unwrap_or_default(),
        settings: launch.settings.clone(),
        imported_from: launch.imported_from.clone().unwrap_or_default(),
        without_times: launch.without_times,
    };
    if meta.run.command.is_empty() {
        meta.run.command = input.processes.first().map_or_else(Vec::new, |process| process.command.clone());
    }
    let cost = cost(input, decoding);
    let locks = input.index.streams.iter().filter_map(|stream| stream.windows.last());
    let decoders = || decoding.locations.iter().filter_map(|location| location.decoder.as_ref());
    let sums =
        || decoders().filter(|decoder| decoder.added_up.since.is_some()).map(|decoder| &decoder.added_up);
    let summed = |count: fn(&AddedUp) -> u64| sums().map(count).fold(0, u64::saturating_add);
    let since = sums().filter_map(|sums| sums.since).min();
    let sent = |sums: &AddedUp| sums.sent.iter().map(|row| row.1.0).fold(0, u64::saturating_add);
    let mended = writing.shards.tally().mended;
    let sampled = decoding.locations.iter().filter_map(|location| location.sampled.as_ref());
    let sampled = sampled.flat_map(|sampled| &sampled.sums);
    let rows = || decoding.locations.iter().flat_map(|location| &location.allocations);
    let allocated = |count: fn(&heap::Row) -> u64| rows().map(count).fold(0, u64::saturating_add);
    let totals = [
        ("summed_locations", summed(|_| 1)),
        ("summed_visits", summed(|sums| sums.visits)),
        ("summed_messages", summed(sent)),
        ("summed_since_ns", since.map_or(0, |since| since.max(0).cast_unsigned())),
        ("beside_visits", decoders().map(|decoder| decoder.added_up.beside).fold(0, u64::saturating_add)),
        ("reduced_visits", decoders().map(|decoder| decoder.added_up.reduced).fold(0, u64::saturating_add)),
        (
            "budget",
            input.processes.iter().filter_map(|its| its.budget).map(|its| its.0).max().unwrap_or(0).into(),
        ),
        ("half_counted_messages", writing.shards.tally().counted_halves),
        ("causal_shifts", mended.count),
        ("causal_shift_sum_ns", mended.sum_ns),
        ("causal_shift_max_ns", mended.most_ns),
        ("intervals", meta.rows("intervals")),
        ("messages", writing.shards.tally().matched),
        ("collectives", writing.collective_rows),
        ("events", cost.events),
        ("recorded", cost.events),
        ("calls", cost.calls),
        ("sampled_calls", cost.sampled_calls),
        ("sampled_ns", cost.sampled_ns as u64),
        ("overhead_ns", cost.ns as u64),
        ("counting_ns", cost.counting_ns as u64),
        ("slabs", input.plan.boundaries.len() as u64 + 1),
        ("histogram_bucket_ns", input.plan.bucket_len.cast_unsigned()),
        ("samples", sampled.clone().map(|sum| sum.samples).fold(0, u64::saturating_add)),
        ("sampled_time_ns", sampled.map(|sum| sum.time.cast_unsigned()).fold(0, u64::saturating_add)),
        ("heap_blocks", allocated(|row| row.blocks())),
        ("heap_bytes", allocated(|row| row.bytes())),
        ("uncontended_locks", locks.map(|window| window.locks).fold(0, u64::saturating_add)),
    ];
    meta.counts = totals.into_iter().map(|(name, count)| (name.to_owned(), count)).collect();
}

/// The rules of all processes, each text once.
fn rules(input: &Input) -> Vec<String> {
    let mut texts: Vec<&str> = input.processes.iter().map(|process| process.rules.as_str()).collect();
    texts.sort_unstable();
    texts.dedup();
    texts.into_iter().flat_map(str::lines).map(str::to_owned).collect()
}

fn summary(input: &Input, meta: &Meta, problems: &[Problem]) -> Summary {
    let count = |name: &str| meta.counts.get(name).copied().unwrap_or(0);
    Summary {
        processes: input.processes.len() as u64,
        locations: input.globals.locations.len() as u64,
        intervals: count("intervals"),
        messages: count("messages"),
        events: count("events"),
        problems: problems::totals(problems),
        duration_ns: meta.run.duration_ns,
    }
}
