//! How the time of a region differs between processes.
//!
//! Exclusive time, because it adds up: that of a region is the sum over its call paths, also where
//! the region calls itself.

use marey_analyze::Trace;
use marey_model::{Nanos, RegionId};
use rustc_hash::FxHashMap;

/// How the exclusive time of a region differs between processes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spread {
    /// The least time of a process.
    pub(super) min: Nanos,
    /// The largest time of a process.
    pub(super) max: Nanos,
    /// Mean over processes, ns.
    pub(super) mean: f64,
    /// Standard deviation over processes (of all, not of a sample), ns.
    pub(super) std: f64,
}

/// Over all processes; those that never were in the region count with no time.
pub(super) fn of_regions(trace: &dyn Trace) -> FxHashMap<RegionId, Spread> {
    of_processes(trace).into_iter().map(|(region, times)| (region, spread(&times))).collect()
}

/// The exclusive time that each process spent in each region.
pub(super) fn of_processes(trace: &dyn Trace) -> FxHashMap<RegionId, Vec<Nanos>> {
    let processes = trace.processes().len();
    let mut times: FxHashMap<RegionId, Vec<Nanos>> = FxHashMap::default();
    for row in trace.profile() {
        let region = trace.call_paths().get(row.call_path.idx()).map(|path| path.region);
        let process = trace.locations().get(row.location.idx()).map(|location| location.process);
        let (Some(region), Some(process)) = (region, process) else { continue };
        let times = times.entry(region).or_insert_with(|| vec![Nanos(0); processes]);
        if let Some(time) = times.get_mut(process.idx()) {
            *time = *time + row.exclusive;
        }
    }
    times
}

/// Of the times of all processes.
#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
pub(super) fn spread(times: &[Nanos]) -> Spread {
    let count = times.len() as f64;
    let mean = times.iter().map(|time| time.0 as f64).sum::<f64>() / count;
    let squares = times.iter().map(|time| (time.0 as f64 - mean).powi(2)).sum::<f64>();
    let min = times.iter().min().copied().unwrap_or_default();
    let max = times.iter().max().copied().unwrap_or_default();
    Spread { min, max, mean, std: (squares / count).sqrt() }
}
