//! The facts that a report begins with: where is the time, and on which rank.
//!
//! The one idea: these are values with definitions, not sentences. Which of them are worth telling, and
//! in which words, is for whoever writes the report.

use std::collections::BTreeMap;

use marey_model::{CallPathId, Nanos, ProcessId, RegionId, Role};
use rustc_hash::FxHashMap;

use crate::paths::{Paths, add, float};
use crate::ranks::{RankRow, ranks, share};
use crate::trace::Trace;

/// The facts.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Headline {
    /// Sum of the wall times of all processes.
    pub process_time: Nanos,
    /// Time in MPI of all processes; see [`RankRow::mpi`].
    pub mpi: Nanos,
    /// Share of MPI in the time of the locations that call it, over all processes of which that is
    /// known, 0 to 1.
    pub mpi_share: f64,
    /// How `mpi` divides by what the called function does, largest first; the sum is `mpi`.
    pub mpi_by_role: Vec<(Role, Nanos)>,
    /// The rank with the largest share of MPI; of several, the first. `None` without ranks.
    pub most_mpi: Option<RankShare>,
    /// The rank with the least share of MPI; of several, the first. `None` without ranks.
    pub least_mpi: Option<RankShare>,
    /// The call site at which most time in MPI is spent. `None` if nobody called MPI.
    pub largest_call_site: Option<CallSite>,
    /// Imbalance of computing: the largest over the mean time outside MPI of a rank, less 1; so 0
    /// is even, 1 means that the slowest has twice the mean. Time outside MPI is that of
    /// [`RankRow::mpi_base`] without `mpi`. `None` without ranks or without computing.
    pub imbalance: Option<f64>,
}

/// A rank and its share of MPI.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RankShare {
    /// The process.
    pub process: ProcessId,
    /// Number of its `MPI_COMM_WORLD`.
    pub world: u32,
    /// Its rank there.
    pub rank: u32,
    /// Share of MPI, 0 to 1; see [`RankRow::mpi_share`].
    pub share: f64,
}

/// A place in the source from which MPI is called.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallSite {
    /// The region that is called there.
    pub region: RegionId,
    /// Name of the MPI function.
    pub verb: String,
    /// Function that it was called from; empty = unknown.
    pub function: String,
    /// Source file; empty = unknown.
    pub file: String,
    /// Source line; 0 = unknown.
    pub line: u32,
    /// Number of calls.
    pub visits: u64,
    /// Inclusive time, summed over locations and over all call paths that lead there.
    pub inclusive: Nanos,
}

/// The facts of a run.
pub fn headline(trace: &dyn Trace) -> Headline {
    let mut ranks = ranks(trace);
    let mut headline = Headline::default();
    let mut base = Nanos(0);
    ranks.iter().for_each(|row| add(&mut headline.process_time, row.time));
    // Who is not known to have called MPI may have spent all its time there.
    ranks.retain(|row| row.is_known);
    for row in &ranks {
        add(&mut headline.mpi, row.mpi);
        add(&mut base, row.mpi_base);
    }
    headline.mpi_share = share(headline.mpi, base);
    (headline.mpi_by_role, headline.largest_call_site) = mpi_calls(trace);
    let shares = || ranks.iter().filter_map(rank_share);
    // Of equal shares the first counts: `min_by` returns it, `max_by` would return the last.
    headline.most_mpi = shares().min_by(|a, b| b.share.total_cmp(&a.share));
    headline.least_mpi = shares().min_by(|a, b| a.share.total_cmp(&b.share));
    headline.imbalance = imbalance(&ranks);
    headline
}

fn rank_share(row: &RankRow) -> Option<RankShare> {
    let RankRow { process, world, rank, .. } = *row;
    rank.map(|rank| RankShare { process, world, rank, share: row.mpi_share() })
}

/// Time in MPI by role, and the call site with most of it.
fn mpi_calls(trace: &dyn Trace) -> (Vec<(Role, Nanos)>, Option<CallSite>) {
    let paths = Paths::new(trace);
    let mut by_role: BTreeMap<Role, Nanos> = BTreeMap::new();
    let mut by_path: FxHashMap<CallPathId, (u64, Nanos)> = FxHashMap::default();
    for (row, path, _) in paths.rows().filter(|(row, ..)| paths.counts_for_mpi(row.call_path)) {
        add(by_role.entry(trace.regions()[path.region.idx()].role).or_default(), row.inclusive);
        let sum = by_path.entry(row.call_path).or_default();
        sum.0 = sum.0.saturating_add(row.visits);
        add(&mut sum.1, row.inclusive);
    }
    let mut by_site: BTreeMap<(RegionId, String, String, u32), (u64, Nanos)> = BTreeMap::new();
    let mut visited: Vec<_> = by_path.into_iter().collect();
    visited.sort_unstable_by_key(|(path, _)| *path);
    for (path, (visits, inclusive)) in visited {
        let region = trace.call_paths()[path.idx()].region;
        let site = paths.call_site(path);
        let sum = by_site.entry((region, site.file, site.function, site.line)).or_default();
        sum.0 = sum.0.saturating_add(visits);
        add(&mut sum.1, inclusive);
    }
    // The first of equals, in the order of regions.
    let largest = by_site.into_iter().min_by_key(|(_, (_, inclusive))| std::cmp::Reverse(*inclusive));
    let site = largest.map(|((region, file, function, line), (visits, inclusive))| {
        let verb = trace.regions()[region.idx()].verb.clone();
        CallSite { region, verb, function, file, line, visits, inclusive }
    });
    let mut roles: Vec<_> = by_role.into_iter().collect();
    roles.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
    (roles, site)
}

fn imbalance(ranks: &[RankRow]) -> Option<f64> {
    let computing = || ranks.iter().filter(|row| row.rank.is_some()).map(|row| row.mpi_base - row.mpi);
    let total: f64 = computing().map(float).sum();
    let largest = computing().max()?;
    if total <= 0.0 {
        return None;
    }
    // At most the number of processes of a run, far below what a float holds exactly.
    #[expect(clippy::cast_precision_loss, reason = "there are fewer than 2⁵³ ranks")]
    let count = computing().count() as f64;
    Some(float(largest) * count / total - 1.0)
}
