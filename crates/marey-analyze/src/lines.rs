//! Lines of the source with everything that happened there: processor time, calls, time in calls, data moved,
//! memory allocated.
//!
//! The one idea: a line has for its own only what its own code did. A sample is exclusive to a line if it
//! was taken in it; one in a function without lines, such as those of the C library, is exclusive to none,
//! and inclusive, like all samples in what was called, for the lines that led there. A measured call belongs
//! to the line that made it: that of its caller.
//!
//! Deliberately absent: the source text.

use std::collections::BTreeMap;

use marey_model::{CallPathId, Level, Nanos, Role};

use crate::caller::caller;
use crate::samples::{Hot, Sampled};
use crate::trace::{CallPath, Trace};

/// A line of the source.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LineRow<'t> {
    /// Source file, as debug information names it.
    pub file: &'t str,
    /// Line in it, from 1.
    pub line: u32,
    /// Processor time in the line's own code.
    pub exclusive: Sampled,
    /// And in what it called, functions without lines too.
    pub inclusive: Sampled,
    /// Measured calls of libraries that it made.
    pub calls: u64,
    /// How long they took.
    pub call_time: Nanos,
    /// Data that they moved, bytes.
    pub bytes: u64,
    /// Bytes that it allocated.
    pub allocated: u64,
    /// How many of them there were when the process had most.
    pub at_peak: u64,
}

/// All lines where something happened, by file and line. `hot` are the run's samples.
pub fn lines<'t>(trace: &'t dyn Trace, hot: &Hot<'t>) -> Vec<LineRow<'t>> {
    let mut rows: BTreeMap<(&str, u32), LineRow<'t>> = BTreeMap::new();
    for line in &hot.lines {
        let row = rows.entry((line.file, line.line)).or_default();
        (row.exclusive, row.inclusive) = (line.exclusive, line.inclusive);
    }
    let paths = (0..trace.call_paths().len()).map(CallPathId::from_idx);
    let places: Vec<Option<(&str, u32)>> = paths.map(|path| place(trace, path?)).collect();
    for sum in trace.profile() {
        let Some(place) = places.get(sum.call_path.idx()).copied().flatten() else { continue };
        let row = rows.entry(place).or_default();
        row.calls = row.calls.saturating_add(sum.visits);
        row.call_time = row.call_time + sum.inclusive;
        row.bytes = row.bytes.saturating_add(sum.bytes);
    }
    for sum in trace.allocations() {
        let Some(frame) = sum.call_path.and_then(|path| caller(trace, path)) else { continue };
        if frame.line != 0 {
            let row = rows.entry((&frame.file, frame.line)).or_default();
            row.allocated = row.allocated.saturating_add(sum.bytes);
            row.at_peak = row.at_peak.saturating_add(sum.at_peak);
        }
    }
    rows.into_iter().map(|((file, line), row)| LineRow { file, line, ..row }).collect()
}

/// The line that a call of a library was made from; `None` of regions of the program, and of calls that were made
/// inside others.
fn place(trace: &dyn Trace, id: CallPathId) -> Option<(&str, u32)> {
    let is_library = |path: &CallPath| {
        let region = trace.regions().get(path.region.idx());
        region.is_some_and(|region| region.level != Level::SOURCE && region.role != Role::Work)
    };
    let path = trace.call_paths().get(id.idx())?;
    let above = path.parent.and_then(|parent| trace.call_paths().get(parent.idx()));
    if !is_library(path) || above.is_some_and(is_library) {
        return None;
    }
    let frame = caller(trace, id).filter(|frame| frame.line != 0)?;
    Some((&frame.file, frame.line))
}
