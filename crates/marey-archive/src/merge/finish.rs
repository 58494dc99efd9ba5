//! The last rows of a merge: what crossed slabs, sums, and the small tables.

use std::path::Path;

use super::build::{Long, Operation, Row};
use super::cost::cost;
use super::decode::Decoder;
use super::definitions::ProcessDefs;
use super::end;
use super::globals::{Context, LevelRow, Location, RegionRow, VerbRow};
use super::input::Input;
use super::problems::{self, Problem};
use super::rows::{self, columns};
use super::stream::Decoding;
use super::tables;
use super::write::{LocationRows, Sink, intervals};
use super::writing::Writing;
use super::{Config, Summary};
use crate::schema::*;
use crate::{Column, Columns, Error, Meta, Part, PartStats, RunFacts, State, write_table};

/// Share of a bucket below which a region's time goes to the remainder.
const REMAINDER_PART: i64 = 1000;

#[expect(clippy::too_many_arguments, reason = "the whole state of a merge ends here")]
pub(crate) fn finish(
    spool: &Path,
    run: &Path,
    config: &Config,
    mut input: Input,
    decoding: Decoding,
    mut writing: Writing,
    sink: &Sink,
    mut meta: Meta,
) -> Result<Summary, Error> {
    let slabs = input.plan.boundaries.len() as u32 + 1;
    if input.globals.used_unknown.load(std::sync::atomic::Ordering::Relaxed) {
        add_unknown(&mut input);
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
    let spans = spans(&input, &decoding);
    let problems = problems::find(&input, &decoding, &writing);
    let mut small = tables::definitions(&input, &decoding)?;
    small.push(snapshots(&decoding)?);
    small.push(profile(&decoding)?);
    small.push(communication(&writing)?);
    small.push(histogram(&decoding)?);
    small.push(open_at_end(&decoding)?);
    small.push(locations(&input, &spans)?);
    small.push(processes(&input, &spans)?);
    small.push(problems::table(&problems)?);
    for table in &small {
        let stats = write_table(run, table)?;
        add(&mut meta, sink, table.spec(), stats);
    }
    facts(&input, &decoding, &writing, &mut meta);
    meta.save(run)?;
    end::verify(run)?;
    if !config.keep_spool {
        end::settle(run, &meta)?;
    }
    meta.state = State::Finished;
    meta.save(run)?;
    if !config.keep_spool {
        end::remove(spool, &input)?;
    }
    Ok(summary(&input, &meta, &problems))
}

fn add(meta: &mut Meta, sink: &Sink, spec: &'static TableSpec, stats: PartStats) {
    let mut part = Part::new(spec, 0, 0, stats);
    sink.fingerprint().clone_into(&mut part.fingerprint);
    meta.add(spec, part);
}

/// Gives the region of undefined sites its row.
fn add_unknown(input: &mut Input) {
    let globals = &mut input.globals;
    let source = LevelRow { name: "source".to_owned(), tier: 0, built_on: Vec::new() };
    let level = globals.levels.rows.iter().position(|level| level.name == source.name);
    let level = level.map_or_else(|| globals.levels.id(source), |place| place as u32);
    let verb = globals.verbs.id(VerbRow { level, name: "(undefined)".to_owned(), role: 0 });
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

fn snapshots(decoding: &Decoding) -> Result<Columns, Error> {
    let mut rows: Vec<(u32, u32, &Long)> = Vec::new();
    for (location, long) in &decoding.long {
        for slab in long.first_slab + 1..=long.last_slab {
            rows.push((slab, *location, long));
        }
    }
    rows.sort_by_key(|(slab, location, row)| (*slab, *location, row.start, row.depth));
    let path = |location: u32, path: u32| {
        let globals = &decoding.locations[location as usize].builder.globals;
        globals.get(path as usize).copied().unwrap_or(NONE)
    };
    let columns = columns![rows;
        U32 |row| row.0,
        U32 |row| row.1,
        I64 |row| row.2.start,
        I64 |row| row.2.duration,
        U32 |row| path(row.1, row.2.path),
        U32 |row| row.2.depth,
    ];
    Columns::from_columns(&SNAPSHOTS, columns)
}

/// Where each thread was when its process ended.
fn open_at_end(decoding: &Decoding) -> Result<Columns, Error> {
    let mut rows: Vec<(u32, u32, u32, i64)> = Vec::new();
    for location in &decoding.locations {
        let regions = location.decoder.iter().flat_map(|decoder| &decoder.at_end);
        for (depth, region) in (0_u32..).zip(regions) {
            let path = location.builder.globals.get(region.path as usize).copied().unwrap_or(NONE);
            rows.push((location.id, depth, path, region.start));
        }
    }
    let columns = columns![rows;
        U32 |row| row.0,
        U32 |row| row.1,
        U32 |row| row.2,
        I64 |row| row.3,
    ];
    Columns::from_columns(&OPEN_AT_END, columns)
}

fn profile(decoding: &Decoding) -> Result<Columns, Error> {
    let mut rows = Vec::new();
    for location in &decoding.locations {
        // Two sites can be the same call path; their nodes are one row.
        let mut nodes: Vec<_> = location.builder.globals.iter().zip(&location.builder.nodes).collect();
        nodes.sort_by_key(|(path, _)| **path);
        for same in nodes.chunk_by(|a, b| a.0 == b.0) {
            let mut sum = same[0].1.clone();
            for (_, node) in &same[1..] {
                sum.visits = sum.visits.saturating_add(node.visits);
                sum.untimed = sum.untimed.saturating_add(node.untimed);
                sum.inclusive = sum.inclusive.saturating_add(node.inclusive);
                sum.exclusive = sum.exclusive.saturating_add(node.exclusive);
                sum.min = sum.min.min(node.min);
                sum.max = sum.max.max(node.max);
                sum.sum_squares += node.sum_squares;
                sum.bytes = sum.bytes.saturating_add(node.bytes);
            }
            if sum.min == i64::MAX {
                sum.min = -1;
            }
            rows.push((*same[0].0, location.id, sum));
        }
    }
    rows.sort_by_key(|row| (row.0, row.1));
    let columns = columns![rows;
        U32 |row| row.0,
        U32 |row| row.1,
        I64 |row| row.2.visits,
        I64 |row| row.2.inclusive,
        I64 |row| row.2.exclusive,
        I64 |row| row.2.min,
        I64 |row| row.2.max,
        F64 |row| row.2.sum_squares,
        I64 |row| row.2.bytes,
        I64 |row| row.2.untimed,
    ];
    Columns::from_columns(&PROFILE, columns)
}

fn communication(writing: &Writing) -> Result<Columns, Error> {
    let mut rows: Vec<_> = writing.communication.iter().collect();
    rows.sort_unstable();
    let columns = columns![rows;
        U32 |row| row.0.0,
        U32 |row| row.0.1,
        U32 |row| row.0.2,
        I64 |row| row.0.3,
        I64 |row| row.1.0,
        I64 |row| row.1.1,
    ];
    Columns::from_columns(&COMMUNICATION, columns)
}

fn histogram(decoding: &Decoding) -> Result<Columns, Error> {
    let mut rows: Vec<(u32, u32, u32, i64)> = Vec::new();
    for (group, buckets) in (0..).zip(&decoding.histogram) {
        for (bucket, cells) in (0..).zip(buckets) {
            let mut cells: Vec<(u32, i64)> = cells.iter().map(|(&region, &time)| (region, time)).collect();
            cells.sort_unstable();
            let sum = cells.iter().fold(0, |sum: i64, &(_, time)| sum.saturating_add(time));
            let mut rest = None;
            for (region, time) in cells {
                if time.saturating_mul(REMAINDER_PART) < sum {
                    let sum: &mut i64 = rest.get_or_insert(0);
                    *sum = sum.saturating_add(time);
                } else {
                    rows.push((group, bucket, region, time));
                }
            }
            rows.extend(rest.map(|time| (group, bucket, NONE, time)));
        }
    }
    rows.sort_unstable();
    let columns = columns![rows;
        U32 |row| row.2,
        U32 |row| row.0,
        U32 |row| row.1,
        I64 |row| row.3,
    ];
    Columns::from_columns(&HISTOGRAM, columns)
}

/// First and last instant of each location.
fn spans(input: &Input, decoding: &Decoding) -> Vec<(i64, i64)> {
    let locations = input.globals.locations.iter().zip(&decoding.locations);
    locations
        .map(|(location, state)| {
            let clock = &input.contexts[location.process as usize].clock;
            let first = location.ticks.map(|ticks| clock.ns(ticks));
            let seen = (state.builder.first != i64::MIN).then_some((state.builder.first, state.builder.last));
            let last = location.stream.map(|_| clock.ns(input.plan.last_ticks[state.id as usize]));
            let start = first.into_iter().chain(seen.map(|seen| seen.0)).min().unwrap_or(0);
            // A thread that did not say that it ended was there as long as its process. Where records are
            // missing, time goes as far as they do, or all that follows would count as computing.
            let is_alive = !location.is_lane && state.decoder.as_ref().is_some_and(Decoder::is_alive);
            let lived = is_alive.then(|| clock.ns(input.endings[location.process as usize]));
            let end = last.into_iter().chain(seen.map(|seen| seen.1)).chain(lived).max().unwrap_or(start);
            (start, end.max(start))
        })
        .collect()
}

fn rank(input: &Input, process: usize) -> i64 {
    input.processes[process].mpi.as_ref().map_or(-1, |mpi| mpi.rank.into())
}

fn locations(input: &Input, spans: &[(i64, i64)]) -> Result<Columns, Error> {
    let rows: Vec<(&Location, &(i64, i64))> = input.globals.locations.iter().zip(spans).collect();
    let host = |row: &(&Location, &(i64, i64))| input.processes[row.0.process as usize].host.clone();
    let columns = columns![rows;
        U32 |row| row.0.process,
        Text |row| row.0.name.clone(),
        Text |row| if row.0.is_lane { "lane" } else { "thread" }.to_owned(),
        U32 |row| row.0.thread,
        I64 |row| row.0.os_thread,
        Text host,
        U32 |row| input.worlds[row.0.process as usize].unwrap_or(0),
        I64 |row| rank(input, row.0.process as usize),
        I64 |row| row.1.0,
        I64 |row| row.1.1,
    ];
    let mut all = vec![Column::U32((0..rows.len() as u32).collect())];
    all.extend(columns);
    Columns::from_columns(&LOCATIONS, all)
}

/// First and last instant of each process.
fn process_spans(input: &Input, spans: &[(i64, i64)]) -> Vec<(i64, i64)> {
    let mut own: Vec<Option<(i64, i64)>> = vec![None; input.processes.len()];
    for (location, span) in input.globals.locations.iter().zip(spans) {
        let whole = own[location.process as usize].get_or_insert(*span);
        *whole = (whole.0.min(span.0), whole.1.max(span.1));
    }
    let processes = input.processes.iter().zip(&input.contexts).zip(own);
    let span = |((process, context), own): ((&ProcessDefs, &Context), Option<(i64, i64)>)| {
        let ns = |ticks| context.clock.ns(ticks);
        let defined = (process.start.ticks != 0).then(|| ns(process.start.ticks));
        let start = defined.into_iter().chain(own.map(|span| span.0)).min().unwrap_or(0);
        let ended = process.ending.as_ref().map(|ending| ns(ending.2.ticks));
        (start, ended.into_iter().chain(own.map(|span| span.1)).max().unwrap_or(start))
    };
    processes.map(span).collect()
}

fn processes(input: &Input, spans: &[(i64, i64)]) -> Result<Columns, Error> {
    let mut table = Columns::new(&PROCESSES);
    let spans = process_spans(input, spans);
    for (idx, (process, (start, end))) in input.processes.iter().zip(spans).enumerate() {
        let (outcome, code) = tables::outcome(input, idx);
        let mpi = process.mpi.as_ref();
        let level = mpi.map_or("", |mpi| match mpi.thread_level {
            0 => "single",
            1 => "funneled",
            2 => "serialized",
            _ => "multiple",
        });
        table.push(&[
            (idx as u32).into(),
            process.host.as_str().into(),
            process.pid.into(),
            input.worlds[idx].unwrap_or(0).into(),
            rank(input, idx).into(),
            mpi.map_or(-1, |mpi| i64::from(mpi.size)).into(),
            process.command.join(" ").as_str().into(),
            process.executable.as_str().into(),
            start.into(),
            end.into(),
            outcome.as_str().into(),
            code.into(),
            mpi.map_or("", |mpi| mpi.library.as_str()).into(),
            level.into(),
        ])?;
    }
    Ok(table)
}

fn facts(input: &Input, decoding: &Decoding, writing: &Writing, meta: &mut Meta) {
    let mut hosts: Vec<String> = input.processes.iter().map(|process| process.host.clone()).collect();
    hosts.sort();
    hosts.dedup();
    let ended = input.processes.iter().zip(&input.contexts);
    let ended = ended.filter_map(|(p, context)| p.ending.as_ref().map(|e| context.clock.ns(e.2.ticks)));
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
    };
    if meta.run.command.is_empty() {
        meta.run.command = input.processes.first().map_or_else(Vec::new, |process| process.command.clone());
    }
    let cost = cost(input, decoding);
    let locks = input.index.streams.iter().filter_map(|stream| stream.windows.last());
    let totals = [
        ("intervals", meta.rows("intervals")),
        ("messages", writing.shards.tally().matched),
        ("collectives", writing.collective_rows),
        ("events", cost.events),
        ("recorded", cost.events),
        ("calls", cost.calls),
        ("sampled_calls", cost.sampled_calls),
        ("sampled_ns", cost.sampled_ns as u64),
        ("overhead_ns", cost.ns as u64),
        ("slabs", input.plan.boundaries.len() as u64 + 1),
        ("histogram_bucket_ns", input.plan.bucket_len.cast_unsigned()),
        ("uncontended_locks", locks.map(|window| window.locks).fold(0, u64::saturating_add)),
    ];
    meta.counts = totals.into_iter().map(|(name, count)| (name.to_owned(), count)).collect();
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
