//! The loops around a statement, and around the calls that lead to it.
//!
//! The one idea: what a loop calls is repeated by it, also where the loop stands in a caller, in another file: which callers
//! there are is on the call stacks of the run, and where loops stand the source says. So the nest is told as far as all
//! visits of a statement have it in common.
//!
//! What is deliberately absent: sources; whoever has read them says where loops are.

use std::collections::{BTreeMap, BTreeSet};

use marey_model::CallPathId;

use crate::caller::caller_on;
use crate::trace::{Frame, Trace};

/// Lines of a loop, both included.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LoopLines {
    /// Its first line.
    pub first: u32,
    /// Its last line.
    pub last: u32,
    /// How many loops it lies in, itself among them.
    pub depth: u32,
}

/// A loop in a function that calls, directly or not, what a statement stands in.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct CallerLoop<'t> {
    /// The function.
    pub function: &'t str,
    /// Its file.
    pub file: &'t str,
    /// The loop.
    pub lines: LoopLines,
}

/// Where loops stand.
#[derive(Clone, Debug, Default)]
pub struct Nests(BTreeMap<String, Vec<LoopLines>>);

impl<'f> FromIterator<(&'f str, LoopLines)> for Nests {
    fn from_iter<I: IntoIterator<Item = (&'f str, LoopLines)>>(loops: I) -> Self {
        let mut files: BTreeMap<String, Vec<LoopLines>> = BTreeMap::new();
        for (file, lines) in loops {
            match files.get_mut(file) {
                Some(all) => all.push(lines),
                None => _ = files.insert(file.to_owned(), vec![lines]),
            }
        }
        // The innermost first.
        files.values_mut().for_each(|all| all.sort_by_key(|it| std::cmp::Reverse(it.depth)));
        Self(files)
    }
}

impl Nests {
    /// The loops around a line, the innermost first. Time: linear in loops of the file.
    pub fn around(&self, file: &str, line: u32) -> Vec<LoopLines> {
        let is_around = |it: &&LoopLines| (it.first..=it.last).contains(&line);
        self.0.get(file).into_iter().flatten().filter(is_around).copied().collect()
    }

    /// The loops around the calls that lead to a statement, the nearest first, that all visits from these call paths have in
    /// common. Time: linear in call paths, frames of their stacks and loops of their files.
    pub fn of_callers<'t>(
        &self,
        trace: &'t dyn Trace,
        call_paths: impl IntoIterator<Item = CallPathId>,
    ) -> Vec<CallerLoop<'t>> {
        let mut common: Option<Vec<CallerLoop<'t>>> = None;
        for path in call_paths {
            let own = self.of_path(trace, path);
            match &mut common {
                None => common = Some(own),
                Some(common) => {
                    let own: BTreeSet<CallerLoop<'t>> = own.into_iter().collect();
                    common.retain(|it| own.contains(it));
                }
            }
            if common.as_ref().is_some_and(Vec::is_empty) {
                break;
            }
        }
        common.unwrap_or_default()
    }

    fn of_path<'t>(&self, trace: &'t dyn Trace, path: CallPathId) -> Vec<CallerLoop<'t>> {
        let of_frame = |frame: &'t Frame| {
            let around = self.around(&frame.file, frame.line).into_iter();
            around.map(move |lines| CallerLoop { function: &frame.function, file: &frame.file, lines })
        };
        callers(trace, path).into_iter().flat_map(of_frame).collect()
    }
}

/// The functions that call, directly or not, the one that made a call: their places, the nearest first.
pub fn callers(trace: &dyn Trace, path: CallPathId) -> Vec<&Frame> {
    let stack = trace.call_paths().get(path.idx()).and_then(|path| path.stack);
    let frames = stack.map(|stack| trace.stack(stack)).unwrap_or_default();
    let own = caller_on(&frames).map_or(frames.len(), |own| own + 1);
    frames.into_iter().skip(own).filter(|frame| frame.line != 0).collect()
}
