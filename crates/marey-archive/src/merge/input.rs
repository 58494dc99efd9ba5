//! All that is known before the first record is decoded.
//!
//! The one idea: the heads of windows, the definitions and the exchanges of clocks give processes
//! their clock, their order and their numbers, and the run its cuts. So decoding starts with
//! nothing left to decide, and all threads read the same input without a lock.
//!
//! Where processes count different clocks, messages say how these differ; then the whole run is decoded
//! once for them alone, and what depends on clocks is made a second time. How clocks are drawn and tied, and how
//! things get their numbers, is not decided here.

use std::collections::BTreeMap;
use std::path::Path;

use rustc_hash::FxHashMap;

use super::bounds::{self, Bounds};
use super::clock::Clock;
use super::clocks::{ClockFacts, Clocks};
use super::definitions::ProcessDefs;
use super::globals::{Context, Globals, Location};
use super::heap;
use super::identity::{self, Place};
use super::index::{self, Fingerprint, Index, SumsIndex};
use super::samples::{self, Tree};
use super::slabs::{self, Plan};
use super::tie::Tie;
use super::tighten::Shift;
use super::undefined::{self, LeftOut};
use super::{Config, Datum, definitions, globals, launch};
use crate::Error;

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
    /// What is known of the nouns that are data, by their numbers.
    pub data: BTreeMap<u32, Datum>,
    /// What was sampled, in the order of [`Index::samples`].
    pub trees: Vec<Tree>,
    /// Heaps of processes.
    pub heaps: Vec<heap::Tree>,
    pub plan: Plan,
    /// When each process ended, ticks: if it did not say so, its last sign of life, on any thread.
    pub endings: Vec<u64>,
    pub start_realtime_ns: i64,
    /// Events that are in no table.
    pub left_out: Vec<LeftOut>,
}

impl Input {
    /// A number that changes with everything that the content of parts depends on.
    pub(crate) fn fingerprint(&self, config: &Config) -> u64 {
        let mut hash = Fingerprint::new();
        hash.add(self.index.fingerprint());
        hash.add(config.memory_bytes as u64);
        hash.add(self.plan.groups.size() as u64);
        hash.add(crate::schema::SCHEMA_VERSION.into());
        // Whether names of functions were found decides how regions are numbered.
        for region in &self.globals.regions.rows {
            hash.add(region.noun.into());
        }
        for byte in env!("CARGO_PKG_VERSION").bytes() {
            hash.add(byte.into());
        }
        for facts in &self.clocks {
            for knot in &facts.knots {
                hash.add(knot.ticks);
                hash.add(knot.ns.cast_unsigned());
            }
        }
        hash.0
    }
}

impl Input {
    /// By how much the clock of each process was moved; none if no clock was.
    pub(crate) fn shifts(&self) -> Vec<Shift> {
        let shifts = || self.clocks.iter().map(|facts| &facts.shift);
        if shifts().all(|shift| shift.0.is_empty()) { Vec::new() } else { shifts().cloned().collect() }
    }

    /// Whether a process has added up all that threads did for a while, not only visits beside their events.
    pub(crate) fn adds_up(&self, process: usize) -> bool {
        let adds_up = |sums: &&SumsIndex| sums.summed > 0 && !sums.is_beside;
        self.index.sums.iter().filter(adds_up).any(|sums| sums.process == self.processes[process].key)
    }
}

/// Reads all but the records.
pub(crate) fn prepare(spool: &Path, config: &Config) -> Result<Input, Error> {
    let mut index = index::scan(spool)?;
    let launch = launch::read(spool);
    let mut processes = definitions::read(&index)?;
    let left_out = undefined::settle(&mut index, &mut processes)?;
    let input = place(index, launch, processes, config)?;
    Ok(Input { left_out, ..input })
}

/// Finds out what the clocks say, and with it all else.
fn place(
    index: Index,
    launch: launch::Launch,
    processes: Vec<ProcessDefs>,
    config: &Config,
) -> Result<Input, Error> {
    let mut clocks = draw_clocks(&index, &processes, &launch);
    let nothing = Bounds::default();
    if !clocks.are_several() || processes.iter().all(|process| process.mpi.is_none()) {
        let ties = clocks.tie(&nothing);
        return complete(index, launch, processes, &clocks, &ties, config);
    }
    // Messages are matched once on untied clocks for their bounds.
    let untied: Vec<Tie> = clocks.tie(&nothing).iter().map(|_| Tie::default()).collect();
    let start = clocks.start(&processes, &untied);
    let rough = complete(index, launch, processes, &clocks, &untied, config)?;
    let domains: Vec<usize> = rough.processes.iter().map(|process| clocks.domain(process)).collect();
    let found = bounds::find(&rough, |process| domains[process as usize], |ns| ns as f64 + start)?;
    for (location, &last) in rough.globals.locations.iter().zip(&rough.plan.last_ticks) {
        clocks.lasted(&rough.processes[location.process as usize], last);
    }
    let ties = clocks.tie(&found);
    complete(rough.index, rough.launch, rough.processes, &clocks, &ties, config)
}

fn draw_clocks(index: &Index, processes: &[ProcessDefs], launch: &launch::Launch) -> Clocks {
    let own = |process: &ProcessDefs| undefined::readings(index, index.streams_of(process.key));
    let readings: Vec<Vec<_>> = processes.iter().map(own).collect();
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
    let lines: Vec<Clock> = clocks.iter().map(|facts| facts.clock.clone()).collect();
    let (mut globals, mut contexts) = globals::build(&index, &processes, &lines, communicators);
    contexts.iter_mut().for_each(|context| context.without_times = launch.without_times);
    let trees = samples::read(&index, &processes, &mut globals)?;
    let heaps = heap::read_all(&index, &processes)?;
    let by_location: Vec<Clock> =
        globals.locations.iter().map(|location| lines[location.process as usize].clone()).collect();
    let has_operations = processes.iter().any(|process| process.mpi.is_some());
    let plan = slabs::plan(&index, &globals.locations, &by_location, config.memory_bytes, has_operations)?;
    let endings = endings(&index, &processes, &globals.locations, &plan.last_ticks)?;
    Ok(Input {
        index,
        launch,
        processes,
        clocks,
        worlds,
        globals,
        contexts,
        data: BTreeMap::new(),
        trees,
        heaps,
        plan,
        endings,
        start_realtime_ns,
        left_out: Vec::new(),
    })
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

/// When each process ended, ticks. One that did not say so was there at least until the last thing known of it: a record,
/// or a sample, for one that hangs in a call or computes leaves nothing else.
fn endings(
    index: &Index,
    processes: &[ProcessDefs],
    locations: &[Location],
    last_ticks: &[u64],
) -> Result<Vec<u64>, Error> {
    let mut endings = vec![0; processes.len()];
    for (location, &ticks) in locations.iter().zip(last_ticks) {
        let ending = &mut endings[location.process as usize];
        *ending = ticks.max(*ending);
    }
    for (process, ending) in processes.iter().zip(&mut endings) {
        if let Some(said) = &process.ending {
            *ending = said.2.ticks;
            continue;
        }
        for samples in index.samples.iter().filter(|samples| samples.process == process.key) {
            *ending = samples::last_ticks(index, samples)?.unwrap_or(0).max(*ending);
        }
    }
    Ok(endings)
}
