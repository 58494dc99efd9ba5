//! The profile: one row per region, one row per call path.
//!
//! The one idea: both are sums of the same rows, which the archive has for each call path and location.
//! Exclusive times and visits simply add up; of inclusive times only those count that do not lie in
//! another visit of the same region, or recursion would count twice.
//!
//! How processes differ is told in `spread`.

use std::collections::BTreeMap;

use marey_model::{CallPathId, Nanos, ProcessId, RegionId, Role};

use crate::histogram::Histogram;
use crate::paths::{Paths, add, float};
use crate::spread::{Population, Spread};
use crate::trace::{BinRow, ProfileRow, Region, Trace};

/// A region over all locations.
#[derive(Clone, PartialEq, Debug)]
pub struct RegionRow<'t> {
    /// The region.
    pub region: RegionId,
    /// Name of its level.
    pub level: &'t str,
    /// Name of its verb; for MPI calls the C name.
    pub verb: &'t str,
    /// Name of its noun; empty = none.
    pub noun: &'t str,
    /// Role of its verb.
    pub role: Role,
    /// Number of visits.
    pub visits: u64,
    /// How many of them were counted only. All that follows is of the others.
    pub untimed: u64,
    /// Time between enter and leave, summed over locations. Visits within a visit of the same
    /// region (recursion) are not counted again.
    pub inclusive: Nanos,
    /// Time in the region itself, without that in regions called from it, summed over locations.
    pub exclusive: Nanos,
    /// Duration of the shortest single visit; `None` = unknown.
    pub min: Option<Nanos>,
    /// Duration of the longest single visit; `None` = unknown.
    pub max: Option<Nanos>,
    /// Sum of the durations of single visits, recursive ones too.
    pub durations: Nanos,
    /// Mean duration of single visits, recursive ones too, ns. 0 if none was timed.
    pub mean: f64,
    /// Standard deviation of the durations of single visits (of all that were timed, not of a sample), ns.
    pub std: f64,
    /// Data moved, bytes.
    pub bytes: u64,
    /// How the durations of single visits are spread, recursive ones too, ns.
    pub by_duration: Histogram,
    /// How the sizes of single operations are spread, bytes.
    pub by_size: Histogram,
}

/// A call path over all locations.
#[derive(Clone, PartialEq, Debug)]
pub struct CallPathRow<'t> {
    /// The call path.
    pub call_path: CallPathId,
    /// Its region.
    pub region: RegionId,
    /// Names of its regions, root first.
    pub path: Vec<&'t str>,
    /// Function that it was called from, as [`crate::caller`] tells; empty = unknown.
    pub function: String,
    /// Source file of the call, or of the region if there is no call stack; empty = unknown.
    pub file: String,
    /// Source line in that file; 0 = unknown.
    pub line: u32,
    /// Number of visits.
    pub visits: u64,
    /// How many of them were counted only.
    pub untimed: u64,
    /// Time between enter and leave, summed over locations.
    pub inclusive: Nanos,
    /// The same without time in call paths beneath.
    pub exclusive: Nanos,
    /// Data moved, bytes.
    pub bytes: u64,
    /// How the inclusive time differs between processes.
    pub spread: Spread,
    /// How the durations of single visits are spread, ns.
    pub by_duration: Histogram,
    /// How the sizes of single operations are spread, bytes.
    pub by_size: Histogram,
}

/// One row per region, in the order of regions; regions that were never visited too.
pub fn regions(trace: &dyn Trace) -> Vec<RegionRow<'_>> {
    let paths = Paths::new(trace);
    let mut sums = vec![Visits::default(); trace.regions().len()];
    for (row, path, _) in paths.rows() {
        let sum = &mut sums[path.region.idx()];
        sum.add(row);
        if paths.counts_for_region(row.call_path) {
            add(&mut sum.inclusive, row.inclusive);
        }
    }
    let region = |row: &BinRow| trace.call_paths().get(row.call_path.idx()).map(|path| path.region.idx());
    add_bins(trace, &mut sums, region);
    let regions = trace.regions().iter().zip(sums).enumerate();
    regions.map(|(idx, (region, sum))| region_row(idx, region, sum)).collect()
}

fn region_row(idx: usize, region: &Region, sum: Visits) -> RegionRow<'_> {
    RegionRow {
        region: RegionId::from_idx(idx).expect("a table has less than 2³² rows"),
        level: &region.level,
        verb: &region.verb,
        noun: &region.noun,
        role: region.role,
        visits: sum.visits,
        untimed: sum.untimed,
        inclusive: sum.inclusive,
        exclusive: sum.exclusive,
        durations: sum.durations,
        min: sum.min,
        max: sum.max,
        mean: sum.mean(),
        std: sum.std(),
        bytes: sum.bytes,
        by_duration: sum.by_duration,
        by_size: sum.by_size,
    }
}

/// One row per call path that was visited, in the order of call paths.
pub fn call_paths(trace: &dyn Trace) -> Vec<CallPathRow<'_>> {
    let paths = Paths::new(trace);
    let mut sums = vec![Visits::default(); trace.call_paths().len()];
    let mut by_process: Vec<BTreeMap<ProcessId, Nanos>> = vec![BTreeMap::new(); sums.len()];
    for (row, _, process) in paths.rows() {
        let idx = row.call_path.idx();
        sums[idx].add(row);
        add(&mut sums[idx].inclusive, row.inclusive);
        add(by_process[idx].entry(process).or_default(), row.inclusive);
    }
    add_bins(trace, &mut sums, |row| Some(row.call_path.idx()));
    let population = Population::new(trace);
    let mut rows = Vec::new();
    for (idx, (sum, by_process)) in sums.into_iter().zip(by_process).enumerate() {
        if by_process.is_empty() {
            continue;
        }
        let path = trace.call_paths()[idx];
        let call_path = CallPathId::from_idx(idx).expect("a table has less than 2³² rows");
        let site = paths.call_site(call_path);
        rows.push(CallPathRow {
            call_path,
            region: path.region,
            path: paths.names(idx),
            function: site.function,
            file: site.file,
            line: site.line,
            visits: sum.visits,
            untimed: sum.untimed,
            inclusive: sum.inclusive,
            exclusive: sum.exclusive,
            bytes: sum.bytes,
            spread: population.spread(&by_process),
            by_duration: sum.by_duration,
            by_size: sum.by_size,
        });
    }
    rows
}

/// Adds histograms to the sums at the places that their rows belong to.
fn add_bins(trace: &dyn Trace, sums: &mut [Visits], place: impl Fn(&BinRow) -> Option<usize>) {
    for row in trace.durations() {
        if let Some(sum) = place(row).and_then(|place| sums.get_mut(place)) {
            sum.by_duration.add(row);
        }
    }
    for row in trace.sizes() {
        if let Some(sum) = place(row).and_then(|place| sums.get_mut(place)) {
            sum.by_size.add(row);
        }
    }
}

/// Sums over visits.
#[derive(Clone, Default)]
struct Visits {
    visits: u64,
    untimed: u64,
    inclusive: Nanos,
    /// Sum of the durations of all visits, recursive ones too.
    durations: Nanos,
    exclusive: Nanos,
    min: Option<Nanos>,
    max: Option<Nanos>,
    sum_squares: f64,
    bytes: u64,
    by_duration: Histogram,
    by_size: Histogram,
}

impl Visits {
    /// Adds everything but inclusive time, which not every row adds to.
    fn add(&mut self, row: &ProfileRow) {
        self.visits = self.visits.saturating_add(row.visits);
        self.untimed = self.untimed.saturating_add(row.untimed);
        add(&mut self.durations, row.inclusive);
        add(&mut self.exclusive, row.exclusive);
        self.min = [self.min, row.min].into_iter().flatten().min();
        self.max = self.max.max(row.max);
        self.sum_squares += row.sum_squares;
        self.bytes = self.bytes.saturating_add(row.bytes);
    }

    /// Number of visits that the durations are of.
    fn timed(&self) -> u64 {
        self.visits.saturating_sub(self.untimed)
    }

    fn mean(&self) -> f64 {
        if self.timed() == 0 { 0.0 } else { float(self.durations) / count(self.timed()) }
    }

    fn std(&self) -> f64 {
        if self.timed() == 0 {
            return 0.0;
        }
        // Rounding may leave a little less than nothing where all visits took the same time.
        (self.sum_squares / count(self.timed()) - self.mean() * self.mean()).max(0.0).sqrt()
    }
}

/// A number of things as a float.
#[expect(clippy::cast_precision_loss, reason = "means need no more than 53 bits")]
pub(crate) fn count(things: u64) -> f64 {
    things as f64
}
