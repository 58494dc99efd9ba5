//! Processes: how long they ran and how much of it they spent in MPI.
//!
//! The one idea: time in MPI is a share of the time of those threads that call MPI. A thread that only
//! computes must not make its rank look as if it communicated less.

use std::collections::BTreeSet;

use marey_model::{LocationId, Nanos, ProcessId, ThreadSerial};

use crate::paths::{Paths, add};
use crate::trace::{LocationKind, Trace};

/// A process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RankRow {
    /// The process.
    pub process: ProcessId,
    /// Number of its `MPI_COMM_WORLD`.
    pub world: u32,
    /// Rank in that world; `None` = not an MPI process.
    pub rank: Option<u32>,
    /// Number of its threads that were measured; lanes do not count.
    pub threads: usize,
    /// Wall time from its first to its last measured instant.
    pub time: Nanos,
    /// Inclusive time of regions of level `mpi` that are not called from such regions, summed over
    /// its locations: with several threads in MPI at once it may exceed the wall time.
    pub mpi: Nanos,
    /// Time that `mpi` is a part of: the sum of the times, from first to last instant, of those of
    /// its locations that called MPI, of its first thread its wall time; its wall time if none did. Never less
    /// than `mpi`.
    pub mpi_base: Nanos,
    /// What it did is known. Of a process whose definitions or events are missing nothing is, and
    /// its `mpi` of 0 says nothing.
    pub is_known: bool,
}

impl RankRow {
    /// Share of MPI in the time of the locations that call it, 0 to 1.
    pub fn mpi_share(&self) -> f64 {
        share(self.mpi, self.mpi_base)
    }
}

/// One row per process, in the order of processes.
pub fn ranks(trace: &dyn Trace) -> Vec<RankRow> {
    let paths = Paths::new(trace);
    let mut mpi_of_location: Vec<Option<Nanos>> = vec![None; trace.locations().len()];
    for (row, _, _) in paths.rows() {
        if paths.counts_for_mpi(row.call_path) {
            add(mpi_of_location[row.location.idx()].get_or_insert_default(), row.inclusive);
        }
    }
    let unknown = unknown(trace);
    let mut rows: Vec<RankRow> = Vec::with_capacity(trace.processes().len());
    for (idx, process) in trace.processes().iter().enumerate() {
        let id = ProcessId::from_idx(idx).expect("a table has less than 2³² rows");
        rows.push(RankRow {
            process: id,
            world: process.world,
            rank: process.rank,
            threads: 0,
            time: process.end - process.start,
            mpi: Nanos(0),
            mpi_base: Nanos(0),
            is_known: !unknown.contains(&id),
        });
    }
    for (idx, location) in trace.locations().iter().enumerate() {
        let Some(row) = rows.get_mut(location.process.idx()) else { continue };
        row.threads += usize::from(location.kind == LocationKind::Thread);
        if let Some(mpi) = LocationId::from_idx(idx).and_then(|id| mpi_of_location[id.idx()]) {
            add(&mut row.mpi, mpi);
            // The first thread is there as long as the process. A location that ends before its calls do
            // (damage, a clock that was set right) must not make a share above 1.
            let lived = location.end - location.start;
            let is_first = location.kind == LocationKind::Thread && location.thread == ThreadSerial(0);
            add(&mut row.mpi_base, if is_first { lived.max(row.time) } else { lived }.max(mpi));
        }
    }
    for row in rows.iter_mut().filter(|row| row.mpi_base == Nanos(0)) {
        row.mpi_base = row.time;
    }
    rows
}

/// Processes of which no more is known than that they were there, and those that are not meant.
pub(crate) fn unknown(trace: &dyn Trace) -> BTreeSet<ProcessId> {
    let missing = trace.problems().iter().filter(|problem| problem.kind == "missing" && problem.count > 0);
    let all = (0..trace.processes().len()).filter_map(ProcessId::from_idx);
    missing.filter_map(|problem| problem.process).chain(all.filter(|id| trace.leaves_out(*id))).collect()
}

/// A part of a whole, 0 where there is no whole.
pub(crate) fn share(part: Nanos, whole: Nanos) -> f64 {
    use crate::paths::float;
    if whole <= Nanos(0) { 0.0 } else { float(part) / float(whole) }
}
