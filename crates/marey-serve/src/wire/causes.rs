//! Waits, their causes and the critical path on the wire: in a window, and added up in a span.
//!
//! The one idea: of a window they are for drawing, hence columns; of a span they are rows of tables, hence JSON.

use serde::Serialize;

/// Waits. Columns `line`, `start`, `duration` (ns), `share` (of that, which was waited), `cause` (location) and `pattern`
/// (place in the list); the last two are 2³²−1 for a bucket of waits that are too short.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WaitsHead {
    /// What was waited for.
    pub patterns: Vec<String>,
    /// How many are in the window.
    pub number: u32,
    /// Whether the run was explained.
    pub is_known: bool,
}

/// The critical path. Columns `location`, `start`, `duration` (ns).
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PathHead {
    /// Whether it is known.
    pub is_known: bool,
}

/// What explains a span: the rows of `marey waits --from --to` and `marey path --from --to`, the most of each first. Fields of
/// rows are called as in the report of the run, so that one view shows both.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CausesHead {
    /// Why it was not explained, in words; then there are no rows. `null` = it was.
    pub why_not: Option<String>,
    /// Up to when, ns: behind that events were only added up.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub until_ns: Option<i64>,
    /// Waits that are too many to be listed one by one, the shortest, and how long they were together, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub unlisted: u64,
    /// That.
    #[cfg_attr(test, ts(type = "number"))]
    pub unlisted_ns: i64,
    /// Who waited for what, by call path.
    pub waits: Vec<WireSuffered>,
    /// Who was waited for.
    pub delays: Vec<WireDelay>,
    /// What of the critical path lies in the span.
    pub critical_path: Vec<WireOnPath>,
}

/// Where in the program.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireCalled {
    /// Name of the location.
    pub location: String,
    /// What was called there, or what it was within; empty = computation outside of all.
    pub region: String,
    /// The function that called it; empty = not known.
    pub function: String,
    /// Where that is.
    pub file: String,
    /// The line in it.
    pub line: u32,
}

/// Waits of one pattern in one call path of one location.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireSuffered {
    /// Who, and where.
    #[serde(flatten)]
    #[cfg_attr(test, ts(flatten))]
    pub called: WireCalled,
    /// What was waited for.
    pub pattern: String,
    /// How long together, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub wait_ns: i64,
    /// How often.
    #[cfg_attr(test, ts(type = "number"))]
    pub instances: u64,
    /// How long at most, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub longest_ns: i64,
}

/// What somebody did who was waited for.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireDelay {
    /// Who, and where.
    #[serde(flatten)]
    #[cfg_attr(test, ts(flatten))]
    pub called: WireCalled,
    /// How long others waited for it, ns.
    pub cost_ns: f64,
    /// Of that for it itself, ns.
    pub short_term_ns: f64,
    /// Of that for those who had waited for it, ns.
    pub long_term_ns: f64,
}

/// What lies on the critical path.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireOnPath {
    /// Who, and where.
    #[serde(flatten)]
    #[cfg_attr(test, ts(flatten))]
    pub called: WireCalled,
    /// How long, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub time_ns: i64,
}
