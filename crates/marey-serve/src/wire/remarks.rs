//! What compilers said of loops, on the wire, beside what the loops cost.

use serde::Serialize;

/// What compilers said of the run's program.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RemarksHead {
    /// Why there is nothing, in words that say what to do; `null` = there is something.
    pub why_not: Option<String>,
    /// Length of the critical path, ns; `null` = there is none, or no sample on it.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub path_ns: Option<i64>,
    /// Processor time of all samples, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub processor_ns: i64,
    /// Loops of which something was said, those with most time first.
    pub loops: Vec<WireRemarked>,
    /// How many more there are, with less time than these.
    pub left_out: u32,
}

/// A loop of which a compiler spoke.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireRemarked {
    /// Its source; `null` = the run tells nothing else of that.
    pub file: Option<u32>,
    /// Path of the source.
    pub path: String,
    /// First line.
    pub first: u32,
    /// Last line.
    pub last: u32,
    /// Whether it is a loop of the text.
    pub is_read: bool,
    /// The function that it lies in; empty = not known.
    pub function: String,
    /// What became of it, in words.
    pub outcome: String,
    /// Whether something of it was left as it is.
    pub is_left: bool,
    /// Processor time in its own lines, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub own_ns: i64,
    /// Of that, on the critical path; `null` = there is none.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub path_ns: Option<i64>,
    /// Elements in a vector.
    pub lanes: u32,
    /// Whether the compiler told that.
    pub lanes_told: bool,
    /// What could be won at most, ns; 0 where nothing was left.
    #[cfg_attr(test, ts(type = "number"))]
    pub gain_ns: i64,
    /// What was said, what explains most first.
    pub remarks: Vec<WireRemark>,
    /// How many more remarks there are.
    pub more: u32,
}

/// A remark.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireRemark {
    /// `vectorised`, `not vectorised`, `statements`, `replaced`, `inlined` or `not inlined`.
    pub kind: String,
    /// Its line.
    pub line: u32,
    /// Who said it.
    pub compiler: String,
    /// Why, in plain words.
    pub reason: String,
    /// The compiler's own words.
    pub said: String,
    /// `carried`, `value` or `unknown`; empty = nothing that is told.
    pub dependence: String,
    /// Iterations between the two; `null` = not told.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub distance: Option<i64>,
    /// The array between whose elements that is; empty = not known.
    pub array: String,
    /// Whether the array was taken from the text.
    pub is_array_of_text: bool,
    /// Who is called, of calls.
    pub callee: String,
    /// Whose copy of the code it is about; empty = what stands where it was written.
    pub inlined_into: String,
}

/// As TypeScript has them.
#[cfg(test)]
pub(super) fn declarations() -> Vec<String> {
    use ts_rs::TS;

    vec![RemarksHead::decl(), WireRemark::decl(), WireRemarked::decl()]
}
