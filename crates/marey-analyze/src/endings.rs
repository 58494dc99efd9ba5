//! Where processes were that did not end well.
//!
//! The one idea: a process that is killed tells nothing any more, but the regions that its threads
//! had entered and not left say what it was doing.

use std::collections::{BTreeMap, BTreeSet};

use marey_model::{CallPathId, LocationId, Nanos, ProcessId};

use crate::paths::Paths;
use crate::trace::{LocationKind, OpenRegion, Process, Trace};

/// A process that did not end well.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EarlyEnding<'t> {
    /// The process.
    pub process: ProcessId,
    /// How it ended.
    pub outcome: &'t str,
    /// Its exit status, if it has one.
    pub exit_code: Option<i64>,
    /// Its first thread, and those of the others that are known to have been inside a region or
    /// of which nothing is known. Threads that had ended before are not told from those that were
    /// outside of all regions.
    pub threads: Vec<LastSeen<'t>>,
}

/// A thread and where it was when its process ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LastSeen<'t> {
    /// The thread.
    pub location: LocationId,
    /// Where it was.
    pub place: LastPlace<'t>,
}

/// Where a thread was.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LastPlace<'t> {
    /// In a region.
    Inside {
        /// The call path of the innermost region.
        call_path: CallPathId,
        /// Names of its regions, root first.
        path: Vec<&'t str>,
        /// When the innermost region was entered.
        start: Nanos,
    },
    /// In no measured region.
    Outside,
    /// Records are missing, or the run does not say.
    Unknown,
}

/// The processes that did not end well, in their order.
pub fn early_endings(trace: &dyn Trace) -> Vec<EarlyEnding<'_>> {
    let ended_well =
        |process: &ProcessId| trace.processes().get(process.idx()).is_none_or(Process::ended_well);
    let all = (0..trace.processes().len()).filter_map(ProcessId::from_idx);
    let mut endings: BTreeMap<ProcessId, EarlyEnding<'_>> =
        all.filter(|id| !ended_well(id)).map(|id| (id, ending(trace, id))).collect();
    let places = Places::new(trace);
    for (idx, location) in trace.locations().iter().enumerate() {
        let ending = endings.get_mut(&location.process).filter(|_| location.kind == LocationKind::Thread);
        let (Some(ending), Some(id)) = (ending, LocationId::from_idx(idx)) else { continue };
        let place = places.of(id);
        if location.thread.0 == 0 || place != LastPlace::Outside {
            ending.threads.push(LastSeen { location: id, place });
        }
    }
    endings.into_values().collect()
}

fn ending(trace: &dyn Trace, process: ProcessId) -> EarlyEnding<'_> {
    let Process { outcome, exit_code, .. } = &trace.processes()[process.idx()];
    EarlyEnding { process, outcome, exit_code: *exit_code, threads: Vec::new() }
}

/// What is known of the places of threads.
struct Places<'t> {
    paths: Paths<'t>,
    open: Option<&'t [OpenRegion]>,
    /// Threads of which records are missing.
    truncated: BTreeSet<LocationId>,
}

impl<'t> Places<'t> {
    fn new(trace: &'t dyn Trace) -> Self {
        let truncated = trace.problems().iter().filter(|it| it.kind == "truncated" && it.count > 0);
        let truncated = truncated.filter_map(|problem| problem.location).collect();
        Self { paths: Paths::new(trace), open: trace.open_at_end(), truncated }
    }

    fn of(&self, location: LocationId) -> LastPlace<'t> {
        let Some(open) = self.open.filter(|_| !self.truncated.contains(&location)) else {
            return LastPlace::Unknown;
        };
        // Sorted by location, the innermost last.
        let behind = open.partition_point(|region| region.location <= location);
        match open[..behind].last().filter(|region| region.location == location) {
            Some(&OpenRegion { call_path, start, .. }) => {
                LastPlace::Inside { call_path, path: self.paths.names(call_path.idx()), start }
            }
            None => LastPlace::Outside,
        }
    }
}
