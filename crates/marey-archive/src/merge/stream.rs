//! The pipeline: slab after slab, decoding one while the one before is written.
//!
//! The one idea: locations are decoded apart from each other, each on whatever core is free, up to
//! the slab's end; what they share — lanes, numbers of call paths and sets, the histogram — is
//! brought together between slabs, in the order of locations, so that no core's speed shows in it.
//!
//! What is known beforehand is in `input`, what becomes of a decoded slab in `writing`, what
//! remains at the end in `finish`.

use std::path::Path;
use std::sync::Arc;

use marey_model::spool::Stream;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::accessed::{AccessSums, Held};
use super::build::{BUCKETS, Builder, Long, Operation, Row};
use super::decode::{Decoder, With};
use super::finish::{self, Task};
use super::globals::Interner;
use super::happen::{Accessed, Happened, Op};
use super::heap;
use super::index::Window;
use super::input::{self, Input};
use super::lod::LodKey;
use super::paths::Paths;
use super::reduced::Reduced;
use super::samples::{self, Sampled};
use super::sets::Sets;
use super::sides::Horizon;
use super::write::Sink;
use super::writing::Writing;
use super::{Config, Namer, Progress, Summary, alive, functions, places, tables};
use crate::corrections::Corrections;
use crate::schema::NONE;
use crate::{Error, Meta, RunFacts};

/// What goes with a location from slab to slab.
pub(crate) struct Location {
    pub id: u32,
    pub process: u32,
    pub decoder: Option<Decoder>,
    pub builder: Builder,
    pub happened: Happened,
    pub sampled: Option<Sampled>,
    /// Which of [`Input::heaps`] is counted here, with the process's first thread.
    heap: Option<usize>,
    /// What its call paths have allocated; filled at the end.
    pub allocations: Vec<heap::Row>,
    spare: Spare,
    held: Held,
}

/// What a slab left of a location.
pub(crate) struct LocationSlab {
    pub location: u32,
    pub process: u32,
    pub rows: Vec<Row>,
    pub operations: Vec<Operation>,
    pub paths: Arc<Vec<u32>>,
    pub depths: Arc<Vec<u32>>,
    pub sets: Arc<Vec<u32>>,
    pub happened: Happened,
    pub lod_keys: Arc<Vec<LodKey>>,
    /// Intervals that ended in the slab and began in an earlier one, by start.
    pub long: Vec<Long>,
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
    pub accessed: AccessSums,
    /// For each group and bucket, exclusive time by region. A map for each bucket, since a location goes
    /// through the buckets one by one.
    pub histogram: Vec<Vec<FxHashMap<u32, i64>>>,
    pub long: Vec<(u32, Long)>,
}

/// Memory of a slab that has been written. A location's own: what it needs for one slab it needs for the
/// next, and memory that has been touched before costs no page faults.
#[derive(Default)]
struct Spare {
    rows: Vec<Row>,
    operations: Vec<Operation>,
    ops: Vec<Op>,
}

pub(crate) fn merge(
    spool: &Path,
    run: &Path,
    config: &Config,
    progress: &(dyn Progress + Sync),
    namer: Option<&(dyn Namer + Sync)>,
) -> Result<Summary, Error> {
    // Looked at first: what they record from now on is in no run yet.
    let keep_spool = config.keep_spool || alive::any_recording(spool);
    let mut input = input::prepare(spool, config)?;
    if let Some(namer) = namer {
        functions::name(&mut input, namer)?;
    }
    let sink = Sink::new(run, input.fingerprint(config), input.plan.groups);
    std::fs::create_dir_all(run).map_err(Error::io(run))?;
    // They were made for what is replaced now.
    Corrections::remove(run)?;
    let (stacks, modules) = (tables::stacks(&input.globals)?, tables::modules(&input.globals)?);
    let (merged, names) = rayon::join(
        || {
            let merged = all_slabs(&input, run, &sink, progress);
            if namer.is_some() {
                progress.begin("naming call sites", 0);
            }
            merged
        },
        || namer.and_then(|namer| namer.name(&stacks, &modules)),
    );
    let (decoding, writing, meta) = merged?;
    finish::finish(Task { spool, run, keep_spool, sink: &sink }, input, decoding, writing, meta, names)
}

/// Decodes and writes one slab after the other.
fn all_slabs(
    input: &Input,
    run: &Path,
    sink: &Sink,
    progress: &(dyn Progress + Sync),
) -> Result<(Decoding, Writing, Meta), Error> {
    let mut meta = Meta::new(RunFacts::default());
    // Definitions have been read already.
    let events = input.index.streams.iter().filter(|stream| stream.kind != Stream::Definitions);
    let total = events.flat_map(|stream| &stream.windows).map(Window::len).sum();
    progress.begin("merging", total);

    let mut decoding = Decoding::new(input);
    let mut writing = Writing::new(input, run)?;
    let slabs = input.plan.boundaries.len() as u32 + 1;
    let mut slab = decoding.slab(input, 0, progress)?;
    for number in 1..=slabs {
        // The slab at hand is written while the next is decoded.
        let (written, next) = rayon::join(
            || writing.slab(input, &slab, sink),
            || if number < slabs { decoding.slab(input, number, progress).map(Some) } else { Ok(None) },
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
    decoding.give_up_memory();
    Ok((decoding, writing, meta))
}

/// The builder of a location of a process.
fn builder(input: &Input, process: u32) -> Builder {
    let (reduced, clock) =
        (&input.processes[process as usize].reduced, &input.contexts[process as usize].clock);
    let reduced = Reduced::of(reduced, |ticks| clock.ns(ticks));
    let mut builder = Builder::new(input.plan.bucket_len);
    builder.reduced = reduced;
    builder
}

impl Decoding {
    pub(crate) fn new(input: &Input) -> Self {
        let boundaries: Arc<[i64]> = input.plan.boundaries.clone().into();
        let locations = input.globals.locations.iter().enumerate().map(|(idx, location)| Location {
            id: idx as u32,
            process: location.process,
            decoder: location.stream.map(Decoder::new),
            builder: builder(input, location.process),
            happened: Happened { boundaries: Arc::clone(&boundaries), ..Happened::default() },
            sampled: location
                .stream
                .and_then(|stream| input.index.samples_of(&input.index.streams[stream]))
                .map(Sampled::new),
            heap: None,
            allocations: Vec::new(),
            spare: Spare::default(),
            held: Held::default(),
        });
        let mut locations: Vec<Location> = locations.collect();
        let mut firsts: FxHashMap<u32, usize> = FxHashMap::default();
        for (idx, location) in locations.iter().enumerate().filter(|(_, it)| it.decoder.is_some()) {
            firsts.entry(location.process).or_insert(idx);
        }
        for (idx, tree) in input.heaps.iter().enumerate() {
            if let Some(&first) = firsts.get(&tree.process) {
                locations[first].heap = Some(idx);
            }
        }
        Self {
            locations,
            paths: Paths::default(),
            sets: Sets::new(input.globals.participants.rows.len() as u32),
            locks: Interner::default(),
            accessed: AccessSums::default(),
            histogram: vec![vec![FxHashMap::default(); BUCKETS as usize]; input.plan.groups.count],
            long: Vec::new(),
        }
    }

    /// Keeps the memory of a written slab for the next.
    pub(crate) fn reuse(&mut self, slab: Slab) {
        for written in slab.locations {
            let spare = &mut self.locations[written.location as usize].spare;
            *spare = Spare { rows: written.rows, operations: written.operations, ops: written.happened.ops };
            spare.rows.clear();
            spare.operations.clear();
            spare.ops.clear();
        }
    }

    /// Gives the memory of slabs back, which takes milliseconds, beside what is still to do.
    fn give_up_memory(&mut self) {
        let spare: Vec<_> =
            self.locations.iter_mut().map(|location| std::mem::take(&mut location.spare)).collect();
        rayon::spawn(move || drop(spare));
    }

    pub(crate) fn slab(
        &mut self,
        input: &Input,
        number: u32,
        progress: &(dyn Progress + Sync),
    ) -> Result<Slab, Error> {
        let boundary = input.plan.boundaries.get(number as usize).copied();
        for location in &mut self.locations {
            let Spare { rows, operations, mut ops } = std::mem::take(&mut location.spare);
            location.builder.rows = rows;
            location.builder.operations = operations;
            // Operations that wait for their leave are there already.
            ops.append(&mut location.happened.ops);
            location.happened.ops = ops;
        }
        self.locations
            .par_iter_mut()
            .map_init(Vec::new, |buffer, location| location.decode(input, boundary, progress, buffer))
            .collect::<Result<(), Error>>()?;
        self.lanes(input, number, boundary.is_none());
        let is_last = boundary.is_none();
        let horizons = self.horizons(input);
        let mut locations = Vec::with_capacity(self.locations.len());
        for (number, location) in self.locations.iter_mut().enumerate() {
            if is_last {
                let (start, end) = places::span(input, number, location);
                location.builder.finish(end - start);
            }
            self.paths.number(&mut location.builder);
            self.sets.number(&mut location.builder.sets);
            let builder = &mut location.builder;
            let mut happened = location.happened.take();
            let nouns = happened.edges.iter().map(|edge| match edge.address {
                0 => NONE,
                address => self.locks.id((location.process, address)),
            });
            let edge_nouns = nouns.collect();
            let mut long = std::mem::take(&mut builder.long);
            long.sort_by_key(|long| long.start);
            let is_open = |access: &Accessed| {
                !is_last && builder.stack.iter().any(|it| (it.start, it.path) == (access.time, access.path))
            };
            location.held.settle(&mut happened.accesses, (&builder.rows, &long), is_open);
            self.accessed.add(location.id, &happened.accesses, &builder.globals);
            self.long.extend(long.iter().map(|long| (location.id, *long)));
            let cells = &mut self.histogram[input.plan.groups.of(location.id) as usize];
            for (bucket, region, time) in builder.histogram.drain(..) {
                let sum = cells[bucket as usize].entry(region).or_default();
                *sum = sum.saturating_add(time);
            }
            builder.end_slab();
            locations.push(LocationSlab {
                location: location.id,
                process: location.process,
                rows: std::mem::take(&mut builder.rows),
                operations: std::mem::take(&mut builder.operations),
                paths: Arc::clone(&builder.globals),
                depths: Arc::clone(&builder.depths),
                sets: Arc::clone(&builder.sets.globals),
                happened,
                lod_keys: Arc::clone(&builder.lod_keys),
                long,
                edge_nouns,
            });
        }
        let start = if number == 0 { i64::MIN } else { input.plan.boundaries[number as usize - 1] };
        Ok(Slab { number, start, locations, horizons, is_last })
    }

    /// Feeds what threads said about lanes to the lanes.
    ///
    /// What was told later than it happened may lie before the slab, which has been written. An outermost region began
    /// then; what was entered or left within it counts from the slab's start.
    fn lanes(&mut self, input: &Input, number: u32, is_last: bool) {
        let from = number.checked_sub(1).map_or(i64::MIN, |before| input.plan.boundaries[before as usize]);
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
            let (builder, site) = (&mut location.builder, mark.site);
            if mark.is_enter && time < from && builder.stack.is_empty() {
                let time = time.max(builder.last);
                builder.advance(time);
                let slab = location.happened.slab_of(time);
                builder.enter_earlier(site, mark.ticks, time, slab, || context.site(&input.globals, site));
                continue;
            }
            let time = time.max(from);
            if mark.is_enter {
                builder.enter(site, mark.ticks, time, || context.site(&input.globals, site));
            } else if let Some(place) = builder.stack.iter().rposition(|frame| frame.site == site) {
                while builder.stack.len() > place {
                    builder.leave(mark.ticks, time);
                }
            }
        }
        if is_last {
            for location in self.locations.iter_mut().filter(|location| location.decoder.is_none()) {
                while !location.builder.stack.is_empty() {
                    let last = location.builder.last;
                    let clock = &input.contexts[location.process as usize].clock;
                    location.builder.leave(clock.ticks_at(last), last);
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
            decoder.finish(
                &with,
                input.endings[self.process as usize],
                &mut self.builder,
                &mut self.happened,
            )?;
        }
        if let Some(sampled) = &mut self.sampled {
            let (index, trees, globals) = (&input.index, &input.trees, &input.globals);
            let with = samples::With { index, trees, globals, context };
            sampled.run(with, limit, &mut self.builder, &mut self.happened)?;
            if boundary.is_none() {
                sampled.finish(with, &mut self.builder);
            }
        }
        if let Some(idx) = self.heap.filter(|_| boundary.is_none()) {
            let tree = &input.heaps[idx];
            self.allocations = heap::rows(tree, &input.globals, context, &mut self.builder);
        }
        progress.advance(decoder.position(&input.index).saturating_sub(before));
        Ok(())
    }
}
