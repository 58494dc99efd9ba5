//! Who called whom when the program ran, and what each line called: a call graph that was measured.
//!
//! The one idea: neighbours on a call stack are a caller and whom it called, so stacks of samples and of measured calls have
//! all edges that were seen. A function has what happened with it on the stack once, however often it is there, and so has
//! an edge.
//!
//! Deliberately absent: calls that nobody saw. Of those the program database tells, and whoever shows both keeps them apart.

use std::collections::BTreeMap;

use marey_model::{CallPathId, Level, Nanos, RegionId, Role};

use crate::caller::caller_on;
use crate::paths::add;
use crate::samples::{Sampled, around, library_call, name_of};
use crate::sentences::Class;
use crate::source_loops::SourceLoop;
use crate::trace::{Frame, LocationKind, Region, Trace};
use crate::waits::Waits;

/// What a function, or a call of a function, cost, of all locations together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GraphCost {
    /// Processor time in it and in all that it called.
    pub inclusive: Sampled,
    /// Measured calls of libraries that were made with it on the stack.
    pub calls: u64,
    /// How long they took.
    pub call_time: Nanos,
    /// Data that they moved, bytes.
    pub bytes: u64,
    /// How long was waited in them; 0 where waits are not known.
    pub waiting: Nanos,
}

/// A function that was seen, or a measured call of a library.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MeasuredFunction<'t> {
    /// Its name; of code without names, that of its module.
    pub name: &'t str,
    /// Source file; empty = unknown.
    pub file: &'t str,
    /// A line of it that was seen; 0 = unknown.
    pub line: u32,
    /// Its region, where it is a measured call of a library.
    pub region: Option<RegionId>,
    /// Processor time in itself.
    pub exclusive: Sampled,
    /// With what it called.
    pub cost: GraphCost,
}

/// A function called another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MeasuredCall {
    /// Who called: a place in [`MeasuredGraph::functions`].
    pub caller: usize,
    /// Who was called.
    pub callee: usize,
    /// The least line where that was; 0 = unknown.
    pub line: u32,
    /// What it cost.
    pub cost: GraphCost,
}

/// All of them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MeasuredGraph<'t> {
    /// Functions, by name and file, then calls of libraries.
    pub functions: Vec<MeasuredFunction<'t>>,
    /// Calls, by caller and callee.
    pub calls: Vec<MeasuredCall>,
}

/// What a line called by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LineCall<'t> {
    /// Source file.
    pub file: &'t str,
    /// Line in it.
    pub line: u32,
    /// What was called.
    pub region: RegionId,
    /// What the calls cost; without processor time.
    pub cost: GraphCost,
}

/// A function by name and file, or a region.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Key<'t> {
    Function(&'t str, &'t str),
    Region(RegionId),
}

/// What happened: some part of a cost.
type Part<'p> = &'p dyn Fn(&mut GraphCost);

#[derive(Default)]
struct Sums<'t> {
    functions: BTreeMap<Key<'t>, (u32, Sampled, GraphCost)>,
    calls: BTreeMap<(Key<'t>, Key<'t>), (u32, GraphCost)>,
}

/// The graph of a run. Time grows with the samples, the call paths and the waits, each times the frames of a stack.
pub fn measured_graph<'t>(trace: &'t dyn Trace, waits: Option<&Waits>) -> MeasuredGraph<'t> {
    let mut sums = Sums::default();
    for row in trace.samples() {
        let stack = row.stack.map_or_else(Vec::new, |stack| trace.stack(stack));
        let call = row.call_path.and_then(|path| library_call(trace, path));
        let (frames, region) = match &call {
            Some(call) => (around(trace, call, stack), region_of(trace, call.path)),
            None => (stack, None),
        };
        sums.add(&frames, region, &|cost| cost.inclusive.add(row));
        let inner = region.map(Key::Region).or_else(|| frames.first().map(|frame| key(frame)));
        if let Some(entry) = inner.and_then(|inner| sums.functions.get_mut(&inner)) {
            entry.1.add(row);
        }
    }
    each_call(trace, waits, &mut |path, part| {
        let Some(call) = library_call(trace, path) else { return };
        sums.add(&around(trace, &call, Vec::new()), region_of(trace, path), part);
    });
    sums.finish(trace)
}

/// What lines of the program called by themselves, by file, line and region.
pub fn line_calls<'t>(trace: &'t dyn Trace, waits: Option<&Waits>) -> Vec<LineCall<'t>> {
    let mut rows: BTreeMap<(&str, u32, RegionId), GraphCost> = BTreeMap::new();
    each_call(trace, waits, &mut |path, part| {
        let Some(region) = region_of(trace, path) else { return };
        let stack = trace.call_paths().get(path.idx()).and_then(|path| path.stack);
        let frames = stack.map_or_else(Vec::new, |stack| trace.stack(stack));
        let Some(frame) = caller_on(&frames).map(|place| frames[place]).filter(|frame| frame.line != 0)
        else {
            return;
        };
        part(rows.entry((frame.file.as_str(), frame.line, region)).or_default());
    });
    let row = |((file, line, region), cost)| LineCall { file, line, region, cost };
    rows.into_iter().map(row).collect()
}

/// What was called from within some lines, directly or by functions that they called, by region.
pub fn calls_within(
    trace: &dyn Trace,
    lines: &SourceLoop<'_>,
    waits: Option<&Waits>,
) -> Vec<(RegionId, GraphCost)> {
    let is_within =
        |frame: &&Frame| frame.file == lines.file && (lines.first..=lines.last).contains(&frame.line);
    let mut rows: BTreeMap<RegionId, GraphCost> = BTreeMap::new();
    each_call(trace, waits, &mut |path, part| {
        let Some(call) = library_call(trace, path) else { return };
        if around(trace, &call, Vec::new()).iter().any(is_within)
            && let Some(region) = region_of(trace, path)
        {
            part(rows.entry(region).or_default());
        }
    });
    rows.into_iter().collect()
}

/// How long calls of libraries took that no other measured call has made, of all locations together.
pub fn calls_time(trace: &dyn Trace) -> Nanos {
    let mut time = Nanos(0);
    let is_outermost = |path| library_call(trace, path).is_some_and(|call| call.path == path);
    for row in trace.profile().iter().filter(|row| is_outermost(row.call_path)) {
        time = time + row.inclusive;
    }
    time
}

/// Whether a region moves data between processes or waits for them.
pub fn communicates(region: &Region) -> bool {
    Class::of(region.role) != Class::Computation && Level::BETWEEN_PROCESSES.contains(&region.level.as_str())
}

/// How long was spent on moving data between processes and waiting for them, of all threads together: in all regions that do so
/// and lie in no other one that does, without the program's own work that is executed in them, in which there may be such
/// regions again.
pub fn communication_time(trace: &dyn Trace) -> Nanos {
    /// What the time of a call path counts as.
    #[derive(Clone, Copy, PartialEq)]
    enum Counts {
        Added,
        Subtracted,
        WithParent,
    }
    let region = |path| trace.regions().get(region_of(trace, path?)?.idx());
    // Of each call path whether it lies in what communicates, and what it counts as.
    let mut parts: Vec<(bool, Counts)> = Vec::with_capacity(trace.call_paths().len());
    for (at, path) in trace.call_paths().iter().enumerate() {
        // Parents stand before their children; one that does not is none.
        let above = path.parent.and_then(|parent| parts.get(parent.idx()));
        let region = region(CallPathId::from_idx(at));
        parts.push(match above.is_some_and(|(is_inside, _)| *is_inside) {
            false if region.is_some_and(communicates) => (true, Counts::Added),
            true if region.is_some_and(|it| it.role == Role::Work) => (false, Counts::Subtracted),
            is_inside => (is_inside, Counts::WithParent),
        });
    }
    let (mut time, mut work) = (Nanos(0), Nanos(0));
    for row in trace.profile() {
        let location = trace.locations().get(row.location.idx());
        if location.is_none_or(|it| it.kind != LocationKind::Thread) {
            continue;
        }
        match parts.get(row.call_path.idx()) {
            Some((_, Counts::Added)) => add(&mut time, row.inclusive),
            Some((_, Counts::Subtracted)) => add(&mut work, row.inclusive),
            _ => {}
        }
    }
    (time - work).max(Nanos(0))
}

/// Hands out what calls of libraries cost that no other measured call has made, with their call paths.
fn each_call(trace: &dyn Trace, waits: Option<&Waits>, each: &mut dyn FnMut(CallPathId, Part<'_>)) {
    let is_outermost = |path| library_call(trace, path).is_some_and(|call| call.path == path);
    for row in trace.profile().iter().filter(|row| is_outermost(row.call_path)) {
        each(row.call_path, &|cost| {
            cost.calls = cost.calls.saturating_add(row.visits);
            cost.call_time = cost.call_time + row.inclusive;
            cost.bytes = cost.bytes.saturating_add(row.bytes);
        });
    }
    for wait in waits.iter().flat_map(|waits| &waits.list) {
        // What waits inside of another call waits in that.
        let call = wait.call_path.and_then(|path| library_call(trace, path));
        if let Some(call) = call {
            each(call.path, &|cost| cost.waiting = cost.waiting + wait.length());
        }
    }
}

fn region_of(trace: &dyn Trace, path: CallPathId) -> Option<RegionId> {
    trace.call_paths().get(path.idx()).map(|path| path.region)
}

fn key(frame: &Frame) -> Key<'_> {
    Key::Function(name_of(&frame.function), &frame.file)
}

impl<'t> Sums<'t> {
    /// Adds something to all functions on a stack and to all calls between them, each once.
    fn add(&mut self, frames: &[&'t Frame], region: Option<RegionId>, part: Part<'_>) {
        let inner = region.map(|region| (Key::Region(region), 0));
        let stack: Vec<(Key<'t>, u32)> =
            inner.into_iter().chain(frames.iter().map(|frame| (key(frame), frame.line))).collect();
        let mut keys: Vec<Key<'t>> = stack.iter().map(|(key, _)| *key).collect();
        keys.sort_unstable();
        keys.dedup();
        for key in keys {
            part(&mut self.functions.entry(key).or_default().2);
        }
        for (key, line) in &stack {
            let known = &mut self.functions.entry(*key).or_default().0;
            *known = least(*known, *line);
        }
        let mut calls: Vec<(Key<'t>, Key<'t>)> =
            stack.windows(2).map(|pair| (pair[1].0, pair[0].0)).collect();
        calls.sort_unstable();
        calls.dedup();
        for call in calls {
            part(&mut self.calls.entry(call).or_default().1);
        }
        for pair in stack.windows(2) {
            let known = &mut self.calls.entry((pair[1].0, pair[0].0)).or_default().0;
            *known = least(*known, pair[1].1);
        }
    }

    fn finish(self, trace: &'t dyn Trace) -> MeasuredGraph<'t> {
        let keys: Vec<Key<'t>> = self.functions.keys().copied().collect();
        let place = |key: &Key<'t>| keys.binary_search(key).ok();
        let calls = self.calls.iter().filter_map(|((caller, callee), (line, cost))| {
            Some(MeasuredCall { caller: place(caller)?, callee: place(callee)?, line: *line, cost: *cost })
        });
        let calls = calls.collect();
        let functions = self.functions.into_iter().map(|(key, (line, exclusive, cost))| {
            let (name, file, region) = match key {
                Key::Function(name, file) => (name, file, None),
                Key::Region(region) => {
                    let it = trace.regions().get(region.idx());
                    (it.map_or("", |it| it.name()), "", Some(region))
                }
            };
            MeasuredFunction { name, file, line, region, exclusive, cost }
        });
        MeasuredGraph { functions: functions.collect(), calls }
    }
}

/// The lesser of two lines, of which 0 is none.
fn least(a: u32, b: u32) -> u32 {
    if a == 0 || b == 0 { a.max(b) } else { a.min(b) }
}
