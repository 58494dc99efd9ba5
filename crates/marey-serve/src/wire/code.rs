//! Machine code that a run keeps, on the wire: which code a source is in, and one stretch of it at a time.
//!
//! The one idea: a line of a source may have been put into many functions, so a page is told first which code has which lines;
//! instructions come for one stretch, when it is looked at.

use serde::Serialize;

/// The code that a source is in. Columns of its lines, sorted by line, the code with most samples at the line first: `line` and
/// `code`, its number.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SourceCodesHead {
    /// The code, that with most samples first.
    pub codes: Vec<WireCode>,
}

/// A stretch of code.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireCode {
    /// Its number.
    pub number: u32,
    /// The function.
    pub name: String,
    /// Of it, bytes.
    #[cfg_attr(test, ts(type = "number"))]
    pub bytes: i64,
    /// Of these at the end, how many are not kept, bytes.
    #[cfg_attr(test, ts(type = "number"))]
    pub left_out_bytes: i64,
    /// Samples that were taken in it.
    #[cfg_attr(test, ts(type = "number"))]
    pub samples: u64,
    /// Their processor time, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub own_ns: i64,
}

/// The instructions of a stretch of code, in the order of their addresses. Columns, a value for each: `address` in the file of the
/// program, `bytes`, `file` (4294967295 = not known), `line` (0 = not known), `own` (processor time of samples taken there, ns),
/// `samples` (their number) and `with_calls` (these, and those in what was called from there, ns).
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SourceCodeHead {
    /// It.
    pub code: WireCode,
    /// Its module.
    pub module: String,
    /// What stands there in words.
    pub instructions: Vec<WireInstruction>,
    /// How many more the run has: they are too many to be looked through.
    pub left_out: u32,
}

/// An instruction.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireInstruction {
    /// As assemblers write it.
    pub text: String,
    /// The function that it leads to; empty = none, or not known.
    pub leads_to: String,
    /// The function that was inlined there, the innermost; empty = none.
    pub inlined: String,
}

/// As TypeScript has them.
#[cfg(test)]
pub(super) fn declarations() -> Vec<String> {
    use ts_rs::TS;

    vec![SourceCodeHead::decl(), SourceCodesHead::decl(), WireCode::decl(), WireInstruction::decl()]
}
