//! Waiting: in which calls of the system, and for how long, threads were blocked.
//!
//! The one idea: what counts is the waiting of threads that also do something. A thread beside the first one of its
//! process that waited for nine tenths of its life and more serves others: it waits because there is nothing to do,
//! which holds nobody up. Its time is told apart, or it would hide all other.
//!
//! Deliberately absent: what MPI waits for, and what a call waited for, which only its place in the program tells.

use std::collections::BTreeSet;

use marey_model::{CallPathId, Level, LocationId, Nanos, ProcessId, RegionId, Role};

use crate::paths::{Paths, add};
use crate::trace::{LocationKind, Region, Trace};

/// Calls of one call path that waited.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WaitRow {
    /// The call path.
    pub call_path: CallPathId,
    /// Its region.
    pub region: RegionId,
    /// Number of calls, those of idle threads too.
    pub calls: u64,
    /// How many of them are of threads that do more than wait: those that `time` is of.
    pub busy_calls: u64,
    /// How many of them were counted only: of these no time is known.
    pub untimed: u64,
    /// Time in them, of threads that do more than wait.
    pub time: Nanos,
    /// The same of idle threads.
    pub idle: Nanos,
    /// The longest call; `None` = unknown.
    pub longest: Option<Nanos>,
    /// By which processes.
    pub processes: BTreeSet<ProcessId>,
}

/// All waiting of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Waiting {
    /// One row for each call path of level `system`, in their order.
    pub rows: Vec<WaitRow>,
    /// Time in these calls, of threads that do more than wait.
    pub time: Nanos,
    /// That time is a part of: from first to last instant of these threads, summed.
    pub base: Nanos,
    /// Threads that hardly do anything but wait.
    pub idle: BTreeSet<LocationId>,
}

/// Adds up the calls of level `system`.
pub fn waiting(trace: &dyn Trace) -> Waiting {
    let paths = Paths::new(trace);
    let mut waiting = Waiting { idle: idle(trace, &paths), ..Waiting::default() };
    for (idx, location) in trace.locations().iter().enumerate() {
        let is_idle = LocationId::from_idx(idx).is_some_and(|id| waiting.idle.contains(&id));
        if location.kind == LocationKind::Thread && !is_idle {
            add(&mut waiting.base, (location.end - location.start).max(Nanos(0)));
        }
    }
    let mut rows: Vec<Option<WaitRow>> = vec![None; trace.call_paths().len()];
    for (row, path, process) in paths.rows() {
        // In a part of a run there may be time in a visit that began before.
        let happened = row.visits > 0 || row.inclusive > Nanos(0);
        if trace.regions()[path.region.idx()].level != Level::SYSTEM || !happened {
            continue;
        }
        let sum = rows[row.call_path.idx()].get_or_insert_with(|| WaitRow {
            call_path: row.call_path,
            region: path.region,
            calls: 0,
            busy_calls: 0,
            untimed: 0,
            time: Nanos(0),
            idle: Nanos(0),
            longest: None,
            processes: BTreeSet::new(),
        });
        sum.calls = sum.calls.saturating_add(row.visits);
        sum.untimed = sum.untimed.saturating_add(row.untimed);
        if waiting.idle.contains(&row.location) {
            add(&mut sum.idle, row.exclusive);
        } else {
            sum.busy_calls = sum.busy_calls.saturating_add(row.visits);
            add(&mut sum.time, row.exclusive);
            add(&mut waiting.time, row.exclusive);
        }
        sum.longest = sum.longest.max(row.max);
        sum.processes.insert(process);
    }
    waiting.rows = rows.into_iter().flatten().collect();
    waiting
}

/// Threads that hardly do anything but wait.
fn idle(trace: &dyn Trace, paths: &Paths<'_>) -> BTreeSet<LocationId> {
    let mut waits = vec![Nanos(0); trace.locations().len()];
    for (row, path, _) in paths.rows() {
        if waits_for_others(&trace.regions()[path.region.idx()]) {
            add(&mut waits[row.location.idx()], row.exclusive);
        }
    }
    let is_idle = |idx: &usize| {
        let location = &trace.locations()[*idx];
        let (life, waits) = ((location.end - location.start).0, waits[*idx].0);
        let is_further = location.kind == LocationKind::Thread && location.thread.0 != 0;
        is_further && 0 < life && life / 10 * 9 <= waits
    };
    (0..waits.len()).filter(is_idle).filter_map(LocationId::from_idx).collect()
}

/// Whether a thread in a region does nothing, for as long as others do nothing.
fn waits_for_others(region: &Region) -> bool {
    region.level == Level::SYSTEM
        || (region.level == Level::THREADS
            && matches!(region.role, Role::Wait | Role::Acquire | Role::Barrier))
}
