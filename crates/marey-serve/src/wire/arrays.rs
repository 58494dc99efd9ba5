//! Arrays on the wire: what it cost to act on them, where their elements lie, and which of them were referred to.

use serde::{Deserialize, Serialize};

use super::PartOf;

/// One array is asked about.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct ArrayOf {
    /// Of which part of the run.
    pub part: PartOf,
    /// Its number.
    pub array: u32,
}

/// Where in its index space references fall is asked for.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct SectionsOf {
    /// Of which part of the run.
    pub part: PartOf,
    /// Its number.
    pub array: u32,
    /// What lies across and down: a dimension, from 0; `null` = the process with which elements lie.
    pub axes: (Option<u32>, Option<u32>),
    /// Cells across and down, at most.
    pub cells: (u32, u32),
}

/// Arrays, and data of messages, of a part of the run.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ArraysHead {
    /// Time of all threads of the part, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub of_ns: i64,
    /// Arrays, those with most time first.
    pub arrays: Vec<WireArray>,
    /// How many more there are.
    pub more: u32,
    /// Accesses that are made piece by piece, those with most time first.
    pub pieces: Vec<WirePiece>,
    /// What messages of the whole run come from and go to, those with most bytes first.
    pub buffers: Vec<WireBuffer>,
    /// How many more there are.
    pub more_buffers: u32,
    /// What moves data from each rank to each other in the whole run, that with most time first.
    pub redistributions: Vec<WireRedistribution>,
    /// How many more there are.
    pub more_redistributions: u32,
    /// Time of all threads of the whole run, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub whole_ns: i64,
    /// Whether the part was counted: spans with very many visits are not.
    pub is_whole: bool,
    /// What could not be read.
    pub damage: Vec<String>,
}

/// Data that is laid out otherwise.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireRedistribution {
    /// `accesses`, `collective` or `messages`.
    pub by: String,
    /// What is done; of messages nothing.
    pub verb: String,
    /// Where data lay before; empty = not known.
    pub from: String,
    /// Where it lies then; empty = not known.
    pub to: String,
    /// The function; empty = unknown.
    pub function: String,
    /// Source file; empty = unknown.
    pub file: String,
    /// Line; 0 = unknown.
    pub line: u32,
    /// Accesses, operations or messages.
    #[cfg_attr(test, ts(type = "number"))]
    pub times: u64,
    /// What they moved.
    #[cfg_attr(test, ts(type = "number"))]
    pub bytes: u64,
    /// Time of the calls, ns; `null` = not known.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub time_ns: Option<i64>,
}

/// What accesses came to.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireAccesses {
    /// How many.
    #[cfg_attr(test, ts(type = "number"))]
    pub accesses: u64,
    /// Bytes that they moved.
    #[cfg_attr(test, ts(type = "number"))]
    pub bytes: u64,
    /// Time of the calls, ns. One that reads an array and writes another counts for both.
    #[cfg_attr(test, ts(type = "number"))]
    pub time_ns: i64,
}

/// An array.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireArray {
    /// Its number.
    pub number: u32,
    /// What it is called; empty = unknown.
    pub name: String,
    /// What it is: `coarray`, `view` …
    pub kind: String,
    /// File of its declaration; empty = unknown.
    pub file: String,
    /// Line of that; 0 = unknown.
    pub line: u32,
    /// Type of its elements; empty = unknown.
    pub element: String,
    /// Lower and upper bound of each dimension, of the largest instance.
    #[cfg_attr(test, ts(type = "Array<[number, number]>"))]
    pub bounds: Vec<(i64, i64)>,
    /// Bytes of the largest instance.
    #[cfg_attr(test, ts(type = "number"))]
    pub bytes: u64,
    /// How often it was made, in all processes.
    #[cfg_attr(test, ts(type = "number"))]
    pub instances: u64,
    /// Processes that have it.
    pub processes: u32,
    /// Accesses to elements.
    pub moved: WireAccesses,
    /// Those among them that were only counted with their calls.
    pub counted: WireAccesses,
    /// Making it and giving it back.
    pub managed: WireAccesses,
    /// Of elements that the process itself has.
    pub local: WireAccesses,
    /// Of elements that others have.
    pub remote: WireAccesses,
    /// Calls of lower levels that moved data for it.
    #[cfg_attr(test, ts(type = "number"))]
    pub transfers_beneath: u64,
    /// Whether it is shared and nobody accesses it across processes.
    pub is_unused: bool,
}

/// Accesses that are made piece by piece.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WirePiece {
    /// The number of the array.
    pub array: u32,
    /// `elements`: the source moves one or a few at a time. `sections`: lower levels move a section piece by piece.
    pub why: String,
    /// What is done.
    pub verb: String,
    /// Where; empty = unknown.
    pub file: String,
    /// Its line; 0 = unknown.
    pub line: u32,
    /// What it came to.
    pub sum: WireAccesses,
    /// Calls of lower levels that moved its data.
    #[cfg_attr(test, ts(type = "number"))]
    pub transfers: u64,
}

/// What messages come from and go to.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireBuffer {
    /// What it is called; empty = messages without a buffer.
    pub name: String,
    /// `variable`, `block`, `frame`, `coarray` … or `other`, whose name says why nothing is known.
    pub kind: String,
    /// File of its declaration, or of the call that made it; empty = unknown.
    pub file: String,
    /// Line of that; 0 = unknown.
    pub line: u32,
    /// Messages that were sent from it.
    #[cfg_attr(test, ts(type = "number"))]
    pub sent: u64,
    /// Their data, bytes.
    #[cfg_attr(test, ts(type = "number"))]
    pub sent_bytes: u64,
    /// Messages that were received into it.
    #[cfg_attr(test, ts(type = "number"))]
    pub received: u64,
    /// Their data, bytes.
    #[cfg_attr(test, ts(type = "number"))]
    pub received_bytes: u64,
    /// Sender, receiver and bytes, those with most bytes first.
    #[cfg_attr(test, ts(type = "Array<[number, number, number]>"))]
    pub pairs: Vec<(u32, u32, u64)>,
    /// How many more there are.
    pub more_pairs: u32,
}

/// More of one array; `null` = the part has nothing of it.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ArrayHead {
    /// Processes that have some of it or that access it.
    pub processes: Vec<WireArrayPart>,
    /// How many more there are.
    pub more_processes: u32,
    /// What is done to it, that with most time first.
    pub statements: Vec<WireStatement>,
    /// How many more there are.
    pub more_statements: u32,
    /// Whether the run has its sections, for a picture of the index space.
    pub has_sections: bool,
}

/// What a process has of an array, and what it does with it.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireArrayPart {
    /// The process.
    pub process: u32,
    /// Bounds of its largest instance; none = it has none, or they are unknown.
    #[cfg_attr(test, ts(type = "Array<[number, number]>"))]
    pub bounds: Vec<(i64, i64)>,
    /// Bytes of that.
    #[cfg_attr(test, ts(type = "number"))]
    pub bytes: u64,
    /// How often it was made there.
    #[cfg_attr(test, ts(type = "number"))]
    pub instances: u64,
    /// What the process accesses of its own elements.
    pub local: WireAccesses,
    /// What it accesses of elements of others.
    pub remote: WireAccesses,
    /// What others access of its elements.
    pub asked: WireAccesses,
}

/// Accesses from one place in the source.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireStatement {
    /// What is done: `get`, `send` …
    pub verb: String,
    /// `read`, `write`, `update`, `make` or `free`.
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
    pub sum: WireAccesses,
    /// Between which ranks data goes, in words; empty = it stays where it is.
    pub pattern: String,
    /// The loops of its source around it, the innermost first.
    #[cfg_attr(test, ts(type = "Array<[number, number]>"))]
    pub loops: Vec<(u32, u32)>,
    /// Loops around the calls that lead to it, as far as all of them have these in common, the nearest first.
    pub callers_loops: Vec<WireCallerLoop>,
    /// What lower levels did for it, that with most time first.
    pub beneath: Vec<WireBeneath>,
}

/// A loop in a function that calls, directly or not, what a statement stands in.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireCallerLoop {
    /// The function.
    pub function: String,
    /// Its file.
    pub file: String,
    /// Its first line.
    pub first: u32,
    /// Its last line.
    pub last: u32,
}

/// Calls of another level that serve accesses.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireBeneath {
    /// The level.
    pub level: String,
    /// What is called.
    pub name: String,
    /// How often.
    #[cfg_attr(test, ts(type = "number"))]
    pub calls: u64,
    /// Whether it moves data.
    pub is_transfer: bool,
    /// Exclusive time, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub time_ns: i64,
}

/// How often elements were referred to. Columns `local` and `remote`: a row of cells for each cell down.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SectionsHead {
    /// Cells across and down.
    pub size: (u32, u32),
    /// Least and greatest subscript, or number of a process, across and down.
    #[cfg_attr(test, ts(type = "[[number, number], [number, number]]"))]
    pub spans: [(i64, i64); 2],
    /// References that are in no cell: those of subscripts that are not told one by one, or beyond the bounds.
    #[cfg_attr(test, ts(type = "number"))]
    pub nowhere: u64,
    /// Why there is nothing; `null` = there is something.
    pub why_not: Option<String>,
    /// What could not be read.
    pub damage: Vec<String>,
}

/// As TypeScript has them.
#[cfg(test)]
pub(super) fn declarations() -> Vec<String> {
    use ts_rs::TS;

    vec![
        ArrayOf::decl(),
        SectionsOf::decl(),
        ArraysHead::decl(),
        WireAccesses::decl(),
        WireArray::decl(),
        WirePiece::decl(),
        WireBuffer::decl(),
        WireRedistribution::decl(),
        WireCallerLoop::decl(),
        ArrayHead::decl(),
        WireArrayPart::decl(),
        WireStatement::decl(),
        WireBeneath::decl(),
        SectionsHead::decl(),
    ]
}
