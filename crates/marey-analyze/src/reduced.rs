//! Regions of which visits were only counted, because recording each took more than the budget.
//!
//! The one idea: whoever charges a visit with what recording it took, or shows visits one by one, has to know which of a
//! region's visits were not recorded.
//!
//! What is deliberately absent: how sure their time is, which is told where the time is (`docs/governor.md`).

use std::collections::BTreeMap;

use marey_model::{Nanos, RegionId};

use crate::trace::Trace;

/// Visits of a region that were only counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reduced {
    /// From when on, wherever that was first.
    pub since: Nanos,
    /// How many.
    pub visits: u64,
    /// What they took together, an estimate.
    pub time: Nanos,
}

/// All regions that were reduced.
pub fn reduced(run: &dyn Trace) -> BTreeMap<RegionId, Reduced> {
    let mut regions = BTreeMap::new();
    for row in run.reduced() {
        let Some(path) = run.call_paths().get(row.call_path.idx()) else { continue };
        let sum =
            regions.entry(path.region).or_insert(Reduced { since: row.since, visits: 0, time: Nanos(0) });
        sum.since = sum.since.min(row.since);
        sum.visits = sum.visits.saturating_add(row.visits);
        sum.time = sum.time + row.time;
    }
    regions
}
