//! How much time was spent in what, by location, by level, by call path.

use serde::{Deserialize, Serialize};

use super::SpanOf;

/// Of what shares are.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct SharesOf {
    /// Of which span; `null` = of the whole run.
    pub span: Option<SpanOf>,
}

/// Time of locations by region, of visits what lies in the span. Columns `exclusive`, `inclusive` (ns) and `visits` (each locations × regions: a row of
/// regions for each location). Recursive visits count once in inclusive times.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SharesHead {
    /// Regions that have a column, the one with most time of its own first.
    pub regions: Vec<u32>,
    /// Regions that have none, because there are too many: all of their exclusive time is in the last column, which is
    /// none of a region.
    pub others: u32,
    /// Whether it was counted: spans with very many visits are not.
    pub is_whole: bool,
    /// What could not be read.
    pub damage: Vec<String>,
}

/// Time of all locations together by call path, of visits what lies in the span. Columns, a value for each call path that there
/// are visits of: `call_path`, its place in the archive's table, `exclusive` (ns) and `visits`.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CallPathsHead {
    /// Whether it was counted: spans with very many visits are not.
    pub is_whole: bool,
    /// What could not be read.
    pub damage: Vec<String>,
}

/// Time of locations by level. Column `exclusive` (ns, locations × levels: a row of levels for each location): time in regions
/// of the level and not in what was recorded inside them.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LevelsHead {
    /// How many levels there are.
    pub levels: u32,
}
