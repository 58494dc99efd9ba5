//! Where processor time went: by function, and by line of the source.
//!
//! The one idea: a sample belongs to the innermost function of the program's that it was taken in, or to the call of a
//! library that was under way and has a region of its own (`MPI_Recv`), whatever that does inside. It counts for
//! all functions around it too, each once, however often it is on the stack.
//!
//! A share of the time that `N` samples stand for is uncertain, like that of the red ones among `N` balls
//! that were drawn at random, if each stands for as much time as the others. What the true share may be is
//! told by the score interval of E. B. Wilson (*Probable inference, the law of succession, and statistical
//! inference*, JASA 22, 1927), which also holds for few samples and for none: √(p (1 − p) / N), the usual
//! standard error, is 0 there.
//!
//! Deliberately absent: time in which a thread waited, which only regions know.

use std::collections::BTreeMap;

use marey_model::{CallPathId, Level, Nanos, RECORDER_FILE, Role, StackId};

use crate::trace::{Frame, SampledRow, Trace};

/// Within so many standard deviations 95 of 100 values of a normal distribution lie.
const DEVIATIONS: f64 = 1.96;

/// A number of samples and the processor time that they stand for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sampled {
    /// How many.
    pub samples: u64,
    /// Processor time.
    pub time: Nanos,
}

impl Sampled {
    pub(crate) fn add(&mut self, row: &SampledRow) {
        self.samples = self.samples.saturating_add(row.samples);
        self.time = self.time + row.time;
    }

    /// The share in `whole`, from 0 to 1, and its error: how far the farther bound of Wilson's interval of
    /// 95 % is from it. The interval reaches farther towards the middle, so half its width on both sides of
    /// the share would leave out a part of it. 0 and 0 of nothing.
    #[expect(clippy::cast_precision_loss, reason = "shares need no more than 53 bits")]
    pub fn share(&self, whole: &Self) -> (f64, f64) {
        if whole.time.0 <= 0 || whole.samples == 0 {
            return (0.0, 0.0);
        }
        let share = (self.time.0 as f64 / whole.time.0 as f64).clamp(0.0, 1.0);
        let spread = DEVIATIONS * DEVIATIONS / whole.samples as f64;
        let middle = (share + spread / 2.0) / (1.0 + spread);
        let half_width = (share * (1.0 - share) * spread + spread * spread / 4.0).sqrt() / (1.0 + spread);
        (share, (middle - share).abs() + half_width)
    }
}

/// A function, or a call that has a region of its own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HotFunction<'t> {
    /// Its name; of code without names, that of its module.
    pub name: &'t str,
    /// Source file; empty = unknown.
    pub file: &'t str,
    /// Level of the region; `None` = a function.
    pub level: Option<&'t str>,
    /// In itself, and of a call also in what it does inside.
    pub exclusive: Sampled,
    /// In itself and in what it called.
    pub inclusive: Sampled,
}

/// A line of the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HotLine<'t> {
    /// Source file.
    pub file: &'t str,
    /// Line in it.
    pub line: u32,
    /// The function that had most of its samples.
    pub function: &'t str,
    /// In the line's own code; of samples in a function without lines, no line has any.
    pub exclusive: Sampled,
    /// In it and in what was called there.
    pub inclusive: Sampled,
}

/// Where the processor time of a run went.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Hot<'t> {
    /// All samples.
    pub whole: Sampled,
    /// Those whose stack does not go up to the beginning of the thread.
    pub incomplete: Sampled,
    /// Functions and calls, by exclusive time.
    pub functions: Vec<HotFunction<'t>>,
    /// Lines, by exclusive time; functions without line information have none.
    pub lines: Vec<HotLine<'t>>,
}

/// Adds up the samples of a run. Time: the number of frames of all contexts.
pub fn hot(trace: &dyn Trace) -> Hot<'_> {
    let mut sums = Sums::default();
    for row in trace.samples() {
        sums.add(trace, row);
    }
    sums.finish()
}

/// A function: name, file, and level if it is a region.
pub(crate) type FunctionKey<'t> = (&'t str, &'t str, Option<&'t str>);

#[derive(Default)]
struct Sums<'t> {
    whole: Sampled,
    incomplete: Sampled,
    functions: BTreeMap<FunctionKey<'t>, (Sampled, Sampled)>,
    lines: BTreeMap<(&'t str, u32), LineSum<'t>>,
}

#[derive(Default)]
struct LineSum<'t> {
    exclusive: Sampled,
    inclusive: Sampled,
    functions: BTreeMap<&'t str, Nanos>,
}

impl<'t> Sums<'t> {
    fn add(&mut self, trace: &'t dyn Trace, row: &SampledRow) {
        self.whole.add(row);
        if !row.is_complete {
            self.incomplete.add(row);
        }
        let stack = row.stack.map_or_else(Vec::new, |stack| trace.stack(stack));
        let call = row.call_path.and_then(|path| library_call(trace, path));
        let (frames, inner) = match &call {
            Some(call) => (around(trace, call, stack), Some(call.key())),
            None => (stack, None),
        };
        let around = (0..frames.len()).map(|at| key_of(&frames, at));
        let mut seen: Vec<FunctionKey<'t>> = Vec::with_capacity(frames.len() + 1);
        for (place, key) in inner.into_iter().chain(around).enumerate() {
            let sum = self.functions.entry(key).or_default();
            if place == 0 {
                sum.0.add(row);
            }
            if !seen.contains(&key) {
                sum.1.add(row);
                seen.push(key);
            }
        }
        self.add_lines(row, &frames, call.is_some());
    }

    fn add_lines(&mut self, row: &SampledRow, frames: &[&'t Frame], is_in_call: bool) {
        let mut seen: Vec<(&str, u32)> = Vec::with_capacity(frames.len());
        for (place, frame) in frames.iter().enumerate().filter(|(_, frame)| frame.line != 0) {
            let key = (frame.file.as_str(), frame.line);
            let sum = self.lines.entry(key).or_default();
            if place == 0 && !is_in_call {
                sum.exclusive.add(row);
            }
            if !seen.contains(&key) {
                sum.inclusive.add(row);
                let time = sum.functions.entry(&frame.function).or_default();
                *time = *time + row.time;
                seen.push(key);
            }
        }
    }

    fn finish(self) -> Hot<'t> {
        let function = |((name, file, level), (exclusive, inclusive))| HotFunction {
            name,
            file,
            level,
            exclusive,
            inclusive,
        };
        let mut functions: Vec<_> = self.functions.into_iter().map(function).collect();
        let order =
            |exclusive: &Sampled, inclusive: &Sampled| std::cmp::Reverse((exclusive.time, inclusive.time));
        functions.sort_by_key(|row| order(&row.exclusive, &row.inclusive));
        let line = |((file, line), sum): ((&'t str, u32), LineSum<'t>)| {
            let function = sum.functions.iter().max_by_key(|(name, time)| (**time, std::cmp::Reverse(*name)));
            let function = function.map_or("", |(name, _)| *name);
            HotLine { file, line, function, exclusive: sum.exclusive, inclusive: sum.inclusive }
        };
        let mut lines: Vec<_> = self.lines.into_iter().map(line).collect();
        lines.sort_by_key(|row| order(&row.exclusive, &row.inclusive));
        Hot { whole: self.whole, incomplete: self.incomplete, functions, lines }
    }
}

/// A call of a library that has a region.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LibraryCall<'t> {
    /// Its call path.
    pub path: CallPathId,
    /// What it is called.
    pub name: &'t str,
    /// Its level.
    pub level: &'t str,
}

impl<'t> LibraryCall<'t> {
    fn key(&self) -> FunctionKey<'t> {
        (self.name, "", Some(self.level))
    }
}

/// The function of a frame of a stack.
fn key_of<'t>(frames: &[&'t Frame], at: usize) -> FunctionKey<'t> {
    let frame = frames[at];
    let name = match name_of(&frame.function) {
        name if name.len() == frame.function.len() => name,
        // Whatever the C library calls first is the program's `main`, also without symbols, and what calls it `_start`.
        _ if is_start(frames.get(at + 1)) => "main",
        _ if at.checked_sub(1).is_some_and(|inner| is_start(frames.get(inner))) => "_start",
        module => module,
    };
    (name, frame.file.as_str(), None)
}

fn is_start(frame: Option<&&Frame>) -> bool {
    frame.is_some_and(|frame| frame.function.starts_with("__libc_start_"))
}

/// What a reading on a stack, or without one when the innermost open region was left, belongs to: a call that has a
/// region of its own, the innermost function of the stack, or else the function that is the region. `None` if nothing
/// is known.
pub(crate) fn function_of(
    trace: &dyn Trace,
    path: Option<CallPathId>,
    stack: Option<StackId>,
) -> Option<FunctionKey<'_>> {
    if let Some(call) = path.and_then(|path| library_call(trace, path)) {
        return Some(call.key());
    }
    let frames = stack.map(|stack| trace.stack(stack)).unwrap_or_default();
    if !frames.is_empty() {
        return Some(key_of(&frames, 0));
    }
    let row = trace.call_paths().get(path?.idx())?;
    let region = trace.regions().get(row.region.idx())?;
    Some((region.name(), region.file.as_str(), None))
}

/// The outermost call of a library among a call path and those above it: what lies inside is that library's work. Not
/// beyond the innermost region whose role is work: what a construct of a programming model executes is the program's own.
pub fn library_call(trace: &dyn Trace, path: CallPathId) -> Option<LibraryCall<'_>> {
    let mut found = None;
    let mut at = Some(path);
    while let Some(path) = at {
        let row = trace.call_paths().get(path.idx())?;
        if let Some(region) = trace.regions().get(row.region.idx())
            && region.level != Level::SOURCE
        {
            if region.role == Role::Work {
                return found;
            }
            found = Some(LibraryCall { path, name: region.name(), level: &region.level });
        }
        at = row.parent.filter(|parent| parent.idx() < path.idx());
    }
    found
}

/// The program's functions around a call: those that its call path says, else those behind it on the sampled stack.
pub(crate) fn around<'t>(
    trace: &'t dyn Trace,
    call: &LibraryCall<'t>,
    stack: Vec<&'t Frame>,
) -> Vec<&'t Frame> {
    let path = trace.call_paths().get(call.path.idx());
    if let Some(known) = path.and_then(|path| path.stack) {
        return trace.stack(known);
    }
    // Under its own name, that of the profiling interface (`PMPI_Send`) or in Fortran's spelling (`mpi_send_`).
    let is_call = |frame: &&Frame| {
        let name = frame.function.trim_start_matches('P').trim_end_matches('_').trim_end_matches("_f08");
        name.eq_ignore_ascii_case(call.name)
    };
    match stack.iter().rposition(is_call) {
        Some(place) => stack[place + 1..].to_vec(),
        None => stack,
    }
}

/// How much processor time a sample stands for on average, ns; `None` = there are none.
pub(crate) fn mean_period(trace: &dyn Trace) -> Option<f64> {
    let mut all = Sampled::default();
    trace.samples().iter().for_each(|row| all.add(row));
    #[expect(clippy::cast_precision_loss, reason = "there are fewer than 2⁵³ samples")]
    let period = all.time.0 as f64 / all.samples as f64;
    (all.samples > 0 && period > 0.0).then_some(period)
}

/// Whether a stack, innermost frame first, is one of the recorder at work.
pub fn is_of_recorder(frames: &[&Frame]) -> bool {
    frames.first().is_some_and(|frame| name_of(&frame.function) == RECORDER_FILE)
}

/// The name of a function; of an address without a name (`libm.so.6+0x1234`), that of its module.
pub fn name_of(function: &str) -> &str {
    match function.rsplit_once("+0x") {
        Some((module, offset)) if !offset.is_empty() && offset.bytes().all(|c| c.is_ascii_hexdigit()) => {
            module
        }
        _ => function,
    }
}
