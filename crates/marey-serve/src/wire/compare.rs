//! What goes over the wire of two runs that are compared.
//!
//! The words are those of `docs/compare.md`: old is what the base has, new what the other run has.

use serde::Serialize;

/// What differs. Columns `same_region` and `same_location`: of each region, and of each location, of the other run that of
/// the base; 2³²−1 = there is none.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CompareHead {
    /// What differs, in sentences, the most important first.
    pub sentences: Vec<String>,
    /// What must be known to read the rest.
    pub remarks: Vec<String>,
    /// By what sums over all ranks and threads of the base, and of the other, were divided: 1, or if the runs have different
    /// numbers of processes these.
    pub divisors: (f64, f64),
    /// Functions that were taken for renamed.
    pub renamed: Vec<WireRenamed>,
    /// Numbers of the runs as wholes, never divided.
    pub numbers: Vec<WireNumber>,
    /// Time on the critical path by place, never divided: differences add up to that of the runs' lengths. `null` = not both
    /// runs have one.
    pub path: Option<Differences>,
    /// Time in regions themselves.
    pub regions: Differences,
    /// Time in call paths themselves.
    pub call_paths: Differences,
    /// Waits by pattern and place; `null` = not known of both runs.
    pub waits: Option<Differences>,
}

/// A function that was taken for renamed.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireRenamed {
    /// What it was called.
    pub old: String,
    /// In which file.
    pub old_file: String,
    /// What it is called.
    pub new: String,
    /// In which file.
    pub new_file: String,
}

/// A number of both runs.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireNumber {
    /// Its name among the quantities of docs/compare.md.
    pub name: String,
    /// In the base, s or bytes or a number; `null` = not measured.
    pub old: Option<f64>,
    /// In the other.
    pub new: Option<f64>,
}

/// A table of differences, the largest first.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Differences {
    /// How many there are.
    pub number: u32,
    /// Those that differ most.
    pub rows: Vec<Difference>,
}

/// A time in both runs.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Difference {
    /// Where it was spent.
    pub place: WirePlace,
    /// Of a call path, the names of the regions around it, the outermost first.
    pub around: Vec<String>,
    /// Of waits, what was waited for; else empty.
    pub pattern: String,
    /// In the base, ns.
    pub old: f64,
    /// In the other, ns.
    pub new: f64,
    /// What part of the base that is: of its length on the critical path, of the time of all its processes for regions and
    /// call paths, of all the time of its ranks and threads for waits; `null` = that is nothing.
    pub share: Option<f64>,
    /// Visits in the base and in the other; `null` = no matter of visits.
    pub calls: Option<(f64, f64)>,
    /// Data moved in the base and in the other, bytes.
    pub bytes: Option<(f64, f64)>,
    /// What made most of the difference; `null` = nothing of what is known.
    pub why: Option<Why>,
}

/// A place in the program.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WirePlace {
    /// What is done there.
    pub activity: WireActivity,
    /// Name of the region; empty = none.
    pub name: String,
    /// Its level.
    pub level: String,
    /// The function that called it; empty = unknown.
    pub function: String,
    /// Its file, without directories.
    pub file: String,
    /// The line that took most time; 0 = unknown.
    pub line: u32,
    /// The region in the base, if it has it.
    pub base: Option<u32>,
    /// The region in the other run.
    pub other: Option<u32>,
}

/// What is done in a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum WireActivity {
    /// A region is visited.
    Call,
    /// Computation between recorded calls.
    Outside,
    /// Nothing yet, or no more.
    NotStarted,
    /// The run, before its critical path begins.
    Before,
}

/// What made a difference, and that in both runs.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Why {
    /// What.
    pub what: Reason,
    /// In the base: visits, or ns.
    pub old: f64,
    /// In the other.
    pub new: f64,
    /// Of waiting, the place for which more, or less, was waited than for any other.
    pub place: Option<WirePlace>,
    /// Of computation, the function whose processor time changed most; else empty.
    pub function: String,
}

/// What makes a difference.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// Only the other run does it: visits.
    New,
    /// Only the base does it: visits.
    Gone,
    /// It is done more often, or less: visits.
    Calls,
    /// Each visit takes longer, or shorter, waits left out: ns.
    Each,
    /// More is waited in it, or less: ns.
    Waiting,
    /// More is computed, or less: ns.
    Computing,
    /// It does not take longer by itself, but more of it is on the critical path, or less: ns in all.
    Shifted,
}

/// Iterations of the main loop of both runs. Columns `base_from`, `base_to`, `other_from` and `other_to`, ns of the run
/// that they are of.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct IterationsHead {
    /// The main loop of the base; `null` = nothing repeats.
    pub base: Option<WireLoop>,
    /// The same loop of the other run, or if it has none of that name its main loop; `null` = nothing repeats.
    pub other: Option<WireLoop>,
    /// Whether both are told by the same call.
    pub is_same: bool,
    /// So many iterations in a row are one in the columns; mostly 1.
    #[cfg_attr(test, ts(type = "number"))]
    pub per: u64,
}

/// A loop.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireLoop {
    /// What its iterations are told by.
    pub name: String,
    /// How many they are.
    #[cfg_attr(test, ts(type = "number"))]
    pub number: u64,
    /// How long they take, the median, ns.
    pub median_ns: f64,
}

#[cfg(test)]
pub(super) fn declarations() -> Vec<String> {
    use ts_rs::TS;
    vec![
        CompareHead::decl(),
        WireRenamed::decl(),
        WireNumber::decl(),
        Differences::decl(),
        Difference::decl(),
        WirePlace::decl(),
        WireActivity::decl(),
        Why::decl(),
        Reason::decl(),
        IterationsHead::decl(),
        WireLoop::decl(),
    ]
}
