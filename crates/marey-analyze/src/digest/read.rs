//! From a run to its sums by name.
//!
//! The one idea: every call path is one of a few places, which are named once; whatever is known of the path is added
//! there. One pass over the sums of the run; events are not read.

use std::collections::BTreeMap;

use marey_model::{CallPathId, Nanos};
use rustc_hash::FxHashMap;

use super::graph::Graph;
use super::names::{FunctionName, Place, PlaceKind, RegionName};
use super::{
    AllocationSums, CounterSums, Digest, FunctionSums, PathSums, PlaceSums, ProcessSums, RegionSums, Sums,
    Where,
};
use crate::caller::{caller, caller_on};
use crate::communication::communication;
use crate::counters::counted;
use crate::headline::headline;
use crate::memory::{allocations, memory};
use crate::paths::{Paths, add};
use crate::profile::regions;
use crate::ranks::ranks;
use crate::samples::library_call;
use crate::trace::{LocationKind, ProfileRow, Trace};

impl Sums {
    pub(super) fn add(&mut self, row: &ProfileRow) {
        self.visits = self.visits.saturating_add(row.visits);
        self.untimed = self.untimed.saturating_add(row.untimed);
        add(&mut self.inclusive, row.inclusive);
        add(&mut self.exclusive, row.exclusive);
        self.bytes = self.bytes.saturating_add(row.bytes);
    }
}

impl Digest {
    /// What the sums of a run say.
    pub fn new(run: &dyn Trace) -> Self {
        let named = Places::of(run);
        let mut digest = Self {
            duration: run.duration(),
            processes: processes(run),
            locations: locations(run),
            alive: run.locations().iter().fold(Nanos(0), |sum, it| sum + (it.time().1 - it.start)),
            regions: region_sums(run),
            functions: functions(run),
            imbalance: headline(run).imbalance,
            graph: Graph::of(run),
            ..Self::default()
        };
        for pair in communication(run) {
            digest.messages = digest.messages.saturating_add(pair.messages);
            digest.message_bytes = digest.message_bytes.saturating_add(pair.bytes);
        }
        digest.add_profile(run, &named);
        digest.add_memory(run, &named);
        digest.add_counters(run);
        digest.places = named.places;
        digest
    }

    fn add_profile(&mut self, run: &dyn Trace, named: &Places) {
        let mut of_paths: FxHashMap<CallPathId, Sums> = FxHashMap::default();
        for (row, _, process) in Paths::new(run).rows() {
            of_paths.entry(row.call_path).or_default().add(row);
            if let Some(process) = self.processes.get_mut(process.idx()) {
                process.visits = process.visits.saturating_add(row.visits);
                process.bytes = process.bytes.saturating_add(row.bytes);
            }
        }
        // Paths of which the places are the same are one.
        let mut numbers: FxHashMap<(Option<u32>, u32), u32> = FxHashMap::default();
        let mut of_path: Vec<u32> = Vec::with_capacity(run.call_paths().len());
        for (idx, path) in run.call_paths().iter().enumerate() {
            let parent = path.parent.and_then(|parent| of_path.get(parent.idx()).copied());
            let place = named.of_path[idx];
            let number = *numbers.entry((parent, place)).or_insert_with(|| {
                self.paths.push(PathSums { parent, place, sums: Sums::default() });
                number_of(self.paths.len() - 1)
            });
            of_path.push(number);
            let sums = CallPathId::from_idx(idx).and_then(|id| of_paths.get(&id).copied());
            self.paths[number as usize].sums.join(&sums.unwrap_or_default());
        }
    }

    fn add_memory(&mut self, run: &dyn Trace, named: &Places) {
        let heaps = memory(run);
        if heaps.is_empty() {
            return;
        }
        self.heap_peak = Some(heaps.iter().fold(0, |sum, heap| sum.saturating_add(heap.heap.peak)));
        let mut rows: BTreeMap<Option<u32>, AllocationSums> = BTreeMap::new();
        for row in allocations(run) {
            let place = row.call_path.map(|path| named.of_path[path.idx()]);
            let none = AllocationSums { place, blocks: 0, bytes: 0, at_peak: 0 };
            let sums = rows.entry(place).or_insert(none);
            sums.blocks = sums.blocks.saturating_add(row.sum.blocks);
            sums.bytes = sums.bytes.saturating_add(row.sum.bytes);
            sums.at_peak = sums.at_peak.saturating_add(row.sum.at_peak);
        }
        self.allocations = rows.into_values().collect();
        self.allocated = Some(self.allocations.iter().fold(0, |sum, row| sum.saturating_add(row.bytes)));
    }

    fn add_counters(&mut self, run: &dyn Trace) {
        let counted = counted(run);
        for (place, counter) in counted.counters.iter().enumerate() {
            let in_region = |row: &crate::counters::CountedRegion<'_>| {
                Some((RegionName::of(row.region?), *row.exclusive.get(place)?))
            };
            self.counters.push(CounterSums {
                name: counter.name.clone(),
                total: counted.whole.get(place).copied().unwrap_or_default(),
                regions: counted.regions.iter().filter_map(in_region).collect(),
            });
        }
    }

    /// The number of a place without a region, which is there in each digest.
    pub(super) fn place_without_region(&self, kind: PlaceKind) -> u32 {
        let place = Place::without_region(kind);
        number_of(self.places.iter().position(|row| row.place == place).unwrap_or_default())
    }
}

impl Sums {
    pub(crate) fn join(&mut self, more: &Self) {
        self.visits = self.visits.saturating_add(more.visits);
        self.untimed = self.untimed.saturating_add(more.untimed);
        add(&mut self.inclusive, more.inclusive);
        add(&mut self.exclusive, more.exclusive);
        self.bytes = self.bytes.saturating_add(more.bytes);
    }
}

/// A place in a list; there are fewer than 2³².
pub(super) fn number_of(idx: usize) -> u32 {
    u32::try_from(idx).unwrap_or(u32::MAX)
}

/// The places of a run.
pub(super) struct Places {
    pub(super) places: Vec<PlaceSums>,
    /// Of each call path its place.
    pub(super) of_path: Vec<u32>,
}

impl Places {
    pub(super) fn of(run: &dyn Trace) -> Self {
        let at: Vec<(Place, u32)> = (0..run.call_paths().len()).map(|idx| place_of(run, idx)).collect();
        let mut sums: BTreeMap<Place, (Sums, BTreeMap<u32, Nanos>)> = BTreeMap::new();
        for kind in [PlaceKind::Outside, PlaceKind::NotStarted] {
            sums.entry(Place::without_region(kind)).or_default();
        }
        // Waits and messages may be in calls of which the path is not known.
        sums.entry(Place::without_region(PlaceKind::Call)).or_default();
        for (place, line) in &at {
            sums.entry(place.clone()).or_default().1.entry(*line).or_default();
        }
        for (row, ..) in Paths::new(run).rows() {
            let (place, line) = &at[row.call_path.idx()];
            if let Some((sums, lines)) = sums.get_mut(place) {
                sums.add(row);
                add(lines.entry(*line).or_default(), row.exclusive);
            }
        }
        let numbers: FxHashMap<&Place, u32> = sums.keys().zip(0..).collect();
        let of_path = at.iter().map(|(place, _)| numbers[place]).collect();
        let row = |(place, (sums, lines)): (Place, (Sums, BTreeMap<u32, Nanos>))| {
            let most = lines.into_iter().max_by_key(|(line, time)| (*time, std::cmp::Reverse(*line)));
            PlaceSums { place, line: most.map_or(0, |(line, _)| line), sums }
        };
        Self { of_path, places: sums.into_iter().map(row).collect() }
    }
}

/// The place of a call path, and its line.
fn place_of(run: &dyn Trace, idx: usize) -> (Place, u32) {
    let region = run.regions().get(run.call_paths()[idx].region.idx());
    let name = region.map(RegionName::of).unwrap_or_default();
    let frame = CallPathId::from_idx(idx).and_then(|path| caller(run, path));
    let own_line = region.map_or(0, |region| region.line);
    let line = frame.map_or(own_line, |frame| frame.line);
    let caller = frame.map(FunctionName::of).unwrap_or_default();
    (Place { kind: PlaceKind::Call, region: name, caller }, line)
}

fn processes(run: &dyn Trace) -> Vec<ProcessSums> {
    let sums = |row: &crate::ranks::RankRow| {
        let process = run.processes().get(row.process.idx());
        ProcessSums {
            world: row.world,
            rank: row.rank,
            time: row.time,
            mpi: row.mpi,
            processor_time: process.and_then(|process| process.processor_time),
            peak_memory: process.and_then(|process| process.peak_memory),
            ..ProcessSums::default()
        }
    };
    let mut processes: Vec<ProcessSums> = ranks(run).iter().map(sums).collect();
    let more = |sum: &mut (u64, u64), row: &crate::communication::PairRow| {
        *sum = (sum.0.saturating_add(row.messages), sum.1.saturating_add(row.bytes));
    };
    for row in communication(run) {
        if let Some(from) = processes.get_mut(row.from.idx()) {
            more(&mut from.sent, &row);
        }
        if let Some(to) = processes.get_mut(row.to.idx()) {
            more(&mut to.received, &row);
        }
    }
    processes
}

fn locations(run: &dyn Trace) -> Vec<Where> {
    let place = |location: &crate::trace::Location| {
        let process = run.processes().get(location.process.idx());
        Where {
            process: location.process.0,
            world: process.map_or(0, |process| process.world),
            rank: process.and_then(|process| process.rank),
            thread: location.thread.0,
            lane: if location.kind != LocationKind::Thread { location.name.clone() } else { String::new() },
        }
    };
    run.locations().iter().map(place).collect()
}

fn region_sums(run: &dyn Trace) -> Vec<RegionSums> {
    let mut rows: BTreeMap<RegionName, (Sums, Option<Nanos>)> = BTreeMap::new();
    for (row, region) in regions(run).iter().zip(run.regions()).filter(|(row, _)| row.visits > 0) {
        let (sums, longest) = rows.entry(RegionName::of(region)).or_default();
        let more = Sums {
            visits: row.visits,
            untimed: row.untimed,
            inclusive: row.inclusive,
            exclusive: row.exclusive,
            bytes: row.bytes,
        };
        sums.join(&more);
        *longest = (*longest).max(row.max);
    }
    rows.into_iter().map(|(region, (sums, longest))| RegionSums { region, sums, longest }).collect()
}

/// What is known of a function while samples are added up.
#[derive(Default)]
struct InFunction {
    samples: u64,
    time: Nanos,
    lines: BTreeMap<u32, Nanos>,
    callers: BTreeMap<FunctionName, u64>,
}

fn functions(run: &dyn Trace) -> Vec<FunctionSums> {
    let mut rows: BTreeMap<FunctionName, InFunction> = BTreeMap::new();
    for row in run.samples() {
        // A call with a region of its own is not the program's code.
        if row.call_path.is_some_and(|path| library_call(run, path).is_some()) {
            continue;
        }
        let frames = row.stack.map_or_else(Vec::new, |stack| run.stack(stack));
        let Some(at) = caller_on(&frames) else { continue };
        let function = rows.entry(FunctionName::of(frames[at])).or_default();
        function.samples = function.samples.saturating_add(row.samples);
        add(&mut function.time, row.time);
        add(function.lines.entry(frames[at].line).or_default(), row.time);
        if let Some(caller) = frames.get(at + 1) {
            let samples = function.callers.entry(FunctionName::of(caller)).or_default();
            *samples = samples.saturating_add(row.samples);
        }
    }
    let row = |(function, sums): (FunctionName, InFunction)| FunctionSums {
        function,
        line: sums.lines.into_iter().max_by_key(|(_, time)| *time).map_or(0, |(line, _)| line),
        samples: sums.samples,
        time: sums.time,
        caller: sums.callers.into_iter().max_by_key(|(_, samples)| *samples).map(|(name, _)| name),
    };
    rows.into_iter().map(row).collect()
}
