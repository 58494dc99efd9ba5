//! The pipeline: slab after slab, decoding one while the one before is written.

use std::path::Path;
use std::sync::Arc;

use marey_model::spool::Stream;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::bounds::{self, Bounds};
use super::build::{Builder, Long, Row};
use super::channels::{Horizon, MessageRow, Shards};
use super::clock::{Clock, ClockFacts, Clocks};
use super::decode::{Decoder, With};
use super::definitions::ProcessDefs;
use super::globals::{Context, Globals, Interner};
use super::happen::{Happened, Op};
use super::identity::{self, Place};
use super::index::{self, Fingerprint, Index};
use super::lod::LodRow;
use super::messages::{CollectiveRow, Join, Ops};
use super::overlaps::{Overlap, Overlaps};
use super::paths::Paths;
use super::sets::Sets;
use super::slabs::{self, GROUP, Plan};
use super::tie::Tie;
use super::write::Sink;
use super::{Config, Progress, Summary, definitions, finish, globals, launch, rows};
use crate::schema::{COLLECTIVES, NONE};
use crate::{Error, Meta, PartWriter, RunFacts};

/// All that is known before the first record is decoded.
pub(crate) struct Input {
    pub index: Index,
    pub launch: launch::Launch,
    /// In the order of their ids.
    pub processes: Vec<ProcessDefs>,
    pub clocks: Vec<ClockFacts>,
    /// Number of each process's world.
    pub worlds: Vec<Option<u32>>,
    pub globals: Globals,
    pub contexts: Vec<Context>,
    pub plan: Plan,
    pub start_realtime_ns: i64,
}

/// What goes with a location from slab to slab.
pub(crate) struct Location {
    pub id: u32,
    pub process: u32,
    pub decoder: Option<Decoder>,
    pub builder: Builder,
    pub happened: Happened,
}

/// What a slab left of a location.
pub(crate) struct LocationSlab {
    pub location: u32,
    pub process: u32,
    pub rows: Vec<Row>,
    pub paths: Arc<Vec<u32>>,
    pub sets: Arc<Vec<u32>>,
    pub happened: Happened,
    pub lod: Vec<LodRow>,
    /// For each edge the number of its noun.
    pub edge_nouns: Vec<u32>,
}

/// A decoded slab.
pub(crate) struct Slab {
    pub number: u32,
    pub start: i64,
    pub locations: Vec<LocationSlab>,
    pub horizons: Vec<Horizon>,
    pub is_last: bool,
}

/// What lasts on the side that decodes.
pub(crate) struct Decoding {
    pub locations: Vec<Location>,
    pub paths: Paths,
    pub sets: Sets,
    pub locks: Interner<(u32, u64)>,
    /// For each group, exclusive time by (bucket, region).
    pub histogram: Vec<FxHashMap<(u32, u32), i64>>,
    pub long: Vec<(u32, Long)>,
    spare: Vec<Vec<Row>>,
    spare_ops: Vec<Vec<Op>>,
}

/// (from, to, communicator, log₂ of the size) → (messages, bytes)
pub(crate) type Communication = FxHashMap<(u32, u32, u32, i64), (i64, i64)>;

/// What lasts on the side that matches and writes.
pub(crate) struct Writing {
    pub joins: Vec<Join>,
    pub overlaps: Vec<Overlaps>,
    pub shards: Shards,
    collectives: Option<PartWriter>,
    pub collective_rows: u64,
    pub long_messages: Vec<MessageRow>,
    pub long_overlaps: Vec<Overlap>,
    pub communication: Communication,
}

pub(crate) fn merge(
    spool: &Path,
    run: &Path,
    config: &Config,
    progress: &(dyn Progress + Sync),
) -> Result<Summary, Error> {
    let input = prepare(spool, config)?;
    let sink = Sink::new(run, fingerprint(&input, config));
    let mut meta = Meta::new(RunFacts::default());
    std::fs::create_dir_all(run).map_err(Error::io(run))?;
    let total = input.index.streams.iter().flat_map(|stream| &stream.windows).map(index::Window::len).sum();
    progress.begin("merging", total);

    let mut decoding = Decoding::new(&input);
    let mut writing = Writing::new(&input, run)?;
    let slabs = input.plan.boundaries.len() as u32 + 1;
    let mut slab = decoding.slab(&input, 0, progress)?;
    for number in 1..=slabs {
        // The slab at hand is written while the next is decoded.
        let (written, next) = rayon::join(
            || writing.slab(&input, &slab, &sink),
            || if number < slabs { decoding.slab(&input, number, progress).map(Some) } else { Ok(None) },
        );
        written?;
        let next = next?;
        decoding.reuse(slab);
        if number % 8 == 0 {
            sink.list_into(&mut meta);
            meta.save(run)?;
        }
        match next {
            Some(next) => slab = next,
            None => break,
        }
    }
    finish::finish(spool, run, config, input, decoding, writing, &sink, meta)
}

fn prepare(spool: &Path, config: &Config) -> Result<Input, Error> {
    let index = index::scan(spool)?;
    let launch = launch::read(spool);
    let processes = definitions::read(&index)?;
    let clocks = draw_clocks(&index, &processes, &launch);
    let mut ties = clocks.tie(&Bounds::default());
    if ties.iter().all(|tie| tie.is_settled) {
        return complete(index, launch, processes, &clocks, &ties, config);
    }
    // Exchanges leave something open: messages are matched once on untied clocks for their bounds.
    let untied = vec![Tie::default(); ties.len()];
    let start = clocks.start(&processes, &untied);
    let rough = complete(index, launch, processes, &clocks, &untied, config)?;
    let domains: Vec<usize> = rough.processes.iter().map(|process| clocks.domain(process)).collect();
    let found = bounds::find(&rough, |process| domains[process as usize], |ns| ns as f64 + start)?;
    ties = clocks.tie(&found);
    complete(rough.index, rough.launch, rough.processes, &clocks, &ties, config)
}

fn draw_clocks(index: &Index, processes: &[ProcessDefs], launch: &launch::Launch) -> Clocks {
    let readings: Vec<Vec<_>> = processes
        .iter()
        .map(|process| {
            let streams = index.streams.iter().filter(|s| s.process == process.key);
            let events = streams.filter(|stream| stream.kind != Stream::Definitions);
            events.flat_map(|stream| stream.windows.iter().map(|window| window.triple)).collect()
        })
        .collect();
    let mut ranks = FxHashMap::default();
    for (idx, process) in processes.iter().enumerate() {
        if let Some(mpi) = &process.mpi {
            ranks.entry((mpi.world.clone(), mpi.rank)).or_insert(idx);
        }
    }
    let peer = |idx: usize, rank: u32| {
        let world = processes[idx].mpi.as_ref()?.world.clone();
        ranks.get(&(world, rank)).copied()
    };
    let reference = |idx: usize| processes[idx].mpi.as_ref().is_some_and(|mpi| mpi.rank == 0);
    Clocks::draw(processes, &readings, &launch.launcher(), reference, peer)
}

/// What else is known before records are decoded, given the clocks.
fn complete(
    index: Index,
    launch: launch::Launch,
    mut processes: Vec<ProcessDefs>,
    clocks: &Clocks,
    ties: &[Tie],
    config: &Config,
) -> Result<Input, Error> {
    let (mut clocks, start_realtime_ns) = clocks.facts(&processes, ties);
    let worlds = order(&mut processes, &mut clocks);
    let places: Vec<Place> = (0..processes.len())
        .map(|idx| Place {
            world: worlds[idx],
            init_enter: processes[idx].mpi.as_ref().map_or(0, |mpi| clocks[idx].clock.ns(mpi.enter)),
        })
        .collect();
    let communicators = identity::unify(&processes, &places, |idx, ticks| clocks[idx].clock.ns(ticks));
    let lines: Vec<Clock> = clocks.iter().map(|facts| facts.clock).collect();
    let (globals, contexts) = globals::build(&index, &processes, &lines, communicators);
    let by_location: Vec<Clock> =
        globals.locations.iter().map(|location| lines[location.process as usize]).collect();
    let has_operations = processes.iter().any(|process| process.mpi.is_some());
    let plan = slabs::plan(&index, &globals.locations, &by_location, config.memory_bytes, has_operations)?;
    Ok(Input { index, launch, processes, clocks, worlds, globals, contexts, plan, start_realtime_ns })
}

/// Puts processes into their final order — world by first start, rank, start, pid — and their
/// clocks with them. The number of each one's world.
fn order(processes: &mut Vec<ProcessDefs>, clocks: &mut Vec<ClockFacts>) -> Vec<Option<u32>> {
    let start = |process: &ProcessDefs, clock: &ClockFacts| clock.clock.ns(process.start.ticks);
    let mut worlds: FxHashMap<String, (i64, String)> = FxHashMap::default();
    for (process, clock) in processes.iter().zip(clocks.iter()) {
        if let Some(mpi) = &process.mpi {
            let first = worlds.entry(mpi.world.clone()).or_insert((i64::MAX, mpi.world.clone()));
            first.0 = first.0.min(start(process, clock));
        }
    }
    let mut sorted: Vec<(i64, String)> = worlds.into_values().collect();
    sorted.sort();
    let number = |process: &ProcessDefs| {
        let mpi = process.mpi.as_ref()?;
        sorted.iter().position(|world| world.1 == mpi.world).map(|place| place as u32)
    };
    let mut all: Vec<_> = processes.drain(..).zip(clocks.drain(..)).collect();
    all.sort_by_key(|(process, clock)| {
        let rank = process.mpi.as_ref().map_or(u32::MAX, |mpi| mpi.rank);
        (number(process).unwrap_or(u32::MAX), rank, start(process, clock), process.pid, process.key)
    });
    let numbers = all.iter().map(|(process, _)| number(process)).collect();
    (*processes, *clocks) = all.into_iter().unzip();
    numbers
}

/// A number that changes with everything that the content of parts depends on.
fn fingerprint(input: &Input, config: &Config) -> u64 {
    let mut hash = Fingerprint::new();
    hash.add(input.index.fingerprint());
    hash.add(config.memory_bytes as u64);
    hash.add(crate::schema::SCHEMA_VERSION.into());
    for byte in env!("CARGO_PKG_VERSION").bytes() {
        hash.add(byte.into());
    }
    for facts in &input.clocks {
        hash.add(facts.clock.ns(1 << 40).cast_unsigned());
    }
    hash.0
}

impl Input {
    /// When a process ended, ticks: if it did not say so, its last sign of life, on any thread.
    pub(crate) fn ending(&self, process: u32) -> u64 {
        let ending = self.processes[process as usize].ending.as_ref().map(|ending| ending.2.ticks);
        let own = self.globals.locations.iter().zip(&self.plan.last_ticks);
        let last = || own.filter(|(location, _)| location.process == process).map(|(_, &ticks)| ticks).max();
        ending.or_else(last).unwrap_or(0)
    }
}

impl Decoding {
    pub(crate) fn new(input: &Input) -> Self {
        let boundaries: Arc<[i64]> = input.plan.boundaries.clone().into();
        let locations = input.globals.locations.iter().enumerate().map(|(idx, location)| Location {
            id: idx as u32,
            process: location.process,
            decoder: location.stream.map(Decoder::new),
            builder: Builder::new(input.plan.bucket_len, input.plan.lod_log2[idx]),
            happened: Happened { boundaries: Arc::clone(&boundaries), ..Happened::default() },
        });
        Self {
            locations: locations.collect(),
            paths: Paths::default(),
            sets: Sets::new(input.globals.participants.rows.len() as u32),
            locks: Interner::default(),
            histogram: vec![FxHashMap::default(); input.globals.locations.len().div_ceil(GROUP)],
            long: Vec::new(),
            spare: Vec::new(),
            spare_ops: Vec::new(),
        }
    }

    /// Keeps the memory of a written slab for the next.
    pub(crate) fn reuse(&mut self, slab: Slab) {
        for location in slab.locations {
            let (mut rows, mut ops) = (location.rows, location.happened.ops);
            if rows.capacity() > 0 {
                rows.clear();
                self.spare.push(rows);
            }
            if ops.capacity() > 0 {
                ops.clear();
                self.spare_ops.push(ops);
            }
        }
    }

    pub(crate) fn slab(
        &mut self,
        input: &Input,
        number: u32,
        progress: &(dyn Progress + Sync),
    ) -> Result<Slab, Error> {
        let boundary = input.plan.boundaries.get(number as usize).copied();
        for location in &mut self.locations {
            if location.builder.rows.capacity() == 0
                && let Some(rows) = self.spare.pop()
            {
                location.builder.rows = rows;
            }
            // Operations that wait for their leave are there already.
            if let Some(mut ops) = self.spare_ops.pop() {
                ops.append(&mut location.happened.ops);
                location.happened.ops = ops;
            }
        }
        self.locations
            .par_iter_mut()
            .map_init(Vec::new, |buffer, location| location.decode(input, boundary, progress, buffer))
            .collect::<Result<(), Error>>()?;
        self.lanes(input, boundary.is_none());
        let is_last = boundary.is_none();
        let horizons = self.horizons(input);
        let mut locations = Vec::with_capacity(self.locations.len());
        for location in &mut self.locations {
            if is_last {
                location.builder.finish();
            }
            self.paths.number(&mut location.builder);
            self.sets.number(&mut location.builder.sets);
            let builder = &mut location.builder;
            let happened = location.happened.take();
            let nouns = happened.edges.iter().map(|edge| match edge.address {
                0 => NONE,
                address => self.locks.id((location.process, address)),
            });
            let edge_nouns = nouns.collect();
            self.long.extend(builder.long.drain(..).map(|long| (location.id, long)));
            let cells = &mut self.histogram[location.id as usize / GROUP];
            for (bucket, region, time) in builder.histogram.drain(..) {
                *cells.entry((bucket, region)).or_default() += time;
            }
            builder.end_slab();
            locations.push(LocationSlab {
                location: location.id,
                process: location.process,
                rows: std::mem::take(&mut builder.rows),
                paths: Arc::clone(&builder.globals),
                sets: Arc::clone(&builder.sets.globals),
                happened,
                lod: std::mem::take(&mut builder.lod.rows),
                edge_nouns,
            });
        }
        let start = if number == 0 { i64::MIN } else { input.plan.boundaries[number as usize - 1] };
        Ok(Slab { number, start, locations, horizons, is_last })
    }

    /// Feeds what threads said about lanes to the lanes.
    fn lanes(&mut self, input: &Input, is_last: bool) {
        let mut marks = Vec::new();
        for location in &mut self.locations {
            for mark in location.happened.lanes.drain(..) {
                let context = &input.contexts[location.process as usize];
                if let Some(&lane) = context.lanes.get(&mark.lane) {
                    marks.push((lane, mark.time, location.id, mark));
                }
            }
        }
        // Stable, so that a thread's own marks of one instant keep their order.
        marks.sort_by_key(|&(lane, time, location, _)| (lane, time, location));
        for (lane, time, _, mark) in marks {
            let location = &mut self.locations[lane as usize];
            let context = &input.contexts[location.process as usize];
            match mark.site {
                Some(site) => {
                    location.builder.enter(site, mark.ticks, time, || context.site(&input.globals, site));
                }
                None => {
                    location.builder.leave(time);
                }
            }
        }
        if is_last {
            for location in self.locations.iter_mut().filter(|location| location.decoder.is_none()) {
                while !location.builder.stack.is_empty() {
                    let last = location.builder.last;
                    location.builder.leave(last);
                }
            }
        }
    }

    /// For each process, before what time everything is known.
    fn horizons(&self, input: &Input) -> Vec<Horizon> {
        let broken_from = i64::MAX;
        let mut horizons = vec![Horizon { time: i64::MAX, broken_from }; input.processes.len()];
        for location in &self.locations {
            let horizon = &mut horizons[location.process as usize];
            let nodes = &location.builder.nodes;
            let mpi = input.globals.mpi_level;
            let open = location.builder.stack.iter().find(|f| nodes[f.path as usize].site.level == mpi);
            if let Some(frame) = open {
                horizon.time = horizon.time.min(frame.start);
            }
            let Some(stream) = input.globals.locations[location.id as usize].stream else { continue };
            let dropped = input.index.streams[stream].windows.last().is_some_and(|w| w.dropped != 0);
            if dropped {
                // Nothing was written after the last record, and what was not written was not counted.
                let clock = &input.contexts[location.process as usize].clock;
                let last = clock.ns(input.plan.last_ticks[location.id as usize]);
                horizon.broken_from = horizon.broken_from.min(last);
            }
        }
        horizons
    }
}

impl Location {
    fn decode(
        &mut self,
        input: &Input,
        boundary: Option<i64>,
        progress: &(dyn Progress + Sync),
        buffer: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let Some(decoder) = &mut self.decoder else { return Ok(()) };
        let context = &input.contexts[self.process as usize];
        let limit = boundary.map_or(u64::MAX, |boundary| context.clock.ticks_at(boundary));
        let with = With { index: &input.index, globals: &input.globals, context };
        let before = decoder.position(&input.index);
        self.builder.warm_up();
        decoder.run(&with, limit, &mut self.builder, &mut self.happened, buffer)?;
        if boundary.is_none() {
            decoder.finish(&with, input.ending(self.process), &mut self.builder, &mut self.happened);
        }
        progress.advance(decoder.position(&input.index).saturating_sub(before));
        Ok(())
    }
}

impl Writing {
    fn new(input: &Input, run: &Path) -> Result<Self, Error> {
        let processes = input.processes.len();
        Ok(Self {
            joins: (0..processes).map(|_| Join::default()).collect(),
            overlaps: (0..processes).map(|_| Overlaps::default()).collect(),
            shards: Shards::new(),
            collectives: Some(PartWriter::create(&run.join(COLLECTIVES.file(0, 0)), &COLLECTIVES)?),
            collective_rows: 0,
            long_messages: Vec::new(),
            long_overlaps: Vec::new(),
            communication: FxHashMap::default(),
        })
    }

    /// Joins, matches and writes a slab. In a small run each table is but one part, so there is
    /// little to spread over cores within one; hence what needs no matching goes beside it.
    fn slab(&mut self, input: &Input, slab: &Slab, sink: &Sink) -> Result<(), Error> {
        let (matched, others) =
            rayon::join(|| self.matched(input, slab, sink), || rows::write_locations(slab, sink));
        matched.and(others)
    }

    /// What takes several locations: messages, collectives, overlapping states.
    fn matched(&mut self, input: &Input, slab: &Slab, sink: &Sink) -> Result<(), Error> {
        let mut by_process: Vec<Vec<&LocationSlab>> = vec![Vec::new(); input.processes.len()];
        for location in &slab.locations {
            by_process[location.process as usize].push(location);
        }
        let overlaps: Vec<Vec<Overlap>> = self
            .joins
            .par_iter_mut()
            .zip(&mut self.overlaps)
            .zip(&by_process)
            .enumerate()
            .map(|(idx, ((join, overlaps), threads))| {
                let ops: Vec<Ops<'_>> = threads
                    .iter()
                    .filter(|thread| !thread.happened.ops.is_empty())
                    .map(|thread| Ops {
                        location: thread.location,
                        ops: &thread.happened.ops,
                        paths: &thread.paths,
                    })
                    .collect();
                join.slab(&input.contexts[idx], &ops);
                let marks: Vec<_> =
                    threads.iter().map(|t| (t.location, t.happened.marks.as_slice())).collect();
                let mut ended = overlaps.slab(&marks);
                if slab.is_last {
                    join.finish(&input.contexts[idx]);
                    ended.extend(overlaps.finish(input.contexts[idx].clock.ns(input.ending(idx as u32))));
                }
                ended
            })
            .collect();
        self.shards.advance(&mut self.joins, &slab.horizons, slab.is_last);
        count(&mut self.communication, input, &self.shards);
        self.write_collectives()?;
        // Rows stay where they were made; what is sorted and written are references.
        let mut matched: Vec<&MessageRow> = Vec::new();
        for row in self.shards.rows() {
            if rows::first_time(row) < slab.start {
                self.long_messages.push(*row);
            } else {
                matched.push(row);
            }
        }
        // Channels give sorted runs, which a stable sort merges; and ties stay as they are.
        matched.par_sort_by_key(|row| (row.recv_location, row.recv_time));
        let (mut inside, long): (Vec<_>, Vec<_>) =
            overlaps.into_iter().flatten().partition(|row| row.start >= slab.start);
        inside.sort_unstable();
        self.long_overlaps.extend(long);
        rows::write_messages(slab.number, &mut matched, sink)?;
        rows::write_overlaps(slab.number, &inside, sink)
    }

    fn write_collectives(&mut self) -> Result<(), Error> {
        let mut found: Vec<CollectiveRow> =
            self.joins.iter_mut().flat_map(|join| join.collectives.drain(..)).collect();
        if found.is_empty() {
            return Ok(());
        }
        found.sort_unstable();
        self.collective_rows += found.len() as u64;
        let writer = self.collectives.as_mut().expect("taken only at the end");
        writer.write(&rows::collectives(&found)?)
    }

    /// Completes the table of collectives.
    pub(crate) fn end_collectives(&mut self) -> Result<crate::PartStats, Error> {
        self.collectives.take().expect("taken only once").finish()
    }
}

/// Adds the messages of a slab to the sums.
fn count(sums: &mut Communication, input: &Input, shards: &Shards) {
    let locations = &input.globals.locations;
    let whole = shards.rows().filter(|row| row.send_location != NONE && row.recv_location != NONE);
    // Messages come channel by channel, so the sum of the one before is nearly always the next's.
    let mut last = ((NONE, NONE, NONE, -1), (0, 0));
    let mut add = |(key, sum): ((u32, u32, u32, i64), (i64, i64))| {
        if sum.0 > 0 {
            let whole: &mut (i64, i64) = sums.entry(key).or_default();
            *whole = (whole.0 + sum.0, whole.1.saturating_add(sum.1));
        }
    };
    for row in whole {
        let from = locations[row.send_location as usize].process;
        let to = locations[row.recv_location as usize].process;
        let size = if row.bytes > 0 { i64::from(row.bytes.ilog2()) } else { -1 };
        let key = (from, to, row.communicator, size);
        if last.0 != key {
            add(std::mem::replace(&mut last, (key, (0, 0))));
        }
        last.1 = (last.1.0 + 1, last.1.1.saturating_add(row.bytes));
    }
    add(last);
}
