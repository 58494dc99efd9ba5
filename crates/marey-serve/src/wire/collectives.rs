//! Operations of all, over the wire.

use serde::{Deserialize, Serialize};

/// An operation of all members of a communicator.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct Operation {
    /// Number of the communicator in the archive.
    pub communicator: u32,
    /// Number of the operation on it.
    pub instance: u32,
}

/// Operations of which a member that is asked about was in one in the window. Columns of each operation: `communicator`,
/// `instance`, `region` (2³²−1 = unknown), `last` (the location that came last), `number` (1, or how many stand together)
/// and `behind` (the place behind its last member). Of each member that is asked about: `location`, `line` (of the call
/// that it began with; 2³²−1 = unknown), `enter` and `leave` (ns; not a number = never). If there are too many, those of a
/// communicator and region that were entered about the same time stand together: with the first's instance, the means of
/// the members' times, and who came last most often.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CollectivesHead {
    /// How many there are in the window; `null` = so many that they were not counted.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub number: Option<u64>,
    /// What could not be read.
    pub damage: Vec<String>,
}

/// One operation. Columns, a value a member: `location`, `line` (of the call that completed it, or of that with which it began;
/// 2³²−1 = unknown), `enter`, `leave` (ns; not a number = never), `start` (enter of the call that completed it; not a number
/// = unknown), `waited` (ns in that call; not a number = not known), `bytes_out` and `bytes_in`. In the order in which they
/// came.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CollectiveHead {
    /// The operation; `null` = there is none.
    pub operation: Option<WireOperation>,
    /// What could not be read.
    pub damage: Vec<String>,
}

/// An operation of all.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireOperation {
    /// Region of the call that begins it; `null` = unknown.
    pub region: Option<u32>,
    /// Name of the communicator; empty = it has none.
    pub communicator: String,
    /// How many processes are in that.
    pub size: u32,
    /// The root; `null` = none, or it was not recorded.
    pub root: Option<u32>,
    /// Who came last.
    pub last: u32,
    /// When the first came, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub start_ns: i64,
    /// When the last left, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub end_ns: i64,
}
