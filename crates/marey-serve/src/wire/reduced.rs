//! Regions of which not each visit was recorded, on the wire: whoever looks at single visits has to know.

use marey_analyze::Reduced;
use marey_model::RegionId;
use serde::Serialize;

/// A region of which visits were only counted from some time on, because recording each was beyond the budget.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireReduced {
    /// The region.
    pub region: u32,
    /// From when on, wherever that was first, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub since_ns: i64,
    /// How many were only counted; they are in the sums of the run.
    #[cfg_attr(test, ts(type = "number"))]
    pub visits: u64,
}

impl WireReduced {
    pub(crate) fn of((region, it): (RegionId, Reduced)) -> Self {
        Self { region: region.0, since_ns: it.since.0.max(0), visits: it.visits }
    }
}
