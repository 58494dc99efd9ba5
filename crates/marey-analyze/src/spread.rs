//! How times differ between processes.
//!
//! The one idea: a process that never came somewhere counts with no time there, if it could have
//! come: that is what tells uneven work from work that only few ranks do.

use std::collections::BTreeMap;

use marey_model::{Nanos, ProcessId};

use crate::paths::{Paths, add, float};
use crate::profile::count;
use crate::ranks::unknown;
use crate::trace::Trace;

/// How a time differs between processes: over the sums that each process has over its locations.
///
/// Counted are all ranks of each world in which somebody has such a time, those without any as 0
/// (but not those whose events or definitions are missing),
/// and processes that are no MPI processes if they have such a time.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Spread {
    /// Number of processes counted.
    pub processes: usize,
    /// The least time of a process.
    pub min: Nanos,
    /// The largest time of a process.
    pub max: Nanos,
    /// Mean over the processes, ns.
    pub mean: f64,
    /// Standard deviation over the processes (of all, not of a sample), ns.
    pub std: f64,
    /// The process with the least time; of several, the first.
    pub min_process: ProcessId,
    /// The process with the largest time; of several, the first.
    pub max_process: ProcessId,
}

impl Spread {
    /// The largest over the mean, less 1: 0 is even, 1 means that one process has twice the mean. 0 without any time.
    pub fn imbalance(&self) -> f64 {
        if self.mean > 0.0 { float(self.max) / self.mean - 1.0 } else { 0.0 }
    }
}

/// The exclusive time of each process in each region, by region. Exclusive times add up: those of
/// a region over its call paths, also where it calls itself, and those of several regions.
pub fn exclusive_by_process(trace: &dyn Trace) -> Vec<BTreeMap<ProcessId, Nanos>> {
    let mut times = vec![BTreeMap::new(); trace.regions().len()];
    for (row, path, process) in Paths::new(trace).rows() {
        add(times[path.region.idx()].entry(process).or_default(), row.exclusive);
    }
    times
}

/// The processes that times are compared over.
pub struct Population<'t> {
    trace: &'t dyn Trace,
    /// The ranks of each world.
    worlds: BTreeMap<u32, Vec<ProcessId>>,
}

impl<'t> Population<'t> {
    /// Those of a run.
    pub fn new(trace: &'t dyn Trace) -> Self {
        let mut worlds: BTreeMap<u32, Vec<ProcessId>> = BTreeMap::new();
        let unknown = unknown(trace);
        for (idx, process) in trace.processes().iter().enumerate() {
            if let (Some(_), Some(id)) = (process.rank, ProcessId::from_idx(idx))
                && !unknown.contains(&id)
            {
                worlds.entry(process.world).or_default().push(id);
            }
        }
        Self { trace, worlds }
    }

    /// How the times of processes differ; see [`Spread`] for those that count without being named.
    pub fn spread(&self, times: &BTreeMap<ProcessId, Nanos>) -> Spread {
        let mut times = times.clone();
        let world_of = |id: &ProcessId| {
            let process = self.trace.processes().get(id.idx())?;
            process.rank.map(|_| process.world)
        };
        let worlds: Vec<u32> = times.keys().filter_map(world_of).collect();
        for id in worlds.iter().filter_map(|world| self.worlds.get(world)).flatten() {
            times.entry(*id).or_default();
        }
        of(&times)
    }
}

fn of(times: &BTreeMap<ProcessId, Nanos>) -> Spread {
    // `max_by_key` returns the last of equals, so the ids are compared the other way round.
    let least = times.iter().min_by_key(|(id, time)| (**time, **id));
    let largest = times.iter().max_by_key(|(id, time)| (**time, std::cmp::Reverse(**id)));
    let (Some((&min_process, &min)), Some((&max_process, &max))) = (least, largest) else {
        return Spread::default();
    };
    let processes = times.len();
    let mean = times.values().map(|time| float(*time)).sum::<f64>() / count(processes as u64);
    let squares = times.values().map(|time| (float(*time) - mean).powi(2)).sum::<f64>();
    let std = (squares / count(processes as u64)).sqrt();
    Spread { processes, min, max, mean, std, min_process, max_process }
}
