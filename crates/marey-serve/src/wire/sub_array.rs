//! Selected elements of an array on the wire: what the selection snaps to, and what accesses to them cost.

use serde::{Deserialize, Serialize};

use super::{PartOf, WireAccesses};

/// Accesses to part of an array are asked for.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct SubArrayOf {
    /// Of which part of the run.
    pub part: PartOf,
    /// The array's number.
    pub array: u32,
    /// First and last subscript of each dimension; `null` = all of it.
    #[cfg_attr(test, ts(type = "Array<[number, number] | null>"))]
    pub section: Vec<Option<(i64, i64)>>,
    /// Processes that have it; `null` = all.
    pub processes: Option<Vec<u32>>,
    /// How it is made to fit what processes have.
    pub snap: SnapTo,
}

/// How a selection is made to fit what processes have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum SnapTo {
    /// It takes all of each part that it meets.
    Expand,
    /// It leaves out parts that it does not hold all of.
    Shrink,
    /// Not at all.
    None,
}

/// What is selected, and what accesses to it cost.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SubArrayHead {
    /// What was asked for: first and last subscript of each dimension.
    #[cfg_attr(test, ts(type = "Array<[number, number]>"))]
    pub section: Vec<(i64, i64)>,
    /// The box around what that became.
    #[cfg_attr(test, ts(type = "Array<[number, number]>"))]
    pub snapped: Vec<(i64, i64)>,
    /// Along which dimensions processes have bounds of their own.
    pub distributed: Vec<bool>,
    /// Whether it is what was asked for: nothing was added or left out.
    pub fits: bool,
    /// Processes that have some of it.
    pub parts: Vec<WireSelectedPart>,
    /// How many more there are.
    pub more_parts: u32,
    /// All accesses to it.
    pub total: WireSelected,
    /// By place in the source, that with most time first.
    pub statements: Vec<WireSelectedStatement>,
    /// How many more there are.
    pub more_statements: u32,
    /// By process that asks or has some of it.
    pub processes: Vec<WireSelectedProcess>,
    /// How many more there are.
    pub more_processes: u32,
    /// Accesses to the array of the locations that are meant, over the whole run, that were only counted, so that it is not known
    /// which elements they mean; 0 also of a span.
    #[cfg_attr(test, ts(type = "number"))]
    pub not_kept: u64,
    /// Why there is nothing; `null` = there is something.
    pub why_not: Option<String>,
    /// What could not be read.
    pub damage: Vec<String>,
}

/// What a process has of an array, and what of that is selected.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireSelectedPart {
    /// The process.
    pub process: u32,
    /// First and last subscript of each dimension.
    #[cfg_attr(test, ts(type = "Array<[number, number]>"))]
    pub bounds: Vec<(i64, i64)>,
    /// The same of what is selected.
    #[cfg_attr(test, ts(type = "Array<[number, number]>"))]
    pub selected: Vec<(i64, i64)>,
}

/// Accesses to selected elements.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireSelected {
    /// Accesses that mean at least one of them, as a whole.
    pub met: WireAccesses,
    /// Selected elements that these mean, each as often as it is meant.
    #[cfg_attr(test, ts(type = "number"))]
    pub inside: u64,
    /// All elements that these mean.
    #[cfg_attr(test, ts(type = "number"))]
    pub elements: u64,
    /// Accesses that mean selected elements perhaps.
    pub perhaps: WireAccesses,
    /// Elements of all these accesses that are selected perhaps.
    #[cfg_attr(test, ts(type = "number"))]
    pub perhaps_inside: u64,
}

/// Accesses to selected elements from one place in the source.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireSelectedStatement {
    /// What is done: `get`, `send` …
    pub verb: String,
    /// `read`, `write` or `update`.
    pub kind: String,
    /// The function; empty = unknown.
    pub function: String,
    /// The file; empty = unknown.
    pub file: String,
    /// The line; 0 = unknown.
    pub line: u32,
    /// Its region.
    pub region: Option<u32>,
    /// What it came to.
    pub selected: WireSelected,
}

/// A process, and selected elements.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireSelectedProcess {
    /// The process.
    pub process: u32,
    /// Its accesses to those that it has.
    pub local: WireSelected,
    /// Its accesses to those that others have.
    pub remote: WireSelected,
    /// Accesses of others to those that it has.
    pub asked: WireSelected,
}

/// As TypeScript has them.
#[cfg(test)]
pub(super) fn declarations() -> Vec<String> {
    use ts_rs::TS;

    vec![
        SubArrayOf::decl(),
        SnapTo::decl(),
        SubArrayHead::decl(),
        WireSelectedPart::decl(),
        WireSelected::decl(),
        WireSelectedStatement::decl(),
        WireSelectedProcess::decl(),
    ]
}
