//! What goes over the wire of runs that can be opened.

use serde::{Deserialize, Serialize};

/// Runs that can be opened, the latest first.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireRuns {
    /// The directory beneath which was looked.
    pub directory: String,
    /// Whether there is more in it than was looked at.
    pub is_cut: bool,
    /// The runs.
    pub runs: Vec<WireRun>,
}

/// A run that can be opened.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireRun {
    /// Its number, by which it is opened: the page of run 3 is `run/3/`.
    #[cfg_attr(test, ts(type = "number"))]
    pub number: usize,
    /// Name of its file.
    pub name: String,
    /// Where that lies: relative to the directory if it is beneath, else from the root; empty = in the directory.
    pub place: String,
    /// Its title, as the user gave it.
    pub title: String,
    /// The command line that was recorded.
    pub command: String,
    /// When it started, ms since 1970; `null` = unknown.
    pub started_ms: Option<f64>,
    /// How long it took, ns.
    pub duration_ns: f64,
    /// Processes that were recorded.
    pub processes: u32,
    /// Nodes.
    pub hosts: u32,
    /// Visits that were recorded one by one.
    pub visits: f64,
    /// Size of its files, bytes.
    pub bytes: f64,
    /// Why it cannot be opened; `null` = it can.
    pub why_not: Option<String>,
}

/// How far the opening of a run is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireOpening {
    /// What is read now.
    pub what: String,
    /// How many parts of it have been.
    pub done: u32,
    /// Of so many.
    pub of: u32,
}

/// The clock of a process is to be moved.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct WireShift {
    /// The process, by its place in the head.
    pub process: u32,
    /// What is to be added to all of its times, in the place of what was before, ns; 0 = as they were found.
    #[cfg_attr(test, ts(type = "number"))]
    pub offset_ns: i64,
}

#[cfg(test)]
pub(super) fn declarations() -> Vec<String> {
    use ts_rs::TS;
    vec![WireRuns::decl(), WireRun::decl(), WireOpening::decl(), WireShift::decl()]
}
